"""`bytemill playground`: a local page that shows tokens while you type."""

from __future__ import annotations

import errno
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bytemill.cli.options import STANDARD_INPUT, encoding_option
from bytemill.cli.output import input_bytes, output_stream, prints_result

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["playground_command"]

# A link that a page has copied; what it shows stands behind `#`, and is read by the page that is opened.
LINK = re.compile(r"https?://[^\s#]*(#v1=[A-Za-z0-9_-]+)")


@click.command(short_help="Open a local page that shows tokens while you type.")
@click.argument("text", required=False, metavar="[TEXT|FILE|LINK|-]")
@encoding_option
@click.option(
    "--compare", metavar="ENCODING", help="A second encoding, shown side by side: a name or a file."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port [default: a free one]."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; any but a loopback address needs --allow-host.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME",
    help="A host name that browsers use for the page. Repeatable.",
)
@click.option("--verbose", is_flag=True, help="Log the kind, status and time of each request, never a text.")
@prints_result
def playground_command(  # noqa: PLR0913 - the options of the command
    *,
    text: str | None,
    encoding: Encoding,
    compare: str | None,
    port: int,
    no_browser: bool,
    host: str,
    allow_hosts: tuple[str, ...],
    verbose: bool,
) -> None:
    """Open a page on this machine that shows tokens while you type.

    It starts with TEXT, the text of FILE, what a LINK copied from such a page shows, or standard input (-).
    Nothing leaves this machine, and other web pages cannot reach the server. Ctrl-C stops it.
    """
    # Here: they import the server.
    from bytemill.cli import complain, encoding_of
    from bytemill.playground import listening, serve
    from bytemill.playground.server import LOOPBACK_NAMES

    if host not in {*LOOPBACK_NAMES, "::1"}:
        if not allow_hosts:
            raise click.UsageError(f"--host {host} needs --allow-host NAME, the name that browsers will use")
        complain("everyone who can reach this machine and knows the address can use the page", "warning")
    link = LINK.fullmatch(text) if text is not None else None
    running = listening(
        None if link else text_of(text),
        encoding=encoding,
        compare_with=None if compare is None else encoding_of(compare),
        port=port,
        host=host,
        allow_hosts=allow_hosts,
        verbose=verbose,
    )
    state = link[1] if link else ""
    # First: what answers need takes as long to import as all until here.
    click.echo(running.url + state)
    output_stream().flush()
    try:
        serve(running, open_browser=not no_browser, state=state)
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
    finally:
        running.stop()


def text_of(argument: str | None) -> str | None:
    """Returns the text that an argument denotes: itself, or the content of a file.

    Raises:
        ValueError: A file is not UTF-8.
        OSError: A file cannot be read, or there is none and the argument looks like the name of one.
    """
    from bytemill.documents.sources import is_name

    if argument is None:
        return None
    if argument == STANDARD_INPUT:
        contents, name = input_bytes().read(), "standard input"
    else:
        try:
            path = Path(argument)
            is_file = path.is_file()
        except (OSError, ValueError):
            # Too long for a name, or with a character that no name has.
            is_file = False
        if not is_file:
            if is_name(argument):
                raise FileNotFoundError(
                    errno.ENOENT,
                    "no such file; to show this text itself, pass - and pipe the text in",
                    argument,
                )
            return argument
        contents, name = path.read_bytes(), argument
    try:
        return contents.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} is not UTF-8: byte {error.start} is 0x{contents[error.start]:02x}"
        ) from None
