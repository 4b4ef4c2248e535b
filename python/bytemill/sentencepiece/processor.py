"""`SentencePieceProcessor`: encodes and decodes with a SentencePiece model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bytemill.errors import UnknownTokenError, VocabularyError
from bytemill.reference_sentencepiece import Kind
from bytemill.sentencepiece import messages
from bytemill.sentencepiece.arguments import (
    check_documents,
    checked_ids,
    checked_text,
    is_sequence,
    model_bytes,
    read_file,
    refusal,
    resolved_return_type,
    thread_count,
)
from bytemill.sentencepiece.engine import OUT_OF_RANGE, Engine, utf8

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from bytemill._backend import Normalizer
    from bytemill.sentencepiece.arguments import ThreadPool

__all__ = ["SentencePieceProcessor", "normalized"]

# Encoding by the names of SentencePiece.

# Forms that say all parts of a text, and have no place for what is added.
PART_TYPES = ("serialized_proto", "proto", "offset_mapping")


class Additions(NamedTuple):
    """Changes of the IDs or pieces of a text."""

    bos: bool
    eos: bool
    reverse: bool
    unk_piece: bool


def refuse_sampling(nbest_size: int | None, alpha: float | None) -> None:
    """Raises an error, because sampling is not supported.

    Raises:
        ValueError: SentencePiece raises an error for the arguments too.
        NotImplementedError: Otherwise; it is a `RuntimeError`.
    """
    if nbest_size in (None, 0, 1) or alpha is None:
        raise ValueError(
            'When enable_sampling is True, We must specify "nbest_size > 1" or "nbest_size = -1", and '
            '"alpha". "nbest_size" is enabled only on unigram mode ignored in BPE-dropout. '
            'when "nbest_size = -1" , this method samples from all candidates on the lattice '
            "instead of nbest segmentations."
        )
    raise NotImplementedError(
        "sampling is not supported: its results are random; leave out enable_sampling, or use the package "
        "sentencepiece for it"
    )


# Decoding by the names of SentencePiece.


def is_batch(sequence: Sequence[Any]) -> bool:
    """Returns whether a sequence is one of sequences."""
    dimensions = getattr(sequence, "ndim", None)
    if dimensions is not None:
        return bool(dimensions > 1)
    return len(sequence) > 0 and is_sequence(sequence[0])


def sort_of(sequence: Sequence[Any]) -> type[str | bytes | int]:
    """Returns what a sequence holds, by its first element: pieces as `str` or `bytes`, or IDs."""
    if len(sequence) == 0 or hasattr(sequence, "dtype"):
        return int
    return next((kind for kind in (str, bytes) if isinstance(sequence[0], kind)), int)


def check_pieces(value: object) -> None:
    """Raises `TypeError` if a value is no sequence of pieces, such as a single one."""
    if not is_sequence(value) or isinstance(value, (dict, set, frozenset)):
        raise TypeError("Input must be a list or tuple of str or bytes")
    if not all(isinstance(piece, (str, bytes)) for piece in value):
        raise TypeError("List elements must be str or bytes")


def checked_sort(batch: Sequence[Any]) -> type[str | bytes | int]:
    """Returns what sequences hold, by the first that is not empty; `TypeError` as `check_pieces`."""
    sort = next((sort_of(item) for item in batch if is_sequence(item) and len(item)), int)
    if sort is not int:
        for item in batch:
            check_pieces(item)
    return sort


def is_unicode(piece: str) -> bool:
    """Returns whether a string has no surrogates, which UTF-8 has no form for."""
    try:
        piece.encode()
    except UnicodeEncodeError:
        return False
    return True


def in_range(ids: list[int], engine: Engine | None) -> list[int]:
    """Returns IDs; raises `IndexError` if one is out of range."""
    size = engine.size if engine else 0
    if ids and not (min(ids) >= 0 and max(ids) < size):
        raise IndexError(OUT_OF_RANGE)
    return ids


# The vocabulary of a model, and its normalizer.

T = TypeVar("T")


def normalized(normalizer: Normalizer, input: Any, *, with_offsets: bool) -> Any:
    """Normalizes a text, or each of a list of texts."""
    if isinstance(input, list):
        return [normalized(normalizer, checked_text(text), with_offsets=with_offsets) for text in input]
    text = checked_text(input)
    if not with_offsets:
        return normalizer.normalize(text)
    # SentencePiece gives the end of an empty string, but not that of no bytes.
    return normalizer.normalize_with_offsets(text) if text != b"" else (b"", [])


class SentencePieceProcessor:
    """A SentencePiece model: encodes text to IDs or pieces, and decodes both.

    Methods have the names, arguments, results and errors of the package sentencepiece 0.2.3, also in
    CamelCase. Sampling and the features of Unigram models are not supported: `enable_sampling`, the
    `sample_encode_*` and the `nbest_encode*` methods raise `RuntimeError`.
    """

    def __init__(
        self,
        model_file: str | bytes | os.PathLike[str] | None = None,
        model_proto: Any = None,
        out_type: object = None,
        add_bos: bool = False,
        add_eos: bool = False,
        reverse: bool = False,
        emit_unk_piece: bool = False,
        enable_sampling: bool = False,
        nbest_size: int = -1,
        alpha: float = 0.1,
        num_threads: int = -1,
        return_type: object = None,
    ) -> None:
        """Loads a model if one is given; sets the defaults of `encode`.

        Args:
            model_file: The path of a model file.
            model_proto: The bytes of a model file, or a message that has them.
            out_type: The former name of `return_type`.
            add_bos: Whether to add the ID of the start of a text.
            add_eos: Whether to add the ID of the end of a text.
            reverse: Whether IDs are in reverse order.
            emit_unk_piece: Whether unknown pieces are replaced by the unknown piece.
            enable_sampling: Not supported.
            nbest_size: For sampling.
            alpha: For sampling.
            num_threads: The number of threads for lists; all processors if negative.
            return_type: `int`, `str`, `bytes`, `"numpy"`, `"offset_mapping"`, `"serialized_proto"`
                or `"proto"`.

        Raises:
            ValueError: An argument is invalid.
            RuntimeError: The model cannot be read.
        """
        self._engine: Engine | None = None
        self._return_type = resolved_return_type(return_type, out_type, int)
        self._add_bos = add_bos
        self._add_eos = add_eos
        self._reverse = reverse
        self._emit_unk_piece = emit_unk_piece
        self._enable_sampling = enable_sampling
        self._nbest_size = nbest_size
        self._alpha = alpha
        self._num_threads = num_threads
        if model_file or model_proto:
            self.load(model_file, model_proto)

    # --- Loading ---

    @classmethod
    def from_file(cls, model_file: str | bytes | os.PathLike[str], **options: Any) -> Self:
        """Loads a model from a file; `options` are those of the constructor."""
        processor = cls(**no_model_among(options, "from_file"))
        processor.load_from_file(model_file)
        return processor

    @classmethod
    def from_proto(cls, model_proto: Any, **options: Any) -> Self:
        """Loads a model from its bytes; `options` are those of the constructor."""
        processor = cls(**no_model_among(options, "from_proto"))
        processor.load_from_serialized_proto(model_proto)
        return processor

    def load(self, model_file: str | bytes | os.PathLike[str] | None = None, model_proto: Any = None) -> bool:
        """Loads a model from a file or from its bytes.

        Raises:
            ValueError: Both or none are given.
            RuntimeError: The model cannot be read.
        """
        if model_file and model_proto:
            raise ValueError("model_file and model_proto must be exclusive.")
        if model_proto:
            return self.load_from_serialized_proto(model_proto)
        if model_file:
            return self.load_from_file(model_file)
        raise ValueError("Either model_file or model_proto must be specified.")

    def load_from_file(self, filename: str | bytes | os.PathLike[str]) -> bool:
        """Loads a model from a file."""
        return self.load_from_serialized_proto(read_file(filename))

    def load_from_serialized_proto(self, serialized: Any) -> bool:
        """Loads a model from its bytes, or from a message that has them."""
        try:
            self._engine = Engine(model_bytes(serialized))
        except VocabularyError as error:
            raise refusal(error) from error
        return True

    def serialized_model_proto(self) -> bytes:
        """Returns the bytes of the model's file."""
        return self._engine.model.serialize() if self._engine else b""

    def __getstate__(self) -> dict[str, Any]:
        """Returns the model and the options."""
        state = self.__dict__.copy()
        del state["_engine"]
        return {**state, "model_proto": self.serialized_model_proto()}

    def __setstate__(self, state: dict[str, Any] | bytes) -> None:
        """Takes the model and the options, or the bytes of a model alone."""
        SentencePieceProcessor.__init__(self)
        options = {"model_proto": state} if isinstance(state, bytes) else dict(state)
        if model := options.pop("model_proto"):
            self.load_from_serialized_proto(model)
        self.__dict__.update(options)

    Load = load
    LoadFromFile = load_from_file
    LoadFromSerializedProto = load_from_serialized_proto

    def _loaded(self) -> Engine:
        """Returns the model; `RuntimeError` without one."""
        if self._engine is None:
            raise RuntimeError("INTERNAL: Model is not initialized.")
        return self._engine

    # --- Encoding ---

    def encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_type: object = None,
        out_type: object = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Encodes a text, or a list of texts.

        Args:
            input: A text as `str` or `bytes`, or a list of texts.
            add_bos: As in the constructor, here and below.
            add_eos: See there.
            reverse: See there.
            emit_unk_piece: See there.
            enable_sampling: Not supported.
            nbest_size: For sampling.
            alpha: For sampling.
            num_threads: See there.
            thread_pool: Instead of a number of threads.
            return_type: See there.
            out_type: The former name of `return_type`.
            return_bytes: Whether an offset mapping counts bytes; by default if `input` is bytes.

        Raises:
            TypeError: `input` is not text.
            ValueError: An argument is invalid, or the model lacks a piece that it needs.
            RuntimeError: Sampling is asked for, or no model is loaded.
        """
        kind = resolved_return_type(return_type, out_type, self._return_type)
        if return_bytes is not None and kind != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        nbest_size = self._nbest_size if nbest_size is None else nbest_size
        if self._enable_sampling if enable_sampling is None else enable_sampling:
            refuse_sampling(nbest_size, self._alpha if alpha is None else alpha)
        threads = thread_count(self._num_threads if num_threads is None else num_threads, thread_pool)
        additions = self._additions(add_bos, add_eos, reverse, emit_unk_piece)
        if kind in PART_TYPES and any(additions):
            raise RuntimeError(
                "UNIMPLEMENTED: add_bos, add_eos, reverse, and emit_unk_piece is not supported in proto API"
            )
        if not isinstance(input, list):
            return self._encode_one(checked_text(input), kind, additions, threads, return_bytes)
        check_documents(input)
        if kind is int:
            encoded = self._loaded().encode_batch(input, threads)
            return [self._extended(ids, additions) for ids in encoded]
        if return_bytes is None:
            return_bytes = bool(input) and isinstance(input[0], bytes)
        return [self._encode_one(text, kind, additions, threads, return_bytes) for text in input]

    def _encode_one(
        self,
        text: str | bytes,
        kind: object,
        additions: Additions,
        threads: int,
        return_bytes: bool | None,
    ) -> Any:
        loaded = self._loaded()
        if kind is int:
            return self._extended(loaded.encode(text), additions)
        if kind == "numpy":
            import numpy as np

            if any(additions[:3]):
                encoded = np.asarray(self._extended(loaded.encode(text), additions), np.int32)
            else:
                encoded = loaded.encode_to_numpy(text, threads)
            encoded.flags.writeable = False
            return encoded
        if kind in (str, bytes):
            pieces = self._extended_pieces(loaded.pieces_of(text, loaded.encode(text)), additions)
            return pieces if kind is str else [piece.encode() for piece in pieces]
        data = utf8(text)
        if kind == "offset_mapping":
            as_bytes = isinstance(text, bytes) if return_bytes is None else return_bytes
            return messages.offset_mapping(data, *loaded.encode_pieces(data), as_bytes=as_bytes)
        message = loaded.encode_message(data)
        return messages.parsed(message) if kind == "proto" else message

    def _additions(
        self,
        add_bos: bool | None,
        add_eos: bool | None,
        reverse: bool | None,
        emit_unk_piece: bool | None,
    ) -> Additions:
        return Additions(
            bool(self._add_bos if add_bos is None else add_bos),
            bool(self._add_eos if add_eos is None else add_eos),
            bool(self._reverse if reverse is None else reverse),
            bool(self._emit_unk_piece if emit_unk_piece is None else emit_unk_piece),
        )

    def _ends(self, additions: Additions) -> tuple[list[int], list[int]]:
        """Returns the IDs before and after those of a text."""
        loaded = self._loaded()
        for wanted, token, name in (
            (additions.bos, loaded.bos_id, "BOS"),
            (additions.eos, loaded.eos_id, "EOS"),
        ):
            if wanted and token < 0:
                raise ValueError(
                    f"INVALID_ARGUMENT: {name} token is not defined as a control symbol in this model."
                )
        return [loaded.bos_id] * additions.bos, [loaded.eos_id] * additions.eos

    def _extended(self, ids: list[int], additions: Additions) -> list[int]:
        if not any(additions[:3]):
            return ids
        before, behind = self._ends(additions)
        return [*before, *(reversed(ids) if additions.reverse else ids), *behind]

    def _extended_pieces(self, pieces: list[str], additions: Additions) -> list[str]:
        if not any(additions):
            return pieces
        loaded = self._loaded()
        before, behind = ([loaded.pieces[token] for token in end] for end in self._ends(additions))
        if additions.unk_piece:
            if loaded.unk_id < 0:
                raise ValueError("INVALID_ARGUMENT: UNK token is not defined in this model.")
            unknown = loaded.pieces[loaded.unk_id]
            pieces = [unknown if loaded.find(piece) == loaded.unk_id else piece for piece in pieces]
        return [*before, *(reversed(pieces) if additions.reverse else pieces), *behind]

    def encode_as_ids(self, input: Any, **options: Any) -> Any:
        """Same as `encode`, to IDs."""
        return self.encode(input, return_type=int, **options)

    def encode_as_pieces(self, input: Any, **options: Any) -> Any:
        """Same as `encode`, to pieces."""
        return self.encode(input, return_type=str, **options)

    def encode_as_numpy(self, input: Any, **options: Any) -> Any:
        """Same as `encode`, to arrays."""
        return self.encode(input, return_type="numpy", **options)

    def encode_as_proto(self, input: Any, **options: Any) -> Any:
        """Same as `encode`, to messages."""
        return self.encode(input, return_type="proto", **options)

    def encode_as_offset_mapping(self, input: Any, **options: Any) -> Any:
        """Same as `encode`, to IDs with pieces and offsets."""
        return self.encode(input, return_type="offset_mapping", **options)

    def parallel_encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        chunk_len: int | None = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_type: object = None,
        out_type: object = None,
    ) -> Any:
        """Same as `encode`. `chunk_len` is checked, but does not determine where a text is divided.

        Raises:
            ValueError: `chunk_len` is not positive, or as in `encode`.
        """
        kind = resolved_return_type(return_type, out_type, self._return_type)
        if not isinstance(chunk_len, int) or chunk_len <= 0:
            raise ValueError("chunk_len must be positive.")
        if kind == "offset_mapping":
            raise ValueError(f"unknown return_type={kind}")
        return self.encode(
            input,
            add_bos,
            add_eos,
            reverse,
            emit_unk_piece,
            enable_sampling=False,
            num_threads=num_threads,
            thread_pool=thread_pool,
            return_type=kind,
        )

    def parallel_encode_as_ids(self, input: Any, **options: Any) -> Any:
        """Same as `parallel_encode`, to IDs."""
        return self.parallel_encode(input, return_type=int, **options)

    def parallel_encode_as_pieces(self, input: Any, **options: Any) -> Any:
        """Same as `parallel_encode`, to pieces."""
        return self.parallel_encode(input, return_type=str, **options)

    def parallel_encode_as_numpy(self, input: Any, **options: Any) -> Any:
        """Same as `parallel_encode`, to arrays."""
        return self.parallel_encode(input, return_type="numpy", **options)

    def parallel_encode_as_proto(self, input: Any, **options: Any) -> Any:
        """Same as `parallel_encode`, to messages."""
        return self.parallel_encode(input, return_type="proto", **options)

    def sample_encode_as_ids(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **options: Any
    ) -> Any:
        """Raises `RuntimeError`: sampling is not supported."""
        return self.encode_as_ids(input, enable_sampling=True, nbest_size=nbest_size, alpha=alpha, **options)

    def sample_encode_as_pieces(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **options: Any
    ) -> Any:
        """Raises `RuntimeError`: sampling is not supported."""
        return self.encode_as_pieces(
            input, enable_sampling=True, nbest_size=nbest_size, alpha=alpha, **options
        )

    def sample_encode_as_numpy(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **options: Any
    ) -> Any:
        """Raises `RuntimeError`: sampling is not supported."""
        return self.encode_as_numpy(
            input, enable_sampling=True, nbest_size=nbest_size, alpha=alpha, **options
        )

    def sample_encode_as_proto(
        self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **options: Any
    ) -> Any:
        """Raises `RuntimeError`: sampling is not supported."""
        return self.encode_as_proto(
            input, enable_sampling=True, nbest_size=nbest_size, alpha=alpha, **options
        )

    def nbest_encode(self, *_arguments: Any, **_options: Any) -> Any:
        """Raises `RuntimeError`: only the best way to encode a text is found."""
        raise RuntimeError("INTERNAL: NBestEncode is not available for the current model.")

    nbest_encode_as_ids = nbest_encode
    nbest_encode_as_pieces = nbest_encode
    nbest_encode_as_numpy = nbest_encode
    nbest_encode_as_proto = nbest_encode

    tokenize = encode

    Encode = encode
    EncodeAsIds = encode_as_ids
    EncodeAsPieces = encode_as_pieces
    EncodeAsNumpy = encode_as_numpy
    EncodeAsProto = encode_as_proto
    EncodeAsOffsetMapping = encode_as_offset_mapping
    ParallelEncode = parallel_encode
    ParallelEncodeAsIds = parallel_encode_as_ids
    ParallelEncodeAsPieces = parallel_encode_as_pieces
    ParallelEncodeAsNumpy = parallel_encode_as_numpy
    ParallelEncodeAsProto = parallel_encode_as_proto
    SampleEncodeAsIds = sample_encode_as_ids
    SampleEncodeAsPieces = sample_encode_as_pieces
    SampleEncodeAsNumpy = sample_encode_as_numpy
    SampleEncodeAsProto = sample_encode_as_proto
    NBestEncode = nbest_encode
    NBestEncodeAsIds = nbest_encode
    NBestEncodeAsPieces = nbest_encode
    NBestEncodeAsNumpy = nbest_encode
    NBestEncodeAsProto = nbest_encode
    Tokenize = encode

    # --- Decoding ---

    def decode(
        self,
        input: Any,
        return_type: object = None,
        out_type: object = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Decodes IDs or pieces, or a list of lists of them.

        Args:
            input: An ID, a piece, several of one sort, or a list of such lists.
            return_type: `str`, `bytes`, `"offset_mapping"`, `"serialized_proto"` or `"proto"`.
            out_type: The former name of `return_type`.
            num_threads: The number of threads for lists; all processors if negative.
            thread_pool: Instead of a number of threads.
            return_bytes: Whether an offset mapping counts bytes.

        Raises:
            IndexError: An ID is out of range.
            TypeError: `input` is something else.
            ValueError: An argument is invalid.
        """
        kind = resolved_return_type(return_type, out_type, str)
        if kind is str and type(input) is list and input and return_bytes is None and thread_pool is None:
            decoded = self._decode_at_once(input, num_threads)
            if decoded is not None:
                return decoded
        if return_bytes is not None and kind != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        threads = thread_count(self._num_threads if num_threads is None else num_threads, thread_pool)
        if kind in (int, "numpy"):
            raise ValueError(f"unknown return_type={kind} or input type")
        if input is None or (isinstance(input, (str, bytes)) and not input):
            input = []  # noqa: A001
        if not is_sequence(input):
            input = [input]  # noqa: A001
        if not is_batch(input):
            return self._decode_one(input, kind, bool(return_bytes), checked_sort([input]))
        sort = checked_sort(input)
        if kind in (str, bytes) and sort is int:
            batch = [checked_ids(item) for item in input]
            for ids in batch:
                in_range(ids, self._engine)
            texts = self._loaded().decode_batch(batch, threads)
            return texts if kind is str else [text.encode() for text in texts]
        return [self._decode_one(item, kind, bool(return_bytes), sort) for item in input]

    def _decode_at_once(self, input: list[Any], num_threads: int | None) -> Any:
        """Decodes IDs without checking each; `None` if the core finds something that is not an ID.

        Checking each takes four times as long as decoding.
        """
        threads = self._num_threads if num_threads is None else num_threads
        if self._engine is None or not isinstance(threads, int):
            return None
        core = self._engine.core
        try:
            if isinstance(input[0], list):
                # The core would take the bytes of a text for IDs.
                if any(type(ids) is not list for ids in input):
                    return None
                return core.decode_batch(input, "replace", thread_count(threads))
            return core.decode(input, "replace") if isinstance(input[0], int) else None
        except (TypeError, OverflowError, UnknownTokenError):
            return None

    def _decode_one(self, sequence: Any, kind: object, as_bytes: bool, sort: type[str | bytes | int]) -> Any:
        """Decodes a sequence of IDs or of pieces.

        Args:
            sequence: The IDs or pieces.
            kind: The type of the result.
            as_bytes: Whether text is returned as bytes.
            sort: What it holds, as from `checked_sort`; the result of pieces has their type by default.
        """
        pieces, given_bytes = sort is not int, sort is bytes
        ids = [] if pieces else in_range(checked_ids(sequence), self._engine)
        # Bytes that are not UTF-8 are in no piece, and decode to themselves.
        texts = [
            piece if isinstance(piece, str) else piece.decode(errors="surrogateescape")
            for piece in (sequence if pieces else ())
        ]
        known: list[int] | None = ids
        if pieces:
            known = self._engine.known_ids(texts) if self._engine else None
        if known is None and any(isinstance(piece, str) and not is_unicode(piece) for piece in sequence):
            raise TypeError("List elements must be str or bytes")
        loaded = self._loaded()
        if kind in (str, bytes) and known is not None:
            decoded = loaded.decode(known)
            return decoded.encode() if kind is bytes or given_bytes else decoded
        text, parts = loaded.decode_parts(texts or ids)
        if kind is bytes or (kind is str and given_bytes):
            return text
        if kind is str:
            return text.decode()
        if kind == "offset_mapping":
            as_bytes = as_bytes or given_bytes
            mapping = messages.offset_mapping(
                text,
                [part.token for part in parts],
                [part.piece for part in parts],
                [(part.begin, part.end) for part in parts],
                as_bytes=as_bytes,
            )
            return {"text": text if as_bytes else text.decode(), **mapping}
        message = messages.serialized(text, parts)
        return messages.parsed(message) if kind == "proto" else message

    def decode_pieces(self, input: Any, return_type: object = None, **options: Any) -> Any:
        """Same as `decode`."""
        return self.decode(input, return_type, **options)

    def decode_ids(self, input: Any, return_type: object = None, **options: Any) -> Any:
        """Same as `decode`."""
        return self.decode(input, return_type, **options)

    def decode_pieces_as_proto(self, input: Any, **options: Any) -> Any:
        """Same as `decode`, to messages."""
        return self.decode(input, "proto", **options)

    def decode_ids_as_proto(self, input: Any, **options: Any) -> Any:
        """Same as `decode`, to messages."""
        return self.decode(input, "proto", **options)

    detokenize = decode

    Decode = decode
    DecodePieces = decode_pieces
    DecodeIds = decode_ids
    DecodePiecesAsProto = decode_pieces_as_proto
    DecodeIdsAsProto = decode_ids_as_proto
    Detokenize = decode

    # --- Vocabulary and normalizer ---

    def get_piece_size(self) -> int:
        """Returns the number of pieces."""
        return self._engine.size if self._engine else 0

    def __len__(self) -> int:
        """Returns the number of pieces."""
        return self.get_piece_size()

    def piece_to_id(self, piece: Any) -> Any:
        """Returns the ID of a piece, or of each of several; the ID of the unknown piece if there is none."""
        if isinstance(piece, (str, bytes)):
            return self._find(piece)
        if type(piece) is list and self._engine and (known := self._engine.known_ids(piece)) is not None:
            return known
        try:
            pieces = [piece[index] for index in range(len(piece))]
        except (TypeError, KeyError):
            raise TypeError(f"expected a piece or a sequence of pieces, not {piece!r:.40}") from None
        if not all(isinstance(each, (str, bytes)) for each in pieces):
            raise TypeError("Sequence elements must be str or bytes")
        return [self._find(each) for each in pieces]

    def _find(self, piece: str | bytes) -> int:
        if self._engine is None:
            return 0
        return self._engine.find(piece if isinstance(piece, str) else piece.decode(errors="surrogateescape"))

    def __getitem__(self, piece: Any) -> Any:
        """Returns the ID of a piece; see `piece_to_id`."""
        return self.piece_to_id(piece)

    def id_to_piece(self, id: Any) -> Any:
        """Returns the piece of an ID, or of each of several.

        Raises:
            IndexError: An ID is out of range, here and below.
        """
        return self._of_ids(id, lambda engine: engine.pieces)

    def get_score(self, id: Any) -> Any:
        """Returns the score of an ID, or of each of several."""
        return self._of_ids(id, lambda engine: engine.scores)

    def is_unknown(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, is that of the unknown piece."""
        return self._are_of_type(id, Kind.UNKNOWN)

    def is_control(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, is that of a control piece."""
        return self._are_of_type(id, Kind.CONTROL)

    def is_unused(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, is not used."""
        return self._are_of_type(id, Kind.UNUSED)

    def is_byte(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, stands for a byte."""
        return self._are_of_type(id, Kind.BYTE)

    def _are_of_type(self, ids: Any, kind: int) -> bool | list[bool]:
        found = self._of_ids(ids, lambda engine: engine.types)
        return [each == kind for each in found] if isinstance(found, list) else found == kind

    def _of_ids(self, ids: Any, column: Callable[[Engine], list[T]]) -> T | list[T]:
        """Returns the entry of a column for an ID, or for each of several."""
        engine = self._engine
        values = [] if engine is None else column(engine)
        if type(ids) is int and 0 <= ids < len(values):
            return values[ids]
        # An array without dimensions is a number, though it has the method for a length.
        is_number = getattr(ids, "shape", None) == () and ids.dtype.kind in "iu"
        is_one = (
            isinstance(ids, int) or is_number or (hasattr(ids, "__index__") and not hasattr(ids, "__len__"))
        )
        found = in_range(checked_ids([ids] if is_one else ids), engine)
        return values[found[0]] if is_one else [values[token] for token in found]

    def unk_id(self) -> int:
        """Returns the ID of the unknown piece, -1 if there is none."""
        return self._engine.unk_id if self._engine else -1

    def bos_id(self) -> int:
        """Returns the ID of the start of a text, -1 if there is none."""
        return self._engine.bos_id if self._engine else -1

    def eos_id(self) -> int:
        """Returns the ID of the end of a text, -1 if there is none."""
        return self._engine.eos_id if self._engine else -1

    def pad_id(self) -> int:
        """Returns the ID for padding, -1 if there is none."""
        return self._engine.pad_id if self._engine else -1

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalizes a text, or each of a list of texts.

        Args:
            input: A text as `str` or `bytes`, or a list of texts.
            with_offsets: Whether to return the offset in the text of each character, or byte, as well.
        """
        if self._engine is None and not with_offsets and not isinstance(input, list):
            text = checked_text(input)
            return "" if isinstance(text, str) else b""
        return normalized(self._loaded().normalizer, input, with_offsets=bool(with_offsets))

    piece_size = get_piece_size
    vocab_size = get_piece_size

    GetPieceSize = get_piece_size
    PieceToId = piece_to_id
    IdToPiece = id_to_piece
    GetScore = get_score
    IsUnknown = is_unknown
    IsControl = is_control
    IsUnused = is_unused
    IsByte = is_byte
    Normalize = normalize


def no_model_among(options: dict[str, Any], method: str) -> dict[str, Any]:
    """Returns options; `ValueError` if a model is among them."""
    if "model_file" in options or "model_proto" in options:
        raise ValueError(
            f"{method} takes one model: expected no model_file and no model_proto among its options"
        )
    return options
