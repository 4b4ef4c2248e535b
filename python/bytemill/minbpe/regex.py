"""The tokenizer that splits text by a pattern, and has special tokens."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytemill.formats.minbpe_model import hidden_tokens
from bytemill.minbpe._compiled import CompiledTokenizer
from bytemill.patterns import MINBPE_GPT2_PATTERN as GPT2_SPLIT_PATTERN
from bytemill.patterns import MINBPE_GPT4_PATTERN as GPT4_SPLIT_PATTERN

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GPT2_SPLIT_PATTERN", "GPT4_SPLIT_PATTERN", "RegexTokenizer"]

Allowed: TypeAlias = Literal["all", "none", "none_raise"] | AbstractSet[str]


class RegexTokenizer(CompiledTokenizer):
    """With splitting by a pattern, and with special tokens."""

    def __init__(self, pattern: str | None = None) -> None:
        """Initialises a tokenizer with a pattern; GPT-4's if none is given.

        Raises:
            PatternError: On first use: the pattern does not compile or can match the empty string.
        """
        self._set({}, GPT4_SPLIT_PATTERN if pattern is None else pattern, {})

    @cached_property
    def _hidden(self) -> dict[str, str]:
        return hidden_tokens(list(self.special_tokens))

    @property
    def inverse_special_tokens(self) -> dict[int, str]:
        """The special token of each ID that has one."""
        return {token_id: text for text, token_id in self.special_tokens.items()}

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Sets the special tokens, each with its ID, which replace earlier ones."""
        self._set(self.merges, self.pattern, dict(special_tokens))

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes a text in which special tokens are ordinary text."""
        return self._encoding.encode_ordinary(text)

    def encode(self, text: str, allowed_special: Allowed = "none_raise") -> list[int]:
        """Encodes a text.

        Args:
            text: Any string.
            allowed_special: The special tokens to encode as single tokens: "all", "none", a set of them, or
                "none_raise": none, and a special token in the text is an error. Of several that begin at the
                same place, the first one in the dictionary is encoded.

        Raises:
            AssertionError: A special token is in the text, and `allowed_special` is "none_raise".
            ValueError: `allowed_special` is none of these.
        """
        if isinstance(allowed_special, (set, frozenset)) or allowed_special == "all":
            allowed = allowed_special
            if self._hidden:
                # Of these alone, other ones may be hidden.
                given = [token for token in self.special_tokens if allowed == "all" or token in allowed]
                allowed = {*given} - hidden_tokens(given).keys()
            return self._encoding.encode(text, allowed_special=allowed, disallowed_special=())
        if allowed_special == "none_raise":
            found = [token for token in self.special_tokens if token in text]
            if found:
                raise AssertionError(found)
        elif allowed_special != "none":
            raise ValueError(f"allowed_special={allowed_special} not understood")
        return self.encode_ordinary(text)
