"""Measures the library in WebAssembly beside other tokenizers compiled to it, in Node.

    python -m benches wasm --corpus DIR [--rounds N]

Token IDs are compared with the package's. Figures are medians of the rounds, each in a process of its own for
each engine; `benches/wasm/measure.js` says how they are taken. The exit code is 1 if
bytemill's token IDs differ from the package's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bytemill
from harness import record
from harness.corpora import read_texts
from harness.record import Result
from harness.suites import ROOT
from report.judged import Judged, at_least, at_most
from report.page import between, provenance, times

NAME = "wasm"
ENCODING = "o200k_base"
OURS = "bytemill"

BUILT = Path("wasm32-unknown-unknown") / "release"
MODULES = {
    OURS: ROOT / "target" / "wasm" / BUILT / "bytemill_wasm.wasm",
    "tiktoken": ROOT / "target" / "wasm-rivals" / "tiktoken" / BUILT / "wasm_rivals.wasm",
    "kitoken": ROOT / "target" / "wasm-rivals" / "kitoken" / BUILT / "wasm_rivals.wasm",
}

# A page of text, and a file.
SIZES = (45_000, 4_000_000)
READ = 10_000_000

STATES = ("first", "replay", "count")
CALLS = {"count": 0.5, "encode": 0.8}

METHOD = """Each engine is compiled with the same options, with 128-bit SIMD, and called by the same
JavaScript: it takes a string, and returns a `Uint32Array` or a number. *First* is text that this tokenizer
has not seen, *replay* is the same text again, *count* counts it. V8 had compiled all functions before. Speeds
are in MB/s of UTF-8, medians of {rounds} processes for each engine, which alternate; {encoding}, one thread.
`tiktoken` is the crate of that name, in the npm package `@goliapkg/tiktoken-wasm`, and `kitoken` the crate in
the npm package of that name."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The median time of a call of an engine.

    Attributes:
        engine: Its name.
        text: The name of the text; "" for opening, and "44 bytes" for calls with a short one.
        state: What is called, and what it has seen.
        bytes: Bytes of the text.
        milliseconds: Elapsed time.
        ids_equal: Whether its token IDs of this text are the package's.
    """

    engine: str
    text: str
    state: str
    bytes: int
    milliseconds: float
    ids_equal: bool

    @property
    def speed(self) -> float:
        """Returns megabytes a second."""
        return self.bytes / self.milliseconds / 1000


def engines(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the name of each engine, and how it is opened."""
    tables = ROOT / "src" / "builtin"
    arguments = {
        OURS: ("open_published", [{"text": ENCODING}, {"path": str(tables / "o200k.merges")}, {}]),
        "tiktoken": ("open_ranks", [{}]),
        "kitoken": ("open_ranks", [{"path": str(folder / "ranks.tiktoken")}]),
    }
    bytemill.get_encoding(ENCODING).save_tiktoken(folder / "ranks.tiktoken")
    for name, (opener, files) in arguments.items():
        yield name, {"module": str(MODULES[name]), "opener": opener, "files": files}


def run(engine: Mapping[str, Any], texts: Sequence[Mapping[str, Any]]) -> Any:
    """Returns what a process measures of an engine."""
    program = ROOT / "benches" / "wasm" / "measure.js"
    given = json.dumps({"engine": engine, "texts": texts}).encode()
    done = subprocess.run(["node", str(program)], input=given, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measure(corpus: Path | None, rounds: int) -> tuple[str, list[Figure]]:
    """Returns the version of Node, and the figures."""
    encoding = bytemill.get_encoding(ENCODING)
    expected: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = []
        for title, text in read_texts(corpus, READ).items():
            data = text.encode("utf-8")
            path = folder / f"{title}.txt"
            path.write_bytes(data)
            texts.append({"name": title, "path": str(path), "sizes": SIZES})
            for size in SIZES:
                part = data[:size].decode("utf-8", "ignore")
                ids = encoding.encode_to_numpy(part, disallowed_special=())
                expected[f"{title} {len(part.encode())}"] = hashlib.sha256(ids.tobytes()).hexdigest()
        spent: dict[tuple[str, str, str, int], list[float]] = {}
        digests: dict[str, dict[str, str]] = {}
        order = dict(engines(folder))
        for number in range(rounds):
            for engine in order if number % 2 == 0 else reversed(order):
                found = run(order[engine], texts)
                digests[engine] = found["digests"]
                for each in found["figures"]:
                    key = engine, each["text"], each["state"], each["bytes"]
                    spent.setdefault(key, []).append(each["milliseconds"])
    figures = [
        Figure(
            engine=engine,
            text=text,
            state=state,
            bytes=size,
            milliseconds=statistics.median(taken),
            ids_equal=(of_text := f"{text} {size}") not in expected
            or digests[engine][of_text] == expected[of_text],
        )
        for (engine, text, state, size), taken in spent.items()
    ]
    return found["node"], figures


def read_result(path: Path) -> tuple[Result, list[Figure]]:
    """Reads a result and its figures."""
    result = record.read(path)
    return result, [Figure(**each) for each in result["figures"]]


def of_texts(figures: Sequence[Figure]) -> dict[tuple[str, int, str], dict[str, Figure]]:
    """Returns the figures of encoding texts by text, size and state, and by engine."""
    found: dict[tuple[str, int, str], dict[str, Figure]] = {}
    for each in figures:
        if each.state in STATES and each.bytes > SIZES[0] // 2:
            found.setdefault((each.text, each.bytes, each.state), {})[each.engine] = each
    return found


def short(figures: Sequence[Figure], state: str) -> dict[str, Figure]:
    """Returns the figures of calls with a short text by engine."""
    return {each.engine: each for each in figures if each.state == state and 0 < each.bytes <= SIZES[0] // 2}


def judged(figures: Sequence[Figure]) -> list[Judged]:
    """Returns the targets with what was measured: the worst text of each size and state."""
    found = []
    cells = of_texts(figures)
    for size, title in zip(SIZES, ("45 KB", "4 MB"), strict=True):
        for state in STATES[:2]:
            ratios = {}
            for (text, length, kind), of_engine in cells.items():
                if kind == state and abs(length - size) < 4:
                    fastest = max(each.speed for name, each in of_engine.items() if name != OURS)
                    ratios[text] = of_engine[OURS].speed / fastest
            worst = min(ratios, key=lambda text: ratios[text])
            shown = f"worst {times(ratios[worst])} ({worst})"
            found.append(
                at_least(f"{title}, {state}, compared with the fastest other", ratios[worst], 1.5, shown)
            )
    for state, most in CALLS.items():
        value = 1000 * short(figures, state)[OURS].milliseconds
        found.append(at_most(f"{state} of 44 bytes", value, most, f"{value:.2f} µs", " µs"))
    return found


def tables(figures: Sequence[Figure]) -> str:
    """Returns the tables of the page."""
    names = list(dict.fromkeys(each.engine for each in figures))
    lines = ["| text | bytes | | " + " | ".join(names) + " |", "|---|---:|---|" + "---:|" * len(names)]
    for (text, size, state), of_engine in of_texts(figures).items():
        shown = [
            f"{each.speed:,.0f}{'' if each.ids_equal else ' (other token IDs)'}"
            for each in map(of_engine.__getitem__, names)
        ]
        lines.append(f"| {text} | {size:,} | {state} | {' | '.join(shown)} |")
    lines += [
        "",
        "| microseconds | " + " | ".join(names) + " |",
        "|---|" + "---:|" * len(names),
    ]
    for state in CALLS:
        values = [f"{1000 * short(figures, state)[name].milliseconds:.2f}" for name in names]
        lines.append(f"| {state}, 44 bytes | {' | '.join(values)} |")
    opened = {each.engine: each for each in figures if each.state == "open"}
    values = [f"{1000 * opened[name].milliseconds:,.0f}" for name in names]
    lines.append(f"| opening the tokenizer | {' | '.join(values)} |")
    return "\n".join(lines)


def section(result: Result, figures: Sequence[Figure]) -> str:
    """Returns the generated part of the page."""
    method = METHOD.format(rounds=result["arguments"]["rounds"], encoding=ENCODING)
    sizes = ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in result["modules"].items())
    measured = (
        f"{provenance(result)} Modules, not compressed: {sizes}; tiktoken's has the vocabulary inside.\n"
        f'The load average was {result["load"]} at the end; `make bench-wasm ARGS="--corpus DIR"` measures '
        "again."
    )
    return between(NAME, f"{method}\n\n{measured}\n\n{tables(figures)}\n")


def rivals() -> dict[str, str]:
    """Returns the versions of the other engines."""
    declared = (ROOT / "benches" / "wasm" / "Cargo.toml").read_text(encoding="utf-8")
    return dict(re.findall(r'^(\w+) = \{ version = "=([\d.]+)"', declared, re.MULTILINE))


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--rounds", type=int, default=7, help="for each figure (default: %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    options = parser.parse_args(arguments)
    node, figures = measure(options.corpus, options.rounds)
    head = record.description() | {
        "versions": {"bytemill": bytemill.__version__, **rivals(), "Node": node.removeprefix("v")},
        "modules": {name: path.stat().st_size for name, path in MODULES.items()},
        "load": round(os.getloadavg()[0], 1),
        "arguments": record.given(options, "corpus", "rounds"),
    }
    print(tables(figures), end="\n\n")
    print("\n".join(map(str, judged(figures))))
    if options.output is not None:
        record.write(options.output, head, figures=figures)
    return int(not all(each.ids_equal for each in figures if each.engine == OURS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
