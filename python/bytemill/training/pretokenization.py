"""Sentences that a function cuts into chunks, which no piece crosses.

The function takes a normalized sentence, with marks for spaces, and the boundary U+001F for each string of
the vocabulary in it. Its results are joined by boundaries, and counted unchanged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bytemill._backend import Normalizer
from bytemill.splitting import repair_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bytemill.documents import Document
    from bytemill.training.piece_options import PieceOptions

__all__ = ["PretokenizedSentences"]

BOUNDARY = "\x1f"

# A sentence with this character is left out.
RESERVED = "\N{LOWER FIVE EIGHTHS BLOCK}"


class PretokenizedSentences:
    """Sentences on their way to be counted.

    Attributes:
        too_long: The number of sentences that were left out because they are too long.
    """

    def __init__(
        self,
        cut: Callable[[str], Sequence[str | bytes]],
        options: PieceOptions,
        *,
        allow_inconsistent: bool,
        charsmap: bytes,
        protected: Iterable[str],
    ) -> None:
        """Takes a function and what happens to sentences before it.

        Args:
            cut: Returns the chunks of a sentence.
            options: The options of training.
            allow_inconsistent: Whether chunks may be something else than the sentence, if joined.
            charsmap: The map of characters for normalization.
            protected: Strings that the boundary replaces.
        """
        self._cut = cut
        self._allow_inconsistent = allow_inconsistent
        self._max_length = options.max_sentence_length
        self._normalizer = Normalizer(
            charsmap,
            add_dummy_prefix=options.add_dummy_prefix,
            remove_extra_whitespaces=options.remove_extra_whitespaces,
            treat_whitespace_as_suffix=options.treat_whitespace_as_suffix,
        )
        longest_first = sorted(filter(None, protected), key=len, reverse=True)
        self._protected = re.compile("|".join(map(re.escape, longest_first)))
        self.too_long = 0

    def batches(self, batches: Iterable[list[Document]], *, lines: bool) -> Iterator[list[Document]]:
        """Yields the sentences of batches, ready to be counted.

        Args:
            batches: The sentences, or texts whose lines are sentences.
            lines: Whether the batches hold texts of several lines.

        Raises:
            ValueError: The chunks of a sentence are not the sentence.
            RuntimeError: The function fails, or returns something else than chunks.
        """
        number = 0
        for batch in batches:
            ready: list[Document] = []
            for text in batch:
                for sentence in encoded(text).split(b"\n") if lines else [encoded(text)]:
                    if self._is_kept(sentence):
                        ready.append(self._chunks(sentence, number))
                        number += 1
            yield ready

    def _is_kept(self, sentence: bytes) -> bool:
        is_too_long = len(sentence) > self._max_length
        self.too_long += is_too_long
        return bool(sentence) and not is_too_long and RESERVED.encode() not in sentence

    def _chunks(self, sentence: bytes, number: int) -> str:
        normalized = self._normalizer.normalize(sentence).decode()
        if self._protected.pattern:
            normalized = self._protected.sub(BOUNDARY, normalized)
        chunks = self._call(normalized)
        if not self._allow_inconsistent and (joined := "".join(chunks)) != normalized:
            raise ValueError(
                f"INVALID_ARGUMENT: Pretokenized output mismatch at sample {number}: joined='{joined}', "
                f"original='{normalized}'. Set allow_inconsistent_pretokenization=true to bypass."
            )
        found = BOUNDARY.join(chunks)
        if " " in found:
            raise RuntimeError("INTERNAL: Normalized string must not include spaces")
        if RESERVED in found or found.endswith(("\r", "\n")):
            raise NotImplementedError(
                "sentences that normalization or a pretokenizer ends with a line break, or gives U+2585, are "
                f"not offered, got {found!r:.60}"
            )
        return found

    def _call(self, sentence: str) -> list[str]:
        try:
            chunks: Any = self._cut(sentence)
        except Exception as error:
            raise RuntimeError(f"Pretokenizer failed: {type(error).__name__}: {error}") from error
        if not hasattr(chunks, "__getitem__") or isinstance(chunks, dict):
            raise RuntimeError(
                f"Pretokenizer failed: Object of type '{type(chunks).__name__}' is not an instance of "
                "'sequence'"
            )
        if wrong := [chunk for chunk in chunks if not isinstance(chunk, (str, bytes))]:
            raise RuntimeError(f"Pretokenizer failed: expected chunks as str or bytes, got {wrong[0]!r:.40}")
        return [chunk if isinstance(chunk, str) else chunk.decode() for chunk in chunks]


def encoded(text: Document) -> bytes:
    """Returns a text in UTF-8, or as it is."""
    return repair_surrogates(text).encode() if isinstance(text, str) else bytes(text)
