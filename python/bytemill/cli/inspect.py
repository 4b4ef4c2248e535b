"""`bytemill inspect`: a vocabulary, one of its tokens, or the tokens of a text."""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TextIO

import click

from bytemill._messages import closest
from bytemill.cli import NO, UnknownNameError, complain, did_you_mean, encoding_of, given_options
from bytemill.cli.id_files import TokenId, TokenIds
from bytemill.cli.options import (
    DEFAULT_ENCODING,
    STANDARD_INPUT,
    FileName,
    chosen_encoding,
    documents,
    encoding_specs,
    expanded,
    json_option,
    output_option,
    source_options,
    special_option,
    special_rule,
    threads_option,
)
from bytemill.cli.output import output_file, prints_result
from bytemill.cli.reading import input_name, named_special
from bytemill.documents.sources import Reading, is_name
from bytemill.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING, closest_models
from bytemill.registry import list_encoding_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytemill.core import Encoding

__all__ = ["compare_command", "inspect_command", "list_command"]


# Arguments that may be given together with --lint.
WITH_LINT = {"is_linted", "as_json", "colour"}


class Printable(Protocol):
    """A view or a report that can be printed as text or as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON-compatible values."""


@click.command(short_help="Show the tokens of a text, or describe a vocabulary.")
@click.argument("arguments", nargs=-1, metavar="[ENCODING] [TEXT]")
@encoding_specs
@click.option(
    "--file", type=FileName(), metavar="FILE", help="Show the text of a file; - reads standard input."
)
@click.option(
    "--lint",
    "is_linted",
    is_flag=True,
    help="Look for faults of a tokenizer file that loading it does not show; exit with 1 if there are any.",
)
@click.option("--id", "token_id", type=TokenId(), metavar="N", help="Describe the token with this ID.")
@click.option(
    "--ids",
    "id_range",
    type=TokenIds(),
    metavar="M-N",
    help="List the tokens with these IDs: ID, text, bytes.",
)
@click.option(
    "--html", type=FileName(), metavar="FILE", help="Write the tokens of TEXT to FILE as a web page."
)
@click.option("--merges", is_flag=True, help="Show the merge steps of each piece of TEXT.")
@click.option("--no-ids", is_flag=True, help="Leave out the IDs below the tokens.")
@click.option(
    "--color",
    "--colour",
    "colour",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether to color tokens; auto: on terminals, unless NO_COLOR is set.",
)
@special_option
@output_option
@source_options
@json_option
@click.pass_context
def inspect_command(  # noqa: C901, PLR0912, PLR0913 - the options of the command
    context: click.Context,
    *,
    arguments: Sequence[str],
    encoding_spec: str | None,
    model: str | None,
    file: str | None,
    is_linted: bool,
    token_id: int | None,
    id_range: tuple[int, int] | None,
    html: str | None,
    merges: bool,
    no_ids: bool,
    colour: str,
    special: str,
    output: str | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Show the tokens of a text, or describe a vocabulary.

    ENCODING is an encoding, a model or a file; leave it out if -e or -m names it. A TEXT alone is shown in
    o200k_base; - reads standard input. Spaces are shown as dots, line breaks and tabs as arrows, and bytes
    that are only part of a character in angle quotes.
    """
    # Here: it takes longer to import than the help of all commands.
    from bytemill import inspection

    if is_linted:
        if len(arguments) != 1 or encoding_spec is not None or model is not None:
            raise click.UsageError("--lint takes one file or folder: bytemill inspect --lint tokenizer.json")
        for name, option in given_options(context).items():
            if name not in WITH_LINT:
                raise click.UsageError(f"--lint and {option} exclude each other: findings are printed only")
        findings = inspection.lint(arguments[0])
        if as_json:
            click.echo(json.dumps([finding._asdict() for finding in findings]))
        else:
            click.echo("\n".join(f"{kind}: {message}" for kind, message, _ in findings) or "no findings")
        context.exit(NO if findings else 0)
    by_id = token_id is not None or id_range is not None or file is not None
    encoding, text = divided(arguments, encoding_spec, model, is_complete=by_id)
    if text == STANDARD_INPUT and file is None:
        text, file = None, STANDARD_INPUT
    is_text = text is not None or file is not None
    refuse(
        (text is not None and file is not None, "TEXT and --file exclude each other"),
        (token_id is not None and id_range is not None, "--id and --ids exclude each other"),
        (is_text and token_id is not None, "TEXT and --id exclude each other"),
        (is_text and id_range is not None, "TEXT and --ids exclude each other; --no-ids leaves IDs out"),
        (
            not is_text and (html is not None or merges),
            "--html and --merges show a text: give TEXT, --file, or - for standard input",
        ),
        (
            merges and (html is not None or special != "text"),
            "--merges excludes --html, and takes special tokens for ordinary text",
        ),
        (html is not None and output is not None, "--html and --output exclude each other"),
        (html is not None and as_json, "--html and --json exclude each other"),
        (
            file is None and reading != Reading(),
            "--field, --lines and --errors are for --file and standard input",
        ),
    )
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
        elif id_range is not None:
            writer.write(inspection.list_tokens(encoding, *id_range))
        elif not is_text:
            writer.write(inspection.report(encoding))
        for each in texts:
            if merges:
                merge_view = inspection.show_merges(encoding, each)
                writer.write(merge_view, merge_view.terminal(colour=writer.coloured))
            else:
                with named_special(where):
                    view = inspection.show(encoding, each, **special_rule(special))
                rendered = view.terminal(colour=writer.coloured, ids=not no_ids, width=writer.width)
                writer.write(view, rendered)


def divided(
    arguments: Sequence[str], spec: str | None, model: str | None, *, is_complete: bool
) -> tuple[Encoding, str | None]:
    """Returns the encoding that the arguments and options name, and the text, `None` if there is none.

    Args:
        arguments: The arguments: an encoding unless an option names it, and a text. One argument alone that
            is neither like a name nor like a file is a text.
        spec: The option `--encoding`.
        model: The option `--model`.
        is_complete: Whether other options say what to show, so that arguments may be left out.

    Raises:
        UsageError: There are too few or too many arguments.
        Exception: As `chosen_encoding`.
    """
    if spec is not None or model is not None:
        if len(arguments) > 1:
            raise click.UsageError(
                f"expected one TEXT, got {len(arguments)}: -e or -m names the encoding already; quote a text "
                "with spaces"
            )
        return chosen_encoding(spec, model), arguments[0] if arguments else None
    if not arguments and not is_complete:
        raise click.UsageError('name an encoding or give a text, as in: bytemill inspect "hello world"')
    if not arguments or arguments == (STANDARD_INPUT,):
        return chosen_encoding(None, None), arguments[0] if arguments else None
    first, *rest = arguments
    if len(rest) > 1:
        raise click.UsageError(f"expected one TEXT, got {len(rest)}: quote a text with spaces")
    try:
        return encoding_of(first), rest[0] if rest else None
    except UnknownNameError as error:
        if rest or error.is_like_name or is_name(first):
            shown = shlex.quote(" ".join(arguments))
            raise ValueError(
                f"{error}; to show a text: bytemill inspect -e {DEFAULT_ENCODING} {shown}"
            ) from None
        return chosen_encoding(None, None), first
    except ValueError as error:
        if not is_name(first):
            raise
        raise ValueError(f"{error}; to show its text: bytemill inspect --file {shlex.quote(first)}") from None


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


# `bytemill compare`: bytes per token, by file and encoding.

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
def compare_command(  # noqa: PLR0913 - its options
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
    from bytemill.inspection.comparison import check_target

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
    # Here and below not methods of `Path`, which raise for a text that is too long for a name.
    if name == STANDARD_INPUT or os.path.exists(name):  # noqa: PTH110
        return
    shown = f"{name:.200}"
    if {"/", os.sep} & {*name} or Path(name).suffix:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown)
    near = closest(name, list_encoding_names()) or closest_models(name)
    raise FileNotFoundError(errno.ENOENT, f"neither an encoding nor a file{did_you_mean(near)}", shown)


def is_encoding_folder(name: str) -> bool:
    """Returns whether this is a folder with a file that has the usual name of an encoding's."""
    from bytemill.io.reading import USUAL_NAMES

    return os.path.isdir(name) and any((Path(name) / usual).is_file() for usual in USUAL_NAMES)  # noqa: PTH112


def is_encoding(argument: str) -> bool:
    """Returns whether an argument is an encoding rather than a text file."""
    from bytemill.io.reading import USUAL_NAMES

    path = Path(argument)
    if argument == STANDARD_INPUT or os.path.exists(argument):  # noqa: PTH110
        return path.is_dir() or path.suffix.lower() in ENCODING_SUFFIXES or path.name in USUAL_NAMES
    try:
        encoding_of(argument)
    except (ValueError, OSError):
        return False
    return True


# `bytemill list`: the names of encodings and models.


@click.command
@click.argument("what", type=click.Choice(["encodings", "models"]), required=False)
@json_option
@prints_result
def list_command(*, what: str | None, as_json: bool) -> None:
    """List the names of encodings, and of the models that use them.

    A name that ends in * stands for all models whose names begin with it.
    """
    names = list_encoding_names()
    families = {f"{prefix}*": encoding for prefix, encoding in MODEL_PREFIX_TO_ENCODING.items()}
    models = MODEL_TO_ENCODING | families
    if as_json:
        record = {"encodings": names, "models": models}
        click.echo(json.dumps(record if what is None else record[what]))
    elif what == "encodings":
        click.echo("\n".join(names))
    elif what == "models":
        width = max(map(len, models))
        click.echo("\n".join(f"{model:<{width}}  {encoding}" for model, encoding in models.items()))
    else:
        width = max(map(len, names))
        for name in names:
            used = [model for model, encoding in models.items() if encoding == name]
            click.echo(f"{name:<{width}}  {', '.join(used)}".rstrip())
