"""Tokens as HTML: a page of its own, or a fragment for notebooks; no script, no other file.

Each token is a `<b>` with its id and its bytes in attributes, which the style sheet shows in a bar when the
token is pointed at, and the id also above the token where that is asked for. Everything that comes from the
text or the encoding is escaped; and the page forbids the browser to load or run anything.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bytemill.looking.palette import COLOURS
from bytemill.looking.visible import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.looking.view import Token, TokenView

__all__ = ["fragment", "page"]

# How many tokens a notebook shows; a page shows all.
FRAGMENT_TOKENS = 10_000

STYLE = """
.bytemill {
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
.bytemill .tokens {
  margin-top: .7rem; padding-top: .9rem; border-top: 1px solid var(--rule); font: 15px/1.9 var(--mono);
}
.bytemill b {
  display: inline-block; max-width: 100%; box-sizing: border-box; margin: 1px; padding: 0 3px;
  border-radius: 4px; font-weight: 400; line-height: 1.55; vertical-align: bottom; cursor: default;
  overflow-wrap: anywhere; unicode-bidi: isolate; print-color-adjust: exact;
}
.bytemill b.special { font-weight: 700; text-decoration: underline; text-underline-offset: 3px }
.bytemill i { color: var(--sign); font-style: normal }
.bytemill:has(input:checked) b::before {
  content: attr(data-id); display: block; color: var(--sign); font-size: .68em; line-height: 1.3;
}
.bytemill b:hover { outline: 2px solid var(--ink) }
.bytemill b:hover::after {
  content: "id " attr(data-id) "   bytes " attr(data-bytes);
  position: absolute; left: 0; right: 0; bottom: 0; padding: .5rem 1.25rem;
  background: var(--ink); color: var(--paper); font: 14px/1.5 var(--mono);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
"""

# On a page of its own the bar keeps to the window.
PAGE_STYLE = """
html, body { margin: 0 }
.bytemill { min-height: 100vh; box-sizing: border-box }
.bytemill .all { max-width: 72rem; margin: auto }
.bytemill b:hover::after { position: fixed }
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(view: TokenView) -> str:
    """Gives a whole page; see `TokenView.page`."""
    title = f"{escape(view.encoding)}: {len(view.tokens):,} tokens"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style()}{PAGE_STYLE}</style>
</head>
<body>
{body(view, view.tokens)}
</body>
</html>
"""


def fragment(view: TokenView) -> str:
    """Gives what a notebook shows: the beginning of a long text, and how much more there is."""
    shown = view.tokens[:FRAGMENT_TOKENS]
    return f"<style>{style()}</style>\n{body(view, shown)}"


def style() -> str:
    """The style sheet with the colours of the palette filled in."""
    light = " ".join(f"--c{i}: {colour.light};" for i, colour in enumerate(COLOURS))
    dark = " ".join(f"--c{i}: {colour.dark};" for i, colour in enumerate(COLOURS))
    backgrounds = "".join(f".bytemill .c{i} {{ background: var(--c{i}) }}\n" for i in range(len(COLOURS)))
    return STYLE.replace("LIGHT", light).replace("DARK", dark) + backgrounds


def body(view: TokenView, shown: Sequence[Token]) -> str:
    """The counts and the tokens that are shown."""
    counts = "".join(f"<div><dt>{what}</dt><dd>{figure}</dd></div>" for what, figure in view.counts())
    tokens = "".join(token_html(place, token) for place, token in enumerate(shown))
    more = len(view.tokens) - len(shown)
    rest = f"<p>{more:,} more tokens are not shown here; write_page shows all.</p>" if more else ""
    return f"""<div class="bytemill"><div class="all">
<h1>{escape(view.encoding)}</h1>
<dl>{counts}</dl>
<label><input type="checkbox"> ids</label>
<div class="tokens" dir="ltr">{tokens}</div>{rest}
</div></div>"""


def token_html(place: int, token: Token) -> str:
    """One token; where it holds a line break, the page has one after it."""
    parts = ((escape(part.text), part.stands_for) for part in parts_of(token.value))
    shape = "".join(f"<i>{text}</i>" if stands_for else text for text, stands_for in parts)
    names = f"c{place % len(COLOURS)} special" if token.special else f"c{place % len(COLOURS)}"
    bytes_shown = token.value.hex(" ")
    line_break = "<br>\n" if b"\n" in token.value else ""
    return f'<b class="{names}" data-id="{token.id}" data-bytes="{bytes_shown}">{shape}</b>{line_break}'
