"""The tokenizer that does not split text."""

from __future__ import annotations

from bytemill.minbpe._compiled import CompiledTokenizer

__all__ = ["BasicTokenizer"]


class BasicTokenizer(CompiledTokenizer):
    """Without splitting: merges may join anything, and special tokens are ordinary text."""

    @property
    def _splitting(self) -> None:
        """No pattern, even if a loaded file has one, same as in minbpe."""
        return
