"""`Tokenizer`: the API of `tokenizers.Tokenizer`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bytemill._arguments import bytes_of, check_type
from bytemill.hf.added import AddedToken
from bytemill.hf.arguments import (
    IDS,
    Padding,
    Truncation,
    elements,
    flag,
    inputs_of,
    one_of,
    strings,
    text,
    token_ids,
    unsigned,
    words_of,
)
from bytemill.hf.encoded import Encoded
from bytemill.hf.engine import Engine
from bytemill.hf.padded import COLUMNS, DTYPES, check_dtype, cuts_each_text, padded, plain
from bytemill.hf.pipeline import Settings, completed, encoded
from bytemill.io.atomic import write_atomically
from bytemill.io.reading import located

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from typing import SupportsIndex

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer, Self

__all__ = ["DecodeStream", "Tokenizer"]

TOKENIZER_FILE = "tokenizer.json"


class Tokenizer:
    """A tokenizer with the methods of `tokenizers.Tokenizer`, and the same token IDs.

    Reads the same `tokenizer.json` files as `Encoding.from_file`. Truncation and padding in the file are
    applied.

    Threads may share a tokenizer while none of them changes its settings or adds tokens.

    Arguments are checked the same way: a value that is not a flag, an unsigned integer or Unicode text raises
    `TypeError`, and a number out of range raises `OverflowError`.
    """

    def __init__(self, engine: Engine) -> None:
        """Use `from_file`, `from_str` or `from_buffer` instead."""
        check_type("engine", engine, Engine, "`from_file` and `from_str` make tokenizers")
        self._engine = engine
        self._splits_special = False
        self._truncation = Truncation.parse(engine.entry("truncation"))
        self._padding = Padding.parse(engine.entry("padding"))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a `tokenizer.json`.

        Raises:
            VocabularyError: It is malformed, or has a component that bytemill does not support.
            OSError: It cannot be read.
        """
        return cls(Engine.parse(Path(path).read_bytes(), str(path)))

    @classmethod
    def from_pretrained(cls, identifier: str | os.PathLike[str]) -> Self:
        """Reads the `tokenizer.json` of a model, by its name or from its directory; errors as `from_file`.

        Args:
            identifier: The name of a model on the Hugging Face Hub, such as "BAAI/bge-m3", whose file is in
                the Hub's cache on this machine; nothing is downloaded. Or a directory with the file.

        Raises:
            FileNotFoundError: The file is not there; the message says how to download it.
        """
        file = located(identifier, [TOKENIZER_FILE])
        return cls.from_file(file / TOKENIZER_FILE if file.is_dir() else file)

    @classmethod
    def from_buffer(cls, buffer: Buffer) -> Self:
        """Reads the bytes of a `tokenizer.json`; same errors as `from_file`."""
        return cls(Engine.parse(bytes_of("buffer", buffer), "tokenizer.json"))

    @classmethod
    def from_str(cls, json: str) -> Self:
        """Reads the text of a `tokenizer.json`, as `to_str` returns it; same errors as `from_file`."""
        check_type("json", json, str)
        return cls.from_buffer(json.encode())

    def to_str(self, pretty: bool = False) -> str:
        """Returns the text of a `tokenizer.json` with all settings and added tokens."""
        settings = {"truncation": self._truncation, "padding": self._padding}
        entries = {name: None if value is None else value.entry() for name, value in settings.items()}
        return self._engine.file(entries, pretty=flag("pretty", pretty))

    def save(self, path: str | os.PathLike[str], pretty: bool = True) -> None:
        """Writes a `tokenizer.json`; `OSError` if that fails."""
        write_atomically(path, self.to_str(pretty).encode())

    def __repr__(self) -> str:
        return f"<Tokenizer: {self.get_vocab_size()} tokens>"

    def __copy__(self) -> Self:
        # Same as in `tokenizers`, a copy is what is written to a file and read, where some settings are not.
        other = type(self)(self._engine.reread())
        other._truncation, other._padding = self._truncation, self._padding  # noqa: SLF001 - of this class
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # What is shared never changes.
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_str, (self.to_str(),)

    # --- Encoding ---

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens in texts are encoded as ordinary text."""
        return self._splits_special

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._splits_special = flag("encode_special_tokens", value)

    def encode(
        self,
        sequence: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoded:
        """Encodes a text, or two as a pair.

        Args:
            sequence: The text; a list of its words if it `is_pretokenized`.
            pair: The second text, likewise.
            is_pretokenized: Whether texts are lists of words, each of which is encoded by itself.
            add_special_tokens: Whether the tokens of the post-processor are added.

        Raises:
            TypeError: A text is not a string, or not a list of strings.
            ValueError: `max_length` is too small, or the text that the strategy names cannot be truncated.
        """
        settings = self._settings(is_pretokenized, add_special_tokens)
        given = [sequence] if pair is None else [sequence, pair]
        return self._encode([[words_of(text, settings.in_words) for text in given]], settings)[0]

    def encode_batch(
        self,
        input: Iterable[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoded]:
        """Encodes many texts in parallel; otherwise same as `encode`.

        Args:
            input: Texts, or pairs of texts as tuples or lists of two.
            is_pretokenized: Whether texts are lists of words.
            add_special_tokens: Whether the tokens of the post-processor are added.
        """
        settings = self._settings(is_pretokenized, add_special_tokens)
        inputs = [inputs_of(item, settings.in_words) for item in elements("input", input)]
        return self._encode(inputs, settings)

    def encode_batch_fast(
        self,
        input: Iterable[Any],
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> list[Encoded]:
        """Same as `encode_batch`, which computes offsets only on access."""
        return self.encode_batch(input, is_pretokenized, add_special_tokens)

    def encode_batch_padded(
        self,
        texts: Iterable[str],
        pairs: Iterable[str] | None = None,
        *,
        max_length: int | None = None,
        padding: str | int | None = None,
        pad_to_multiple_of: int | None = None,
        side: str | None = None,
        add_special_tokens: bool = True,
        return_special_tokens_mask: bool = False,
        dtype: str = "int64",
        num_threads: int | None = None,
    ) -> dict[str, npt.NDArray[np.integer[Any]]]:
        """Encodes many texts to arrays of the same length, as models take them.

        The settings of `enable_truncation` and `enable_padding`, or of the file, are the defaults. Without
        them, texts are not truncated, and padded to the longest with the token `[PAD]` or `<pad>`.

        Args:
            texts: The texts.
            pairs: The second texts of pairs, as many.
            max_length: The maximum number of tokens of a row, special tokens included.
            padding: The length of rows: that of the "longest", the "max_length", or a number.
            pad_to_multiple_of: The length of rows is rounded up to a multiple of this.
            side: The side to pad: "right" or "left".
            add_special_tokens: Whether the tokens of the post-processor are added.
            return_special_tokens_mask: Whether to return `special_tokens_mask`, which is 1 for special
                tokens that were added and for padding.
            dtype: "int64", which PyTorch and ONNX Runtime take, "int32" or "uint32".
            num_threads: The maximum number of threads; all processors by default.

        Returns:
            C-contiguous arrays of shape (texts, length) by name: `input_ids`, `token_type_ids`,
            `attention_mask`, and `special_tokens_mask` if it is asked for.

        Raises:
            TypeError: A text is not a string, or `padding` is neither a name nor a number.
            ValueError: A row is longer than the padding; `max_length` is too small, or not given where
                the padding names it; the numbers of texts differ; `side` or `dtype` is unknown, or `dtype`
                cannot hold all token IDs.

        Complexity:
            That of encoding, and O(texts · length). Of a text that is truncated, little more is encoded than
            is kept.
        """
        one_of("dtype", dtype, DTYPES)
        truncation = self._truncation
        if max_length is not None:
            extras = self._engine.extras(is_pair=pairs is not None) if add_special_tokens else 0
            given = truncation or Truncation(max_length)
            truncation = given._replace(max_length=max_length, stride=0).checked(extras)
        fills = self._padded(padding, truncation)
        if pad_to_multiple_of is not None:
            fills = fills._replace(pad_to_multiple_of=pad_to_multiple_of)
        if side is not None:
            fills = fills._replace(direction=side)
        settings = self._settings(is_pretokenized=False, add_special_tokens=add_special_tokens)
        settings = settings._replace(truncation=truncation, padding=fills.checked())
        check_dtype(self._engine, settings, dtype)
        first = strings("texts", texts)
        columns = [name for name in COLUMNS if return_special_tokens_mask or name != "special_tokens_mask"]
        if pairs is None and cuts_each_text(self._engine, settings):
            # Without a list for each text.
            return plain(self._engine, first, settings, columns=columns, dtype=dtype, num_threads=num_threads)
        batch: list[list[Sequence[str]]] = [[(each,)] for each in first]
        if pairs is not None:
            second = strings("pairs", pairs)
            if len(second) != len(first):
                raise ValueError(f"expected as many pairs as texts, {len(first)}, got {len(second)}")
            batch = [[(one,), (other,)] for one, other in zip(first, second, strict=True)]
        return padded(self._engine, batch, settings, columns=columns, dtype=dtype, num_threads=num_threads)

    def _padded(self, padding: str | int | None, truncation: Truncation | None) -> Padding:
        """Returns how rows are filled; arguments and errors as `encode_batch_padded`."""
        fills = self._padding
        if fills is None:
            found = (self._engine.id_of_token(token) for token in ("[PAD]", "<pad>"))
            fills = Padding(pad_id=next((token_id for token_id in found if token_id is not None), 0))
        if padding is None:
            return fills
        if padding == "max_length":
            if truncation is None:
                raise ValueError('expected a max_length, which padding="max_length" names')
            return fills._replace(length=truncation.max_length)
        if isinstance(padding, bool):
            raise TypeError(
                f'expected padding as "longest", "max_length" or a number, got {padding}: rows are always '
                'padded, by default to the "longest"'
            )
        if isinstance(padding, str) and padding != "longest":
            raise ValueError(f'expected padding as "longest", "max_length" or a number, got {padding!r}')
        return fills._replace(length=None if isinstance(padding, str) else padding)

    def _encode(self, batch: list[list[Sequence[str]]], settings: Settings) -> list[Encoded]:
        return [Encoded(layout) for layout in encoded(self._engine, batch, settings)]

    def _settings(self, is_pretokenized: bool, add_special_tokens: bool) -> Settings:
        in_words, adds = (
            flag("is_pretokenized", is_pretokenized),
            flag("add_special_tokens", add_special_tokens),
        )
        return Settings(in_words, adds, not self._splits_special, self._truncation, self._padding)

    def post_process(
        self, encoding: Encoded, pair: Encoded | None = None, add_special_tokens: bool = True
    ) -> Encoded:
        """Truncates an encoding, or two as a pair, applies the post-processor and pads.

        Args:
            encoding: The encoding of a text without special tokens.
            pair: That of the second text.
            add_special_tokens: Whether the tokens of the post-processor are added.

        Raises:
            ValueError: Same as `encode`.
        """
        given = [encoding] if pair is None else [encoding, pair]
        for each in given:
            check_type("encoding" if each is encoding else "pair", each, Encoded)
        settings = self._settings(is_pretokenized=False, add_special_tokens=add_special_tokens)
        layout = completed(self._engine, [each.layout for each in given], settings)
        if self._padding is not None:
            layout = layout.filled(self._padding, self._padding.target(layout.size))
        return Encoded(layout)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Returns the number of special tokens that are added to a text, or to a pair."""
        return self._engine.extras(is_pair=flag("is_pair", is_pair))

    # --- Encoding and decoding in a thread of `asyncio` ---

    async def async_encode(
        self,
        sequence: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoded:
        """Awaits `encode`."""
        return await asyncio.to_thread(self.encode, sequence, pair, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoded]:
        """Awaits `encode_batch`."""
        return await asyncio.to_thread(self.encode_batch, input, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoded]:
        """Awaits `encode_batch_fast`."""
        return await asyncio.to_thread(self.encode_batch_fast, input, is_pretokenized, add_special_tokens)

    async def async_decode_batch(
        self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Awaits `decode_batch`."""
        return await asyncio.to_thread(self.decode_batch, sequences, skip_special_tokens)

    # --- Decoding ---

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Decodes token IDs.

        Args:
            ids: The token IDs; unknown ones are left out.
            skip_special_tokens: Whether special tokens are left out.

        Raises:
            TypeError, OverflowError: `ids` are not token IDs.
        """
        return self._engine.decode(ids, skip_special=flag("skip_special_tokens", skip_special_tokens))

    def decode_batch(
        self,
        sequences: Iterable[Sequence[int]],
        skip_special_tokens: bool = True,
    ) -> list[str]:
        """Decodes many sequences of token IDs in parallel; same arguments and errors as `decode`."""
        skips = flag("skip_special_tokens", skip_special_tokens)
        return self._engine.decode_batch(sequences, skip_special=skips)

    # --- The vocabulary ---

    def token_to_id(self, token: str) -> int | None:
        """Returns the ID of a token; `None` if there is none."""
        return self._engine.id_of_token(text("token", token))

    def id_to_token(self, id: int) -> str | None:
        """Returns the token of an ID, as spelled in the vocabulary; `None` if there is none."""
        return self._engine.token_of_id.get(unsigned("id", id, IDS))

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Returns the ID of each token."""
        return self._engine.vocabulary(with_added=flag("with_added_tokens", with_added_tokens))

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Returns the number of tokens."""
        return self._engine.vocabulary_size(with_added=flag("with_added_tokens", with_added_tokens))

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Returns the added tokens by ID."""
        return dict(sorted(self._engine.added.by_id.items()))

    def add_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """Adds tokens, which are found in texts before anything else.

        Args:
            tokens: Texts, or objects with the attributes of `AddedToken`, such as those of `tokenizers`.

        Returns:
            The number of tokens that are new or differ from existing ones.

        Raises:
            TypeError: `tokens` is a single text, or one of them is neither a text nor such an object.
            VocabularyError: A token was normalized and is not any longer.

        Complexity:
            That of the number of added tokens. The next call that encodes or decodes reads the file again; it
            raises `VocabularyError` if it cannot give the IDs exactly.
        """
        return self._add(tokens, special=False)

    def add_special_tokens(self, tokens: Iterable[str | AddedToken]) -> int:
        """Adds special tokens, which decoding may leave out; otherwise same as `add_tokens`."""
        return self._add(tokens, special=True)

    def _add(self, tokens: Iterable[object], *, special: bool) -> int:
        given = [AddedToken.of(token, special=special) for token in elements("tokens", tokens)]
        self._engine, count = self._engine.with_added(given)
        return count

    # --- Settings ---

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The arguments of `enable_truncation`; `None` if texts are not truncated."""
        return None if self._truncation is None else self._truncation._asdict()

    def enable_truncation(
        self, max_length: int, *, stride: int = 0, strategy: str = "longest_first", direction: str = "right"
    ) -> None:
        """Truncates all texts from now on.

        Args:
            max_length: The maximum number of tokens of a text, including added special tokens.
            stride: The number of tokens that a part in `overflowing` repeats from the previous one.
            strategy: "longest_first", "only_first" or "only_second"; matters only for pairs.
            direction: The side to drop: "right" or "left".

        Raises:
            TypeError: A value is of another type.
            OverflowError: A number is negative.
            ValueError: `stride` is more than what `max_length` leaves of a text, or a name is not known.
        """
        extras = self._engine.extras(is_pair=False)
        self._truncation = Truncation(max_length, stride, strategy, direction).checked(extras)

    def no_truncation(self) -> None:
        """Truncates no text from now on."""
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """The arguments of `enable_padding`; `None` if texts are not padded."""
        if self._padding is None:
            return None
        names = ("length", "pad_to_multiple_of", "pad_id", "pad_token", "pad_type_id", "direction")
        return {name: getattr(self._padding, name) for name in names}

    def enable_padding(
        self,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",  # noqa: S107 - no password
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Pads all texts from now on.

        Args:
            direction: The side to pad: "right" or "left".
            pad_id: The ID of the padding token.
            pad_type_id: Its entry in `type_ids`.
            pad_token: Its spelling.
            length: The number of tokens; by default the length of the longest text of a batch.
            pad_to_multiple_of: The number of tokens is rounded up to a multiple of this.

        Raises:
            TypeError: A value is of another type.
            OverflowError: A number is negative or too large.
            ValueError: `direction` is neither "right" nor "left".
        """
        self._padding = Padding(
            direction, pad_id, pad_type_id, pad_token, length, pad_to_multiple_of
        ).checked()

    def no_padding(self) -> None:
        """Pads no text from now on."""
        self._padding = None


# `DecodeStream`: decodes token IDs that arrive one by one, with the same results as `tokenizers`.

REPLACEMENT = "\ufffd"


class Decodes(Protocol):
    """A tokenizer."""

    def decode(self, ids: list[int], skip_special_tokens: bool = ...) -> str: ...


class DecodeStream:
    """Decodes token IDs as they arrive, same as `tokenizers.decoders.DecodeStream`.

    The results of `step`, joined, are the text of all IDs, unless it ends inside a character. The stream has
    state: each text needs its own, and threads must not share it.
    """

    def __init__(
        self, ids: Iterable[SupportsIndex] | None = None, skip_special_tokens: bool | None = False
    ) -> None:
        """Starts a stream.

        Args:
            ids: Earlier token IDs, whose text is known already.
            skip_special_tokens: Whether special tokens are left out.
        """
        self._ids = [] if ids is None else [unsigned("ids", each, IDS) for each in ids]
        # `None` is false there, too.
        self._skip = skip_special_tokens is not None and flag("skip_special_tokens", skip_special_tokens)
        self._prefix = ""
        self._prefix_end = 0  # of the ids, those of the prefix

    def step(self, tokenizer: Decodes, id: SupportsIndex | Iterable[SupportsIndex]) -> str | None:
        """Adds one or several token IDs, and returns the text that they complete; `None` if there is none.

        Args:
            tokenizer: The tokenizer of the IDs.
            id: The next ID, or several IDs.

        Raises:
            TypeError: `tokenizer` is not a tokenizer, or `id` is not one or several token IDs.
            ValueError: The text of all IDs does not begin with the text of the earlier ones.
        """
        if not hasattr(tokenizer, "decode"):
            raise TypeError(f"expected a tokenizer that decodes, not {type(tokenizer).__name__}")
        given = token_ids("id", id)
        if not self._prefix and self._ids:
            prefix = tokenizer.decode(self._ids, self._skip)
            if not prefix.endswith(REPLACEMENT):
                self._prefix, self._prefix_end = prefix, len(self._ids)
        self._ids += given
        text = tokenizer.decode(self._ids, self._skip)
        if len(text.encode()) <= len(self._prefix.encode()) or text.endswith(REPLACEMENT):
            return None
        if not text.startswith(self._prefix):
            raise ValueError(
                f"expected text that continues {self._prefix!r}, got {text!r} with the id {self._ids[-1]}"
            )
        new = text[len(self._prefix) :]
        kept = len(self._ids) - self._prefix_end
        self._ids = self._ids[self._prefix_end :]
        self._prefix, self._prefix_end = tokenizer.decode(self._ids, self._skip), kept
        return new
