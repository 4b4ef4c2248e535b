"""Columns of tables that an engine hands out in parts: counting and encoding them, in any process."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill._arguments import check_type
from bytemill._calls import ids_of
from bytemill._messages import import_optional
from bytemill._named import encoding_of
from bytemill.core import Encoding, __version__
from bytemill.errors import InternalError
from bytemill.io.piece_table import most_open
from bytemill.io.uris import is_uri, without_scheme
from bytemill.jobs.tokenizing import EncodingValue, check_encoding
from bytemill.shards.manifest import Provenance
from bytemill.special import NO_TOKENS, kept
from bytemill.training.counts import PieceCounts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill._calls import Tokens
    from bytemill.special import AllowedSpecial, DisallowedSpecial

__all__ = ["ColumnCounter", "ColumnEncoder", "Run"]


class Run(NamedTuple):
    """Sorted counts of what one task has read.

    Attributes:
        name: The file in the folder of the `ColumnCounter`.
        total: The sum of its counts.
    """

    name: str
    total: int


class ColumnCounter:
    """Counts the pieces of a column that several tasks read.

    Each task writes its counts to a file under a name of its own, which it returns. An engine may run a task
    again, also at the same time: it hands back the result of one attempt, so the file of the other is never
    read, whatever rows that one got.
    """

    def __init__(
        self,
        to: str | os.PathLike[str],
        column: str,
        pattern: str | None,
        special_tokens: Iterable[str],
    ) -> None:
        """Takes a folder that all tasks share, and arguments as of `bytemill.count_pieces`.

        Raises:
            Exception: As `bytemill.count_pieces`.
            ValueError: The folder is none.
            OSError: The folder cannot be made.
        """
        check_type("column", column, str)
        if is_uri(to):
            raise ValueError(f"expected a folder that all machines share, not a store of objects, got {to!r}")
        checked = PieceCounts(pattern=pattern, special_tokens=special_tokens)
        self._pattern, self._special_tokens = checked.pattern, checked.special_tokens
        self._column = column
        self._folder = Path(without_scheme(to)).absolute() / f"runs-{os.urandom(8).hex()}"
        self._folder.mkdir(parents=True)

    def count(self, tables: Iterable[Any]) -> Run:
        """Counts the column of tables or record batches of PyArrow, as one task."""
        counts = self._counts()
        # Those without rows may have no columns either.
        for table in filter(len, tables):
            counts.add_arrow(column_of(table, self._column))
        name = f"{os.urandom(8).hex()}.parquet"
        counts.save(self._folder / name, sort=True)
        return Run(name, counts.total())

    def merged(self, runs: Iterable[Run]) -> PieceCounts:
        """Returns the sum of the counts of all tasks.

        Raises:
            OSError: A file cannot be read, or a temporary file not written.
        """
        runs = list(runs)
        if not runs:
            return self._counts()
        counts = PieceCounts.merge_files(self._few([self._folder / run.name for run in runs]))
        if counts.total() != (total := sum(run.total for run in runs)):
            raise InternalError(f"expected {total} pieces in all runs, got {counts.total()}")
        return counts

    def _few(self, paths: list[Path]) -> list[Path]:
        """Returns sorted files with the same counts, not more than may be open at once."""
        while len(paths) > (most := most_open()):
            added = self._folder / f"{os.urandom(8).hex()}.parquet"
            PieceCounts.merge_files(paths[:most]).save(added, sort=True)
            paths = [*paths[most:], added]
        return paths

    def remove(self) -> None:
        """Removes the files of all attempts."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _counts(self) -> PieceCounts:
        return PieceCounts(pattern=self._pattern, special_tokens=self._special_tokens)


class ColumnEncoder:
    """Encodes a column of tables, in any process that has this library.

    Attributes:
        into: The name of the column of ids.
    """

    def __init__(  # noqa: PLR0913 - all but the first two have names
        self,
        encoding: Encoding | str,
        column: str,
        *,
        into: str,
        prepend: Tokens,
        append: Tokens,
        add_special_tokens: bool,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> None:
        """Takes the encoding or its name, the names of the columns, and arguments as of `write_shards`.

        Raises:
            TypeError, ValueError: An argument is of a wrong type or has no meaning.
        """
        check_type("column", column, str)
        check_type("into", into, str)
        encoding = encoding_of(encoding)
        self._column, self.into = column, into
        self._before, self._after = ids_of("prepend", prepend, encoding), ids_of("append", append, encoding)
        if add_special_tokens:
            prefix, suffix = encoding._template_ids()  # noqa: SLF001 - of this package
            self._before, self._after = self._before + prefix, suffix + self._after
        self._allowed, self._disallowed = kept(allowed_special, disallowed_special)
        # Wrong values are errors here, before any task runs.
        encoding.encode("", allowed_special=self._allowed, disallowed_special=self._disallowed)
        self._encoding = EncodingValue(encoding)
        facts: dict[str, str | int] = {"name": encoding.name, "sha256": encoding.sha256}
        self._wanted = Provenance(bytemill=__version__, encoding=facts, options={})

    def __call__(self, table: Any) -> Any:  # noqa: ANN401 - pyarrow is optional
        """Returns a table or record batch of PyArrow with the column of ids: large_list<uint32>."""
        if not len(table) and self._column not in table.schema.names:
            return table
        ids = self.ids(table)
        if self.into in table.schema.names:
            return table.set_column(table.schema.get_field_index(self.into), self.into, ids)
        return table.append_column(self.into, ids)

    def ids(self, table: Any) -> Any:  # noqa: ANN401 - as above
        """Returns the ids as an array of PyArrow; null where the text is."""
        arrow = import_optional("pyarrow", "columns of ids")
        encoding = self._encoding.value
        check_encoding(encoding, self._wanted)
        encoded = encoding.encode_arrow(
            column_of(table, self._column),
            allowed_special=self._allowed,
            disallowed_special=self._disallowed,
        )
        ids = arrow.array(encoded)
        if self._before or self._after:
            ids = with_marks(arrow, ids, self._before, self._after)
        # One type for all tables of a job, whatever their sizes.
        return ids.cast(arrow.large_list(arrow.uint32()))


def column_of(table: Any, name: str) -> Any:  # noqa: ANN401 - pyarrow is optional
    """Returns a column of a table or record batch.

    Raises:
        ValueError: There is none of that name.
    """
    if name not in table.schema.names:
        raise ValueError(f"expected a column {name!r}, got a table with {', '.join(table.schema.names)}")
    return table.column(name)


def with_marks(arrow: Any, ids: Any, before: list[int], after: list[int]) -> Any:  # noqa: ANN401 - as above
    """Returns a column of lists with ids before and after each; a null stays null."""
    counts = np.diff(np.asarray(ids.offsets, np.int64))
    marks = len(before) + len(after)
    is_text = np.asarray(ids.is_valid())
    offsets = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(np.where(is_text, counts + marks, 0), out=offsets[1:])
    starts, ends = offsets[:-1][is_text], offsets[1:][is_text]
    values = np.empty(offsets[-1], np.uint32)
    is_mark = np.zeros(len(values), bool)
    for at, token in [(starts + i, token) for i, token in enumerate(before)] + [
        (ends - len(after) + i, token) for i, token in enumerate(after)
    ]:
        values[at] = token
        is_mark[at] = True
    values[~is_mark] = ids.flatten()
    valid = arrow.array(is_text).buffers()[1] if ids.null_count else None
    lists = [valid, arrow.py_buffer(offsets)]
    kind = arrow.large_list(arrow.uint32())
    return arrow.LargeListArray.from_buffers(kind, len(ids), lists, children=[arrow.array(values)])
