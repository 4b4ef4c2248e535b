"""`bytemill truncate`: at most N tokens of a text."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

import click

from bytemill.cli.options import (
    encoding_option,
    files_argument,
    json_option,
    output_option,
    source_options,
)
from bytemill.cli.output import output_file
from bytemill.cli.reading import Meter, documents
from bytemill.cli.sizes import token_count
from bytemill.formats.json_text import json_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.cli.reading import Reading
    from bytemill.core import Encoding

# The exit code of --signal.
CUT = 3


@click.command
@files_argument
@click.option(
    "-n",
    "-t",
    "--tokens",
    callback=token_count(),
    required=True,
    metavar="N",
    help="The maximum number of tokens.",
)
@click.option(
    "--side",
    type=click.Choice(["right", "left"]),
    default="right",
    show_default=True,
    help="Which end to drop.",
)
@click.option("--signal", is_flag=True, help="Exit with 3 if the text was cut.")
@encoding_option
@output_option
@source_options
@json_option
@click.pass_context
def command(  # noqa: PLR0913 - its options
    context: click.Context,
    *,
    files: Sequence[str],
    tokens: int,
    side: Literal["right", "left"],
    signal: bool,
    encoding: Encoding,
    output: str | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Cut a text to at most N tokens.

    Cuts between characters. Several documents need --json, which prints a line for each: an object with the
    fields text, tokens and truncated.
    """
    any_cut = False
    with Meter(files, prints=output is None) as meter, output_file(output) as file:
        texts = documents(files, reading, meter=meter)
        if not as_json:
            # An error comes before any output.
            first = list(islice(texts, 2))
            if len(first) > 1:
                raise click.UsageError("there are several documents: --json prints each as a line of its own")
            texts = iter(first)
        for text in texts:
            kept, count, is_cut = encoding.truncate(text, tokens, side=side)
            any_cut |= is_cut
            record = {"text": kept, "tokens": count, "truncated": is_cut}
            file.write(json_bytes(record) + b"\n" if as_json else kept.encode())
    if signal and any_cut:
        context.exit(CUT)
