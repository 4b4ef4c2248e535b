"""How the models whose GGUF files are of the kind `gpt2` normalize and split texts.

Such a file only names the family, `tokenizer.ggml.pre`; the rules are in the program that runs the model and
in the family's `tokenizer.json`, whose components these are.
"""

# ruff: noqa: RUF001 - the characters of the published patterns

from __future__ import annotations

from typing import Any, NamedTuple

from bytemill.patterns import GPT2_PATTERN, LLAMA3_PATTERN, O200K_PATTERN, QWEN2_PATTERN

__all__ = ["SPLITTINGS", "Splitting"]

Component = dict[str, Any]


class Splitting(NamedTuple):
    """The rules of a family.

    Attributes:
        steps: The pre-tokenizers before `ByteLevel`.
        normalizer: The name of the normal form, if there is one.
        ignores_merges: Whether a piece that is a token is that token, whatever its merges.
        adds_bos: Whether the token of the start is added to each text, if a file does not say.
    """

    steps: tuple[Component, ...]
    normalizer: str | None = None
    ignores_merges: bool = False
    adds_bos: bool = False

    def components(self) -> Component:
        """Returns the entries `normalizer` and `pre_tokenizer` of the `tokenizer.json`."""
        to_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        return {
            "normalizer": self.normalizer and {"type": self.normalizer},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*self.steps, to_bytes]},
        }


def split(pattern: str) -> Component:
    """Returns the step that splits by a regular expression and keeps all pieces."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


DIGITS: Component = {"type": "Digits", "individual_digits": True}
PUNCTUATION: Component = {"type": "Punctuation", "behavior": "Isolated"}

GPT2 = split(GPT2_PATTERN)
LLAMA3 = split(LLAMA3_PATTERN)
O200K = split(O200K_PATTERN)
QWEN2 = split(QWEN2_PATTERN)

# Three numbers together, from the left or, up to the end of a word, from the right.
THREES = split(r"\p{N}{1,3}")
THREES_FROM_RIGHT = split(r"\d{1,3}(?=(?:\d{3})*\b)")

# --- DeepSeek's ---

LINE_BREAKS = split("[\r\n]")
CJK = split("[一-龥ࠀ-一가-\ud7ff]+")
LETTERS = split(
    "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷ"
    "ᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄ"
    "Ⰰ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ\U00010400-\U0001044f\U000104b0-"
    "\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943]+"
)
MARKS = split("\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+")
HAN_AND_KANA = split("[一-龥\u3040-ゟ゠-ヿ]+")
WORDS = split(
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)

# --- Others ---

BLOOM = split(" ?[^(\\s|[.,!?…。，、।۔،])]+")
# Cases as in o200k, without contractions.
TEKKEN = split(O200K_PATTERN.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}"))
# Marks belong to the letters before them.
QWEN35 = split(
    QWEN2_PATTERN.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
)
KIMI = split(
    r"[\p{Han}]+|" + O200K_PATTERN.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace(r"[\r\n/]*", r"[\r\n]*")
)
# Pieces are phrases.
EXAONE_MOE = split(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+"
    r"|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]?"
    r"|\s*[\r\n]"
    r"|\s+(?!\S)"
    r"|\s+"
)
SEED_CODER = split(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"
    r"|\p{N}{1}"
    r"| ?[^\s\p{L}\p{N}\r\n]+"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)
BAILING = split(
    r"'(?i:[sdmt]|ll|ve|re)"
    r"|[^\r\n\p{L}\p{N}]?+\p{L}+"
    r"|\p{N}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]"
    r"|\s+(?!\S)"
    r"|\s+"
)
# Runs of white space in powers of two.
JAIS2 = split(
    LLAMA3_PATTERN.removesuffix(r"|\s+(?!\S)|\s+")
    + "".join(rf"|\s{{{size}}}(?!\S)" for size in (512, 256, 128, 64, 32, 16, 8, 4, "1,2"))
    + r"|\s{1}"
)
CHAMELEON = (
    split("<sentinel:[0-9]+>"),
    split("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
    split(r"([\t\n]|    |  )"),
    DIGITS,
    PUNCTUATION,
    GPT2,
)
AFMOE_SCRIPTS = split(
    "[一-鿿㐀-䶿豈-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2fdf\u0e00-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-\ua9ff가-\ud7afᄀ-ᇿ]+"
)
YOUTU = (
    split("[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+"),
    split(O200K_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")),
)
MINICPM5 = split(LLAMA3_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}+"))

# By the name in the file. Others are refused: texts might be split another way.
SPLITTINGS = {
    "gpt-2": Splitting((GPT2,)),
    "phi-2": Splitting((GPT2,)),
    "exaone4": Splitting((GPT2,)),
    "roberta-bpe": Splitting((GPT2,)),
    "olmo": Splitting((GPT2,), "NFC"),
    "modern-bert": Splitting((GPT2,), "NFC"),
    "mpt": Splitting((GPT2,), "NFC"),
    "starcoder": Splitting((DIGITS, GPT2)),
    "refact": Splitting((DIGITS, GPT2)),
    "smollm": Splitting((DIGITS, GPT2)),
    "command-r": Splitting((DIGITS, GPT2), "NFC"),
    "exaone": Splitting((DIGITS, GPT2), "NFKC"),
    "llama-bpe": Splitting((LLAMA3,), ignores_merges=True, adds_bos=True),
    "llama3": Splitting((LLAMA3,), ignores_merges=True, adds_bos=True),
    "llama-v3": Splitting((LLAMA3,), ignores_merges=True, adds_bos=True),
    "falcon3": Splitting((LLAMA3,), ignores_merges=True, adds_bos=True),
    "dbrx": Splitting((LLAMA3,)),
    "glm4": Splitting((LLAMA3,)),
    "chatglm-bpe": Splitting((LLAMA3,)),
    # LFM2.5 needs this, and LFM2, which has the same name, has no token for which it matters.
    "lfm2": Splitting((LLAMA3,), ignores_merges=True, adds_bos=True),
    "jais-2": Splitting((JAIS2,)),
    "minicpm5": Splitting((THREES, MINICPM5), ignores_merges=True),
    "qwen2": Splitting((QWEN2,), "NFC"),
    "qwen35": Splitting((QWEN35,), "NFC"),
    "stablelm2": Splitting((QWEN2,)),
    "seed-coder": Splitting((SEED_CODER,), "NFC"),
    "bailingmoe": Splitting((BAILING,), "NFC"),
    "gpt-4o": Splitting((O200K,), ignores_merges=True),
    "llama4": Splitting((O200K,), ignores_merges=True),
    "minimax-m2": Splitting((O200K,), "NFC"),
    "tekken": Splitting((TEKKEN,), ignores_merges=True, adds_bos=True),
    "kimi-k2": Splitting((KIMI,)),
    "youtu": Splitting(YOUTU),
    "tiny_aya": Splitting((THREES_FROM_RIGHT, O200K), "NFC"),
    "afmoe": Splitting((THREES_FROM_RIGHT, AFMOE_SCRIPTS, WORDS)),
    "exaone-moe": Splitting((EXAONE_MOE,)),
    "deepseek-llm": Splitting((LINE_BREAKS, LETTERS, MARKS, split(r"\s+$"), CJK, DIGITS)),
    "deepseek-coder": Splitting((LINE_BREAKS, split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), CJK, DIGITS)),
    "deepseek-v3": Splitting((THREES, HAN_AND_KANA, WORDS)),
    "bloom": Splitting((BLOOM,)),
    "viking": Splitting((BLOOM, split(r"\p{N}")), "NFC"),
    "chameleon": Splitting(CHAMELEON, adds_bos=True),
}
