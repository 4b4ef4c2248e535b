"""`Engine`: what the bytes of a `tokenizer.json` say, ready to work. It never changes."""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bytemill._arguments import thread_count
from bytemill.core import Encoding
from bytemill.errors import UnknownTokenError
from bytemill.formats.huggingface_tokenizer import definition_of
from bytemill.formats.json_file import Value, parse_json
from bytemill.hf.added import AddedToken, normalized_texts, numbered, parse_added
from bytemill.hf.processing import parse_frame, trimmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Engine", "SourceText"]


class Engine:
    """An encoding, and what else a `tokenizer.json` says.

    Attributes:
        encoding: The encoding.
        frame: What is put around each text.
        added: The added tokens by id.
        special_ids: The ids of the special ones.
    """

    def __init__(self, file: Value, contents: bytes) -> None:
        """Reads a file, parsed and not; `VocabularyError` if its ids cannot be given exactly."""
        self._file = file
        definition = definition_of(contents, "tokenizer", file.source)
        self.encoding = Encoding._of(definition)  # noqa: SLF001 - the library does not warn of overlaps
        self._cuts_text = definition.tokenizer is None
        self.frame = parse_frame(file["post_processor"])
        self._model_ids: dict[str, int] = file["model"]["vocab"].ids()
        self.added = numbered({}, parse_added(file["added_tokens"]), self._model_ids)
        # The library decodes these to their normalized texts, which are no special tokens then.
        self._normalized = normalized_texts(file["normalizer"], self.added)
        special = (token_id for token_id, token in self.added.items() if token.special)
        self.special_ids = set(special).difference(self._normalized)

    @classmethod
    def parse(cls, contents: bytes, source: str) -> Engine:
        """Parses the bytes of a file; errors as for a file."""
        return cls(parse_json(contents, source), contents)

    def entry(self, name: str) -> Value:
        """Returns an entry of the file."""
        return self._file[name]

    def with_added(self, tokens: Iterable[AddedToken]) -> Engine:
        """Returns the engine with more added tokens."""
        added = numbered(self.added, tokens, self._model_ids)
        if added == self.added:
            return self
        contents = self._file.object() | {
            "added_tokens": [token.entry(token_id) for token_id, token in sorted(added.items())]
        }
        return Engine(Value(contents, self._file.source), json.dumps(contents, ensure_ascii=False).encode())

    def file(self, settings: dict[str, Any], *, pretty: bool) -> str:
        """Returns the text of the file with the settings."""
        contents = self._file.object() | settings
        return json.dumps(contents, ensure_ascii=False, indent=2 if pretty else None)

    # --- Ids ---

    def rows(self, texts: Sequence[str], *, finds_special: bool) -> list[list[int]]:
        """Returns the ids of texts, without what is put around them.

        Args:
            texts: The texts.
            finds_special: Whether special tokens in a text are those.
        """
        if len(texts) == 1:
            return [self.ids(texts[0], finds_special=finds_special)]
        threads = thread_count(None)
        if finds_special:
            return self.encoding.encode_batch(texts, num_threads=threads, allowed_special="all")
        return self.encoding.encode_ordinary_batch(texts, num_threads=threads)

    def ids(self, text: str, *, finds_special: bool) -> list[int]:
        """Returns the ids of one text, as `rows`."""
        if finds_special:
            return self.encoding.encode(text, allowed_special="all")
        return self.encoding.encode_ordinary(text)

    def pieces(self, text: str, special: Iterable[tuple[int, int]]) -> list[str]:
        """Returns the pieces of a text between which nothing is merged.

        Args:
            text: The text.
            special: The spans of the special tokens in it.

        Raises:
            NotImplementedError: They are not parts of the text.
        """
        if not self._cuts_text:
            raise NotImplementedError("the numbers of words are known where text is only cut by a pattern")
        pieces, at = [], 0
        for start, end in [*special, (len(text), len(text))]:
            pieces += self.encoding._core_bpe.split(text[at:start])  # noqa: SLF001 - has no public name
            pieces += [text[start:end]] if end > start else []
            at = end
        if "".join(pieces) != text:
            raise NotImplementedError("the numbers of words are not known where the pieces are not the text")
        return pieces

    # --- Text ---

    def decode(self, ids: Iterable[int], *, skip_special: bool) -> str:
        """Returns the text of ids; those that are no token are left out."""
        return self.decode_batch([ids], skip_special=skip_special)[0]

    def decode_batch(self, batch: Iterable[Iterable[int]], *, skip_special: bool) -> list[str]:
        """Returns the text of each sequence of ids, as `decode`."""
        rows = [ids if isinstance(ids, list) else list(ids) for ids in batch]
        if skip_special:
            special = self.special_ids
            rows = [ids if special.isdisjoint(ids) else [i for i in ids if i not in special] for ids in rows]
        try:
            return self._decoded(rows)
        except UnknownTokenError:
            known = self.token_of_id
            return self._decoded([[token_id for token_id in ids if token_id in known] for ids in rows])

    def _decoded(self, rows: list[list[int]]) -> list[str]:
        if len(rows) == 1:
            return [self.encoding.decode(rows[0])]
        return self.encoding.decode_batch(rows, num_threads=thread_count(None))

    # --- The vocabulary ---

    def vocabulary(self, *, with_added: bool) -> dict[str, int]:
        """Returns the id of each token by its spelling."""
        vocabulary = dict(self._model_ids)
        if with_added:
            vocabulary |= self._added_ids
        return vocabulary

    @cached_property
    def _added_ids(self) -> dict[str, int]:
        return {token.content: token_id for token_id, token in self.added.items()}

    @cached_property
    def token_of_id(self) -> dict[int, str]:
        """The spelling of each id."""
        tokens = {token_id: token for token, token_id in self._model_ids.items()}
        added = {token_id: token.content for token_id, token in self.added.items()}
        return tokens | added | self._normalized

    def id_of_token(self, token: str) -> int | None:
        """Returns the id of a token; `None` if there is none."""
        token_id = self._added_ids.get(token)
        return self._model_ids.get(token) if token_id is None else token_id


class SourceText:
    """A text and its tokens; all but the ids are made when they are asked for."""

    def __init__(self, engine: Engine, text: str, ids: list[int], *, finds_special: bool) -> None:
        """Takes a text and its ids."""
        self._engine = engine
        self._text = text
        self._finds_special = finds_special
        self.ids = ids

    @cached_property
    def tokens(self) -> list[str]:
        """The spelling of each token."""
        token_of_id = self._engine.token_of_id
        tokens = [token_of_id[token_id] for token_id in self.ids]
        # The spelling of these has the white space that they took.
        strips = {i for i, token in self._engine.added.items() if token.lstrip or token.rstrip}
        if not strips.isdisjoint(self.ids):
            for index, (token_id, start, end) in enumerate(zip(self.ids, *self._spans("char"), strict=True)):
                if token_id in strips:
                    tokens[index] = self._text[start:end]
        return tokens

    def _spans(self, unit: Any) -> tuple[list[int], list[int]]:
        allowed: Any = "all" if self._finds_special else set()
        found = self._engine.encoding.encode_with_offsets(
            self._text, unit=unit, allowed_special=allowed, disallowed_special=()
        )
        return found.starts.tolist(), found.ends.tolist()

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in characters, without what the post-processor leaves out."""
        offsets = list(zip(*self._spans("char"), strict=True))
        for keeps_first in self._engine.frame.trims:
            offsets = trimmed(self.tokens, offsets, keeps_first=keeps_first)
        return offsets

    @cached_property
    def words(self) -> list[int]:
        """The number of the piece of the text that each token is part of.

        Raises:
            NotImplementedError: The pieces do not make up the text.
        """
        pieces = self._engine.pieces(self._text, self._special_spans())
        ends = list(accumulate(len(piece.encode()) for piece in pieces))
        starts, _ = self._spans("byte")
        return [bisect_right(ends, start) for start in starts]

    def _special_spans(self) -> list[tuple[int, int]]:
        """Returns the spans in characters of the special tokens in the text."""
        special = self._engine.special_ids if self._finds_special else set()
        return [
            span
            for token_id, span in zip(self.ids, zip(*self._spans("char"), strict=True), strict=True)
            if token_id in special
        ]
