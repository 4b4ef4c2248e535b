"""Shards: ids, formats, documents across blocks and shards, arguments, what is there already."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import struct
import threading
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
import zstandard

import bytemill
from bytemill.documents import Source, Stream, blocks, parquet
from bytemill.shards import Progress, Provenance, manifest, source_blocks, token_files, write_shards
from bytemill.shards.options import Format
from support.tokenizer_files import added, bytes_file

GPT2 = bytemill.get_encoding("gpt2")
EOT = GPT2.eot_token

# Most are short, some longer than a block; of all kinds of characters; two are empty.
DOCUMENTS = [
    f"{i} the quick brown fox, naïve 日本語 <|endoftext|> \U0001f600 don't " * (1 + (i % 7) * (i % 5))
    for i in range(60)
]
DOCUMENTS[10] = DOCUMENTS[11] = ""

BLOCK = 700


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few documents."""
    monkeypatch.setattr(source_blocks, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(blocks, "CUT_WINDOW", 100)
    monkeypatch.setattr(parquet, "BATCH_ROWS", 7)


def json_lines(texts: list[str]) -> bytes:
    return "".join(
        json.dumps({"n": 1, "text": text}, ensure_ascii=bool(i % 2)) + "\n" for i, text in enumerate(texts)
    ).encode()


def expected(texts: list[str], **options: Any) -> tuple[list[int], list[int]]:
    """All ids, and how many each document has."""
    ids, offsets = GPT2.encode_batch_to_numpy(texts, **options)
    return ids.tolist(), np.diff(offsets).tolist()


def read(folder: Path, written: Provenance) -> list[list[int]]:
    """The ids in each shard, with the readers of others."""
    shards: list[list[int]] = []
    for shard in written.shards:
        names = list(shard.files)
        path = folder / names[0]
        assert all((folder / name).stat().st_size == size for name, size in shard.files.items())
        if path.suffix == ".npy":
            ids = np.load(path)
        elif path.suffix == ".parquet":
            ids = pq.read_table(path)["input_ids"].combine_chunks().flatten().to_numpy()
        else:
            ids = np.fromfile(path, written.options["dtype"])
        assert ids.dtype == written.options["dtype"]
        assert len(ids) == shard.tokens
        shards.append(ids.tolist())
    return shards


def joined(shards: list[list[int]]) -> list[int]:
    return list(chain.from_iterable(shards))


def tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --- Ids ---


def of_lines(folder: Path) -> Any:
    path = folder / "lines.txt"
    path.write_bytes("".join(DOCUMENTS_AS_LINES).encode())
    return path


def of_json(folder: Path) -> Any:
    path = folder / "documents.jsonl"
    path.write_bytes(
        b"\n" + json_lines(DOCUMENTS[:30]) + b' \r\n{"text": null}\n' + json_lines(DOCUMENTS[30:])
    )
    return str(path)


def of_gzip(folder: Path) -> Any:
    path = folder / "documents.jsonl.gz"
    path.write_bytes(gzip.compress(json_lines(DOCUMENTS)))
    return path


def of_zstandard(folder: Path) -> Any:
    path = folder / "documents.ndjson.zst"
    path.write_bytes(zstandard.compress(json_lines(DOCUMENTS)))
    return path


def of_parquet(folder: Path) -> Any:
    path = folder / "documents.parquet"
    texts: list[str | None] = [*DOCUMENTS]
    texts[20:20] = [None, None]
    table = pa.table({"text": texts, "n": range(len(texts))})
    pq.write_table(table, path, row_group_size=17)
    return path


def of_binary_parquet(folder: Path) -> Any:
    path = folder / "documents.parquet"
    column = pa.array([text.encode() for text in DOCUMENTS], pa.binary()).dictionary_encode()
    pq.write_table(pa.table({"text": column}), path)
    return path


def of_memory(_: Path) -> Any:
    return [text.encode() if i % 3 else text for i, text in enumerate(DOCUMENTS)]


def of_generator(_: Path) -> Any:
    return iter(DOCUMENTS)


def of_files(folder: Path) -> Any:
    """Whole files, JSON lines and documents in one source."""
    items: list[Any] = []
    for i, text in enumerate(DOCUMENTS):
        path = folder / f"{i}.txt"
        if i % 10 == 5:
            path = folder / f"{i}.jsonl"
            path.write_bytes(json_lines([text]))
        elif text:
            path.write_bytes(text.encode())
        items.append(path if path.exists() else text)
    return items


def of_stream(folder: Path) -> Any:
    contents = Path(of_json(folder)).read_bytes()
    return [Stream(io.BytesIO(contents), "standard input.jsonl")]


DOCUMENTS_AS_LINES = [f"{text}\n" for text in DOCUMENTS]
SOURCES = [
    of_lines,
    of_json,
    of_gzip,
    of_zstandard,
    of_parquet,
    of_binary_parquet,
    of_memory,
    of_generator,
    of_files,
    of_stream,
]


@pytest.mark.parametrize("source", SOURCES)
def test_ids_of_every_source(source: Callable[[Path], Any], tmp_path: Path) -> None:
    lines = source is of_lines
    written = write_shards(
        source(tmp_path), tmp_path / "out", GPT2, append="<|endoftext|>", lines=lines, shard_tokens=1000
    )
    ids, lengths = expected(DOCUMENTS_AS_LINES if lines else DOCUMENTS, append=EOT)
    shards = read(tmp_path / "out", written)
    assert joined(shards) == ids
    assert [len(shard) for shard in shards[:-1]] == [1000] * (len(shards) - 1)
    assert len(shards) > 3
    assert (written.documents, written.tokens, written.next) == (len(DOCUMENTS), len(ids), None)
    ends = np.cumsum(lengths)
    starts = np.cumsum([0, *map(len, shards)])
    for shard, start, end in zip(written.shards, starts[:-1], starts[1:], strict=True):
        assert shard.documents == np.sum((ends > start) & (ends <= end))


@pytest.mark.parametrize("format", get_args(Format))
@pytest.mark.parametrize("whole_file", [False, True])
def test_formats(format: Format, whole_file: bool, tmp_path: Path) -> None:  # noqa: A002, FBT001
    source = tmp_path / "text.txt"
    texts = ["".join(DOCUMENTS)] if whole_file else DOCUMENTS
    source.write_text(texts[0], encoding="utf-8")
    out = tmp_path / "out"
    options: dict[str, Any] = {"prepend": [EOT, 17], "append": EOT}
    written = write_shards(
        source if whole_file else DOCUMENTS, out, GPT2, format=format, shard_tokens=1000, **options
    )
    ids, lengths = expected(texts, **options)
    shards = read(out, written)
    assert joined(shards) == ids
    if format in ("bin", "npy"):
        assert {len(shard) for shard in shards[:-1]} <= {1000}
        return
    # Whole documents, until there are enough.
    there = iter(lengths)
    for number, (shard, ids_there) in enumerate(zip(written.shards, shards, strict=True)):
        of_shard = [next(there) for _ in range(shard.documents)]
        assert sum(of_shard) == len(ids_there)
        assert sum(of_shard[:-1]) < 1000
        assert sum(of_shard) >= 1000 or number == len(shards) - 1
        if format == "parquet":
            lists = pq.read_table(out / next(iter(shard.files)))["input_ids"]
            assert [len(ids) for ids in lists] == of_shard
        else:
            assert megatron_documents(out / next(iter(shard.files))) == of_shard
    assert list(there) == []


def megatron_documents(path: Path) -> list[int]:
    """The lengths of the documents, by what Megatron-LM reads."""
    index = path.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\0\0"
    version, code, sequences, documents = struct.unpack_from("<QBQQ", index, 9)
    assert (version, code) == (1, 8)
    lengths = np.frombuffer(index, "<i4", sequences, 34)
    pointers = np.frombuffer(index, "<i8", sequences, 34 + lengths.nbytes)
    indices = np.frombuffer(index, "<i8", documents, 34 + lengths.nbytes + pointers.nbytes)
    assert len(index) == 34 + lengths.nbytes + pointers.nbytes + indices.nbytes
    assert pointers.tolist() == [2 * sum(lengths[:i].tolist()) for i in range(len(lengths))]
    return [int(lengths[a:b].sum()) for a, b in pairwise(indices)]


def test_documents_without_ids(tmp_path: Path) -> None:
    texts = ["", "a b", "", "", "c", "", ""]
    for format in get_args(Format):  # noqa: A001 - as the argument
        out = tmp_path / format
        written = write_shards(texts, out, GPT2, format=format, shard_tokens=2)
        assert [(shard.documents, shard.tokens) for shard in written.shards] == [(4, 2), (3, 1)]
        if format == "megatron":
            assert [megatron_documents(out / f"shard-00000{i}.bin") for i in (0, 1)] == [
                [0, 2, 0, 0],
                [1, 0, 0],
            ]
        if format == "parquet":
            lists = [pq.read_table(out / f"shard-00000{i}.parquet")["input_ids"].to_pylist() for i in (0, 1)]
            assert [[len(ids) for ids in shard] for shard in lists] == [[0, 2, 0, 0], [1, 0, 0]]


def test_progress_is_checked_before_anything_is_written(tmp_path: Path) -> None:
    wrong: Any = True
    with pytest.raises(TypeError, match="progress must be a function, or None, not bool"):
        write_shards(["text"], tmp_path / "out", GPT2, progress=wrong)
    assert not (tmp_path / "out").exists()


def test_no_documents(tmp_path: Path) -> None:
    for name in ("a.txt", "b.jsonl"):
        (tmp_path / name).touch()
    files = [tmp_path / "a.txt", tmp_path / "b.jsonl"]
    with pytest.raises(ValueError, match="expected documents, got none"):
        write_shards(files, tmp_path / "out", GPT2, append=EOT)
    assert list(tree(tmp_path / "out")) == ["provenance.json"]
    # A file of no ids cannot be mapped.
    files[1].write_bytes(b'{"text": ""}\n' * 2)
    with pytest.raises(ValueError, match="expected documents with tokens, got 2 that are all empty"):
        write_shards(files, tmp_path / "out", GPT2)
    assert list(tree(tmp_path / "out")) == ["provenance.json"]
    # An empty document is one.
    files[1].write_bytes(b'{"text": ""}')
    written = write_shards(files, tmp_path / "out", GPT2, append=EOT, resume=True)
    assert (written.documents, written.tokens, written.next) == (1, 1, None)
    assert [Path(source.path).name for source in written.sources] == ["a.txt", "b.jsonl"]


def test_a_single_shard_is_called_by_its_name(tmp_path: Path) -> None:
    written = write_shards(DOCUMENTS, tmp_path / "out", GPT2, shard_tokens=None, name="train")
    assert [list(shard.files) for shard in written.shards] == [["train.bin"]]
    assert joined(read(tmp_path / "out", written)) == expected(DOCUMENTS)[0]


def test_threads_and_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = of_json(tmp_path)
    trees = []
    for threads, block in ((1, BLOCK), (2, BLOCK), (7, 1 << 22)):
        monkeypatch.setattr(source_blocks, "BLOCK_BYTES", block)
        out = tmp_path / f"{threads}"
        write_shards(path, out, GPT2, shard_tokens=999, append=EOT, num_threads=threads)
        trees.append(tree(out))
    assert trees[0] == trees[1] == trees[2]


def test_a_pattern_that_cannot_be_cut(tmp_path: Path) -> None:
    ranks = GPT2._mergeable_ranks
    custom = bytemill.Encoding(
        "custom", pat_str=r"(?s).{1,5}", mergeable_ranks=ranks, special_tokens={"<e>": EOT}
    )
    text = "".join(DOCUMENTS)
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    written = write_shards(path, tmp_path / "out", custom)
    assert joined(read(tmp_path / "out", written)) == custom.encode_ordinary(text)


# --- Special tokens ---


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        ({}, "a <mask> b"),
        ({"lstrip": True}, "a <mask> b"),
        ({"rstrip": True}, "a <mask> b"),
        ({"single_word": True}, "a<mask> b "),
        ({"normalized": True}, "a <mask> b"),
    ],
    ids=["plain", "lstrip", "rstrip", "single_word", "normalized"],
)
@pytest.mark.parametrize("others", [[], [added(257, "x<mask>y"), added(258, "<mask>x", single_word=True)]])
def test_documents_are_cut_by_the_flags_of_tokens(
    flags: dict[str, bool], part: str, others: list[dict[str, Any]], tmp_path: Path
) -> None:
    mask = added(256, "<mask>", special=True, **flags)
    contents = bytes_file(mask, *others)
    encoding = bytemill.Encoding.from_bytes(contents.encode())
    # Near all places where a block of 700 bytes may be cut.
    text = "".join(part * (50 + length) + "x<mask>y <mask>xy" + "z" * length for length in range(30))
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    written = write_shards(path, tmp_path / "out", encoding, allowed_special="all")
    assert joined(read(tmp_path / "out", written)) == encoding.encode(text, allowed_special="all")


def test_special_tokens_are_text_unless_they_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    text = "".join(DOCUMENTS)
    path.write_text(text, encoding="utf-8")
    for allowed in (set[str](), {"<|endoftext|>"}):
        out = tmp_path / f"out{len(allowed)}"
        written = write_shards(path, out, GPT2, allowed_special=allowed, shard_tokens=500)
        assert joined(read(out, written)) == GPT2.encode(text, allowed_special=allowed, disallowed_special=())


def test_disallowed_strings(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"document 0: expected no special token '<\|endoftext\|>', got .* brown fox"
    ):
        write_shards(DOCUMENTS, tmp_path / "a", GPT2, disallowed_special="all")
    # Not where two documents meet.
    written = write_shards(["<|endof", "text|>"], tmp_path / "b", GPT2, disallowed_special="all")
    assert written.documents == 2
    write_shards(DOCUMENTS, tmp_path / "c", GPT2, allowed_special="all", disallowed_special="all")
    # Strings that are no special tokens, one of them across two texts: the leftmost in the first such text.
    with pytest.raises(ValueError, match=r"expected no special token 'cd', got 'ab bcd e'"):
        write_shards(["ab", " bcd e"], tmp_path / "d", GPT2, disallowed_special={"d e", "b b", "cd", "zz"})


# --- Text that is none ---


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    good = ("naïve text, " * 20 + "\n").encode()
    contents = good * 10 + b"caf\xe9 \xff\n" + good
    repaired = contents.decode(errors="replace")
    for name, lines in (("a.txt", True), ("b.txt", False)):
        path = tmp_path / name
        path.write_bytes(contents)
        with pytest.raises(ValueError, match=rf"{name}, line 11: expected UTF-8, got the byte 0xe9"):
            write_shards(path, tmp_path / f"{name}.strict", GPT2, lines=lines)
        out = tmp_path / f"{name}.replaced"
        written = write_shards(path, out, GPT2, lines=lines, errors="replace")
        texts = repaired.splitlines(keepends=True) if lines else [repaired]
        assert joined(read(out, written)) == expected(texts)[0]
        assert written.documents == len(texts)
    with pytest.raises(ValueError, match="document 1, line 1: expected UTF-8"):
        write_shards([b"a", b"\xff"], tmp_path / "c", GPT2)


def test_surrogates_are_repaired_as_in_encode(tmp_path: Path) -> None:
    texts = ["\ud83d\ude00 pair", "lone \ud83d", "\udc00"]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="ascii")
    given: list[Source] = [path, texts]
    for i, source in enumerate(given):
        written = write_shards(source, tmp_path / f"{i}", GPT2)
        assert joined(read(tmp_path / f"{i}", written)) == expected(texts)[0]


def test_json_that_is_none(tmp_path: Path) -> None:
    for number, (line, said) in enumerate(
        [
            (b'{"text": "a"', "expected a JSON object"),
            (b"[1]", "expected a JSON object, got an array; "),
            (b'{"txt": "a"}', "expected an object with the field 'text', got the fields txt"),
            (b'{"text": 5}', 'expected a string in "text", got a number'),
            (b'{"text": "\xff"}', "expected UTF-8, got the byte 0xff"),
        ]
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(json_lines(DOCUMENTS[:20]) + line + b"\n" + json_lines(["b"]))
        with pytest.raises(ValueError, match=rf"{number}.jsonl, line 21: {said}"):
            write_shards(path, tmp_path / f"out{number}", GPT2)


def test_json_is_what_python_takes_for_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a", "n": NaN}\n{"text": "b\xff"}\n')
    written = write_shards(path, tmp_path / "out", GPT2, errors="replace")
    assert joined(read(tmp_path / "out", written)) == expected(["a", "b\ufffd"])[0]


def test_parquet_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [b"a", b"\xff"], "n": [1, 2]}), path)
    with pytest.raises(ValueError, match=r"a.parquet, row 1: expected UTF-8, got the byte 0xff"):
        write_shards(path, tmp_path / "out", GPT2)
    written = write_shards(path, tmp_path / "replaced", GPT2, errors="replace")
    assert joined(read(tmp_path / "replaced", written)) == expected(["a", "\ufffd"])[0]
    with pytest.raises(ValueError, match="expected a column 'body', got text, n"):
        write_shards(path, tmp_path / "out2", GPT2, field="body")
    with pytest.raises(ValueError, match="expected strings or bytes in the column 'n', got int64"):
        write_shards(path, tmp_path / "out3", GPT2, field="n")


# --- Arguments ---


@pytest.mark.parametrize(
    ("format", "n_vocab", "dtype"),
    [
        ("bin", 65_536, "uint16"),
        ("bin", 65_537, "uint32"),
        ("npy", 65_536, "uint16"),
        ("parquet", 65_537, "uint32"),
        ("megatron", 65_499, "uint16"),
        ("megatron", 65_500, "int32"),
        ("megatron", (1 << 31) + 1, "int64"),
    ],
)
def test_the_usual_type_holds_the_vocabulary(format: str, n_vocab: int, dtype: str) -> None:  # noqa: A002
    assert token_files.FORMATS[format].usual_dtype(n_vocab) == dtype


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dtype": "uint16"}, "dtype uint16 cannot hold token IDs up to 100276.* such as uint32"),
        ({"dtype": "int64"}, "dtype must be one of uint16, uint32 in this format, not int64"),
        ({"dtype": "uint32", "format": "megatron"}, "dtype must be one of uint16, int32, int64 in this"),
        ({"dtype": "float32"}, "dtype float32 cannot hold"),
        ({"format": "tar"}, "format must be one of bin, npy, megatron, parquet, not 'tar'"),
        ({"shard_tokens": 0}, "shard_tokens must be positive, or None"),
        (
            {"append": "<|no such|>"},
            "append has the text '<|no such|>', which is not a token of 'cl100k_base'",
        ),
        ({"prepend": 100_270}, "prepend has the id 100270, which is not a token"),
        ({"errors": "ignore"}, "errors must be one of strict, replace, not 'ignore'"),
        ({"name": "a/b"}, "name must be the beginning"),
        ({"name": ""}, "name must be the beginning"),
        ({"num_threads": 0}, "num_threads must be 1 or more"),
    ],
)
def test_arguments_without_a_meaning(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said.replace("|", r"\|")):
        write_shards(DOCUMENTS, tmp_path / "out", bytemill.get_encoding("cl100k_base"), **options)
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        write_shards([of_lines(tmp_path), tmp_path / "missing.txt"], tmp_path / "out", GPT2)
    assert not (tmp_path / "out").exists()


def test_items_of_other_types(tmp_path: Path) -> None:
    # As a dataset of the package datasets yields them.
    with pytest.raises(TypeError, match=r"got dict; for records pass their texts, such as dataset\['text'\]"):
        write_shards([{"text": "a"}, {"text": "b"}], tmp_path / "out", GPT2)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected documents as str or bytes, or paths, got int"):
        write_shards([DOCUMENTS[0], 5], tmp_path / "out", GPT2)  # type: ignore[list-item]


def test_progress(tmp_path: Path) -> None:
    seen: list[Progress] = []
    path = Path(of_json(tmp_path))
    written = write_shards(path, tmp_path / "out", GPT2, shard_tokens=1000, progress=seen.append)
    assert seen == sorted(seen)
    text = sum(len(document.encode()) for document in DOCUMENTS)
    assert seen[-1] == Progress(
        path.stat().st_size, text, written.documents, written.tokens, len(written.shards) - 1
    )


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_progress_of_compressed_files(tmp_path: Path, suffix: str) -> None:
    seen: list[Progress] = []
    data = Path(of_json(tmp_path)).read_bytes()
    path = tmp_path / f"compressed.jsonl{suffix}"
    data *= 20
    path.write_bytes({"": data, ".gz": gzip.compress(data), ".zst": zstandard.compress(data)}[suffix])
    write_shards(path, tmp_path / "out", GPT2, progress=seen.append)
    assert seen[-1].source_bytes == path.stat().st_size
    assert seen[-1].text_bytes == 20 * sum(len(document.encode()) for document in DOCUMENTS)


# --- Provenance ---


def test_provenance(tmp_path: Path) -> None:
    path = Path(of_json(tmp_path))
    out = tmp_path / "out"
    written = write_shards(path, out, GPT2, shard_tokens=2000, append="<|endoftext|>")
    contents = (out / "provenance.json").read_text(encoding="utf-8")
    assert Provenance.from_json(contents) == written
    told = json.loads(contents)
    facts = path.stat()
    assert told["sources"] == [
        {"item": 0, "path": str(path), "size": facts.st_size, "mtime_ns": facts.st_mtime_ns}
    ]
    assert told["encoding"] == {"name": "gpt2", "sha256": GPT2.sha256, "n_vocab": 50257}
    assert told["bytemill"] == bytemill.__version__
    assert (told["options"]["append"], told["options"]["dtype"]) == ([EOT], "uint16")
    assert told["complete"] is True
    assert told["tokens"] == sum(shard["tokens"] for shard in told["shards"])
    assert told["shards"][0] == {"files": {"shard-000000.bin": 4000}, "documents": 13, "tokens": 2000}


def test_a_record_that_is_none(tmp_path: Path) -> None:
    write_shards(DOCUMENTS, tmp_path / "out", GPT2, shard_tokens=2000)
    record = json.loads((tmp_path / "out" / "provenance.json").read_bytes())
    shard = record["shards"][0]
    changes: list[dict[str, object]] = [
        {"encoding": None},
        {"options": None},
        {"options": []},
        {"options": {"name": 1}},
        {"bytemill": 1},
        {"shards": [shard | {"files": []}]},
        {"shards": [shard | {"files": {"shard-000000.bin": "4000"}}]},
        {"shards": [shard | {"tokens": -1}]},
        {"next": {"place": {"item": -1}}},
        {"next": {"place": {"item": 10**400, "line": 0.5}}},
    ]
    damaged = [json.dumps(record | change) for change in changes]
    for contents in ("{", "[]", "{}", '{"next": 5}', "[" * 100_000, *damaged):
        (tmp_path / "provenance.json").write_text(contents, encoding="utf-8")
        with pytest.raises(ValueError, match=r"provenance\.json: "):
            write_shards(DOCUMENTS, tmp_path, GPT2, resume=True)


@pytest.mark.parametrize(
    "change",
    [
        *({"tokens": number} for number in (0, 10**6, 2**63 - 1, 2**63, 2**64, 10**400)),
        *({"documents": number} for number in (0, 10**6, 2**63, 10**400)),
        *({"place": {"item": number, "position": 0, "line": 0, "inside": False}} for number in (60, 10**12)),
    ],
)
def test_a_record_whose_next_shard_begins_nowhere(change: dict[str, Any], tmp_path: Path) -> None:
    stopped(DOCUMENTS, tmp_path, shards=3, shard_tokens=500)
    path = tmp_path / "provenance.json"
    record = json.loads(path.read_bytes())
    assert record["next"]["documents"] > 0
    path.write_text(json.dumps(record | {"next": record["next"] | change}), encoding="utf-8")
    before = tree(tmp_path)
    with pytest.raises(
        ValueError, match=r"provenance\.json: expected a next shard that begins within the \d+ "
    ):
        write_shards(DOCUMENTS, tmp_path, GPT2, shard_tokens=500, resume=True)
    assert tree(tmp_path) == before


def test_fewer_documents_than_were_written(tmp_path: Path) -> None:
    stopped(DOCUMENTS, tmp_path, shards=3, shard_tokens=500)
    with pytest.raises(ValueError, match=r"the 0 documents and 0 token IDs at .*: give the same source"):
        write_shards(DOCUMENTS[:3], tmp_path, GPT2, shard_tokens=500, resume=True)


# --- What is there already ---


class Stop(BaseException):
    """An error that ends a run early."""


def stopped(source: Any, out: Path, *, shards: int, **options: Any) -> None:
    """Writes until so many shards are full."""

    def stop(progress: Progress) -> None:
        if progress.shards >= shards:
            raise Stop

    with pytest.raises(Stop):
        write_shards(source, out, GPT2, progress=stop, **options)


@pytest.mark.parametrize(
    ("format", "source"),
    [
        *((form, of_json) for form in get_args(Format)),
        *(("bin", source) for source in (of_lines, of_gzip, of_zstandard, of_parquet, of_memory, of_files)),
    ],
)
def test_resumed_shards_are_the_same(format: Format, source: Callable[[Path], Any], tmp_path: Path) -> None:  # noqa: A002
    options: dict[str, Any] = {"format": format, "shard_tokens": 700, "append": EOT, "lines": True}
    given = source(tmp_path)
    whole, out = tmp_path / "whole", tmp_path / "out"
    write_shards(given, whole, GPT2, **options)
    for shards in (1, 4):
        stopped(given, out, shards=shards, resume=True, **options)
        assert not list(out.glob("*.tmp"))
    written = write_shards(given, out, GPT2, resume=True, **options)
    assert tree(out) == tree(whole)
    # When all is written, nothing is done.
    times = [path.stat().st_mtime_ns for path in out.iterdir()]
    assert write_shards(given, out, GPT2, resume=True, **options) == written
    assert [path.stat().st_mtime_ns for path in out.iterdir()] == times


def test_a_file_that_is_one_document_is_resumed_inside(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("".join(DOCUMENTS), encoding="utf-8")
    options: dict[str, Any] = {"shard_tokens": 500, "prepend": EOT, "append": [EOT, EOT]}
    write_shards(path, tmp_path / "whole", GPT2, **options)
    for shards in (1, 2, 7):
        stopped(path, tmp_path / "out", shards=shards, resume=True, **options)
    write_shards(path, tmp_path / "out", GPT2, resume=True, **options)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_only_what_is_the_same_is_resumed(tmp_path: Path) -> None:
    path = Path(of_json(tmp_path))
    out = tmp_path / "out"
    options: dict[str, Any] = {"shard_tokens": 500, "append": EOT}
    stopped(path, out, shards=3, **options)
    before = tree(out)
    with pytest.raises(FileExistsError, match="has shards with the name 'shard' already"):
        write_shards(path, out, GPT2, **options)
    for other, said in (
        ({"shard_tokens": 501}, "shard_tokens 500, not 501"),
        ({"append": None}, r"append \[50256\], not"),
    ):
        with pytest.raises(ValueError, match=said):
            write_shards(path, out, GPT2, resume=True, **{**options, **other})
    with pytest.raises(
        ValueError,
        match=r"begun with the encoding .gpt2 of 50257 token IDs, SHA-256 \w+., not .p50k_base of 50281 ",
    ):
        write_shards(path, out, bytemill.get_encoding("p50k_base"), resume=True, **options)
    changed = path.read_bytes() + b"\n"
    path.write_bytes(changed)
    with pytest.raises(ValueError, match=r"documents\.jsonl: the source has changed"):
        write_shards(path, out, GPT2, resume=True, **options)
    (out / "shard-000001.bin").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"shard-000001\.bin: expected the 1000 bytes that were written, got 0"
    ):
        write_shards(path, out, GPT2, resume=True, **options)
    (out / "shard-000001.bin").write_bytes(before["shard-000001.bin"])
    assert tree(out) == before


def test_every_file_that_shards_have_text_of_must_be_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files are joined to blocks, and a shard may end in any of them."""
    out = tmp_path / "out"
    paths = [tmp_path / f"{i}.txt" for i in range(9)]
    for path in paths:
        path.write_text("the quick brown fox jumps")

    def full(record: Provenance, path: Path) -> None:
        if len(record.shards) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        manifest.save(record, path)

    with monkeypatch.context() as patched:
        patched.setattr("bytemill.shards.writer.save", full)
        with pytest.raises(OSError, match="No space left"):
            write_shards(paths, out, GPT2, shard_tokens=32)
    # Five ids each, in one block: the first shard ends inside the seventh document.
    record = Provenance.from_json((out / "provenance.json").read_bytes())
    assert record.next == manifest.Cursor(tokens=32, documents=6)
    assert [file.path for file in record.sources] == [str(path) for path in paths[:7]]
    for path, file in zip(paths, record.sources, strict=False):
        path.write_text("the quick fox jumps")
        with pytest.raises(ValueError, match=rf"{path.name}: the source has changed .* has 19"):
            write_shards(paths, out, GPT2, shard_tokens=32, resume=True)
        path.write_text("the quick brown fox jumps")
        os.utime(path, ns=(0, int(file.mtime_ns)))
    # Of the others nothing is written yet.
    paths[7].write_text("other")
    write_shards(paths, out, GPT2, shard_tokens=32, resume=True)
    write_shards(paths, tmp_path / "whole", GPT2, shard_tokens=32)
    assert tree(out) == tree(tmp_path / "whole")


def test_a_touched_or_moved_source_is_resumed_on_request(tmp_path: Path) -> None:
    path, out = Path(of_json(tmp_path)), tmp_path / "out"
    options: dict[str, Any] = {"shard_tokens": 500}
    write_shards(path, tmp_path / "whole", GPT2, **options)
    stopped(path, out, shards=3, **options)
    os.utime(path, ns=(0, 10**18 + 5))
    with pytest.raises(ValueError, match="the source has changed") as caught:
        write_shards(path, out, GPT2, resume=True, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "and now at 2001-09-09 01:46:40.000000005 UTC; its size is the same" in message
    assert "--trust-sources (trust_sources=True)" in message
    assert not [word for word in ("SourceFile", "mtime", "item=") if word in message]
    stopped(path, out, shards=5, resume=True, trust_sources=True, **options)
    # In another folder, too.
    (tmp_path / "moved").mkdir()
    moved = path.rename(tmp_path / "moved" / path.name)
    with pytest.raises(ValueError, match=f"it was {re.escape(str(path))}; its size is the same"):
        write_shards(moved, out, GPT2, resume=True, **options)
    written = write_shards(moved, out, GPT2, resume=True, trust_sources=True, **options)
    assert [file.path for file in written.sources] == [str(moved)]
    before, after = tree(tmp_path / "whole"), tree(out)
    del before["provenance.json"], after["provenance.json"]
    assert before == after
    # But not with another size, or as another file.
    moved.write_bytes(moved.read_bytes() + b"\n")
    size = moved.stat().st_size
    with pytest.raises(ValueError, match=f"it had {size - 1} bytes, and has {size}: give the file as it was"):
        write_shards(moved, out, GPT2, resume=True, trust_sources=True, **options)
    other = moved.rename(tmp_path / "other.jsonl")
    with pytest.raises(ValueError, match=r"item 1 of the source was .*documents\.jsonl, and item 1 .* is "):
        write_shards(other, out, GPT2, resume=True, trust_sources=True, **options)


def test_all_changed_arguments_are_told(tmp_path: Path) -> None:
    stopped(DOCUMENTS, tmp_path, shards=3, shard_tokens=500)
    with pytest.raises(ValueError, match=r"shard_tokens 500, not 501; append nothing, not \[50256\]: resume"):
        write_shards(DOCUMENTS, tmp_path, GPT2, resume=True, shard_tokens=501, append=EOT)


def test_names_share_a_folder(tmp_path: Path) -> None:
    out, alone = tmp_path / "out", tmp_path / "alone"
    runs: dict[str, dict[str, Any]] = {
        "train": {"shard_tokens": None},
        "val": {"shard_tokens": 500, "append": EOT},
        "test": {"format": "megatron"},
    }
    for name, options in runs.items():
        write_shards(DOCUMENTS, alone / name, GPT2, name=name, **options)
        stopped(DOCUMENTS, out, shards=0, name=name, resume=True, **options)
        write_shards(DOCUMENTS, out, GPT2, name=name, resume=True, **options)
    expected: dict[str, bytes] = {}
    for name in runs:
        files = tree(alone / name)
        record = files.pop("provenance.json")
        expected |= files | {"provenance.json" if name == "train" else f"{name}.provenance.json": record}
    assert tree(out) == expected
    # Nothing of them is replaced, and each is resumed by itself.
    for name, options in runs.items():
        with pytest.raises(FileExistsError, match=f"has shards with the name '{name}' already"):
            write_shards(DOCUMENTS, out, GPT2, name=name, **options)
        with pytest.raises(
            ValueError, match=r"provenance\.json was begun with errors 'strict', not 'replace'"
        ):
            write_shards(DOCUMENTS, out, GPT2, name=name, resume=True, errors="replace", **options)
        assert write_shards(DOCUMENTS, out, GPT2, name=name, resume=True, **options).next is None
    with pytest.raises(FileExistsError, match="files named 'val-999999' and 'val' could be the same"):
        write_shards(DOCUMENTS, out, GPT2, name="val-999999", shard_tokens=None)
    (out / "new.bin").touch()
    with pytest.raises(FileExistsError, match=r"'new' could replace this file.*new\.bin"):
        write_shards(DOCUMENTS, out, GPT2, name="new")
    (out / "new.bin").unlink()
    assert tree(out) == expected


def test_more_files_than_were_written(tmp_path: Path) -> None:
    path, out = of_json(tmp_path), tmp_path / "out"
    write_shards([Path(path)], out, GPT2)
    with pytest.raises(ValueError, match="all is written, from 1 file, but the source has 2 files"):
        write_shards([Path(path), Path(path)], out, GPT2, resume=True)


def test_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    for resume in (False, True):
        with pytest.raises(FileExistsError, match="not empty"):
            write_shards(DOCUMENTS, tmp_path, GPT2, resume=resume)
    assert list(tree(tmp_path)) == ["notes"]


def test_a_run_that_was_stopped_before_its_first_record_stays_resumable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first shard has its name by then."""
    out = tmp_path / "out"

    def full(record: Provenance, _: Path) -> None:
        if record.shards:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("bytemill.shards.writer.save", full)
        with pytest.raises(OSError, match="No space left"):
            write_shards(DOCUMENTS, out, GPT2, shard_tokens=500)
    before = tree(out)
    assert {"provenance.json", "shard-000000.bin"} <= before.keys()
    runs: list[dict[str, Any]] = [{}, {"name": "other"}, {"append": EOT, "resume": True}]
    for options in runs:
        with pytest.raises(FileExistsError, match=r"not empty: .*, or resume with the arguments of the run"):
            write_shards(DOCUMENTS, out, GPT2, shard_tokens=500, **options)
        assert tree(out) == before
    write_shards(DOCUMENTS, out, GPT2, shard_tokens=500, resume=True)
    write_shards(DOCUMENTS, tmp_path / "whole", GPT2, shard_tokens=500)
    assert tree(out) == tree(tmp_path / "whole")


@pytest.mark.parametrize("source", ["corpus", "link"])
def test_outputs_in_a_folder_of_the_source_are_refused(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus" / "a").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "corpus")
    (tmp_path / "corpus" / "out").symlink_to(tmp_path / "elsewhere")
    for folder in (tmp_path, tmp_path / "corpus"):
        (folder / "a.txt").write_text("hello")
    before = sorted(tmp_path.rglob("*"))
    for out in ("corpus", "corpus/new", "corpus/a/b/c", "link/new", "link/../corpus/a"):
        for given in (source, Path(source), [Path("a.txt"), tmp_path / source]):
            with pytest.raises(
                ValueError,
                match=rf"^{out}: expected a folder for outputs outside of the source \S*{source}, ",
            ):
                write_shards(given, out, GPT2)
    assert sorted(tmp_path.rglob("*")) == before
    # Hidden folders of a source are not read, and links to folders not followed.
    for out in ("corpus2", "corpus/.new", "corpus/out/new"):
        for resume in (False, True):
            assert write_shards(source, out, GPT2, resume=resume).documents == 1


def test_an_iterator_that_comes_to_the_outputs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(
        ValueError, match=r"out: expected a folder for outputs outside .*provenance\.json in it"
    ):
        write_shards(tmp_path.iterdir(), tmp_path / "out", GPT2)


def test_one_process_writes_to_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with manifest.directory_lock(tmp_path), pytest.raises(BlockingIOError, match="another process"):
        write_shards(DOCUMENTS, tmp_path, GPT2)
    assert write_shards(DOCUMENTS, tmp_path, GPT2).documents == len(DOCUMENTS)


def test_what_a_killed_run_had_not_finished_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    stopped(DOCUMENTS, out, shards=1, shard_tokens=500)
    for name in ("shard-000003.bin.tmp", "shard.bin.tmp", "provenance.json.0123456789abcdef.tmp", "mine.tmp"):
        (out / name).touch()
    write_shards(DOCUMENTS, out, GPT2, shard_tokens=500, resume=True)
    assert [name for name in tree(out) if name.endswith(".tmp")] == ["mine.tmp"]


# --- What fails ---


@pytest.mark.parametrize("step", ["write", "close"])
def test_a_shard_that_cannot_be_written_is_not_noted(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    options: dict[str, Any] = {"shard_tokens": 500}
    calls = 0
    original = getattr(token_files.TokenFile, step)

    def full(*arguments: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == (9 if step == "write" else 3):
            raise OSError(errno.ENOSPC, "No space left on device")
        original(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(token_files.TokenFile, step, full)
        with pytest.raises(OSError, match="No space left"):
            write_shards(DOCUMENTS, out, GPT2, **options)
    assert not list(out.glob("*.tmp"))
    write_shards(DOCUMENTS, out, GPT2, resume=True, **options)
    write_shards(DOCUMENTS, tmp_path / "whole", GPT2, **options)
    assert tree(out) == tree(tmp_path / "whole")


def test_an_iterator_is_advanced_in_the_thread_of_the_caller(tmp_path: Path) -> None:
    """Cursors of databases are bound to it."""
    threads: set[threading.Thread] = set()
    given = of_files(tmp_path)

    def items() -> Iterator[Any]:
        for item in given:
            threads.add(threading.current_thread())
            yield item

    write_shards(items(), tmp_path / "out", GPT2, shard_tokens=500)
    assert threads == {threading.current_thread()}
    write_shards(given, tmp_path / "whole", GPT2, shard_tokens=500)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_what_a_source_raises_comes_through(tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield from DOCUMENTS
        raise LookupError

    with pytest.raises(LookupError):
        write_shards(broken(), tmp_path / "out", GPT2, shard_tokens=500)
    assert not list((tmp_path / "out").glob("*.tmp"))
    write_shards(DOCUMENTS, tmp_path / "out", GPT2, shard_tokens=500, resume=True)
    write_shards(DOCUMENTS, tmp_path / "whole", GPT2, shard_tokens=500)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")
