r"""Split text into pieces with the `regex` package.

This is the splitter of the reference, and the fallback for patterns that neither the native splitter nor its
Rust regex engine supports.

A pattern means here what it means to tiktoken, which compiles it with Rust's `fancy-regex`. `regex` differs
from that engine in a few places, and `_to_python` translates them:

- `$` and `\z` match only at the end of the text; Python's `$` also matches before a final line break.
- `\Z` also matches before line breaks at the end of the text; Python's matches only at the end.
- `\x{41}` and `\u{41}` are code points; `regex` has no such escape.
- Nested classes, `&&`, `--` and `~~` are set operations, and case folding maps one character to one
  character. Both are options of `regex`: its version 1 without full case folding.

Not translated: `\h` (hexadecimal digits in Rust, horizontal whitespace here), POSIX classes such as
`[[:alpha:]]` (ASCII in Rust), and `(?i:i)`, which here also matches U+0130. No pattern of `patterns`
contains them.

The Unicode version differs, too. The Rust engine has Unicode 16.0; the releases of `regex` follow the
standard. Its release 2026.11.15 takes 17,144 more code points for letters (`\p{L}`), 336 more for numbers
(`\p{N}`) and 79 more for marks (`\p{M}`), all of them unassigned in Unicode 16.0, and one letter has changed
its category: U+0295 is `\p{Ll}` there and `\p{Lo}` here. Both have the same 25 whitespace characters
(`\s`, White_Space: U+0085 is one, U+001C to U+001F are not) and the same case folding for the letters of the
contractions (U+017F folds to s). A text of characters that Unicode 16.0 knows, U+0295 in o200k aside, is
split the same by both.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from bytemill.errors import PatternError, UnsupportedPatternError

if TYPE_CHECKING:
    import regex  # type: ignore[import-untyped]  # the package ships no types

__all__ = ["Splitter", "repair_surrogates"]


def repair_surrogates(text: str) -> str:
    """Joins pairs of surrogates to the character they encode; lone ones become U+FFFD.

    Raises:
        TypeError: `text` is not a string.
    """
    return str.encode(text, "utf-16", "surrogatepass").decode("utf-16", "replace")


class Splitter:
    """A compiled split pattern.

    Calling it returns the pieces as UTF-8 byte offsets, the form that the compiled core takes. A splitter is
    immutable and may be shared between threads.
    """

    def __init__(self, pattern: str) -> None:
        """Compiles a pattern.

        Args:
            pattern: The regular expression; its matches are the pieces.

        Raises:
            PatternError: It does not compile, or it matches the empty string.
        """
        import regex

        try:
            self._pattern = regex.compile(_to_python(pattern), regex.VERSION1)
        except (regex.error, ValueError, OverflowError, RecursionError) as error:
            raise UnsupportedPatternError(
                f"the split pattern {pattern!r} does not compile: {getattr(error, 'msg', error)}"
            ) from error
        self.pattern = pattern
        # Most patterns that can match the empty string do so here; others are detected in use.
        for probe in ("", "aA1 .\r\n"):
            self._spans(probe)

    def __repr__(self) -> str:
        return f"Splitter({self.pattern!r})"

    def split(self, text: str) -> list[str]:
        """Returns the pieces of a text in order; text between matches is dropped.

        Args:
            text: Any string.

        Raises:
            PatternError: The pattern matched the empty string.

        Complexity:
            Linear for the patterns of `patterns`, except in whitespace runs with line breaks; a custom
            pattern can cost more.
        """
        return [text[start:end] for start, end in self._spans(text)]

    def __call__(self, text: str) -> list[int]:
        """Returns the pieces as flat offsets [start, end, start, end, ...] into the UTF-8 bytes of a text.

        Args:
            text: Any string without surrogates.

        Raises:
            PatternError: As `split`.
            UnicodeEncodeError: The text holds surrogates.

        Complexity:
            That of `split`, plus one pass over the text.
        """
        offsets = list(itertools.chain.from_iterable(self._spans(text)))
        if text.isascii():
            return offsets
        # From characters to bytes: measure the text between consecutive offsets.
        lengths = (len(text[start:end].encode()) for start, end in itertools.pairwise([0, *offsets]))
        return list(itertools.accumulate(lengths))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        spans = [match.span() for match in self._pattern.finditer(text)]
        if any(start == end for start, end in spans):
            raise PatternError(f"the split pattern {self.pattern!r} can match the empty string")
        return spans


# Elements of a pattern that are translated; "[]" and "[^]" contain a literal bracket.
_ELEMENT = r"(?s)\\[xu]\{([0-9A-Fa-f]+)\}|\\.|\[\^?\]?|\]|\$"
_ANCHORS = {"$": r"\Z", r"\z": r"\Z", r"\Z": r"(?=\n*\Z)"}


def _to_python(pattern: str) -> str:
    """Translates a pattern from the syntax of `fancy-regex` to that of `regex`; see the module docstring."""
    import regex

    # With (?m), `$` means the same in both engines; then it is left alone in the whole pattern.
    multiline = regex.search(r"\(\?[a-zA-Z]*m", pattern)
    depth = 0

    def translate(match: regex.Match[str]) -> str:
        nonlocal depth
        element: str = match.group()
        if match[1]:
            return str(regex.escape(chr(int(match[1], 16))))
        if element.startswith("["):
            depth += 1
        elif element == "]":
            depth = max(depth - 1, 0)
        elif depth == 0 and not (element == "$" and multiline):
            return _ANCHORS.get(element, element)
        return element

    # (?-f): no full case folding, so that (?i:ß) does not match "ss".
    return "(?-f)" + str(regex.sub(_ELEMENT, translate, pattern))
