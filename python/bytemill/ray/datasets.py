"""Counting and encoding Ray's datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill import jobs
from bytemill._arguments import check_type
from bytemill._messages import import_optional
from bytemill.documents.sources import Reading
from bytemill.jobs.columns import ColumnCounter, ColumnEncoder
from bytemill.jobs.plan import UNIT_BYTES
from bytemill.progress import check_callable
from bytemill.ray.executor import Executor, connected, processors
from bytemill.special import NO_TOKENS
from bytemill.training.counts import PieceCounts
from bytemill.training.options import DEFAULT_PATTERN

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from bytemill._calls import Tokens
    from bytemill.core import Encoding
    from bytemill.documents.sources import Field, InvalidUtf8
    from bytemill.jobs.work import Report
    from bytemill.special import AllowedSpecial, DisallowedSpecial

__all__ = ["check_column", "count_pieces", "encode", "is_dataset", "planned"]

# Counting pieces on Ray: of files by units, of datasets by their blocks.


def count_pieces(  # noqa: PLR0913 - all but the first two have names
    source: Any,  # noqa: ANN401 - ray is optional
    pattern: str | None = DEFAULT_PATTERN,
    *,
    to: str | os.PathLike[str] | None = None,
    column: str | None = None,
    field: Field = None,
    lines: bool = False,
    errors: InvalidUtf8 = "strict",
    special_tokens: Iterable[str] = (),
    unit_bytes: int | str = UNIT_BYTES,
    num_cpus: int = 1,
    address: str | None = None,
    progress: Report | None = None,
) -> PieceCounts:
    """Counts the pieces of files, or of a column of a dataset, on a cluster of Ray.

    Files are divided into units, whose plan and counts are in the folder `to`. If the call is interrupted for
    whatever reason, the same call continues with the units that are left. Counting a dataset cannot be
    resumed: if it takes long to compute, write it to Parquet first, and count the files.

    Args:
        source: Files and folders, as of `bytemill.jobs.plan`; such a plan, which `to` and what says how
            files are read are not given with; or a `ray.data.Dataset`.
        pattern: As in `bytemill.count_pieces`.
        to: The work folder, which all nodes share. For a dataset it holds one file of counts for each task,
            until the call ends.
        column: The column of the dataset that holds the text: strings or bytes.
        field: As in `bytemill.count_pieces`, for files.
        lines: As in `bytemill.count_pieces`, for files.
        errors: As in `bytemill.count_pieces`, for files.
        special_tokens: As in `bytemill.count_pieces`.
        unit_bytes: As in `bytemill.jobs.plan`.
        num_cpus: The processors of a task, which are also its threads.
        address: As of `Executor`.
        progress: As in `bytemill.jobs.count_pieces`, for files.

    Returns:
        The counts, as of `bytemill.jobs.count_pieces`.

    Raises:
        Exception: As `bytemill.jobs.plan`, `bytemill.jobs.count_pieces` and `Executor`.

    Complexity:
        As `bytemill.jobs.count_pieces`.
    """
    if is_dataset(source):
        if to is None or column is None:
            raise ValueError(
                "expected to= and column= with a dataset: a folder that all nodes share, for counts of its "
                "parts, and the name of the column that holds the text"
            )
        if field is not None or lines:
            raise ValueError("field and lines say how files are read: a dataset has a column")
        if progress is not None:
            raise ValueError("progress is that of files: Ray reports that of a dataset")
        check_column(source, column)
        connected(address)
        counter = ColumnCounter(to, column, pattern, special_tokens)
        return count_dataset(source, counter, column, num_cpus=num_cpus)
    if column is not None:
        raise ValueError("column is for a dataset: with files it is called field")
    executor = Executor(num_cpus=num_cpus, address=address)
    # They may be an iterator, which this consumes.
    special_tokens = PieceCounts(pattern=pattern, special_tokens=special_tokens).special_tokens
    check_callable(progress)
    # All else is checked before there is anything in the work folder.
    plan = planned(source, to, Reading.checked(field, lines, errors), unit_bytes)
    return jobs.count_pieces(
        plan,
        pattern,
        special_tokens=special_tokens,
        executor=executor,
        progress=progress,
    )


def planned(
    source: Any,  # noqa: ANN401 - as `count_pieces`
    to: str | os.PathLike[str] | None,
    reading: Reading,
    unit_bytes: int | str,
) -> jobs.Plan:
    """Returns the plan that is given, or that of files; arguments as `count_pieces`."""
    if isinstance(source, jobs.Plan):
        if to is not None or reading.field is not None or reading.lines:
            raise ValueError(
                "a plan has a work folder and says how files are read: leave out to, field and lines"
            )
        return source
    if to is None:
        raise ValueError("expected to= with files: the work folder, which all nodes share")
    return jobs.plan(source, to, **reading._asdict(), unit_bytes=unit_bytes)


def count_dataset(dataset: Any, counter: ColumnCounter, column: str, *, num_cpus: int) -> PieceCounts:  # noqa: ANN401
    """Returns the counts of a column of a dataset."""
    ray_data = import_optional("ray.data", "datasets of Ray")
    if ray_data.DataContext.get_current().max_errored_blocks != 0:
        raise ValueError(
            "expected DataContext.max_errored_blocks of 0: Ray would leave out blocks that fail, and the "
            "counts would not be those of the dataset"
        )
    from bytemill.ray.sink import CountsSink

    sink = CountsSink(counter)
    try:
        dataset.select_columns([column]).write_datasink(
            sink, ray_remote_args={"num_cpus": processors(num_cpus)}
        )
        return counter.merged(sink.runs)
    finally:
        counter.remove()


# Encoding a column of a dataset of Ray.


def encode(  # noqa: PLR0913 - all but the first three have names
    dataset: Any,  # noqa: ANN401 - ray is optional
    column: str,
    encoding: Encoding | str,
    *,
    into: str = "input_ids",
    prepend: Tokens = None,
    append: Tokens = None,
    add_special_tokens: bool = False,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
    num_cpus: int = 1,
) -> Any:  # noqa: ANN401 - as above
    """Encodes a column of a dataset of Ray, when that is read.

    Args:
        dataset: A `ray.data.Dataset`.
        column: The column that holds the text: strings or bytes. Nulls become nulls.
        encoding: The encoding, or its name. Workers rebuild it once for each process, and compare its
            SHA-256.
        into: The column of ids, of type large_list<uint32>; one of that name is replaced.
        prepend: Ids, or texts of single tokens, to put before each text.
        append: The same, to put after each text.
        add_special_tokens: Whether the tokens of `definition.template`, which the tokenizer's own library
            adds, are put around the ids of each text, inside of `prepend` and `append`.
        allowed_special: As in `Encoding.encode`.
        disallowed_special: As in `Encoding.encode`, but by default nothing is an error.
        num_cpus: The processors of a task, which are also its threads.

    Returns:
        Another dataset, which is not yet computed.

    Raises:
        TypeError: An argument is of a wrong type.
        ValueError: An argument has no meaning; or, when the dataset is computed, it has no such column.

    Complexity:
        As `Encoding.encode_arrow`. A dataset that is read twice is encoded twice.
    """
    encoder = ColumnEncoder(
        encoding,
        column,
        into=into,
        prepend=prepend,
        append=append,
        add_special_tokens=add_special_tokens,
        allowed_special=allowed_special,
        disallowed_special=disallowed_special,
    )
    check_column(dataset, column)
    # A function, which runs in tasks: a pool of actors may hold all processors, and nothing would be read.
    return dataset.map_batches(
        encoder.__call__,
        batch_format="pyarrow",
        batch_size=None,
        zero_copy_batch=True,
        num_cpus=processors(num_cpus),
    )


def is_dataset(source: object) -> bool:
    """Returns whether a source is a dataset of Ray; Ray is not imported for that."""
    return any(each.__module__ == "ray.data.dataset" for each in type(source).__mro__)


def check_column(dataset: Any, column: str) -> None:  # noqa: ANN401 - ray is optional
    """Raises unless a dataset of Ray may have a column; nothing is computed for that.

    Raises:
        TypeError: It is not a dataset of Ray, or the name is not a string.
        ValueError: It is known to have no such column.
    """
    if not is_dataset(dataset):
        raise TypeError(f"dataset must be a ray.data.Dataset, not {type(dataset).__name__}")
    check_type("column", column, str)
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None and column not in schema.names:
        raise ValueError(f"expected a column {column!r}, got a dataset with {', '.join(schema.names)}")
