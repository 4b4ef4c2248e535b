"""`SentencePieceProcessor`: encodes and decodes with a SentencePiece model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill.errors import VocabularyError
from bytemill.sentencepiece.arguments import resolved_return_type
from bytemill.sentencepiece.decoding import DecodingMethods
from bytemill.sentencepiece.encoding import EncodingMethods
from bytemill.sentencepiece.engine import Engine
from bytemill.sentencepiece.loading import model_bytes, read_file, refusal
from bytemill.sentencepiece.vocabulary import VocabularyMethods

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

__all__ = ["SentencePieceProcessor"]


class SentencePieceProcessor(EncodingMethods, DecodingMethods, VocabularyMethods):
    """A SentencePiece BPE model: encodes text to IDs or pieces, and decodes both.

    Methods have the names, arguments, results and errors of the package sentencepiece 0.2.3, also in
    CamelCase. Sampling and the features of Unigram models are not supported: `enable_sampling`, the
    `sample_encode_*` and the `nbest_encode*` methods raise `RuntimeError`.
    """

    def __init__(
        self,
        model_file: str | os.PathLike[str] | None = None,
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
        self._engine = None
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
    def from_file(cls, model_file: str | os.PathLike[str], **options: Any) -> Self:
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

    def load(self, model_file: str | os.PathLike[str] | None = None, model_proto: Any = None) -> bool:
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

    def load_from_file(self, filename: str | os.PathLike[str]) -> bool:
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


def no_model_among(options: dict[str, Any], method: str) -> dict[str, Any]:
    """Returns options; `ValueError` if a model is among them."""
    if "model_file" in options or "model_proto" in options:
        raise ValueError(
            f"{method} takes one model: expected no model_file and no model_proto among its options"
        )
    return options
