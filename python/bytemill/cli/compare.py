"""`bytemill compare`: bytes per token, by file and encoding."""

from __future__ import annotations

import errno
import json
import os
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bytemill._suggestions import closest
from bytemill.cli import did_you_mean, encoding_of
from bytemill.cli.options import (
    STANDARD_INPUT,
    FileName,
    documents,
    expanded,
    json_option,
    source_options,
    threads_option,
)
from bytemill.cli.streams import prints_result
from bytemill.model import closest_models
from bytemill.registry import list_encoding_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.cli.reading import Reading

__all__ = ["command"]

DEFAULT_ENCODINGS = ("gpt2", "cl100k_base", "o200k_base")

# Suffixes of encoding files, which are never text files.
ENCODING_SUFFIXES = frozenset({".bytemill", ".model", ".tiktoken"})


def expanded_texts(
    context: click.Context, parameter: click.Parameter, names: Sequence[str]
) -> tuple[str, ...]:
    """Expands globs and folders, but no folder of an encoding."""
    files: list[str] = []
    for name in names:
        files.extend([name] if is_encoding_folder(name) else expanded(context, parameter, [name]))
    return tuple(files)


@click.command
@click.argument("arguments", nargs=-1, metavar="[ENCODING]... [FILES|-]...", callback=expanded_texts)
@click.option(
    "-e",
    "--encoding",
    "specs",
    multiple=True,
    metavar="ENCODING",
    help=f"An encoding to compare: a name or a file. Repeatable [default: {', '.join(DEFAULT_ENCODINGS)}].",
)
@click.option("--chart", type=FileName(), metavar="FILE", help="Also write a chart as a PNG file.")
@source_options
@threads_option
@json_option
@prints_result
def command(  # noqa: PLR0913 - its options
    *,
    arguments: Sequence[str],
    specs: Sequence[str],
    chart: str | None,
    reading: Reading,
    threads: int | None,
    as_json: bool,
) -> None:
    """Compare compression: bytes per token for several encodings.

    Higher is better: the same text takes fewer tokens. The first arguments may be encodings, as with
    --encoding, up to the first text file. Each file has a row; special tokens in it are ordinary text.
    """
    from bytemill import inspection
    from bytemill.inspection.chart import check_target

    if chart is not None:
        # Before the long work.
        check_target(chart)
    leading = list(takewhile(is_encoding, arguments))
    files = arguments[len(leading) :] or (STANDARD_INPUT,)
    specs = [*specs, *leading] or DEFAULT_ENCODINGS
    for name in files:
        check_file(name)
    texts = {name: documents([name], reading) for name in files}
    comparison = inspection.compare({spec: encoding_of(spec) for spec in specs}, texts, num_threads=threads)
    click.echo(json.dumps(comparison.to_dict()) if as_json else str(comparison))
    if chart is not None:
        comparison.write_chart(chart)


def check_file(name: str) -> None:
    """Raises `FileNotFoundError` if there is no such file; it may have been meant as an encoding."""
    if name == STANDARD_INPUT or Path(name).exists():
        return
    if {"/", os.sep} & {*name} or Path(name).suffix:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    near = closest(name, list_encoding_names()) or closest_models(name)
    raise FileNotFoundError(errno.ENOENT, f"neither an encoding nor a file{did_you_mean(near)}", name)


def is_encoding_folder(name: str) -> bool:
    """Returns whether this is a folder with a file that has the usual name of an encoding's."""
    from bytemill.io.reading import USUAL_NAMES

    return Path(name).is_dir() and any((Path(name) / usual).is_file() for usual in USUAL_NAMES)


def is_encoding(argument: str) -> bool:
    """Returns whether an argument is an encoding rather than a text file."""
    from bytemill.io.reading import USUAL_NAMES

    path = Path(argument)
    if path.exists() or argument == STANDARD_INPUT:
        return path.is_dir() or path.suffix.lower() in ENCODING_SUFFIXES or path.name in USUAL_NAMES
    try:
        encoding_of(argument)
    except (ValueError, OSError):
        return False
    return True
