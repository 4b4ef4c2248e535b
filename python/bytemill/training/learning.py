"""From counts to merges, and from merges to encodings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

from bytemill import _backend
from bytemill._arguments import thread_count
from bytemill.core import Encoding
from bytemill.documents.sources import Reading
from bytemill.patterns import WHOLE_TEXT_PATTERN
from bytemill.progress import Reporter, Show
from bytemill.training.counting import add_source
from bytemill.training.counts import PieceCounts
from bytemill.training.models import learn_model
from bytemill.training.options import (
    DEFAULT_PATTERN,
    InitialVocabulary,
    SpecialTokens,
    TieBreak,
    TrainingOptions,
    check_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bytemill.documents import Source
    from bytemill.documents.sources import Field, InvalidUtf8

__all__ = ["learn_encoding", "learn_merges", "train", "unlearned"]


def train(  # noqa: PLR0913 - all but the first two have names
    source: Source | PieceCounts,
    vocab_size: int,
    *,
    pattern: str | None = DEFAULT_PATTERN,
    special_tokens: SpecialTokens = (),
    min_frequency: int = 0,
    max_token_length: int | None = None,
    tie_break: TieBreak = "smallest_pair",
    num_threads: int | None = None,
    initial: Encoding | None = None,
    pad_vocab_to: int | None = None,
    field: Field = None,
    lines: bool = False,
    errors: InvalidUtf8 = "strict",
    progress: Show = True,
    name: str = "custom",
    kind: Literal["bytes", "sentencepiece"] = "bytes",
    **options: Any,  # noqa: ANN401 - those of SentencePiece
) -> Encoding:
    """Trains a tokenizer.

    The same source and arguments give the same encoding, on any machine and with any number of threads. The
    order of documents does not matter either, unless `tie_break` is "first_seen".

    Args:
        source: Same as in `count_pieces`, or the counts it returns.
        vocab_size: The number of tokens wanted: the 256 bytes, the merges and the special tokens.
        pattern: Same as in `count_pieces`; by default that of the counts or of `initial`, else "o200k". It
            becomes part of the encoding.
        special_tokens: Strings that act as boundaries in the text and are never merged. Their IDs follow
            those of the merges, in the order given; a mapping sets the ID of each, above those of the merges.
            By default those of the counts.
        min_frequency: Training stops when no pair occurs at least this many times.
        max_token_length: The maximum number of bytes of a token.
        tie_break: Which pair is merged if several have the highest count. "smallest_pair": the smallest (left
            ID, right ID). "huggingface": the same with the bytes in the order of the `tokenizers` package.
            "greatest_bytes": the greatest (left bytes, right bytes). "first_seen": the one that occurs first
            in the current text, same as minbpe and tiktoken's educational trainer; slower.
        num_threads: The maximum number of threads; if not given, all processors, or one in a process started
            by `multiprocessing`.
        initial: An encoding to start from: its tokens keep their IDs, and its merges come first. Its special
            tokens are not inherited; pass them again.
        pad_vocab_to: Pads the size of the vocabulary to a multiple of this with special tokens
            `<|reserved_ID|>`. At most 1,048,576.
        field: Same as in `count_pieces`.
        lines: Same as in `count_pieces`.
        errors: Same as in `count_pieces`.
        progress: Same as in `count_pieces`.
        name: The name of the encoding.
        kind: "bytes" for byte-level BPE; "sentencepiece" for a SentencePiece BPE model, same as version 0.2.3
            of that package trains. Then each line of a document is a sentence.
        **options: The training options of SentencePiece, for such a model: `character_coverage`,
            `byte_fallback`, `user_defined_symbols`, `normalization_rule_name` and others. They replace the
            arguments from `pattern` to `tie_break`, `initial` and `pad_vocab_to`.

    Returns:
        The encoding. Without a pattern, a text is a single piece for it too.

    Raises:
        ValueError: An argument is invalid, or does not apply to this kind of encoding: `vocab_size` is too
            small for the bytes, the special tokens and `initial`, an ID is in use, `tie_break` is unknown;
            the pattern or the special tokens are not those of the counts; or the text has too few pieces for
            a SentencePiece model of this size.
        VocabularyError: `initial` is not a vocabulary of bytes and merges of two tokens each.
        OverflowError: A piece has 2**30 bytes or more (for SentencePiece: characters), or all pieces
            together, each counted as often as it has bytes, occur 2**64 times or more.
        KeyboardInterrupt: Ctrl-C; nothing is changed.
        TypeError, PatternError, OSError, ImportError: Same as `count_pieces`.

    Warns:
        UserWarning: Training ended before there were `vocab_size` tokens.
    """
    threads = thread_count(num_threads)
    reading = Reading.checked(field, lines, errors)
    if kind == "sentencepiece":
        of_bytes = {
            "pattern": pattern is not DEFAULT_PATTERN,
            "special_tokens": special_tokens != (),
            "min_frequency": min_frequency != 0,
            "max_token_length": max_token_length is not None,
            "tie_break": tie_break != "smallest_pair",
            "initial": initial is not None,
            "pad_vocab_to": pad_vocab_to is not None,
        }
        check_kind(of_bytes)
        if isinstance(source, PieceCounts):
            raise TypeError(
                "expected text to train a SentencePiece model on, got counts of pieces that a pattern made"
            )
        with Reporter(progress) as reporter:
            return learn_model(
                source,
                vocab_size,
                options,
                reading,
                num_threads=threads,
                name=name,
                reporter=reporter,
            )
    if kind != "bytes":
        raise ValueError(f"expected kind to be bytes or sentencepiece, got {kind!r}")
    if options:
        raise TypeError(f"train() has no argument {next(iter(options))!r}, unless kind='sentencepiece'")
    if isinstance(source, PieceCounts):
        special_tokens = special_tokens or source.special_tokens
    checked = TrainingOptions.checked(
        vocab_size,
        special_tokens=special_tokens,
        tie_break=tie_break,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        initial=initial,
        pad_vocab_to=pad_vocab_to,
    )
    with Reporter(progress) as reporter:
        if isinstance(source, PieceCounts):
            counts = source
            check_counts(counts, pattern, checked.special_ids)
        else:
            if initial is not None and pattern is DEFAULT_PATTERN:
                pattern = initial._pat_str  # noqa: SLF001 - tiktoken's name
            counts = PieceCounts(pattern=pattern, special_tokens=checked.special_ids)
            add_source(
                counts,
                source,
                reading,
                num_threads=threads,
                report=lambda batch: reporter.counted(batch.documents, batch.size),
            )
        return learn_encoding(
            counts, checked, name=name, num_threads=threads, reporter=reporter, stacklevel=3
        )


def check_kind(of_bytes: Mapping[str, bool]) -> None:
    """Raises `ValueError` for arguments that do not apply to a SentencePiece model."""
    for name, is_given in of_bytes.items():
        if is_given:
            raise ValueError(
                f"{name} is for merges of bytes: a SentencePiece model has its own options, such as "
                "user_defined_symbols and max_sentencepiece_length"
            )


def learn_encoding(  # noqa: PLR0913 - all but the first two have names
    counts: PieceCounts,
    options: TrainingOptions,
    *,
    name: str,
    num_threads: int,
    reporter: Reporter,
    stacklevel: int = 2,
) -> Encoding:
    """Learns an encoding from counts.

    Args:
        counts: The counts.
        options: The options of training.
        name: The name of the encoding.
        num_threads: The maximum number of threads.
        reporter: Reports the progress.
        stacklevel: Same as in `warnings.warn`.

    Warns:
        UserWarning: Training ended early.
    """
    wanted = options.merges
    if not counts.total():
        raise ValueError(
            "expected text to learn from, got none: there is no document, all are empty, or the pattern "
            "matches nothing in them"
        )
    learned = learn_merges(
        counts,
        wanted,
        tie_break=options.tie_break,
        min_frequency=options.min_frequency,
        max_token_length=options.max_token_length,
        start=options.initial,
        num_threads=num_threads,
        report=reporter.merged,
    )
    reporter.merged(len(learned), wanted)
    reporter.finish()
    if len(learned) < wanted:
        frequent = "" if options.min_frequency <= 1 else f" that occurs {options.min_frequency} times"
        short = "" if options.max_token_length is None else f" of at most {options.max_token_length} bytes"
        message = f"training ended with {len(learned)} merges of {wanted}: no pair is left{short}{frequent}"
        warnings.warn(message, UserWarning, stacklevel=stacklevel)
    pat_str = splitting_of(counts)
    special = options.all_special_ids(len(learned))
    if options.initial is None:
        highest = max([options.next_id + len(learned) - 1, *special.values()])
        return Encoding._trained(  # noqa: SLF001 - of this package
            name, pat_str=pat_str, learned=learned, special_tokens=special, max_token_value=highest
        )
    ranks = options.initial.extended(learned.pairs())
    return Encoding(name, pat_str=pat_str, mergeable_ranks=ranks, special_tokens=special)


def unlearned(counts: PieceCounts, options: TrainingOptions, *, name: str) -> Encoding:
    """Returns the encoding before learning: a format that cannot store it cannot store the result.

    Reserved tokens, which every format can store, are left out.
    """
    start = InitialVocabulary.bytes_only() if options.initial is None else options.initial
    special = options._replace(multiple=1).all_special_ids(0)
    return Encoding(
        name, pat_str=splitting_of(counts), mergeable_ranks=start.extended([]), special_tokens=special
    )


def splitting_of(counts: PieceCounts) -> str:
    """Returns the pattern of an encoding that is learned from counts."""
    return WHOLE_TEXT_PATTERN if counts.pattern is None else counts.pattern


def learn_merges(  # noqa: PLR0913 - as `train`
    counts: PieceCounts,
    wanted: int,
    *,
    tie_break: TieBreak,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    start: InitialVocabulary | None = None,
    num_threads: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> _backend.LearnedMerges:
    """Learns merges from counts.

    Args:
        counts: The counts.
        wanted: The number of merges, at most.
        tie_break: Same as in `train`.
        min_frequency: Same as in `train`.
        max_token_length: Same as in `train`.
        start: The vocabulary to start from; by default the bytes.
        num_threads: The maximum number of threads.
        report: Called a few times a second with the merges learned and wanted.

    Returns:
        The merges. They continue the numbers of the tokens of `start`.
    """
    if tie_break == "first_seen" and counts.is_sorted:
        raise ValueError(
            "tie_break='first_seen' needs the order in which pieces first occurred, which counts from sorted "
            "files do not have: count the text in one process, or choose another tie_break"
        )
    return _backend.learn_merges(
        counts._core,  # noqa: SLF001 - of this package
        wanted,
        tie_break=tie_break,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        initial_tokens=None if start is None else start.byte_tokens,
        initial_merges=None if start is None else start.merges,
        num_threads=num_threads,
        progress=report,
    )
