"""Measures a part of all benchmarks again before a release, and prints what moved since it was recorded.

    python -m benches check --corpus DIR [--most 5]
    python -m benches check --corpus DIR --record

Only results that were recorded on the same kind of processor are compared: those of the pages, or those of
the same parts that `--record` has written to `benches/results/check`. A figure is our own time, divided by
how much slower the other libraries are than when they were recorded: shared machines differ by a factor of
three from one hour to the next. A part takes one or two minutes, and all of them about five. The exit code
is 1 if the median of a part is slower by more than `--most` percent or token IDs differ, and 2 if nothing was
recorded on such a processor. Single figures do not decide: on a shared machine, 53 of 69 moved by more
than 5 % between two runs of the same build.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from harness import compare, models, record, sessions
from harness.record import Result
from harness.suites import ROOT

RESULTS = ROOT / "benches" / "results"
OURS = "bytemill"


@dataclass(frozen=True)
class Part:
    """A part of a benchmark.

    Attributes:
        result: The recorded result.
        run: The program, which takes `--corpus` and `--output`.
        arguments: The rest of its command line.
        records: The name of its list of measurements.
        named: The fields that tell one measurement from another.
        library: The field whose value begins with our name if a measurement is our own.
        times: The fields that are seconds, or others of which less is better.
        speeds: The fields of which more is better.
    """

    result: str
    run: Callable[[Sequence[str]], int]
    arguments: str
    records: str
    named: tuple[str, ...]
    library: str = "engine"
    times: tuple[str, ...] = ()
    speeds: tuple[str, ...] = ()


PARTS = (
    Part(
        "compare.json",
        compare.main,
        "encoding --engines bytemill,tiktoken --corpora english --encodings o200k_base --rounds 7"
        " --rows 1,2,3,4,7",
        "cells",
        ("row", "corpus", "encoding", "contender", "call", "form", "state", "threads"),
        times=("median",),
    ),
    Part(
        "models.json",
        models.main,
        "--models 'Mistral v1' --rounds 5",
        "cells",
        ("model", "corpus", "engine", "form"),
        speeds=("cold", "warm"),
    ),
    Part("sessions.json", sessions.main, "--rounds 5", "figures", ("key",), times=("microseconds",)),
    Part(
        "training.json",
        compare.main,
        "training --jobs small --trainers rustbpe,tokenizers --rounds 2",
        "figures",
        ("job", "corpus", "contender", "pattern", "threads"),
        library="contender",
        times=("seconds",),
    ),
)


@dataclass(frozen=True)
class Moved:
    """A figure, and what it was when it was recorded.

    Attributes:
        part: The result that it is a part of.
        name: What is measured.
        ratio: Its time divided by the recorded one: above 1 it is slower.
    """

    part: str
    name: str
    ratio: float


def measurements(part: Part, result: Result, *, ours: bool) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """Returns our own measurements, or those of others, by what tells them apart."""
    return {
        tuple(each.get(name) for name in part.named): each
        for each in result[part.records]
        if each.get(part.library, OURS).startswith(OURS) is ours
    }


def moved(part: Part, recorded: Result, measured: Result, *, ours: bool = True) -> Iterator[Moved]:
    """Yields all figures that both results have, our own or those of others."""
    before, now = (measurements(part, result, ours=ours) for result in (recorded, measured))
    for key in now.keys() & before.keys():
        old, new = before[key], now[key]
        for field in (*part.times, *part.speeds):
            if old.get(field) and new.get(field):
                ratio = new[field] / old[field] if field in part.times else old[field] / new[field]
                name = ", ".join(str(each) for each in key if each not in {None, OURS})
                yield Moved(part.result.removesuffix(".json"), f"{name}, {field}", ratio)


def medians(figures: Sequence[Moved]) -> dict[str, float]:
    """Returns the median ratio of each part."""
    parts = dict.fromkeys(each.part for each in figures)
    return {part: median(each.ratio for each in figures if each.part == part) for part in parts}


def report(figures: Sequence[Moved], most: float) -> str:
    """Returns a line for each figure that moved by more than `most` percent, and one for each part."""
    share = 1 + most / 100
    found = [each for each in figures if not 1 / share <= each.ratio <= share]
    slowest = sorted(found, key=lambda each: -each.ratio)
    lines = [f"{each.part}: {each.name}: {each.ratio:.2f} times the recorded time" for each in slowest]
    for part, middle in medians(figures).items():
        numbers = [sum(each.part == part for each in some) for some in (figures, found)]
        lines.append(
            f"{part}: {numbers[0]} figures, {numbers[1]} moved by more than {most:g} %; median {middle:.2f}"
        )
    return "\n".join(lines)


def relative(figures: Sequence[Moved], others: Sequence[Moved]) -> list[Moved]:
    """Returns our figures relative to those of other libraries, which tell how fast the machine is now."""
    machine = median(each.ratio for each in others) if others else 1
    print(f"The other libraries take {machine:.2f} times the recorded time ({len(others)} figures).")
    return [replace(each, ratio=each.ratio / machine) for each in figures]


def kept(part: Part, processor: str) -> Path:
    """Returns the file of `--record`."""
    return RESULTS / "check" / re.sub(r"[^a-z0-9]+", "-", processor.lower()).strip("-") / part.result


def recorded_on(processor: str, part: Part) -> Result | None:
    """Returns the newest result that was recorded on such a processor, or `None`."""
    paths = [path for path in (RESULTS / part.result, kept(part, processor)) if path.exists()]
    results = [result for result in map(record.read, paths) if result["machine"]["cpu"] == processor]
    return max(results, key=lambda result: str(result["date"]), default=None)


def measure(part: Part, corpus: Path, output: Path) -> int:
    """Measures a part, writes its result, and returns the exit code: not 0 where token IDs differ."""
    return part.run([*shlex.split(part.arguments), "--corpus", str(corpus), "--output", str(output)])


def main(arguments: Sequence[str]) -> int:
    """Measures and prints, or records."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", required=True, help="as when it was recorded")
    parser.add_argument("--most", type=float, default=5, help="percent (default: %(default)s)")
    parser.add_argument("--record", action="store_true", help="record the parts, for later comparisons")
    options = parser.parse_args(arguments)
    processor = record.machine()["cpu"]
    if options.record:
        return max(measure(part, options.corpus, kept(part, processor)) for part in PARTS)
    figures: list[Moved] = []
    others: list[Moved] = []
    differ = False
    for part in PARTS:
        recorded = recorded_on(processor, part)
        if recorded is None:
            print(f"{part.result}: not recorded on {processor}; --record does it")
            continue
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / part.result
            if measure(part, options.corpus, output) != 0:
                print(f"{part.result}: results DIFFER from those of the other libraries")
                differ = True
            measured = record.read(output)
        figures.extend(moved(part, recorded, measured))
        others.extend(moved(part, recorded, measured, ours=False))
    if not figures:
        return 2
    figures = relative(figures, others)
    print(report(figures, options.most))
    return int(differ or any(middle > 1 + options.most / 100 for middle in medians(figures).values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
