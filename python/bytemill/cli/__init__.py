"""The command `bytemill`: one module per subcommand, imported when the subcommand is called.

Exit codes: 0 for success, 1 for a negative answer, 2 for wrong usage, unreadable input and any other failure,
130 after Ctrl-C, 141 for a broken pipe. Messages go to stderr, results to stdout or to files that are written
atomically.

A subcommand is the `click.Command` `NAME_command` in the module of its name (see `MODULES`). It reports a
negative answer by `context.exit(NO)` and lets the exceptions of the library propagate: `Commands` turns them
into messages.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from importlib import import_module
from pathlib import Path
from string import whitespace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bytemill._messages import alternatives, closest, printable
from bytemill.cli.output import is_terminal, prepare
from bytemill.core import TIER, UNICODE_VERSION, Encoding, __version__
from bytemill.errors import JobError, UnknownTokenError
from bytemill.progress import show_line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "EXPECTED",
    "FAILURE",
    "NO",
    "Commands",
    "Group",
    "UnknownNameError",
    "complain",
    "did_you_mean",
    "encoding_of",
    "error_message",
    "is_path",
    "main",
]

NO = 1
FAILURE = 2
# 128 plus the signal number, as in shells.
INTERRUPTED = 130
BROKEN_PIPE = 141

# In the order of the help.
COMMANDS = (
    "count",
    "encode",
    "decode",
    "truncate",
    "split",
    "train",
    "shard",
    "job",
    "list",
    "inspect",
    "playground",
    "compare",
    "convert",
    "verify",
    "bench",
)

# The modules of the subcommands that share one; others have a module of their name.
MODULES = {"compare": "inspect", "decode": "encode", "list": "inspect", "truncate": "split"}

# What the library raises for wrong arguments and files.
EXPECTED = (ValueError, UnknownTokenError, OSError, ImportError, OverflowError, MemoryError, JobError)

# How most commands take an encoding or a model.
ENCODING_OPTIONS = ("-e", "--encoding", "-m", "--model")

# Arguments that begin so are paths, even with spaces.
PATH_STARTS = ("/", "./", "../", "~")


class UnknownNameError(ValueError):
    """An argument is not an encoding, a model or a file.

    Attributes:
        is_like_name: Whether it is similar to a known name.
    """

    def __init__(self, message: str, *, is_like_name: bool) -> None:
        """Takes the message and whether the argument is like a name."""
        super().__init__(message)
        self.is_like_name = is_like_name


class Group(click.Group):
    """A group of subcommands, whose help is the message where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Prints the help and fails if there are no arguments."""
        if not args:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(FAILURE)
        return super().parse_args(ctx, args)


class Commands(Group):
    """The group of all subcommands: imports them on demand and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Returns the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports a subcommand; `None` if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"{__name__}.{MODULES.get(cmd_name, cmd_name)}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: Any,  # noqa: ANN401 - click's signature
    ) -> Any:  # noqa: ANN401 - click's signature
        """Runs the command line; in standalone mode it exits with an exit code."""
        prepare()
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.Abort:
            # click has already ended the line that shows ^C.
            code = INTERRUPTED
        except click.ClickException as error:
            complain(error.format_message() + hint_of(error))
            if isinstance(error, click.UsageError) and error.ctx is not None:
                click.echo(f"{error.ctx.command_path} --help lists the options", err=True)
            code = FAILURE
        except BrokenPipeError:
            code = BROKEN_PIPE
            discard_output()
        except OSError as error:
            # Of the help or the version, which are printed before a subcommand runs.
            complain(error_message(error))
            discard_output()
            code = FAILURE
        except Exception:  # noqa: BLE001 - Python would exit with 1, which is NO
            sys.excepthook(*sys.exc_info())
            complain("this is a bug in bytemill: please report it with the lines above")
            code = FAILURE
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Runs a subcommand and prints the errors of the library."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = show_warning
                result = super().invoke(ctx)
            # Here, where a failure can still be reported.
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            discard_output()
            ctx.exit(BROKEN_PIPE)
        except EXPECTED as error:
            complain(error_message(error))
            ctx.exit(FAILURE)
        return result


def hint_of(error: click.ClickException) -> str:
    """Returns a hint for the option `-e` of a command that takes its encoding as an argument."""
    if isinstance(error, click.NoSuchOption) and error.option_name in ENCODING_OPTIONS and error.ctx:
        command = error.ctx.command
        if any(part.make_metavar(error.ctx) == "ENCODING" for part in command.params):
            return f" The encoding is an argument here: {error.ctx.command_path} ENCODING"
    return ""


def given_options(context: click.Context) -> dict[str, str]:
    """Returns the options that are on the command line, by the names of their arguments."""
    return {
        option.name: option.opts[0]
        for option in context.command.params
        if isinstance(option, click.Option)
        and option.name is not None
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    }


def discard_output() -> None:
    """Discards what standard output still holds, which Python would write at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def complain(message: str, kind: str = "error") -> None:
    """Prints a message to stderr."""
    if is_terminal(sys.stderr):
        # Overwrite a progress line.
        show_line("")
    # Names of files may control a terminal; errors of patterns have several lines.
    shown = "\n".join(map(printable, message.split("\n")))
    click.echo(f"bytemill: {kind}: {shown}", err=True)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:  # noqa: ANN401 - as `warnings.showwarning`
    """Prints a warning of the library to stderr."""
    complain(str(message), "warning")


def error_message(error: BaseException) -> str:
    """Returns the message of an error, in terms of the command line."""
    if isinstance(error, OSError) and error.strerror is not None:
        # Without a name it concerns a standard stream or a temporary file.
        return (
            error.strerror if error.filename is None else f"{os.fsdecode(error.filename)}: {error.strerror}"
        )
    if isinstance(error, UnicodeEncodeError):
        # An argument: texts that are read are UTF-8.
        return f"expected text in UTF-8, got {error.object!r:.80}"
    if isinstance(error, KeyError) and len(error.args) == 1:
        # `str` of a `KeyError` is the `repr` of its argument.
        return str(error.args[0])
    return str(error) or type(error).__name__


def version_message() -> str:
    """Returns the version, and what else distinguishes two installations."""
    unicode_version = ".".join(map(str, UNICODE_VERSION))
    return f"bytemill {__version__}, Unicode {unicode_version}, tier {TIER}"


def encoding_of(spec: str) -> Encoding:
    """Returns the encoding that an argument of the command line denotes.

    Args:
        spec: Name of an encoding, name of a model, or path of a file or folder that `Encoding.from_file`
            reads. An existing file takes precedence over a model family with that prefix; a file with the
            exact name of an encoding or a model needs a leading `./`.

    Raises:
        UnknownNameError: It is none of these.
        ValueError: The file does not contain an encoding.
        OSError: The file cannot be read.
    """
    from bytemill.io.uris import example_of
    from bytemill.model import MODEL_TO_ENCODING, closest_models, encoding_name_for_model
    from bytemill.registry import get_encoding

    if is_known(spec):
        return get_encoding(MODEL_TO_ENCODING.get(spec, spec))
    if is_path(spec):
        return encoding_in(Path(spec))
    try:
        return get_encoding(encoding_name_for_model(spec))
    except KeyError:
        # It may be the encoding of a plugin.
        pass
    from bytemill.registry import list_encoding_names

    names = list_encoding_names()
    if spec in names:
        return get_encoding(spec)
    near = closest(spec, names) or closest_models(spec)
    # A text may begin like a name.
    example = None if set(whitespace) & {*spec} else example_of(spec)
    hint = (
        ""
        if near or example is None
        else f"; for a model of the Hugging Face Hub, run `hf download {example} tokenizer.json` and name "
        f"{example}"
    )
    raise UnknownNameError(
        f"{spec!r:.200} is not an encoding, a model or a file{did_you_mean(near)}: expected one of "
        f"{', '.join(names)}, the name of a model such as gpt-4o, or a path{hint}",
        is_like_name=bool(near or example),
    )


def is_known(spec: str) -> bool:
    """Returns whether an argument is the exact name of an encoding or a model, which a file does not hide."""
    from bytemill.builtin import BUILTIN_ENCODINGS
    from bytemill.model import MODEL_TO_ENCODING

    return spec in BUILTIN_ENCODINGS or spec in MODEL_TO_ENCODING


def is_path(spec: str) -> bool:
    """Returns whether an argument is the path of an encoding, whether that exists or not."""
    from bytemill.io.uris import FILE_SUFFIXES

    # Not `Path.exists`, which raises for texts that are too long for a name.
    if spec and (os.path.exists(spec) or Path(spec).suffix.lower() in FILE_SUFFIXES):  # noqa: PTH110
        return True
    is_text = set(whitespace) & {*spec} and not spec.startswith(PATH_STARTS)
    return bool({"/", os.sep} & {*spec}) and not is_text


def did_you_mean(near: Sequence[str]) -> str:
    """Returns a question in parentheses, or nothing if there are no suggestions."""
    return f" (did you mean {alternatives(near)}?)" if near else ""


def encoding_in(path: Path) -> Encoding:
    """Reads the encoding in a file; errors as `encoding_of`."""
    from bytemill.io.reading import MissingPatternError

    try:
        return Encoding.from_file(path)
    except MissingPatternError:
        target = path.with_suffix(".bytemill").name
        raise ValueError(
            f"{path} has no pattern: bytemill convert {shlex.quote(str(path))} {shlex.quote(target)} "
            "--pattern NAME writes a file that does, where NAME is that of the encoding's pattern, such as "
            "cl100k, o200k, llama3 or qwen2; --special-token adds its special tokens"
        ) from None


def print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    """Prints the version and exits."""
    if wanted:
        click.echo(version_message())
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Print the version.",
)
def main() -> None:
    """A fast, exact tokenizer: OpenAI's encodings and the tokenizers of open models, offline."""
