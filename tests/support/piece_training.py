"""Random corpora and options for training SentencePiece models, and the real package's answer to them."""

import importlib
import io
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

ALPHABETS = (
    "ab",
    "abc",
    "abcde ",
    "a\u0431c ",
    "a1 2b3",
    "日本語ひらカタ一ー ",
    "abc▁ ",
    "ab\t \x1f",
    "aé\u0301\u0953b ",
    "abc<s></s>x ",
    "aA１２٣ ",  # noqa: RUF001 - full-width digits are digits to SentencePiece
)

RARE_WORDS = (
    *("don't", "1999", "a1b", "中文", "привет", "日本", "x.y"),
    *(",", "--", "<s>", "<a>", "▁", "\x00", "\u2585", "ｱ", "<0x41>", "<0xe4>"),
)

IDENTITY = {"normalization_rule_name": "identity"}

# Numbers in messages that SentencePiece computes from the text.
COMPUTED = re.compile(r"too high \(.*|smaller than required_chars\. .*|must be larger than the number .*")

BOOLEANS = (
    "split_by_unicode_script",
    "split_by_number",
    "split_by_whitespace",
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "split_digits",
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "byte_fallback",
    "hard_vocab_limit",
    "vocabulary_output_piece_score",
)


def random_sentences(choice: random.Random) -> list[str]:
    """Returns a small corpus: strings over a small alphabet, or words."""
    if choice.random() < 0.6:
        alphabet = choice.choice(ALPHABETS)
        lengths = choice.choice([5, 20, 60])
        return [
            "".join(choice.choices(alphabet, k=choice.randint(0, lengths)))
            for _ in range(choice.randint(1, 30))
        ]
    words = [
        "".join(choice.choices("etaoinshrdlu", k=choice.randint(1, 7))) for _ in range(choice.randint(3, 40))
    ]
    words += RARE_WORDS[: choice.randint(0, len(RARE_WORDS))]
    return [
        (" " * choice.choice([1, 1, 1, 2, 3])).join(choice.choices(words, k=choice.randint(0, 12)))
        for _ in range(choice.randint(1, 60))
    ]


def with_counts(choice: random.Random, sentences: Sequence[str]) -> list[str]:
    """Returns sentences in the format `tsv`."""
    return [f"{text.replace(chr(9), '')}\t{choice.choice([1, 2, 5, 10**6, 10**12])}" for text in sentences]


def random_options(choice: random.Random) -> dict[str, Any]:
    """Returns options, few of which have the default."""
    options: dict[str, Any] = {}
    for name in BOOLEANS:
        if choice.random() < 0.3:
            options[name] = choice.random() < 0.5
    options["vocab_size"] = choice.choice([10, 20, 30, 50, 80, 150, 300, 1000]) + choice.randint(0, 20)
    if options.get("byte_fallback"):
        options["vocab_size"] += choice.choice([0, 256, 256, 256])
    if choice.random() < 0.6:
        options["hard_vocab_limit"] = False
    rare: dict[str, Callable[[], object]] = {
        "character_coverage": lambda: choice.choice([0.98, 0.99, 0.995, 1.0, 0.9999]),
        "max_sentencepiece_length": lambda: choice.randint(1, 16),
        "max_sentence_length": lambda: choice.choice([10, 20, 40]),
        "required_chars": lambda: "".join(choice.choices("abqz中é", k=choice.randint(1, 3))),
        "user_defined_symbols": lambda: choice.sample(
            ["a", "ab", "<a>", "▁a", "中", "b▁", "<s>", "</s>", "12", "<0x41>", "x y"], choice.randint(1, 3)
        ),
        "control_symbols": lambda: choice.sample(
            ["<c>", "ab", "<s>", "<pad>", "c", "<0x42>", "<mask>"], choice.randint(1, 3)
        ),
        "pretokenization_delimiter": lambda: choice.choice(["b", "ab", "▁", "c d", "\t"]),
        "unk_id": lambda: choice.choice([0, 3, 5, -1, 1]),
        "bos_id": lambda: choice.choice([-1, 0, 1, 4, 7, 500]),
        "eos_id": lambda: choice.choice([-1, 2, 9]),
        "pad_id": lambda: choice.choice([-1, 0, 3, 6]),
        "bos_piece": lambda: choice.choice(["<b>", "</s>", "<unk>", "a"]),
        "normalization_rule_name": lambda: choice.choice(["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]),
    }
    for name, draw in rare.items():
        if choice.random() < 0.15:
            options[name] = draw()
    if options.get("byte_fallback") and choice.random() < 0.3:
        options["auto_character_coverage"] = True
    return options


# Values at and beyond the borders of what has a meaning, and strings with characters that stand for others.
ODD: dict[str, Sequence[Any]] = {
    "vocab_size": [0, -1, 1, 2, 3, 4, 5, 259, 10**5],
    "character_coverage": [0.97, 1.01, 1, float("nan")],
    "required_chars": ["a\0", " ", "b ", "\u2585", "\x1f", "\u2581z", "1\uff11", "\u0301", "ab\U0001f600"],
    "max_sentencepiece_length": [-1, 0, 1, 512, 513],
    "max_sentence_length": [-5, 9, 10, 1 << 30, (1 << 30) + 1],
    "user_defined_symbols": [
        *([""], [" "], ["\u2585"], ["\x1f"], ["\u2581"], ["\u2581\u2581", "\u2581"], ["<unk>"], ["a,b", '"']),
        *([], ["abc", "abcd", "bcd"], ["\u0301"], ["\0"], ["<0x00>", "a"], ["a" * 600], ["b", "b"]),
    ],
    "control_symbols": [
        [""],
        [" "],
        ["\u2581a"],
        ["\x1f", "a"],
        ["a", "a"],
        ["<unk>"],
        ["<s>", "</s>"],
        ["<0x00>"],
    ],
    "pretokenization_delimiter": ["", " ", "\u2585", "\x1f", "\0", "<s>", "\u2581a"],
    "unk_id": [-7, 2, 9, 2**31 - 1],
    "pad_id": [-2, 1, 9, 10, 2**31 - 1],
    "unk_piece": ["", "a", "<s>", "\u2581", " "],
    "eos_piece": ["", "<s>", "<unk>", " ", "\u2581a", "<0x41>"],
    "unk_surface": ["", "\u2581", "\n"],
    "input_format": ["tsv", "text", "csv", ""],
    "escape_whitespaces": [False, True],
    "use_all_vocab": [True, False],
    "input_sentence_size": [-1, 0, 1, 100, 101, 10**6],
    "shuffle_input_sentence": [True, False],
    "shrinking_factor": [0.4, 0.5],
    "num_sub_iterations": [0, 10, 11],
    "seed_sentencepieces_file": ["", "seeds.tsv"],
    "auto_character_coverage": [True],
    "byte_fallback": [True, False],
}


def odd_options(choice: random.Random) -> dict[str, Any]:
    """Returns a few options that hardly anybody sets so."""
    return {name: choice.choice(ODD[name]) for name in choice.sample(sorted(ODD), choice.randint(1, 3))}


def trained_by_sentencepiece(
    sentences: Sequence[str], options: dict[str, Any], defaults: dict[str, Any] = IDENTITY
) -> bytes:
    """Returns the model that the real package trains, from files if options name some.

    Args:
        sentences: The corpus.
        options: The options.
        defaults: Other options, unless they are among those.

    Raises:
        RuntimeError: It refuses.
    """
    sentencepiece: Any = importlib.import_module("sentencepiece")
    written = io.BytesIO()
    source = {} if "input" in options else {"sentence_iterator": iter(sentences)}
    sentencepiece.SentencePieceTrainer.train(
        model_writer=written,
        model_type="bpe",
        minloglevel=3,
        **(defaults | source | options),
    )
    return written.getvalue()
