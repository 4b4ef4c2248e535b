"""How ids lie in files: one class for each format, all little-endian.

| format | files | read by | a document may go on in the next shard |
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

from bytemill.files import imported
from bytemill.formats.atomic import create, named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    Ids = npt.NDArray[np.integer[Any]]
    Ends = npt.NDArray[np.int64]

__all__ = ["FORMATS", "TokenFile"]


class TokenFile:
    """The files of a shard: written once, from beginning to end. This one is of the format `bin`.

    Attributes:
        suffixes: How the names of the files end.
        dtypes: The integer types that the format has, those that are preferred first.
        whole_documents: Whether a document must be in one shard.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".bin",)
    dtypes: ClassVar[tuple[str, ...]] = ("uint16", "uint32")
    whole_documents: ClassVar[bool] = False

    @classmethod
    def usual_dtype(cls, n_vocab: int) -> str:
        """Gives the type for a vocabulary of that size: the first that holds it."""
        return next(dtype for dtype in cls.dtypes if np.iinfo(dtype).max >= n_vocab - 1)

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the files, one for each suffix."""
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self._file = create(paths[0])

    def write(self, ids: Ids, ends: Ends) -> None:  # noqa: ARG002 - other formats need them
        """Writes ids.

        Args:
            ids: Shape (tokens,), of the type of the files.
            ends: Where in these ids documents end, shape (documents,), dtype int64.
        """
        self._file.write(ids.astype(self.dtype, copy=False).data)

    def close(self) -> None:
        """Writes what is left, and waits until all is on the disk."""
        to_disk(self._file)

    def abandon(self) -> None:
        """Closes the files, which nobody will read, whether what is left can be written or not."""
        with suppress(OSError):
            self._file.close()


class NpyFile(TokenFile):
    """A one-dimensional array of NumPy."""

    suffixes = (".npy",)
    dtypes = ("uint16", "uint32", "int32", "int64")

    # A multiple of 64, as NumPy has it, with room for any number of ids.
    HEADER_BYTES = 128

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the file."""
        super().__init__(paths, dtype)
        self._count = 0
        # Filled in at the end.
        self._file.write(bytes(self.HEADER_BYTES))

    def write(self, ids: Ids, ends: Ends) -> None:
        """Writes ids."""
        super().write(ids, ends)
        self._count += len(ids)

    def close(self) -> None:
        """Writes the header: version 1.0, its length, a Python literal, blanks."""
        facts = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': ({self._count},), }}"
        start = b"\x93NUMPY\x01\x00" + pack("<H", self.HEADER_BYTES - 10)
        self._file.seek(0)
        self._file.write(start + facts.ljust(self.HEADER_BYTES - 11).encode() + b"\n")
        super().close()


class MegatronFile(TokenFile):
    """An indexed dataset of Megatron-LM: ids, and where each document lies among them.

    A document without ids is a document without a sequence, as Megatron's own tool writes it.
    """

    suffixes = (".bin", ".idx")
    dtypes = ("uint16", "int32", "int64")
    whole_documents = True

    # As Megatron chooses: ids near the end of uint16 have had other meanings.
    UINT16_BELOW = 65_500
    CODES: ClassVar[dict[str, int]] = {"int32": 4, "int64": 5, "uint16": 8}

    @classmethod
    def usual_dtype(cls, n_vocab: int) -> str:
        """Gives the type that Megatron would choose."""
        return "uint16" if n_vocab < cls.UINT16_BELOW else "int32" if n_vocab <= 1 << 31 else "int64"

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the files."""
        super().__init__(paths, dtype)
        try:
            self._index = create(paths[1])
        except OSError:
            super().abandon()
            raise
        # The lengths of documents, and how much of the next one has been written. 8 bytes a document.
        self._lengths = array("q")
        self._begun = 0

    def write(self, ids: Ids, ends: Ends) -> None:
        """Writes ids."""
        super().write(ids, ends)
        starts = np.concatenate([[0], ends])
        lengths = np.diff(starts)
        lengths[:1] += self._begun
        self._begun = len(ids) - int(starts[-1]) + (0 if len(ends) else self._begun)
        self._lengths.frombytes(lengths.astype(np.int64).tobytes())

    def close(self) -> None:
        """Writes the index."""
        lengths = np.frombuffer(self._lengths, np.int64) if self._lengths else np.zeros(0, np.int64)
        longest = int(lengths.max(initial=0))
        if longest > np.iinfo(np.int32).max:
            message = f"a document has {longest} tokens: expected less than 2147483648 of each in this format"
            raise ValueError(message)
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

    COLUMN = "input_ids"
    # Ids of a row group, about; documents are not divided.
    GROUP = 1 << 20

    def __init__(self, paths: Sequence[Path], dtype: str) -> None:
        """Opens the file."""
        super().__init__(paths, dtype)
        self._arrow = imported("pyarrow", "Parquet files")
        element = self._arrow.from_numpy_dtype(np.dtype(dtype))
        self._schema = self._arrow.schema([(self.COLUMN, self._arrow.list_(element))])
        # Ids do not repeat enough for dictionaries.
        self._table = imported("pyarrow.parquet", "Parquet files").ParquetWriter(
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
            message = (
                f"a document has about {end} tokens: expected less than 2147483648 of each in this format"
            )
            raise ValueError(message)
        lists = self._arrow.ListArray.from_arrays(offsets.astype(np.int32), self._arrow.array(ids[:end]))
        self._table.write_table(self._arrow.Table.from_arrays([lists], schema=self._schema))
        self._pending, self._ends, self._count = [ids[end:]], [], len(ids) - end

    def abandon(self) -> None:
        """Closes the file, whether its footer can be written or not."""
        with suppress(OSError):
            self._table.close()
        super().abandon()

    def close(self) -> None:
        """Writes what is left, and the footer."""
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
    """Closes a file when it is on the disk: a shard that is done survives a loss of power."""
    with named(file.name):
        file.flush()
        os.fsync(file.fileno())
    file.close()
