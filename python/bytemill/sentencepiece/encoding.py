"""Encoding by the names of SentencePiece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.sentencepiece import messages
from bytemill.sentencepiece.arguments import (
    check_documents,
    checked_text,
    resolved_return_type,
    thread_count,
)
from bytemill.sentencepiece.engine import utf8
from bytemill.sentencepiece.loading import WithModel

if TYPE_CHECKING:
    from bytemill.sentencepiece.arguments import ThreadPool

__all__ = ["EncodingMethods"]

# Forms that say all parts of a text, and have no place for what is added.
PART_TYPES = ("serialized_proto", "proto", "offset_mapping")


class Additions(NamedTuple):
    """Changes of the IDs or pieces of a text."""

    bos: bool
    eos: bool
    reverse: bool
    unk_piece: bool


class EncodingMethods(WithModel):
    """The methods that encode."""

    _add_bos: bool
    _add_eos: bool
    _reverse: bool
    _emit_unk_piece: bool
    _enable_sampling: bool
    _nbest_size: int
    _alpha: float

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
        """Raises `RuntimeError`: a BPE model has one way to encode a text, as in SentencePiece."""
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
