"""Compares an encoding with another library: token IDs, offsets, decoded text, streams and sessions.

The other library encodes a text as a whole and decodes its token IDs. The encoding must return the same in
one call and in portions. The text is the seed of its random portions, so each run compares the same ones.
"""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bytemill.cli.engines import Engine, Spans
    from bytemill.core import Encoding

__all__ = ["ASPECTS", "Comparison", "Tally", "shortest"]


class Outcome(NamedTuple):
    """The results of both for a text, in one aspect.

    Attributes:
        ours: The result of the encoding.
        theirs: That of the other library.
        number: How much that is: token IDs, offsets, characters or portions.
        portions: The numbers of tokens or characters of the portions, if there are any.
    """

    ours: Any
    theirs: Any
    number: int
    portions: list[int] | None = None


@dataclass
class Tally:
    """The sums of one aspect that is compared.

    Attributes:
        compared: How much of it.
        differences: Documents in which it differs.
    """

    compared: int = 0
    differences: int = 0

    def record(self) -> dict[str, int] | None:
        """Returns the sums; `None` if nothing was compared."""
        return asdict(self) if self.compared or self.differences else None


@dataclass
class Text:
    """A text, with its token IDs and decoded text by the other library.

    Attributes:
        encoding: The encoding.
        other: The other library.
        text: The text.
        spans: Its token IDs and offsets by the other library.
        decoded: The text of these token IDs by the other library; `None` if it is not compared.
    """

    encoding: Encoding
    other: Engine
    text: str
    spans: Spans = field(init=False)
    decoded: str | None = field(init=False)

    def __post_init__(self) -> None:
        """Encodes and decodes with the other library."""
        self.spans = self.other.encoded(self.text)
        self.decoded = None if self.other.decode is None else self.other.decode(self.spans.ids)

    def token_ids(self) -> Outcome:
        """Compares token IDs."""
        theirs = [*self.spans.ids]
        return Outcome(self.encoding.encode(self.text, **self.other.special), theirs, len(theirs))

    def offsets(self) -> Outcome | None:
        """Compares the start of each token, and its end if the other library tells it."""
        ids, starts, ends, in_bytes = self.spans
        if starts is None:
            return None
        unit: Literal["byte", "char"] = "byte" if in_bytes else "char"
        found = self.encoding.encode_with_offsets(self.text, unit=unit, **self.other.special)
        ours, theirs = [found.ids.tolist(), found.starts.tolist()], [[*ids], [*starts]]
        if ends is not None:
            ours.append(found.ends.tolist())
            theirs.append([*ends])
        return Outcome(ours, theirs, len(theirs[0]))

    def decoded_text(self) -> Outcome | None:
        """Compares the text of the token IDs."""
        if self.decoded is None:
            return None
        return Outcome(self.encoding.decode(self.spans.ids), self.decoded, len(self.decoded))

    def streams(self) -> Outcome | None:
        """Compares the text that a stream gives for the token IDs, which arrive in portions."""
        if self.decoded is None:
            return None
        stream = self.encoding.stream_decoder()
        sizes = [*portions(len(self.spans.ids), random.Random(f"stream {self.text}"))]  # noqa: S311 - to repeat it
        parts = [stream.push(ids) for ids in sliced(self.spans.ids, sizes)]
        return Outcome("".join([*parts, stream.flush()]), self.decoded, len(sizes), sizes)

    def sessions(self) -> Outcome:
        """Compares the token IDs of a session to which the text is appended in portions, and its changes."""
        session = self.encoding.session(**self.other.special)
        sizes = [*portions(len(self.text), random.Random(f"session {self.text}"))]  # noqa: S311 - as above
        changed: list[int] = []
        for part in sliced(self.text, sizes):
            start, stop, ids = session.append(part)
            changed[start:stop] = ids
        theirs = [*self.spans.ids]
        return Outcome([session.tolist(), changed], [theirs, theirs], len(sizes), sizes)


# In the order of rows and columns.
ASPECTS: dict[str, Callable[[Text], Outcome | None]] = {
    "token_ids": Text.token_ids,
    "offsets": Text.offsets,
    "decoded_text": Text.decoded_text,
    "streams": Text.streams,
    "sessions": Text.sessions,
}


class Comparison:
    """A comparison of an encoding with another library, and its sums.

    Attributes:
        size: Bytes of the texts.
        documents: Number of texts.
        tallies: The sums of each of `ASPECTS`.
        found: The first difference of each, with the shortest text that was found to show it.
    """

    def __init__(self, encoding: Encoding, other: Engine, before: Mapping[str, Any] | None = None) -> None:
        """Takes both; and the record of a comparison that this one continues."""
        self._encoding = encoding
        self._other = other
        before = before or {}
        self.size: int = before.get("bytes", 0)
        self.documents: int = before.get("documents", 0)
        self.tallies = {aspect: Tally(**(before.get(aspect) or {})) for aspect in ASPECTS}
        self.found: list[dict[str, Any]] = [*before.get("found", ())]

    def add(self, text: str) -> None:
        """Compares a text."""
        self.documents += 1
        self.size += len(text.encode())
        compared = Text(self._encoding, self._other, text)
        for aspect, compare in ASPECTS.items():
            outcome = compare(compared)
            if outcome is None:
                continue
            tally = self.tallies[aspect]
            tally.compared += outcome.number
            if outcome.ours != outcome.theirs:
                tally.differences += 1
                if all(each["aspect"] != aspect for each in self.found):
                    self.found.append(self._difference(aspect, text, outcome))

    def record(self) -> dict[str, Any]:
        """Returns the sums; `None` for an aspect in which nothing was compared."""
        sums = {aspect: tally.record() for aspect, tally in self.tallies.items()}
        return {"bytes": self.size, "documents": self.documents, **sums, "found": self.found}

    def _difference(self, aspect: str, text: str, outcome: Outcome) -> dict[str, Any]:
        """Describes a difference by the shortest text that is found in the text."""

        def again(text: str) -> Outcome | None:
            return ASPECTS[aspect](Text(self._encoding, self._other, text))

        def differs(text: str) -> bool:
            outcome = again(text)
            return outcome is not None and outcome.ours != outcome.theirs

        # An encoding keeps pieces that it has met: the text alone may not show the difference.
        if differs(text):
            text = shortest(text, differs)
            outcome = again(text) or outcome
        found = {"aspect": aspect, "text": text, "ours": outcome.ours, "theirs": outcome.theirs}
        return found if outcome.portions is None else {**found, "portions": outcome.portions}


def portions(length: int, source: random.Random) -> Iterator[int]:
    """Yields sizes, which are `length` together: each is up to what remains, log-uniformly."""
    while length:
        size = int((length + 1) ** source.random())
        yield size
        length -= size


def sliced(items: Any, sizes: list[int]) -> Iterator[Any]:  # noqa: ANN401 - a text, or token IDs
    """Yields slices of these sizes."""
    start = 0
    for size in sizes:
        yield items[start : start + size]
        start += size


def shortest(text: str, differs: Callable[[str], bool]) -> str:
    """Returns what remains of a text after removing all parts that are not needed for it to differ.

    It tries to remove halves, then quarters, and so on down to single characters.
    """
    size = len(text) // 2
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if differs(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text
