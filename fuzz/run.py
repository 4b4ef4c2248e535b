"""Run the fuzzers one after the other: `make fuzz MINUTES=n`. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import seeds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RUST = ["encode", "split", "pattern", "decode", "train", "special", "fit", "json", "batch"]
RUST += ["normalize", "chain", "model", "pieces", "files", "stored"]
PYTHON = ["loaders", "methods"]
TRIPLE = "x86_64-unknown-linux-gnu"

# Edge coverage, and checks of every memory access. Tracing comparisons, too, took half of the time.
RUSTFLAGS = " ".join(
    [
        "--cfg fuzzing",
        "-Cpasses=sancov-module",
        *(
            f"-Cllvm-args=-sanitizer-coverage-{what}"
            for what in ("level=4", "inline-8bit-counters", "pc-table")
        ),
        "-Zsanitizer=address",
    ]
)
# No use-after-return checks, which safe code cannot violate. Short allocation traces.
OPTIONS = "detect_stack_use_after_return=0:malloc_context_size=3"

# An input that takes more time or memory is a finding.
SECONDS = 25
MEGABYTES = 3_000


def build() -> Path:
    """Compiles the Rust targets and returns the path of the program."""
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": RUSTFLAGS}
    command = ["cargo", "build", "--locked", "--release", "--target", TRIPLE]
    subprocess.run(command, cwd=HERE, env=environment, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
    return folder / TRIPLE / "release" / "fuzz"


def run_rust(program: Path, target: str, seconds: float) -> dict[str, Any]:
    """Runs libFuzzer on a target until time is up or it has a finding."""
    corpus, findings = HERE / "corpus" / target, HERE / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    seeds.write(target, corpus)
    before = set(findings.glob(f"{target}-*"))
    command = [
        str(program),
        str(corpus),
        f"-dict={HERE / 'dictionary.txt'}",
        f"-max_total_time={max(1, round(seconds))}",
        f"-timeout={SECONDS}",
        f"-report_slow_units={SECONDS}",
        f"-rss_limit_mb={MEGABYTES}",
        "-max_len=600",
        "-reload=0",
        "-print_final_stats=1",
        f"-artifact_prefix={findings / target}-",
    ]
    log = HERE / "corpus" / f"{target}.log"
    environment = {"ASAN_OPTIONS": OPTIONS} | os.environ | {"BYTEMILL_FUZZ": target}
    with log.open("wb") as output:
        code = subprocess.run(command, env=environment, stderr=output, stdout=output, check=False).returncode
    told = log.read_text(encoding="utf-8", errors="replace")
    executions = re.findall(r"^(?:stat::number_of_executed_units: +|#)(\d+)", told, flags=re.MULTILINE)
    edges = re.findall(r" cov: (\d+)", told)
    found = sorted(str(path.relative_to(HERE)) for path in set(findings.glob(f"{target}-*")) - before)
    if code and not found:
        found = [f"exit code {code}, see {log.relative_to(HERE)}"]
    return {
        "executions": max(map(int, executions), default=0),
        "edges": int(edges[-1]) if edges else 0,
        "findings": found,
    }


def run_python(target: str, seconds: float) -> dict[str, Any]:
    """Runs Hypothesis on a target until time is up."""
    command = [sys.executable, "-m", f"programs.fuzz_{target}", str(seconds)]
    done = subprocess.run(command, cwd=ROOT / "tests", stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    result: dict[str, Any] = json.loads(lines[-1]) if lines else {"executions": 0, "findings": []}
    if done.returncode and not result["findings"]:
        result["findings"] = [f"exit code {done.returncode}"]
    return result


def commit() -> str:
    """Returns the fuzzed commit and whether files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    changed = git("status", "--porcelain", "--", "src", "python", "fuzz/targets")
    return git("rev-parse", "--short=12", "HEAD").strip() + (" with changes" if changed else "")


def main() -> int:
    """Runs the targets and returns the number with findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="for all targets together")
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(RUST + PYTHON)}; all if none is named")
    arguments = parser.parse_args()
    targets = arguments.targets or RUST + PYTHON
    unknown = set(targets) - set(RUST) - set(PYTHON)
    if unknown:
        parser.error(f"no targets: {', '.join(sorted(unknown))}; expected some of {', '.join(RUST + PYTHON)}")
    program = build() if set(targets) & set(RUST) else Path()
    spoiled = 0
    for target in targets:
        start = time.monotonic()
        seconds = 60 * arguments.minutes / len(targets)
        result = run_rust(program, target, seconds) if target in RUST else run_python(target, seconds)
        line = {
            "target": target,
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "commit": commit(),
            "seconds": round(time.monotonic() - start),
            **result,
        }
        with (HERE / "results.jsonl").open("a", encoding="utf-8") as results:
            results.write(json.dumps(line) + "\n")
        spoiled += bool(result["findings"])
        print(
            f"{target:8} {line['seconds']:6} s {result['executions']:10,} executions"
            f"  {len(result['findings'])} findings {' '.join(result['findings'])}",
            flush=True,
        )
    return min(spoiled, 1)


if __name__ == "__main__":
    sys.exit(main())
