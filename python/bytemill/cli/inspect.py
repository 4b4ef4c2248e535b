"""`bytemill inspect`: what a vocabulary holds, one of its tokens, or a text as its tokens."""

from __future__ import annotations

import json
import sys
from typing import Any, Protocol

import click

from bytemill.cli import encoding_of
from bytemill.cli.options import STANDARD_INPUT, documents, json_option, special_option, special_rule

__all__ = ["command"]


class Printable(Protocol):
    """A view or a report: it is printed as text or as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """What JSON has."""


@click.command(short_help="Show a text as its tokens, or what a vocabulary holds.")
@click.argument("encoding_spec", metavar="ENCODING")
@click.argument("text", required=False)
@click.option("--id", "token_id", type=int, metavar="N", help="Show the token with this id.")
@click.option("--html", metavar="FILE", help="Write the tokens of TEXT as a page to FILE.")
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
@json_option
def command(  # noqa: PLR0913 - the options of the command
    *,
    encoding_spec: str,
    text: str | None,
    token_id: int | None,
    html: str | None,
    merges: bool,
    ids: bool,
    colour: str,
    special: str,
    as_json: bool,
) -> None:
    """Show a text as its tokens, or without a text what the vocabulary holds.

    ENCODING is the name of an encoding or of a model, or a file of an encoding; TEXT may be - for standard
    input. Blanks can be seen: a space is a dot, a line break and a tab are arrows. Bytes that are only a part
    of a character stand in angle quotes.
    """
    from bytemill import looking
    from bytemill.looking.terminal import columns, has_colours

    if text is not None and token_id is not None:
        message = "TEXT and --id exclude each other"
        raise click.UsageError(message)
    if text is None and (html is not None or merges):
        message = "--html and --merges show a text: give TEXT, or - for standard input"
        raise click.UsageError(message)
    if merges and (html is not None or special != "text"):
        message = "--merges excludes --html, and takes special tokens for ordinary text"
        raise click.UsageError(message)
    encoding = encoding_of(encoding_spec)
    if token_id is not None:
        write(looking.report_token(encoding, token_id), as_json=as_json)
        return
    if text is None:
        write(looking.report(encoding), as_json=as_json)
        return
    if text == STANDARD_INPUT:
        text = "".join(documents([STANDARD_INPUT]))
    coloured = has_colours(sys.stdout) if colour == "auto" else colour == "always"
    if merges:
        explained = looking.show_merges(encoding, text)
        write(explained, as_json=as_json, shown=explained.terminal(colour=coloured))
        return
    view = looking.show(encoding, text, **special_rule(special))
    if html is not None:
        view.write_page(html)
    else:
        write(view, as_json=as_json, shown=view.terminal(colour=coloured, ids=ids, width=columns(sys.stdout)))


def write(what: Printable, *, as_json: bool, shown: str | None = None) -> None:
    """Prints a view or a report: as JSON, as it is `shown`, or as it prints itself."""
    text = json.dumps(what.to_dict()) if as_json else str(what) if shown is None else shown
    # Signs that the output does not take are escaped.
    charset = sys.stdout.encoding
    # With colours that were asked for also where click would take them out: in a file or a pipe.
    click.echo(text.encode(charset, "backslashreplace").decode(charset), color=True)
