"""`bytemill decode`: token ids to text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bytemill.cli.id_files import format_option, format_or_suffix, id_blocks, id_type, id_type_option
from bytemill.cli.options import encoding_option, files_argument, json_option, output_option
from bytemill.cli.output import output_file
from bytemill.cli.reading import input_name, opened
from bytemill.documents.readers import decompressed
from bytemill.errors import UnknownTokenError
from bytemill.formats.json_text import json_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.core import Encoding


@click.command
@files_argument
@encoding_option
@format_option
@id_type_option
@output_option
@json_option
def command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    encoding: Encoding,
    id_format: str | None,
    dtype: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Decode ids: what encode wrote becomes the text again.

    The bytes of all documents are written one after the other, whether they are UTF-8 or not. With --json
    each document is a line, an object with the field text.
    """
    number = id_type(dtype, encoding)
    with output_file(output) as target:
        for name in files:
            with opened(name) as stored, decompressed(stored, name) as file:
                document = b""
                for ids, is_end in id_blocks(name, file, format_or_suffix(id_format, name), number):
                    data = decoded(encoding, ids, name)
                    if not as_json:
                        target.write(data)
                        continue
                    document += data
                    if is_end:
                        text = document.decode(errors="replace")
                        target.write(json_bytes({"text": text}) + b"\n")
                        document = b""


def decoded(encoding: Encoding, ids: Sequence[int], name: str) -> bytes:
    """Returns the bytes of ids; `ValueError` names the file and the unknown id."""
    try:
        return encoding.decode_bytes(ids)
    except (OverflowError, UnknownTokenError) as error:
        wrong = next(int(token) for token in ids if not is_known(encoding, int(token)))
        raise ValueError(
            f"{input_name(name)}: {wrong} is no id of {encoding.name}, which has them from 0 to "
            f"{encoding.max_token_value}: name the encoding that they were made with by --encoding"
        ) from error


def is_known(encoding: Encoding, token: int) -> bool:
    """Returns whether there is a token with this id."""
    try:
        encoding.decode_single_token_bytes(token)
    except (OverflowError, UnknownTokenError):
        return False
    return True
