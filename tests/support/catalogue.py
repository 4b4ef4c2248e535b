r"""Pre-tokenizers of open models, as their files `tokenizer.json` have them.

A pattern is in the syntax of Oniguruma. `PATTERNS` has those of one regular expression by name,
`PRE_TOKENIZERS` all chains, as the value of `pre_tokenizer` in a file. The names are those of the models that
first had them, in capitals; most chains serve many models.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers.pre_tokenizers import PreTokenizer

__all__ = [
    "BYTE_LEVEL",
    "GPT2_BYTE_LEVEL",
    "PATTERNS",
    "PRE_TOKENIZERS",
    "digits",
    "pre_tokenizer",
    "punctuation",
    "sequence",
    "split",
    "steps",
]


def ranges(points: str) -> str:
    """Returns the elements of a class from code points in hexadecimal, `A-B` for a range."""
    parts = [[chr(int(end, 16)) for end in part.split("-")] for part in points.split()]
    return "".join("-".join(part) for part in parts)


CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
CJK = f"[{ranges('4E00-9FA5 3040-309F 30A0-30FF')}]+"


def cased_words(upper: str, lower: str, suffix: str) -> str:
    prefix = r"[^\r\n\p{L}\p{N}]?"
    return f"{prefix}{upper}*{lower}+{suffix}|{prefix}{upper}+{lower}*{suffix}"


def llama3(*, contractions: str = CONTRACTIONS, numbers: str = r"\p{N}{1,3}", blanks: str = BLANKS) -> str:
    others = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
    return rf"{contractions}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{numbers}|{others}|{blanks}"


def o200k(numbers: str = r"\p{N}{1,3}", suffix: str = f"{CONTRACTIONS}?") -> str:
    words = cased_words(f"[{UPPER}]", f"[{LOWER}]", suffix)
    return rf"{words}|{numbers}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{BLANKS}"


DEEPSEEK_WORDS = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^"""
    "\r\n"
    r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"
)
LITERAL_NEWLINES = "\\s*[\r\n]+"
# The letters that have case, as a file of DeepSeek lists them.
CASED = ranges(
    "41-5A 61-7A B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376 377 37B-37D 37F 386 388-38A "
    "38C 38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA 1CBD-1CBF "
    "1D00-1D2B 1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D "
    "1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 "
    "1FF6-1FFC 2102 2107 210A-2113 2115 2119-211D 2124 2126 2128 212A-212D 212F-2134 2139 213C-213F "
    "2145-2149 214E 2183 2184 2C00-2C7B 2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D A680-A69B A722-A76F "
    "A771-A787 A78B-A78E AB70-ABBF FB00-FB06 FB13-FB17 FF21-FF3A FF41-FF5A 10400-1044F 104B0-104D3 "
    "104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF 1E900-1E943"
)
ASIAN = f"[{ranges('4E00-9FA5 800-4E00 AC00-D7FF')}]+"

PATTERNS = {
    "QWEN2": llama3(numbers=r"\p{N}"),
    "GPT2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "QWEN35": (
        rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
        rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{BLANKS}"
    ),
    "LLAMA3": llama3(),
    "O200K": o200k(),
    "TEKKEN": o200k(r"\p{N}", ""),
    "LING": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
        r"|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "NANOCHAT": llama3(numbers=r"\p{N}{1,2}"),
    "UFAKZEKA": llama3(numbers=r"\p{N}").removeprefix(f"{CONTRACTIONS}|"),
    "KIMI": (
        r"[\p{Han}]+|"
        + cased_words(rf"[{UPPER}&&[^\p{{Han}}]]", rf"[{LOWER}&&[^\p{{Han}}]]", f"{CONTRACTIONS}?")
        + rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{BLANKS}"
    ),
    "BLOOM": f" ?[^(\\s|[.,!?{ranges('2026 3002 FF0C 3001 964 6D4 60C')}])]+",
    "SEED": (
        rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1}}"
        r"| ?[^\s\p{L}\p{N}"
        "\r\n"
        rf"]+|{LITERAL_NEWLINES}|\s+(?!\S)|\s+"
    ),
    "CLIP": (r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"),
    "K-EXAONE": (
        rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
    ),
    "JAIS2": llama3(
        blanks=r"\s*[\r\n]+|"
        + "|".join(rf"\s{{{count}}}(?!\S)" for count in (512, 256, 128, 64, 32, 16, 8, 4))
        + r"|\s{1,2}(?!\S)|\s{1}"
    ),
}


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False, literal: bool = False) -> Any:
    """Returns a step that splits by a pattern."""
    kind = "String" if literal else "Regex"
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def digits(*, individual: bool = True) -> Any:
    """Returns a step that splits at numbers."""
    return {"type": "Digits", "individual_digits": individual}


def punctuation(behavior: str = "Isolated") -> Any:
    """Returns a step that splits at punctuation."""
    return {"type": "Punctuation", "behavior": behavior}


def sequence(*steps: Any) -> Any:
    """Returns a chain of steps."""
    return {"type": "Sequence", "pretokenizers": list(steps)}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
GPT2_BYTE_LEVEL = BYTE_LEVEL | {"use_regex": True}

DEEPSEEK_CUTS = (split(r"\p{N}{1,3}"), split(CJK))
DEEPSEEK_BLANKS = rf"{LITERAL_NEWLINES}|\s+(?!\S)|\s+"
LINE_END = split("[\r\n]")

# What most models have: a pattern, Isolated, and the byte alphabet.
PRE_TOKENIZERS: dict[str, Any] = {
    name: sequence(split(pattern), BYTE_LEVEL)
    for name, pattern in PATTERNS.items()
    if name not in {"GPT2", "CLIP"}
}
PRE_TOKENIZERS |= {
    "GPT2": GPT2_BYTE_LEVEL,
    "LLAMA3-REMOVED": sequence(split(PATTERNS["LLAMA3"], "Removed", invert=True), BYTE_LEVEL),
    "O200K-REMOVED": sequence(split(PATTERNS["O200K"], "Removed", invert=True), BYTE_LEVEL),
    "GEMMA": split(" ", "MergedWithPrevious", literal=True),
    "SARVAM": split(" "),
    "DEEPSEEK3": sequence(*DEEPSEEK_CUTS, split(f"{DEEPSEEK_WORDS}[\r\n]*|{DEEPSEEK_BLANKS}"), BYTE_LEVEL),
    "DIGITS": sequence(digits(), GPT2_BYTE_LEVEL),
    "MINICPM5": sequence(split(r"\p{N}{1,3}"), split(llama3(numbers=r"\p{N}+")), BYTE_LEVEL),
    "DEEPSEEK-LLM": sequence(
        LINE_END,
        split(rf"\s?[{CASED}]+"),
        split(rf"\s?[!-/:-~{ranges('FF01-FF0F FF1A-FF5E 2018-201F 3000-3002')}]+"),
        split(r"\s+$"),
        split(ASIAN),
        digits(),
        BYTE_LEVEL,
    ),
    "LAGUNA": sequence(split(r"(?:\r?\n)+(?!\r?\n)", "MergedWithNext"), split(PATTERNS["QWEN2"]), BYTE_LEVEL),
    "SPARK": sequence(
        *DEEPSEEK_CUTS, split(f"{DEEPSEEK_WORDS}|[\r\n]|\\s+(?!\\S)|\\s+"), digits(), BYTE_LEVEL
    ),
    "FALCON": sequence(
        punctuation("Contiguous"), GPT2_BYTE_LEVEL, digits(individual=False), split("[0-9][0-9][0-9]")
    ),
    "AXK2": sequence(split(CJK), split(PATTERNS["QWEN2"]), BYTE_LEVEL),
    "DEEPSEEK-CODER": sequence(
        LINE_END, split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(ASIAN), digits(), BYTE_LEVEL
    ),
    "COHERE2": sequence(split(r"\d{1,3}(?=(?:\d{3})*\b)"), split(PATTERNS["O200K"]), BYTE_LEVEL),
    "CLIP": sequence(split(PATTERNS["CLIP"], "Removed", invert=True), BYTE_LEVEL),
    "YOUTU": sequence(
        split(
            f"[{ranges('AC00-D7A3 3131-318E')}]+"
            f"|[{ranges('FF01 2026 201C 201D 2018 2019 2014 FF1A FF1B FF0C 3001-303F FE30-FE4F')}]+"
            f"|[{ranges('3105-312F')}]+|{CJK}"
        ),
        split(o200k(r"\p{N}")),
        BYTE_LEVEL,
    ),
    "SUPERBPE": sequence(split(r"\p{N}+"), split(r"(?=(\d{3})+(?!\d))"), BYTE_LEVEL),
    "VIKING": sequence(split(PATTERNS["BLOOM"]), split(r"\p{N}"), BYTE_LEVEL),
    "CHAMELEON": sequence(
        split("<sentinel:[0-9]+>"),
        split("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
        split(r"([\t\n]|    |  )"),
        digits(),
        punctuation(),
        GPT2_BYTE_LEVEL,
    ),
    "WHITESPACE": {"type": "Whitespace"},
    "WHITESPACE-SPLIT": {"type": "WhitespaceSplit"},
}


def steps(value: Any) -> list[tuple[str, str, str, bool]]:
    """Returns the steps of a chain as the core takes them: (kind, pattern, behavior, flag)."""
    kind = value["type"]
    behavior = value.get("behavior", "Isolated")
    if kind == "Sequence":
        return [step for part in value["pretokenizers"] for step in steps(part)]
    if kind == "Split":
        [(kind, pattern)] = value["pattern"].items()
        return [(kind, pattern, behavior, value["invert"])]
    if kind == "Digits":
        return [(kind, "", behavior, value["individual_digits"])]
    if kind == "ByteLevel" and value["use_regex"]:
        return [("Gpt2", "", behavior, False), (kind, "", behavior, False)]
    return [(kind, "", behavior, False)]


def pre_tokenizer(value: Any) -> PreTokenizer:
    """Returns the pre-tokenizer of `tokenizers` that a file with this value has."""
    from tokenizers import Tokenizer

    model = {"type": "BPE", "vocab": {}, "merges": []}
    file = {"version": "1.0", "added_tokens": [], "pre_tokenizer": value, "model": model}
    found: PreTokenizer = Tokenizer.from_str(json.dumps(file)).pre_tokenizer
    return found
