r"""Patterns for the regular expressions of other libraries: what means the same, and what is spelled anew.

An `Encoding` has its pattern in the syntax of Rust's `fancy-regex`, as tiktoken; `tokenizers` has Oniguruma,
minbpe the `regex` package of Python. Here is what all three agree on; everything else is refused by name:

- characters, also after a backslash, and `.` (anything but a line feed);
- `\s`, `\d`, `\r`, `\n`, `\t`, `\f`, `\v` and `\S`, `\D`; `\p{...}` and `\P{...}` of a general category or a
  script;
- classes of these in brackets, with ranges, and without a class in the class or set operations;
- alternatives; groups, which may look ahead or behind, be atomic, or take letters of both cases if these are
  among those of the English contractions (other letters have foldings that differ);
- quantifiers, lazy and possessive too.

These differ and are translated: in Oniguruma `{1,3}+` is no possessive quantifier but two quantifiers, `(?m:`
makes the dot match line feeds instead of `(?s:`, and `$` is the end of any line, as for Python it is also
before a line feed at the end. `$` after `\s++` is the same in all of them, since the blanks take all line
feeds.

In Unicode properties `tokenizers` 0.23 agrees with us on every character; the `regex` package follows newer
versions of the standard, see `bytemill.splitting`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from bytemill.errors import PatternError
from bytemill.patterns import PATTERNS, WHOLE_TEXT_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["check_python", "from_oniguruma", "matches_everything", "to_oniguruma"]

BLANKS = [r"\s", "++"]
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

# Groups after which it is open whether what they begin with matches in another text too.
DEPENDENT_GROUPS = {"(?=", "(?!", "(?<=", "(?<!", "(?>"}

# What may stand where case does not matter. In Oniguruma "ss" and "st" match single characters too.
CASELESS = re.compile(r"[sdmtlvreSDMTLVRE'\[\]]")
FOLDED_PAIRS = re.compile(r"s[st(\[{]", re.IGNORECASE)


class Element(NamedTuple):
    """A part of a pattern.

    Attributes:
        kind: The name of its group in `ELEMENT`.
        text: How it is spelled.
    """

    kind: str
    text: str


def elements(pattern: str, direction: str, dot_all: str) -> Iterator[Element]:
    """Takes a pattern apart.

    Args:
        pattern: The pattern.
        direction: Between which languages it is to be translated, for messages.
        dot_all: How a group begins in which the dot matches line feeds.

    Raises:
        PatternError: Something in it may have another meaning elsewhere.
    """

    def refuse(why: str) -> NoReturn:
        message = f"the pattern {pattern!r} cannot be translated {direction}: {why}"
        raise PatternError(message)

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
            refuse(f"{element.text!r} may mean something else where it stands")
        yield element
        before = element
    if len(caseless) > 1:
        refuse("a group does not end")


def differs(element: Element, before: Element, following: str, *, caseless: bool) -> bool:
    """Tells whether an element may have another meaning elsewhere.

    Args:
        element: What is neither the beginning nor the end of a group.
        before: What comes before it.
        following: The character that comes after it.
        caseless: Whether case does not matter.
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
    """Spells a pattern for Oniguruma; `PatternError` if something in it may mean something else there."""
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
            out.append(text if out[-2:] == BLANKS else r"\z")
        else:
            atom = atom if kind == "quantifier" else len(out)
            out.append(text)
    return "".join(out)


def from_oniguruma(pattern: str) -> str:
    r"""Spells a pattern of Oniguruma as ours; `PatternError` if something in it may mean something else here.

    For every pattern p, `from_oniguruma(to_oniguruma(p))` is p again, but that `$` stands for `\z`.
    """
    out: list[str] = []
    starts: list[int] = []
    atom = 0
    all_elements = [*elements(pattern, "from Oniguruma", "(?m:"), Element("end", "")]
    for (kind, text), following in pairwise(all_elements):
        if kind == "group":
            starts.append(len(out))
            out.append("(?s:" if text == "(?m:" else text)
        elif kind == "close":
            start = starts.pop()
            if (
                out[start] == "(?>"
                and atom == start + 1
                and out[-1].endswith("}")
                and following.kind != "quantifier"
            ):
                out[start:] = [*out[atom:-1], f"{out[-1]}+"]
            else:
                out.append(text)
            atom = start
        elif text.endswith("}+"):
            out.insert(atom, "(?:")
            out.append(f"{text[:-1]})+")
        elif kind == "end":
            if text == "$" and out[-2:] != BLANKS:
                message = f"the pattern {pattern!r} has `$`, which Oniguruma takes for the end of any line"
                raise PatternError(message)
            out.append("$")
        else:
            atom = atom if kind == "quantifier" else len(out)
            out.append(text)
    return "".join(out)


def check_python(pattern: str) -> None:
    """Checks that `regex.findall` gives the pieces of a pattern; `PatternError` if it may not."""
    before: list[str] = []
    for kind, text in elements(pattern, "to or from Python's package regex", "(?s:"):
        if (kind == "end" and (text != "$" or before[-2:] != BLANKS)) or r"\x" in text:
            message = (
                f"the pattern {pattern!r} has {text!r}, which means something else to the package `regex`"
            )
            raise PatternError(message)
        if text == "(":
            message = (
                f"the pattern {pattern!r} cannot be translated to or from Python's package regex: of a group "
                "that captures, `findall` gives what is in it, not the piece; begin it with `(?:`"
            )
            raise PatternError(message)
        before.append(text)


@lru_cache(maxsize=64)
def matches_everything(pattern: str) -> bool:
    """Tells whether every character of every text is in a match; `False` if that is not certain.

    It is certain if each character, as a whole text, is matched by an alternative that does not look around:
    then that matches wherever the character comes first.

    Complexity:
        Constant for the patterns of `bytemill.patterns`, some seconds for others: it tries all characters.
    """
    if pattern in {*PATTERNS.values(), WHOLE_TEXT_PATTERN}:
        return True
    alternatives = [""]
    depth = 0
    dependent: set[int] = set()  # the alternatives that do not count
    closed = False
    for kind, text in elements(pattern, "to another language", "(?s:"):
        depth += (kind == "group") - (kind == "close")
        if kind == "bar" and depth == 0:
            alternatives.append("")
        else:
            alternatives[-1] += text
        if kind == "end" or text in DEPENDENT_GROUPS or (closed and kind == "quantifier" and text[-1] == "+"):
            dependent.add(len(alternatives) - 1)
        closed = kind == "close"
    independent = [text for i, text in enumerate(alternatives) if i not in dependent]
    if not independent:
        return False

    from bytemill.core import Encoding

    encoding = Encoding(
        "",
        pat_str="|".join(independent),
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={},
    )
    characters = [chr(point) for point in (*range(0xD800), *range(0xE000, 0x110000))]
    return bool(encoding.count_batch(characters).all())
