"""The files of the page as they are served: small, with the colours of tokens."""

from __future__ import annotations

import re
from importlib import resources

from bytemill.inspection.token import COLOURS

__all__ = ["squeezed", "static_files", "stripped"]

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}


# What stays as it is: texts in quotes, and templates that hold no other ones. Comments go, with the
# parentheses that a comment on a type needs, those around one parameter, and blanks beside signs.
TEMPLATE = r"`(?:[^`$]|\$\{[^`{}]*\})*`"
QUOTED = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|""" + TEMPLATE + ")"
COMMENT = r"/\*.*?\*/ ?(?:\(([\w.]+)\))?"
BETWEEN = {
    "css": re.compile(rf"{QUOTED}|{COMMENT}| ?([{{}};,>]|(?<=:)) ?"),
    "js": re.compile(
        rf"{QUOTED}|{COMMENT}|(?<!async )\((\w+)\) (?==>)| ([-+/%]) (?![-+])| ?([=,;:?(){{}}\[\]<>&|!*]) ?"
    ),
}
# Line breaks that end no statement (`;` and blocks do, as deno formats the scripts), signs that need not
# stand behind the last of a list or a block, and blanks between names that are imported and their module.
NEEDLESS = re.compile(r"(?<=}from) (?=\")|(?<=[={}(\[,;:?|&>])\n|\n(?=[.)\]}?:|&])|,\n?(?=[)\]}])|;\n?(?=})")


def static_files() -> dict[str, tuple[str, bytes]]:
    """Returns the files of the page, type and content by name."""
    files = {}
    for each in resources.files("bytemill.playground").joinpath("static").iterdir():
        suffix = each.name.rpartition(".")[2]
        if suffix in TYPES:
            name = "" if each.name == "index.html" else each.name
            files[name] = (TYPES[suffix], squeezed(each.read_text(encoding="utf-8"), suffix).encode())
    kind, style = files["app.css"]
    files["app.css"] = (kind, style + palette_css().encode())
    return files


def squeezed(source: str, suffix: str) -> str:
    """Returns a file without what only its readers need: comments, indentation, most blanks and line breaks.

    Attributes of one word lose their quotes. A line with a template in a template keeps its blanks. No
    template has a text of several lines, no regular expression a blank, and no loop an empty body, which
    their test holds.
    """
    text = stripped(source)
    if suffix == "html":
        return re.sub(r'="([\w.-]+)"', r"=\1", text.replace(">\n<", "><"))
    lines = (
        line
        if "`" in re.sub(TEMPLATE, "", line)
        else BETWEEN[suffix].sub(lambda found: "".join(each or "" for each in found.groups()), line)
        for line in text.splitlines()
    )
    return NEEDLESS.sub("", "\n".join(lines)) + "\n"


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
    return "".join(
        f".c{i}{{background:light-dark({colour.light},{colour.dark})}}\n" for i, colour in enumerate(COLOURS)
    )
