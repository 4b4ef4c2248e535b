"""Where documents come from: iterables and files, in batches that change nothing."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytemill
from bytemill import _core  # noqa: TID251 - what is tested
from bytemill._backend import build_splitter
from bytemill.documents import blocks as reading
from bytemill.documents.blocks import BatchReader
from bytemill.documents.sources import Reading, Source
from bytemill.patterns import PATTERNS
from bytemill.shards import write_shards
from bytemill.special import find_leftmost
from bytemill.splitting import Splitter
from support.command_line import bytemill as run
from support.texts import patchwork

READER = BatchReader(Reading(), pattern=None, special_tokens=())

DOCUMENTS = ["first document\nof two lines", "", "naïve 日本語\r\n", "it's the last"]


def counted(source: Any, **options: Any) -> dict[bytes, int]:
    return dict(bytemill.count_pieces(source, progress=False, **options))


EXPECTED = counted(DOCUMENTS)


# --- Iterables ---


@pytest.mark.parametrize(
    "kind", [list, tuple, iter, lambda it: (each for each in it), lambda it: dict.fromkeys(it).keys()]
)
def test_iterables(kind: Callable[[Any], Any]) -> None:
    assert counted(kind(DOCUMENTS)) == EXPECTED
    assert counted(kind(list(map(str.encode, DOCUMENTS)))) == EXPECTED


@pytest.mark.parametrize("names", [["nope.txt"], ("data/a.jsonl.gz", "b.parquet"), ["C:\\\\texts\\\\A.TXT"]])
def test_strings_that_look_like_missing_files_are_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match=r"look like names of files \(.* is missing\).* pathlib.Path"):
        bytemill.train(names, 300, progress=False)
    assert len(bytemill.count_pieces(iter(names), progress=False)) > 0


@pytest.mark.parametrize(
    "documents", [["see nope.txt"], ["nope.txt", "a document"], ["node.js"], [".txt"], ["3.14"]]
)
def test_documents_that_do_not_look_like_files(documents: list[str]) -> None:
    assert len(bytemill.count_pieces(documents, progress=False)) > 0


def test_lists_come_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents in memory come in order, in batches that are full, but for the last of so many documents."""
    monkeypatch.setattr(reading, "IN_MEMORY_BYTES", 100)
    monkeypatch.setattr(reading, "IN_MEMORY_DOCUMENTS", 9)
    generator = random.Random(5)
    for number in range(60):
        sizes = [generator.choice([0, 1, 20, 60, 99, 100, 250]) for _ in range(number)]
        texts = [chr(65 + i % 26) * size for i, size in enumerate(sizes)]
        batches = list(READER.read(tuple(texts)))
        assert [text for batch in batches for text in batch.texts] == texts
        documents = 0
        for batch in batches:
            assert batch.size == sum(map(len, batch.texts))
            assert batch.documents == len(batch.texts) == len(batch.ends)
            documents += batch.documents
            assert batch.size >= 100 or documents % 9 == 0 or documents == number
            assert batch.size - len(batch.texts[-1]) < 100
        assert documents == number


def test_an_iterable_is_not_read_ahead_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BATCH_BYTES", 100)
    taken = 0

    def documents() -> Iterator[str]:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield "x" * 30

    batches = READER.read(documents())
    first = next(batches)
    assert (len(first.texts), first.documents, first.size, taken) == (4, 4, 120, 4)
    assert sum(batch.documents for batch in batches) == 96


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_documents_that_are_made_while_others_are_counted(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each is a batch of its own.
    monkeypatch.setattr(reading, "BATCH_BYTES", 1)

    def documents() -> Iterator[str]:
        for document in DOCUMENTS * 50:
            assert counted(["low"], num_threads=threads) == {b"low": 1}
            yield document

    assert counted(documents(), num_threads=threads) == {piece: 50 * n for piece, n in EXPECTED.items()}


@pytest.mark.parametrize("threads", [1, 2])
def test_of_two_errors_the_earlier_one_comes(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BATCH_BYTES", 1)

    def documents() -> Iterator[str]:
        # That pattern goes through so many ways to take it that its engine gives up.
        yield "ab" * 3_000
        raise LookupError

    with pytest.raises(bytemill.PatternError, match="cannot split this text"):
        counted(documents(), pattern=r"(c?)(a|b|ab)*\1bc(?!x)|.+", num_threads=threads)


def test_what_an_iterable_raises_comes_through() -> None:
    def documents() -> Iterator[str]:
        yield "one"
        raise LookupError

    with pytest.raises(LookupError):
        counted(documents())


# --- Files ---


def test_a_text_file_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    text = "\n".join(DOCUMENTS)
    path.write_bytes(text.encode())
    assert counted(path) == counted(str(path)) == counted([path]) == counted([text])
    assert counted([path, path, "x"]) == counted([text, text, "x"])


def test_the_lines_of_a_file_may_be_documents(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"one  \n\n two\r\nthree")
    assert counted(path, lines=True) == counted(["one  \n", "\n", " two\r\n", "three"])
    assert counted(path, lines=True) != counted(path)


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "b" / ".hidden").mkdir(parents=True)
    (folder / "c").mkdir()
    with pytest.raises(ValueError, match="corpus: the folder holds no files"):
        counted(folder)
    (folder / "b" / "x.jsonl").write_bytes(b'{"text": "two"}\n')
    (folder / "a.txt").write_bytes(b"one")
    for hidden in (folder / ".a.txt", folder / "b" / ".hidden" / "a.txt"):
        hidden.write_bytes(b"hidden")
    expected = ["one", "two"]
    assert list(bytemill.count_pieces(folder, progress=False)) == list(counted(expected).items())
    assert counted(str(folder)) == counted(expected)
    assert counted([folder, "three"]) == counted([*expected, "three"])
    gpt2 = bytemill.get_encoding("gpt2")
    written = write_shards(folder, tmp_path / "out", gpt2)
    assert written.documents == 2
    assert write_shards(folder, tmp_path / "out", gpt2, resume=True) == written


def test_nothing_to_learn_from_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").touch()
    sources: list[Any] = [[], [""], iter([]), folder / "a.txt", bytemill.PieceCounts()]
    for source in sources:
        for vocab_size in (256, 257):
            with pytest.raises(ValueError, match="expected text to learn from, got none"):
                bytemill.train(source, vocab_size, progress=False)
    # Beside others, an empty file is no document.
    (folder / "b.txt").write_bytes(b"low low")
    written = write_shards(folder, tmp_path / "out", bytemill.get_encoding("gpt2"))
    assert written.documents == 1
    (folder / "b.txt").write_bytes(b"")
    empties: list[Any] = [[], folder / "a.txt", [folder / "a.txt", folder / "b.txt"]]
    for number, empty in enumerate(empties):
        with pytest.raises(ValueError, match="expected documents, got none"):
            write_shards(empty, tmp_path / f"none{number}", bytemill.get_encoding("gpt2"))
    (folder / "a.txt").write_bytes(b"low")
    written = write_shards(folder / "a.txt", tmp_path / "none1", bytemill.get_encoding("gpt2"), resume=True)
    assert written.documents == 1


def test_empty_files(tmp_path: Path) -> None:
    for name in ("a.txt", "a.jsonl", "a"):
        (tmp_path / name).touch()
        assert counted(tmp_path / name) == {}


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", ["corpus.txt", "corpus.jsonl", "corpus.NDJSON", "a.jsonl.txt"])
def test_compressed_files(name: str, suffix: str, tmp_path: Path) -> None:
    as_lines = name.lower().endswith(("jsonl", "ndjson"))
    if as_lines:
        contents = "".join(json.dumps({"text": text, "n": 1}) + "\n" for text in DOCUMENTS).encode()
    else:
        contents = "".join(DOCUMENTS).encode()
    path = tmp_path / (name + suffix)
    path.write_bytes(compressed(contents, suffix))
    assert counted(path) == (EXPECTED if as_lines else counted(["".join(DOCUMENTS)]))


def compressed(contents: bytes, suffix: str) -> bytes:
    """In two parts, which decompress to the whole."""
    half = len(contents) // 2
    if suffix == ".gz":
        return gzip.compress(contents[:half]) + gzip.compress(contents[half:])
    if suffix == ".zst":
        zstandard = pytest.importorskip("zstandard")
        frames: list[bytes] = [zstandard.compress(part) for part in (contents[:half], contents[half:])]
        return b"".join(frames)
    return contents


def test_fields_of_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        '{"body": "one"}\n\n  \n{"body": null}\n{"body": "two", "text": "three"}', encoding="utf-8"
    )
    assert counted(path, field="body") == counted(["one", "two"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"body": "x"}', r"line 2: .* 'text', got the fields body; --field \(field=\) names"),
        ('["x"]', "line 2: expected a JSON object, got an array; "),
        ('{"text": 3}', 'line 2: expected a string in "text", got a number'),
        ('{"text": "x"', "line 2: expected a JSON object"),
        ("[" * 100_000, "line 2: expected a JSON object"),
    ],
)
def test_json_lines_that_cannot_be_read(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"text": "first"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message) as refused:
        counted(path)
    assert str(refused.value).startswith(str(path))


@pytest.mark.parametrize(
    "kind",
    ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary"],
)
def test_parquet(kind: str, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts: list[Any] = [*DOCUMENTS, None]
    if kind == "dictionary":
        column = arrow.array(texts).dictionary_encode()
    elif not hasattr(arrow, kind):
        pytest.skip("an older version of Arrow")
    else:
        column = arrow.array(texts, getattr(arrow, kind)())
    table = arrow.table({"content": column, "n": arrow.array(range(5))})
    parquet.write_table(table, tmp_path / "corpus.parquet")
    assert counted(tmp_path / "corpus.parquet", field="content") == EXPECTED
    for errors in ("keep", "replace"):
        assert counted(tmp_path / "corpus.parquet", field="content", errors=errors) == EXPECTED
    gpt2 = bytemill.get_encoding("gpt2")
    write_shards(tmp_path / "corpus.parquet", tmp_path / "out", gpt2, field="content", format="npy")
    assert (
        np.load(tmp_path / "out" / "shard-000000.npy").tolist()
        == gpt2.encode_batch_to_numpy(DOCUMENTS).ids.tolist()
    )
    with pytest.raises(ValueError, match=r"expected a column 'text', got content, n; --field"):
        counted(tmp_path / "corpus.parquet")
    with pytest.raises(ValueError, match=r"expected strings or bytes in the column 'n', got int64"):
        counted(tmp_path / "corpus.parquet", field="n")


def test_files_that_are_not_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"hello" * 100)[:-10])
    with pytest.raises(ValueError, match=r"cut\.txt\.gz: the compressed data"):
        counted(tmp_path / "cut.txt.gz")
    (tmp_path / "no.txt.gz").write_bytes(b"hello")
    with pytest.raises(ValueError, match=r"no\.txt\.gz: the compressed data"):
        counted(tmp_path / "no.txt.gz")
    (tmp_path / "no.parquet.gz").write_bytes(b"hello")
    with pytest.raises(ValueError, match="unpack it first"):
        counted(tmp_path / "no.parquet.gz")
    with pytest.raises(FileNotFoundError):
        counted(tmp_path / "none.txt")
    with pytest.raises(FileNotFoundError, match=r"pass a single text as \[text\]"):
        counted("a text by mistake" * 1_000)


@pytest.mark.parametrize("kind", ["string", "binary", "binary_view"])
@pytest.mark.parametrize(
    ("texts", "row", "byte"),
    [
        ([b"ok", None, b"a\xff", b"b"], 2, "0xff"),
        # Together they are UTF-8.
        ([None, b"", b"a\xc3", b"\xa9b"], 2, "0xc3"),
        ([b"\xc3", None, b"", b"\xa9", b""], 0, "0xc3"),
    ],
)
def test_parquet_that_is_not_utf8(
    kind: str, texts: list[bytes | None], row: int, byte: str, tmp_path: Path
) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    column = arrow.array(texts, arrow.binary())
    # As files of other writers may, the column says that it is text.
    column = column.view(arrow.string()) if kind == "string" else column.cast(getattr(arrow, kind)())
    parquet.write_table(arrow.table({"text": column}), path)
    gpt2 = bytemill.get_encoding("gpt2")
    said = rf"a\.parquet, row {row}: expected UTF-8, got the byte {byte}"
    with pytest.raises(ValueError, match=said):
        counted(path)
    with pytest.raises(ValueError, match=said):
        write_shards(path, tmp_path / "strict", gpt2)
    present = [text for text in texts if text is not None]
    repaired = [text.decode(errors="replace") for text in present]
    assert counted(path, errors="replace") == counted(repaired)
    assert counted(path, errors="keep") == counted(present, errors="keep")
    write_shards(path, tmp_path / "replaced", gpt2, format="npy", errors="replace")
    assert (
        np.load(tmp_path / "replaced" / "shard-000000.npy").tolist()
        == gpt2.encode_batch_to_numpy(repaired).ids.tolist()
    )


def test_columns_of_one_name(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns = [arrow.array([text]) for text in ("one", "two", "three")]
    parquet.write_table(arrow.Table.from_arrays(columns, names=["text", "text", "body"]), path)
    with pytest.raises(ValueError, match=r"a\.parquet: expected one column 'text', got 2 of that name"):
        counted(path)
    assert counted(path, field="body") == counted(["three"])
    # A field inside of a column, and a column of that name.
    inside = arrow.table({"a": [{"b": "inside"}], "a.b": ["outside"]})
    parquet.write_table(inside, path)
    assert counted(path, field="a.b") == counted(["outside"])


def test_parquet_that_is_none(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "no.parquet"
    parquet.write_table(arrow.table({"text": ["some text " * 5] * 100}), path)
    whole = path.read_bytes()
    damaged = {b"hello", whole[:-5]}
    for start in range(0, len(whole), 7):
        damaged.add(whole[:start] + b"\xff" * 7 + whole[start + 7 :])
    refusals = []
    for contents in damaged:
        path.write_bytes(contents)
        try:
            counted(path)
        except ValueError as error:
            refusals.append(str(error))
    assert len(refusals) > len(damaged) / 2
    assert all(refusal.startswith(f"{path}") for refusal in refusals)


def test_zstandard_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    whole = compressed(b"hello " * 1_000, ".zst")
    for contents in (b"hello, this is not compressed", whole[:-3], whole[: len(whole) // 2 - 1]):
        (tmp_path / "no.txt.zst").write_bytes(contents)
        with pytest.raises(ValueError, match=r"no\.txt\.zst: the compressed data"):
            counted(tmp_path / "no.txt.zst")


def test_without_optional_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (("zstandard", "a.txt.zst"), ("pyarrow.parquet", "a.parquet")):
        monkeypatch.setitem(sys.modules, module, None)
        (tmp_path / name).touch()
        with pytest.raises(ImportError, match=f"pip install {module.split('.')[0]}"):
            counted(tmp_path / name)


def test_missing_things_are_found_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, parquet, missing = (tmp_path / "in" / name for name in ("a.txt", "b.parquet", "c.txt"))
    first.parent.mkdir()
    first.write_bytes(b"\xff")  # an error as soon as it is read
    parquet.touch()
    gpt2 = bytemill.get_encoding("gpt2")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    wrong: list[tuple[Source, type[Exception]]] = [
        ([first, missing], FileNotFoundError),
        ([first, parquet], ImportError),
        (first.parent, ImportError),
        (str(first.parent), ImportError),
    ]
    for source, error in wrong:
        with pytest.raises(error):
            counted(source)
        with pytest.raises(error):
            write_shards(source, tmp_path / "out", gpt2)
        assert not (tmp_path / "out").exists()


def test_resume_needs_pyarrow_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("low lower", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = run("train", tmp_path / "a.txt", "--vocab-size", "257", "--resume", "-o", tmp_path / "m.bytemill")
    assert done.code == 2
    assert "the counts that --resume saves need the package pyarrow" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_names_are_not_documents(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    for name in names:
        Path(name).write_text("x", encoding="utf-8")
    with pytest.raises(ValueError, match=r"pathlib\.Path"):
        counted(names)
    assert counted(iter(names)) == counted([name.encode() for name in names])
    assert counted([*names, "x"])
    assert counted(["x" * 5_000, "\0"])


# --- What the field, the name and the contents say ---

LINES = b'{"body": "one"}\n{"body": "two"}\n'


@pytest.mark.parametrize("name", ["a.json", "a.txt", "a", "a.jsonl", "a.json.gz"])
def test_a_field_makes_any_file_json_lines(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(compressed(LINES, ".gz") if name.endswith(".gz") else LINES)
    assert counted(tmp_path / name, field="body") == counted(["one", "two"])
    written = write_shards(tmp_path / name, tmp_path / "out", bytemill.get_encoding("gpt2"), field="body")
    assert (written.documents, written.tokens) == (2, 2)


@pytest.mark.parametrize("contents", [b"hello\n", b'\n[{"body": "one"}]'])
def test_a_field_of_a_file_without_fields_is_an_error(contents: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(contents)
    with pytest.raises(
        ValueError, match=r"a\.txt: expected JSON lines, got a file that begins with .*--field"
    ):
        counted(tmp_path / "a.txt", field="body")
    with pytest.raises(ValueError, match=r"pass either --lines \(lines=True\) or --field"):
        counted(tmp_path / "a.txt", field="body", lines=True)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.txt"])
@pytest.mark.parametrize("lines", [True, False])
def test_json_lines_that_are_read_as_text_are_warned_of(name: str, *, lines: bool, tmp_path: Path) -> None:
    for contents, said in (
        (LINES, "JSON lines are read as text; .*field=NAME"),
        (b'{"text": "one"}', "JSON lines are read as text"),
        (b'[\n  {"text": "one"}]', "a JSON array is read as text; `jq"),
    ):
        (tmp_path / name).write_bytes(compressed(contents, ".gz") if name.endswith(".gz") else contents)
        with pytest.warns(UserWarning, match=rf"{name}: {said}"):
            assert counted(tmp_path / name, lines=lines) == counted(
                contents.splitlines(keepends=True) if lines else [contents]
            )


@pytest.mark.parametrize(
    "contents", [b'{\n  "text": "one"\n}\n', b'{"name": "one line"}', b"{text}\n{text}", b"[1, 2]", b"{}"]
)
def test_other_text_is_read_without_a_warning(contents: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(contents)
    assert counted(tmp_path / "a.json") == counted([contents])


def test_contents_that_the_name_hides_are_refused(tmp_path: Path) -> None:
    for suffix in (".gz", ".zst"):
        for name in ("a.txt", "a.jsonl"):
            (tmp_path / name).write_bytes(compressed(b"hello", suffix))
            with pytest.raises(ValueError, match=rf"{name}: .* give it a name that ends in {suffix}"):
                counted(tmp_path / name, errors="replace")
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table({"text": ["a"]}), tmp_path / "a.pq")
    with pytest.raises(ValueError, match=r"a\.pq: .* ends in \.parquet"):
        counted(tmp_path / "a.pq")


def test_several_fields(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table({"id": [1], "content": ["one"]}), tmp_path / "a.parquet")
    lines = b'{"text": "two", "content": "no"}\n{"content": "no", "text": "three"}\n{"content": "four"}\n'
    (tmp_path / "b.jsonl").write_bytes(lines)
    # Only Python's `json` takes this.
    (tmp_path / "c.jsonl").write_bytes(lines.replace(b"}", b', "n": NaN}'))
    files = sorted(tmp_path.iterdir())
    expected = ["one", *["two", "three", "four"] * 2]
    fields = ["text", "content"]
    assert counted(files, field=fields) == counted(expected)
    assert counted(files, field=tuple(fields)) == counted(expected)
    written = write_shards(files, tmp_path / "out", bytemill.get_encoding("gpt2"), field=fields)
    assert written.documents == len(expected)
    assert written.options["field"] == fields
    again = write_shards(files, tmp_path / "out", bytemill.get_encoding("gpt2"), field=fields, resume=True)
    assert again == written
    for file in files:
        with pytest.raises(ValueError, match=rf"{file.name}.* 'a' or 'b'"):
            counted(file, field=["a", "b"])
    for wrong, kind in (([], ValueError), ([b"text"], TypeError)):
        with pytest.raises(kind, match="field must be a name or several"):
            counted(files, field=wrong)


# --- UTF-8 ---


def test_training_is_strict_about_utf8(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_bytes(b"gr\xfc\xdfe\n" * 3)
    json_lines = tmp_path / "a.jsonl"
    json_lines.write_bytes(b'{"text": "ok"}\n{"text": "gr\xfc\xdfe"}\n')
    for source, line in ((text, 1), (json_lines, 2), ([b"ok", b"gr\xfc"], 1), (iter([b"ok", b"gr\xfc"]), 1)):
        with pytest.raises(ValueError, match=rf"line {line}: expected UTF-8, got the byte 0xfc.*errors="):
            bytemill.train(source, 260, progress=False)
    assert counted(text, errors="replace") == counted(["gr\ufffd\ufffde\n" * 3])
    assert counted(json_lines, errors="replace") == counted(["ok", "gr\ufffd\ufffde"])
    assert counted([b"gr\xfc", "x"], errors="replace") == counted(["gr\ufffd", "x"])
    assert counted(text, errors="keep") == counted([text.read_bytes()], errors="keep")
    encoding = bytemill.train(text, 257, errors="keep", progress=False)
    assert b"\xfc\xdf" in encoding.vocab().values() or b"gr" in encoding.vocab().values()
    with pytest.raises(ValueError, match="errors must be one of strict, replace, keep"):
        counted(text, errors="ignore")


# --- Cutting ---

SPECIAL = ["<|end of text|>", "of", "f t"]


def whole(text: str, splitter: Splitter, special: list[str]) -> list[str]:
    """The pieces of a text, by definition."""
    pieces: list[str] = []
    start = 0
    while found := find_leftmost(text, special, start):
        pieces += splitter.split(text[start : found[1]])
        start = found[1] + len(found[0])
    return pieces + splitter.split(text[start:])


@pytest.mark.parametrize("special", [[], SPECIAL])
@pytest.mark.parametrize("name", [*PATTERNS, "of one's own"])
def test_a_cut_changes_no_piece(name: str, special: list[str]) -> None:
    pattern = PATTERNS.get(name, r"(?<!o)\w+.|\s+$|.")
    splitter = Splitter(pattern)
    core_splitter = build_splitter(pattern)
    rng = random.Random(name)
    words = [
        "<|end of text|>",
        "of",
        "f t",
        "it's",
        "naïve",
        "日本語",
        "。",
        " ",
        "\n",
        "  ",
        "e\u0301",
        "x'll",
        "12",
    ]
    cuts = 0
    for _ in range(400):
        text = "".join(rng.choices(words, k=rng.randint(1, 30)))
        data = text.encode()
        end = rng.randint(1, len(data))
        cut = _core.last_cut(data[:end], [each.encode() for each in special], [], core_splitter, 1 << 16)
        if cut is None:
            continue
        cuts += 1
        assert 0 < cut < len(data)
        parts = [data[:cut].decode(), data[cut:].decode()]
        assert [piece for part in parts for piece in whole(part, splitter, special)] == whole(
            text, splitter, special
        )
    assert cuts > 100 or (not special and name not in PATTERNS)


@pytest.mark.parametrize("special", [[], SPECIAL])
@pytest.mark.parametrize("pattern", ["cl100k", "o200k", "gpt2", r"(?<!o)\w+.|\s+$|.", None])
def test_files_in_parts(
    pattern: str | None, special: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "corpus.txt"
    rng = random.Random(1)
    for size in (1, 7, 50, 1_000):
        monkeypatch.setattr(reading, "BLOCK_BYTES", size)
        monkeypatch.setattr(reading, "BATCH_BYTES", 3 * size)
        words = [*SPECIAL, *(patchwork(seed, 10) for seed in range(20)), " ", "\n", "word", " it's"]
        text = "".join(rng.choices(words, k=300)).encode("utf-8", "replace").decode()
        path.write_bytes(text.encode())
        options: dict[str, Any] = {"pattern": pattern, "special_tokens": special}
        assert counted(path, **options) == counted([text], **options)


@pytest.mark.parametrize("special", [[], SPECIAL])
@pytest.mark.parametrize("pattern", ["cl100k", "o200k", "gpt2", None])
def test_files_that_are_not_utf8(
    pattern: str | None, special: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "corpus.bin"
    rng = random.Random(2)
    words = [
        *(word.encode() for word in [*SPECIAL, "naïve", "日本", "a b", "\n"]),
        b"\xff",
        b"\xe6\x97",
        b"\xa5",
        b"\xc3",
    ]
    for size in (1, 7, 50):
        monkeypatch.setattr(reading, "BLOCK_BYTES", size)
        data = b"".join(rng.choices(words, k=300))
        path.write_bytes(data)
        options: dict[str, Any] = {"pattern": pattern, "special_tokens": special}
        assert counted(path, errors="keep", **options) == counted([data], errors="keep", **options)
        with pytest.raises(ValueError, match=r"corpus\.bin, line \d+: expected UTF-8"):
            counted(path, **options)


def test_a_long_file_is_read_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("some words, and a line\n" * 200_000, encoding="utf-8")
    batches = list(BatchReader(Reading(), pattern=PATTERNS["o200k"], special_tokens=["<|x|>"]).read(path))
    parts = [text for batch in batches for text in batch.texts]
    assert max(map(len, parts)) <= 1 << 21
    assert b"".join(part for part in parts if isinstance(part, bytes)) == path.read_bytes()
    assert sum(batch.documents for batch in batches) == 1
