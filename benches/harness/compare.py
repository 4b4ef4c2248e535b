"""Compares this library with all other installed engines, on one machine, in one run.

    python -m benches encoding --corpus DIR
    python -m benches training --corpus DIR --large FILE
    python -m benches stream --stream FILE

Encoding: ids are compared with tiktoken's before anything is timed. Training: every vocabulary is compared,
token for token, with ours by the same pattern and tie-breaker. Stream: as encoding. Engines take turns,
round after round. The garbage collector is off, and the result of a timed call is freed after the clock has
stopped.
"""

from __future__ import annotations

import argparse
import compileall
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import bytemill
from bytemill._core import BUILD_PROFILE
from harness import capacity, record
from harness import stream as streams
from harness.corpora import read_texts
from harness.encoding import MEASURE, OURS, SUITE, Bench
from harness.engines import LOADERS, installed
from harness.measure import Limits
from harness.record import Cell
from harness.suites import suite
from harness.trainers import TRAINERS
from harness.training import Comparison
from harness.vocabularies import write_vocabulary
from report import encoding as encoding_report
from report import stream as stream_report
from report import training as training_report
from report.targets import judge_all
from support.offline_tiktoken import offline_tiktoken

ROWS = {row["key"]: row for row in SUITE["rows"] if "measure" in row}
NUMBERS = list(dict.fromkeys(key.split()[0] for key in ROWS))
JOBS = [job["key"] for job in suite("training")["jobs"]]
# Models of SentencePiece have a result of their own.
JOBS_OF_BYTES = [key for key in JOBS if not key.startswith("sentencepiece")]


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    suites = parser.add_subparsers(dest="suite", required=True)
    names: dict[str, Any] = {"metavar": "A,B", "type": lambda value: value.split(",")}
    encoding, training, stream = (suites.add_parser(name) for name in ("encoding", "training", "stream"))
    for each in (encoding, training):
        each.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    for each in (encoding, training, stream):
        each.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
        each.add_argument("--rounds", type=int, help="at most, for each figure (default: 7; 3 in training)")
    encoding.add_argument("--corpora", help="only these files of the corpus", **names)
    encoding.add_argument("--rows", help=f"numbers from 1 to {NUMBERS[-1]} (default: all)", **names)
    encoding.add_argument("--encodings", help="the same for all rows (default: those of each row)", **names)
    encoding.add_argument("--engines", help="only these", **names)
    encoding.add_argument("--quick", action="store_true", help="small texts, one round: a first look")
    training.add_argument("--large", type=Path, metavar="FILE", help="a text of some hundred megabytes")
    training.add_argument("--jobs", help=", ".join(JOBS), **names)
    training.add_argument("--trainers", help="only these, and ours", **names)
    training.add_argument(
        "--timeout", type=float, default=900, help="seconds for a process (default: %(default)s)"
    )
    stream.add_argument(
        "--stream", type=Path, required=True, metavar="FILE", help="made by harness.stream_documents"
    )
    stream.add_argument("--engines", help="only these, and tiktoken", **names)
    options = parser.parse_args(arguments)
    known: dict[str, Iterable[str]] = {
        "rows": NUMBERS,
        "engines": {*LOADERS, *streams.SUITE["engines"]},
        "encodings": bytemill.list_encoding_names(),
        "jobs": JOBS,
        "trainers": TRAINERS,
    }
    for name, choices in known.items():
        chosen = getattr(options, name, None) or ()
        if unknown := [each for each in chosen if each not in set(choices)]:
            parser.error(f"--{name}: unknown {', '.join(unknown)}; known are {', '.join(choices)}")
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds: expected 1 or more")
    return options


def measure_rows(bench: Bench, numbers: Sequence[str]) -> list[Cell]:
    """Measures rows, reporting progress on stderr."""
    cells: list[Cell] = []
    for key, row in ROWS.items():
        if key.split()[0] not in numbers:
            continue
        start = time.monotonic()
        try:
            cells.extend(MEASURE[row["measure"]](bench, row))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001 - panics of other engines are not `Exception`s
            # Keep what was measured before.
            traceback.print_exc()
            print(f"row {key} is not complete", file=sys.stderr)
        print(f"row {key}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return cells


def encoding(options: argparse.Namespace) -> int:
    """Compares encoding; the exit code is 1 if bytemill returns other ids than tiktoken."""
    found = [engine for engine in LOADERS if installed(engine) is not None]
    missing = [engine for engine in [*SUITE["needed"], *(options.engines or ())] if engine not in found]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}; run `make bench-compare`")
    size = "quick" if options.quick else "full"
    corpora = read_texts(options.corpus, SUITE["text_characters"][size])
    corpora = {name: text for name, text in corpora.items() if not options.corpora or name in options.corpora}
    if not corpora:
        sys.exit("no corpus: expected .txt files in the folder, with the names given")
    # Thread pools are created once in a process, of this size.
    os.environ["RAYON_NUM_THREADS"] = str(SUITE["threads"])
    # Otherwise NumPy's second thread spins for some 20 ms after its import, beside engines that load in less.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    options.rounds = options.rounds or (1 if options.quick else 7)
    # As installers do, and have done for the other engines: otherwise importing includes compiling.
    compileall.compile_dir(Path(bytemill.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as name, offline_tiktoken(Path(name)):
        bench = Bench(
            corpora=corpora,
            encodings=options.encodings,
            engines=options.engines or found,
            limits=Limits(rounds=options.rounds, seconds=1.5),
            fresh_limits=Limits(rounds=min(options.rounds, 5), seconds=2.0),
            folder=Path(name),
            size=size,
        )
        for each in {name for row in ROWS.values() for name in bench.encodings_of(row)}:
            write_vocabulary(bench.folder, each)
        head = record.description() | {
            "versions": {engine: installed(engine) for engine in bench.engines},
            "arguments": record.given(options, "corpus", "rows", "encodings", "rounds", "quick"),
            "corpora": {name: len(text.encode()) for name, text in bench.corpora.items()},
        }
        cells = measure_rows(bench, options.rows or NUMBERS)
    print(encoding_report.table(cells), end="\n\n")
    print("\n".join(str(each) for each in encoding_report.judged(cells) if each.met is not None))
    if options.output is not None:
        head["cores"] = capacity.summary(bench.capacity)
        record.write(options.output, head, cells=cells, verdicts=judge_all(cells))
    return 1 if any(cell.engine == OURS and cell.ids_equal is False for cell in cells) else 0


def training(options: argparse.Namespace) -> int:
    """Compares training; the exit code is 1 if a vocabulary differs that must not."""
    options.rounds = options.rounds or 3
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, Path(folder))
        jobs = options.jobs or JOBS_OF_BYTES
        chosen = {TRAINERS[name].distribution for job in jobs for name in comparison.trainers_of(job)}
        head = record.description() | {
            "versions": {
                name: installed(name)
                for name in (t.distribution for t in TRAINERS.values())
                if name in chosen
            },
            "arguments": record.given(options, "corpus", "large", "rounds"),
        }
        figures = [figure for job in jobs for figure in comparison.measure(job)]
    print(training_report.table(figures), end="\n\n")
    print("\n".join(map(str, training_report.judged(figures))))
    if options.output is not None:
        head["cores"] = capacity.summary(comparison.capacity)
        record.write(options.output, head, figures=figures)
    return 1 if any(each.equal is False for each in figures) else 0


def stream(options: argparse.Namespace) -> int:
    """Compares encoding of a stream; the exit code is 1 if an engine returns other ids than tiktoken."""
    engines = [
        engine
        for engine in streams.SUITE["engines"]
        if options.engines is None or engine in (*options.engines, streams.ORACLE)
    ]
    with tempfile.TemporaryDirectory() as name, offline_tiktoken(Path(name)):
        write_vocabulary(Path(name), streams.SUITE["encoding"])
        head = record.description() | {
            "versions": {engine: streams.version_of(engine) for engine in engines},
            "arguments": record.given(options, "stream", "rounds"),
        }
        cells = list(streams.measure(engines, options.stream, Path(name), options.rounds or 3))
    print(stream_report.table(cells), end="\n\n")
    print("\n".join(map(str, stream_report.judged(cells))))
    if options.output is not None:
        record.write(options.output, head, cells=cells)
    return 1 if any(cell.ids_equal is False for cell in cells) else 0


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes."""
    options = parse_arguments(arguments)
    if BUILD_PROFILE != "release":
        sys.exit(f"the extension is a {BUILD_PROFILE} build: run `make build`")
    return {"encoding": encoding, "training": training, "stream": stream}[options.suite](options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
