"""Reports what the minimised corpora reach of the library: `make fuzz-coverage`. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import run
import seeds

FOLDER = run.ROOT / "target" / "coverage"
# Files that are reached least.
LEAST = 25


def build() -> Path:
    """Compiles the replay of the corpora with counters and returns the path of the program."""
    command = ["cargo", "test", "--locked", "--test", "fuzz_targets", "--no-run", "--message-format=json"]
    environment = os.environ | {"RUSTFLAGS": "-Cinstrument-coverage", "CARGO_TARGET_DIR": str(FOLDER)}
    environment["LLVM_PROFILE_FILE"] = os.devnull
    told = subprocess.run(
        command, cwd=run.ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    artifacts = [json.loads(line) for line in told.stdout.splitlines() if line.startswith("{")]
    [path] = [one["executable"] for one in artifacts if one.get("executable")]
    return Path(path)


def profile(program: Path, target: str, llvm: Path) -> Path:
    """Replays the corpus of a target and returns the file with its counters."""
    raw, merged = FOLDER / f"{target}.profraw", FOLDER / f"{target}.profdata"
    environment = os.environ | {"LLVM_PROFILE_FILE": str(raw)}
    command = [str(program), "--exact", f"replay::{target}"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    merge([raw], merged, llvm)
    return merged


def merge(inputs: list[Path], output: Path, llvm: Path) -> None:
    """Adds up counters."""
    subprocess.run([llvm / "llvm-profdata", "merge", "--sparse", *inputs, "--output", output], check=True)


def export(program: Path, counters: Path, llvm: Path) -> dict[str, Any]:
    """Returns the summary of the library's files and their sum, as llvm-cov gives it."""
    command = [llvm / "llvm-cov", "export", "--summary-only", f"--instr-profile={counters}"]
    command += [program, run.ROOT / "src"]
    told = subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True)
    summary: dict[str, Any] = json.loads(told.stdout)["data"][0]
    return summary


def share(covered: dict[str, Any]) -> str:
    """Returns a percentage."""
    return f"{100 * covered['covered'] / max(1, covered['count']):.0f} %"


def page(rows: list[list[str]], files: list[dict[str, Any]]) -> str:
    """Returns the report."""
    lines = [
        "# Coverage of the fuzz targets",
        "",
        "What the inputs in `minimised/` reach of the library, whose Python module is left out: written by",
        "`make fuzz-coverage`. A target is about a part of the library, and reaches little else.",
        "",
        f"Commit {run.commit()}.",
        "",
        "| target | inputs | lines | functions |",
        "|---|---:|---:|---:|",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        f"The {LEAST} files of which least is reached by all targets together:",
        "",
        "| file | lines | of |",
        "|---|---:|---:|",
    ]
    worst = sorted(files, key=lambda one: one["summary"]["lines"]["percent"])[:LEAST]
    for one in worst:
        name = Path(one["filename"]).relative_to(run.ROOT).as_posix()
        counted = one["summary"]["lines"]
        lines.append(f"| `{name}` | {share(counted)} | {counted['count']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes coverage.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llvm", type=Path, default=Path("/usr/lib/llvm-22/bin"), help="folder of llvm-cov")
    llvm = parser.parse_args().llvm
    program = build()
    counters, rows = [], []
    for target in run.RUST:
        counters.append(profile(program, target, llvm))
        totals = export(program, counters[-1], llvm)["totals"]
        inputs = len(seeds.minimised(target).read_text(encoding="ascii").splitlines())
        rows.append([f"`{target}`", f"{inputs:,}", share(totals["lines"]), share(totals["functions"])])
    together = FOLDER / "together.profdata"
    merge(counters, together, llvm)
    summary = export(program, together, llvm)
    totals = summary["totals"]
    rows.append(["together", "", share(totals["lines"]), share(totals["functions"])])
    (run.HERE / "coverage.md").write_text(page(rows, summary["files"]), encoding="utf-8")
    print(*("  ".join(row) for row in rows), sep="\n")


if __name__ == "__main__":
    main()
