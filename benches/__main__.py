"""Measures something, records the result, and writes the pages about it: `python -m benches NAME [OPTIONS]`.

Without a name it lists them; `python -m benches NAME --help` lists the options of one. The exit code is that
of the measurement, which is not 0 where token IDs differ or a target is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benches" / "results"


@dataclass(frozen=True)
class Measurement:
    """A module that measures, and what is made of its result."""

    summary: str
    module: str
    # The file in `benches/results`, if there is one.
    result: str | None = None
    # Of `report`.
    sections: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    # Another module that writes a page.
    page: str | None = None


MEASUREMENTS = {
    "encoding": Measurement(
        "encoding, beside all other engines",
        "harness.compare",
        "compare.json",
        ("encoding", "readme"),
        ("encoding",),
    ),
    "stream": Measurement(
        "half a gigabyte of different documents, beside all other engines",
        "harness.compare",
        "stream.json",
        ("stream",),
        ("stream",),
    ),
    "training": Measurement(
        "training, beside all other trainers",
        "harness.compare",
        "training.json",
        ("training", "readme"),
        ("training",),
    ),
    "training-models": Measurement(
        "training of SentencePiece models, beside SentencePiece",
        "harness.compare",
        "training_sentencepiece.json",
        ("training",),
        (
            "training",
            "--jobs",
            "sentencepiece-small,sentencepiece-together,sentencepiece-64000,sentencepiece-large",
        ),
    ),
    "models": Measurement(
        "models' own files, beside their libraries", "harness.models", "models.json", ("models",)
    ),
    "families": Measurement(
        "the files of all families of open models",
        "harness.families",
        "families.json",
        ("targets",),
        page="programs.models_page",
    ),
    "sessions": Measurement(
        "sessions, streams and the cache of prefixes",
        "harness.sessions",
        "sessions.json",
        ("sessions",),
    ),
    "adoption": Measurement(
        "a tokenizer of transformers before and after it is accelerated",
        "harness.adoption",
        "adoption.json",
        ("adoption",),
    ),
    "playground": Measurement(
        "the playground in Chromium", "harness.playground", "playground.json", ("playground",), ("server",)
    ),
    "static-page": Measurement(
        "the playground as a static page, in Chromium",
        "harness.playground",
        "static_page.json",
        ("playground",),
        ("static",),
    ),
    "wasm": Measurement(
        "the library in WebAssembly, beside other tokenizers in it", "harness.wasm", "wasm.json", ("wasm",)
    ),
    "stages": Measurement("the stages of encoding, by perf", "harness.stages", "stages.json", ("stages",)),
    "tiers": Measurement("the instruction sets of this machine", "harness.tiers", "tiers.json", ("tiers",)),
    "instructions": Measurement(
        "instructions on aarch64 and x86-64, by qemu", "harness.instructions", "instructions.json", ("tiers",)
    ),
    "threads": Measurement("from one thread to all processors", "harness.threads", "threads.json"),
    "many-threads": Measurement("memory and time of 40 threads", "harness.many_threads"),
    "event-loop": Measurement(
        "an event loop beside a thread that encodes", "harness.event_loop", "event_loop.json"
    ),
    "shards": Measurement("files to shards, beside encoding in memory", "harness.shards"),
    "scale": Measurement("work by unit and by engine", "harness.scale", "scale.json", ("scale",)),
    "check": Measurement("a part of all benchmarks, beside what is recorded", "harness.check"),
    "builds": Measurement("two commits of this library", "harness.two_builds"),
}


def run(module: str, *arguments: str) -> int:
    """Runs a module of the tests or benchmarks in a process of its own, and returns its exit code."""
    folders = [ROOT / "tests", ROOT / "benches", *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    return subprocess.call([sys.executable, "-m", module, *arguments], env=environment)


def main(arguments: Sequence[str]) -> int:
    """Runs the program."""
    name, *options = arguments or ["--help"]
    if name == "report":
        return run("report", *options)
    if name not in MEASUREMENTS:
        names = [f"  {name:16} {measurement.summary}" for name, measurement in MEASUREMENTS.items()]
        names.append(f"  {'report':16} the pages of what is recorded: report [NAME ...]")
        print(__doc__, *names, sep="\n")
        return 0 if name in {"-h", "--help"} else 2
    measurement = MEASUREMENTS[name]
    given = [*measurement.arguments, *options]
    if measurement.result is None or {"--output", "-h", "--help"} & set(options):
        return run(measurement.module, *given)
    result = RESULTS / measurement.result
    if name == "scale" and "--large" in options:
        # A corpus on a cluster is another result than its parts.
        result = result.with_stem(f"{result.stem}_large")
    codes = [run(measurement.module, *given, "--output", str(result))]
    # The pages are written even where token IDs differ: they say so.
    if measurement.page:
        codes.append(run(measurement.page))
    if measurement.sections:
        codes.append(run("report", *measurement.sections))
    return next(filter(None, codes), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
