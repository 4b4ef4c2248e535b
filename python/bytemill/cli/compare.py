"""`bytemill compare`: how many bytes a token stands for, by file and encoding."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from bytemill.cli import encoding_of
from bytemill.cli.options import documents, files_argument, json_option, source_options, threads_option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["command"]

DEFAULT_ENCODINGS = ("gpt2", "cl100k_base", "o200k_base")


@click.command
@files_argument
@click.option(
    "-e",
    "--encoding",
    "specs",
    multiple=True,
    default=DEFAULT_ENCODINGS,
    metavar="ENCODING",
    help="Its name, or a file of it; once for each that is compared. If not given: "
    f"{', '.join(DEFAULT_ENCODINGS)}.",
)
@click.option("--chart", metavar="FILE", help="Also draw a chart, as a PNG file.")
@source_options
@threads_option
@json_option
def command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    specs: Sequence[str],
    chart: str | None,
    field: str | None,
    lines: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Compare how many bytes a token of several encodings stands for.

    The more, the fewer tokens the same text takes. Each file has a row; special tokens in it are ordinary
    text.
    """
    from bytemill import looking

    texts = {name: documents([name], field=field, lines=lines) for name in files}
    comparison = looking.compare({spec: encoding_of(spec) for spec in specs}, texts, num_threads=threads)
    click.echo(json.dumps(comparison.to_dict()) if as_json else str(comparison))
    if chart is not None:
        comparison.write_chart(chart)
