"""Compare encodings by bytes per token, as a table and as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill._arguments import check_type
from bytemill._escapes import printable
from bytemill._named import encoding_of
from bytemill.documents.sources import check_documents
from bytemill.inspection.displayed import Displayed
from bytemill.inspection.layout import align_columns

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from bytemill.core import Encoding

__all__ = ["Comparison", "Counts", "compare"]

# Documents are batched until they have this many characters.
BATCH_CHARACTERS = 1 << 22

TOTAL = "together"


class Counts(NamedTuple):
    """Counts of one text, or of all texts together.

    Attributes:
        name: Name of the text.
        characters: Number of characters.
        size: Number of bytes as UTF-8.
        tokens: Number of tokens by each encoding.
    """

    name: str
    characters: int
    size: int
    tokens: tuple[int, ...]

    def bytes_per_token(self) -> list[float]:
        """Returns the mean bytes per token of each encoding; 0 where there are no tokens."""
        return [self.size / tokens if tokens else 0.0 for tokens in self.tokens]


@dataclass(frozen=True)
class Comparison(Displayed):
    """Token counts of several encodings. Its `str` is a table.

    Attributes:
        encodings: Names of the encodings.
        texts: Counts of each text.
    """

    encodings: tuple[str, ...]
    texts: tuple[Counts, ...]

    @property
    def together(self) -> Counts:
        """Counts of all texts together."""
        tokens = np.array([text.tokens for text in self.texts], dtype=np.int64).reshape(
            -1, len(self.encodings)
        )
        characters = sum(text.characters for text in self.texts)
        size = sum(text.size for text in self.texts)
        return Counts(TOTAL, characters, size, tuple(tokens.sum(axis=0).tolist()))

    def rows(self) -> list[Counts]:
        """Returns the rows of the table: each text, then the sum if there are several."""
        return [*self.texts, self.together] if len(self.texts) > 1 else list(self.texts)

    def to_dict(self) -> dict[str, Any]:
        """Returns all figures as JSON-compatible values."""
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
        heading = ("bytes per token", "bytes", *map(printable, self.encodings))
        figures = [
            (printable(row.name), f"{row.size:,}", *(f"{ratio:.2f}" for ratio in row.bytes_per_token()))
            for row in self.rows()
        ]
        return "\n".join(align_columns([heading, *figures]))

    def write_chart(self, path: str | os.PathLike[str]) -> None:
        """Writes a bar chart of bytes per token to a PNG file, replacing it if it exists.

        Raises:
            ImportError: `matplotlib` is not installed.
            ValueError: There are no bars or too many for one image, or the name does not end in `.png`.
            OSError: The file cannot be written; no partial file is left.
        """
        from bytemill.inspection.chart import draw

        draw(self, path)


def compare(
    encodings: Mapping[str, Encoding | str],
    texts: Mapping[str, Iterable[str]],
    *,
    num_threads: int | None = None,
) -> Comparison:
    """Counts the tokens of texts by several encodings.

    Args:
        encodings: Encodings, or names of encodings or models, by the name to show.
        texts: Documents by the name of the text they make up: any iterable, read once, some megabytes at a
            time. Special tokens in them are ordinary text.
        num_threads: Maximum number of threads; `None` for all processors.

    Raises:
        ValueError: There are no encodings, or `num_threads` is not positive.
        TypeError: `encodings` or `texts` is not a mapping, a text is a string rather than an iterable of
            documents, or a document is not a string.
        PatternError: The engine of a custom pattern gives up on a document.

    Complexity:
        Linear in the texts, times the number of encodings.
    """
    for name, argument in (("encodings", encodings), ("texts", texts)):
        check_type(name, argument, Mapping, "expected a name for each")
    if not encodings:
        raise ValueError("expected one encoding or more, got none")
    engines = [encoding_of(encoding, "an encoding") for encoding in encodings.values()]
    rows = tuple(count_text(name, documents, engines, num_threads) for name, documents in texts.items())
    return Comparison(tuple(encodings), rows)


def count_text(
    name: str, documents: Iterable[str], encodings: Sequence[Encoding], num_threads: int | None
) -> Counts:
    """Counts the tokens of one text by each encoding."""
    if isinstance(documents, str):
        raise TypeError(
            f"{name}: expected an iterable of documents, got str; one document is given as [document]"
        )
    check_documents(documents)
    characters = size = 0
    tokens = np.zeros(len(encodings), dtype=np.int64)
    for batch in sized_batches(documents):
        characters += sum(map(len, batch))
        size += sum(len(text.encode("utf-8", "replace")) for text in batch)
        tokens += [int(encoding.count_batch(batch, num_threads=num_threads).sum()) for encoding in encodings]
    return Counts(name, characters, size, tuple(tokens.tolist()))


def sized_batches(documents: Iterable[str]) -> Iterator[list[str]]:
    """Yields lists of documents of at least `BATCH_CHARACTERS` together; the last may be shorter."""
    batch: list[str] = []
    size = 0
    for document in documents:
        check_type("a document", document, str)
        batch.append(document)
        size += len(document)
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
