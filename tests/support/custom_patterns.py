"""Patterns in every syntax of Rust's engine, and a small vocabulary to encode with them."""

from __future__ import annotations

from typing import Any

import bytemill
from support.toys import BYTE_RANKS

__all__ = ["PATTERNS_OF_RUST", "RANKS", "encoding_with", "parts"]

RANKS = BYTE_RANKS | {
    token: 256 + rank
    for rank, token in enumerate(
        [b"ab", b"aa", b"abc", b"  ", b"12", "\u4e2d".encode()[:2], b"th", b"the", b" the"]
    )
}


def parts(pattern: str, **others: Any) -> dict[str, Any]:
    return {"name": "custom", "pat_str": pattern, "mergeable_ranks": RANKS, "special_tokens": {}} | others


def encoding_with(pattern: str) -> bytemill.Encoding:
    return bytemill.Encoding(**parts(pattern))


PATTERNS_OF_RUST = {
    "letters only": r"\p{L}+",
    "no blanks": r"[^\s]+",
    "words": r"\w+|\W+",
    "one character": r"(?s).",
    "one character of a line": r".",
    "lookahead": r"\w+(?=\s)|\s+|\S",
    "negative lookahead": r"\w+(?!\S)|\w|\W",
    "lookbehind": r"(?<=a)b+|a+|.",
    "negative lookbehind": r"(?<!a)b+|[^b]+|b",
    "lookbehind of any length": r"(?<=a*)b|(?<!\w{1,3})a|.",
    "lookahead at the start": r"(?=\w)\w+|.",
    "backreference": r"(\w)\1*|\W",
    "backreference regardless of case": r"(?i)(\w)\1|.",
    "named backreference": r"(?<c>\w)\k<c>*|\W",
    "Python's named backreference": r"(?P<n>a)(?P=n)|.",
    "subroutine": r"(?<x>a)(?<y>b)\g<x>|.",
    "recursion": r"\((?:[^()]|(?R))*\)|[^()]+|[()]",
    "conditional": r"(a)?(?(1)b|c)|.",
    "atomic group": r"(?>a+)b|a|.",
    "possessive": r"a++b|a|.",
    "lazy": r"a+?b|.+?\n|.",
    "swapped greed": r"(?U)a+|.",
    "counted": r"a{2,3}|a{1}b|.",
    "start of the match moved": r"a\Kb|.",
    "case": r"(?i)[a-z]+|.",
    "case folding to one character": r"(?i:\xdf)+|(?i:k)+|(?i:\u017f)|.",
    "case folding of Greek": r"(?i)\u03c3+|.",
    "case in a part": r"\p{Ll}(?i)\p{Lu}|(?:a)(?i)b|.",
    "comments": r"(?x) \w+ | \s+ # words, blanks",
    "inline comment": r"(?#comment)a|.",
    "start and end of text": r"^\w+|\w+$|.",
    "absolute start and end": r"\A\w+|\w+\z|.",
    "end before line ends": r"\w+\Z|.|\n",
    "start and end of line": r"(?m)^\w+$|.|\n",
    "word boundary": r"\b\w+\b|.",
    "not a word boundary": r"\B\w|.",
    "where the last match ended": r"\Gab|.",
    "intersection": r"[a-z&&[^aeiou]]+|.",
    "difference": r"[\p{L}--[a-z]]+|.",
    "symmetric difference": r"[\w~~[a-z]]+|.",
    "nested classes": r"[a[bc]1]+|.",
    "bracket in a class": r"[]a]+|[^]a]|.",
    "POSIX classes": r"[[:alpha:]]+|[[:^alpha:]]+",
    "hexadecimal digits": r"\h+|\H+",
    "any line end": r"\R|.",
    "vertical tab": r"\v|\e|.",
    "script": r"\p{Han}+|\p{Script=Greek}+|.",
    "properties": r"\p{Alphabetic}+|\p{Emoji}+|\p{M}+|.",
    "category with a name": r"\p{gc=Lu}\p{Letter}*|\pN+|\P{L}",
    "code points": r"\x{4e2d}+|\u{4e2d}|\u4f60+|\x41|.",
    "two alternatives alike": r"(a)|(b)|(a)",
    "literal braces": r"(?:ab){e<=1}|.",
}
