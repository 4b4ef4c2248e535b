"""Fuzz the file readers: mutated files raise only the promised errors, within bounds of time and memory."""

from __future__ import annotations

import base64
import contextlib
import copy
import gzip
import json
import pickle
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import regex  # type: ignore[import-untyped]  # noqa: TID251 - says what a pattern matches
import zstandard
from hypothesis import strategies as st
from pyarrow import parquet

import bytemill
from bytemill.errors import PatternError, VocabularyError
from bytemill.formats.dialects import check_python
from bytemill.minbpe import RegexTokenizer
from bytemill.shards import write_shards
from bytemill.training.counts import restored
from support.faulty import full_disk
from support.fuzzing import run, within
from support.native_files import native_version_1, with_checksum

CORPUS = [Path(__file__).read_text(encoding="utf-8"), "slower, slowest; naïve 中文 e\u0301 " * 20]
SHARDED = [f"some words of document {number}, naïve 中文" for number in range(200)]
SAMPLE = "the lowest 中文\n\n it's 1234 <|x|> \0"
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz"))

# Numbers and strings that no file should contain.
NUMBERS = [0, -1, 1, 255, 256, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, 10**12, 10**400, 0.5, 1e308]
STRINGS = ["", "\0", "a", "\ud800", "Ġ", "<|x|>", "[", "(?<a>", "a*", "(a+)+$", "\\p{L}+", "x" * 5000, "中"]
VALUES: list[Any] = [None, True, False, [], {}, [[]], {"": None}, *NUMBERS, *STRINGS]
WORDS = [
    *(b"", b"\0", b"\xff", b"\n", b"\r\n", b" ", b"0", b"-1", b"4294967295", b"4294967296", b"1e999", b"NaN"),
    *(b'"', b"{", b"[" * 3000, b"]", b"}", b"=", b"YQ==", b"\xef\xbb\xbf", b"9" * 5000, b"\\ud800", b"null"),
    *(b"#version: 0.2\n", b"minbpe v1\n", b"PAR1", b"ARROW1\0\0"),
]


def made_files() -> dict[str, dict[str, bytes]]:
    """Returns a small file of each format with its companion files; the first one is read."""
    trained = bytemill.train(CORPUS, 300, pattern="gpt2", progress=False, name="toy")
    ranks = trained._mergeable_ranks
    encoding = bytemill.Encoding(
        "toy", pat_str=trained._pat_str, mergeable_ranks=ranks, special_tokens={"<|x|>": 305}
    )
    plain = bytemill.Encoding("toy", pat_str=trained._pat_str, mergeable_ranks=ranks, special_tokens={})
    encoding.save(FOLDER / "toy.bytemill")
    encoding.save_tiktoken(FOLDER / "toy.tiktoken")
    encoding.save_huggingface(FOLDER)
    plain.save_gpt2(FOLDER)
    tokenizer = RegexTokenizer()
    tokenizer.train(CORPUS[0], 290)
    tokenizer.register_special_tokens({"<|x|>": 1000})
    tokenizer.save(FOLDER / "toy")
    counts = bytemill.count_pieces(CORPUS, "gpt2")
    counts.save(FOLDER / "counts.parquet")
    counts.save(FOLDER / "counts.arrow")
    tekken = {
        "config": {
            "pattern": trained._pat_str,
            "num_vocab_tokens": len(ranks),
            "default_vocab_size": len(ranks) + 4,
            "default_num_special_tokens": 4,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for token, rank in sorted(ranks.items(), key=lambda item: item[1])
        ],
        "special_tokens": [{"rank": 1, "token_str": "<s>", "is_control": True}],
    }
    table = pa.table({"text": ["some words", None, "\u4e2d", "the lowest"] * 5})
    parquet.write_table(table, FOLDER / "lines.parquet")
    # An incomplete set of shards, as left by a full disk.
    with full_disk(1_500), contextlib.suppress(OSError):
        write_shards(SHARDED, FOLDER / "shards", encoding, shard_tokens=500, num_threads=1)
    shards = sorted((FOLDER / "shards").iterdir())
    lines = b'{"text": "some words"}\n{"text": "\\u4e2d"}\n' * 5

    def read(*names: str) -> dict[str, bytes]:
        return {name: (FOLDER / name).read_bytes() for name in names}

    return {
        "bytemill": read("toy.bytemill"),
        "bytemill 1": {"toy1.bytemill": native_version_1(encoding)},
        "tiktoken": read("toy.tiktoken"),
        "huggingface": read("tokenizer.json"),
        "merges": read("vocab.bpe", "encoder.json"),
        "encoder": read("encoder.json", "vocab.bpe"),
        "minbpe": read("toy.model"),
        "tekken": {"tekken.json": json.dumps(tekken).encode()},
        "counts.parquet": read("counts.parquet"),
        "counts.arrow": read("counts.arrow"),
        "lines": {"lines.jsonl": lines},
        "parquet": read("lines.parquet"),
        "record": {path.name: path.read_bytes() for path in shards},
        "shard": {path.name: path.read_bytes() for path in reversed(shards)},
        "gz": {"lines.jsonl.gz": gzip.compress(lines)},
        "zst": {"lines.jsonl.zst": zstandard.compress(lines)},
    }


FILES = made_files()
PUBLISHED = bytemill.get_encoding("gpt2")
TOY = bytemill.Encoding.from_file(FOLDER / "toy.bytemill")
COUNTS = bytemill.count_pieces(CORPUS, "gpt2")
JSON = ["bytemill 1", "huggingface", "encoder", "tekken"]
ENCODINGS = [*JSON, "bytemill", "tiktoken", "merges", "minbpe"]


def mutated(data: st.DataObject, contents: bytes) -> bytes:
    """Changes, drops, repeats, moves or inserts bytes, or truncates."""
    for _ in range(data.draw(st.integers(0, 4), label="changes")):
        start = data.draw(st.integers(0, len(contents)), label="start")
        end = min(len(contents), start + data.draw(st.sampled_from([0, 1, 2, 10, 100]), label="length"))
        before, part, after = contents[:start], contents[start:end], contents[end:]
        match data.draw(st.integers(0, 6), label="kind"):
            case 0:
                part = data.draw(st.binary(min_size=len(part), max_size=len(part)))
            case 1:
                part = data.draw(st.sampled_from(WORDS))
            case 2:
                part = b""
            case 3:
                part *= data.draw(st.sampled_from([2, 3, 1000]))
            case 4:
                after = b""
            case 5:
                before, after = after, before
            case _:
                part = bytes(byte ^ 1 << data.draw(st.integers(0, 7)) for byte in part)
        contents = before + part + after
    return contents


def mutated_json(data: st.DataObject, contents: bytes) -> bytes:
    """Replaces, drops, repeats or swaps values of the JSON."""
    root = [json.loads(contents)]
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        parent: Any = root
        key: Any = 0
        # Prefer shallow values.
        while (
            isinstance(parent[key], (dict, list)) and parent[key] and data.draw(st.integers(0, 5), label="go")
        ):
            parent = parent[key]
            keys = list(parent) if isinstance(parent, dict) else range(len(parent))
            key = data.draw(st.sampled_from(keys), label="key")
        match data.draw(st.integers(0, 4), label="kind"):
            case 0 if parent is not root:
                del parent[key]
            case 1 if isinstance(parent, list) and parent is not root:
                parent.insert(data.draw(st.integers(0, len(parent))), copy.deepcopy(parent[key]))
            case 2 if isinstance(parent, dict):
                parent[data.draw(st.sampled_from([*STRINGS, *parent]))] = copy.deepcopy(parent[key])
            case 3 if isinstance(parent[key], int):
                parent[key] += data.draw(st.sampled_from([-1, 1, 10**10]))
            case _:
                parent[key] = copy.deepcopy(data.draw(st.sampled_from(VALUES), label="value"))
    return json.dumps(root[0]).encode()


def fresh(name: str) -> Path:
    """Returns the path of a folder that does not exist."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def written(names: dict[str, bytes], contents: bytes) -> Path:
    """Writes the file and its companions into a new folder."""
    folder = fresh("mutated")
    folder.mkdir()
    for name, beside in names.items():
        (folder / name).write_bytes(beside)
    path = folder / next(iter(names))
    path.write_bytes(contents)
    return path


def read_encoding(path: Path) -> None:
    """Checks that an encoding that was read works."""
    with warnings.catch_warnings(), within():
        warnings.simplefilter("ignore")
        pattern = "gpt2" if path.suffix == ".tiktoken" else None
        try:
            encoding = bytemill.Encoding.from_file(path, pattern=pattern)
        except VocabularyError as error:
            if path.parent.name not in str(error):
                message = f"the message names no file: {error}"
                raise AssertionError(message) from error
            return
        except PatternError:
            return
        check_drops(encoding)


def check_drops(encoding: bytemill.Encoding) -> None:
    """Checks that exactly the text that the pattern does not match is dropped."""
    try:
        kept = encoding.decode_bytes(encoding.encode(SAMPLE, disallowed_special=()))
    except PatternError:
        # A custom pattern of the file may fail while matching.
        return
    pattern = encoding._pat_str
    if not pattern:
        # More than one pattern splits it: the target `files` compares such files with their definition.
        return
    if regex.search(r"\{[0-9]*,?[0-9]{20}", pattern):
        # fancy-regex takes braces around a number of more than 64 bits for text, and Python for a quantifier.
        return
    try:
        check_python(pattern)
    except PatternError:
        # Python may match differently; the kept text is a subsequence in any case.
        rest = iter(SAMPLE.encode())
        assert all(byte in rest for byte in kept)
    else:
        assert kept == "".join(regex.findall(pattern, SAMPLE)).encode()


def encodings_by_bytes(data: st.DataObject) -> None:
    names = FILES[data.draw(st.sampled_from(ENCODINGS))]
    read_encoding(written(names, mutated(data, next(iter(names.values())))))


def native_files(data: st.DataObject) -> None:
    """Checks native files with the right checksum, which damage alone would not have."""
    names = FILES["bytemill"]
    contents = mutated(data, next(iter(names.values()))[:-4])
    read_encoding(written(names, with_checksum(contents)))


def encodings_by_values(data: st.DataObject) -> None:
    names = FILES[data.draw(st.sampled_from(JSON))]
    read_encoding(written(names, mutated_json(data, next(iter(names.values())))))


def any_file(data: st.DataObject) -> None:
    name = data.draw(
        st.sampled_from(["a", "a.tiktoken", "a.model", "tokenizer.json", "vocab.bpe", "merges.txt"])
    )
    start = data.draw(
        st.sampled_from([*WORDS, b"bytemill 2\n{", b'{"format": "bytemill", ', b'{"model": {', b"YQ== 0\n"])
    )
    contents = start + data.draw(st.binary(max_size=200))
    read_encoding(written({name: b""}, contents))


def counts(data: st.DataObject) -> None:
    names = FILES[data.draw(st.sampled_from(["counts.parquet", "counts.arrow"]))]
    path = written(names, mutated(data, next(iter(names.values()))))
    # pyarrow raises these two.
    with within(), contextlib.suppress(ValueError, OSError):
        read = bytemill.PieceCounts.load(path)
        assert read.total() >= len(read)


def documents(data: st.DataObject) -> None:
    names = FILES[data.draw(st.sampled_from(["lines", "gz", "zst", "parquet"]))]
    path = written(names, mutated(data, next(iter(names.values()))))
    with within(), contextlib.suppress(ValueError, OSError):
        bytemill.count_pieces(path, "gpt2", field="text")
    with within(), contextlib.suppress(ValueError, OSError):
        write_shards(path, fresh("sharded"), PUBLISHED, field="text", num_threads=1)


def resumed(data: st.DataObject) -> None:
    """Checks that a changed record or shard is refused, or the remaining ones are written."""
    names = FILES[data.draw(st.sampled_from(["record", "shard"]), label="file")]
    contents = next(iter(names.values()))
    record = next(iter(names)) == "provenance.json"
    change = mutated_json if record and data.draw(st.booleans(), label="values") else mutated
    folder = written(names, change(data, contents)).parent
    with within(), contextlib.suppress(ValueError, OSError):
        for _ in range(2):
            write_shards(SHARDED, folder, TOY, shard_tokens=500, num_threads=1, resume=True)


def minbpe_models(data: st.DataObject) -> None:
    names = FILES["minbpe"]
    path = written(names, mutated(data, next(iter(names.values()))))
    tokenizer = RegexTokenizer()
    with within():
        try:
            tokenizer.load(path)
        except (VocabularyError, PatternError):
            return
        with contextlib.suppress(PatternError):
            encoding = tokenizer._encoding
            if isinstance(encoding, bytemill.Encoding):
                check_drops(encoding)
            tokenizer.encode(SAMPLE, "all")


def pickles(data: st.DataObject) -> None:
    """Checks that wrong state in a pickle raises an ordinary error; pickles run code by design."""
    state: dict[str, Any] = {
        "name": "toy",
        "pat_str": TOY._pat_str,
        "mergeable_ranks": TOY._mergeable_ranks,
        "special_tokens": {"<|x|>": 305},
        "explicit_n_vocab": None,
    }
    key = data.draw(st.sampled_from(sorted(state)), label="key")
    wrong: Any = data.draw(st.sampled_from(VALUES), label="value")
    if isinstance(state[key], dict) and data.draw(st.booleans(), label="inside"):
        token = data.draw(st.sampled_from([*state[key], wrong if isinstance(wrong, str) else b"new"]))
        state[key] = state[key] | {token: wrong}
    else:
        state[key] = wrong
    made = bytemill.Encoding.__new__(bytemill.Encoding)
    with within(), contextlib.suppress(Exception):
        made.__setstate__(state)
        made.encode(SAMPLE, disallowed_special=())
    contents = pickle.dumps(data.draw(st.sampled_from([TOY, COUNTS]), label="object"))
    end = data.draw(st.integers(0, len(contents) - 1), label="end")
    with within(), contextlib.suppress(pickle.UnpicklingError, EOFError, ValueError):
        pickle.loads(contents[:end])  # noqa: S301 - our own
    numbers = st.one_of(st.integers(-2, 40), st.integers(-(2**63), 2**63 - 1))
    offsets = np.array(data.draw(st.lists(numbers, max_size=6), label="offsets"), np.int64)
    counted = np.array(data.draw(st.lists(st.integers(0, 2**64 - 1), max_size=6), label="counts"), np.uint64)
    with within(), contextlib.suppress(Exception):
        parts = restored(
            {"pattern": None, "special_tokens": [], "is_sorted": False}, SAMPLE.encode(), offsets, counted
        )
        assert parts.total() >= len(parts)


if __name__ == "__main__":
    checks = [encodings_by_bytes, native_files, encodings_by_values, any_file, counts, documents]
    run("loaders", [*checks, resumed, minbpe_models, pickles])
