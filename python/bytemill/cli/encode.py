"""`bytemill encode`: texts to token ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bytemill.cli.id_files import format_option, format_or_suffix, id_type, id_type_option, writer
from bytemill.cli.options import (
    encoding_option,
    files_argument,
    output_option,
    source_options,
    special_option,
    special_rule,
    special_tokens_of,
    threads_option,
)
from bytemill.cli.output import output_file
from bytemill.cli.reading import input_name, named_special, text_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.cli.reading import Reading
    from bytemill.core import Encoding


@click.command
@files_argument
@encoding_option
@format_option
@id_type_option
@output_option
@special_option
@source_options
@threads_option
def command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    encoding: Encoding,
    id_format: str | None,
    dtype: str | None,
    output: str | None,
    special: str,
    reading: Reading,
    threads: int | None,
) -> None:
    """Encode files or standard input to token IDs.

    \b
    Formats:
      ids    one line of decimal numbers per document
      jsonl  {"ids": [...]} per document
      npy    one flat array of all IDs, without the ends of documents
      bin    the same without a header, little-endian
    """  # noqa: D301 - a mark of click, which keeps the lines of a paragraph
    kind = format_or_suffix(id_format, output)
    number = id_type(dtype, encoding)
    batches = text_batches(
        files,
        reading,
        encoding=encoding,
        special_tokens=special_tokens_of(special, encoding),
    )
    with output_file(output, binary=kind in {"npy", "bin"}) as file, writer(kind, file, number) as write:
        for batch in batches:
            with named_special(input_name(batch.file)):
                ragged = encoding.encode_batch_to_numpy(
                    batch.texts, **special_rule(special), dtype=number, num_threads=threads
                )
            write(ragged, batch.ends)
