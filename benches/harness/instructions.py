"""Counts the instructions for each byte, by tier, on aarch64 and x86-64: both run by qemu, with a plugin.

    python -m benches instructions --programs DIR --plugin FILE --corpus DIR

`make bench-instructions` builds the program, `benches/rust/encode_repeatedly.rs`, for both, and the plugin.
Nothing is timed: a count is the same on a busy machine. It says what the compiler made of a loop, and nothing
about waiting for memory or how many instructions a processor begins at once.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness import record

BYTES = 1_000_000
# Start-up, and making the cache, are what this much text takes.
FEW = 64

# By architecture: the emulator, and the tiers that it runs.
EMULATORS = {
    "aarch64": ("qemu-aarch64", ("scalar", "simd128")),
    "x86_64": ("qemu-x86_64 -cpu max", ("scalar", "simd128", "avx2")),
}


def count(architecture: str, tier: str, options: argparse.Namespace, *words: str) -> tuple[int, str]:
    """Returns the number of instructions of a run, and what it prints."""
    emulator, _ = EMULATORS[architecture]
    program = options.programs / f"{architecture}-unknown-linux-gnu" / "release/examples/encode_repeatedly"
    command = [*emulator.split(), "-plugin", str(options.plugin), str(program), *words]
    environment = os.environ | {"BYTEMILL_TIER": tier}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found = re.search(r"instructions: (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"expected the plugin's count, got {done.stderr!r}")
    return int(found[1]), done.stdout


def measure(architecture: str, tier: str, path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Returns the instructions for each byte of a first pass and of a replay."""

    def of(size: int, times: int, state: str) -> tuple[int, str]:
        return count(architecture, tier, options, str(path), str(size), str(times), state)

    few, _ = of(FEW, 1, "first")
    first, result = of(BYTES, 1, "first")
    twice, again = of(BYTES, 2, "replay")
    thrice, _ = of(BYTES, 3, "replay")
    if result != again:
        raise RuntimeError(f"{architecture}, {tier}: a replay gives {again!r}, the first pass {result!r}")
    return {
        "architecture": architecture,
        "tier": tier,
        "corpus": path.stem,
        "first": (first - few) / (BYTES - FEW),
        "replay": (thrice - twice) / BYTES,
        "result": result.strip(),
    }


def main() -> int:
    """Counts everything; the exit code is 1 if a tier gives another number of ids."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=Path, required=True, help="cargo's folder of what is built")
    parser.add_argument("--plugin", type=Path, required=True)
    parser.add_argument(
        "--corpus", type=Path, required=True, help="a folder of .txt files of a megabyte or more"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    options = parser.parse_args()
    cells = []
    for path in sorted(options.corpus.glob("*.txt")):
        for architecture, (_, tiers) in EMULATORS.items():
            for tier in tiers:
                cells.append(measure(architecture, tier, path, options))
                print(cells[-1], flush=True)
    if options.output is not None:
        record.write(
            options.output, record.description() | {"encoding": "o200k_base", "bytes": BYTES}, cells=cells
        )
    results = {(cell["corpus"], cell["result"]) for cell in cells}
    return int(len(results) != len({cell["corpus"] for cell in cells}))


if __name__ == "__main__":
    sys.exit(main())
