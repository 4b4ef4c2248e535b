"""The files of the page as they are served: without comments and indentation, with the colours of tokens."""

from __future__ import annotations

from importlib import resources

from bytemill.inspection.palette import COLOURS

__all__ = ["static_files", "stripped"]

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}


def static_files() -> dict[str, tuple[str, bytes]]:
    """Returns the files of the page, type and content by name."""
    files = {}
    for each in resources.files("bytemill.playground").joinpath("static").iterdir():
        kind = TYPES.get(each.name.rpartition(".")[2])
        if kind is not None:
            name = "" if each.name == "index.html" else each.name
            files[name] = (kind, stripped(each.read_text(encoding="utf-8")).encode())
    files["palette.css"] = (TYPES["css"], palette_css().encode())
    return files


def stripped(source: str) -> str:
    """Returns a file without indentation, blank lines, and comments that have lines to themselves.

    Comments begin a line with `//` or `/*`. A text of several lines in the file would lose its indentation:
    the files of the page have none, which their test holds.
    """
    kept = []
    inside = False
    for line in map(str.strip, source.splitlines()):
        if inside:
            inside = not line.endswith("*/")
        elif line.startswith("/*") and "*/" not in line:
            inside = True
        elif line and not line.startswith("//") and not is_comment(line):
            kept.append(line)
    return "\n".join(kept) + "\n"


def is_comment(line: str) -> bool:
    """Returns whether a line is one comment from its start to its end."""
    return line.startswith("/*") and line.index("*/") == len(line) - 2


def palette_css() -> str:
    """Returns the colours of tokens as a style sheet."""
    light = "".join(f"--c{i}:{colour.light};" for i, colour in enumerate(COLOURS))
    dark = "".join(f"--c{i}:{colour.dark};" for i, colour in enumerate(COLOURS))
    return (
        f":root{{{light}}}\n:root[data-theme=dark]{{{dark}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        + "".join(f".c{i}{{background:var(--c{i})}}\n" for i in range(len(COLOURS)))
    )
