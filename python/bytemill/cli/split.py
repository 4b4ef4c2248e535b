"""`bytemill split`: texts in parts of at most N tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bytemill.cli.options import encoding_option, files_argument, output_option, source_options
from bytemill.cli.output import output_file
from bytemill.cli.reading import STANDARD_INPUT, Meter, documents
from bytemill.cli.sizes import token_count
from bytemill.formats.json_text import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytemill.cli.reading import Reading
    from bytemill.core import Encoding


@click.command
@files_argument
@click.option(
    "-n",
    "-t",
    "--tokens",
    callback=token_count(least=1),
    required=True,
    metavar="N",
    help="How many at most.",
)
@click.option(
    "--overlap",
    callback=token_count(),
    default="0",
    show_default=True,
    metavar="N",
    help="With how many tokens of the part before it a part begins.",
)
@click.option(
    "--folder",
    metavar="FOLDER",
    help="Write each part to a file there, called NAME.0001.txt and so on, instead of JSON lines.",
)
@encoding_option
@output_option
@source_options
def command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    tokens: int,
    overlap: int,
    folder: str | None,
    encoding: Encoding,
    output: str | None,
    reading: Reading,
) -> None:
    """Split texts into parts of at most N tokens.

    Without overlap the parts joined are the text. Each is a line of JSON, an object with the fields file,
    document, part, tokens and text; or with --folder a file.
    """
    if folder is not None and output is not None:
        raise click.UsageError("--folder and --output exclude each other")
    with Meter(files, prints=folder is None and output is None) as meter:
        parts = parts_of(files, encoding, tokens, overlap, reading, meter)
        if folder is None:
            write_lines(output, encoding, parts)
        else:
            write_files(Path(folder), parts)


def parts_of(  # noqa: PLR0913, PLR0917 - of the command
    files: Sequence[str],
    encoding: Encoding,
    tokens: int,
    overlap: int,
    reading: Reading,
    meter: Meter,
) -> Iterator[tuple[str, int, int, str]]:
    """Yields file name, number of the document, number of the part and text; numbers start at 1."""
    for name in files:
        texts = documents([name], reading, meter=meter)
        for document, text in enumerate(texts, start=1):
            for part, piece in enumerate(encoding.split(text, tokens, overlap=overlap), start=1):
                yield name, document, part, piece


def write_lines(output: str | None, encoding: Encoding, parts: Iterator[tuple[str, int, int, str]]) -> None:
    """Writes each part as a line of JSON."""
    with output_file(output) as file:
        for name, document, part, text in parts:
            record = {
                "file": name,
                "document": document,
                "part": part,
                "tokens": encoding.count(text),
                "text": text,
            }
            file.write(json_bytes(record) + b"\n")


def write_files(folder: Path, parts: Iterator[tuple[str, int, int, str]]) -> None:
    """Writes each part to a file of its own, numbered through for each name."""
    from bytemill.io.atomic import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, int] = {}
    for name, _, _, text in parts:
        stem = "stdin" if name == STANDARD_INPUT else Path(name).name.partition(".")[0]
        written[stem] = written.get(stem, 0) + 1
        write_atomically(folder / f"{stem}.{written[stem]:04}.txt", text.encode())
