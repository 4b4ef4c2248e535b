"""Compare this library with tiktoken, SentencePiece and `tokenizers` on your own files: ids and decoding.

    PYTHONPATH=tests python -m programs.verify DIR [--encodings NAME ...]

Every file below DIR is read as UTF-8, with replacement characters for invalid bytes, and encoded with every
encoding by both libraries: as one document and in pieces of 4 KB. Needs no network: tiktoken reads our
exports, the SentencePiece models are those that mistral-common brings along and a Unigram model that is
trained here, and of WordPiece, WordLevel and Unigram there are stand-ins of published files. Exits with 1 if
there is any difference.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import tiktoken
import tokenizers

import bytemill
from support.differences import first_difference
from support.offline_tiktoken import NAMES, offline_tiktoken
from support.open_models import file_of
from support.sentencepiece import PUBLISHED, library, published_path, trained

PIECE = 4096
LONG_PIECE = 1 << 18
WORKERS = 2

# A `tokenizer.json` of each kind of model that is not BPE, by the family in `support.open_models`.
FILES = {"WordPiece": "bert-uncased", "WordLevel": "word-level", "Unigram": "xlm-roberta"}
# A `.model`.
TRAINED = "Unigram model"


class Result(NamedTuple):
    """Result of one file with one encoding."""

    size: int
    tokens: int
    differences: list[str]


def compare(
    text: str, ours: bytemill.Encoding, theirs: tiktoken.Encoding
) -> Iterator[tuple[str, str | None]]:
    """Encodes and decodes a text in all ways; yields the name of each and its first difference, if any."""
    compared = partial(first_difference, theirs)
    # Arrays by tiktoken, since two lists of millions of ids exhaust memory.
    ids: Any = theirs.encode_to_numpy(text, disallowed_special=())
    yield "encode_ordinary", compared(ours.encode_ordinary(text), ids)
    yield "encode_to_numpy", compared(ours.encode_to_numpy(text, disallowed_special=()), ids)
    special: Any = theirs.encode_to_numpy(text, allowed_special="all")
    yield "encode with special tokens", compared(ours.encode(text, allowed_special="all"), special)

    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    expected = [theirs.encode_ordinary(piece) for piece in pieces]
    batch = ours.encode_ordinary_batch(pieces, num_threads=2)
    yield "number of pieces", None if len(batch) == len(pieces) else f"{len(batch)} of {len(pieces)} pieces"
    for piece, got, wanted in zip(pieces, batch, expected, strict=False):
        if difference := compared(got, wanted):
            yield "encode_ordinary_batch", f"{difference}\nin the piece {piece[:80]!r}..."
    yield (
        "encode_batch",
        None if ours.encode_batch(pieces, num_threads=2, disallowed_special=()) == batch else "another",
    )
    yield (
        "encode",
        first_piece(
            pieces, [ours.encode(piece, disallowed_special=()) for piece in pieces], expected, theirs
        ),
    )

    yield "decode", None if ours.decode(ids) == text else "not the text that was encoded"
    yield (
        "decode_bytes",
        None if ours.decode_bytes(special) == text.encode() else "not the bytes that were encoded",
    )
    decoded = ours.decode_batch(batch, num_threads=2)
    yield "decode_batch", None if decoded == pieces else "not the pieces that were encoded"


def first_piece(
    pieces: Sequence[str],
    got: Sequence[list[int]],
    expected: Sequence[list[int]],
    encoding: Any,
) -> str | None:
    """Describes the first piece whose ids differ."""
    for piece, one, other in zip(pieces, got, expected, strict=True):
        if difference := first_difference(encoding, one, other):
            return f"{difference}\nin the piece {piece[:80]!r}..."
    return None


def compare_model(text: str, ours: bytemill.Encoding, theirs: Any) -> Iterator[tuple[str, str | None]]:
    """Does as `compare` with a SentencePiece model; `theirs` is its processor."""
    compared = partial(first_difference, ours)
    ids: Any = theirs.encode(text, out_type="numpy")
    yield "encode_ordinary", compared(ours.encode_ordinary(text), ids)
    yield "encode_ordinary_to_numpy", compared(ours.encode_ordinary_to_numpy(text, num_threads=2), ids)
    yield "encode_bytes", compared(ours.encode_bytes(text.encode()), ids)
    yield "count", None if ours.count(text) == len(ids) else f"not {len(ids)}"

    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    expected = theirs.encode(pieces)
    batch = ours.encode_ordinary_batch(pieces, num_threads=2)
    yield "encode_ordinary_batch", first_piece(pieces, batch, expected, ours)
    again = [ours.encode_ordinary(piece) for piece in pieces]
    yield "encode_ordinary of pieces", first_piece(pieces, again, expected, ours)

    ids = ids.tolist()
    yield "decode", None if ours.decode(ids) == theirs.decode(ids) else "another text"
    decoded = ours.decode_batch(batch, num_threads=2)
    yield "decode_batch", None if decoded == theirs.decode(expected) else "other texts"


def compare_file(text: str, ours: bytemill.Encoding, theirs: Any) -> Iterator[tuple[str, str | None]]:
    """Does as `compare` with a `tokenizer.json`; `theirs` is the `Tokenizer`, too large for more."""
    for size in (PIECE, LONG_PIECE):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        expected = theirs.encode_batch(pieces, add_special_tokens=False)
        ids = [each.ids for each in expected]
        batch = ours.encode_batch(pieces, num_threads=2, allowed_special="all")
        yield f"encode_batch of {size}", first_piece(pieces, batch, ids, ours)
        counts = ours.count_batch(pieces, allowed_special="all").tolist()
        yield f"count_batch of {size}", None if counts == list(map(len, ids)) else "other numbers"
        for piece, encoding in zip(pieces, expected, strict=True):
            _, starts, ends = ours.encode_with_offsets(piece, allowed_special="all")
            if list(zip(starts.tolist(), ends.tolist(), strict=True)) != encoding.offsets:
                yield f"encode_with_offsets of {size}", f"other offsets in the piece {piece[:80]!r}..."
        decoded = theirs.decode_batch(ids, skip_special_tokens=False)
        yield f"decode_batch of {size}", None if ours.decode_batch(batch) == decoded else "other texts"


def verify(
    path: Path,
    ours: bytemill.Encoding,
    compare: Callable[[str, bytemill.Encoding], Iterator[tuple[str, str | None]]],
) -> Result:
    """Compares both libraries on one file."""
    text = path.read_bytes().decode("utf-8", "replace")
    differences = [f"{method}: {found}" for method, found in compare(text, ours) if found]
    return Result(len(text.encode()), len(ours.encode_to_numpy(text, disallowed_special=())), differences)


def comparison(name: str, encodings: Mapping[str, tiktoken.Encoding]) -> Callable[[Path], Result]:
    """Returns what compares an encoding, or a model, on a file; `encodings` are tiktoken's."""
    if name in encodings:
        ours = bytemill.get_encoding(name)
        return partial(verify, ours=ours, compare=partial(compare, theirs=encodings[name]))
    if name in FILES:
        contents = file_of(FILES[name]).decode()
        tokenizer = tokenizers.Tokenizer.from_str(contents)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            # An encoding adds no tokens around a text.
            warnings.simplefilter("ignore", UserWarning)
            saved = Path(folder, "tokenizer.json")
            saved.write_text(contents, encoding="utf-8")
            file = bytemill.Encoding.from_file(saved)
        return partial(verify, ours=file, compare=partial(compare_file, theirs=tokenizer))
    if name == TRAINED:
        model = trained("nmt_nfkc", 2000, model_type="unigram", hard_vocab_limit=False)
    else:
        path = published_path(name)
        assert path is not None
        model = path.read_bytes()
    processor = library().SentencePieceProcessor(model_proto=model)
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "tokenizer.model")
        saved.write_bytes(model)
        ours = bytemill.Encoding.from_file(saved)
    return partial(verify, ours=ours, compare=partial(compare_model, theirs=processor))


def main() -> int:
    """Runs the comparison and returns the exit code."""
    parser = argparse.ArgumentParser(
        description="Compare this library with tiktoken and SentencePiece on every file below a folder."
    )
    installed = [name for name in PUBLISHED if published_path(name) is not None]
    installed += [TRAINED, *FILES]
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--encodings", nargs="+", choices=[*NAMES, *installed], metavar="NAME")
    arguments = parser.parse_args()
    names = arguments.encodings or [*NAMES, *installed]
    paths = sorted(path for path in arguments.folder.rglob("*") if path.is_file())
    if not paths:
        parser.error(f"there are no files below {arguments.folder}")

    start = time.perf_counter()
    size = differences = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        offline_tiktoken(Path(folder)) as encodings,
        ThreadPoolExecutor(WORKERS) as pool,
    ):
        for name in names:
            check = comparison(name, encodings)
            size = 0
            for path, result in zip(paths, pool.map(check, paths), strict=True):
                size += result.size
                differences += len(result.differences)
                print(
                    f"{name:14} {result.size:12,} bytes {result.tokens:12,} tokens"
                    f" {len(result.differences):4} differences  {path.relative_to(arguments.folder)}",
                    flush=True,
                )
                if result.differences:
                    print(result.differences[0], flush=True)
    print(
        f"TOTAL {size / 1e6:.1f} MB, {len(paths)} files, {time.perf_counter() - start:.0f} s,"
        f" {len(names)} encodings, {differences} differences"
    )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
