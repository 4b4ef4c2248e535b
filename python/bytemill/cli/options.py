"""Options that commands have in common, and the documents that their arguments name (see `reading`)."""

from __future__ import annotations

import functools
import glob
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from bytemill._arguments import Reading, parse_bytes, parse_tokens
from bytemill._messages import printable
from bytemill.cli import did_you_mean, encoding_of
from bytemill.cli.reading import STANDARD_INPUT, documents, text_hint
from bytemill.io.uris import is_uri, without_scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bytemill.core import Encoding

    Callback: TypeAlias = Callable[[click.Context, click.Parameter, str | None], int | None]

__all__ = [
    "DEFAULT_ENCODING",
    "FOLDERS",
    "STANDARD_INPUT",
    "FileName",
    "byte_size",
    "chosen_encoding",
    "documents",
    "encoding_option",
    "encoding_specs",
    "expanded",
    "files_argument",
    "json_option",
    "output_option",
    "print_record",
    "source_options",
    "special_option",
    "special_rule",
    "threads_option",
    "token_count",
    "token_limit",
]

DEFAULT_ENCODING = "o200k_base"

NO_NAME = "expected the name of a file or folder, got ''"

# Where the context of a command keeps the folders among its arguments.
FOLDERS = "bytemill.folders"

# In a glob: any folders.
ANYWHERE = re.compile(r"(?<![^/])\*\*(?:/+|$)")


class FileName(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that names a file or a folder: not empty, as an unset variable is in a shell."""

    name = "text"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the name; fails if it is empty."""
        if not value:
            self.fail(NO_NAME, param, ctx)
        return str(value)


def encoding_specs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the arguments `encoding_spec` and `model`, which `chosen_encoding` takes."""
    for option in (
        click.option(
            "-m", "--model", metavar="MODEL", help="Use the encoding of this OpenAI model, such as gpt-4o."
        ),
        click.option(
            "-e",
            "--encoding",
            "encoding_spec",
            metavar="ENCODING",
            help=f"An encoding: a name, a file, or a model of the Hugging Face Hub "
            f"[default: {DEFAULT_ENCODING}].",
        ),
    ):
        function = option(function)
    return function


def encoding_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the argument `encoding`, an `Encoding`: `-e` names it or its file, `-m` a model."""

    @encoding_specs
    @functools.wraps(function)
    def with_encoding(*args: Any, encoding_spec: str | None, model: str | None, **options: Any) -> Any:  # noqa: ANN401
        return function(*args, encoding=chosen_encoding(encoding_spec, model), **options)

    return with_encoding


def chosen_encoding(spec: str | None, model: str | None) -> Encoding:
    """Returns the encoding that the two options name."""
    from bytemill.model import closest_models, encoding_for_model
    from bytemill.registry import list_encoding_names

    if model is None:
        return encoding_of(DEFAULT_ENCODING if spec is None else spec)
    if spec is not None:
        raise click.UsageError("--encoding and --model exclude each other")
    try:
        return encoding_for_model(model)
    except KeyError:
        if model in list_encoding_names():
            raise click.UsageError(f"{model!r} is an encoding, not a model: use -e {model}") from None
        raise click.UsageError(
            f"no encoding is known for the model {model!r}{did_you_mean(closest_models(model))}: "
            "name one with --encoding"
        ) from None


def expanded(context: click.Context, _: click.Parameter, names: Sequence[str]) -> tuple[str, ...]:
    """Expands globs that the shell did not, and folders to the files in them; not those of stores.

    The folders are then in `context.meta`, under the key `FOLDERS`.
    """
    files: list[str] = []
    for name in map(without_scheme, names):
        if not name:
            raise click.BadParameter(NO_NAME)
        if is_uri(name):
            files.append(name)
            continue
        # Not methods of `Path`, which raise for a text that is too long for a name.
        if os.path.isdir(name):  # noqa: PTH112
            context.meta.setdefault(FOLDERS, []).append(name)
            files.extend(as_file(str(path)) for path in files_of_folder(name))
            continue
        if not glob.has_magic(name) or os.path.exists(name):  # noqa: PTH110
            files.append(name)
            continue
        found = sorted(set(matches(name)))
        if not found:
            raise click.BadParameter(f"no file matches {name!r:.200}{text_hint(name)}")
        files.extend(as_file(path) for path in found if Path(path).is_file())
    return tuple(files)


def as_file(path: str) -> str:
    """Returns the path of a file that was found, which unlike an argument `-` is not standard input."""
    return f"{os.curdir}{os.sep}{path}" if path == STANDARD_INPUT else path


def matches(pattern: str) -> Iterator[str]:
    """Yields the paths that a glob matches; its `**` does not follow links to folders, which may go round."""
    anywhere = ANYWHERE.search(pattern)
    if anywhere is None:
        yield from glob.glob(pattern)  # noqa: PTH207 - of any folder
        return
    before, behind = pattern[: anywhere.start()], pattern[anywhere.end() :]
    for root in glob.glob(before) if before else [os.curdir]:  # noqa: PTH207 - as above
        for folder, folders, _ in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from matches(str(Path(glob.escape(folder), behind or "*")))


def files_of_folder(name: str) -> list[Path]:
    """Returns the files in a folder and below.

    Raises:
        BadParameter: There is none.
    """
    # Here: most commands are given files.
    from bytemill.documents.sources import files_in

    try:
        return files_in(name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


# The argument `files`, a tuple of strings that is never empty: the default is standard input.
files_argument = click.argument(
    "files",
    nargs=-1,
    metavar="[FILES|-]...",
    callback=lambda context, parameter, names: expanded(context, parameter, names) or (STANDARD_INPUT,),
)

# The argument `as_json`.
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

# The argument `threads`, `None` if not given.
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of threads [default: all processors].",
)

# The argument `special`.
special_option = click.option(
    "--special",
    type=click.Choice(["text", "allow", "error"]),
    default="text",
    show_default=True,
    help="How to handle special tokens in the input: as ordinary text, as tokens, or fail.",
)

# The argument `output`, `None` if not given.
output_option = click.option(
    "-o", "--output", type=FileName(), metavar="FILE", help="The output file [default: standard output]."
)


def special_rule(special: str) -> dict[str, Any]:
    """Returns the arguments of `Encoding.encode` for `--special`."""
    return {
        "allowed_special": "all" if special == "allow" else set(),
        "disallowed_special": "all" if special == "error" else (),
    }


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the argument `reading`, a `Reading`."""

    @click.option(
        "--field",
        "--column",
        "field",
        multiple=True,
        metavar="NAME",
        help="The field of JSON Lines, or column of Parquet, with the text [default: text]. Repeatable; the "
        "first field present is used. Implies JSON Lines for input other than Parquet.",
    )
    @click.option(
        "--lines", is_flag=True, help="Treat each line of a text, with its line break, as a document."
    )
    @click.option(
        "--errors",
        type=click.Choice(["strict", "replace"]),
        default="strict",
        show_default=True,
        help="How to handle invalid UTF-8: fail, or replace it with U+FFFD.",
    )
    @functools.wraps(function)
    def with_reading(
        *args: Any,  # noqa: ANN401
        field: tuple[str, ...],
        lines: bool,
        errors: Literal["strict", "replace"],
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if field and lines:
            raise click.UsageError("--lines is for text, and --field implies JSON Lines: give one of them")
        return function(*args, reading=Reading(field or None, lines, errors), **options)

    return with_reading


def print_record(record: Mapping[str, object], *, as_json: bool) -> None:
    """Prints the result of a command as JSON, or as a line for each entry."""
    if as_json:
        click.echo(json.dumps(record))
        return
    width = max(map(len, record))
    for key, value in record.items():
        click.echo(f"{key.replace('_', ' '):<{width}}  {printable(shown(value))}")


def shown(value: object) -> str:
    """Returns a value in readable form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return str(value)


# Numbers with units in options, as their callbacks.
#
# K, M, G and T are powers of 1,000 for numbers of tokens, as in "100M tokens", and powers of 1,024 for
# bytes of memory, as in "2G of memory"; the help of an option says which it takes.

NO_LIMIT = "none"


def size_of(parse: Callable[[str], int], least: int = 0, *, may_be_none: bool = False) -> Callback:
    """Returns the callback of an option that is a number with an optional unit, `None` if not given.

    Args:
        parse: Parses the text; raises `ValueError` if it is not such a number.
        least: The least number.
        may_be_none: Whether it may be "none" for no limit, which is `None`.
    """

    def callback(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
        if value is None or (may_be_none and value == NO_LIMIT):
            return None
        try:
            number = parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
        if number < least:
            raise click.BadParameter(
                f"expected {least} or more{', or none' if may_be_none else ''}, got {value}"
            )
        return number

    return callback


def token_count(least: int = 0) -> Callback:
    """Returns the callback of an option that is a number of tokens such as 32k."""
    return size_of(parse_tokens, least)


def token_limit() -> Callback:
    """Returns the callback of an option that is a number of tokens, or "none" for no limit."""
    return size_of(parse_tokens, least=1, may_be_none=True)


def byte_size() -> Callback:
    """Returns the callback of an option that is a number of bytes such as 2G."""
    return size_of(parse_bytes)
