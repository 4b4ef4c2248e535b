"""The part of an encoding that tells of its tokens: which there are, what they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.ambiguity import warn_of_ambiguity

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bytemill._core import CoreBPE  # noqa: TID251 - its type only
    from bytemill.core import Encoding

__all__ = ["PieceExplanation", "Vocabulary"]

# Ids are below that.
NO_TOKEN = 2**32 - 1


class PieceExplanation(NamedTuple):
    """How one piece of a text becomes ids.

    Attributes:
        piece: The bytes of the piece.
        steps: The parts of the piece: first its single bytes, then what each merge leaves. A piece that is a
            token is taken for it whatever its merges; where these would give something else, there are two
            steps only, the bytes and the piece.
        ids: The ids of the parts of the last step.
    """

    piece: bytes
    steps: list[list[bytes]]
    ids: list[int]


class Vocabulary:
    """What `Encoding` inherits."""

    name: str
    max_token_value: int
    _pat_str: str
    _special_tokens: dict[str, int]
    _special_token_values: set[int]
    _core_bpe: CoreBPE

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        # Built-in encodings make it when asked: the dictionary takes longer than everything else about them.
        return self._core_bpe.mergeable_ranks()

    # --- Which tokens there are ---

    @property
    def n_vocab(self) -> int:
        """The highest token id plus one: more than there are tokens if ids leave gaps."""
        return self.max_token_value + 1

    def token_byte_values(self) -> list[bytes]:
        """Gives the bytes of all mergeable tokens, sorted."""
        return self._core_bpe.token_byte_values()

    def token_lengths(self) -> npt.NDArray[np.int32]:
        """Tells how many bytes each mergeable token has, as an array to look ids up in.

        Returns:
            The lengths by id, of shape (n_vocab,) and dtype int32; 0 for special tokens and for ids that are
            no token.

        Complexity:
            O(n_vocab).
        """
        import numpy as np

        ids, lengths = self._core_bpe.token_lengths()
        by_id = np.zeros(self.n_vocab, dtype=np.int32)
        by_id[ids] = lengths
        return by_id

    def vocab(self) -> dict[int, bytes]:
        """Gives the bytes of every token, special ones as UTF-8, in the order of the ids."""
        tokens = {token_id: token for token, token_id in self._mergeable_ranks.items()}
        for text, token_id in self._special_tokens.items():
            tokens.setdefault(token_id, text.encode())
        return dict(sorted(tokens.items()))

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of all that decides about ids, in hexadecimal digits: of everything but the name.

        `bytemill.fingerprint` says of which bytes.

        Complexity:
            O(vocabulary), once.
        """
        from bytemill.fingerprint import vocabulary_sha256

        return vocabulary_sha256(self._pat_str, self._mergeable_ranks, self._special_tokens)

    # --- What they are made of ---

    def merges(self) -> list[tuple[int, int]]:
        """Gives the two tokens that each mergeable token of more than one byte is made of, in rank order.

        Raises:
            VocabularyError: A token is not made of exactly two others of lower rank.
        """
        return self._core_bpe.merges()

    def explain(self, text: str) -> list[PieceExplanation]:
        """Shows how a text becomes ids: its pieces, and merge by merge what becomes of each.

        Args:
            text: Any string; special tokens are ordinary text. Meant for short ones.

        Returns:
            The pieces in order. Their ids, joined, are those of `encode_ordinary`.

        Raises:
            TypeError, PatternError: As `encode_ordinary`.

        Complexity:
            Time and memory quadratic in the length of each piece.
        """
        # Only here: it imports the regular expressions.
        from bytemill.reference import merge_steps

        explanations = []
        for piece in map(str.encode, self._core_bpe.split(text)):
            steps = list(merge_steps(piece, self._mergeable_ranks))
            if piece in self._mergeable_ranks and steps[-1] != [piece]:
                steps = [steps[0], [piece]]
            explanations.append(PieceExplanation(piece, steps, self._core_bpe.encode_single_piece(piece)))
        return explanations

    # --- Which are special ---

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; `KeyError` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Tells whether an id is that of a special token; `AssertionError` if it is not an `int`."""
        if not isinstance(token, int):
            raise AssertionError  # noqa: TRY004 - as in tiktoken
        return token in self._special_token_values

    # --- Other encodings ---

    def with_special_tokens(self, special_tokens: Mapping[str, int], *, name: str | None = None) -> Encoding:
        """Makes an encoding with more special tokens; the vocabulary is shared, not copied.

        Args:
            special_tokens: The id of each special token to add. One that this encoding has already may be
                among them, with the id that it has.
            name: The name of the encoding; if not given, that of this one followed by "_extended".

        Raises:
            ValueError: An id belongs to another token or is out of range, a special token has another id
                already, or it is the empty string.
            TypeError: They are no mapping, a special token is not a string, or its id not an integer.

        Warns:
            UserWarning: A special token is the beginning of another.

        Complexity:
            O(special tokens).
        """
        from bytemill.core import Encoding

        if not isinstance(special_tokens, Mapping):
            message = (  # type: ignore[unreachable]
                "expected special tokens as a mapping of their texts to their ids, got "
                f"{type(special_tokens).__name__}"
            )
            raise TypeError(message)
        together = dict(self._special_tokens)
        taken = {token_id: text for text, token_id in self._special_tokens.items()}
        for text, token_id in map(checked, special_tokens.items()):
            if together.get(text) == token_id:
                continue
            if problem := self._clash(text, token_id, together, taken):
                message = f"cannot add the special token {text!r} with the id {token_id}: {problem}"
                raise ValueError(message)
            together[text], taken[token_id] = token_id, text
        encoding = Encoding._around(  # noqa: SLF001 - of this package
            f"{self.name}_extended" if name is None else name,
            pat_str=self._pat_str,
            special_tokens=together,
            max_token_value=max([self.max_token_value, *together.values()]),
            core=self._core_bpe.with_special_tokens(together),
        )
        warn_of_ambiguity({}, together)
        return encoding

    def _clash(
        self, text: str, token_id: int, special_tokens: Mapping[str, int], taken: Mapping[int, str]
    ) -> str | None:
        """Says why a special token cannot be added."""
        if not text:
            return "expected at least one character, or it would be found everywhere"
        if text in special_tokens:
            return f"it has the id {special_tokens[text]} already"
        if not 0 <= token_id < NO_TOKEN:
            return f"expected an id from 0 to {NO_TOKEN - 1}"
        if token_id in taken:
            return f"that is the id of {taken[token_id]!r}; ids from {self.n_vocab} on are free"
        if self._core_bpe.is_token(token_id):
            token = self._core_bpe.decode_single_token_bytes(token_id)
            return f"that is the id of the token {token!r}; ids from {self.n_vocab} on are free"
        return None

    def with_vocab_size(self, vocab_size: int, *, name: str | None = None) -> Encoding:
        """Makes an encoding of the first merges only: what training to that size would have given.

        Args:
            vocab_size: The number of ids: of the mergeable tokens that are kept, and of the special tokens,
                which follow them in the order of their ids.
            name: The name of the encoding; if not given, that of this one followed by the size.

        Raises:
            ValueError: This encoding has fewer ids, or so few do not hold the bytes and the special tokens.
        """
        from bytemill.core import Encoding

        special_ids = sorted(self._special_token_values)
        kept = vocab_size - len(special_ids)
        ranks = {token: rank for token, rank in self._mergeable_ranks.items() if rank < kept}
        if len(ranks) != kept or sum(len(token) == 1 for token in ranks) < 256:  # noqa: PLR2004 - byte tokens
            message = (
                f"expected a vocab_size from {256 + len(special_ids)} to {self.n_vocab}, "
                f"below any gap in the ids of mergeable tokens, got {vocab_size}"
            )
            raise ValueError(message)
        new_id = {token_id: kept + i for i, token_id in enumerate(special_ids)}
        return Encoding(
            f"{self.name}_{vocab_size}" if name is None else name,
            pat_str=self._pat_str,
            mergeable_ranks=ranks,
            special_tokens={text: new_id[token_id] for text, token_id in self._special_tokens.items()},
        )


def checked(special_token: tuple[Any, Any]) -> tuple[str, int]:
    """Gives a special token and its id; refuses what is no text and no number."""
    text, token_id = special_token
    if not isinstance(text, str) or not hasattr(token_id, "__index__"):
        message = f"expected special tokens as strings with integers as ids, got {text!r}: {token_id!r}"
        raise TypeError(message)
    return text, index(token_id)
