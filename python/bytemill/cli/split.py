"""`bytemill split`: texts in parts of at most N tokens."""

from __future__ import annotations

import errno
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from bytemill.cli.options import (
    FileName,
    encoding_option,
    files_argument,
    json_option,
    output_option,
    source_options,
    token_count,
)
from bytemill.cli.output import output_file
from bytemill.cli.reading import STANDARD_INPUT, Meter, documents
from bytemill.documents.sources import COMPRESSIONS
from bytemill.formats.json_file import json_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading

# The name of a part: the stem of its file, and its number.
PART = re.compile(r"(.+)\.[0-9]{4,}\.txt", re.DOTALL)


@click.command
@files_argument
@click.option(
    "-n",
    "-t",
    "--tokens",
    callback=token_count(least=1),
    required=True,
    metavar="N",
    help="The maximum number of tokens of a part.",
)
@click.option(
    "--overlap",
    callback=token_count(),
    default="0",
    show_default=True,
    metavar="N",
    help="Tokens repeated from the end of the previous part.",
)
@click.option(
    "--separator",
    "separators",
    multiple=True,
    metavar="TEXT",
    help=r"End parts after TEXT if possible. Repeatable, in order of preference; \n and \t are escapes.",
)
@click.option(
    "--folder",
    type=FileName(),
    metavar="FOLDER",
    help="Write each part to a file in FOLDER instead of JSON Lines: NAME.0001.txt and so on.",
)
@encoding_option
@output_option
@source_options
def split_command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    tokens: int,
    overlap: int,
    separators: Sequence[str],
    folder: str | None,
    encoding: Encoding,
    output: str | None,
    reading: Reading,
) -> None:
    """Split texts into parts of at most N tokens.

    Prints a line of JSON for each part: an object with the fields file, document, part, start, end, tokens
    and text; start and end are indices of characters in the document. Without --overlap the parts joined are
    the text.
    """
    if folder is not None and output is not None:
        raise click.UsageError("--folder and --output exclude each other")
    stems = {} if folder is None else stems_in(Path(folder), files)
    ends = [unescaped(separator) for separator in separators]
    if "" in ends:
        raise click.UsageError("--separator must not be empty")

    def split(text: str) -> list[tuple[int, int]]:
        return encoding.split_spans(text, tokens, overlap=overlap, separators=ends)

    with Meter(files, prints=folder is None and output is None) as meter:
        parts = parts_of(files, split, reading, meter)
        if folder is None:
            write_lines(output, encoding, parts)
        else:
            write_files(Path(folder), stems, parts)


def unescaped(text: str) -> str:
    r"""Returns a text with line breaks for `\n`, tabs for `\t` and backslashes for `\\`."""
    characters = {"n": "\n", "t": "\t", "\\": "\\"}
    return re.sub(r"\\([nt\\])", lambda match: characters[match[1]], text)


class Part(NamedTuple):
    """A part of a document.

    Attributes:
        file: The name of the file.
        document: The number of the document in it, from 1.
        part: The number of the part in the document, from 1.
        start: The index of the first character of the part in the document.
        end: The index after the last one.
        text: The part.
    """

    file: str
    document: int
    part: int
    start: int
    end: int
    text: str


def parts_of(
    files: Sequence[str], split: Callable[[str], list[tuple[int, int]]], reading: Reading, meter: Meter
) -> Iterator[Part]:
    """Yields the parts of all documents in the files."""
    for name in files:
        texts = documents([name], reading, meter=meter)
        for document, text in enumerate(texts, start=1):
            for part, (start, end) in enumerate(split(text), start=1):
                yield Part(name, document, part, start, end, text[start:end])


def write_lines(output: str | None, encoding: Encoding, parts: Iterator[Part]) -> None:
    """Writes each part as a line of JSON."""
    with output_file(output) as file:
        for part in parts:
            fields = part._asdict()
            text = fields.pop("text")
            file.write(json_bytes({**fields, "tokens": encoding.count(text), "text": text}) + b"\n")


def stems_in(folder: Path, files: Sequence[str]) -> dict[str, str]:
    """Returns what the names of the parts of each file begin with: its name without suffix.

    Raises:
        UsageError: Two files have the same, so that their parts could not be told apart.
        FileExistsError: The folder has such parts already, some of which might stay among the new ones.
        OSError: The folder cannot be written to.
    """
    from bytemill.io.atomic import check_folder

    check_folder(folder)
    stems: dict[str, str] = {}
    for name in files:
        stem = stem_of(name)
        other = stems.setdefault(stem, name)
        if other != name or files.count(name) > 1:
            raise click.UsageError(
                f"the parts of {other!r} and of {name!r} would both be called {stem}.0001.txt and so on: "
                "split them into two folders"
            )
    parts = filter(None, (PART.fullmatch(path.name) for path in folder.glob("*.txt")))
    found = min((part.string for part in parts if part[1] in stems), default=None)
    if found is not None:
        raise FileExistsError(
            errno.EEXIST,
            "the folder has parts with this name already: remove them, or name another folder",
            str(folder / found),
        )
    return {name: stem for stem, name in stems.items()}


def stem_of(name: str) -> str:
    """Returns the name of a file without its suffix, which may have another for compression behind it."""
    path = Path("stdin" if name == STANDARD_INPUT else name)
    return (path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path).stem


def write_files(folder: Path, stems: Mapping[str, str], parts: Iterator[Part]) -> None:
    """Writes each part to a file of its own, numbered through for each file that is split."""
    from bytemill.io.atomic import write_atomically

    written = dict.fromkeys(stems, 0)
    for part in parts:
        # Not before something can be read.
        folder.mkdir(parents=True, exist_ok=True)
        written[part.file] += 1
        write_atomically(folder / f"{stems[part.file]}.{written[part.file]:04}.txt", part.text.encode())


# `bytemill truncate`: at most N tokens of a text.

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
def truncate_command(  # noqa: PLR0913 - its options
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
