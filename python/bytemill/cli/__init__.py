"""The command `bytemill`: one module for each of its commands, imported when that is called.

Exit codes: 0 if all went well, 1 if the answer is no, 2 for wrong use, input that cannot be read and
anything else that stops a command, 130 after Ctrl-C. Messages go to stderr, results to stdout or into files
that appear whole or not at all.

A command is the `click.Command` called `command` in the module of its name. It says no by
`context.exit(NO)`, and raises what the library raises: `main` makes a message of that.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytemill.core import TIER, UNICODE_VERSION, Encoding, __version__
from bytemill.errors import DisallowedSpecialTokenError, UnknownTokenError
from bytemill.progress import show_line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["EXPECTED", "FAILURE", "NO", "Commands", "complain", "describe", "encoding_of", "main"]

NO = 1
FAILURE = 2
# As shells have it: 128 and the number of the signal.
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
    "inspect",
    "compare",
    "convert",
    "verify",
    "bench",
)

# What the library raises for arguments and files that are not what they should be.
EXPECTED = (ValueError, UnknownTokenError, OSError, ImportError, OverflowError, MemoryError)

# Names that end so are those of files, whether these exist or not.
FILE_SUFFIXES = frozenset({".bpe", ".bytemill", ".json", ".model", ".tiktoken", ".txt"})


class Commands(click.Group):
    """The group of commands: imports them when they are called, and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Gives the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports a command; `None` if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"{__name__}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without any argument it is wrong use, and the help is the message."""
        if not args:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(FAILURE)
        return super().parse_args(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: Any,  # noqa: ANN401 - click's signature
    ) -> Any:  # noqa: ANN401 - click's signature
        """Runs the command line; in standalone mode it ends the process with an exit code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.Abort:
            # click has ended the line that shows ^C.
            code = INTERRUPTED
        except click.ClickException as error:
            complain(error.format_message())
            if isinstance(error, click.UsageError) and error.ctx is not None:
                click.echo(f"{error.ctx.command_path} --help tells more", err=True)
            code = FAILURE
        except Exception:  # noqa: BLE001 - the exit code of Python would say no
            sys.excepthook(*sys.exc_info())
            complain("this is a mistake in bytemill: please report it with the lines above")
            code = FAILURE
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Runs a command; what the library raises becomes a message."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = show_warning
                result = super().invoke(ctx)
            # Now, while errors can still be told.
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            # Who reads has seen enough. What is left goes nowhere, also what Python flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            ctx.exit(BROKEN_PIPE)
        except EXPECTED as error:
            complain(describe(error))
            ctx.exit(FAILURE)
        return result


def complain(message: str, kind: str = "error") -> None:
    """Writes a message to stderr."""
    if sys.stderr.isatty():
        # Over the progress that may be there.
        show_line("")
    click.echo(f"bytemill: {kind}: {message}", err=True)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:  # noqa: ANN401 - as `warnings.showwarning`
    """Writes a warning of the library to stderr."""
    complain(str(message), "warning")


def describe(error: BaseException) -> str:
    """What an error of the library says, in the words of the command line."""
    if isinstance(error, DisallowedSpecialTokenError):
        return (
            f"the input holds the special token {error.token!r}: --special text takes it for ordinary text, "
            "--special allow for the token"
        )
    if isinstance(error, OSError) and error.strerror is not None:
        # Without a name it is what was open: standard output, or a file that is being written.
        return (
            error.strerror if error.filename is None else f"{os.fsdecode(error.filename)}: {error.strerror}"
        )
    if isinstance(error, KeyError) and len(error.args) == 1:
        # `str` would give the `repr`.
        return str(error.args[0])
    return str(error) or type(error).__name__


def version_message() -> str:
    """The version, and what else tells two installations apart."""
    unicode_version = ".".join(map(str, UNICODE_VERSION))
    return f"bytemill {__version__}, Unicode {unicode_version}, tier {TIER}"


def encoding_of(spec: str) -> Encoding:
    """Gives the encoding that an argument of the command line means.

    Args:
        spec: The name of an encoding, the name of a model, or the path of a file or folder that
            `Encoding.from_file` reads. A file that exists is preferred to a family of models whose names
            begin as its own; one that is called as an encoding or a model is written with a `./` before it.

    Raises:
        ValueError: It is none of these; or the file holds no encoding.
        OSError: The file cannot be read.
    """
    from bytemill.builtin import BUILTIN_ENCODINGS
    from bytemill.model import MODEL_TO_ENCODING, encoding_name_for_model
    from bytemill.registry import get_encoding

    if spec in BUILTIN_ENCODINGS:
        return get_encoding(spec)
    if spec in MODEL_TO_ENCODING:
        return get_encoding(MODEL_TO_ENCODING[spec])
    path = Path(spec)
    if path.exists() or path.suffix.lower() in FILE_SUFFIXES or {"/", os.sep} & {*spec}:
        return Encoding.from_file(path)
    try:
        return get_encoding(encoding_name_for_model(spec))
    except KeyError:
        # Perhaps that of a plugin.
        pass
    from bytemill.registry import list_encoding_names

    names = list_encoding_names()
    if spec in names:
        return get_encoding(spec)
    message = (
        f"{spec!r} is no encoding, no model and no file: expected one of {', '.join(names)}, "
        "the name of a model such as gpt-4o, or a path"
    )
    raise ValueError(message)


def print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    """Prints the version and ends."""
    if wanted:
        click.echo(version_message())
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Print the version.",
)
def main() -> None:
    """Byte-level BPE with exactly tiktoken's ids, offline."""
