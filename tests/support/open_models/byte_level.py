"""Models that merge bytes, whose texts are split by one pattern: the components of their files."""

from __future__ import annotations

from support.open_models.components import (
    NEVER_IN_UTF8,
    NFC,
    SPACE_RUNS,
    TRIMMING,
    Row,
    added,
    after_bytes,
    byte_row,
    roberta,
    template,
    tokens_first,
)
from support.open_models.vocabularies import (
    Model,
    explicit,
    unreached,
    with_every_split,
    with_raw,
    without_bytes,
)

CHAT = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


QWEN_TOOLS = ["<tool_call>", "</tool_call>", "<think>", "</think>", "<|fim_prefix|>", "<|fim_middle|>"]


LLAMA3_TOKENS = added(
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    *[f"<|reserved_special_token_{number}|>" for number in range(12)],
)


HARMONY = [
    "<|startoftext|>",
    "<|endoftext|>",
    "<|return|>",
    "<|channel|>",
    "<|start|>",
    "<|end|>",
    "<|message|>",
]


TEKKEN_TOKENS = added(
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "<pad>",
    *[f"<SPECIAL_{number}>" for number in range(20, 40)],
)


def specials_first(model: Model) -> Model:
    """Returns the model with special tokens at the first ids, as tekken's files have them."""
    names = [token["content"] for token in TEKKEN_TOKENS]
    shifted = {token: index + len(names) for token, index in model["vocab"].items()}
    return model | {"vocab": {name: index for index, name in enumerate(names)} | shifted}


def with_empty(model: Model) -> Model:
    """Returns the model with a token of no characters, which no text becomes."""
    return with_raw(model, [""])


SPECIAL_OF_BERT = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]


BYTE_LEVEL_MODELS: dict[str, Row] = {
    "qwen2": byte_row(
        "Qwen 2, 2.5, 3, Coder, VL, QwQ, R1-Distill-Qwen",
        "QWEN2",
        normalizer=NFC,
        tokens=[*added(*CHAT, "<|object_ref_start|>"), *added(*QWEN_TOOLS, special=False)],
        options=(("continuing_subword_prefix", ""), ("end_of_word_suffix", "")),
    ),
    "qwen3-embedding": byte_row(
        "Qwen3-Embedding",
        "QWEN2",
        normalizer=NFC,
        tokens=added(*CHAT),
        post_processor=after_bytes(template(after=("<|endoftext|>",))),
    ),
    "qwen3.5": byte_row(
        "Qwen 3.5, 3.6, 3.8",
        "QWEN35",
        normalizer=NFC,
        tokens=[*added(*CHAT, "<|audio_start|>", "<tts_pad>"), *added(*QWEN_TOOLS, special=False)],
    ),
    "qwen3.5-resaved": byte_row(
        "Qwen 3.5 as saved by others",
        "QWEN2",
        normalizer=NFC,
        tokens=[*added(*CHAT, "<|audio_start|>"), *added(*QWEN_TOOLS, special=False)],
    ),
    "qwen1": byte_row(
        "Qwen 1", "QWEN2", normalizer=NFC, tokens=added(*CHAT, *[f"<|extra_{n}|>" for n in range(20)])
    ),
    "llama3": byte_row(
        "Llama 3, 3.1, 3.2, 3.3",
        "LLAMA3",
        shape=with_every_split,
        tokens=LLAMA3_TOKENS,
        post_processor=after_bytes(template("<|begin_of_text|>")),
    ),
    "llama4": byte_row(
        "Llama 4",
        "O200K",
        shape=with_every_split,
        tokens=added("<|begin_of_text|>", "<|eot|>", "<|header_start|>"),
        post_processor=after_bytes(template("<|begin_of_text|>")),
    ),
    "gpt-oss": byte_row(
        "gpt-oss",
        "O200K",
        shape=lambda model: unreached(
            with_every_split(model), [" unreachedword", "Unreached", "\u4eca\u5929\u5929"]
        ),
        tokens=added(*HARMONY),
    ),
    "kimi-k2": byte_row(
        "Kimi K2, K2.5, K3, Linear, VL; Moonlight",
        "KIMI",
        post_processor=None,
        tokens=added("[BOS]", "[EOS]", "<|im_end|>", "<|im_user|>", "<|im_middle|>", "[PAD]"),
    ),
    "glm-4.5": byte_row(
        "GLM 4.5 to 5.3",
        "LLAMA3",
        shape=with_every_split,
        tokens=[
            *added(
                "<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|user|>", "<|assistant|>"
            ),
            *added("<think>", "</think>", "<tool_call>", "<arg_key>", "/nothink", special=False),
        ],
    ),
    "glm-4": byte_row("GLM-4-chat", "LLAMA3", tokens=added("<|endoftext|>", "[gMASK]", "<sop>", "<|user|>")),
    "minimax": byte_row(
        "MiniMax Text-01, M1, M2, M3",
        "O200K-REMOVED",
        normalizer=NFC,
        tokens=[*added("<fim_prefix>", "]~!b[", "]~b]", "[e~["), *added("<think>", special=False)],
    ),
    "tekken": byte_row(
        "Mistral Nemo, Pixtral, Small 3, Ministral, Magistral, Devstral, Large 3",
        "TEKKEN",
        shape=lambda model: specials_first(with_every_split(model)),
        tokens=TEKKEN_TOKENS,
        post_processor=template("<s>"),
    ),
    "mistral-small-2501": byte_row(
        "Mistral Small of 2025-01, with Llama 3's pattern",
        "LLAMA3",
        shape=lambda model: specials_first(with_every_split(model)),
        tokens=TEKKEN_TOKENS,
        post_processor=template("<s>"),
    ),
    "nemotron-3": byte_row(
        "Nemotron-3, Nemotron-Nano-v2; Apertus",
        "TEKKEN",
        shape=lambda model: specials_first(with_every_split(model)),
        tokens=TEKKEN_TOKENS,
    ),
    "phi-4": byte_row(
        "Phi-4",
        "LLAMA3-REMOVED",
        tokens=added("<|endoftext|>", "<|im_start|>", "<|im_sep|>", "<|dummy_1|>", lstrip=True, rstrip=True),
    ),
    "phi-4-mini": byte_row(
        "Phi-4-mini",
        "O200K",
        tokens=[
            *added("<|endoftext|>"),
            *added("<|end|>", "<|user|>", "<|tool|>", "</tool_call>", rstrip=True),
        ],
    ),
    "phi-2": byte_row(
        "Phi-1, 1.5, 2; CodeGen",
        "GPT2",
        tokens=[
            *added("<|endoftext|>"),
            *added(*SPACE_RUNS, *["\t" * count for count in range(9, 1, -1)], special=False, normalized=True),
        ],
    ),
    "smollm3": byte_row(
        "SmolLM3",
        "LLAMA3",
        shape=with_every_split,
        tokens=[*LLAMA3_TOKENS, *added("<think>", special=False)],
        post_processor=after_bytes(template()),
    ),
    "olmo-2": byte_row(
        "OLMo 2, 3",
        "LLAMA3-REMOVED",
        tokens=[
            *added("<|endoftext|>", "<|pad|>"),
            *added("|||IP_ADDRESS|||", "|||PHONE_NUMBER|||", special=False),
        ],
    ),
    "granite-4.1": byte_row(
        "Granite 4.1",
        "LLAMA3-REMOVED",
        post_processor=None,
        tokens=[*added("<|end_of_text|>", "<|start_of_role|>"), *added("<tool_call>", special=False)],
    ),
    "pythia": byte_row(
        "OLMo 1, OLMoE, Pythia, GPT-NeoX, MPT, Mamba, RedPajama",
        "GPT2",
        normalizer=NFC,
        shape=tokens_first(
            ["<|endoftext|>", "<|padding|>"], lambda model: without_bytes(model, NEVER_IN_UTF8)
        ),
        tokens=[*added("<|endoftext|>", "<|padding|>"), *added(*SPACE_RUNS, special=False, normalized=True)],
        post_processor=TRIMMING,
        decoder=TRIMMING,
    ),
    "pythia-template": byte_row(
        "OLMo 1 with a template",
        "GPT2",
        normalizer=NFC,
        shape=lambda model: without_bytes(model, NEVER_IN_UTF8),
        tokens=[*added("<|endoftext|>"), *added(*SPACE_RUNS, special=False, normalized=True)],
        post_processor=template(after=("<|endoftext|>",)),
        decoder=TRIMMING,
    ),
    "modernbert": byte_row(
        "ModernBERT, granite-embedding",
        "GPT2",
        normalizer=NFC,
        shape=lambda model: with_raw(
            without_bytes(model, NEVER_IN_UTF8), [*SPACE_RUNS, *SPECIAL_OF_BERT, "[MASK]"]
        ),
        tokens=[
            *added("|||IP_ADDRESS|||", "<|padding|>"),
            *added(*SPACE_RUNS[::-1], special=False, normalized=True),
            *added(*SPECIAL_OF_BERT),
            *added("[MASK]", lstrip=True),
            *added("[unused0]", "[unused1]", special=False, normalized=True),
        ],
        post_processor=template("[CLS]", after=("[SEP]",)),
        decoder=TRIMMING,
    ),
    "granite-embedding-97m": byte_row(
        "granite-embedding-multilingual 97m",
        "O200K",
        shape=with_every_split,
        tokens=[*added("<|startoftext|>", "<|endoftext|>", "<|pad|>"), *added("<|mask|>", lstrip=True)],
        post_processor=after_bytes(template("<|startoftext|>", after=("<|endoftext|>",))),
    ),
    "gpt2": byte_row(
        "GPT-2, distilgpt2, Cerebras",
        "GPT2",
        tokens=added("<|endoftext|>", normalized=True),
        post_processor=TRIMMING,
        decoder=TRIMMING,
    ),
    "gpt2-oldest": byte_row(
        "GPT-2's first file",
        "GPT2",
        tokens=added("<|endoftext|>", normalized=True),
        post_processor=TRIMMING,
        decoder=TRIMMING,
        options=(
            ("type", "absent"),
            ("fuse_unk", "absent"),
            ("byte_fallback", "absent"),
            ("ignore_merges", "absent"),
        ),
    ),
    "opt": byte_row(
        "OPT",
        "GPT2",
        tokens=added("<unk>", "<pad>", "</s>", normalized=True),
        post_processor=template("</s>"),
        shape=tokens_first(["<s>", "<pad>", "</s>", "<unk>"], explicit),
    ),
    "roberta": byte_row(
        "RoBERTa, BART, CLAP, Florence-2, Longformer, all-distilroberta, Jina v2",
        "GPT2",
        shape=tokens_first(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], explicit),
        tokens=[*added("<s>", "<pad>", "</s>", "<unk>", normalized=True), *added("<mask>", lstrip=True)],
        post_processor=roberta("<s>", "</s>"),
        decoder=TRIMMING,
        top=(
            (
                "truncation",
                {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
            ),
        ),
    ),
    "whisper": byte_row(
        "Whisper",
        "GPT2",
        shape=with_empty,
        tokens=[
            *added("<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"),
            *added(*[f"<|{number * 0.02:.2f}|>" for number in range(60)], special=False),
        ],
        post_processor=template("<|startoftranscript|>", "<|notimestamps|>", after=("<|endoftext|>",)),
    ),
    "lfm2": byte_row(
        "LFM2",
        "LLAMA3",
        tokens=added("<|pad|>", "<|startoftext|>", "<|endoftext|>"),
        post_processor=template("<|startoftext|>"),
    ),
    "lfm2.5": byte_row(
        "LFM2.5",
        "LLAMA3",
        shape=with_every_split,
        tokens=added("<|pad|>", "<|startoftext|>", "<|endoftext|>"),
        post_processor=template("<|startoftext|>"),
    ),
    "falcon-3": byte_row(
        "Falcon 3, Falcon-H1; Jina v5 nano; Midm 2",
        "LLAMA3",
        shape=with_every_split,
        tokens=[*added(">>TITLE<<", ">>ABSTRACT<<", "<|endoftext|>"), *added("<tool_call>", special=False)],
    ),
    "exaone-4": byte_row(
        "EXAONE 4; A.X-4; GigaChat (older); Trillion; Jais",
        "GPT2",
        tokens=added("[BOS]", "[|endofturn|]"),
    ),
    "k-exaone": byte_row("K-EXAONE", "K-EXAONE", tokens=added("<|endoftext|>", "<|system|>")),
    "stablelm-2": byte_row(
        "StableLM 2; Solar Open; Grok-2; Hunyuan A13B; KORMo; Megrez; F2LLM",
        "QWEN2",
        tokens=added("<|endoftext|>", "<|fim_prefix|>", "<|reg0|>", "<|reg_extra|>"),
    ),
    "dbrx": byte_row("DBRX, Smaug", "LLAMA3", tokens=added("<|endoftext|>", "<|im_start|>", "<|pad|>")),
    "gigachat-3": byte_row(
        "GigaChat 3, Giga-Embeddings; Kanana 2; Talkie",
        "O200K-REMOVED",
        tokens=added("<s>", "</s>", "<|role_sep|>"),
        post_processor=template("<s>"),
        top=(
            (
                "truncation",
                {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
            ),
        ),
    ),
    "seed-coder": byte_row(
        "Seed-Coder, Zeta",
        "SEED",
        normalizer=NFC,
        tokens=added("<[begin_of_sentence]>", "<[end_of_sentence]>", "<[fim-prefix]>"),
    ),
    "ling": byte_row(
        "Ling, Ring, BailingMoE, LLaDA-MoE",
        "LING",
        normalizer=NFC,
        tokens=added("<|startoftext|>", "<|endoftext|>", "[gMASK]"),
    ),
    "jais-2": byte_row("Jais 2", "JAIS2", tokens=added("<|endoftext|>")),
    "bloom": byte_row(
        "BLOOM, gpt3-finnish",
        "BLOOM",
        shape=tokens_first(
            ["<unk>", "<s>", "</s>", "<pad>"], lambda model: without_bytes(model, [0x0B, *NEVER_IN_UTF8])
        ),
        tokens=added("<unk>", "<s>", "</s>", "<pad>"),
    ),
    "nanochat": byte_row("nanochat", "NANOCHAT", tokens=added("<|bos|>", "<|user_start|>", "<|python_end|>")),
}
