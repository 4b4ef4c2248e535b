"""From text to SentencePiece models.

The same text and options give the pieces, their order, scores and types that SentencePiece 0.2.3 gives, with
any number of threads. There is one exception: if there are more than `input_sentence_size` sentences,
SentencePiece keeps different ones in every process; here `seed` determines them.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill import _backend
from bytemill._backend import Normalizer
from bytemill.splitting import repair_surrogates
from bytemill.training.piece_options import MetaPieces, PieceOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from io import FileIO

    from bytemill.documents import Document

__all__ = [
    "PretokenizedSentences",
    "TrainedPieces",
    "learn_pieces",
    "line_batches",
    "sentence_batches",
]

# Bytes of a file, and sentences of an iterator, that are read at once.
READ_BYTES = 1 << 19
BATCH_SENTENCES = 1 << 16
BATCH_CHARACTERS = 1 << 22


class TrainedPieces(NamedTuple):
    """Learned pieces.

    Attributes:
        pieces: All pieces in the order of their IDs, each with its score and type.
        options: By which options.
        sentences: The number of sentences read.
        too_long: The number of sentences that were left out because they are too long.
    """

    pieces: list[tuple[str, float, int]]
    options: PieceOptions
    sentences: int
    too_long: int


def learn_pieces(  # noqa: PLR0913 - all but the first two have names
    batches: Iterable[list[Document]],
    given: Mapping[str, Any],
    *,
    lines: bool,
    charsmap: bytes = b"",
    num_threads: int = 1,
    report: Callable[[int, int], object] | None = None,
    pretokenizer: Callable[[str], Sequence[str | bytes]] | None = None,
    allow_inconsistent: bool = False,
) -> TrainedPieces:
    """Learns the pieces of a model.

    Args:
        batches: The sentences, or texts whose lines are sentences.
        given: Options by name, as in `PieceOptions`.
        lines: Whether the batches hold texts of several lines.
        charsmap: The map of characters for normalization, in the form of a model file.
        num_threads: The maximum number of threads.
        report: Called a few times a second with the merges learned and wanted.
        pretokenizer: Returns the chunks of a normalized sentence, which no piece crosses.
        allow_inconsistent: Whether chunks may be something else than the sentence, if joined.

    Raises:
        ValueError: An option has no meaning, or the text does not have as many pieces as wanted.
        RuntimeError: The pretokenizer fails.
        KeyboardInterrupt: Ctrl-C.
    """
    options = PieceOptions.checked(given)
    meta = MetaPieces.of(options)
    protected = meta.strings
    is_ready = pretokenizer is not None
    if pretokenizer is not None:
        sentences = PretokenizedSentences(
            pretokenizer,
            options,
            allow_inconsistent=allow_inconsistent,
            charsmap=charsmap,
            protected=protected,
        )
        batches, lines, charsmap, protected = sentences.batches(batches, lines=lines), False, b"", []
    normalizer = {
        "precompiled_charsmap": charsmap,
        "add_dummy_prefix": options.add_dummy_prefix and not is_ready,
        "remove_extra_whitespaces": options.remove_extra_whitespaces and not is_ready,
    }
    # A ready sentence was measured before.
    counts = _backend.SentenceCounts(
        options.trainer, normalizer, protected=protected, seed=options.seed, is_measured=is_ready
    )
    counts.add(until_complete(batches, counts), lines=lines, num_threads=num_threads)
    too_long = counts.too_long + (sentences.too_long if is_ready else 0)
    if not counts.accepted:
        raise ValueError(no_sentences(too_long, options.max_sentence_length))
    required, learned = counts.learn(
        max(0, options.vocab_size - len(meta.by_id)), num_threads=num_threads, progress=report
    )
    if options.auto_character_coverage and len(meta.by_id) >= options.vocab_size:
        raise ValueError(
            "Vocabulary size must be larger than the number of meta pieces "
            f"({options.vocab_size} vs {len(meta.by_id)})."
        )
    if learned is None or required + len(meta.by_id) > options.vocab_size:
        raise ValueError(
            f"Vocabulary size is smaller than required_chars. {options.vocab_size} vs "
            f"{required + len(meta.by_id)}. Increase vocab_size or decrease character_coverage with "
            "--character_coverage option."
        )
    return TrainedPieces(meta.numbered(learned, options), options, counts.accepted, too_long)


def until_complete(
    batches: Iterable[list[Document]], counts: _backend.SentenceCounts
) -> Iterator[list[Document]]:
    """Yields batches until enough sentences are kept."""
    for batch in batches:
        yield batch
        if counts.is_complete:
            return


def no_sentences(too_long: int, max_sentence_length: int) -> str:
    """Returns the message where no sentence is left."""
    reason = ""
    if too_long:
        reason = f": {too_long} are longer than the max_sentence_length of {max_sentence_length} bytes"
    return f"expected sentences to train on, got none{reason}"


def line_batches(paths: Iterable[str | os.PathLike[str]]) -> Iterator[list[Document]]:
    """Yields the texts of files in blocks of whole lines.

    Raises:
        OSError: A file cannot be read.
    """
    for path in paths:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - names may be relative to a descriptor
            rest: list[bytes] = []
            while block := read(file, path):
                end = block.rfind(b"\n") + 1
                if end:
                    yield [b"".join([*rest, memoryview(block)[:end]])]
                    rest = [block[end:]]
                else:
                    rest.append(block)
            if any(rest):
                yield [b"".join(rest)]


def read(file: FileIO, path: str | os.PathLike[str]) -> bytes:
    """Returns the next bytes of an open file; errors name the file, which those of the system do not."""
    try:
        return file.read(READ_BYTES)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def sentence_batches(sentences: Iterable[Document]) -> Iterator[list[Document]]:
    """Yields sentences in batches."""
    batch: list[Document] = []
    size = 0
    for sentence in sentences:
        batch.append(sentence)
        size += len(sentence)
        if len(batch) >= BATCH_SENTENCES or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


# Sentences that a function cuts into chunks, which no piece crosses.
#
# The function takes a normalized sentence, with marks for spaces, and the boundary U+001F for each string of
# the vocabulary in it. Its results are joined by boundaries, and counted unchanged.

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
