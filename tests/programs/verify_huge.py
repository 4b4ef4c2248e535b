"""Compare the ids of any amount of text with tiktoken's, tokenizers' and SentencePiece's, and record it.

    PYTHONPATH=tests python -m programs.verify_huge DIR [--size 10GB] [--output FILE]

The text is what is below DIR, then what is derived from it, in the chunks of `support.derived_text`. Each
chunk is cut into documents of all lengths, special and added tokens are put into some of them, and they are
encoded by this library and by one encoding, file or model of each other library, in turn: a chunk's first
bytes by those that are slow, all by tiktoken. Ten minutes of work are one line of the output, and a run goes
on behind the last of them; interrupted by Ctrl-C, it writes what it has done. Exits with 1 if there is any
difference, with the shortest text that was found to show it.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import dropwhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import tokenizers

import bytemill
from bytemill.reference_sentencepiece import Kind
from support import sentencepiece
from support.derived_text import Chunk, chunks_of, digest, sliced, text_of
from support.offline_tiktoken import offline_tiktoken
from support.open_models import LOADED, file_of
from support.revision import commit

# How long what is one line of the output takes.
SPAN_SECONDS = 600

# Maximum length of a document in characters. Lengths are distributed log-uniformly.
LONGEST = 100_000

# More than a hundred encodings stay open, each with a cache.
CACHE_BYTES = 8 << 20

Documents = list[str]
Ids = Sequence[Any]


class Pair(NamedTuple):
    """An encoding of this library and the same of another.

    Attributes:
        ours: Returns the ids of each document.
        theirs: Returns the ids of each document by the other library.
        tokens: Special tokens, added tokens or pieces that may be found in text.
    """

    ours: Callable[[Documents], Ids]
    theirs: Callable[[Documents], Ids]
    tokens: Sequence[str]


class Library(NamedTuple):
    """Another library.

    Attributes:
        names: Names of encodings, files or models.
        share: Which part of a chunk it encodes, so that a slow library does not take all the time.
        open: Opens one of them.
    """

    names: Sequence[str]
    share: float
    open: Callable[[str], Pair]


def of(
    encoding: bytemill.Encoding, special: Literal["all"] | frozenset[str] = "all"
) -> Callable[[Documents], Ids]:
    """Returns what encodes documents by this library, with the special tokens that are allowed."""
    encoding.set_cache_limit(CACHE_BYTES)

    def encode(documents: Documents) -> Ids:
        ids, offsets = encoding.encode_batch_to_numpy(documents, allowed_special=special, num_threads=1)
        return np.split(ids, offsets[1:-1])

    return encode


# --- The other libraries ------------------------------------------------------------------------------------


@contextmanager
def libraries() -> Iterator[dict[str, Library]]:
    """Yields the libraries by name; encodings that are opened stay open."""
    with tempfile.TemporaryDirectory() as name, offline_tiktoken(Path(name)) as encodings:
        folder = Path(name)

        @functools.cache
        def open_encoding(name: str) -> Pair:
            theirs = encodings[name]
            return Pair(
                of(bytemill.get_encoding(name)),
                lambda documents: [theirs.encode_to_numpy(text, allowed_special="all") for text in documents],
                sorted(theirs.special_tokens_set),
            )

        @functools.cache
        def open_file(name: str) -> Pair:
            path = folder / "tokenizer.json"
            path.write_bytes(file_of(name))
            theirs = tokenizers.Tokenizer.from_file(str(path))
            # What is added to the ids, or taken from them, behind the encoding.
            theirs.post_processor = None
            theirs.no_truncation()
            theirs.no_padding()
            return Pair(
                of(bytemill.Encoding.from_file(path)),
                lambda documents: [
                    encoded.ids for encoded in theirs.encode_batch(documents, add_special_tokens=False)
                ],
                [token.content for token in theirs.get_added_tokens_decoder().values()],
            )

        @functools.cache
        def open_model(name: str) -> Pair:
            model = MODELS[name]()
            path = folder / "tokenizer.model"
            path.write_bytes(model)
            theirs = sentencepiece.processor(model)
            return Pair(
                # SentencePiece finds no control pieces in text.
                of(bytemill.Encoding.from_file(path), frozenset()),
                lambda documents: theirs.encode(documents, out_type=int, num_threads=1),
                [piece.piece for piece in sentencepiece.parse(model).pieces if piece.type != Kind.NORMAL],
            )

        yield {
            "tiktoken": Library(list(encodings), 1, open_encoding),
            "tokenizers": Library(LOADED, 0.15, open_file),
            "sentencepiece": Library(list(MODELS), 0.1, open_model),
        }


def models() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yields the models of SentencePiece: published ones, trained ones, and ones of random pieces."""
    for name in sentencepiece.PUBLISHED:
        if sentencepiece.published_path(name) is not None:
            yield name, functools.partial(sentencepiece.published, name)
    for rule in sentencepiece.RULES:
        yield rule, functools.partial(sentencepiece.trained, rule)
        yield f"{rule}, bytes", functools.partial(sentencepiece.trained, rule, byte_fallback=True)
    for seed in range(5):
        yield f"random {seed}", functools.partial(sentencepiece.synthetic, seed)


MODELS = dict(models())


# --- Comparing ----------------------------------------------------------------------------------------------


class Result(NamedTuple):
    """Comparison of a chunk with a library.

    Attributes:
        name: Name of the encoding, file or model.
        size: Number of bytes.
        ids: Number of ids.
        differences: Number of documents with other ids.
        first: The first of them.
    """

    name: str
    size: int
    ids: int
    differences: int
    first: dict[str, Any] | None


def compare(chunk: Chunk, text: str, library: Library) -> Result:
    """Compares documents of a chunk with one of a library's encodings."""
    # The same names meet other parts of the files in each turn.
    name = library.names[(chunk.number + chunk.turn) % len(library.names)]
    pair = library.open(name)
    documents = documents_of(text[: int(len(text) * library.share)], pair.tokens, chunk.number)
    ours, theirs = pair.ours(documents), pair.theirs(documents)
    assert len(ours) == len(theirs) == len(documents)
    wrong = [
        text
        for text, our, their in zip(documents, ours, theirs, strict=True)
        if not np.array_equal(our, their)
    ]
    return Result(
        name,
        sum(len(text.encode()) for text in documents),
        sum(map(len, theirs)),
        len(wrong),
        {"chunk": chunk.number, "name": name, **difference(wrong[0], pair)} if wrong else None,
    )


def documents_of(text: str, tokens: Sequence[str], seed: int) -> Documents:
    """Cuts a text into documents; half of them have one of the tokens somewhere."""
    source = np.random.default_rng(seed)
    number = int(len(text) / LONGEST * np.log(LONGEST)) + 1
    documents = list(sliced(text, (LONGEST ** source.random(number)).astype(int)))
    if tokens:
        for index in np.flatnonzero(source.random(len(documents)) < 0.5).tolist():
            document, token = documents[index], tokens[int(source.integers(len(tokens)))]
            place = source.integers(len(document) + 1)
            documents[index] = document[:place] + token + document[place:]
    return documents


def difference(text: str, pair: Pair) -> dict[str, Any]:
    """Describes the difference of a document by the shortest text that is found in it."""

    def differs(text: str) -> bool:
        return not np.array_equal(pair.ours([text])[0], pair.theirs([text])[0])

    # An encoding keeps pieces that it has met: the document alone may not show the difference.
    shown = shortest(text, differs) if differs(text) else text
    ours, theirs = ([*map(int, encode([shown])[0])] for encode in (pair.ours, pair.theirs))
    return {"text": shown, "ours": ours, "theirs": theirs}


def shortest(text: str, differs: Callable[[str], bool]) -> str:
    """Removes from a text what may be missing: a half, quarters, and so on to single characters."""
    size = len(text) // 2
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if differs(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text


# --- Recording ----------------------------------------------------------------------------------------------


class Span:
    """Chunks in a row, which become one line."""

    def __init__(self, first: int, corpus: str) -> None:
        """Begins with the chunk of a number."""
        self.start = time.perf_counter()
        self.first = self.end = first
        self.corpus = corpus
        self.size = self.derived = 0
        self.compared: dict[str, dict[str, list[int]]] = {}
        self.differences = 0
        self.found: list[dict[str, Any]] = []

    def add(self, chunk: Chunk, text: str, results: Mapping[str, Result]) -> None:
        """Adds what was compared of a chunk."""
        size = len(text.encode())
        self.size += size
        self.derived += size if chunk.turn else 0
        self.end = chunk.number + 1
        for library, result in results.items():
            sums = self.compared.setdefault(library, {}).setdefault(result.name, [0, 0])
            sums[0] += result.size
            sums[1] += result.ids
            self.differences += result.differences
            if result.first is not None:
                self.found.append({"library": library, **result.first})
                print(json.dumps(self.found[-1]), flush=True)

    def write(self, output: Path) -> None:
        """Appends the line."""
        line = {
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            **commit(),
            "versions": {"bytemill": bytemill.__version__}
            | {name: version(name) for name in ("tiktoken", "tokenizers", "sentencepiece", "numpy")},
            "corpus": self.corpus,
            "chunks": [self.first, self.end],
            "bytes": self.size,
            "bytes_derived": self.derived,
            "compared": {
                library: {
                    "bytes": sum(size for size, _ in sums.values()),
                    "ids": sum(ids for _, ids in sums.values()),
                    "bytes_and_ids_by_name": sums,
                }
                for library, sums in self.compared.items()
            },
            "differences": self.differences,
            "first_differences": self.found[:10],
            "seconds": round(time.perf_counter() - self.start),
        }
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def recorded(output: Path) -> list[dict[str, Any]]:
    """Returns the lines of earlier runs."""
    return [json.loads(line) for line in output.read_text("utf-8").splitlines()] if output.exists() else []


def summary(lines: Sequence[Mapping[str, Any]]) -> str:
    """Returns the sums of lines."""
    parts = [f"{sum(line['bytes'] for line in lines) / 1e6:,.1f} MB"]
    for library in lines[0]["compared"] if lines else ():
        size, ids = (
            sum(line["compared"][library][key] for line in lines if library in line["compared"])
            for key in ("bytes", "ids")
        )
        parts.append(f"{library} {size / 1e6:,.1f} MB, {ids:,} ids")
    return "; ".join([*parts, f"{sum(line['differences'] for line in lines)} differences"])


def bytes_of(size: str) -> int:
    """Reads a size such as 10GB or 500MB."""
    match = re.fullmatch(r"([0-9]+)([GMk])B", size)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a size such as 10GB or 500MB, got {size!r}")
    return int(match[1]) * {"G": 10**9, "M": 10**6, "k": 10**3}[match[2]]


def run(chunks: Iterator[Chunk], wanted: int, output: Path, corpus: str) -> int:
    """Compares chunks until they have a size, records them, and returns the number of differences."""
    found = 0
    with libraries() as others:
        span: Span | None = None
        try:
            for chunk in chunks:
                if wanted <= 0:
                    break
                span = span or Span(chunk.number, corpus)
                text = text_of(chunk)
                results = {name: compare(chunk, text, library) for name, library in others.items()}
                span.add(chunk, text, results)
                wanted -= len(text.encode())
                found += sum(result.differences for result in results.values())
                if time.perf_counter() - span.start > SPAN_SECONDS:
                    span.write(output)
                    span = None
                    print(summary(recorded(output)), flush=True)
        finally:
            if span is not None and span.size:
                span.write(output)
    return found


def main() -> int:
    """Runs the comparison and returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--size", type=bytes_of, default="10GB", help="of all runs (default: %(default)s)")
    parser.add_argument(
        "--output", type=Path, default=Path("benches/results/verify_huge.jsonl"), metavar="FILE"
    )
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", "the special token .* is the beginning of|.* its post-processor adds")
    paths = sorted(path for path in arguments.folder.rglob("*") if path.is_file() and path.stat().st_size)
    if not paths:
        parser.error(f"there is no text below {arguments.folder}")
    if not arguments.output.parent.is_dir():
        parser.error(f"there is no folder {arguments.output.parent} for what is recorded")
    corpus = digest(paths)
    lines = recorded(arguments.output)
    print(summary(lines), flush=True)
    done = max((line["chunks"][1] for line in lines if line["corpus"] == corpus), default=0)
    chunks = dropwhile(lambda chunk: chunk.number < done, chunks_of(paths))
    found = run(chunks, arguments.size - sum(line["bytes"] for line in lines), arguments.output, corpus)
    print(summary(recorded(arguments.output)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
