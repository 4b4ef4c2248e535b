"""Encoding a column of a dataset of Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill._arguments import check_type
from bytemill.jobs.columns import ColumnEncoder
from bytemill.ray.executor import processors
from bytemill.special import NO_TOKENS

if TYPE_CHECKING:
    from bytemill._around import Tokens
    from bytemill.core import Encoding
    from bytemill.special import AllowedSpecial, DisallowedSpecial

__all__ = ["check_column", "encode", "is_dataset"]


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
