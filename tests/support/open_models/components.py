"""Components of `tokenizer.json`, and rows that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.catalogue import PRE_TOKENIZERS
from support.open_models.vocabularies import MARK, Model, byte_level, characters

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
TRIMMING = BYTE_LEVEL | {"trim_offsets": True, "use_regex": True}
NFC = {"type": "NFC"}
MARKS = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
PREPEND_MARKS = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARK}, MARKS]}
METASPACE = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "first", "split": False}
NOTHING = {"type": "Sequence", "normalizers": []}

PIECES = [
    {"type": "Replace", "pattern": {"String": MARK}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
]
MARKS_DECODER = {"type": "Sequence", "decoders": PIECES}
LLAMA_DECODER = {
    "type": "Sequence",
    "decoders": [*PIECES, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
}


def added(*contents: str, special: bool = True, **flags: bool) -> list[dict[str, Any]]:
    """Returns added tokens with equal flags; those that are not given are false."""
    options = {
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": special,
    }
    return [{"id": 0, "content": content} | options | flags for content in contents]


def template(*before: str, after: tuple[str, ...] = ()) -> Callable[[dict[str, int]], Any]:
    """Returns a post-processor that puts tokens around a text, from the ids of tokens."""

    def post_processor(ids: dict[str, int]) -> Any:
        def around(kind: str, number: int) -> list[Any]:
            parts: list[Any] = [{"SpecialToken": {"id": token, "type_id": number}} for token in before]
            parts.append({"Sequence": {"id": kind, "type_id": number}})
            return parts + [{"SpecialToken": {"id": token, "type_id": number}} for token in after]

        tokens = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (*before, *after)}
        single = around("A", 0)
        return {
            "type": "TemplateProcessing",
            "single": single,
            "pair": single + around("B", 1),
            "special_tokens": tokens,
        }

    return post_processor


def after_bytes(other: Callable[[dict[str, int]], Any]) -> Callable[[dict[str, int]], Any]:
    """Returns the sequence of the byte-level post-processor and another."""
    return lambda ids: {"type": "Sequence", "processors": [BYTE_LEVEL, other(ids)]}


def roberta(start: str, end: str) -> Callable[[dict[str, int]], Any]:
    """Returns RoBERTa's post-processor."""
    return lambda ids: {
        "type": "RobertaProcessing",
        "sep": [end, ids[end]],
        "cls": [start, ids[start]],
        "trim_offsets": True,
        "add_prefix_space": False,
    }


def unchanged(model: Model) -> Model:
    """Returns a model as it is."""
    return model


@dataclass(frozen=True)
class Row:
    """A family of models.

    Attributes:
        models: The models whose files are like this.
        chain: The name of the pre-tokenizer in `support.catalogue`, or the component.
        vocabulary: Builds the model, given the pre-tokenizer and the normalizer.
        shape: What is peculiar to the model of the family, made of any.
        normalizer: The component.
        tokens: The added tokens.
        post_processor: The component, from the ids of added tokens.
        decoder: The component.
        options: More of the model.
        top: More of the file: truncation, for example.
    """

    models: str
    chain: Any
    vocabulary: Callable[[Any, Any], Model]
    shape: Callable[[Model], Model] = unchanged
    normalizer: Any = None
    tokens: tuple[dict[str, Any], ...] = ()
    post_processor: Any = None
    decoder: Any = None
    options: tuple[tuple[str, Any], ...] = ()
    top: tuple[tuple[str, Any], ...] = ()

    def contents(self) -> dict[str, Any]:
        """Returns the file as an object."""
        chain = PRE_TOKENIZERS[self.chain] if isinstance(self.chain, str) else self.chain
        model = self.shape(self.vocabulary(chain, self.normalizer))
        # The library numbers what the vocabulary lacks, from the number of its tokens on.
        vocab = model["vocab"]
        ids = {entry[0]: i for i, entry in enumerate(vocab)} if isinstance(vocab, list) else dict(vocab)
        highest = -1
        tokens = []
        for token in self.tokens:
            if token["content"] not in ids:
                ids[token["content"]] = max(len(model["vocab"]), highest + 1)
            highest = max(highest, ids[token["content"]])
            tokens.append(token | {"id": ids[token["content"]]})
        processor = self.post_processor
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": tokens,
            "normalizer": self.normalizer,
            "pre_tokenizer": chain,
            "post_processor": processor(ids) if callable(processor) else processor,
            "decoder": self.decoder,
            "model": {key: value for key, value in (model | dict(self.options)).items() if value != "absent"},
        } | dict(self.top)


def byte_row(models: str, chain: Any, **options: Any) -> Row:
    """Returns a row of a byte-level model."""
    options["tokens"] = tuple(options.get("tokens", ()))
    return Row(
        models,
        chain,
        byte_level,
        **({"decoder": BYTE_LEVEL, "post_processor": BYTE_LEVEL} | options),
    )


def piece_row(models: str, **options: Any) -> Row:
    """Returns a row of a model of characters and bytes."""
    made = {
        key: options.pop(key) for key in ("first", "missing", "fuse_unk", "unk", "more") if key in options
    }
    options["tokens"] = tuple(options.get("tokens", ()))
    chain = options.pop("chain", None)
    return Row(
        models,
        chain,
        lambda _component, _normalizer: characters(**made),
        **({"decoder": LLAMA_DECODER} | options),
    )


SPACE_RUNS = [" " * count for count in range(24, 1, -1)]


def tokens_first(names: list[str], shape: Callable[[Model], Model] = unchanged) -> Callable[[Model], Model]:
    """Returns a shape with tokens at the first ids."""

    def shaped(model: Model) -> Model:
        model = shape(model)
        shifted = {token: index + len(names) for token, index in model["vocab"].items()}
        return model | {"vocab": {name: index for index, name in enumerate(names)} | shifted}

    return shaped


NEVER_IN_UTF8 = [0xC0, 0xC1, *range(0xF5, 0x100)]

IGNORING = (("ignore_merges", True),)
LLAMA_TOKENS = ("<unk>", "<s>", "</s>")
