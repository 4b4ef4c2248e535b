"""The formats of shards: one class for each, all little-endian.

| format | files | read by | a document may continue in the next shard |
|---|---|---|---|
| `bin` | ids, nothing else | `numpy.memmap`, nanoGPT | yes |
| `npy` | ids after NumPy's header | `numpy.load` | yes |
| `megatron` | ids; an index of documents | Megatron-LM, NeMo | no |
| `parquet` | a list of ids for each document | pyarrow, `datasets`, DuckDB | no |
"""

from __future__ import annotations

import os
from array import array
from contextlib import suppress
from struct import pack
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bytemill._messages import import_optional
from bytemill.formats import npy
from bytemill.io.atomic import create, named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    Ids = npt.NDArray[np.integer[Any]]
    Ends = npt.NDArray[np.int64]

__all__ = ["FORMATS", "TokenFile"]


class TokenFile:
    """The files of a shard, written once from start to end. This class is the format `bin`.

    Attributes:
        suffixes: The suffixes of the names of the files.
        dtypes: The integer types of the format, preferred ones first.
        whole_documents: Whether a document must be in one shard.
        maps_empty: Whether readers can map files without ids.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".bin",)
    dtypes: ClassVar[tuple[str, ...]] = ("uint16", "uint32")
    whole_documents: ClassVar[bool] = False
    maps_empty: ClassVar[bool] = False

    @classmethod
    def usual_dtype(cls, n_vocab: int) -> str:
        """Returns the first type that holds a vocabulary of that size."""
        return next(dtype for dtype in cls.dtypes if np.iinfo(dtype).max >= n_vocab - 1)

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the files, one for each suffix."""
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self._file = create(paths[0])

    def write(self, ids: Ids, ends: Ends) -> None:  # noqa: ARG002 - other formats need them
        """Writes ids.

        Args:
            ids: Shape (tokens,), of the type of the files.
            ends: Where documents end in these ids, shape (documents,), dtype int64.
        """
        self._file.write(ids.astype(self.dtype, copy=False).data)

    def close(self) -> None:
        """Writes the rest, and waits until all is on the disk."""
        to_disk(self._file)

    def abandon(self) -> None:
        """Closes the files, which will be removed, even if the rest cannot be written."""
        with suppress(OSError):
            self._file.close()


class NpyFile(TokenFile):
    """A one-dimensional array of NumPy."""

    suffixes = (".npy",)
    dtypes = ("uint16", "uint32", "int32", "int64")
    maps_empty = True

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the file."""
        super().__init__(paths, dtype)
        self._count = 0
        # Overwritten at the end.
        self._file.write(bytes(npy.HEADER_BYTES))

    def write(self, ids: Ids, ends: Ends) -> None:
        """Writes ids."""
        super().write(ids, ends)
        self._count += len(ids)

    def close(self) -> None:
        """Writes the header."""
        self._file.seek(0)
        self._file.write(npy.header(self.dtype.str, self._count))
        super().close()


class MegatronFile(TokenFile):
    """An indexed dataset of Megatron-LM: ids, and where each document is among them.

    A document without ids is a document without a sequence, as Megatron's own tool writes it.
    """

    suffixes = (".bin", ".idx")
    dtypes = ("uint16", "int32", "int64")
    whole_documents = True

    # Megatron's own limit: ids near the end of uint16 have had other meanings.
    UINT16_BELOW = 65_500
    CODES: ClassVar[dict[str, int]] = {"int32": 4, "int64": 5, "uint16": 8}

    @classmethod
    def usual_dtype(cls, n_vocab: int) -> str:
        """Returns the type that Megatron would choose."""
        return "uint16" if n_vocab < cls.UINT16_BELOW else "int32" if n_vocab <= 1 << 31 else "int64"

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the files."""
        super().__init__(paths, dtype)
        try:
            self._index = create(paths[1])
        except OSError:
            super().abandon()
            raise
        # The lengths of documents, 8 bytes each, and of the written part of the next one.
        self._lengths = array("q")
        self._partial = 0

    def write(self, ids: Ids, ends: Ends) -> None:
        """Writes ids."""
        super().write(ids, ends)
        starts = np.concatenate([[0], ends])
        lengths = np.diff(starts)
        lengths[:1] += self._partial
        self._partial = len(ids) - int(starts[-1]) + (0 if len(ends) else self._partial)
        self._lengths.frombytes(lengths.astype(np.int64).tobytes())

    def close(self) -> None:
        """Writes the index."""
        lengths = np.frombuffer(self._lengths, np.int64) if self._lengths else np.zeros(0, np.int64)
        longest = int(lengths.max(initial=0))
        if longest > np.iinfo(np.int32).max:
            raise ValueError(
                f"a document has {longest} tokens: expected less than 2147483648 of each in this format"
            )
        sequences = lengths[lengths > 0]
        pointers = (np.cumsum(sequences) - sequences) * self.dtype.itemsize
        documents = np.concatenate([[0], np.cumsum(lengths > 0)])
        self._index.write(b"MMIDIDX\x00\x00" + pack("<QB", 1, self.CODES[self.dtype.name]))
        self._index.write(pack("<QQ", len(sequences), len(documents)))
        self._index.write(sequences.astype("<i4").data)
        self._index.write(pointers.astype("<i8").data)
        self._index.write(documents.astype("<i8").data)
        super().close()
        to_disk(self._index)

    def abandon(self) -> None:
        """Closes the files."""
        super().abandon()
        with suppress(OSError):
            self._index.close()


class ParquetFile(TokenFile):
    """A table with a list of ids for each document, in the column `input_ids`."""

    suffixes = (".parquet",)
    dtypes = ("uint16", "uint32", "int32", "int64")
    whole_documents = True
    maps_empty = True

    COLUMN = "input_ids"
    # Ids of a row group, at least; documents are not divided.
    GROUP = 1 << 20

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the file."""
        super().__init__(paths, dtype)
        self._arrow = import_optional("pyarrow", "Parquet files")
        element = self._arrow.from_numpy_dtype(np.dtype(dtype))
        self._schema = self._arrow.schema([(self.COLUMN, self._arrow.list_(element))])
        # Ids repeat too little for dictionaries.
        self._table = import_optional("pyarrow.parquet", "Parquet files").ParquetWriter(
            self._file, self._schema, compression="zstd", use_dictionary=False
        )
        self._pending: list[Ids] = []
        self._ends: list[Ends] = []
        self._count = 0

    def write(self, ids: Ids, ends: Ends) -> None:
        """Writes ids, as soon as there are enough and a document ends."""
        self._pending.append(ids)
        self._ends.append(ends + self._count)
        self._count += len(ids)
        if self._count >= self.GROUP and len(ends):
            self._write_group()

    def _write_group(self) -> None:
        ids, ends = np.concatenate(self._pending), np.concatenate(self._ends)
        end = int(ends[-1])
        offsets = np.concatenate([[0], ends])
        if end > np.iinfo(np.int32).max:
            raise ValueError(
                f"a document has about {end} tokens: expected less than 2147483648 of each in this format"
            )
        lists = self._arrow.ListArray.from_arrays(offsets.astype(np.int32), self._arrow.array(ids[:end]))
        self._table.write_table(self._arrow.Table.from_arrays([lists], schema=self._schema))
        self._pending, self._ends, self._count = [ids[end:]], [], len(ids) - end

    def abandon(self) -> None:
        """Closes the file, even if its footer cannot be written."""
        with suppress(OSError):
            self._table.close()
        super().abandon()

    def close(self) -> None:
        """Writes the rest, and the footer."""
        if any(map(len, self._ends)):
            self._write_group()
        self._table.close()
        super().close()


FORMATS: dict[str, type[TokenFile]] = {
    "bin": TokenFile,
    "npy": NpyFile,
    "megatron": MegatronFile,
    "parquet": ParquetFile,
}


def to_disk(file: Any) -> None:  # noqa: ANN401 - any open file
    """Flushes a file to the disk and closes it: a finished shard survives a loss of power."""
    with named(file.name):
        file.flush()
        os.fsync(file.fileno())
    file.close()
