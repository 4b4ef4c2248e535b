"""Run the fuzzers one after the other: `make fuzz MINUTES=n`. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import seeds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results.jsonl"
RUST = ["encode", "split", "pattern", "decode", "train", "special", "fit", "json", "batch"]
RUST += ["normalize", "chain", "model", "pieces", "files", "stored", "sentences", "words", "scores"]
RUST += ["session", "growth", "steps", "rows"]
PYTHON = ["loaders", "methods", "trainers"]
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

# The exit code of libFuzzer that was interrupted.
INTERRUPTED = 72


def build() -> Path:
    """Compiles the Rust targets and returns the path of the program."""
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": RUSTFLAGS}
    command = ["cargo", "build", "--locked", "--release", "--target", TRIPLE]
    subprocess.run(command, cwd=HERE, env=environment, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
    return folder / TRIPLE / "release" / "fuzz"


def cpu_seconds() -> float:
    """Returns the processor time of all programs that have been run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def environment(target: str) -> dict[str, str]:
    """Returns the environment in which the program runs a target."""
    return {"ASAN_OPTIONS": OPTIONS} | os.environ | {"BYTEMILL_FUZZ": target}


def run_rust(program: Path, target: str, seconds: float) -> dict[str, Any]:
    """Runs libFuzzer on a target until it has used so much processor time or has a finding.

    libFuzzer measures by the clock, which also runs while the program waits or is stopped. So it is
    started again until the time is used, and a timeout counts only where it is one again.
    """
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    seeds.write(target, folder)
    totals: dict[str, Any] = {"cpu_seconds": 0.0, "executions": 0, "edges": 0, "findings": [], "notes": []}
    while not totals["findings"] and (left := seconds - totals["cpu_seconds"]) > seconds / 20:
        once = run_once(program, target, folder, left)
        for key in ("cpu_seconds", "executions"):
            totals[key] += once[key]
        totals["edges"] = max(totals["edges"], once["edges"])
        for path in once["findings"]:
            if path.name.startswith((f"{target}-timeout", f"{target}-slow")) and not is_slow(
                program, target, path
            ):
                path.unlink()
                totals["notes"].append(f"{path.name} does not reproduce")
            else:
                totals["findings"].append(str(path.relative_to(HERE)))
        if once["code"] == INTERRUPTED:
            totals["notes"].append("interrupted")
            break
        if once["code"] and not once["findings"]:
            totals["findings"].append(f"exit code {once['code']}, see corpus/{target}.log")
    if not totals["notes"]:
        del totals["notes"]
    return totals | {"cpu_seconds": round(totals["cpu_seconds"])}


def is_slow(program: Path, target: str, path: Path) -> bool:
    """Returns whether an input alone takes more processor time than an input may."""
    before = cpu_seconds()
    output = subprocess.DEVNULL
    subprocess.run(
        [str(program), str(path)], env=environment(target), stderr=output, stdout=output, check=False
    )
    return cpu_seconds() - before > SECONDS


def run_once(program: Path, target: str, corpus: Path, seconds: float) -> dict[str, Any]:
    """Runs libFuzzer on a target until time is up or it has a finding."""
    findings = HERE / "findings"
    findings.mkdir(exist_ok=True)
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
    start = cpu_seconds()
    with log.open("wb") as output:
        done = subprocess.run(command, env=environment(target), stderr=output, stdout=output, check=False)
    told = log.read_text(encoding="utf-8", errors="replace")
    executions = re.findall(r"^(?:stat::number_of_executed_units: +|#)(\d+)", told, flags=re.MULTILINE)
    edges = re.findall(r" cov: (\d+)", told)
    return {
        "code": done.returncode,
        "cpu_seconds": cpu_seconds() - start,
        "executions": max(map(int, executions), default=0),
        "edges": int(edges[-1]) if edges else 0,
        "findings": sorted(set(findings.glob(f"{target}-*")) - before),
    }


def run_python(target: str, seconds: float) -> dict[str, Any]:
    """Runs Hypothesis on a target until it has used so much processor time."""
    start = cpu_seconds()
    command = [sys.executable, "-m", f"programs.fuzz_{target}", str(seconds)]
    done = subprocess.run(command, cwd=ROOT / "tests", stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    result: dict[str, Any] = json.loads(lines[-1]) if lines else {"executions": 0, "findings": []}
    if done.returncode and not result["findings"]:
        result["findings"] = [f"exit code {done.returncode}"]
    return {"cpu_seconds": round(cpu_seconds() - start)} | result


def commit() -> str:
    """Returns the fuzzed commit and whether files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    changed = git("status", "--porcelain", "--", "src", "python", "fuzz/targets")
    return git("rev-parse", "--short=12", "HEAD").strip() + (" with changes" if changed else "")


def summary() -> str:
    """Returns the sums of all recorded runs."""
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    used = sum(row.get("cpu_seconds", 0) for row in rows) / 3600
    # Lines from before processor time was recorded.
    older = sum(row["seconds"] for row in rows if "cpu_seconds" not in row) / 3600
    targets = len({row["target"] for row in rows})
    executions = sum(row["executions"] for row in rows)
    return (
        f"{used + older:.1f} hours in total: {used:.1f} of processor time, and {older:.1f} by the clock "
        f"in older runs; {targets} targets, {executions:,} executions"
    )


def main() -> int:
    """Runs the targets, or prints the sums of all runs; returns 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="processor time of all targets together")
    parser.add_argument("--totals", action="store_true", help="only print the sums of all recorded runs")
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(RUST + PYTHON)}; all if none is named")
    arguments = parser.parse_args()
    if arguments.totals:
        print(summary())
        return 0
    targets = arguments.targets or RUST + PYTHON
    unknown = set(targets) - set(RUST) - set(PYTHON)
    if unknown:
        parser.error(f"no targets: {', '.join(sorted(unknown))}; expected some of {', '.join(RUST + PYTHON)}")
    program = build() if set(targets) & set(RUST) else Path()
    # Of the files that were built.
    version = commit()
    spoiled = 0
    for target in targets:
        start = time.monotonic()
        seconds = 60 * arguments.minutes / len(targets)
        result = run_rust(program, target, seconds) if target in RUST else run_python(target, seconds)
        line = {
            "target": target,
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "commit": version,
            "seconds": round(time.monotonic() - start),
            **result,
        }
        with RESULTS.open("a", encoding="utf-8") as results:
            results.write(json.dumps(line) + "\n")
        spoiled += bool(result["findings"])
        print(
            f"{target:8} {result['cpu_seconds']:6} s {result['executions']:10,} executions"
            f"  {len(result['findings'])} findings {' '.join(result['findings'])}",
            flush=True,
        )
    return min(spoiled, 1)


if __name__ == "__main__":
    sys.exit(main())
