"""`bytemill inspect`: a vocabulary, one of its tokens, or the tokens of a text."""

from __future__ import annotations

import json
import sys
from typing import Any, Protocol

import click

from bytemill.cli import encoding_of
from bytemill.cli.options import STANDARD_INPUT, documents, json_option, special_option, special_rule

__all__ = ["command"]


class Printable(Protocol):
    """A view or a report that can be printed as text or as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON-compatible values."""


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
    from bytemill import inspection
    from bytemill.inspection.terminal import supports_colour, terminal_width

    if text is not None and token_id is not None:
        raise click.UsageError("TEXT and --id exclude each other")
    if text is None and (html is not None or merges):
        raise click.UsageError("--html and --merges show a text: give TEXT, or - for standard input")
    if merges and (html is not None or special != "text"):
        raise click.UsageError("--merges excludes --html, and takes special tokens for ordinary text")
    encoding = encoding_of(encoding_spec)
    if token_id is not None:
        echo(inspection.report_token(encoding, token_id), as_json=as_json)
        return
    if text is None:
        echo(inspection.report(encoding), as_json=as_json)
        return
    if text == STANDARD_INPUT:
        text = "".join(documents([STANDARD_INPUT]))
    coloured = supports_colour(sys.stdout) if colour == "auto" else colour == "always"
    if merges:
        merge_view = inspection.show_merges(encoding, text)
        echo(merge_view, as_json=as_json, text=merge_view.terminal(colour=coloured))
        return
    view = inspection.show(encoding, text, **special_rule(special))
    if html is not None:
        view.write_page(html)
    else:
        rendered = view.terminal(colour=coloured, ids=ids, width=terminal_width(sys.stdout))
        echo(view, as_json=as_json, text=rendered)


def echo(result: Printable, *, as_json: bool, text: str | None = None) -> None:
    """Prints a view or a report as JSON, or as `text` if given, or as its `str`."""
    output = json.dumps(result.to_dict()) if as_json else str(result) if text is None else text
    # Escape characters that the output charset lacks.
    charset = sys.stdout.encoding
    # `color=True`: `--colour always` holds in a file or a pipe too, where click would strip colours.
    click.echo(output.encode(charset, "backslashreplace").decode(charset), color=True)
