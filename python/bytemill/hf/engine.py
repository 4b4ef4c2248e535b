"""`Engine`: what the bytes of a `tokenizer.json` say, ready to work. It never changes."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bytemill._arguments import thread_count
from bytemill.core import Encoding
from bytemill.errors import UnknownTokenError, VocabularyError
from bytemill.formats.data_gym import CHARACTER_OF_BYTE
from bytemill.formats.huggingface_tokenizer import load
from bytemill.formats.json_file import Value, parse_json
from bytemill.hf.added import AddedToken, normalized_texts, numbered, parse_added
from bytemill.hf.processing import frame_of, parse_processor
from bytemill.special import NO_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Engine"]

# The bytes of UTF-8.
BYTES_OF_TEXTS = [*range(0xC0), *range(0xC2, 0xF5)]


class Engine:
    """An encoding, and what else a `tokenizer.json` says.

    Attributes:
        encoding: The encoding.
        processor: The post-processor; `None` for none.
        frames: What is put around each text without special tokens, and with them.
        added: The added tokens by id.
        special_ids: The ids of the special ones.
    """

    def __init__(self, file: Value, contents: bytes) -> None:
        """Reads a file, parsed and not; `VocabularyError` if its ids cannot be given exactly."""
        self._file = file
        loaded = load(contents, "tokenizer", file.source)
        self.encoding = Encoding._of(*loaded)  # noqa: SLF001 - the library does not warn of overlaps
        self.processor = parse_processor(file["post_processor"])
        try:
            self.frames = [frame_of(self.processor, adds=adds) for adds in (False, True)]
        except VocabularyError as error:
            file["post_processor"].refuse(str(error))
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

    @cached_property
    def is_traced(self) -> bool:
        """Returns whether offsets and spellings of tokens are those of `tokenizers` for every text.

        Characters without a token are left out, after which it has the offsets of others. A token that has
        several spellings, or takes white space of a normalized text, is spelled as it was found.
        """
        model, model_ids = self._file["model"], self._model_ids
        has_token = not model["unk_token"].is_null
        if not has_token and model["byte_fallback"].flag():
            has_token = all(f"<0x{byte:02X}>" in model_ids for byte in range(256))
        elif not has_token and is_byte_level(self._file["pre_tokenizer"]):
            has_token = all(CHARACTER_OF_BYTE[byte] in model_ids for byte in BYTES_OF_TEXTS)
        spellings = {token_id: token for token, token_id in model_ids.items()}
        strips = not self._file["normalizer"].is_null
        return (
            has_token
            and not self._normalized
            and not any(strips and (token.lstrip or token.rstrip) for token in self.added.values())
            and all(spellings.get(i, token.content) == token.content for i, token in self.added.items())
        )

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

    def offsets(self, text: str, *, finds_special: bool) -> list[tuple[int, int]]:
        """Returns the start and end of each token of a text, in characters; arguments as `rows`."""
        allowed = None if finds_special else NO_TOKENS
        core = self.encoding._core_bpe  # noqa: SLF001 - the public method resolves its arguments
        _, starts, ends = core.encode_with_offsets(text, allowed, NO_TOKENS, True)  # noqa: FBT003
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def piece_numbers(self, text: str, *, finds_special: bool) -> list[int]:
        """Returns the number of the piece of a text that each of its ids is part of; arguments as `rows`."""
        allowed = None if finds_special else NO_TOKENS
        core = self.encoding._core_bpe  # noqa: SLF001 - has no public name
        numbers: list[int] = core.piece_numbers(text, allowed).tolist()
        return numbers

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


def is_byte_level(pre_tokenizer: Value) -> bool:
    """Returns whether a pre-tokenizer, or a step of a sequence of them, is ByteLevel."""
    if pre_tokenizer.is_null:
        return False
    steps = (
        pre_tokenizer["pretokenizers"] if pre_tokenizer["type"].contents == "Sequence" else [pre_tokenizer]
    )
    return any(step["type"].contents == "ByteLevel" for step in steps)
