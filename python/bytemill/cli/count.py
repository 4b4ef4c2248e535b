"""`bytemill count`: how many tokens texts have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bytemill.cli.options import documents, encoding_option, files_argument, source_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.core import Encoding


@click.command
@files_argument
@encoding_option
@source_options
def command(files: Sequence[str], *, encoding: Encoding, field: str | None, lines: bool) -> None:
    """Count the tokens of files or of standard input."""
    click.echo(sum(encoding.count(text) for text in documents(files, field=field, lines=lines)))
