"""Training: from text to pieces and how often each occurs, from those to merges, from merges to an encoding.

Counting and merging are separate steps. `count_pieces` may run wherever the text is, many times, and what it
gives can be added up; `train` takes a text or such counts.

    >>> import bytemill
    >>> encoding = bytemill.train(["low lower lowest", "slow slower"], 260, progress=False)
    >>> [encoding.decode_single_token_bytes(token) for token in range(256, 260)]
    [b'lo', b'low', b'er', b' low']

What is learned is defined by `bytemill.reference`: of all pairs of adjacent tokens the most frequent is
merged, everywhere and from left to right, and so on. Since every merge is made everywhere, what a string
has become depends on nothing but the string, as long as both its ends are ends of tokens. So no two tokens
have the same bytes, and encoding a piece gives the tokens that it had when training ended.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from bytemill import _core
from bytemill.arguments import check_type
from bytemill.core import Encoding
from bytemill.decoding import thread_count
from bytemill.patterns import WHOLE_TEXT_PATTERN
from bytemill.piece_counts import PieceCounts, check_special_tokens, resolve_pattern
from bytemill.progress import Progress, Reporter, Show
from bytemill.sources import Batches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytemill.sources import Document, Source

__all__ = ["PieceCounts", "Progress", "TieBreak", "count_pieces", "train"]

TieBreak: TypeAlias = Literal["smallest_pair", "huggingface", "greatest_bytes", "first_seen"]

# Special tokens, in the order of their ids, or with their ids.
SpecialTokens: TypeAlias = Iterable[str] | Mapping[str, int]

BYTES = 256

# Vocabularies are padded to multiples of 64 or so. Each token that fills up takes memory.
MOST_PADDING = 1 << 20


class Unstated(str):
    """An argument that was left out: told by identity from the same string given by the caller."""

    __slots__ = ()


DEFAULT_PATTERN = Unstated("o200k")


def count_pieces(  # noqa: PLR0913 - all but the first have names
    source: Source,
    pattern: str | None = DEFAULT_PATTERN,
    *,
    special_tokens: Iterable[str] = (),
    num_threads: int | None = None,
    memory_limit: int | None = None,
    field: str = "text",
    lines: bool = False,
    progress: Show = True,
) -> PieceCounts:
    """Splits documents into pieces and counts how often each piece occurs.

    Args:
        source: An iterable of documents, each `str` or `bytes`, and of files as `os.PathLike`; or the path of
            one file. See `bytemill.sources` for the kinds of files.
        pattern: What cuts documents into pieces: a name of `bytemill.patterns.PATTERNS` such as "gpt2",
            "cl100k", "o200k" or "llama3", any regular expression, or `None`: each document is one piece.
        special_tokens: Strings that cut documents before that, and are in no piece.
        num_threads: How many threads may work; all processors if not given, one in a process that
            `multiprocessing` has started.
        memory_limit: How many bytes the tables of pieces may take, about, of all threads together; at least
            1 MiB (1,048,576). What they have no room for goes to temporary files in
            `tempfile.gettempdir()`, see `PieceCounts`, and nothing else changes. Not in the limit are the
            text that is read (some 8 MiB, or a single document that cannot be cut), buffers of files (some
            4 MiB) and single pieces. `None`: no limit.
        field: The field of JSON lines, or the column of Parquet, that holds the text.
        lines: Whether each line of a text file is a document of its own, its line break included, rather
            than the whole file.
        progress: `True` for a bar on stderr if that is a terminal, `False` for nothing, or a function that
            is called with a `Progress`, a few times a second and at the end.

    Raises:
        TypeError: `source`, a document or another argument is of a wrong type.
        ValueError: An argument has no meaning, or a file is not what its name says.
        PatternError: The pattern does not compile, can match the empty string, or fails on a document.
        OSError: A file cannot be read, or a temporary file not written: the disk is full.
        ImportError: A file needs a package that is not installed: `pyarrow` for Parquet, `zstandard`.

    Complexity:
        Linear in the text for the patterns of `PATTERNS`, divided by the threads. Memory holds the different
        pieces and some 8 MiB of text. A file is read in parts, unless it is a single document of a pattern
        that says nothing about where a text may be cut; special tokens are such places for every pattern.
        Where `memory_limit` is reached, pieces are sorted, and on disk, twice while files are merged.
    """
    threads = thread_count(num_threads)
    counts = PieceCounts(pattern=pattern, special_tokens=special_tokens, memory_limit=memory_limit)
    with Reporter(progress) as reporter:
        add_source(counts, source, field=field, lines=lines, num_threads=threads, reporter=reporter)
        reporter.finish()
    return counts


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
    memory_limit: int | None = None,
    initial: Encoding | None = None,
    pad_vocab_to: int | None = None,
    field: str = "text",
    lines: bool = False,
    progress: Show = True,
    name: str = "custom",
) -> Encoding:
    """Learns a vocabulary.

    The same source and arguments give the same encoding, on any machine and with any number of threads. The
    order of documents does not matter either, unless `tie_break` is "first_seen".

    Args:
        source: As in `count_pieces`, or what that gave.
        vocab_size: The number of tokens wanted: the 256 bytes, the merges and the special tokens.
        pattern: As in `count_pieces`; if it is left out, that of the counts or of `initial`, else "o200k". It
            becomes part of the encoding.
        special_tokens: Strings that cut documents and never become part of a merge. Their ids follow those
            of the merges, in the order given; a mapping gives each its id, above those of the merges. If left
            out, those of the counts.
        min_frequency: Training ends when no pair occurs so many times.
        max_token_length: The most bytes of a token.
        tie_break: Which of several pairs with the highest count is merged. "smallest_pair": the smallest
            (left id, right id). "huggingface": the same with the bytes in the order of the `tokenizers`
            package. "greatest_bytes": the greatest (left bytes, right bytes). "first_seen": the one that
            occurs first in the text as it is then, as for minbpe and tiktoken's educational trainer; slower.
        num_threads: How many threads may work; all processors if not given, one in a process that
            `multiprocessing` has started.
        memory_limit: As in `count_pieces`: the tables of pieces while text is counted. If they had to go to
            files, none of them is in memory any more when merging starts. Merging itself is not limited: it
            takes 4.5 bytes for each byte of the different pieces and some 20 for each piece, and 4 bytes for
            each place of a pair that occurs often enough to be merged soon. Counts that are given as
            `source` have a limit of their own.
        initial: An encoding to start from: its tokens keep their ids, and its merges come first. Its special
            tokens are not kept unless they are named again.
        pad_vocab_to: A number that the size of the vocabulary shall be a multiple of; special tokens called
            `<|reserved_ID|>` fill it up. At most 1,048,576.
        field: As in `count_pieces`.
        lines: As in `count_pieces`.
        progress: As in `count_pieces`.
        name: The name of the encoding.

    Returns:
        The encoding. Without a pattern, text is a single piece for it too.

    Raises:
        ValueError: An argument has no meaning: `vocab_size` leaves no room for bytes, special tokens and
            `initial`, an id is taken, there is no such `tie_break`, `memory_limit` is too small or given with
            counts; or the pattern or the special tokens are not those of the counts.
        VocabularyError: `initial` is no vocabulary of bytes and merges of two tokens each.
        KeyboardInterrupt: Ctrl-C. Nothing has changed.
        TypeError, PatternError, OSError, ImportError: As `count_pieces`.

    Warns:
        UserWarning: Training ended before there were `vocab_size` tokens.
    """
    threads = thread_count(num_threads)
    if isinstance(source, PieceCounts):
        special_tokens = special_tokens or source.special_tokens
        if memory_limit is not None:
            message = "memory_limit is for counting text, got counts: give it to count_pieces"
            raise ValueError(message)
    special_ids = check_special_ids(special_tokens)
    if initial is not None:
        check_type("initial", initial, Encoding)
    start = Start.bytes_only() if initial is None else Start.of(initial)
    wanted = vocab_size - len(special_ids) - start.next_id
    check_arguments(vocab_size, wanted, special_ids, start, tie_break, min_frequency, max_token_length)
    multiple = check_padding(pad_vocab_to)
    if initial is not None and pattern is DEFAULT_PATTERN and not isinstance(source, PieceCounts):
        pattern = initial._pat_str  # noqa: SLF001 - tiktoken's name
    with Reporter(progress) as reporter:
        if isinstance(source, PieceCounts):
            counts = check_counts(source, pattern, special_ids)
        else:
            counts = PieceCounts(pattern=pattern, special_tokens=special_ids, memory_limit=memory_limit)
            add_source(counts, source, field=field, lines=lines, num_threads=threads, reporter=reporter)
        learned = learn_merges(
            counts,
            wanted,
            tie_break=tie_break,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            start=None if initial is None else start,
            num_threads=threads,
            report=reporter.merged,
        )
        reporter.merged(len(learned), wanted)
        reporter.finish()
    if len(learned) < wanted:
        frequent = "" if min_frequency <= 1 else f" that occurs {min_frequency} times"
        short = "" if max_token_length is None else f" of at most {max_token_length} bytes"
        message = f"training ended with {len(learned)} merges of {wanted}: no pair is left{short}{frequent}"
        warnings.warn(message, UserWarning, stacklevel=2)
    pat_str = WHOLE_TEXT_PATTERN if counts.pattern is None else counts.pattern
    special = with_ids(special_ids, start.next_id + len(learned), multiple)
    if initial is None:
        highest = max([start.next_id + len(learned) - 1, *special.values()])
        return Encoding._trained(  # noqa: SLF001 - of this package
            name, pat_str=pat_str, learned=learned, special_tokens=special, max_token_value=highest
        )
    ranks = start.extended(learned.pairs())
    return Encoding(name, pat_str=pat_str, mergeable_ranks=ranks, special_tokens=special)


def add_source(  # noqa: PLR0913 - for the two functions above
    counts: PieceCounts, source: Source, *, field: str, lines: bool, num_threads: int, reporter: Reporter
) -> None:
    """Counts the pieces of a source; see `count_pieces`."""
    batches = Batches(field=field, lines=lines, pattern=counts.pattern, special_tokens=counts.special_tokens)

    def texts() -> Iterator[list[Document]]:
        for batch in batches.of(source):
            yield batch.texts
            reporter.counted(batch.documents, batch.size)

    ahead = not Batches.are_there(source)
    counts._add_batches(texts(), num_threads=num_threads, ahead=ahead)  # noqa: SLF001 - of this package


def learn_merges(  # noqa: PLR0913 - as `train`
    counts: PieceCounts,
    wanted: int,
    *,
    tie_break: TieBreak,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    start: Start | None = None,
    num_threads: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> _core.LearnedMerges:
    """Learns at most `wanted` merges from counts; the rest as in `train`, but for what is called to report.

    Returns:
        The merges, whose tokens are numbered as in `start`: the first makes the number that follows.
    """
    return _core.train_merges(
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


# --- The vocabulary to start from ---


class Start(NamedTuple):
    """A vocabulary as training takes it: tokens are numbered without gaps.

    Attributes:
        tokens: The bytes of every token, the 256 byte tokens first.
        ids: The id of each.
        merges: The numbers of the two parts of every token but the byte tokens.
    """

    tokens: list[bytes]
    ids: list[int]
    merges: list[tuple[int, int]]

    @classmethod
    def bytes_only(cls) -> Start:
        """The byte tokens in the order of their values."""
        return cls([bytes([byte]) for byte in range(BYTES)], list(range(BYTES)), [])

    @classmethod
    def of(cls, encoding: Encoding) -> Start:
        """The mergeable tokens of an encoding; errors as `train`."""
        ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
        tokens = sorted(ranks, key=ranks.__getitem__)
        if any(len(token) != 1 for token in tokens[:BYTES]):
            message = f"expected an encoding whose first {BYTES} ids are those of the bytes, got {encoding!r}"
            raise ValueError(message)
        ids = [ranks[token] for token in tokens]
        number = {token_id: i for i, token_id in enumerate(ids)}
        merges = [(number[left], number[right]) for left, right in encoding.merges()]
        return cls(tokens, ids, merges)

    @property
    def byte_tokens(self) -> list[bytes]:
        """The byte tokens in the order of their ids."""
        return self.tokens[:BYTES]

    @property
    def next_id(self) -> int:
        """The id of the first merge that is learned."""
        return self.ids[-1] + 1

    def extended(self, learned: Sequence[tuple[int, int]]) -> dict[bytes, int]:
        """Gives each token's rank, after merges that were learned."""
        tokens = list(self.tokens)
        for left, right in learned:
            tokens.append(tokens[left] + tokens[right])
        return dict(zip(tokens, [*self.ids, *range(self.next_id, self.next_id + len(learned))], strict=True))


# --- Arguments ---


def check_special_ids(special_tokens: SpecialTokens) -> dict[str, int | None]:
    """Gives special tokens in order, with the ids that were chosen; errors as `train`."""
    if not isinstance(special_tokens, Mapping):
        return dict.fromkeys(check_special_tokens(special_tokens))
    check_special_tokens(special_tokens)
    if len(set(special_tokens.values())) < len(special_tokens):
        message = f"two special tokens have the same id: {dict(special_tokens)}"
        raise ValueError(message)
    return dict(special_tokens)


def check_arguments(  # noqa: PLR0913, PLR0917 - those of `train`
    vocab_size: int,
    wanted: int,
    special_ids: Mapping[str, int | None],
    start: Start,
    tie_break: str,
    min_frequency: int,
    max_token_length: int | None,
) -> None:
    """Raises the `ValueError` of `train` before anything is counted."""
    message = ""
    if wanted < 0:
        message = (
            f"expected a vocab_size of at least {vocab_size - wanted}, for {start.next_id} tokens to start "
            f"with and {len(special_ids)} special tokens, got {vocab_size}"
        )
    elif tie_break not in get_args(TieBreak):
        message = f"expected tie_break to be one of {', '.join(get_args(TieBreak))}, got {tie_break!r}"
    elif min_frequency < 0:
        message = f"expected min_frequency to be 0 or more, got {min_frequency}"
    elif max_token_length is not None and max_token_length < 1:
        message = f"expected max_token_length to be 1 or more, got {max_token_length}"
    lowest = min((token_id for token_id in special_ids.values() if token_id is not None), default=None)
    if lowest is not None and lowest < start.next_id + wanted:
        message = (
            f"expected ids of special tokens from {start.next_id + wanted} on, after those of the merges, "
            f"got {lowest}"
        )
    if message:
        raise ValueError(message)


def check_padding(pad_vocab_to: int | None) -> int:
    """Gives the number that the size shall be a multiple of."""
    if pad_vocab_to is not None and not 1 <= pad_vocab_to <= MOST_PADDING:
        message = f"expected pad_vocab_to to be from 1 to {MOST_PADDING}, got {pad_vocab_to}"
        raise ValueError(message)
    return pad_vocab_to or 1


def check_counts(counts: PieceCounts, pattern: str | None, special_tokens: Iterable[str]) -> PieceCounts:
    """Gives the counts if they are what the other arguments say; errors as `train`."""
    message = ""
    if pattern is not DEFAULT_PATTERN and resolve_pattern(pattern) != counts.pattern:
        message = f"the counts come from the pattern {counts.pattern!r}, not {resolve_pattern(pattern)!r}"
    elif not set(special_tokens) <= set(counts.special_tokens):
        left = sorted(set(special_tokens).difference(counts.special_tokens))
        message = (
            f"the special tokens {left} were not left out when the pieces were counted: name them in "
            "count_pieces too"
        )
    if message:
        raise ValueError(message)
    return counts


def with_ids(special_ids: Mapping[str, int | None], next_id: int, multiple: int) -> dict[str, int]:
    """Gives special tokens with the ids chosen, or those from `next_id` on, and then those that fill up."""
    ids = {
        token: next_id + i if token_id is None else token_id
        for i, (token, token_id) in enumerate(special_ids.items())
    }
    size = max([next_id - 1, *ids.values()]) + 1
    padded = -(-size // multiple) * multiple
    return ids | {f"<|reserved_{token_id}|>": token_id for token_id in range(size, padded)}
