"""`bytemill inspect`: a vocabulary, one of its tokens, or the tokens of a text."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import IO, TYPE_CHECKING, Any, Protocol, TextIO

import click

from bytemill.cli import complain
from bytemill.cli.ids import TokenId
from bytemill.cli.options import (
    STANDARD_INPUT,
    FileName,
    chosen_encoding,
    documents,
    json_option,
    output_option,
    source_options,
    special_option,
    special_rule,
)
from bytemill.cli.output import output_file
from bytemill.cli.reading import Reading, input_name, named_special

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytemill.core import Encoding

__all__ = ["command"]


class Printable(Protocol):
    """A view or a report that can be printed as text or as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON-compatible values."""


@click.command(short_help="Show a text as its tokens, or what a vocabulary holds.")
@click.argument("arguments", nargs=-1, metavar="[ENCODING] [TEXT]")
@click.option("-e", "--encoding", "encoding_spec", metavar="ENCODING", help="An encoding: a name or a file.")
@click.option("-m", "--model", metavar="MODEL", help="Take the encoding of this model, such as gpt-4o.")
@click.option("--file", type=FileName(), metavar="FILE", help="Show the text in a file; - is standard input.")
@click.option("--id", "token_id", type=TokenId(), metavar="N", help="Show the token with this id.")
@click.option("--html", type=FileName(), metavar="FILE", help="Write the tokens of TEXT as a page to FILE.")
@click.option("--merges", is_flag=True, help="Show how the pieces of TEXT merge, rather than its tokens.")
@click.option("--ids/--no-ids", default=True, show_default=True, help="Whether ids stand below the tokens.")
@click.option(
    "--colour",
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether colours tell tokens apart; auto is on terminals, unless NO_COLOR is set.",
)
@special_option
@output_option
@source_options
@json_option
def command(  # noqa: PLR0913 - the options of the command
    *,
    arguments: Sequence[str],
    encoding_spec: str | None,
    model: str | None,
    file: str | None,
    token_id: int | None,
    html: str | None,
    merges: bool,
    ids: bool,
    colour: str,
    special: str,
    output: str | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Show a text as its tokens, or without a text what the vocabulary holds.

    ENCODING is the name of an encoding or of a model, or a file of an encoding, unless -e or -m names it;
    TEXT may be - for standard input. Of several documents each is shown. Blanks can be seen: a space is a
    dot, a line break and a tab are arrows. Bytes that are only a part of a character stand in angle quotes.
    """
    # Here: it takes longer to import than the help of all commands.
    from bytemill import inspection

    spec, text = divided(arguments, encoding_spec, model)
    if text == STANDARD_INPUT and file is None:
        text, file = None, STANDARD_INPUT
    is_text = text is not None or file is not None
    refuse(
        (text is not None and file is not None, "TEXT and --file exclude each other"),
        (is_text and token_id is not None, "TEXT and --id exclude each other"),
        (
            not is_text and (html is not None or merges),
            "--html and --merges show a text: give TEXT, --file, or - for standard input",
        ),
        (
            merges and (html is not None or special != "text"),
            "--merges excludes --html, and takes special tokens for ordinary text",
        ),
        (html is not None and output is not None, "--html and --output exclude each other"),
        (
            file is None and reading != Reading(),
            "--field, --lines and --errors are for --file and standard input",
        ),
    )
    encoding = chosen_encoding(spec, model)
    if text is not None:
        note_file_name(text)
    texts = texts_of(text, file, reading)
    where = "TEXT" if file is None else input_name(file)
    if html is not None:
        with named_special(where):
            write_page(encoding, list(texts), html, special)
        return
    with output_file(output) as target:
        writer = Writer(target, sys.stdout if output is None else None, as_json=as_json, colour=colour)
        if token_id is not None:
            writer.write(inspection.report_token(encoding, token_id))
        elif not is_text:
            writer.write(inspection.report(encoding))
        for each in texts:
            if merges:
                merge_view = inspection.show_merges(encoding, each)
                writer.write(merge_view, merge_view.terminal(colour=writer.coloured))
            else:
                with named_special(where):
                    view = inspection.show(encoding, each, **special_rule(special))
                rendered = view.terminal(colour=writer.coloured, ids=ids, width=writer.width)
                writer.write(view, rendered)


def divided(arguments: Sequence[str], spec: str | None, model: str | None) -> tuple[str | None, str | None]:
    """Returns the name of the encoding, `None` if a model is named, and the text, `None` if there is none."""
    rest = list(arguments)
    if spec is None and model is None:
        if not rest:
            raise click.UsageError("name an encoding, as the first argument or with -e")
        spec = rest.pop(0)
    if len(rest) > 1:
        named = "-e or -m names the encoding already; " if len(rest) == len(arguments) else ""
        raise click.UsageError(f"expected one TEXT, got {len(rest)}: {named}quote a text with spaces")
    return spec, rest[0] if rest else None


def note_file_name(text: str) -> None:
    """Prints a note if a text is the name of a file, which may have been meant."""
    if text and "\0" not in text and os.path.isfile(text):  # noqa: PTH113 - any string
        complain(
            f"the text is the name of a file: --file {shlex.quote(text)} shows the contents", kind="note"
        )


def refuse(*mistakes: tuple[bool, str]) -> None:
    """Raises `UsageError` with the message of the first mistake that was made."""
    for is_made, message in mistakes:
        if is_made:
            raise click.UsageError(message)


def texts_of(text: str | None, file: str | None, reading: Reading) -> Iterator[str]:
    """Yields the documents to show.

    A file that cannot hold several is one, even if it is empty.
    """
    if text is not None:
        yield text
    elif file is not None:
        found = documents([file], reading)
        if reading.field is not None or reading.lines:
            yield from found
        else:
            yield next(found, "")
            yield from found


def write_page(encoding: Encoding, texts: Sequence[str], path: str, special: str) -> None:
    """Writes the page of the one text."""
    if len(texts) != 1:
        raise click.UsageError(f"--html shows one document, got {len(texts)}")
    from bytemill.inspection import show

    show(encoding, texts[0], **special_rule(special)).write_page(path)


class Writer:
    """Writes views and reports, to a terminal or to a file."""

    def __init__(self, target: IO[bytes], terminal: TextIO | None, *, as_json: bool, colour: str) -> None:
        """Takes where to write.

        Args:
            target: The file or standard output.
            terminal: Standard output, `None` for a file.
            as_json: Whether to write JSON, a line for each.
            colour: As `--colour`.
        """
        from bytemill.inspection.terminal import supports_colour, terminal_width

        self._target = target if terminal is None else None
        self._charset = "utf-8" if terminal is None else terminal.encoding
        self._as_json = as_json
        self._is_first = True
        automatic = terminal is not None and supports_colour(terminal)
        self.coloured = automatic if colour == "auto" else colour == "always"
        self.width = None if terminal is None else terminal_width(terminal)

    def write(self, result: Printable, text: str | None = None) -> None:
        """Writes a view or a report as JSON, or as `text` if given, or as its `str`."""
        output = json.dumps(result.to_dict()) if self._as_json else str(result) if text is None else text
        gap = "" if self._is_first or self._as_json else "\n"
        self._is_first = False
        # Escape characters that the charset lacks.
        encoded = f"{gap}{output}".encode(self._charset, "backslashreplace")
        if self._target is None:
            # `color=True`: `--colour always` holds in a pipe too, where click would strip colours.
            click.echo(encoded.decode(self._charset), color=True)
        else:
            self._target.write(encoded + b"\n")
