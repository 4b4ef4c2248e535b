"""Compare every tokenizer file of the tests with its original library, and write the ledger.

    PYTHONPATH=tests python -m programs.ledger DIR [--size 10GB] [--rows NAME ...] [--output FILE]

Each row of the ledger is a file or a named encoding: token IDs, offsets, decoded text, streams and sessions
are compared on its share of the size. Half of the text is what is below DIR, as it is; the rest is derived
from it, as in `support.derived_text`. Each chunk is cut into documents of all lengths, and special and added
tokens are put into some of them.

The output is written after each chunk. Another run with the same library, file, text and encoders continues
a row, or skips it if it has its share; otherwise the row starts again. Exits with 1 if any row has a
difference, and prints the shortest text that was found to show it.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.util
import json
import platform
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import tiktoken
import tokenizers

import bytemill
from bytemill.cli.comparing import Comparison
from bytemill.cli.engines import Engine, Spans, engine, of_tiktoken
from bytemill.cli.ledger import description, differences, digests, row
from bytemill.cli.made_texts import texts_of_added_tokens
from bytemill.io.atomic import write_atomically
from support import gguf_files, sentencepiece
from support.catalogue import PATTERNS
from support.derived_text import Chunk, alternate_chunks, digest, sliced, text_of
from support.examples import ROOT
from support.offline_tiktoken import NAMES, offline_tiktoken, published_files
from support.open_models import LOADED, ROWS, file_of
from support.open_models.folders import FOLDERS
from support.revision import commit
from support.texts import multilingual, patchwork

OUTPUT = Path("benches/results/ledger.jsonl")

CHUNK_BYTES = 1_000_000

# Maximum length of a document in characters. Lengths are distributed log-uniformly.
LONGEST = 100_000

Record = dict[str, Any]


class Opened(NamedTuple):
    """The two sides of a row.

    Attributes:
        encoding: The encoding.
        other: The other library with the same.
        files: The SHA-256 of the files by name.
    """

    encoding: bytemill.Encoding
    other: Engine
    files: dict[str, str]


class Entry(NamedTuple):
    """A row that is to be compared.

    Attributes:
        name: Its name.
        families: The models with such a file, or its peculiarity.
        file: Whether the file is the published one or stands in for it.
        open: Opens it; an empty folder is given.
    """

    name: str
    families: str
    file: Literal["real", "stand-in"]
    open: Callable[[Path], Opened]


# --- The rows -----------------------------------------------------------------------------------------------

# Models of tiktoken's encodings.
FAMILIES = {
    "gpt2": "GPT-2",
    "r50k_base": "GPT-3: davinci, curie, babbage, ada",
    "p50k_base": "text-davinci-002 and 003, Codex",
    "p50k_edit": "text-davinci-edit-001",
    "cl100k_base": "GPT-4, GPT-3.5, text-embedding-3",
    "o200k_base": "GPT-5, GPT-4.5, GPT-4.1, GPT-4o, o1, o3, o4-mini",
    "o200k_harmony": "gpt-oss",
}

# The files of Mistral's ranks that mistral-common carries.
TEKKEN = ["tekken_240718.json", "tekken_240911.json"]


def entries() -> list[Entry]:
    """Returns all rows; those of files in packages that are not installed are left out."""
    return [*of_ranks(), *of_models(), *of_files(), *of_gguf()]


def of_ranks() -> Iterator[Entry]:
    """Yields rows of merges by rank: encodings of tiktoken, files of Mistral, folders of models."""
    for name in NAMES:
        yield Entry(f"tiktoken, {name}", FAMILIES[name], "real", functools.partial(open_encoding, name))
    mistral = importlib.util.find_spec("mistral_common")
    if mistral is not None and mistral.origin is not None:
        for name in TEKKEN:
            path = Path(mistral.origin).parent / "data" / name
            families = FOLDERS["tekken, folder"].models
            yield Entry(path.stem, families, "real", functools.partial(open_tekken, path))
    for name, folder in FOLDERS.items():
        # Mistral's have rows of their own.
        if name != "tekken, folder":
            yield Entry(name, folder.models, "stand-in", functools.partial(open_folder, name))


def of_models() -> Iterator[Entry]:
    """Yields rows of SentencePiece models: published ones, trained ones, and ones of random pieces."""
    for name in sentencepiece.PUBLISHED:
        if (path := sentencepiece.published_path(name)) is not None:
            families = f"Mistral's {path.name}"
            yield Entry(name, families, "real", functools.partial(open_model, path.read_bytes))
    trained = sentencepiece.trained
    for rule in sentencepiece.RULES:
        for fallback in (False, True):
            model = functools.partial(trained, rule, byte_fallback=fallback)
            name = f"sentencepiece, {rule}{', bytes' if fallback else ''}"
            yield Entry(name, "trained for tests", "stand-in", functools.partial(open_model, model))
    for kind, size in (("unigram", 2000), ("word", 2000), ("char", 200)):
        model = functools.partial(trained, "nmt_nfkc", size, model_type=kind, hard_vocab_limit=False)
        yield Entry(
            f"sentencepiece, {kind}", "trained for tests", "stand-in", functools.partial(open_model, model)
        )
    for seed in range(5):
        model = functools.partial(sentencepiece.synthetic, seed)
        name = f"sentencepiece, random {seed}"
        yield Entry(name, "random pieces and flags", "stand-in", functools.partial(open_model, model))


def of_files() -> Iterator[Entry]:
    """Yields rows of files `tokenizer.json`."""
    for name in LOADED:
        yield Entry(name, ROWS[name].models, "stand-in", functools.partial(open_file, name))


def of_gguf() -> Iterator[Entry]:
    """Yields rows of GGUF files."""
    for name, source in gguf_files.sources().items():
        yield Entry(f"GGUF, {name}", source.models, "stand-in", functools.partial(open_gguf, source))


def open_encoding(name: str, _: Path) -> Opened:
    """Opens an encoding of tiktoken, which checks the digests of its files itself."""
    files = {url.rpartition("/")[2]: sha256 for url, sha256 in published_files(name)}
    return Opened(bytemill.get_encoding(name), of_tiktoken(tiktoken.get_encoding(name)), files)


def open_tekken(path: Path, _: Path) -> Opened:
    """Opens a file of Mistral's ranks, with Mistral's library."""
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    theirs = Tekkenizer.from_file(path)
    other = Engine(
        f"mistral-common {version('mistral-common')}",
        functools.partial(theirs.encode, bos=False, eos=False),
        decode=lambda ids: theirs.decode([*ids], SpecialTokenPolicy.KEEP),
        finds_special=False,
    )
    return Opened(bytemill.Encoding.from_file(path), other, digests([path]))


def open_folder(name: str, place: Path) -> Opened:
    """Opens a folder of ranks."""
    folder = FOLDERS[name]
    pattern = PATTERNS[folder.chain]
    texts = [multilingual(1, 300), patchwork(2, 20_000)]
    ranks = bytemill.train(texts, 600, pattern=pattern, progress=False)._mergeable_ranks
    folder.write(place, ranks)
    other = of_tiktoken(tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}))
    if folder.ranks == "qwen.tiktoken":
        other = normalized(other)
    files = digests(sorted(path for path in place.rglob("*") if path.is_file()))
    return Opened(bytemill.Encoding.from_file(place), other._replace(finds_special=False), files)


def normalized(other: Engine) -> Engine:
    """Returns a library that normalizes texts to NFC first; it has no offsets of those that this changes.

    Qwen's program has the normal form of the Python that it runs on. That of `tokenizers`, of Unicode 9,
    differs for newer characters only.
    """
    form = tokenizers.normalizers.NFC()

    def spans(text: str) -> Spans:
        normal = form.normalize_str(text)
        assert other.spans is not None
        found = other.spans(normal)
        return found if normal == text else Spans(found.ids)

    name = f"{other.name}, NFC of tokenizers {version('tokenizers')}"
    return other._replace(name=name, encode=lambda text: spans(text).ids, spans=spans)


def open_model(model: Callable[[], bytes], place: Path) -> Opened:
    """Opens a model of SentencePiece."""
    return opened("sentencepiece", place / "tokenizer.model", model())


def open_file(name: str, place: Path) -> Opened:
    """Opens a `tokenizer.json`."""
    return opened("hf", place / "tokenizer.json", file_of(name))


def open_gguf(source: gguf_files.Source, place: Path) -> Opened:
    """Opens a GGUF file, with the library and the file that it is converted from."""
    contents = source.contents()
    other = opened(source.library, place / "source", contents).other
    path = source.write(place / "model.gguf", contents)
    return Opened(bytemill.Encoding.from_file(path), other, digests([path]))


def opened(library: str, path: Path, contents: bytes) -> Opened:
    """Writes a file and opens it by both libraries."""
    path.write_bytes(contents)
    encoding = bytemill.Encoding.from_file(path)
    return Opened(encoding, engine(library, encoding, str(path)), digests([path]))


# --- Text ---------------------------------------------------------------------------------------------------


def documents_of(text: str, tokens: Sequence[str], seed: int) -> list[str]:
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


# --- Recording ----------------------------------------------------------------------------------------------


class Ledger:
    """The rows that are recorded, by name."""

    def __init__(self, path: Path) -> None:
        """Reads the rows of earlier runs."""
        self._path = path
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.rows: dict[str, Record] = {record["name"]: record for record in map(json.loads, lines)}

    def write(self, record: Record, order: Sequence[str]) -> None:
        """Writes a row in place of an earlier one, all in this order; rows of other names are dropped."""
        self.rows[record["name"]] = record
        rows = [self.rows[name] for name in order if name in self.rows]
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in rows]
        write_atomically(self._path, "".join(lines).encode())


@functools.cache
def encoders() -> str:
    """Returns a digest of the sources that determine results: all but the command line and the playground."""
    package = ROOT / "python" / "bytemill"
    others = {package / "cli", package / "playground"}
    sources = [path for path in package.rglob("*.py") if not others & {*path.parents}]
    sources += [ROOT / "Cargo.lock", *(ROOT / "src").rglob("*.rs")]
    hashed = hashlib.sha256()
    for path in sorted(sources):
        hashed.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()


def compared(
    entry: Entry,
    before: Mapping[str, Any],
    chunks: Callable[[], Iterator[Chunk]],
    about_run: Mapping[str, Any],
    wanted: int,
) -> Iterator[Record]:
    """Yields the record of a row after each further chunk, until it has the size that is wanted."""
    with tempfile.TemporaryDirectory() as place:
        encoding, other, files = entry.open(Path(place))
    about = {
        **description(entry.name, encoding, files, other),
        "families": entry.families,
        "file": entry.file,
        **about_run,
    }
    # A row goes on only if these are the same.
    same = ("files", "definition", "oracle", "encoders", "corpus", "chunk_bytes")
    if any(before.get(key) != about[key] for key in same):
        before = {}
    comparison = Comparison(encoding, other, before)
    done, derived, seconds = (before.get(key, 0) for key in ("chunks", "bytes_derived", "seconds"))
    tokens = texts_of_added_tokens(encoding)
    for chunk in islice(chunks(), done, None):
        if comparison.size >= wanted:
            return
        start = time.process_time()
        size = comparison.size
        for document in documents_of(text_of(chunk), tokens, chunk.number):
            comparison.add(document)
        done += 1
        derived += comparison.size - size if chunk.turn else 0
        seconds += time.process_time() - start
        more = {"chunks": done, "bytes_derived": derived, "seconds": round(seconds, 3)}
        yield row(about | more, comparison)


def run(
    chosen: Sequence[Entry], order: Sequence[str], paths: Sequence[Path], size: int, ledger: Ledger
) -> int:
    """Compares the chosen rows until they have their shares of a size; returns the number of differences."""
    about_run = {
        "encoders": encoders(),
        **commit(),
        "python": platform.python_version(),
        "corpus": digest(paths),
        "chunk_bytes": CHUNK_BYTES,
    }
    for entry in chosen:
        before = ledger.rows.get(entry.name, {})
        chunks = functools.partial(alternate_chunks, paths, CHUNK_BYTES, order.index(entry.name), len(order))
        for record in compared(entry, before, chunks, about_run, size // len(chosen)):
            ledger.write(record, order)
        print(summary([ledger.rows[entry.name]], entry.name), flush=True)
        for found in ledger.rows[entry.name]["found"]:
            print(json.dumps(found), flush=True)
    rows = [ledger.rows[entry.name] for entry in chosen]
    print(summary(rows, f"{len(rows)} rows"))
    return sum(map(differences, rows))


def summary(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Returns the sums of rows."""
    size, seconds = (sum(record[key] for record in rows) for key in ("bytes", "seconds"))
    return f"{name}: {size / 1e6:,.1f} MB in {seconds:,.0f} s, {sum(map(differences, rows))} differences"


def bytes_of(size: str) -> int:
    """Reads a size such as 10GB or 500MB."""
    match = re.fullmatch(r"([0-9]+)([GMk])B", size)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a size such as 10GB or 500MB, got {size!r}")
    return int(match[1]) * {"G": 10**9, "M": 10**6, "k": 10**3}[match[2]]


def main() -> int:
    """Runs the comparison and returns the exit code."""
    all_entries = entries()
    names = [entry.name for entry in all_entries]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument(
        "--size",
        type=bytes_of,
        default="10GB",
        help="of the text of all rows (default: %(default)s)",
    )
    parser.add_argument(
        "--rows", nargs="+", choices=names, metavar="NAME", help="compare these only (default: all)"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FILE")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", "the special token .* is the beginning of|.* its post-processor adds")
    paths = sorted(path for path in arguments.folder.rglob("*") if path.is_file() and path.stat().st_size)
    if not paths:
        parser.error(f"there is no text below {arguments.folder}")
    if not arguments.output.parent.is_dir():
        parser.error(f"there is no folder {arguments.output.parent} for what is recorded")
    chosen = [entry for entry in all_entries if entry.name in (arguments.rows or names)]
    with tempfile.TemporaryDirectory() as folder, offline_tiktoken(Path(folder)):
        found = run(chosen, names, paths, arguments.size, Ledger(arguments.output))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
