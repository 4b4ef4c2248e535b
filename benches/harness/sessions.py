"""Measures texts that grow: sessions, streams and the prefix cache, compared with encoding all.

    python -m benches sessions --corpus DIR

One process, one thread, o200k_base. Token IDs are compared with those of the whole text before anything is
measured. Figures are medians of calls.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, perf_counter_ns

import bytemill
from harness import record
from harness.corpora import read_texts
from harness.record import Result
from report.judged import Judged, at_least, at_most
from report.page import between, provenance, times

ENCODING = "o200k_base"

# Characters of the long text, of the conversation, and of what a turn adds.
LONG = 4_194_304
CONVERSATION, TURNS = 780_800, 400
APPENDED = 256

# Models whose files are measured as well.
FILES = ("Llama 3", "Mistral v1")


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The time of an operation.

    Attributes:
        key: Its name.
        title: What it does.
        microseconds: The median of its calls.
        bytes: Bytes of text that a call is about; 0 if it does not depend on them.
    """

    key: str
    title: str
    microseconds: float
    bytes: int = 0


def median(call: Callable[[int], object], calls: int) -> float:
    """Returns the median time of calls with the numbers from 0 on, in microseconds."""
    spent = []
    for number in range(calls):
        start = perf_counter_ns()
        call(number)
        spent.append(perf_counter_ns() - start)
    return statistics.median(spent) / 1e3


def turns(texts: dict[str, str]) -> list[str]:
    """Returns what each turn of a conversation adds: of all texts in turn, without what is not ASCII."""
    size = CONVERSATION // TURNS
    sources = [text.encode("ascii", "ignore").decode() for text in texts.values()]
    return [
        sources[turn % len(sources)][turn * size :][:size] or sources[turn % len(sources)][:size]
        for turn in range(TURNS)
    ]


def conversations(encoding: bytemill.Encoding, added: Sequence[str]) -> list[Timing]:
    """Measures the turns of a conversation, each by the median of its last ten turns."""
    cache = bytemill.PrefixCache()
    session = encoding.session(disallowed_special=())
    updated = encoding.session(disallowed_special=())
    calls: dict[str, tuple[str, Callable[[str, str], object]]] = {
        "turn, list": ("`encode(text)`", lambda text, _: encoding.encode(text, disallowed_special=())),
        "turn, array": (
            "`encode_to_numpy(text)`",
            lambda text, _: encoding.encode_to_numpy(text, disallowed_special=()),
        ),
        "turn, cache, list": (
            "`encode(text, cache=cache)`",
            lambda text, _: encoding.encode(text, disallowed_special=(), cache=cache),
        ),
        "turn, cache, array": (
            "`encode_to_numpy(text, cache=cache)`",
            lambda text, _: encoding.encode_to_numpy(text, disallowed_special=(), cache=cache),
        ),
        "turn, update": ("`session.update(text)`", lambda text, _: updated.update(text)),
        "turn, append": ("`session.append(new)`", lambda _, new: session.append(new)),
    }
    spent: dict[str, list[float]] = {key: [] for key in calls}
    # One kind of call after the other, as a program has them.
    for key, (_, call) in calls.items():
        text = ""
        for new in added:
            text += new
            start = perf_counter()
            call(text, new)
            spent[key].append((perf_counter() - start) * 1e6)
    tokens = encoding.encode(text, disallowed_special=())
    cached = encoding.encode(text, disallowed_special=(), cache=cache)
    if not tokens == cached == session.tolist() == updated.tolist():
        raise AssertionError("a session or the cache gives other token IDs")
    size = len(text.encode())
    return [
        Timing(key=key, title=calls[key][0], microseconds=statistics.median(each[-10:]), bytes=size)
        for key, each in spent.items()
    ]


def edits(encoding: bytemill.Encoding, text: str) -> list[Timing]:
    """Measures operations on a session of a long text."""
    session = encoding.session(text, disallowed_special=())
    if session.tolist() != encoding.encode(text, disallowed_special=()):
        raise AssertionError("a session gives other token IDs")
    parts = [text[number * APPENDED :][:APPENDED] for number in range(1_000)]
    middle = len(text) // 2
    other = text[:-8] + "12 a b.\n"
    whole = median(lambda _: encoding.encode(text, disallowed_special=()), 5)
    append = median(appended(session, parts), 1_000)
    alone = median(lambda number: encoding.encode_ordinary(parts[number]), 1_000)
    figures = [
        ("whole", f"`encode` of all {LONG:,} characters", whole),
        ("alone", f"`encode_ordinary` of {APPENDED} characters", alone),
        ("append", f"`append` of {APPENDED} characters", append),
        ("edit", "`edit` of 5 characters in the middle", median(edit_at(session, middle), 500)),
        ("count_after", f"`count_after` {APPENDED} characters", median(counted(session, parts), 1_000)),
        # The clock takes as long as one.
        ("fork", "`fork`", median(lambda _: [session.fork() for _ in range(100)], 100) / 100),
        ("update", "`update`, 8 characters changed", median(alternating(session, text, other), 50)),
    ]
    return [Timing(key=key, title=title, microseconds=spent) for key, title, spent in figures]


def files(text: str) -> list[Timing]:
    """Measures `append` with models' `tokenizer.json` files."""
    from harness.model_files import MODELS

    figures = []
    for model in FILES:
        _, write = MODELS[model]
        with tempfile.TemporaryDirectory() as folder:
            encoding = bytemill.Encoding.from_file(write(Path(folder))["tokenizers"])
        title = f"`append` of {APPENDED} characters, {model}'s tokenizer.json"
        spent = appending(encoding, text)
        figures.append(Timing(key=f"append, {model}", title=title, microseconds=spent))
    return figures


def appending(encoding: bytemill.Encoding, text: str) -> float:
    """Returns the median time of `append` after a text, of parts of the same, in microseconds."""
    session = encoding.session(text, disallowed_special=())
    parts = [text[number * APPENDED :][:APPENDED] for number in range(1_000)]
    spent = median(appended(session, parts), 1_000)
    if session.tolist() != encoding.encode(session.text, disallowed_special=()):
        raise AssertionError("a session gives other token IDs")
    return spent


def appended(session: bytemill.Session, parts: Sequence[str]) -> Callable[[int], object]:
    """Returns a call that appends a part."""
    return lambda number: session.append(parts[number])


def runs(encoding: bytemill.Encoding) -> list[Timing]:
    """Measures `append` at the end of runs that have no place where text can be cut."""
    numbers = random.Random(0)  # noqa: S311
    figures = []
    for name, symbols in (("letters", "abcdefghijklmnopqrstuvwxyz"), ("blanks", " ")):
        text = "".join(numbers.choices(symbols, k=LONG))
        title = f"`append` of {APPENDED} {name}, after {LONG:,}"
        spent = appending(encoding, text)
        figures.append(Timing(key=f"run, {name}", title=title, microseconds=spent))
    return figures


def edit_at(session: bytemill.Session, middle: int) -> Callable[[int], object]:
    """Returns a call that replaces five characters, each time elsewhere."""
    return lambda number: session.edit(middle + 97 * number, middle + 97 * number + 5, "words")


def counted(session: bytemill.Session, parts: Sequence[str]) -> Callable[[int], object]:
    """Returns a call that counts what a text would have."""
    return lambda number: session.count_after(parts[number])


def alternating(session: bytemill.Session, text: str, other: str) -> Callable[[int], object]:
    """Returns a call that changes the text to another and back."""
    session.update(text)
    return lambda number: session.update(text if number % 2 else other)


def streams(encoding: bytemill.Encoding, text: str) -> list[Timing]:
    """Measures `push` and `encode_ordinary` for parts of 16, 256 and 4,096 characters."""
    figures = []
    for size in (16, 256, 4_096):
        parts = [text[start : start + size] for start in range(0, len(text), size)]
        stream = encoding.stream_encoder(disallowed_special=())
        tokens = [token for part in parts for token in stream.push(part)] + stream.flush()
        if tokens != encoding.encode_ordinary(text):
            raise AssertionError("a stream gives other token IDs")
        for key, title, call in (
            ("push", f"`push` of {size:,} characters", stream.push),
            ("encode", f"`encode_ordinary` of {size:,} characters", encoding.encode_ordinary),
        ):
            start = perf_counter()
            for part in parts:
                call(part)
            spent = (perf_counter() - start) / len(parts) * 1e6
            stream.flush()
            bytes_each = len(text.encode()) // len(parts)
            figures.append(Timing(key=f"{key}, {size}", title=title, microseconds=spent, bytes=bytes_each))
    return figures


def checks(encoding: bytemill.Encoding, text: str) -> list[Timing]:
    """Measures what is said about token IDs and texts."""
    array = encoding.encode_ordinary_to_numpy(text)
    size = len(text.encode())
    return [
        Timing(
            key="is_canonical",
            title="`is_canonical` of an array",
            microseconds=median(lambda _: encoding.is_canonical(array), 5),  # type: ignore[arg-type]
            bytes=size,
        ),
        Timing(
            key="split_points",
            title="`split_points`, every 64 KiB",
            microseconds=median(lambda _: encoding.split_points(text), 20),
            bytes=size,
        ),
    ]


def measure(corpus: Path | None, rounds: int) -> list[Timing]:
    """Measures all operations, and returns the median of the rounds for each."""
    results = [measured(corpus) for _ in range(rounds)]
    return [
        replace(figures[0], microseconds=statistics.median(figure.microseconds for figure in figures))
        for figures in zip(*results, strict=True)
    ]


def measured(corpus: Path | None) -> list[Timing]:
    """Measures all operations once."""
    encoding = bytemill.get_encoding(ENCODING)
    texts = read_texts(corpus, LONG)
    first = texts.get("english") or next(iter(texts.values()))
    long = (first * (LONG // len(first) + 1))[:LONG]
    both = {name: text for name, text in texts.items() if name in {"english", "code"}} or texts
    return [
        *conversations(encoding, turns(both)),
        *edits(encoding, long),
        *runs(encoding),
        *files(long),
        *streams(encoding, first[:1_000_000]),
        *checks(encoding, long),
    ]


# The page, from a result.

NAME = "sessions"

METHOD = """One process, one thread, {encoding}; token IDs were equal to those of the whole text. A
conversation of {turns} turns grows to {conversation:,} characters of ASCII, of English and code in turn: its
figures are medians of the last ten turns. The others are medians of many calls from Python; `append`, `edit`,
`count_after`, `fork` and `update` are on {long:,} characters of English. Results are lists unless an array is
named."""


def read_result(path: Path) -> tuple[Result, list[Timing]]:
    """Reads a result and its figures."""
    result = record.read(path)
    return result, [Timing(**figure) for figure in result["figures"]]


def table(figures: Sequence[Timing]) -> str:
    """Returns a Markdown table of all figures."""
    lines = ["| call | µs | MB/s |", "|---" * 3 + "|"]
    for figure in figures:
        speed = f"{figure.bytes / figure.microseconds:,.0f}" if figure.bytes else ""
        lines.append(f"| {figure.title} | {figure.microseconds:,.2f} | {speed} |")
    return "\n".join(lines)


def judged(figures: Sequence[Timing]) -> list[Judged]:
    """Returns the targets."""
    found = {figure.key: figure for figure in figures}

    def spent(key: str) -> float:
        return found[key].microseconds

    def limit(title: str, key: str, most: float) -> Judged:
        return at_most(title, spent(key), most, f"{spent(key):.1f} µs", " µs")

    def ratio(title: str, slow: str, fast: str, least: float) -> Judged:
        return at_least(title, spent(slow) / spent(fast), least, times(spent(slow) / spent(fast)))

    def speed(title: str, key: str, least: float) -> Judged:
        value = found[key].bytes / spent(key)
        return at_least(title, value, least, f"{value:,.0f} MB/s", " MB/s")

    return [
        limit("append 256 characters to 4 million", "append", 5),
        *(limit(f"the same, {model}", f"append, {model}", 5) for model in FILES),
        limit("append 256 letters to 4 million without a cut", "run, letters", 20),
        limit("append 256 blanks to 4 million", "run, blanks", 20),
        limit("edit in the middle of 4 million", "edit", 20),
        limit("fork", "fork", 0.3),
        ratio("a turn from the cache, array", "turn, array", "turn, cache, array", 20),
        ratio("a turn from the cache, list", "turn, list", "turn, cache, list", 3),
        limit("update of a conversation of 780,800 characters", "turn, update", 60),
        speed("push of 16 characters", "push, 16", 25),
        ratio("push of 4,096 characters, compared with encoding", "encode, 4096", "push, 4096", 0.9),
        speed("is_canonical", "is_canonical", 300),
        speed("split_points", "split_points", 2_000),
    ]


def section(result: Result, figures: Sequence[Timing]) -> str:
    """Returns the generated part of the page."""
    method = METHOD.format(encoding=ENCODING, turns=TURNS, conversation=CONVERSATION, long=LONG)
    measured = f'{provenance(result)} `make bench-sessions ARGS="--corpus DIR"` measures again.'
    return between(NAME, f"{method}\n\n{measured}\n\n{table(figures)}")


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--rounds", type=int, default=5, help="for each figure (default: %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    options = parser.parse_args(arguments)
    figures = measure(options.corpus, options.rounds)
    head = record.description() | {
        "versions": {"bytemill": bytemill.__version__},
        "arguments": record.given(options, "corpus", "rounds"),
    }
    print(table(figures), end="\n\n")
    print("\n".join(map(str, judged(figures))))
    if options.output is not None:
        record.write(options.output, head, figures=figures)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
