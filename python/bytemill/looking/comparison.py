"""How many bytes a token stands for: texts by encodings, as a table and as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill.arguments import check_type
from bytemill.core import Encoding
from bytemill.looking.layout import table

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Comparison", "Counts", "compare"]

# Documents are counted together until there are so many characters of them.
BATCH_CHARACTERS = 1 << 22

TOTAL = "together"


class Counts(NamedTuple):
    """What was counted in one text, or in all.

    Attributes:
        name: What the text is called.
        characters: Its characters.
        size: Its bytes, as UTF-8.
        tokens: Its tokens by each encoding.
    """

    name: str
    characters: int
    size: int
    tokens: tuple[int, ...]

    def bytes_per_token(self) -> list[float]:
        """How many bytes a token of each encoding stands for; 0 where there are no tokens."""
        return [self.size / tokens if tokens else 0.0 for tokens in self.tokens]


@dataclass(frozen=True)
class Comparison:
    """Encodings side by side. Printed, it is a table.

    Attributes:
        encodings: The names of the encodings.
        texts: What was counted in each text.
    """

    encodings: tuple[str, ...]
    texts: tuple[Counts, ...]

    @property
    def together(self) -> Counts:
        """What was counted in all texts."""
        tokens = np.array([text.tokens for text in self.texts], dtype=np.int64).reshape(
            -1, len(self.encodings)
        )
        characters = sum(text.characters for text in self.texts)
        size = sum(text.size for text in self.texts)
        return Counts(TOTAL, characters, size, tuple(tokens.sum(axis=0).tolist()))

    def rows(self) -> list[Counts]:
        """Gives what is shown: each text, and all together if there are several."""
        return [*self.texts, self.together] if len(self.texts) > 1 else list(self.texts)

    def to_dict(self) -> dict[str, Any]:
        """Gives all figures as what JSON has."""
        return {"encodings": list(self.encodings), "texts": list(map(self._row, self.texts))} | {
            TOTAL: self._row(self.together)
        }

    def _row(self, counts: Counts) -> dict[str, Any]:
        return {
            "name": counts.name,
            "characters": counts.characters,
            "bytes": counts.size,
            "tokens": dict(zip(self.encodings, counts.tokens, strict=True)),
            "bytes_per_token": dict(zip(self.encodings, counts.bytes_per_token(), strict=True)),
        }

    def __str__(self) -> str:
        heading = ("bytes per token", "bytes", *self.encodings)
        figures = [
            (row.name, f"{row.size:,}", *(f"{ratio:.2f}" for ratio in row.bytes_per_token()))
            for row in self.rows()
        ]
        return "\n".join(table([heading, *figures]))

    def write_chart(self, path: str | os.PathLike[str]) -> None:
        """Draws bytes per token as bars and writes a PNG file, which is replaced if it exists.

        Raises:
            ImportError: `matplotlib` is not installed.
            ValueError: There is nothing to draw, or more than fits in one picture; or the name does not end
                in `.png`.
            OSError: The file cannot be written; nothing is left behind.
        """
        from bytemill.looking.chart import draw

        draw(self, path)


def compare(
    encodings: Mapping[str, Encoding],
    texts: Mapping[str, Iterable[str]],
    *,
    num_threads: int | None = None,
) -> Comparison:
    """Counts the tokens of texts by several encodings.

    Args:
        encodings: What to call each encoding, and the encoding.
        texts: What to call each text, and the documents that it consists of: any iterable, which is read
            once, some megabytes at a time. Special tokens in them are ordinary text.
        num_threads: How many threads may work; `None` for all processors.

    Raises:
        ValueError: There are no encodings, or `num_threads` is not positive.
        TypeError: There are no names for encodings or texts, a text is a string rather than an iterable of
            documents, or a document is no string.
        PatternError: The engine of a custom pattern gives up on a document.

    Complexity:
        Linear in the texts, times the number of encodings.
    """
    for name, argument in (("encodings", encodings), ("texts", texts)):
        check_type(name, argument, Mapping, "expected a name for each")
    if not encodings:
        message = "expected one encoding or more, got none"
        raise ValueError(message)
    engines = list(encodings.values())
    for encoding in engines:
        check_type("an encoding", encoding, Encoding)
    rows = tuple(counted(name, documents, engines, num_threads) for name, documents in texts.items())
    return Comparison(tuple(encodings), rows)


def counted(
    name: str, documents: Iterable[str], encodings: Sequence[Encoding], num_threads: int | None
) -> Counts:
    """Counts one text."""
    if isinstance(documents, str):
        message = f"{name}: expected an iterable of documents, got str; one document is given as [document]"
        raise TypeError(message)
    characters = size = 0
    tokens = np.zeros(len(encodings), dtype=np.int64)
    for batch in batches(documents):
        for text in batch:
            check_type("a document", text, str)
        characters += sum(map(len, batch))
        size += sum(len(text.encode("utf-8", "replace")) for text in batch)
        tokens += [int(encoding.count_batch(batch, num_threads=num_threads).sum()) for encoding in encodings]
    return Counts(name, characters, size, tuple(tokens.tolist()))


def batches(documents: Iterable[str]) -> Iterator[list[str]]:
    """Gives documents some megabytes at a time."""
    batch: list[str] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document)
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
