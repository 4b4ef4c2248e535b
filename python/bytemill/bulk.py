"""The part of an encoding for much text: arrays and counts, without a Python object for each token."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.decoding import thread_count
from bytemill.special import (
    NO_TOKENS,
    AllowedSpecial,
    DisallowedSpecial,
    resolve_for_core,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

    from bytemill._core import CoreBPE  # noqa: TID251 - its type only

__all__ = ["BulkEncoder", "Ragged"]

HOW_TO_NAME_TOKENS = "`encode_single_token` gives the id of a token, `eot_token` that of the end of a text"


class Ragged(NamedTuple):
    """The ids of many texts, one after the other.

    Attributes:
        ids: All ids, of shape (tokens,).
        offsets: Where each text starts, of shape (texts + 1,) and dtype int64: the ids of text i are
            `ids[offsets[i] : offsets[i + 1]]`. The first is 0, the last the number of ids.
    """

    ids: npt.NDArray[np.integer[Any]]
    offsets: npt.NDArray[np.int64]


class BulkEncoder:
    """What `Encoding` inherits. In these methods special tokens are ordinary text unless they are allowed.

    The arrays are fresh memory that the caller may write to.
    """

    max_token_value: int
    _core_bpe: CoreBPE
    _special_tokens: dict[str, int]

    def encode_batch_to_numpy(  # noqa: PLR0913 - all but the texts have names
        self,
        texts: Iterable[str],
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
        prepend: int | Sequence[int] | None = None,
        append: int | Sequence[int] | None = None,
        dtype: npt.DTypeLike | None = None,
        num_threads: int | None = None,
    ) -> Ragged:
        """Encodes many texts in parallel into one array.

        Args:
            texts: The texts. A single string counts as the texts of its characters.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`, but by default nothing is an error.
            prepend: A token id, or several, to put before the ids of each text.
            append: A token id, or several, to put after the ids of each text.
            dtype: The integer type of the ids; uint32 if not given. uint16 holds vocabularies below 65,536.
            num_threads: How many threads may work; all processors if not given, one in a process that
                `multiprocessing` has started.

        Returns:
            The ids of all texts, and where those of each text start and end.

        Raises:
            ValueError: `num_threads` is not positive, `dtype` is no integer type that holds every id up to
                `max_token_value`, or `prepend` or `append` is no token of this encoding.
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`, for the first text that fails.

        Complexity:
            That of `encode` for each text, divided by the threads. While the ids of several threads are put
            together, they are in memory twice, 4 bytes each.
        """
        special_tokens = self._special_tokens.keys()
        allowed, disallowed = resolve_for_core(special_tokens, allowed_special, disallowed_special)
        threads = thread_count(num_threads)
        kind = None if dtype is None else integer_type(dtype, self.max_token_value)
        before = known_ids("prepend", prepend, self._core_bpe)
        after = known_ids("append", append, self._core_bpe)
        texts = list(texts)
        name = "uint32" if kind is None else kind.name
        ids, offsets = self._core_bpe.encode_batch_to_numpy(
            texts, allowed, disallowed, before, after, name, threads
        )
        # The other byte order, if that is wanted.
        return Ragged(ids if kind is None else ids.astype(kind, copy=False), offsets)

    def encode_ordinary_to_numpy(self, text: str, *, num_threads: int | None = 1) -> npt.NDArray[np.uint32]:
        """Encodes text to an array of shape (tokens,) and dtype uint32, otherwise as `encode_ordinary`.

        Args:
            text: Any string.
            num_threads: How many threads may work, where the text can be cut without changing its ids.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: As `encode_ordinary`.
        """
        return self._core_bpe.encode_ordinary_to_numpy(text, thread_count(num_threads))

    def encode_bytes(self, data: Buffer) -> list[int]:
        """Encodes text in UTF-8 without making a `str` of it, as `encode_ordinary` does.

        Bytes that are not UTF-8 are encoded too: those from the first offending one on, and the piece before
        it, are taken for one piece.

        Args:
            data: `bytes`, or any other contiguous buffer of them: `bytearray`, `memoryview`, `mmap`, a NumPy
                array of uint8. Anything that does not end in `bytes` is copied first, as it may change
                meanwhile. A mapped file that is truncated during the call raises `SIGBUS`, as anywhere.

        Raises:
            TypeError: `data` is no such buffer.
            PatternError: The engine of a custom pattern gives up on this text.
        """
        return self._core_bpe.encode_bytes(data)

    def count(self, text: str) -> int:
        """Tells how many ids `encode_ordinary` gives for a text, without making them.

        Raises:
            TypeError, PatternError: As `encode_ordinary`.

        Complexity:
            That of `encode_ordinary`; memory for one piece.
        """
        return self._core_bpe.count(text)

    def count_batch(self, texts: Iterable[str], *, num_threads: int | None = None) -> npt.NDArray[np.int64]:
        """Tells how many ids `encode_ordinary` gives for each of many texts, in parallel.

        Args:
            texts: The texts. A single string counts as the texts of its characters.
            num_threads: How many threads may work; all processors if not given, one in a process that
                `multiprocessing` has started.

        Returns:
            The numbers, of shape (texts,) and dtype int64.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: As `encode_ordinary`, for the first text that fails.
        """
        threads = thread_count(num_threads)
        # In Python: inside the core, an import that Ctrl-C interrupts would be an internal error.
        import numpy as np  # noqa: F401

        return self._core_bpe.count_batch(list(texts), threads)


def known_ids(name: str, tokens: int | Sequence[int] | None, core: CoreBPE) -> list[int]:
    """Gives the ids of the argument called `name`; refuses those that are no tokens."""
    if tokens is None:
        return []
    try:
        ids = list(map(index, tokens if isinstance(tokens, Iterable) else [tokens]))
    except TypeError:
        message = f"{name} must be a token id or a sequence of them, not {tokens!r}; {HOW_TO_NAME_TOKENS}"
        raise TypeError(message) from None
    for token in ids:
        if not core.is_token(token):
            message = f"{name} has the id {token}, which is no token of this encoding; {HOW_TO_NAME_TOKENS}"
            raise ValueError(message)
    return ids


def integer_type(dtype: npt.DTypeLike, highest: int) -> np.dtype[Any]:
    """Gives the NumPy type `dtype`; refuses one that cannot hold ids up to `highest`."""
    import numpy as np

    kind = np.dtype(dtype)
    if kind.kind not in "iu" or np.iinfo(kind).max < highest:
        message = (
            f"dtype {kind} cannot hold token ids up to {highest}: expected an integer type that can, such as "
            f"{np.min_scalar_type(highest)}"
        )
        raise ValueError(message)
    return kind
