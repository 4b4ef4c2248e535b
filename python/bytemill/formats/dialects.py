r"""Translation of patterns between the regular expressions of other libraries.

A definition has its pattern in the syntax of Rust's `fancy-regex`, as tiktoken; `tokenizers` uses Oniguruma,
minbpe Python's package `regex`. Constructs on which all three agree are accepted, and others are refused by
name:

- characters, also after a backslash, and `.` (anything but a line feed);
- `\s`, `\d`, `\r`, `\n`, `\t`, `\f`, `\v` and `\S`, `\D`; `\p{...}` and `\P{...}` of a general category or a
  script;
- classes of these in brackets, with ranges, but without nested classes or set operations;
- alternatives; groups, which may look ahead or behind, be atomic, or ignore case for the letters of the
  English contractions (other letters have foldings that differ);
- quantifiers, lazy and possessive too.

These differ and are translated: in Oniguruma `{1,3}+` is not a possessive quantifier but two quantifiers,
`(?m:` instead of `(?s:` makes the dot match line feeds, and `$` is the end of any line; in Python `$` is also
before a line feed at the end. `$` after `\s++` is the same in all of them, since the whitespace takes all
line feeds.

In Unicode properties `tokenizers` 0.23 agrees with us on every character; the `regex` package follows newer
versions of the standard, see `bytemill.splitting`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from bytemill.errors import PatternError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["check_python", "to_oniguruma"]

WHITESPACE = [r"\s", "++"]
CATEGORIES = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp"
SCRIPTS = (
    "Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew "
    "Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan"
)
PROPERTY = rf"\\[pP]\{{(?:{'|'.join(f'{CATEGORIES} {SCRIPTS}'.split())})\}}"
ESCAPE = rf"{PROPERTY}|\\[sSdDrntfv]|\\x\{{[0-9A-Fa-f]+\}}|\\[!-/:;=?@\[-^`{{-~ ]"
ELEMENT = re.compile(
    rf"""
      (?P<group> \( (?: \?[:=!>] | \?<[=!] | \?[ims]: | (?!\?) ) )
    | (?P<close> \) )
    | (?P<bar> \| )
    | (?P<quantifier> (?: [*+?] | \{{[0-9]+(?:,[0-9]*)?\}} ) [+?]? )
    | (?P<end> \$ | \\z )
    | (?P<class> \[\^? (?: {ESCAPE} | [^\[\]\\] )+ \] )
    | (?P<escape> {ESCAPE} )
    | (?P<dot> \. )
    | (?P<character> [^\[\]\\(){{}}^] )
    """,
    re.VERBOSE | re.DOTALL,
)
SET_OPERATION = re.compile(r"&&|--|~~|\|\|")

# Allowed where case is ignored. In Oniguruma "ss" and "st" match single characters too.
CASELESS = re.compile(r"[sdmtlvreSDMTLVRE'\[\]]")
FOLDED_PAIRS = re.compile(r"s[st(\[{]", re.IGNORECASE)


class Element(NamedTuple):
    """An element of a pattern.

    Attributes:
        kind: The name of its group in `ELEMENT`.
        text: Its spelling.
    """

    kind: str
    text: str


def elements(pattern: str, direction: str, dot_all: str) -> Iterator[Element]:
    """Yields the elements of a pattern.

    Args:
        pattern: The pattern.
        direction: The direction of the translation, for messages.
        dot_all: The start of a group in which the dot matches line feeds.

    Raises:
        PatternError: An element may have another meaning in the other language.
    """

    def refuse(why: str) -> NoReturn:
        raise PatternError(f"the pattern {pattern!r} cannot be translated {direction}: {why}")

    caseless = [False]  # of each open group
    before = Element("bar", "")
    position = 0
    while position < len(pattern):
        found = ELEMENT.match(pattern, position)
        if found is None:
            refuse(f"nothing like {pattern[position : position + 10]!r} is the same in both")
        element = Element(str(found.lastgroup), found.group())
        position = found.end()
        if element.kind == "group":
            if element.text in {"(?m:", "(?s:"} - {dot_all}:
                refuse(f"nothing like {element.text!r} is the same in both")
            caseless.append(caseless[-1] or element.text == "(?i:")
        elif element.kind == "close":
            caseless.pop()
            if not caseless:
                refuse("a group ends that has not begun")
        elif differs(element, before, pattern[position : position + 1], caseless=caseless[-1]):
            refuse(f"{element.text!r} may mean something else at this position")
        yield element
        before = element
    if len(caseless) > 1:
        refuse("a group does not end")


def differs(element: Element, before: Element, following: str, *, caseless: bool) -> bool:
    """Returns whether an element may have another meaning in the other language.

    Args:
        element: The element, which is neither the start nor the end of a group.
        before: The element before it.
        following: The character after it.
        caseless: Whether case is ignored.
    """
    kind, text = element
    if kind == "quantifier":
        return before.kind in {"group", "bar", "quantifier", "end"} or text.endswith("}?")
    if kind == "class" and SET_OPERATION.search(text):
        return True
    if not caseless or kind in {"bar", "end"}:
        return False
    return not all(map(CASELESS.match, text)) or (
        kind == "character" and FOLDED_PAIRS.match(text + following) is not None
    )


def to_oniguruma(pattern: str) -> str:
    """Translates a pattern to Oniguruma; `PatternError` if an element may have another meaning there."""
    out: list[str] = []
    starts: list[int] = []  # where each open group starts in `out`
    atom = 0  # where the last element that a quantifier can follow starts
    for kind, text in elements(pattern, "to Oniguruma", "(?s:"):
        if kind == "group":
            starts.append(len(out))
            out.append("(?m:" if text == "(?s:" else text)
        elif kind == "close":
            atom = starts.pop()
            out.append(text)
        elif text.endswith("}+"):
            out.insert(atom, "(?>")
            out.append(f"{text[:-1]})")
        elif kind == "end":
            out.append(text if out[-2:] == WHITESPACE else r"\z")
        else:
            atom = atom if kind == "quantifier" else len(out)
            out.append(text)
    return "".join(out)


def check_python(pattern: str) -> None:
    """Raises `PatternError` if `regex.findall` may not give the pieces of a pattern."""
    before: list[str] = []
    for kind, text in elements(pattern, "to or from Python's package regex", "(?s:"):
        if (kind == "end" and (text != "$" or before[-2:] != WHITESPACE)) or r"\x" in text:
            raise PatternError(
                f"the pattern {pattern!r} has {text!r}, which means something else to the package `regex`"
            )
        if text == "(":
            raise PatternError(
                f"the pattern {pattern!r} cannot be translated to or from Python's package regex: of a group "
                "that captures, `findall` gives what is in it, not the piece; begin it with `(?:`"
            )
        before.append(text)
