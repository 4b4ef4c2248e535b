"""Compares this library with every other engine that is installed, on one machine, in one run.

    python benches/python/compare.py --corpus DIR --output RESULT.json

Ids are compared with tiktoken's before anything is timed; engines take turns, round after round. The garbage
collector is off, and what a timed call returns is freed when the clock has stopped; loops over documents drop
the ids of one for those of the next. `report.py` turns the result into tables and a picture.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import bytemill
from bytemill._core import BUILD_PROFILE
from bytemill.formats.atomic import write_atomically

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import cores
from bench import Bench
from corpora import read_texts
from engines import LOADERS, installed
from measuring import Cell, Limits
from report import sentence, table
from rows import ROWS, THREADS
from support.offline_tiktoken import offline_tiktoken
from support.revision import commit
from targets import judge_all
from vocabularies import write_vocabulary

MOST_CHARACTERS = 10_000_000
QUICK_CHARACTERS = 1_000_000

ENCODINGS = ("cl100k_base", "o200k_base")
# The old encoding only where one text is encoded at a time.
MORE_ENCODINGS = {1: ("r50k_base",), 2: ("r50k_base",)}

NEEDED = ("bytemill", "tiktoken")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names: dict[str, Any] = {"metavar": "A,B", "type": lambda value: value.split(",")}
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="its .txt files are the corpora, not Python's source"
    )
    parser.add_argument("--corpora", help="of these only those", **names)
    parser.add_argument("--rows", help=f"numbers from {min(ROWS)} to {max(ROWS)} (default: all)", **names)
    parser.add_argument("--encodings", help="the same for all rows (default: as each row needs)", **names)
    parser.add_argument("--engines", help="of those installed only these", **names)
    parser.add_argument("--rounds", type=int, help="at most so many for each figure (default: 7; 1 if quick)")
    parser.add_argument("--quick", action="store_true", help="small texts, one round: a first look")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    options = parser.parse_args(arguments)
    check_choice(parser, "rows", options.rows, map(str, ROWS))
    check_choice(parser, "engines", options.engines, LOADERS)
    check_choice(parser, "encodings", options.encodings, bytemill.list_encoding_names())
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds: expected 1 or more")
    return options


def check_choice(parser: argparse.ArgumentParser, name: str, chosen: list[str] | None, known: Any) -> None:
    """Refuses names that do not exist."""
    known = list(known)
    unknown = [each for each in chosen or [] if each not in known]
    if unknown:
        parser.error(f"--{name}: unknown {', '.join(unknown)}; known are {', '.join(known)}")


def run(bench: Bench, options: argparse.Namespace) -> list[Cell]:
    """Measures the chosen rows, telling on the error output how far it is."""
    chosen = [int(row) for row in options.rows] if options.rows else list(ROWS)
    cells: list[Cell] = []
    for number in chosen:
        start = time.monotonic()
        encodings = options.encodings or [*ENCODINGS, *MORE_ENCODINGS.get(number, ())]
        try:
            cells.extend(ROWS[number](replace(bench, encodings=encodings)))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001 - panics of other engines are nothing less
            # What was measured before is not lost.
            traceback.print_exc()
            print(f"row {number} is not complete", file=sys.stderr)
        print(f"row {number}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return cells


def machine() -> dict[str, Any]:
    """What the figures depend on besides the program."""
    cpu = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line.split(":", 1) for line in information.read_text().splitlines() if ":" in line]
        fields = {name.strip(): value.strip() for name, value in lines}
        cpu = fields.get("model name", cpu)
        if "cpu family" in fields:
            cpu += f", family {fields['cpu family']} model {fields.get('model', '?')}"
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = f"{platform.system()} {platform.release()}"
    return {
        "cpu": cpu,
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": system,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def describe_run(bench: Bench, options: argparse.Namespace) -> dict[str, Any]:
    """All that belongs to the result besides the figures. Folders of this machine stay out of it."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "source": commit(),
        "versions": {engine: installed(engine) for engine in bench.engines},
        "arguments": {
            "corpus": None if options.corpus is None else options.corpus.resolve().name,
            "rows": options.rows,
            "encodings": options.encodings,
            "rounds": bench.limits.rounds,
            "quick": options.quick,
        },
        "corpora": {name: len(text.encode()) for name, text in bench.corpora.items()},
    }


def format_result(description: dict[str, Any], cells: Sequence[Cell]) -> str:
    """The result as JSON, with a line for each figure and each verdict."""
    lines = [
        f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in description.items()
    ]
    for name, records in (("cells", cells), ("verdicts", judge_all(cells))):
        rows = [json.dumps(present(asdict(record)), ensure_ascii=False) for record in records]
        lines.append(f" {json.dumps(name)}: [\n  " + ",\n  ".join(rows) + "\n ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def present(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what is not known, and with no more digits than mean something."""
    return {
        name: float(f"{value:.5g}") if isinstance(value, float) else value
        for name, value in record.items()
        if value is not None
    }


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes; the exit code is 1 if bytemill gives other ids than tiktoken."""
    options = parse_arguments(arguments)
    if BUILD_PROFILE != "release":
        sys.exit(f"the extension is a {BUILD_PROFILE} build: run `make build`")
    found = [engine for engine in LOADERS if installed(engine) is not None]
    missing = [engine for engine in [*NEEDED, *(options.engines or ())] if engine not in found]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}; run `make bench-compare`")
    engines = options.engines or found
    corpora = read_texts(options.corpus, QUICK_CHARACTERS if options.quick else MOST_CHARACTERS)
    corpora = {name: text for name, text in corpora.items() if not options.corpora or name in options.corpora}
    if not corpora:
        sys.exit("no corpus: expected .txt files in the folder, with the names given")
    # Pools of threads are made once in a process, as large as this says.
    os.environ["RAYON_NUM_THREADS"] = str(THREADS)
    # Otherwise NumPy's second thread spins for some 20 ms after its import, beside engines that load in less.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    rounds = options.rounds or (1 if options.quick else 7)
    # As an installer does, which has done so for the others: otherwise importing would be compiling.
    compileall.compile_dir(Path(bytemill.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as name, offline_tiktoken(Path(name)):
        bench = Bench(
            corpora=corpora,
            encodings=ENCODINGS,
            engines=engines,
            limits=Limits(rounds=rounds, seconds=1.5),
            fresh_limits=Limits(rounds=min(rounds, 5), seconds=2.0),
            folder=Path(name),
            quick=options.quick,
        )
        for encoding in {*ENCODINGS, *sum(MORE_ENCODINGS.values(), ()), *(options.encodings or ())}:
            write_vocabulary(bench.folder, encoding)
        description = describe_run(bench, options)
        cells = run(bench, options)
        description["cores"] = cores.summary(bench.cores)
    print(table(cells))
    print()
    for verdict in judge_all(cells):
        if verdict.met is not None:
            print(sentence(verdict))
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(options.output, format_result(description, cells).encode())
    return 1 if any(cell.engine == "bytemill" and cell.ids_equal is False for cell in cells) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
