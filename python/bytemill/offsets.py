"""The part of an encoding that tells where in a text each token is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from bytemill.special import ALL, NO_TOKENS, AllowedSpecial, DisallowedSpecial, resolve_for_core

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bytemill._core import CoreBPE  # noqa: TID251 - its type only

__all__ = ["EncodedWithOffsets", "OffsetEncoder"]


class EncodedWithOffsets(NamedTuple):
    """Ids and where each is in the text: token i is `text[starts[i] : ends[i]]`.

    Attributes:
        ids: The ids, of shape (tokens,) and dtype uint32.
        starts: Where each token starts, of the same shape and dtype int64.
        ends: Where each token ends, of the same shape and dtype int64.
    """

    ids: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


class OffsetEncoder:
    """What `Encoding` inherits."""

    _core_bpe: CoreBPE
    _special_tokens: dict[str, int]

    def encode_with_offsets(
        self,
        text: str,
        *,
        unit: Literal["char", "byte"] = "char",
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> EncodedWithOffsets:
        """Encodes text as `encode` does, and tells where in it each token is.

        Places are counted in the text that is encoded: surrogate pairs are one character, lone surrogates
        U+FFFD. Where all of it is encoded, as with the built-in patterns, `starts` in characters are those
        that `decode_with_offsets` gives for the ids; text that a custom pattern drops lies between the end of
        a token and the start of the next.

        Args:
            text: Any string.
            unit: "char" counts characters: a token that starts or ends inside a character has the place of
                the beginning or of the end of that character, so that `text[start:end]` has all the
                characters that the token is part of. "byte" counts bytes of UTF-8, which every token starts
                and ends between.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`.

        Returns:
            The ids, where each starts and where it ends. The arrays may be written to.

        Raises:
            ValueError: `unit` is neither "char" nor "byte".
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`.

        Complexity:
            That of `encode`, and O(text).
        """
        if unit not in ("char", "byte"):
            message = f"unit must be 'char' or 'byte', not {unit!r}"
            raise ValueError(message)
        special_tokens = self._special_tokens.keys()
        allowed, disallowed = resolve_for_core(special_tokens, allowed_special, disallowed_special)
        places = self._core_bpe.encode_with_offsets(text, allowed, disallowed, unit == "char")
        return EncodedWithOffsets(*places)
