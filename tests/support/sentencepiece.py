"""The real SentencePiece: published models, models made for tests, texts for both."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import functools
import importlib
import importlib.util
import io
import os
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bytemill.reference_sentencepiece import (
    BYTE_PIECES,
    MARK,
    Charsmap,
    Kind,
    Normalization,
    Piece,
    ReferenceModel,
)
from support.texts import FRAGMENTS, MARKS, SCRIPTS, installation_files

__all__ = [
    "PUBLISHED",
    "RULES",
    "edited",
    "library",
    "parse",
    "processor",
    "published",
    "published_path",
    "random_bytes",
    "reference",
    "runs",
    "script",
    "synthetic",
    "texts",
    "trained",
    "training_set",
]

RULES = ["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]

# The five models that mistral-common carries.
PUBLISHED = {
    "mistral-v1": "tokenizer.model.v1",
    "mistral-v2": "mistral_instruct_tokenizer_240216.model.v2",
    "mistral-v3": "mistral_instruct_tokenizer_240323.model.v3",
    "mistral-v7": "mistral_instruct_tokenizer_241114.model.v7",
    "mistral-v7m1": "mistral_instruct_tokenizer_241114.model.v7m1",
}


def missing(what: str, *, excused: bool = False) -> None:
    """Skips the test because a library is missing; where everything must run that is an error."""
    if os.environ.get("CI") and not excused:
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


def library() -> Any:
    """Returns the real package."""
    if importlib.util.find_spec("sentencepiece") is None:
        missing("sentencepiece")
    import sentencepiece

    return sentencepiece


def parse(model: bytes = b"") -> Any:
    """Returns the message that a model file holds, to be read or edited."""
    if importlib.util.find_spec("google.protobuf") is None:
        missing("protobuf")
    library()
    messages: Any = importlib.import_module("sentencepiece.sentencepiece_model_pb2")
    return messages.ModelProto.FromString(model)


def published_path(name: str) -> Path | None:
    """Returns where one of the `PUBLISHED` models is; `None` if mistral-common is not installed."""
    # The package itself is not imported: what it depends on takes seconds.
    spec = importlib.util.find_spec("mistral_common")
    return (
        None if spec is None or spec.origin is None else Path(spec.origin).parent / "data" / PUBLISHED[name]
    )


def published(name: str) -> bytes:
    """Returns one of the `PUBLISHED` models."""
    path = published_path(name)
    if path is None:
        missing("mistral-common", excused=sys.version_info >= (3, 14))
    assert path is not None
    return path.read_bytes()


def processor(model: bytes) -> Any:
    """Returns the real package's processor of a model."""
    return library().SentencePieceProcessor(model_proto=model)


def reference(model: bytes) -> ReferenceModel:
    """Returns the executable definition of a model."""
    parsed = parse(model)
    rules = parsed.normalizer_spec
    return ReferenceModel(
        [Piece(piece.piece, piece.score, Kind(piece.type)) for piece in parsed.pieces],
        Normalization(
            Charsmap(rules.precompiled_charsmap),
            add_dummy_prefix=rules.add_dummy_prefix,
            remove_extra_whitespaces=rules.remove_extra_whitespaces,
            escape_whitespaces=rules.escape_whitespaces,
            treat_whitespace_as_suffix=parsed.trainer_spec.treat_whitespace_as_suffix,
        ),
        byte_fallback=parsed.trainer_spec.byte_fallback,
        unknown_surface=parsed.trainer_spec.unk_surface,
    )


# --- Models made for tests ----------------------------------------------------------------------------------


@functools.cache
def corpus() -> tuple[str, ...]:
    """Lines to train on: of the Python installation, and of several scripts."""
    lines = [line for _, text in installation_files(150_000) for line in text.splitlines() if line]
    source = random.Random(0)
    for first, last in SCRIPTS.values():
        words = [
            "".join(chr(first + source.randint(0, (last - first) // 4)) for _ in range(3)) for _ in "abcd"
        ]
        lines += [" ".join(source.choices(words, k=5)) for _ in range(3)]
    return tuple(line for line in lines if line.isprintable())


@functools.cache
def trained(rule: str = "identity", size: int = 800, *, model_type: str = "bpe", **options: Any) -> bytes:
    """Returns a model trained by the real package."""
    written = io.BytesIO()
    library().SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()),
        model_writer=written,
        model_type=model_type,
        vocab_size=size,
        normalization_rule_name=rule,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


def small(source: random.Random) -> Any:
    """Returns a model of random strings over few letters, in which merges touch, overlap and compete."""
    parsed = parse()
    parsed.trainer_spec.model_type = parsed.trainer_spec.BPE
    parsed.pieces.add(piece="<unk>", score=0, type=Kind.UNKNOWN)
    parsed.pieces.add(piece="<s>", score=0, type=Kind.CONTROL)
    letters = source.sample("aab\u2581\u2581c \xe91\u4f60\U0001f600.\u0301", source.randint(2, 5))
    strings = ["".join(source.choices(letters, k=source.randint(1, 6))) for _ in range(source.randint(3, 60))]
    # Grown from others as well, so that long pieces can be reached.
    for _ in range(source.randint(0, 40)):
        strings.append(source.choice(strings) + source.choice([*letters, *strings]))
    without = source.random() < 0.4  # some letters are no pieces
    strings += [letter for letter in letters if not (without and source.random() < 0.5)]
    for number, text in enumerate(dict.fromkeys(text[:40] for text in strings)):
        parsed.pieces.add(piece=text, score=-float(number))
    return parsed


def edited(parsed: Any, source: random.Random) -> bytes:
    """Edits a model at random and returns the file."""
    change_types(parsed, source)
    change_scores([piece for piece in parsed.pieces if piece.type == Kind.NORMAL], source)
    add_pieces(parsed, source)
    if not any(piece.type == Kind.BYTE for piece in parsed.pieces) and source.random() < 0.5:
        add_bytes(parsed, source.randint(0, len(parsed.pieces)))
    change_rules(parsed, source)
    serialized: bytes = parsed.SerializeToString()
    return serialized


def change_types(parsed: Any, source: random.Random) -> None:
    """Makes pieces unused, or user-defined, or one of a single character a control piece."""
    for kind, shares in ((Kind.UNUSED, [0, 0, 0.1, 0.5, 0.9]), (Kind.USER_DEFINED, [0, 0, 0.02, 0.2])):
        share = source.choice(shares)
        for piece in parsed.pieces:
            if piece.type == Kind.NORMAL and source.random() < share:
                piece.type = kind
    characters = [piece for piece in parsed.pieces if len(piece.piece) == 1]
    if characters and source.random() < 0.3:
        source.choice(characters).type = Kind.CONTROL


def change_scores(pieces: list[Any], source: random.Random) -> None:
    """Makes scores equal in blocks, or puts them in any order, or makes some extreme."""
    block = source.choice([1, 1, 3, 20, 100_000])
    scores = [(piece.score // block) * block for piece in pieces]
    if source.random() < 0.3:
        source.shuffle(scores)
    for piece, score in zip(pieces, scores, strict=True):
        extreme = source.random() < 0.02
        piece.score = source.choice([0.0, -0.0, 1e30, -1e30, -1e9]) if extreme else score


def add_pieces(parsed: Any, source: random.Random) -> None:
    """Adds user-defined symbols, nested and with marks, and pieces whose characters may be missing."""
    known = {piece.piece for piece in parsed.pieces}
    symbols = [
        "ab",
        "abc",
        "abca",
        "b",
        "\u2581a",
        " a",
        "a b",
        "\u2581",
        "\u4f60",
        "<s",
        "\n",
        "\u0301",
        "  ",
    ]
    for text in source.sample(symbols, source.choice([0, 0, 1, 4, 8])):
        if text not in known:
            parsed.pieces.add(piece=text, score=-1, type=Kind.USER_DEFINED)
    for text in ["qz", "qzq", "\u597d\u5417", "a\u4e16"]:
        if text not in known and source.random() < 0.15:
            parsed.pieces.add(piece=text, score=0, type=source.choice([Kind.NORMAL, Kind.UNUSED]))


def add_bytes(parsed: Any, place: int) -> None:
    """Adds the pieces of bytes, and the flag that demands them."""
    behind = list(parsed.pieces)[place:]
    del parsed.pieces[place:]
    for text in BYTE_PIECES:
        parsed.pieces.add(piece=text, score=0, type=Kind.BYTE)
    parsed.pieces.extend(behind)
    parsed.trainer_spec.byte_fallback = True


def change_rules(parsed: Any, source: random.Random) -> None:
    """Sets the flags of normalization, and what the unknown decodes to."""
    rules = parsed.normalizer_spec
    rules.add_dummy_prefix = source.random() < 0.5
    rules.remove_extra_whitespaces = source.random() < 0.5
    rules.escape_whitespaces = source.random() < 0.9
    parsed.trainer_spec.treat_whitespace_as_suffix = source.random() < 0.2
    if source.random() < 0.3:
        other = parse(trained(source.choice(RULES)))
        rules.precompiled_charsmap = other.normalizer_spec.precompiled_charsmap
    if source.random() < 0.2:
        parsed.trainer_spec.unk_surface = source.choice(["", "?", " \u2581 "])


def synthetic(seed: int) -> bytes:
    """Returns a model of one's own kind for each seed."""
    source = random.Random(seed)
    if source.random() < 0.75:
        return edited(small(source), source)
    return edited(parse(trained(source.choice(RULES), byte_fallback=source.random() < 0.5)), source)


# --- Texts --------------------------------------------------------------------------------------------------


def texts(seed: int, number: int, parsed: Any, size: int = 60) -> Iterator[str]:
    """Yields texts for a model: of its characters and pieces, of few letters, of every script."""
    source = random.Random(seed)
    pieces = [piece.piece for piece in parsed.pieces]
    special = [piece.piece for piece in parsed.pieces if piece.type not in (Kind.NORMAL, Kind.UNUSED)]
    characters = sorted(
        {letter for piece in source.sample(pieces, min(len(pieces), 200)) for letter in piece}
    )
    unwritten = [
        " ",
        " ",
        "  ",
        MARK,
        "\n",
        "\t",
        "7",
        "12",
        "\0",
        "\xa8",
        "\u3000",
        "\u200d",
        "\ufffd",
        *MARKS,
    ]
    for _ in range(number):
        kind = source.randrange(5)
        if kind == 0:
            choice: list[str] = [*source.sample(characters, min(len(characters), 3)), " ", MARK]
        elif kind == 1:
            choice = [*source.choices(pieces, k=12), *source.choices(special, k=3), *unwritten]
        elif kind == 2:
            first, last = source.choice(list(SCRIPTS.values()))
            choice = [chr(source.randint(first, last)) for _ in range(5)] + unwritten
        elif kind == 3:
            choice = source.choices(FRAGMENTS, k=10) + source.choices(special, k=2)
        else:
            choice = source.choices(characters, k=2)
        text = "".join(source.choices(choice, k=source.randint(0, size)))
        yield text.replace(MARK, " ") if source.random() < 0.3 else text


def random_bytes(seed: int, number: int, size: int = 40) -> Iterator[bytes]:
    """Yields bytes, most of which are no UTF-8: at random, and the pieces of characters."""
    source = random.Random(seed)
    parts = [
        b"a",
        b" ",
        b"ab",
        MARK.encode(),
        b"\xe2\x96",
        b"\xe4\xbd",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xff",
    ]
    parts += [
        "\u4f60".encode(),
        b"\xf4\x90\x80\x80",
        b"\xf0\x9f\x98",
        b"\x80",
        b"\xc3",
        b"\xef\xbf\xbd",
        b"\0",
    ]
    for _ in range(number):
        if source.random() < 0.3:
            yield source.randbytes(source.randint(0, size))
        else:
            yield b"".join(source.choices(parts, k=source.randint(0, size // 2)))


def runs(size: int) -> dict[str, str]:
    """Returns texts in which one thing repeats, which careless merging takes quadratic time for."""
    units = [
        "a",
        " ",
        MARK,
        "\n",
        "ab",
        "aab",
        " a",
        "\u4f60",
        "\U0001f600",
        "\u0301",
        "0",
        "=",
        "\0",
        "\u0378",
    ]
    return {unit: (unit * (size // len(unit.encode()) + 1)) for unit in units}


# --- Training -----------------------------------------------------------------------------------------------


def script(letter: str) -> str:
    """Returns the script of a character, for those alphabets of `training_set` whose scripts are old."""
    name = unicodedata.name(letter, "").split(" ")[0]
    if name == "COMBINING":
        return "Inherited"
    if not unicodedata.category(letter).startswith("L") or name.startswith("FULLWIDTH"):
        return "Common"
    return {"CJK": "Han"}.get(name, name.capitalize())


ALPHABETS = [
    "ab",
    "abc ",
    "abcde 12",
    "a\u0301b\u4e2d\u3042\u30ab\u30fc7 \uff17",
    "ab\u0431\u03b1 .,3",
    "abc \u2581|\x1f\t",
    "ab<u>c s/",
]


def training_set(seed: int) -> tuple[list[str], str, dict[str, Any]]:
    """Returns sentences, the name of a normalization and options of training, for each seed others."""
    source = random.Random(seed)
    letters = source.choice(ALPHABETS) + " "
    sentences = [
        "".join(source.choices(letters, k=source.randint(0, 30)))
        for _ in range(source.choice([1, 3, 20, 60]))
    ]
    fallback = source.random() < 0.3
    options: dict[str, Any] = {
        "vocab_size": source.choice([20, 20, 30, 40, 60, 90, 120]) + 256 * fallback,
        "byte_fallback": fallback,
    }
    flags = [
        "split_by_unicode_script",
        "split_by_whitespace",
        "split_by_number",
        "split_digits",
        "allow_whitespace_only_pieces",
        "treat_whitespace_as_suffix",
        "hard_vocab_limit",
        "add_dummy_prefix",
        "remove_extra_whitespaces",
    ]
    options |= {flag: source.random() < 0.5 for flag in flags if source.random() < 0.5}
    choices: dict[str, list[Any]] = {
        "character_coverage": [1.0, 0.98, 0.99, 0.9995],
        "max_sentencepiece_length": [1, 2, 3, 4, 7, 16],
        "max_sentence_length": [20, 30, 40],
        "required_chars": ["z", "ab", "q\xe9", "xyz\u4f60"],
        "pretokenization_delimiter": ["|", "ab", "a"],
        "control_symbols": [["<c>"], ["</s>", "a<"], ["<pad>", "c", "<c>"], ["<c>", "<c>"]],
        "user_defined_symbols": [["<u>", "ab"], ["<s>"], ["abc", "ab", "\u2581a"], ["cb", "<unk>"]],
        "unk_id": [5, 0, 11],
        "bos_id": [-1, 9, 19],
        "pad_id": [3, 7, 1],
        "unk_piece": ["ba"],
        "eos_piece": ["<end>"],
    }
    options |= {name: source.choice(values) for name, values in choices.items() if source.random() < 0.2}
    return sentences, source.choice(RULES), options
