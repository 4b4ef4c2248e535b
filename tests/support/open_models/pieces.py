"""Models that merge characters, as SentencePiece does: the components of their files."""

from __future__ import annotations

from support.open_models.components import (
    LLAMA_TOKENS,
    MARKS,
    MARKS_DECODER,
    METASPACE,
    PREPEND_MARKS,
    Row,
    added,
    piece_row,
    template,
)
from support.open_models.vocabularies import MARK, Model

GEMMA_FIRST = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", *[f"<unused{number}>" for number in range(8)])
GEMMA_RUNS = (
    *["\n" * count for count in range(1, 32)],
    *[MARK * count for count in range(2, 32)],
    "<table>",
    "</h1>",
    "\t\t",
)
GEMMA_TOKENS = [
    *added("<pad>", "<eos>", "<bos>", "<unk>", "<mask>"),
    *added(*GEMMA_FIRST[5:], "<start_of_turn>", "<table>", "</h1>", "\t\t", special=False),
    *added(*["\n" * count for count in range(2, 32)], "[multimodal]", "a b c", "   x", special=False),
]
PHI3_TOKENS = [
    *added("<unk>", "<s>"),
    *added("</s>", rstrip=True, special=False),
    *added("<|endoftext|>"),
    *added("<|assistant|>", "<|placeholder1|>", "<|system|>", "<|end|>", "<|user|>", rstrip=True),
]


def with_holes(model: Model) -> Model:
    """Returns the model with ids left out behind the bytes, as a file that lacks some pieces has them."""
    return model | {"vocab": {token: index + (index > 300) * 8 for token, index in model["vocab"].items()}}


PIECE_MODELS: dict[str, Row] = {
    "gemma-3": piece_row(
        "Gemma 3, 3n",
        chain="GEMMA",
        normalizer=MARKS,
        first=GEMMA_FIRST,
        more=GEMMA_RUNS,
        tokens=GEMMA_TOKENS,
        post_processor=template("<bos>"),
        decoder=MARKS_DECODER,
    ),
    "gemma-4": piece_row(
        "Gemma 4",
        chain="GEMMA",
        normalizer=MARKS,
        first=GEMMA_FIRST,
        more=GEMMA_RUNS,
        tokens=added("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<|turn>", "<turn|>"),
        post_processor=template(),
        decoder=MARKS_DECODER,
    ),
    "gemma-2": piece_row(
        "Gemma 2",
        chain="GEMMA",
        normalizer=MARKS,
        first=GEMMA_FIRST,
        more=GEMMA_RUNS,
        missing=(0x09,),
        tokens=GEMMA_TOKENS[:24],
        post_processor=template("<bos>"),
        decoder=MARKS_DECODER,
    ),
    "gemma-1": piece_row(
        "Gemma 1",
        normalizer=MARKS,
        first=GEMMA_FIRST,
        more=GEMMA_RUNS,
        missing=(0x0A,),
        tokens=GEMMA_TOKENS[:24],
        post_processor=template("<bos>"),
        decoder=MARKS_DECODER,
    ),
    "llama-2": piece_row(
        "Llama 2, TinyLlama, Vicuna",
        normalizer=PREPEND_MARKS,
        tokens=added(*LLAMA_TOKENS, normalized=True),
        post_processor=template("<s>"),
    ),
    "llama-2-resaved": piece_row(
        "Llama 2 as saved later",
        normalizer=PREPEND_MARKS,
        tokens=added(*LLAMA_TOKENS),
        post_processor=template("<s>"),
    ),
    "codellama": piece_row(
        "CodeLlama",
        normalizer=PREPEND_MARKS,
        post_processor=template("<s>"),
        tokens=[
            *added(*LLAMA_TOKENS, normalized=True),
            *added("\u2581<PRE>", "\u2581<MID>", "\u2581<SUF>", "\u2581<EOT>"),
        ],
    ),
    "mistral-v0.1": piece_row(
        "Mistral v0.1, v0.2, Mixtral, Zephyr",
        chain=METASPACE,
        tokens=added(*LLAMA_TOKENS),
        post_processor=template("<s>"),
    ),
    "mistral-v0.1-older": piece_row(
        "Mistral v0.1's first file",
        normalizer=PREPEND_MARKS,
        tokens=added(*LLAMA_TOKENS),
        post_processor=template("<s>"),
    ),
    "mistral-v0.3": piece_row(
        "Mistral v0.3",
        chain=METASPACE,
        first=(*LLAMA_TOKENS, "[INST]", "[/INST]", "[TOOL_CALLS]", *[f"[control_{n}]" for n in range(30)]),
        tokens=added(
            *LLAMA_TOKENS, "[INST]", "[/INST]", "[TOOL_CALLS]", *[f"[control_{n}]" for n in range(30)]
        ),
        post_processor=template("<s>"),
    ),
    "phi-3": piece_row("Phi-3, 3.5", normalizer=PREPEND_MARKS, tokens=PHI3_TOKENS, post_processor=template()),
    "yi": piece_row(
        "Yi",
        normalizer=MARKS,
        first=("<unk>", "<|startoftext|>", "<|endoftext|>"),
        fuse_unk=False,
        shape=with_holes,
        tokens=[
            *added("<unk>", "<|startoftext|>", "<|endoftext|>"),
            *added("<|im_end|>", special=False),
            *added("<|im_end|>"),
        ],
    ),
    "eurollm": piece_row(
        "EuroLLM",
        normalizer=PREPEND_MARKS,
        tokens=added(*LLAMA_TOKENS, "<|im_start|>"),
        post_processor=template("<s>"),
    ),
    "sarvam": piece_row(
        "Sarvam",
        chain="SARVAM",
        normalizer=MARKS,
        tokens=[*added(*LLAMA_TOKENS), *added("[@BOS@]", special=False)],
        decoder=MARKS_DECODER,
    ),
    "granite-embedding-311m": piece_row(
        "granite-embedding-multilingual 311m",
        chain="GEMMA",
        normalizer=MARKS,
        first=GEMMA_FIRST,
        tokens=[*added("<pad>", "<eos>", "<bos>", "<unk>"), *added("<mask>", lstrip=True)],
        post_processor=template("<bos>", after=("<eos>",)),
        decoder=MARKS_DECODER,
    ),
    "metaspace-never": piece_row(
        "Ernie 4.5; InternLM 2; MiniCPM 1-4; Grok-1; Jamba; Baichuan; Orion without a prefix",
        chain=METASPACE | {"prepend_scheme": "never"},
        tokens=added(*LLAMA_TOKENS),
    ),
    "metaspace-always": piece_row(
        "Ernie 4.5; InternLM 2; MiniCPM 1-4; Grok-1; Jamba; Baichuan; Orion with a prefix",
        chain=METASPACE | {"prepend_scheme": "always"},
        tokens=added(*LLAMA_TOKENS),
    ),
    "metaspace-words": piece_row(
        "the same with a prefix, split into words",
        chain=METASPACE | {"prepend_scheme": "first", "split": True},
        tokens=added(*LLAMA_TOKENS),
    ),
}
