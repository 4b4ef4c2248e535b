r"""The split patterns: the regular expressions whose matches are the pieces of a text.

Three families cover almost every published byte-level vocabulary. Within a family the spellings differ in
speed and sometimes in a detail. A name stands for one exact spelling, because the text of a pattern is part
of a definition, and the native splitter recognizes it.

Every pattern tries its alternatives in order at each offset and takes the first that matches. `++`, `?+` and
`*+` are possessive: they never give back what they matched. All patterns match every character of a text.
"""

from __future__ import annotations

__all__ = [
    "CL100K_PATTERN",
    "GPT2_PATTERN",
    "LLAMA3_PATTERN",
    "MINBPE_GPT2_PATTERN",
    "MINBPE_GPT4_PATTERN",
    "NANOCHAT_PATTERN",
    "O200K_PATTERN",
    "PATTERNS",
    "QWEN2_PATTERN",
    "R50K_PATTERN",
    "WHOLE_TEXT_PATTERN",
    "described_pattern",
    "resolve_pattern",
]

# --- The r50k family: a space may begin a piece of letters, of numbers or of other characters. ---

# As GPT-2 was released, and as its many descendants with a "byte level" pre-tokenizer still have it.
GPT2_PATTERN = (
    r"'s|'t|'re|'ve|'m|'ll|'d"  # the English contractions, in lower case
    r"| ?\p{L}+"  # letters, with one space before them if there is one
    r"| ?\p{N}+"  # numbers, likewise
    r"| ?[^\s\p{L}\p{N}]+"  # anything else that is not whitespace, likewise
    r"|\s+(?!\S)"  # whitespace, without its last character if a word follows: that begins the next piece
    r"|\s+"  # that last character, where no alternative above matches it
)

# The same with the contractions in a group.
MINBPE_GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# tiktoken's for gpt2, r50k_base, p50k_base and p50k_edit: the same pieces, found with less backtracking.
R50K_PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)"
    r"| ?\p{L}++"
    r"| ?\p{N}++"
    r"| ?[^\s\p{L}\p{N}]++"
    r"|\s++$"  # whitespace at the end of the text: the next alternative matches it too, but with backtracking
    r"|\s+(?!\S)"
    r"|\s"
)

# --- The cl100k family: any one character may begin a piece of letters, numbers come in short groups. ---

# tiktoken's for cl100k_base.
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)"  # contractions in either case; U+017F, the long s, folds to s
    r"|[^\r\n\p{L}\p{N}]?+\p{L}++"  # letters, after one character that is no line break, letter or number
    r"|\p{N}{1,3}+"  # up to three numbers
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+"  # other characters, a space before them and the line breaks after them
    r"|\s++$"  # whitespace at the end of the text, line breaks included
    r"|\s*[\r\n]"  # whitespace up to and including its last line break
    r"|\s+(?!\S)"  # whitespace, without its last character if a word follows
    r"|\s"  # that last character, where no alternative above matches it
)

# The first published spelling of cl100k, and Llama 3's. Line breaks come before the whitespace at the end of
# the text: "\n  " at the end is two pieces here and one in CL100K_PATTERN.
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)

# A later spelling for the same pieces, known as the GPT-4 pattern of teaching code.
MINBPE_GPT4_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)"
    r"|[^\r\n\p{L}\p{N}]?+\p{L}+"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]"
    r"|\s+(?!\S)"
    r"|\s+"
)

# The GPT-4 pattern with at most two numbers to a piece, for vocabularies too small to hold every group of
# three.
NANOCHAT_PATTERN = MINBPE_GPT4_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}{1,2}")

# Llama 3's with each number a piece of its own.
QWEN2_PATTERN = LLAMA3_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")

# --- The o200k family: words are also split where an upper-case letter follows a lower-case one. ---

# tiktoken's for o200k_base and o200k_harmony. Modifier and other letters and marks go with either case.
O200K_PATTERN = (
    # upper-case letters, then at least one lower-case letter, after an optional first character as above
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"  # a contraction belongs to the word before it
    # the same with at least one upper-case letter instead, for words in capitals
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"  # other characters also take the slashes after them
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)

# No splitting: a text is a single piece.
WHOLE_TEXT_PATTERN = r"(?s:.+)"

PATTERNS: dict[str, str] = {
    "gpt2": GPT2_PATTERN,
    "minbpe_gpt2": MINBPE_GPT2_PATTERN,
    "r50k": R50K_PATTERN,
    "cl100k": CL100K_PATTERN,
    "llama3": LLAMA3_PATTERN,
    "minbpe_gpt4": MINBPE_GPT4_PATTERN,
    "nanochat": NANOCHAT_PATTERN,
    "qwen2": QWEN2_PATTERN,
    "o200k": O200K_PATTERN,
}


# What a message shows of a regular expression.
SHOWN = 60


def described_pattern(pattern: str | None) -> str:
    """Returns a pattern for a message: its name in `PATTERNS` if it has one, else the start of it."""
    if pattern is None or pattern == WHOLE_TEXT_PATTERN:
        return "no pattern"
    name = next((name for name, known in PATTERNS.items() if known == pattern), None)
    if name is not None:
        return f"the pattern {name!r}"
    return f"the pattern {pattern!r}" if len(pattern) <= SHOWN else f"the pattern {pattern[:SHOWN]!r}..."


def resolve_pattern(pattern: object) -> str | None:
    """Returns the regular expression that a name in `PATTERNS` stands for, and others unchanged.

    `None`, and the pattern that matches any whole text, both become `None`.

    Raises:
        ValueError: It is an unknown name, which as a regular expression would match only itself.
        TypeError: It is neither a string nor `None`.
    """
    if pattern is None or pattern == WHOLE_TEXT_PATTERN:
        return None
    if not isinstance(pattern, str):
        raise TypeError(f"expected a pattern as a string or None, got {type(pattern).__name__}")
    if pattern in PATTERNS:
        return PATTERNS[pattern]
    if all(character.isalnum() or character in "_- " for character in pattern):
        meant = pattern.removesuffix("_base")
        hint = f"; that of the encoding {pattern!r} is {meant!r}" if meant in PATTERNS else ""
        raise ValueError(
            f"unknown pattern {pattern!r}: expected one of {', '.join(PATTERNS)}, "
            f"a regular expression, or no splitting (--pattern none, pattern=None){hint}"
        )
    return str(pattern)
