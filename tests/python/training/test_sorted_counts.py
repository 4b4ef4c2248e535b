"""Counts that travel: as Arrow tables, and as sorted files that several processes wrote."""

from __future__ import annotations

import pickle
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import bytemill
from bytemill import PieceCounts, count_pieces
from bytemill.training import TieBreak
from support.subprocesses import run

arrow = pytest.importorskip("pyarrow")

SOURCES = sorted(Path(bytemill.__file__).parent.glob("*.py"))
TEXTS = [path.read_text(encoding="utf-8") for path in SOURCES]
WHOLE = count_pieces(TEXTS, progress=False)


def parts(number: int) -> list[PieceCounts]:
    """Returns counts of every `number`-th text, from each of the first on."""
    return [count_pieces(TEXTS[first::number], progress=False) for first in range(number)]


def saved(counts: list[PieceCounts], folder: Path, suffix: str = ".parquet") -> list[Path]:
    """Saves counts in sorted files."""
    paths = [folder / f"part-{number}{suffix}" for number in range(len(counts))]
    for each, path in zip(counts, paths, strict=True):
        each.save(path, sort=True)
    return paths


def test_a_table_holds_the_counts_in_their_order() -> None:
    table = WHOLE.to_arrow()
    assert table.schema.names == ["piece", "count"]
    rows = list(zip(table["piece"].to_pylist(), table["count"].to_pylist(), strict=True))
    assert rows == list(WHOLE)
    again = PieceCounts.from_arrow(table)
    assert list(again) == list(WHOLE)
    assert (again.pattern, again.special_tokens) == (WHOLE.pattern, WHOLE.special_tokens)


def test_tables_can_be_concatenated() -> None:
    tables = [counts.to_arrow() for counts in parts(3)]
    assert dict(PieceCounts.from_arrow(arrow.concat_tables(tables))) == dict(WHOLE)
    batch = tables[0].combine_chunks().to_batches()[0]
    assert PieceCounts.from_arrow(batch).total() == parts(3)[0].total()


def test_a_table_of_something_else_is_refused() -> None:
    table = WHOLE.to_arrow()
    with pytest.raises(ValueError, match="the pattern that the pieces come from"):
        PieceCounts.from_arrow(table.replace_schema_metadata())
    with pytest.raises(ValueError, match="piece"):
        PieceCounts.from_arrow(table.drop_columns(["piece"]))
    nulls = arrow.table(
        {
            "piece": arrow.array([b"a", None], arrow.large_binary()),
            "count": arrow.array([1, 2], arrow.uint64()),
        }
    )
    with pytest.raises(ValueError, match="missing"):
        PieceCounts.from_arrow(nulls.replace_schema_metadata(table.schema.metadata))


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary"])
def test_a_column_of_texts_is_counted(kind: str) -> None:
    if not hasattr(arrow, kind):
        pytest.skip(f"this version of pyarrow has no {kind}")
    column = arrow.array([*TEXTS, None, ""], arrow.string()).cast(getattr(arrow, kind)())
    counts = PieceCounts()
    counts.add_arrow(column, num_threads=2)
    assert list(counts) == list(WHOLE)
    chunked = PieceCounts()
    chunked.add_arrow(arrow.chunked_array([column.slice(0, 3), column.slice(3)]))
    assert list(chunked) == list(WHOLE)


def test_bytes_that_are_not_utf8_are_pieces_of_their_own() -> None:
    texts = [b"one \xff\xfe two", b"\xc3"]
    counts, listed = PieceCounts(), PieceCounts()
    counts.add_arrow(arrow.array(texts, arrow.binary()))
    listed.add(texts)
    assert list(counts) == list(listed)


def test_a_column_of_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a column of text"):
        PieceCounts().add_arrow(arrow.array([1, 2]))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_sorted_file_has_the_pieces_in_the_order_of_their_bytes(tmp_path: Path, suffix: str) -> None:
    counts = count_pieces(TEXTS, progress=False)
    before = list(counts)
    path = tmp_path / f"sorted{suffix}"
    counts.save(path, sort=True)
    assert list(counts) == before, "the counts are as before"
    loaded = PieceCounts.load(path)
    assert list(loaded) == sorted(WHOLE)
    assert loaded.is_sorted
    assert not counts.is_sorted


def test_a_sorted_file_is_one_whatever_the_order_of_texts(tmp_path: Path) -> None:
    backwards = count_pieces(TEXTS[::-1], progress=False)
    one, other = saved([WHOLE, backwards], tmp_path)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("number", [1, 2, 7])
def test_merged_files_are_the_counts_of_one_process(tmp_path: Path, number: int) -> None:
    paths = saved(parts(number), tmp_path)
    merged = PieceCounts.merge_files(paths)
    assert list(merged) == sorted(WHOLE)
    assert (merged.total(), len(merged)) == (WHOLE.total(), len(WHOLE))
    assert list(PieceCounts.merge_files(paths[::-1])) == list(merged)
    merged.save(tmp_path / "merged.parquet", sort=True)
    WHOLE.save(tmp_path / "whole.parquet", sort=True)
    assert (tmp_path / "merged.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "greatest_bytes"])
def test_a_vocabulary_of_merged_files_is_that_of_the_texts(tmp_path: Path, tie_break: TieBreak) -> None:
    merged = PieceCounts.merge_files(saved(parts(3), tmp_path))
    of_files = bytemill.train(merged, 1000, tie_break=tie_break, progress=False)
    assert of_files.sha256 == bytemill.train(TEXTS, 1000, tie_break=tie_break, progress=False).sha256


def test_the_order_of_occurrence_is_not_known_any_more(tmp_path: Path) -> None:
    paths = saved(parts(2), tmp_path)
    for counts in (PieceCounts.merge_files(paths), PieceCounts.load(paths[0])):
        with pytest.raises(ValueError, match="first occurred"):
            bytemill.train(counts, 300, tie_break="first_seen", progress=False)
        copy = pickle.loads(pickle.dumps(counts))  # noqa: S301 - its own
        assert copy.is_sorted
        assert list(copy) == list(counts)
        fresh = count_pieces(["text"], progress=False)
        fresh.merge(counts)
        assert fresh.is_sorted


def test_what_is_added_to_sorted_counts_is_saved_in_order(tmp_path: Path) -> None:
    first, second = saved(parts(2), tmp_path)
    for number, counts in enumerate([PieceCounts.load(first), PieceCounts.merge_files([first])]):
        counts.merge(PieceCounts.load(second))
        counts.add(["!0 \x00", "~"])
        counts.save(tmp_path / f"{number}.parquet")
        again = PieceCounts.merge_files([tmp_path / f"{number}.parquet"])
        assert list(again) == sorted(counts)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    paths = saved(parts(2), tmp_path)
    with pytest.raises(ValueError, match="got none"):
        PieceCounts.merge_files([])
    with pytest.raises(TypeError, match="pass it in a list"):
        PieceCounts.merge_files(str(paths[0]))
    unsorted = tmp_path / "unsorted.parquet"
    WHOLE.save(unsorted)
    with pytest.raises(ValueError, match=r"unsorted\.parquet: expected sorted counts"):
        PieceCounts.merge_files([paths[0], unsorted])
    other = tmp_path / "other.parquet"
    count_pieces(TEXTS, "gpt2", progress=False).save(other, sort=True)
    with pytest.raises(ValueError, match=r"other\.parquet: expected counts of the same pattern"):
        PieceCounts.merge_files([paths[0], other])
    with pytest.raises(FileNotFoundError):
        PieceCounts.merge_files([tmp_path / "none.parquet"])


@pytest.mark.parametrize(
    ("pieces", "counts", "message"),
    [
        ([b"b", b"a"], [1, 1], "expected sorted counts"),
        ([b"a", b"a"], [1, 1], "expected sorted counts"),
        ([b"", b"a"], [1, 1], "not empty"),
        ([b"a", b"b"], [1, 0], "counts of at least 1"),
    ],
)
def test_a_file_that_claims_to_be_sorted_is_checked(
    tmp_path: Path, pieces: list[bytes], counts: list[int], message: str
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    good = saved([WHOLE], tmp_path)[0]
    table = arrow.table(
        {"piece": arrow.array(pieces, arrow.large_binary()), "count": arrow.array(counts, arrow.uint64())}
    )
    bad = tmp_path / "bad.parquet"
    parquet.write_table(table.replace_schema_metadata(parquet.read_schema(good).metadata), bad)
    with pytest.raises(ValueError, match=message):
        PieceCounts.merge_files([good, bad])


def test_too_many_occurrences_are_refused(tmp_path: Path) -> None:
    half = PieceCounts({b"a": 2**63, b"b": 1})
    paths = saved([half, half], tmp_path)
    with pytest.raises(OverflowError):
        PieceCounts.merge_files(paths)
    apart = saved([PieceCounts({b"a": 2**63}), PieceCounts({b"b": 2**63})], tmp_path)
    with pytest.raises(OverflowError):
        PieceCounts.merge_files(apart)


def test_long_pieces_and_every_byte_are_sorted_as_bytes(tmp_path: Path) -> None:
    pieces = {bytes([byte]) * length: byte + length for byte in range(256) for length in (1, 2, 16, 17, 300)}
    path = saved([PieceCounts(pieces)], tmp_path)[0]
    rows = list(PieceCounts.load(path))
    assert dict(rows) == pieces
    assert all(before < after for (before, _), (after, _) in pairwise(rows))


def test_a_directory_for_temporary_files_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = saved(parts(2), tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    with pytest.raises(OSError, match="expected room in the directory for temporary files"):
        PieceCounts.merge_files(paths)


unix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits as POSIX has them")

FULL_DISK = """
import os, resource, signal
import bytemill

pieces = {{b"%d" % number ** 3: 1 for number in range(60_000)}}
bytemill.PieceCounts(pieces).save({path!r}, sort=True)
os.environ["TMPDIR"] = {folder!r}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    bytemill.PieceCounts.merge_files([{path!r}])
except OSError as error:
    assert error.errno == 27, error  # File too large: what there is instead of a full disk
    assert "raise the limit" in str(error), error
else:
    raise AssertionError("no error")
assert os.listdir({folder!r}) == []
"""


@unix_only
def test_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    run(FULL_DISK.format(path=str(tmp_path / "sorted.arrow"), folder=str(tmp_path / "temporary")))
