"""`PieceCounts`: adding, looking, files, pickles, and what cannot be added."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import bytemill
from bytemill import PieceCounts
from bytemill.patterns import CL100K_PATTERN, O200K_PATTERN

TEXTS = ["low lower lowest", "slow slower", "low", "<|x|>low", "naïve 日本語"]


@pytest.fixture
def counts() -> PieceCounts:
    return bytemill.count_pieces(TEXTS, special_tokens=["<|x|>"], num_threads=1, progress=False)


def test_looking(counts: PieceCounts) -> None:
    assert list(counts)[:3] == [(b"low", 3), (b" lower", 1), (b" lowest", 1)]
    assert len(counts) == len(dict(counts)) == 7
    assert counts.total() == sum(count for _, count in counts) == 9
    assert counts.most_common(2) == [(b"low", 3), (b" lower", 1)]
    assert counts.most_common() == sorted(counts, key=lambda item: -item[1])
    assert counts.most_common(0) == []
    assert counts.pattern == O200K_PATTERN
    assert counts.special_tokens == ("<|x|>",)
    assert repr(counts) == "<PieceCounts of 7 pieces>"
    assert counts.memory_usage() > 0


def test_nothing() -> None:
    counts = PieceCounts()
    assert list(counts) == counts.most_common() == []
    assert (len(counts), counts.total()) == (0, 0)


@pytest.mark.parametrize("num_threads", [1, 2])
def test_pieces_come_in_the_order_of_texts_be_they_str_or_bytes(num_threads: int) -> None:
    texts: list[str | bytes] = [b"beta", "\u03b1lpha", b"gamma \xff", "delta", "na\u00efve", b"beta"]
    counts = bytemill.count_pieces(texts, None, errors="keep", num_threads=num_threads, progress=False)
    pieces = [b"beta", "\u03b1lpha".encode(), b"gamma ", b"\xff", b"delta", "na\u00efve".encode()]
    assert [piece for piece, _ in counts] == pieces


def test_adding_up(counts: PieceCounts) -> None:
    parts = [
        bytemill.count_pieces([text], special_tokens=["<|x|>"], num_threads=1, progress=False)
        for text in TEXTS
    ]
    total = parts[0] + parts[1]
    for part in parts[2:]:
        total.merge(part)
    assert list(total) == list(counts)
    assert list(parts[0]) == [(b"low", 1), (b" lower", 1), (b" lowest", 1)]
    total += counts
    assert dict(total) == {piece: 2 * count for piece, count in counts}
    total.merge(total)
    assert dict(total) == {piece: 4 * count for piece, count in counts}


def test_what_cannot_be_added(counts: PieceCounts) -> None:
    other = PieceCounts(pattern="cl100k", special_tokens=["<|x|>"])
    with pytest.raises(ValueError, match="different patterns") as refused:
        counts.merge(other)
    assert repr(CL100K_PATTERN) in str(refused.value)
    with pytest.raises(ValueError, match="different special tokens"):
        _ = counts + PieceCounts()
    with pytest.raises(TypeError):
        _ = counts + {b"low": 1}  # type: ignore[operator]
    with pytest.raises(TypeError):
        counts += 1  # type: ignore[arg-type]
    assert len(counts) == 7


def test_pieces_counted_elsewhere() -> None:
    counts = PieceCounts([(b"ab", 3), (b"c", 10**13), (b"ab", 2)], pattern="gpt2")
    assert list(counts) == [(b"ab", 5), (b"c", 10**13)]
    assert counts.total() == 10**13 + 5
    assert dict(PieceCounts(Counter({b"x": 2**64 - 1}))) == {b"x": 2**64 - 1}


@pytest.mark.parametrize(
    ("pieces", "error"),
    [
        ({b"a": -1}, OverflowError),
        ({b"a": 2**64}, OverflowError),
        ([(b"a", 2**63), (b"a", 2**63)], OverflowError),
        ({"a": 1}, TypeError),
        ({b"a": "1"}, TypeError),
        ({b"a": 1.5}, TypeError),
    ],
)
def test_pieces_that_cannot_be(pieces: dict[bytes, int], error: type[Exception]) -> None:
    with pytest.raises(error):
        PieceCounts(pieces)


def test_too_many_together() -> None:
    counts = PieceCounts({b"a": 2**63})
    with pytest.raises(OverflowError):
        counts.merge(counts)
    assert dict(counts) == {b"a": 2**63}


def test_adding_texts() -> None:
    counts = PieceCounts(pattern=r"\w+")
    counts.add(["a b", b"b"])
    assert list(counts) == [(b"a", 1), (b"b", 2)]
    with pytest.raises(TypeError):
        counts.add([1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="in a list"):
        counts.add("ab")


# --- Pickles and files ---


@pytest.mark.parametrize("again", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy, copy.copy])  # noqa: S301 - our own
def test_copies(again: object, counts: PieceCounts) -> None:
    assert callable(again)
    other = again(counts)
    assert list(other) == list(counts)
    assert (other.pattern, other.special_tokens) == (counts.pattern, counts.special_tokens)
    other.add(["more"])
    assert len(other) == len(counts) + 1


@pytest.mark.skipif(sys.platform == "win32", reason="processes start slowly")
def test_other_processes_count() -> None:
    with ProcessPoolExecutor(2) as pool:
        parts = list(pool.map(bytemill.count_pieces, [[text] for text in TEXTS]))
    total = sum(parts[1:], parts[0])
    assert dict(total) == dict(bytemill.count_pieces(TEXTS))


@pytest.mark.parametrize(
    "name", ["counts.parquet", "counts.arrow", "counts.feather", "counts.ipc", "A.PARQUET"]
)
def test_files(name: str, counts: PieceCounts, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    counts.save(path)
    counts.save(path)  # over the old one
    assert [each.name for each in tmp_path.iterdir()] == [name]
    again = PieceCounts.load(path)
    assert list(again) == list(counts)
    assert (again.pattern, again.special_tokens) == (counts.pattern, counts.special_tokens)
    again.merge(counts)
    for none in (PieceCounts(pattern=None), PieceCounts({b"\0\xff": 2**64 - 1})):
        none.save(str(path))
        again = PieceCounts.load(str(path))
        assert list(again) == list(none)
        assert again.pattern == none.pattern


def test_the_file_is_what_it_says(counts: PieceCounts, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    counts.save(tmp_path / "counts.parquet")
    table = parquet.read_table(tmp_path / "counts.parquet")
    assert table.schema.names == ["piece", "count"]
    assert table.schema.field("count").type == arrow.uint64()
    assert dict(zip(table["piece"].to_pylist(), table["count"].to_pylist(), strict=True)) == dict(counts)
    assert json.loads(table.schema.metadata[b"bytemill"])["pattern"] == O200K_PATTERN


def test_files_that_are_something_else(counts: PieceCounts, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with pytest.raises(ValueError, match=r"ends in one of \.parquet"):
        counts.save(tmp_path / "counts.csv")
    (tmp_path / "text.arrow").write_bytes(b"this is no Arrow file at all")
    with pytest.raises(ValueError, match=r"text\.arrow: expected counts"):
        PieceCounts.load(tmp_path / "text.arrow")
    parquet.write_table(arrow.table({"piece": [b"a"], "count": [1]}), tmp_path / "bare.parquet")
    with pytest.raises(ValueError, match=r"bare\.parquet: expected .* PieceCounts\(pieces, pattern="):
        PieceCounts.load(tmp_path / "bare.parquet")
    with pytest.raises(FileNotFoundError):
        PieceCounts.load(tmp_path / "none.arrow")
    with pytest.raises(OSError, match="nowhere"):
        counts.save(tmp_path / "nowhere" / "counts.arrow")


@pytest.mark.parametrize("wanted", [b"the", b"\xff" * 7])
def test_a_damaged_arrow_file(wanted: bytes, tmp_path: Path) -> None:
    """Offsets that lead out of the file are an error, and no crash."""
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "counts.arrow"
    PieceCounts({wanted: 3, b"rest": 1}).save(path)
    with arrow.memory_map(str(path)) as source:
        pieces = arrow.ipc.open_file(source).get_batch(0).column("piece")
        offsets = pieces.buffers()[1].to_pybytes()[:24]
    contents = path.read_bytes()
    assert contents.count(offsets) == 1
    far = offsets[:8] + (1 << 40).to_bytes(8, "little") + offsets[16:]
    path.write_bytes(contents.replace(offsets, far))
    with pytest.raises(ValueError, match=r"counts\.arrow: expected counts"):
        PieceCounts.load(path)


def test_a_file_of_too_large_counts(tmp_path: Path) -> None:
    """Counts too large for `PieceCounts`, an `OverflowError` there, are a fault of the file here."""
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "counts.arrow"
    PieceCounts({b"a": 1, b"b": 2**64 - 2}).save(path)
    with arrow.OSFile(str(path)) as source:
        table = arrow.ipc.open_file(source).read_all()
    counts = arrow.array([2, 2**64 - 2], arrow.uint64())
    with arrow.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table.set_column(1, table.schema.field(1), counts))
    with pytest.raises(ValueError, match=r"counts\.arrow: expected counts whose sum is below 2\*\*64"):
        PieceCounts.load(path)


@pytest.mark.parametrize(
    "metadata",
    [b"", b"[]", b"{}", b'{"version": 1, "pattern": 5, "special_tokens": []}', b'{"version": 2}']
    + [b'{"version": 1, "pattern": null, "special_tokens": [%s]}' % token for token in (b"1", b"null")],
)
def test_metadata_that_say_nothing(metadata: bytes, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"piece": [b"a"], "count": arrow.array([1], arrow.uint64())})
    path = tmp_path / "counts.parquet"
    parquet.write_table(table.replace_schema_metadata({b"bytemill": metadata}), path)
    with pytest.raises(ValueError, match=r"counts\.parquet: expected"):
        PieceCounts.load(path)


@pytest.mark.parametrize("columns", [{"piece": [None], "count": [1]}, {"piece": [b"a"], "count": [-1]}])
def test_columns_of_something_else(columns: dict[str, list[object]], tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    description = b'{"version": 1, "pattern": null, "special_tokens": []}'
    path = tmp_path / "counts.parquet"
    parquet.write_table(arrow.table(columns).replace_schema_metadata({b"bytemill": description}), path)
    with pytest.raises(ValueError, match=r"counts\.parquet: expected counts"):
        PieceCounts.load(path)


def test_without_pyarrow(counts: PieceCounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        counts.save(tmp_path / "counts.arrow")
    with pytest.raises(ImportError, match="pip install pyarrow"):
        PieceCounts.load(tmp_path / "counts.arrow")


@pytest.mark.parametrize("threads", [0, -1])
def test_numbers_of_threads(threads: int) -> None:
    for call in (
        lambda: bytemill.count_pieces(["a"], num_threads=threads),
        lambda: bytemill.train(["a"], 256, num_threads=threads),
    ):
        with pytest.raises(ValueError, match=f"num_threads must be 1 or more.*not {threads}"):
            call()
