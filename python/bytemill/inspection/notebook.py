"""Render views as fragments for notebooks, without scripts, in the forms that hosts ask for.

A notebook from somebody else is cleaned before it is shown: JupyterLab then drops style sheets and keeps
plain inline styles, others drop all styles. So the inline style of a token carries its colours, a style sheet
improves on them and knows dark themes, and where neither is left, separators that are hidden otherwise stand
between the tokens.
"""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING

from bytemill.inspection.terminal import AS_WRITTEN, MARK, rows, supports_colour, terminal_width
from bytemill.inspection.token import COLOURS, is_right_to_left, lines_as_written, sharing_characters, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Sequence

    from bytemill.inspection.token import Token, View

__all__ = ["Displayed", "fragment", "render_fragment", "render_plain", "span"]

# Prefix of all class names. It changes with the format: the outputs of two versions may be in one notebook.
PREFIX = "bm1"

INK, DARK_INK = "#15181c", "#eceff3"

SEPARATOR = '<s style="display:none">│</s>'

# How hosts mark their dark themes: Colab, Sphinx, JupyterLab, VS Code.
DARK_MARKS = (
    ":is(html[theme=dark],html[data-theme=dark],body[data-jp-theme-light=false],body.vscode-dark,"
    "body.vscode-high-contrast:not(.vscode-high-contrast-light))"
)
# Where none of the marks is, the theme is that of the system.
NO_MARKS = "html:not([theme]):not([data-theme]) body:not([data-jp-theme-light]):not([class*=vscode-])"


def style() -> str:
    """Returns the style sheet, which works on what inline styles already show."""

    def dark(scope: str) -> str:
        backgrounds = "".join(
            f"{scope} .{PREFIX}.c{i}{{background:{colour.dark}!important}}"
            for i, colour in enumerate(COLOURS)
        )
        return f"{scope} .{PREFIX}{{color:{DARK_INK}!important}}{backgrounds}"

    return (
        f".{PREFIX}{{border-radius:4px;padding:2px 3px;margin:0 1px;overflow-wrap:anywhere}}"
        f".{PREFIX}:hover{{outline:1.5px solid}}"
        f".{PREFIX}-one{{border:1px solid #8888;border-radius:5px;padding:3px 1px 3px 4px;margin:0 1px}}"
        f"{dark(DARK_MARKS)}@media(prefers-color-scheme:dark){{{dark(NO_MARKS)}}}"
        f"@media(forced-colors:active){{.{PREFIX}{{border:1px solid}}}}"
    )


def fragment(content: str) -> str:
    """Returns rendered tokens with the style sheet."""
    lines = '<div dir="ltr" style="font-family:monospace;line-height:2">'
    return f"<style>{style()}</style>{lines}{content}</div>"


def span(value: bytes, colour: int, title: str = "", *, special: bool = False, mark: str = "") -> str:
    """Returns the element of a token or of a part of a piece, a mark before its text."""
    shown = mark + visible(value)
    background = COLOURS[colour % len(COLOURS)].light
    weight = ";font-weight:bold;text-decoration:underline" if special else ""
    reads = ' dir="rtl"' if is_right_to_left(shown) else ""
    named = f' title="{escape(title)}"' if title else ""
    look = f'class="{PREFIX} c{colour % len(COLOURS)}" style="background:{background};color:{INK}{weight}"'
    return f"<span {look}{reads}{named}>{escape(shown)}</span>"


def render_fragment(view: View, *, heading: str = "", marked: Collection[int] = frozenset()) -> str:
    """Returns the first `notebook_limit` tokens of a view, and how many more there are.

    Args:
        view: The view.
        heading: What stands above; if empty, the counts.
        marked: The indices of tokens with a mark.
    """
    heading = heading or view.heading()
    shown = view.tokens[: view.notebook_limit]
    rest = "".join(f"<div>{line}</div>" for line in not_shown(view))
    return (
        f"<div>{escape(heading)}</div>{fragment(''.join(tokens_of(shown, marked)))}{as_written(shown)}{rest}"
    )


def render_plain(view: View, *, heading: str = "", marked: Collection[int] = frozenset()) -> str:
    """Returns as many tokens as lines of text, as `TokenView.terminal`; arguments as `render_fragment`."""
    lines = rows(
        view.tokens[: view.notebook_limit],
        colour=supports_colour(sys.stdout),
        ids=True,
        width=terminal_width(sys.stdout),
        marked=marked,
    )
    return "\n".join([heading or view.heading(), *lines, *not_shown(view)])


def not_shown(view: View) -> list[str]:
    """Returns a line that says how many tokens a notebook does not show, if any."""
    more = len(view.tokens) - view.notebook_limit
    return (
        [f"{more:,} more tokens are not shown here; notebook_limit shows more, write_page all."]
        if more > 0
        else []
    )


def as_written(shown: Sequence[Token]) -> str:
    """Returns what `lines_as_written` does; underlines are kept by hosts that drop styles."""
    rows = [
        "".join(f"<u>{escape(part)}</u>" if under else escape(part) for part, under in line)
        for line in lines_as_written(shown)
    ]
    if not rows:
        return ""
    content = "".join(f'<div dir="auto">{row or "<br>"}</div>' for row in rows)
    return f"<details><summary>{AS_WRITTEN}</summary>{content}</details>"


def tokens_of(shown: Sequence[Token], marked: Collection[int]) -> Iterator[str]:
    """Yields tokens and what is between them; those of one character together, behind it."""
    index, before = 0, ""
    for group in sharing_characters(shown):
        made = [
            span(
                token.value,
                index + i,
                f"id {token.id}: {token.value.hex(' ')}",
                special=token.special,
                mark=MARK if index + i in marked else "",
            )
            for i, token in enumerate(group)
        ]
        index += len(group)
        value = b"".join(token.value for token in group)
        if len(group) == 1:
            yield before + made[0]
        else:
            together = f"{escape(visible(value))} {SEPARATOR.join(made)}"
            yield f'{before}<span class="{PREFIX}-one">{together}</span>'
        before = "<br>" if b"\n" in value else SEPARATOR


def rows_of_parts(rows: Iterable[Sequence[bytes]]) -> str:
    """Returns rows of parts, whose colours stay while others merge."""
    lines = []
    for row in rows:
        start, cells = 0, []
        for part in row:
            cells.append(span(part, start))
            start += len(part)
        lines.append(f"<div>{SEPARATOR.join(cells)}</div>")
    return "".join(lines)


# The forms in which notebooks and other hosts show a view or a report.


def preformatted(text: str) -> str:
    """Returns a plain text for a notebook."""
    return f'<pre style="font-family:monospace;line-height:1.4">{escape(text)}</pre>'


class Displayed:
    """Base of views and reports: hosts of HTML show one form, hosts of plain text the `str`."""

    def _repr_html_(self) -> str:
        """Renders it for a notebook; if a subclass has no other form, its `str` as it is."""
        return preformatted(str(self))

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Returns both forms for IPython, of which a notebook keeps both; arguments as IPython describes."""
        forms = {"text/plain": self._plain, "text/html": self._repr_html_}
        return {
            name: form()
            for name, form in forms.items()
            if (not include or name in include) and (not exclude or name not in exclude)
        }

    def _plain(self) -> str:
        """Returns the form for hosts of plain text."""
        return str(self)
