r"""Kimi's folders: ranks in `tiktoken.model`, and a `tokenizer_config.json` that names their special tokens.

The pattern is in the program that comes with the models, and is the same for all of them (K2, K2.5, Linear,
VL, Moonlight). The IDs behind the ranks are special tokens: those that the configuration names in
`added_tokens_decoder`, and reserved ones.

That program also cuts texts before it splits them: after 400,000 characters, and after 25,000 in a row that
are all blanks or all others. bytemill does not do that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.definition import Definition

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["definition_of", "looks_like_config"]

# The name of the class in the program.
TOKENIZER_CLASS = "TikTokenTokenizer"

# How many ids behind the ranks are special tokens.
SPECIAL = 258

HAN = r"\p{Han}"
UPPER = rf"[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^{HAN}]]"
LOWER = rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^{HAN}]]"
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

# o200k's, with Han characters apart from other letters.
PATTERN = "|".join(
    [
        rf"[{HAN}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def looks_like_config(config: Value) -> bool:
    """Returns whether a `tokenizer_config.json` is that of one of these models."""
    return bool(config["tokenizer_class"].contents == TOKENIZER_CLASS)


def definition_of(ranks: dict[bytes, int], config: Value, name: str, source: str) -> Definition:
    """Returns the definition of ranks with their configuration.

    Args:
        ranks: The rank of each mergeable token.
        config: The contents of `tokenizer_config.json`.
        name: The name of the definition.
        source: Where the ranks come from, for messages.

    Raises:
        VocabularyError: Ranks or configuration are malformed; the message has file, entry and reason.
    """
    named = config["added_tokens_decoder"]
    contents = {} if named.is_null else {number: named[number]["content"].text() for number in named.object()}
    size = len(ranks)
    ids = {str(token_id): token_id for token_id in range(size, size + SPECIAL)}
    if other := next((number for number in contents if number not in ids), None):
        named.refuse(f"expected ids from {size} to {size + SPECIAL - 1}, those after the ranks, got {other}")
    special_tokens: dict[str, int] = {}
    for number, token_id in ids.items():
        text = contents.get(number, f"<|reserved_token_{number}|>")
        if text in special_tokens:
            named.refuse(f"the token {text!r} has the ids {special_tokens[text]} and {token_id}")
        special_tokens[text] = token_id
    return Definition(name, PATTERN, ranks, special_tokens).check(source)
