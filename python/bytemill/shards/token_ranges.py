"""Shards cut into others: where new ones begin, and the ids between two places of a file.

An item is an id in the formats that divide documents, a document in "megatron", and a row group in "parquet".
"""

from __future__ import annotations

from functools import partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill._messages import import_optional
from bytemill.documents.readers import read_full
from bytemill.formats import npy
from bytemill.shards.token_files import MegatronFile, NpyFile, ParquetFile, TokenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from bytemill.shards.token_files import Ends, Ids

    # Opens the file of a shard that has this suffix.
    Open = Callable[[str], IO[bytes]]

__all__ = ["ItemRange", "cut_items", "cut_tokens", "item_tokens", "read_range", "stored_tokens"]

# Ids that are read at a time.
CHUNK = 1 << 22

# The header of an index of Megatron ends with the numbers of sequences and of bounds of documents.
INDEX_HEADER = 34

# Formats that divide documents do not know where they end.
NO_ENDS = np.zeros(0, np.int64)


class ItemRange(NamedTuple):
    """A part of a shard.

    Attributes:
        shard: The number of the shard.
        first: The first item.
        end: The item after the last.
    """

    shard: int
    first: int
    end: int


# --- Where new shards begin ---------------------------------------------------------------------------------


def cut_tokens(tokens: Iterable[int], most: int) -> Iterator[list[ItemRange]]:
    """Yields the parts of shards of so many ids that make up each new one, of `most` ids but for the last."""
    parts: list[ItemRange] = []
    left = most
    for shard, count in enumerate(tokens):
        first = 0
        while first < count:
            end = min(first + left, count)
            parts.append(ItemRange(shard, first, end))
            left -= end - first
            first = end
            if not left:
                yield parts
                parts, left = [], most
    if parts:
        yield parts


def cut_items(shards: Iterable[npt.NDArray[np.int64]], least: int) -> Iterator[list[ItemRange]]:
    """Yields the parts of shards that make up each new one.

    A new one is full with the item that brings it to `least` ids; items without ids stay with those before
    them, as where documents are written.

    Args:
        shards: The number of ids of each item of a shard, shape (items,).
        least: How many ids make a new shard full.
    """
    parts: list[ItemRange] = []
    full = 0
    for shard, counts in enumerate(shards):
        ends = np.cumsum(counts)
        first = before = 0
        while first < len(ends):
            with_ids = int(np.searchsorted(ends, before, "right"))
            if full >= least and with_ids == first:
                yield parts
                parts, full = [], 0
            # What fills the new shard; or what has no ids.
            wanted = int(np.searchsorted(ends, before + least - full)) + 1 if full < least else with_ids
            end = min(wanted, len(ends))
            parts.append(ItemRange(shard, first, end))
            full += int(ends[end - 1]) - before
            first, before = end, int(ends[end - 1])
    if parts:
        yield parts


# --- Reading ------------------------------------------------------------------------------------------------


def item_tokens(kind: type[TokenFile], open_file: Open) -> npt.NDArray[np.int64]:
    """Returns the number of ids of each item of a shard of whole documents; about that for row groups."""
    if kind is MegatronFile:
        with open_file(".idx") as file:
            return document_lengths(file.read())
    with open_file(".parquet") as file:
        table = parquet_file(file)
        groups = map(table.metadata.row_group, range(table.num_row_groups))
        return np.array([group.column(0).num_values for group in groups], np.int64)


def stored_tokens(kind: type[TokenFile], dtype: str, size: int) -> int:
    """Returns the number of ids in a file of `size` bytes, of a format that divides documents."""
    return (size - header_bytes(kind)) // np.dtype(dtype).itemsize


def read_range(
    kind: type[TokenFile], dtype: str, open_file: Callable[[int, str], IO[bytes]], part: ItemRange
) -> Iterator[tuple[Ids, Ends]]:
    """Yields the ids of a part of a shard, and where documents end, as `TokenFile.write` takes them.

    Args:
        kind: The format.
        dtype: The type of the ids.
        open_file: Opens the file of a shard by the number of that and a suffix.
        part: The part.
    """
    opened = partial(open_file, part.shard)
    if kind is ParquetFile:
        yield from row_groups(opened, part)
    elif kind is MegatronFile:
        with opened(".idx") as file:
            lengths = document_lengths(file.read())
        start = int(lengths[: part.first].sum())
        ends = np.cumsum(lengths[part.first : part.end])
        done = -1
        for ids in stored_ids(kind, dtype, opened, start, start + int(ends[-1])):
            # Documents without ids before the first id are in the first part.
            inside = ends[(ends > done) & (ends <= max(done, 0) + len(ids))]
            yield ids, inside - max(done, 0)
            done = max(done, 0) + len(ids)
    else:
        for ids in stored_ids(kind, dtype, opened, part.first, part.end):
            yield ids, NO_ENDS


def stored_ids(kind: type[TokenFile], dtype: str, open_file: Open, first: int, end: int) -> Iterator[Ids]:
    """Yields the ids between two places of a file, at least once.

    Raises:
        ValueError: The file ends before.
    """
    stored = np.dtype(dtype).newbyteorder("<")
    with open_file(kind.suffixes[0]) as file:
        file.seek(header_bytes(kind) + first * stored.itemsize)
        for start in range(first, end, CHUNK) or (end,):
            wanted = min(CHUNK, end - start)
            ids = np.frombuffer(read_full(file, wanted * stored.itemsize), stored)
            if len(ids) != wanted:
                raise ValueError(
                    f"expected {wanted} token IDs at {start}, got {len(ids)}: the file has been cut"
                )
            yield ids


def row_groups(open_file: Open, part: ItemRange) -> Iterator[tuple[Ids, Ends]]:
    """Yields the ids of row groups of Parquet, and where documents end among them."""
    with open_file(".parquet") as file:
        table = parquet_file(file)
        for group in range(part.first, part.end):
            for lists in table.read_row_group(group).column(0).chunks:
                bounds = lists.offsets.to_numpy().astype(np.int64)
                yield lists.flatten().to_numpy(), bounds[1:] - bounds[0]


def header_bytes(kind: type[TokenFile]) -> int:
    """Returns the bytes of a file before its ids."""
    return npy.HEADER_BYTES if kind is NpyFile else 0


def document_lengths(index: bytes) -> npt.NDArray[np.int64]:
    """Returns the lengths of the documents in an index of `MegatronFile`, shape (documents,)."""
    sequences, bounds = (int(number) for number in np.frombuffer(index, "<u8", 2, INDEX_HEADER - 16))
    starts = np.frombuffer(index, "<i8", bounds, INDEX_HEADER + 12 * sequences)
    lengths = np.zeros(bounds - 1, np.int64)
    lengths[np.diff(starts) > 0] = np.frombuffer(index, "<i4", sequences, INDEX_HEADER)
    return lengths


def parquet_file(file: IO[bytes]) -> Any:  # noqa: ANN401 - pyarrow is optional
    """Opens a file of `ParquetFile`."""
    return import_optional("pyarrow.parquet", "Parquet files").ParquetFile(file)
