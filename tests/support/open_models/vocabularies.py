"""Small vocabularies with all that is peculiar to those of open models, trained by `tokenizers`.

Each function returns the object `model` of a `tokenizer.json`.
"""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from typing import Any

from tokenizers import Tokenizer, pre_tokenizers, trainers

from support.open_models.speech import corpus

__all__ = [
    "OPTIONS",
    "Model",
    "byte_level",
    "characters",
    "explicit",
    "unreached",
    "with_every_split",
    "with_raw",
    "without_bytes",
]

Model = dict[str, Any]

OPTIONS = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
    "ignore_merges": False,
}
MARK = "\u2581"


def trained(component: str, normalizer: str, size: int, **options: Any) -> Model:
    """Returns a model trained on pieces of a pre-tokenizer and a normalizer, given as in a file."""
    contents = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": json.loads(normalizer),
        "pre_tokenizer": json.loads(component),
        "model": OPTIONS | {"vocab": {}, "merges": []},
    }
    tokenizer = Tokenizer.from_str(json.dumps(contents))
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False, **options)
    tokenizer.train_from_iterator(corpus(), trainer)
    model: Model = json.loads(tokenizer.to_str())["model"]
    return OPTIONS | {"vocab": model["vocab"], "merges": [list(merge) for merge in model["merges"]]}


# --- Byte-level ---------------------------------------------------------------------------------------------


@functools.cache
def cached(component: str, normalizer: str, size: int, suffix: str) -> str:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    options: dict[str, Any] = {"initial_alphabet": alphabet}
    if not suffix:
        return json.dumps(trained(component, normalizer, size, **options))
    # The trainer numbers bytes that end a word in the order of a hash table: given as special tokens, with
    # the first ids, they are the same in every run.
    ends = [character + suffix for character in alphabet]
    model = trained(component, normalizer, size, **options, end_of_word_suffix=suffix, special_tokens=ends)
    tokens = [*alphabet, *ends, *sorted(model["vocab"], key=model["vocab"].__getitem__)]
    return json.dumps(model | {"vocab": {token: index for index, token in enumerate(dict.fromkeys(tokens))}})


def byte_level(pre_tokenizer: Any, normalizer: Any = None, size: int = 1600, suffix: str = "") -> Model:
    """Returns a model whose merges cross no border of a chain, in the order of ids."""
    model: Model = json.loads(cached(json.dumps(pre_tokenizer), json.dumps(normalizer), size, suffix))
    return model


def letter(byte: int) -> str:
    """Returns the character that stands for a byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [value for value in range(256) if value not in printable]
    return chr(byte) if byte in printable else chr(256 + others.index(byte))


def with_every_split(model: Model) -> Model:
    """Returns the model with all ways to make each token, as files made of ranks have them."""
    vocabulary = model["vocab"]
    merges = []
    for token, _ in sorted(vocabulary.items(), key=lambda item: item[1]):
        splits = [(token[:size], token[size:]) for size in range(1, len(token))]
        known = [pair for pair in splits if pair[0] in vocabulary and pair[1] in vocabulary]
        merges += [list(pair) for pair in sorted(known, key=lambda pair: [vocabulary[part] for part in pair])]
    return model | {"merges": merges, "ignore_merges": True}


def without_bytes(model: Model, missing: list[int]) -> Model:
    """Returns the model without some bytes and all that is made of them."""
    gone = {letter(byte) for byte in missing}
    kept = [token for token in model["vocab"] if not gone & set(token)]
    merges = [merge for merge in model["merges"] if not gone & set("".join(merge))]
    return model | {"vocab": {token: index for index, token in enumerate(kept)}, "merges": merges}


def explicit(model: Model, seed: int = 0, holes: int = 0) -> Model:
    """Returns the model with ids in any order, and so many of them left out: only merges have ranks."""
    tokens = sorted(model["vocab"])
    ids = random.Random(seed).sample(range(len(tokens) + holes), len(tokens))
    return model | {"vocab": dict(zip(tokens, ids, strict=True))}


def with_raw(model: Model, raw: list[str]) -> Model:
    """Returns the model with strings that no bytes spell, which therefore no text becomes."""
    vocabulary = dict(model["vocab"])
    for token in raw:
        vocabulary.setdefault(token, max(vocabulary.values()) + 1)
    return model | {"vocab": vocabulary}


def unreached(model: Model, tokens: list[str]) -> Model:
    """Returns the model with tokens that no merges make: only looking up whole pieces finds them."""
    byte_alphabet = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    spelled = ["".join(piece for piece, _ in byte_alphabet.pre_tokenize_str(token)) for token in tokens]
    return with_raw(model, spelled)


# --- SentencePiece's ----------------------------------------------------------------------------------------


@functools.cache
def trained_characters(size: int) -> str:
    metaspace = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True}
    # The trainer drops characters with equal counts by chance: one alphabet is chosen here for every run.
    counts = Counter(character for text in corpus() for character in text.replace(" ", MARK))
    kept = sorted(counts, key=lambda character: (-counts[character], character))[:420]
    options: dict[str, Any] = {"initial_alphabet": kept, "limit_alphabet": len(kept)}
    return json.dumps(trained(json.dumps(metaspace), "null", size, **options))


def characters(  # noqa: PLR0913 - all have names
    *,
    first: tuple[str, ...] = ("<unk>", "<s>", "</s>"),
    missing: tuple[int, ...] = (),
    fuse_unk: bool = True,
    unk: str | None = "<unk>",
    more: tuple[str, ...] = (),
    size: int = 1500,
) -> Model:
    """Returns a model of characters and bytes: merges by the scores of pieces, characters last.

    Args:
        first: The tokens with the first ids.
        missing: Bytes without a token.
        fuse_unk: Whether unknown characters side by side are one token.
        unk: The token of an unknown character.
        more: Further pieces, with the highest scores.
        size: The number of trained tokens.
    """
    model = json.loads(trained_characters(size))
    pieces = sorted(model["vocab"], key=lambda token: (len(token) == 1, model["vocab"][token]))
    runs = [MARK * count for count in (2, 4, 8, 16, 3, 5)]
    pieces = [*dict.fromkeys([*more, *runs, *pieces])]
    of_bytes = [f"<0x{byte:02X}>" for byte in range(256) if byte not in missing]
    vocabulary = {token: index for index, token in enumerate([*first, *of_bytes, *pieces])}
    merges = []
    for piece in pieces:
        splits = [(piece[:size], piece[size:]) for size in range(1, len(piece))]
        known = [pair for pair in splits if pair[0] in vocabulary and pair[1] in vocabulary]
        merges += [list(pair) for pair in sorted(known, key=lambda pair: [vocabulary[part] for part in pair])]
    options = {"unk_token": unk, "fuse_unk": fuse_unk, "byte_fallback": True}
    return OPTIONS | options | {"vocab": vocabulary, "merges": merges}
