"""Compare random files `tokenizer.json` of any components with `tokenizers`, on texts that are hard for each.

    PYTHONPATH=tests python -m programs.random_files [--minutes N] [--seed N] [--findings FILE]

Prints what was compared, and each difference as the smallest file and texts that were found to differ.
Exits with an error if there is one.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections import Counter
from pathlib import Path

from support.random_files.trials import Difference, Tally, smallest, try_file

# The most differences of one comparison that are made small. Those that are alike are printed once.
MOST_SHRUNK = 20


def silence_panics() -> None:
    """Discards what Rust writes when it panics, but not the errors of Python."""
    sys.stderr = os.fdopen(os.dup(2), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def table(counts: dict[str, Counter[str]]) -> str:
    """Returns counts side by side, a line for each name."""
    names = sorted(set(itertools.chain.from_iterable(counts.values())))
    rows = [["", *counts], *([name, *(f"{each[name]:,}" for each in counts.values())] for name in names)]
    return "\n".join(f"{row[0]:48}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows)


class Reporter:
    """Prints differences, made small, and appends them to a file."""

    def __init__(self, findings: Path | None) -> None:
        """Starts with none; `findings` is the file."""
        self._findings = findings
        self._shrunk: Counter[str] = Counter()
        self._shapes: set[frozenset[str]] = set()

    def add(self, seed: int, difference: Difference) -> None:
        """Prints a difference unless there were many, or one of its shape."""
        self._shrunk[difference.check] += 1
        if self._shrunk[difference.check] > MOST_SHRUNK:
            return
        difference = smallest(difference)
        if difference.shape in self._shapes:
            return
        self._shapes.add(difference.shape)
        report = f"seed {seed}, {difference.report()}\n"
        print(report, flush=True)
        if self._findings is not None:
            with self._findings.open("a", encoding="utf-8") as file:
                file.write(report + "\n")


def main() -> int:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, metavar="N")
    parser.add_argument("--seed", type=int, default=time.time_ns() % (1 << 40), metavar="N")
    parser.add_argument("--findings", type=Path, metavar="FILE", help="append each difference")
    options = parser.parse_args()
    # Threads of their own change nothing, and are slow to start.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    silence_panics()
    tally, reporter = Tally(), Reporter(options.findings)
    end = time.monotonic() + 60 * options.minutes
    for seed in itertools.count(options.seed):
        if time.monotonic() > end:
            break
        difference = try_file(seed, tally)
        if difference is not None:
            reporter.add(seed, difference)
    print(table({"read": tally.files, "refused": tally.refused}))
    print()
    columns = {"compared": tally.compared, "unanswered": tally.unanswered, "different": tally.differing}
    print(table(columns))
    print(f"\nseeds {options.seed} to {seed - 1}: {tally.share_refused:.1%} of the files were refused")
    return int(bool(tally.differing))


if __name__ == "__main__":
    sys.exit(main())
