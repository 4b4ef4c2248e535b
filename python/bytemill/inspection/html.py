"""Render tokens as HTML: a self-contained page without scripts.

Each token is a `<b>` with its id and bytes in attributes. Tokens that share a character are in a `<span>`,
which shows it first. The style sheet shows id and bytes in a bar on hover, and the id above each token if the
checkbox is set. Everything from the text or the encoding is escaped, and the
content security policy of the page forbids the browser to load or run anything.
"""

from __future__ import annotations

import unicodedata
from html import escape
from typing import TYPE_CHECKING, Literal

from bytemill._messages import printable, shortened
from bytemill.inspection.token import (
    CLOSE_QUOTE,
    COLOURS,
    OPEN_QUOTE,
    segments_of,
    sharing_characters,
    visible,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytemill.inspection.token import Token, View

__all__ = ["render_page"]

STYLE = """
html, body { margin: 0 }
.bytemill .all { max-width: 72rem; margin: auto }
.bytemill {
  min-height: 100vh; box-sizing: border-box;
  LIGHT
  --paper: #fff; --ink: #1a1c1f; --sign: #4a525c; --faint: #5d6670; --rule: #dfe3e8;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color-scheme: light dark; position: relative; padding: 1rem 1.25rem 3.25rem;
  background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .bytemill {
    DARK
    --paper: #16181c; --ink: #eceef1; --sign: #b9c1cb; --faint: #9aa4b0; --rule: #31363d;
  }
}
.bytemill h1 { margin: 0 0 .6rem; font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere }
.bytemill dl { display: flex; flex-wrap: wrap; gap: .5rem 2.25rem; margin: 0 0 .9rem }
.bytemill dl div { display: flex; flex-direction: column-reverse }
.bytemill dt { color: var(--faint); font-size: .8rem; font-weight: 400 }
.bytemill dd { margin: 0; font-size: 1.45rem; line-height: 1.2; font-variant-numeric: tabular-nums }
.bytemill label { color: var(--faint); font-size: .85rem; cursor: pointer; user-select: none }
.bytemill p { margin: 1rem 0 0; color: var(--faint) }
.bytemill p.legend { margin: .4rem 0 0; font-size: .85rem }
.bytemill .tokens {
  margin-top: .7rem; padding-top: .9rem; border-top: 1px solid var(--rule); font: 15px/1.9 var(--mono);
}
.bytemill b {
  display: inline-block; max-width: 100%; box-sizing: border-box; margin: 1px; padding: 0 3px;
  border-radius: 4px; font-weight: 400; line-height: 1.55; vertical-align: bottom; cursor: default;
  overflow-wrap: anywhere; unicode-bidi: isolate; print-color-adjust: exact;
}
.bytemill .shared {
  display: inline-block; max-width: 100%; box-sizing: border-box; margin: 1px; padding: 0 2px 0 5px;
  border: 1px solid var(--rule); border-radius: 5px; vertical-align: bottom; unicode-bidi: isolate;
}
.bytemill b.special { font-weight: 700; text-decoration: underline; text-underline-offset: 3px }
.bytemill i { color: var(--sign); font-style: normal }
.bytemill:has(input:checked) b::before {
  content: attr(data-id); display: block; color: var(--sign); font-size: .68em; line-height: 1.3;
}
.bytemill b:hover { outline: 2px solid var(--ink) }
.bytemill b:hover::after {
  content: "id " attr(data-id) "   bytes " attr(data-bytes);
  position: fixed; left: 0; right: 0; bottom: 0; padding: .5rem 1.25rem;
  background: var(--ink); color: var(--paper); font: 14px/1.5 var(--mono);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_page(view: View) -> str:
    """Returns a complete page; see `TokenView.page`."""
    title = escape(title_of(view))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style()}</style>
</head>
<body>
{body(view)}
</body>
</html>
"""


# The most characters of a text in the title of its page.
TITLE_CHARACTERS = 48


def title_of(view: View) -> str:
    """Returns the title: how the text begins, and its tokens in which encoding."""
    # No character takes more than 4 bytes.
    start, size = b"", 4 * TITLE_CHARACTERS
    for token in view.tokens:
        start += token.value
        if len(start) > size:
            break
    text = printable(" ".join(start.decode(errors="ignore").split()))
    if len(text) > TITLE_CHARACTERS or len(start) > size:
        text = text[: TITLE_CHARACTERS - 1].rstrip() + "…"
    tokens = f"{len(view.tokens):,} token" + "s" * (len(view.tokens) != 1)
    counted = f"{tokens} in {shortened(view.encoding)}"
    return f"“{text}”: {counted}" if text else counted


def style() -> str:
    """Returns the style sheet with the colours of the palette filled in."""
    light = " ".join(f"--c{i}: {colour.light};" for i, colour in enumerate(COLOURS))
    dark = " ".join(f"--c{i}: {colour.dark};" for i, colour in enumerate(COLOURS))
    backgrounds = "".join(f".bytemill .c{i} {{ background: var(--c{i}) }}\n" for i in range(len(COLOURS)))
    return STYLE.replace("LIGHT", light).replace("DARK", dark) + backgrounds


def body(view: View) -> str:
    """Returns the counts and the tokens."""
    shown = view.tokens
    counts = "".join(f"<div><dt>{name}</dt><dd>{figure}</dd></div>" for name, figure in view.counts())
    tokens = "".join(lines_html(shown))
    return f"""<div class="bytemill"><div class="all">
<h1>{escape(title_of(view))}</h1>
<dl>{counts}</dl>
<label><input type="checkbox"> ids</label>
<p class="legend">Point at a token for its id and bytes.{legend(shown)}</p>
<div class="tokens">{tokens}</div>
</div></div>"""


# What each substitute in a token means; the legend names those that occur.
LEGEND = (
    (b" ", "·", "a space"),
    (b"\n", "⏎", "a line break"),
    (b"\t", "→", "a tab"),
)


def legend(shown: Sequence[Token]) -> str:
    """Returns the meaning of the substitutes that occur in tokens."""
    meanings = [
        f"<i>{sign}</i> {meaning}"
        for byte, sign, meaning in LEGEND
        if any(byte in token.value for token in shown)
    ]
    if any(is_partial(token.value) for token in shown):
        meanings.append(f"<i>{OPEN_QUOTE}e4 bd{CLOSE_QUOTE}</i> bytes that are a part of a character")
    return f" {', '.join(meanings)}." if meanings else ""


def is_partial(value: bytes) -> bool:
    """Returns whether some bytes are not a whole character."""
    return value.decode(errors="ignore").encode() != value


def lines_html(shown: Sequence[Token]) -> Iterator[str]:
    """Yields the tokens, each line of the text in an element whose direction follows from its text.

    A line ends after a token with a line break.
    """
    line: list[str] = []
    values: list[bytes] = []
    index = 0
    for group in sharing_characters(shown):
        value = b"".join(token.value for token in group)
        tokens = "".join(token_html(index + i, token) for i, token in enumerate(group))
        index += len(group)
        shared = f'<span class="shared">{escape(visible(value))} {tokens}</span>'
        line.append(tokens if len(group) == 1 else shared)
        values.append(value)
        if b"\n" in value:
            yield line_html(line, b"".join(values))
            line, values = [], []
    if line:
        yield line_html(line, b"".join(values))


def line_html(tokens: Sequence[str], text: bytes) -> str:
    """Returns a line, and for each further line break at its end an empty line."""
    blank = len(text) - len(text.rstrip(b"\n")) - 1
    direction = direction_of(text.decode(errors="replace"))
    return f'<div dir="{direction}">{"".join(tokens)}</div>\n' + "<br>\n" * max(blank, 0)


def direction_of(text: str) -> Literal["ltr", "rtl"]:
    """Returns the direction of the first character that has one, as in Unicode's bidirectional algorithm."""
    kinds = map(unicodedata.bidirectional, text)
    first = next((kind for kind in kinds if kind in {"L", "R", "AL"}), "L")
    return "ltr" if first == "L" else "rtl"


def token_html(index: int, token: Token) -> str:
    """Returns one token."""
    segments = ((escape(segment.text), segment.substitute) for segment in segments_of(token.value))
    content = "".join(f"<i>{text}</i>" if substitute else text for text, substitute in segments)
    names = f"c{index % len(COLOURS)} special" if token.special else f"c{index % len(COLOURS)}"
    bytes_shown = token.value.hex(" ")
    return f'<b class="{names}" data-id="{token.id}" data-bytes="{bytes_shown}">{content}</b>'
