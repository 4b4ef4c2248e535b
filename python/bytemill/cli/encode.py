"""`bytemill encode`: texts to token ids."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import click

from bytemill.cli.id_files import (
    format_option,
    format_or_suffix,
    id_arguments,
    id_blocks,
    id_type,
    id_type_option,
    writer,
)
from bytemill.cli.options import (
    encoding_option,
    expanded,
    files_argument,
    json_option,
    output_option,
    source_options,
    special_option,
    special_rule,
    threads_option,
)
from bytemill.cli.output import output_file
from bytemill.cli.reading import STANDARD_INPUT, input_name, named_special, opened, text_batches
from bytemill.documents.readers import decompressed
from bytemill.errors import UnknownTokenError
from bytemill.formats.json_file import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bytemill.cli.id_files import Block
    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading


@click.command
@files_argument
@encoding_option
@format_option
@id_type_option
@output_option
@special_option
@source_options
@threads_option
def encode_command(  # noqa: PLR0913 - its options
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
    batches = text_batches(files, reading, encoding=encoding, special=special)
    with output_file(output, binary=kind in {"npy", "bin"}) as file, writer(kind, file, number) as write:
        for batch in batches:
            with named_special(input_name(batch.file)):
                ragged = encoding.encode_batch_to_numpy(
                    batch.texts, **special_rule(special), dtype=number, num_threads=threads
                )
            write(ragged, batch.ends)


# `bytemill decode`: token ids to text.


def ids_or_files(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Sequence[str]:
    """Expands names of files; ids stay as they are."""
    return values if id_arguments(values) else expanded(context, parameter, values) or (STANDARD_INPUT,)


@click.command(short_help="Decode token IDs: the reverse of encode.")
@click.argument("arguments", nargs=-1, metavar="[IDS|FILES|-]...", callback=ids_or_files)
@encoding_option
@format_option
@id_type_option
@output_option
@json_option
def decode_command(  # noqa: PLR0913 - its options
    *,
    arguments: Sequence[str],
    encoding: Encoding,
    id_format: str | None,
    dtype: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Decode token IDs: the arguments, or files that encode wrote.

    Writes the bytes of all documents without separators, even if they are not UTF-8. With --json, writes a
    line {"text": ...} for each document.
    """
    number = id_type(dtype, encoding)
    # With one of these options, arguments that look like ids are files.
    ids = id_arguments(arguments) if id_format in {None, "ids"} and dtype is None else None
    with output_file(output) as target:
        if ids is not None:
            write([(ids, True)], encoding, "the arguments", target, as_json=as_json)
            return
        for name in arguments:
            with opened(name) as stored, decompressed(stored, name) as file:
                blocks = id_blocks(name, file, format_or_suffix(id_format, name), number)
                write(blocks, encoding, name, target, as_json=as_json)


def write(
    blocks: Iterable[Block], encoding: Encoding, name: str, target: IO[bytes], *, as_json: bool
) -> None:
    """Writes the texts of the ids in a file."""
    document = b""
    for ids, is_end in blocks:
        data = decoded(encoding, ids, name)
        if not as_json:
            target.write(data)
            continue
        document += data
        if is_end:
            target.write(json_bytes({"text": document.decode(errors="replace")}) + b"\n")
            document = b""


def decoded(encoding: Encoding, ids: Sequence[int], name: str) -> bytes:
    """Returns the bytes of ids; `ValueError` names the file and the unknown id."""
    try:
        return encoding.decode_bytes(ids)
    except (OverflowError, UnknownTokenError) as error:
        wrong = next(int(token) for token in ids if not is_known(encoding, int(token)))
        raise ValueError(
            f"{input_name(name)}: {wrong} is not a token ID of {encoding.name}, whose IDs go from 0 to "
            f"{encoding.max_token_value}: pass the encoding that they were made with by --encoding"
        ) from error


def is_known(encoding: Encoding, token: int) -> bool:
    """Returns whether there is a token with this id."""
    try:
        encoding.decode_single_token_bytes(token)
    except (OverflowError, UnknownTokenError):
        return False
    return True
