"""`Engine`: what the bytes of a `tokenizer.json` say, ready to work. It never changes."""

from __future__ import annotations

import json
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill._arguments import thread_count
from bytemill.core import Encoding
from bytemill.errors import UnknownTokenError, VocabularyError
from bytemill.formats.data_gym import CHARACTER_OF_BYTE
from bytemill.formats.json_file import Value, parse_json
from bytemill.formats.tokenizer_json import load
from bytemill.hf.added import AddedToken, AddedTokens, normalizer_of, parse_added
from bytemill.hf.processing import frame_of, parse_processor
from bytemill.io.reading import NATIVE
from bytemill.special import NO_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bytemill._backend import NormalizerChain
    from bytemill.hf.processing import Frame, Processor
    from bytemill.hf.snapshot import Snapshot
    from bytemill.sessions import PrefixCache

__all__ = ["Engine"]

# The bytes of UTF-8.
BYTES_OF_TEXTS = [*range(0xC0), *range(0xC2, 0xF5)]


class Parts(NamedTuple):
    """The contents of a `tokenizer.json`, except its added tokens and the encoding.

    Attributes:
        file: The file.
        model_ids: The ids of the tokens of the model.
        chain: Normalizes texts.
        processor: The post-processor; `None` for none.
        frames: What is put around each text without special tokens, and with them.
    """

    file: Value
    model_ids: dict[str, int]
    chain: NormalizerChain
    processor: Processor | None
    frames: list[Frame]

    @classmethod
    def of(cls, file: Value) -> Parts:
        """Parses a file; `VocabularyError` if the post-processor is malformed or not supported."""
        processor, frames = processor_of(file)
        chain = normalizer_of(file["normalizer"])
        vocabulary = file["model"]["vocab"]
        if isinstance(vocabulary.contents, list):
            # Of texts and scores, which the encoding has been made of. Of equal texts, the last one counts.
            ids = {text: place for place, (text, _) in enumerate(vocabulary.contents)}
        else:
            ids = vocabulary.ids()
        return cls(file, ids, chain, processor, frames)

    def with_processor(self, processor: Any) -> Parts:
        """Returns these parts with another post-processor; errors as `of`."""
        file = Value(self.file.object() | {"post_processor": processor}, self.file.source)
        parsed, frames = processor_of(file)
        return self._replace(file=file, processor=parsed, frames=frames)

    def read(self, tokens: Iterable[AddedToken]) -> AddedTokens:
        """Returns added tokens as they are numbered when a file is read that lists them in this order."""
        return self.extended(AddedTokens(), tokens)[0]

    def extended(self, added: AddedTokens, tokens: Iterable[AddedToken]) -> tuple[AddedTokens, int]:
        """Returns `AddedTokens.extended` with the tokens of the model."""
        size = len(self.file["model"]["vocab"].contents)
        return added.extended(tokens, self.model_ids, size, self.chain.normalize)


def processor_of(file: Value) -> tuple[Processor | None, list[Frame]]:
    """Returns the post-processor of a file, and what it puts around each text; errors as `Parts.of`."""
    processor = parse_processor(file["post_processor"])
    try:
        return processor, [frame_of(processor, adds=adds) for adds in (False, True)]
    except VocabularyError as error:
        file["post_processor"].refuse(str(error))


class Engine:
    """An encoding, and what else a `tokenizer.json` says.

    Attributes:
        processor: The post-processor; `None` for none.
        frames: What is put around each text without special tokens, and with them.
        added: The added tokens.
        chain: Normalizes texts.
        special_ids: The ids that decoding may leave out.
        prefix_cache: A cache for single texts; `None` for none.
        snapshot: Makes the encodings of an engine that is not traced; `None` if it is, or if the added
            tokens would get other IDs in a snapshot.
    """

    def __init__(self, parts: Parts, added: AddedTokens) -> None:
        """Takes what a file says, and the added tokens, whatever it says of them."""
        self._parts = parts
        self.processor, self.frames, self.chain = parts.processor, parts.frames, parts.chain
        self.added = added
        self.prefix_cache: PrefixCache | None = None
        self.snapshot: Snapshot | None = None
        # Texts are compared, not ids: a token may be decoded to the text of another, special one.
        self.special_ids = {i for i in added.by_id if added.text(i) in added.special_texts}
        if self.twins:
            self.special_ids |= {i for i, text in self.model_tokens.items() if text in added.special_texts}

    @classmethod
    def parse(cls, contents: bytes, source: str, *, is_live: bool = False) -> Engine:
        """Parses the bytes of a file.

        Args:
            contents: The bytes.
            source: Where they come from, for messages.
            is_live: Whether a tokenizer that is in use wrote them, whose added tokens have the ids that the
                file says. When a file is read, they are numbered anew.

        Raises:
            VocabularyError: It is malformed, or its ids cannot be given exactly.
        """
        if contents.startswith(NATIVE):
            raise VocabularyError(
                f"{source}: expected tokenizer.json, got a file of Encoding.save, which Encoding.from_file "
                "reads; Encoding.save_huggingface writes tokenizer.json"
            )
        file = parse_json(contents, source)
        encoding = encoding_of(contents, source, keeps_ids=is_live)
        if (scores := encoding._core_bpe.scores()) is not None:  # noqa: SLF001 - has no public name
            # As the library reads them, which is not always the nearest number; what is written here is.
            vocabulary = file["model"]["vocab"].list()
            vocabulary[:] = [[entry[0], score] for entry, score in zip(vocabulary, scores, strict=True)]
        parts = Parts.of(file)
        tokens = file["added_tokens"]
        added = (
            AddedTokens.listed(tokens, parts.chain.normalize) if is_live else parts.read(parse_added(tokens))
        )
        engine = cls(parts, added)
        engine.encoding = encoding
        engine.check_added()
        return engine

    @cached_property
    def encoding(self) -> Encoding:
        """The encoding; `VocabularyError` if the ids with the added tokens cannot be given exactly."""
        special = self.added.special_texts
        entries = [entry | {"special": entry["content"] in special} for entry in self.added.entries()]
        text = self._text({"added_tokens": entries})
        return encoding_of(text.encode(), self._parts.file.source, keeps_ids=True)

    def entry(self, name: str) -> Value:
        """Returns an entry of the file."""
        return self._parts.file[name]

    def file(self, settings: dict[str, Any], *, pretty: bool) -> str:
        """Returns the text of the file with the settings and the added tokens."""
        return self._text(settings | {"added_tokens": self.added.entries()}, indent=2 if pretty else None)

    def file_without_tokens(self) -> str:
        """Returns the text of the file with an empty model, no added tokens, no truncation and no padding."""
        model = {"type": "WordLevel", "vocab": {}, "unk_token": ""}
        return self._text({"model": model, "added_tokens": [], "truncation": None, "padding": None})

    def _text(self, entries: dict[str, Any], indent: int | None = None) -> str:
        return json.dumps(self._parts.file.object() | entries, ensure_ascii=False, indent=indent)

    def extras(self, *, is_pair: bool) -> int:
        """Returns the number of tokens that the post-processor adds to a text, or to a pair."""
        return 0 if self.processor is None else self.processor.added(is_pair=is_pair)

    # --- Added tokens ---

    def with_added(self, tokens: Iterable[AddedToken]) -> tuple[Engine, int]:
        """Returns the engine with more added tokens, and how many were new or differ from those before.

        Its encoding is made when it is needed, which may raise `VocabularyError` as for a file.

        Raises:
            VocabularyError: A token was normalized and is not any more.
        """
        added, count = self._parts.extended(self.added, tokens)
        if not count:
            return self, 0
        engine = Engine(self._parts, added)
        engine.check_added()
        return engine, count

    def with_processor(self, processor: Any) -> Engine:
        """Returns the engine with another post-processor; `VocabularyError` if that is not supported."""
        engine = Engine(self._parts.with_processor(processor), self.added)
        engine.encoding = self.encoding
        return engine

    def reread(self) -> Engine:
        """Returns the engine of the file that this one is written as, in which tokens are numbered anew."""
        added = self._parts.read(token for _, token in sorted(self.added.by_id.items()))
        return self if added == self.added else Engine(self._parts, added)

    def check_added(self) -> None:
        """Raises `VocabularyError` for added tokens of which no file says what they are."""
        for token_id, text in self.added.normalized.items():
            token = self.added.by_id[token_id]
            if text != (self._parts.chain.normalize(token.content) if token.normalized else token.content):
                raise VocabularyError(
                    f"the added token {token.content!r} is still decoded to what normalizing made of it when "
                    "it was added before: save the tokenizer and load it again"
                )

    @cached_property
    def is_traced(self) -> bool:
        """Returns whether offsets and spellings of tokens are those of `tokenizers` for every text.

        Characters without a token are left out, after which it has the offsets of others, as it has for the
        bytes of an affix. A token that has several spellings, or takes white space of a normalized text, is
        spelled as it was found.
        """
        model, model_ids = self._parts.file["model"], self._parts.model_ids
        # A text that needs the unknown token of a Unigram model without one raises an error.
        has_token = not model["unk_token"].is_null or self.is_unigram
        if not has_token and model["byte_fallback"].flag():
            has_token = all(f"<0x{byte:02X}>" in model_ids for byte in range(256))
        elif not has_token and is_byte_level(self._parts.file["pre_tokenizer"]):
            has_token = all(CHARACTER_OF_BYTE[byte] in model_ids for byte in BYTES_OF_TEXTS)
        spellings = self.model_tokens
        strips = not self._parts.file["normalizer"].is_null
        affixes = (model["continuing_subword_prefix"], model["end_of_word_suffix"])
        spells_affixes = model["byte_fallback"].flag() and not all(affix.is_null for affix in affixes)
        added = self.added
        return (
            has_token
            and not spells_affixes
            and not added.normalized
            and not any(strips and (token.lstrip or token.rstrip) for token in added.by_id.values())
            and all(spellings.get(i, token.content) == token.content for i, token in added.by_id.items())
        )

    @property
    def is_unigram(self) -> bool:
        """Returns whether tokens have scores."""
        return isinstance(self._parts.file["model"]["vocab"].contents, list)

    # --- Ids ---

    def rows(self, texts: Sequence[str], *, finds_special: bool) -> list[list[int]]:
        """Returns the ids of texts, without what is put around them.

        Args:
            texts: The texts.
            finds_special: Whether special tokens in a text are those.
        """
        encoding, threads = self.encoding, thread_count(None)
        if finds_special and len(texts) == 1:
            return [encoding.encode(texts[0], allowed_special="all", cache=self.prefix_cache)]
        if finds_special:
            return encoding.encode_batch(texts, num_threads=threads, allowed_special="all")
        if len(texts) == 1:
            return [encoding.encode_ordinary(texts[0])]
        return encoding.encode_ordinary_batch(texts, num_threads=threads)

    def offsets(self, text: str, *, finds_special: bool) -> list[tuple[int, int]]:
        """Returns the start and end of each token of a text, in characters; arguments as `rows`."""
        allowed = None if finds_special else NO_TOKENS
        core = self.encoding._core_bpe  # noqa: SLF001 - the public method resolves its arguments
        _, starts, ends = core.encode_with_offsets(text, allowed, NO_TOKENS, True)  # noqa: FBT003
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def unknown_texts(self, text: str, *, finds_special: bool) -> list[tuple[int, str]]:
        """Returns the texts that spell unknown tokens of a text, with their indices; arguments as `rows`."""
        allowed = None if finds_special else NO_TOKENS
        core = self.encoding._core_bpe  # noqa: SLF001 - has no public name
        texts: list[tuple[int, str]] = core.unknown_texts(text, allowed)
        return texts

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
            rows = [
                # What only equals an ID, such as a float, is none.
                ids if special.isdisjoint(ids) else [i for i in map(index, ids) if i not in special]
                for ids in rows
            ]
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
        return self._parts.model_ids | dict(self.added.ids if with_added else {})

    def vocabulary_size(self, *, with_added: bool) -> int:
        """Returns the number of tokens; those with the spelling of another one count too."""
        return len(self.vocabulary(with_added=with_added)) + self.twins

    @property
    def twins(self) -> int:
        """The number of Unigram pieces listed twice: the trainer of `tokenizers` writes such files."""
        listed = self._parts.file["model"]["vocab"].contents
        return len(listed) - len(self._parts.model_ids) if self.is_unigram else 0

    @cached_property
    def token_of_id(self) -> dict[int, str]:
        """The spelling of each id."""
        return self.model_tokens | {token_id: self.added.text(token_id) for token_id in self.added.by_id}

    @cached_property
    def model_tokens(self) -> dict[int, str]:
        """The spelling of each id of the model, which an added token may have too."""
        if self.twins:
            pieces = self._parts.file["model"]["vocab"].contents
            return {place: text for place, (text, _) in enumerate(pieces)}
        return {token_id: token for token, token_id in self._parts.model_ids.items()}

    @cached_property
    def unclear(self) -> set[int]:
        """The ids of tokens that are not always spelled as `token_of_id` says."""
        spellings = self.model_tokens
        unknown = self._parts.file["model"]["unk_id"]
        unclear = {unknown.integer()} if self.is_unigram and not unknown.is_null else set()
        texts = ((token_id, token, self.added.text(token_id)) for token_id, token in self.added.by_id.items())
        return unclear | {
            token_id
            for token_id, token, text in texts
            if token.lstrip or token.rstrip or spellings.get(token_id, text) != text
        }

    def id_of_token(self, token: str) -> int | None:
        """Returns the id of a token; `None` if there is none."""
        token_id = self.added.ids.get(token)
        return self._parts.model_ids.get(token) if token_id is None else token_id


def encoding_of(contents: bytes, source: str, *, keeps_ids: bool) -> Encoding:
    """Returns the encoding of a file; `VocabularyError` if its ids cannot be given exactly."""
    loaded = load(contents, "tokenizer", source, keeps_ids=keeps_ids)
    return Encoding._of(*loaded)  # noqa: SLF001 - the library does not warn of overlaps


def is_byte_level(pre_tokenizer: Value) -> bool:
    """Returns whether a pre-tokenizer, or a step of a sequence of them, is ByteLevel."""
    if pre_tokenizer.is_null:
        return False
    steps = (
        pre_tokenizer["pretokenizers"] if pre_tokenizer["type"].contents == "Sequence" else [pre_tokenizer]
    )
    return any(step["type"].contents == "ByteLevel" for step in steps)
