"""Encoding of texts that grow: sessions, streams, and a cache of the token IDs that texts begin with."""

from __future__ import annotations

import codecs
import sys
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, SupportsIndex

from bytemill._arguments import bytes_of, check_type
from bytemill._backend import CorePrefixCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

    from bytemill._backend import CoreSession, CoreStreamEncoder
    from bytemill.special import AllowedSpecial, DisallowedSpecial

__all__ = ["PrefixCache", "PrefixCacheStats", "Session", "StreamEncoder", "Update"]

_new = object.__new__


class Update(NamedTuple):
    """The change that a call made to the token IDs of a session: `old[start:stop]` became `ids`.

    A program that keeps its own list applies it so: `tokens[update.start:update.stop] = update.ids`.
    """

    start: int
    stop: int
    ids: list[int]


class Encodes(Protocol):
    """An encoding."""

    name: str

    def session(
        self, text: str = "", *, allowed_special: AllowedSpecial, disallowed_special: DisallowedSpecial
    ) -> Session: ...


class Session:
    """A text that changes, with its token IDs: only what a change can reach is encoded again.

    The IDs are exactly those of encoding the whole text, after every call. `Encoding.session` makes one.

        >>> import bytemill
        >>> session = bytemill.get_encoding("o200k_base").session("Never tokenize")
        >>> session.append(" twice")
        Update(start=3, stop=3, ids=[18220])
        >>> session.count
        4

    How much is encoded again is proved, not guessed: text is cut only between two characters of which the
    encoding says that nothing reaches across them, whatever stands around. Most text has such a place every
    few characters. Behind a long run without one, such as 4 MB of letters, it is encoded again from a token
    that the change leaves as it is. Where that cannot be proved either, as with patterns that need
    backtracking, all text is encoded again; `is_incremental` says so beforehand.

    Token IDs that a model has sampled can be appended as they are, with `append_ids`. They keep their place,
    whatever encoding their text would give, and `first_drift` tells where that is something else.

    A session has state: one thread at a time may use it, and a call meanwhile raises RuntimeError. `fork`
    gives each thread its own.
    """

    __slots__ = ("_core", "_encoding", "_half", "_options")

    def __init__(
        self,
        core: CoreSession,
        encoding: Encodes,
        options: tuple[AllowedSpecial, DisallowedSpecial],
        half: str = "",
    ) -> None:
        """Takes a session of the core; `Encoding.session` is the way to make one."""
        self._core = core
        self._encoding = encoding
        self._options = options
        # A lone high surrogate at the end of the text: it is U+FFFD until a low one follows.
        self._half = half

    def __repr__(self) -> str:
        """Returns the encoding and the sizes."""
        return (
            f"<Session {self._encoding.name!r}: {self._core.characters:,} characters, {self.count:,} tokens>"
        )

    def append(self, text: str) -> Update:
        """Appends text.

        Args:
            text: Any string. A high surrogate at its end and a low one at the start of the next call are one
                character.

        Returns:
            The change to the token IDs: usually one or two at the end, and the new ones.

        Raises:
            DisallowedSpecialTokenError: The text has a disallowed string, maybe with what stands before it.
                As after every error, the session is as it was.
            TypeError: `text` is not a string.
            RuntimeError: Another thread uses the session.

        Complexity:
            O(n) for n characters of new text, where a cut is near.
        """
        if self._joins(text):
            end = self._core.characters
            changed = Update(*self._core.edit(end - 1, end, self._half + text))
        else:
            changed = Update(*self._core.append(text))
        self._half = half_of(text) if text else self._half
        return changed

    def append_ids(self, tokens: Sequence[int]) -> Update:
        r"""Appends token IDs as they are, such as those that a model has sampled, and their text.

        They stay as they are: text before them is encoded as at its end, which is what the model has seen,
        and text behind them begins anew. A special token's ID is that token, whatever `allowed_special` says.

        Their text is what `decode` returns for all that are appended in a row, or what it adds to the text
        before them, whether one call appends them or several. Special tokens are decoded by themselves: the
        text before one ends there.

            >>> import bytemill
            >>> session = bytemill.get_encoding("o200k_base").session("Answer:\n")
            >>> session.append_ids([71, 6053])
            Update(start=2, stop=2, ids=[71, 6053])
            >>> session.text, session.first_drift()
            ('Answer:\nhello', 2)

        Args:
            tokens: Token IDs. Further ones may change the end of `text`: where they end inside of a
                character, it has U+FFFD until others complete it.

        Returns:
            The change to the token IDs, which is these at the end.

        Raises:
            UnknownTokenError, OverflowError, TypeError: Same as `decode_bytes`. As after every error, the
                session is as it was.
            RuntimeError: Another thread uses the session.

        Complexity:
            O(n) for n token IDs.
        """
        changed = Update(*self._core.append_ids(tokens))
        if changed.ids:
            self._half = ""
        return changed

    def first_drift(self) -> int | None:
        """Returns the index of the first token ID that encoding the text would not give.

        A program that encodes `text` again, with the same `allowed_special`, works with other token IDs from
        this index on. Special tokens that are not allowed count as drift: a session for chats has
        `allowed_special="all"`.

        Returns:
            The index, or `None` if there is none, as in all sessions without appended token IDs. It is
            `count` if the text has further token IDs than those of the session.

        Raises:
            RuntimeError: Another thread uses the session.

        Complexity:
            That of encoding the text, or O(1) without appended token IDs.
        """
        return self._core.first_drift()

    def update(self, text: str) -> Update:
        """Replaces all of the text. Where it begins and ends as before, it is not encoded again.

        This is the call for a conversation that a template renders as a whole at each turn, which need not
        begin with the old text: templates change what stands at its end.

        Args:
            text: The new text.

        Returns:
            The change to the token IDs.

        Raises:
            ValueError: The change begins or ends inside of the text of appended token IDs.
            DisallowedSpecialTokenError, TypeError, RuntimeError: Same as `append`.

        Complexity:
            That of comparing both texts and of encoding what changed.
        """
        changed = Update(*self._core.update(text))
        self._half = half_of(text)
        return changed

    def edit(self, start: SupportsIndex, end: SupportsIndex, text: str) -> Update:
        """Replaces the characters `start` to `end` by a text.

        Args:
            start: The first character to replace. Offsets count the characters of `text`, the attribute.
            end: The character behind the last one to replace; the same as `start` to insert.
            text: The text to put there, "" to delete.

        Returns:
            The change to the token IDs.

        Raises:
            ValueError: The range is not in the text, or begins or ends inside of the text of appended token
                IDs, all of which or none are replaced. At the end of the text, `truncate` may also keep the
                first of these.
            DisallowedSpecialTokenError, TypeError, RuntimeError: Same as `append`.

        Complexity:
            That of encoding about 2 KiB and the new text, and O(n / 1,024) for n characters in all.
        """
        first, last = index(start), index(end)
        is_end = last == self._core.characters
        changed = Update(*self._core.edit(first, last, text))
        if is_end and (text or first < last):
            self._half = half_of(text)
        return changed

    def truncate(self, length: SupportsIndex) -> Update:
        """Keeps the first `length` characters only; same errors as `edit`."""
        return self.edit(length, self._core.characters, "")

    def fork(self) -> Session:
        """Returns another session of the same text; neither sees what happens to the other later.

        Complexity:
            O(1): both share what they have.
        """
        # By `__init__` it took a seventh longer, 0.06 µs.
        fork = _new(Session)
        core, encoding, options = self._core.fork(), self._encoding, self._options
        fork._core, fork._encoding, fork._options, fork._half = core, encoding, options, self._half  # noqa: SLF001
        return fork

    def count_after(self, text: str) -> int:
        """Returns how many tokens there would be after `append`; nothing changes. Same errors as that."""
        if self._joins(text):
            fork = self.fork()
            fork.append(text)
            return fork.count
        return self._core.count_after(text)

    def _joins(self, text: str) -> bool:
        """Returns whether a text begins with the other half of the surrogate at the end."""
        return bool(self._half) and isinstance(text, str) and "\udc00" <= text[:1] <= "\udfff"

    @property
    def count(self) -> int:
        """The number of tokens, in O(1)."""
        return self._core.count

    @property
    def ids(self) -> npt.NDArray[np.uint32]:
        """All token IDs, a new array of type uint32 and shape (tokens,), which cannot be written to."""
        import numpy as np  # noqa: F401 - inside the core, an import that Ctrl-C interrupts would be an internal error

        return self._core.ids()

    def tolist(self, start: SupportsIndex = 0) -> list[int]:
        """Returns the token IDs from index `start` on as a list.

        Raises:
            ValueError: `start` is negative.
        """
        first = index(start)
        if first < 0:
            raise ValueError(f"expected start of at least 0, got {first}")
        return self._core.tolist(first)

    @property
    def text(self) -> str:
        """The text. Pairs of surrogates are one character, and lone ones are U+FFFD."""
        return self._core.text

    @property
    def encoding(self) -> Encodes:
        """The encoding."""
        return self._encoding

    @property
    def is_incremental(self) -> bool:
        """Whether the encoding has places where texts can be cut. Otherwise each call encodes everything."""
        return self._core.is_incremental

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the encoding, the options, the text and appended token IDs; loading encodes the text."""
        parts = self._core.pinned()
        if self._half:
            text, before, tokens = parts[-1]
            parts[-1] = (text[:-1] + self._half, before, tokens)
        return resumed, (self._encoding, *self._options, parts)

    def __copy__(self) -> Session:
        """Same as `fork`."""
        return self.fork()

    def __deepcopy__(self, memo: dict[int, object]) -> Session:
        """Same as `fork`."""
        return self.fork()


class StreamEncoder:
    """Encodes a text that arrives in parts, and returns token IDs as soon as no later text can change them.

    The results of `push` and then `flush`, joined, are what `encode` returns for the whole text.
    `Encoding.stream_encoder` makes one.

        >>> import bytemill
        >>> stream = bytemill.get_encoding("o200k_base").stream_encoder()
        >>> [stream.push(part) for part in ("Hel", "lo wor", "ld, he", "llo")]
        [[], [13225], [2375], [11]]
        >>> stream.flush()
        [40617]

    The text since the last place where it can be cut is held back: in most text, a word and its punctuation.
    A long run without such a place, such as 100 KB of letters, is held until it ends. A special token or a
    disallowed string is never emitted in part.

    A stream has state: each needs its own, and one thread at a time may use it.
    """

    __slots__ = ("_bytes", "_core", "_half", "_is_plain")

    def __init__(self, core: CoreStreamEncoder, errors: str = "strict") -> None:
        """Takes a stream of the core; `Encoding.stream_encoder` is the way to make one.

        Raises:
            LookupError: There is no such error handler.
        """
        codecs.lookup_error(errors)
        self._core = core
        self._bytes = codecs.getincrementaldecoder("utf-8")(errors)
        # A high surrogate at the end of what has arrived: a low one may follow.
        self._half = ""
        # Whether what has arrived ends with a whole character.
        self._is_plain = True

    def push(self, chunk: str | Buffer) -> list[int]:
        """Takes the next part of the text, and returns the token IDs that are certain now.

        Args:
            chunk: A string; or UTF-8 as bytes or another buffer of them, which may end inside of a character.

        Raises:
            DisallowedSpecialTokenError: The text whose IDs are certain now has a disallowed string. As after
                every error, the stream is as it was.
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
            ValueError: A string follows bytes that end inside of a character.
            TypeError: `chunk` is neither a string nor a buffer.
            RuntimeError: Another thread uses the stream.

        Complexity:
            O(n) for n bytes that arrive.
        """
        # Nearly always: a third of the time of short chunks. `isascii` looks at a flag of the string.
        if self._is_plain and type(chunk) is str and (chunk.isascii() or not half_of(chunk)):
            return self._core.push(chunk)
        if not isinstance(chunk, str):
            return self._push_bytes(chunk)
        if self._bytes.getstate()[0]:
            raise ValueError(
                "expected bytes that complete a character, got a str; flush the stream before other text"
            )
        return self._push(chunk)

    def _push_bytes(self, chunk: Buffer) -> list[int]:
        state = self._bytes.getstate()
        try:
            return self._push(self._bytes.decode(bytes_of("chunk", chunk)))
        except BaseException:
            self._bytes.setstate(state)
            raise

    def _push(self, chunk: str) -> list[int]:
        """Pushes text but for a high surrogate at its end. Bytes have one if `errors` lets it pass."""
        text = self._half + chunk
        half = half_of(text)
        tokens = self._core.push(text[:-1] if half else text)
        self._half, self._is_plain = half, not half and not self._bytes.getstate()[0]
        return tokens

    def flush(self) -> list[int]:
        """Ends the text and returns the token IDs of what was held back. Another text may follow.

        Raises:
            DisallowedSpecialTokenError: The text that was held back has a disallowed string.
            UnicodeDecodeError: The text ends inside of a character and `errors` is "strict".
        """
        state = self._bytes.getstate()
        try:
            tokens = self._core.flush(self._half + self._bytes.decode(b"", final=True))
        except BaseException:
            self._bytes.setstate(state)
            raise
        self._bytes.reset()
        self._half, self._is_plain = "", True
        return tokens

    def __reduce__(self) -> NoReturn:
        """Raises `TypeError`: a copy would share its state with this stream."""
        raise TypeError("a StreamEncoder cannot be copied or pickled: each text needs a stream of its own")

    @property
    def count(self) -> int:
        """The number of token IDs that the text has had so far."""
        return self._core.count

    @property
    def pending(self) -> str:
        """The text whose token IDs are not yet certain."""
        return self._core.held + self._half


class PrefixCacheStats(NamedTuple):
    """The figures of a `PrefixCache`.

    Attributes:
        hits: The number of texts of which a part was found.
        misses: The number of other texts; those below `min_text` do not count.
        reused_bytes: The bytes of text that were found.
        bytes: The bytes that the cache takes.
        entries: The number of segments in the cache.
    """

    hits: int
    misses: int
    reused_bytes: int
    bytes: int
    entries: int


class PrefixCache:
    """A cache of the token IDs that texts begin with, for `Encoding.encode` and `hf.accelerate`.

    It is for programs that do not know which conversation a text continues, such as servers: texts that begin
    with what was encoded before, whole or in part, are encoded from there on.

        >>> import bytemill
        >>> encoding = bytemill.get_encoding("o200k_base")
        >>> cache = bytemill.PrefixCache(64 << 20)
        >>> conversation = "A long conversation that grows. " * 1_000
        >>> tokens = encoding.encode(conversation, cache=cache)
        >>> tokens = encoding.encode(conversation + "Another turn.", cache=cache)
        >>> cache.stats().hits
        1

    Texts are cut in segments of about 8 KiB at places that no token can cross. A segment is used where
    all of its bytes stand in the text; hashes only choose which ones to compare, so no collision changes a
    token ID. Encodings, and calls that allow other special tokens, share nothing.

    Threads may share a cache and never wait for it: while another thread uses it, a text is encoded
    without.
    """

    __slots__ = ("_core", "_sizes")

    def __init__(self, max_bytes: SupportsIndex = 256 << 20, *, min_text: SupportsIndex = 4_096) -> None:
        """Creates an empty cache.

        Args:
            max_bytes: The most bytes that it takes. The segments that were not used for the longest time are
                removed first.
            min_text: Texts of fewer bytes are encoded without the cache.

        Raises:
            ValueError: A number is negative.
        """
        sizes = (index(max_bytes), index(min_text))
        for name, size in zip(("max_bytes", "min_text"), sizes, strict=True):
            if size < 0:
                raise ValueError(f"{name} must be a number of bytes, 0 or more, got {size}")
        self._sizes = sizes
        self._core = CorePrefixCache(*(min(size, sys.maxsize) for size in sizes))

    def clear(self) -> None:
        """Removes everything, and starts the figures anew."""
        self._core.clear()

    def stats(self) -> PrefixCacheStats:
        """Returns the figures since the cache was created or cleared."""
        return PrefixCacheStats(*self._core.stats())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the sizes, not the contents."""
        return restored_cache, self._sizes


def core_of_cache(cache: PrefixCache | None) -> CorePrefixCache | None:
    """Returns the cache of the core; `TypeError` for anything else than a cache."""
    if cache is None:
        return None
    check_type("cache", cache, PrefixCache)
    return cache._core  # noqa: SLF001 - of this module


def restored_cache(max_bytes: int, min_text: int) -> PrefixCache:
    """Makes a cache that was pickled."""
    return PrefixCache(max_bytes, min_text=min_text)


def half_of(text: str) -> str:
    """Returns the high surrogate at the end of a text, or nothing."""
    last = text[-1:]
    return last if "\ud800" <= last <= "\udbff" else ""


def resumed(
    encoding: Encodes,
    allowed_special: AllowedSpecial,
    disallowed_special: DisallowedSpecial,
    parts: list[tuple[str, int | None, list[int]]],
) -> Session:
    """Makes a session that was pickled.

    Its parts are a text, and the token IDs that were appended behind it, with the one that stood there then.
    """
    session = encoding.session("", allowed_special=allowed_special, disallowed_special=disallowed_special)
    for text, before, tokens in parts:
        session.append(text)
        session._core.append_ids_behind(before, tokens)  # noqa: SLF001 - of this module
    return session
