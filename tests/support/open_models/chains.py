"""Models that merge bytes, whose texts are split by several steps: the components of their files."""

from __future__ import annotations

from support.catalogue import PRE_TOKENIZERS, split
from support.open_models.components import (
    BYTE_LEVEL,
    IGNORING,
    NEVER_IN_UTF8,
    NFC,
    NOTHING,
    SPACE_RUNS,
    Row,
    added,
    byte_row,
    roberta,
    template,
    tokens_first,
)
from support.open_models.vocabularies import byte_level, with_raw, without_bytes

DEEPSEEK_SPECIAL = [
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "<\uff5c\u2581pad\u2581\uff5c>",
]


DEEPSEEK_TOKENS = [
    *added(*DEEPSEEK_SPECIAL),
    *added("<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>", "<|EOT|>", special=False, normalized=True),
    *added("<\uff5ctool\u2581calls\u2581begin\uff5c>", "<\uff5ctool\u2581sep\uff5c>", special=False),
    *added(*[f"<\uff5cplace\u2581holder\u2581no\u2581{number}\uff5c>" for number in range(8)]),
]


STARCODER = [
    "<|endoftext|>",
    "<fim_prefix>",
    "<fim_middle>",
    "<fim_suffix>",
    "<fim_pad>",
    "<filename>",
    "<gh_stars>",
    "<issue_start>",
    "<issue_comment>",
    "<commit_before>",
    "<reponame>",
]


# Digits in threes from the right, then the scripts that are written without spaces.
TRINITY = {
    "type": "Sequence",
    "pretokenizers": [
        split(r"\d{1,3}(?=(?:\d{3})*\b)"),
        split(
            "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf"
            "\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+"
        ),
        PRE_TOKENIZERS["DEEPSEEK3"]["pretokenizers"][2],
        BYTE_LEVEL,
    ],
}


CHAIN_MODELS: dict[str, Row] = {
    "deepseek-v3": byte_row(
        "DeepSeek V3, R1, V3.1, V3.2, V4, OCR; Step-3.5; JoyAI; Hunyuan",
        "DEEPSEEK3",
        normalizer=NOTHING,
        shape=tokens_first(DEEPSEEK_SPECIAL),
        tokens=DEEPSEEK_TOKENS,
    ),
    "deepseek-v3-base": byte_row(
        "DeepSeek V3 with a template",
        "DEEPSEEK3",
        normalizer=NOTHING,
        shape=tokens_first(DEEPSEEK_SPECIAL),
        tokens=DEEPSEEK_TOKENS,
        post_processor=template(DEEPSEEK_SPECIAL[0]),
    ),
    "hunyuan-3": byte_row(
        "Hy3, Hy4",
        "DEEPSEEK3",
        shape=lambda model: without_bytes(model, [0x0D, *NEVER_IN_UTF8]),
        tokens=added("<\uff5chy_begin\u2581of\u2581sentence\uff5c>", "<\uff5chy_place\u2581holder\uff5c>"),
    ),
    "smollm2": byte_row(
        "SmolLM, SmolLM2, SmolVLM",
        "DIGITS",
        shape=tokens_first(
            STARCODER,
            lambda model: without_bytes(model, [4, 6, 0x13, 0x14, 0x16, 0x1D, 0xF1, 0xF2, *NEVER_IN_UTF8]),
        ),
        tokens=added(*STARCODER),
    ),
    "starcoder": byte_row(
        "StarCoder 1, 2; PowerMoE, Refact, CodeShell, Minerva, Mellum",
        "DIGITS",
        shape=tokens_first(STARCODER, lambda model: without_bytes(model, [0xF1, *NEVER_IN_UTF8])),
        tokens=added(*STARCODER),
    ),
    "falcon": byte_row(
        "Falcon 7B, 40B",
        "FALCON",
        shape=lambda model: without_bytes(
            model,
            [
                3,
                4,
                5,
                0xB,
                *range(0x11, 0x12),
                *range(0x13, 0x18),
                0x19,
                0x1C,
                0x1D,
                0x1E,
                0xF2,
                *NEVER_IN_UTF8,
            ],
        ),
        tokens=added(">>TITLE<<", ">>ABSTRACT<<", ">>QUESTION<<", "<|endoftext|>"),
    ),
    "command-r": byte_row(
        "Command-R, R+, Aya",
        "DIGITS",
        normalizer=NFC,
        shape=tokens_first(["<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>"]),
        tokens=[
            *added("<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>"),
            *added("<|START_OF_TURN_TOKEN|>", special=False),
        ],
        post_processor=template("<BOS_TOKEN>"),
    ),
    "cohere-2": byte_row(
        "Cohere2, tiny-aya",
        "COHERE2",
        normalizer=NFC,
        shape=lambda model: with_raw(
            model, ["\u4eca\u5929", "\xe9t\xe9 ", "\u0434\u0430", "  ", "\U0001f600"]
        ),
        tokens=added("<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>"),
        post_processor=template("<BOS_TOKEN>"),
    ),
    "exaone-3": byte_row(
        "EXAONE 3, 3.5",
        "DIGITS",
        normalizer={"type": "NFKC"},
        shape=lambda model: with_raw(model, [*SPACE_RUNS, "\t\t"]),
        tokens=[
            *added("[PAD]", "[BOS]", "[EOS]", "[|assistant|]"),
            *added(*SPACE_RUNS, "\t\t", special=False),
        ],
    ),
    "minicpm-5": byte_row(
        "MiniCPM5", "MINICPM5", options=IGNORING, tokens=added("<s>", "</s>", "<|im_end|>")
    ),
    "deepseek-llm": byte_row(
        "DeepSeek LLM, V2, V2-Lite, Coder-V2; coder-7b-v1.5",
        "DEEPSEEK-LLM",
        normalizer=NOTHING,
        shape=lambda model: without_bytes(model, NEVER_IN_UTF8),
        tokens=added(*DEEPSEEK_SPECIAL[:2], normalized=True),
        post_processor=template(DEEPSEEK_SPECIAL[0]),
    ),
    "deepseek-coder": byte_row(
        "DeepSeek-Coder 6.7B, 33B",
        "DEEPSEEK-CODER",
        normalizer=NOTHING,
        tokens=[
            *added(*DEEPSEEK_SPECIAL[:2], normalized=True),
            *added("<\uff5cfim\u2581hole\uff5c>", "<pad>", "<|User|>", special=False, normalized=True),
        ],
        post_processor=template(DEEPSEEK_SPECIAL[0]),
    ),
    "laguna": byte_row(
        "Laguna",
        "LAGUNA",
        shape=tokens_first(["[UNK]"]),
        tokens=added("[UNK]", "\u3008|EOS|\u3009", "\u3008|PAD|\u3009"),
        options=(("dropout", 0.0), ("unk_token", "[UNK]")),
        post_processor=template("\u3008|EOS|\u3009"),
    ),
    "spark": byte_row(
        "Spark-X2.5",
        "SPARK",
        shape=tokens_first(["<unk>", "<s>"]),
        tokens=added("<unk>", "<s>", "<User>"),
        options=(("unk_token", "<unk>"),),
    ),
    "ax-k2": byte_row(
        "A.X-K2",
        "AXK2",
        shape=lambda model: with_raw(model, SPACE_RUNS),
        tokens=[*added("<|endoftext|>"), *added(*SPACE_RUNS, special=False)],
    ),
    "trinity": byte_row("Trinity (AFMoE)", TRINITY, tokens=added("<|begin_of_text|>", "<|im_end|>")),
    "youtu": byte_row("Youtu", "YOUTU", tokens=added("<|begin_of_text|>", "<|end_of_text|>")),
    "superbpe": byte_row("SuperBPE", "SUPERBPE", tokens=added("<|endoftext|>")),
    "chameleon": byte_row("Chameleon", "CHAMELEON", tokens=added("<s>", "</s>", "<racm3:break>")),
    "viking": byte_row(
        "Viking, Poro", "VIKING", normalizer=NFC, tokens=added("<s>", "</s>", "<unk>", "<pad>")
    ),
    "clip": Row(
        "CLIP",
        "CLIP",
        lambda component, normalizer: byte_level(component, normalizer, suffix="</w>"),
        shape=lambda model: with_raw(model, ["<|startoftext|>", "<|endoftext|>"]),
        normalizer={
            "type": "Sequence",
            "normalizers": [
                NFC,
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"},
            ],
        },
        tokens=(*added("<|startoftext|>", normalized=True), *added("<|endoftext|>")),
        post_processor=roberta("<|startoftext|>", "<|endoftext|>"),
        decoder=BYTE_LEVEL,
        options=(
            ("unk_token", "<|endoftext|>"),
            ("continuing_subword_prefix", ""),
            ("end_of_word_suffix", "</w>"),
        ),
    ),
}
