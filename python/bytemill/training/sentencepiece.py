"""From text to SentencePiece models.

The same text and options give the pieces, their order, scores and types that SentencePiece 0.2.3 gives, with
any number of threads. There is one exception: if there are more than `input_sentence_size` sentences,
SentencePiece keeps different ones in every process; here `seed` determines them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill import _backend
from bytemill.training.piece_options import MetaPieces, PieceOptions
from bytemill.training.pretokenization import PretokenizedSentences

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from bytemill.documents import Document

__all__ = ["TrainedPieces", "learn_pieces", "line_batches", "sentence_batches"]

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
    sampled = options.input_sentence_size > 0
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
    counts = _backend.SentenceCounts(
        charsmap=charsmap,
        add_dummy_prefix=options.add_dummy_prefix and not is_ready,
        remove_extra_whitespaces=options.remove_extra_whitespaces and not is_ready,
        treat_whitespace_as_suffix=options.treat_whitespace_as_suffix,
        split_by_whitespace=options.split_by_whitespace,
        allow_whitespace_only_pieces=options.allow_whitespace_only_pieces,
        has_counts=options.input_format == "tsv",
        # A ready sentence was measured before.
        max_sentence_length=sys.maxsize if is_ready else options.max_sentence_length,
        protected=protected,
        delimiter=options.pretokenization_delimiter,
        sample_size=options.input_sentence_size if sampled else None,
        seed=options.seed if options.shuffle_input_sentence else None,
    )
    counts.add(until_complete(batches, counts), lines=lines, num_threads=num_threads)
    too_long = counts.too_long + (sentences.too_long if is_ready else 0)
    if not counts.accepted:
        raise ValueError(no_sentences(too_long, options.max_sentence_length))
    required, learned = counts.learn(
        max(0, options.vocab_size - len(meta.by_id)),
        coverage=None if options.auto_character_coverage else options.character_coverage,
        required=options.required_chars,
        max_length=options.max_sentencepiece_length,
        split_by_unicode_script=options.split_by_unicode_script,
        split_by_number=options.split_by_number,
        split_digits=options.split_digits,
        num_threads=num_threads,
        progress=report,
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
            while block := file.read(READ_BYTES):
                end = block.rfind(b"\n") + 1
                if end:
                    yield [b"".join([*rest, memoryview(block)[:end]])]
                    rest = [block[end:]]
                else:
                    rest.append(block)
            if any(rest):
                yield [b"".join(rest)]


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
