"""SentencePiece's models of type UNIGRAM, WORD and CHAR, compared with `sentencepiece`.

BYTEMILL_FULL=1 tries more.
"""

# ruff: noqa: RUF001, S311 - characters that maps change; randomness that can be repeated

from __future__ import annotations

import io
import os
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import bytemill
import bytemill.sentencepiece
from bytemill import VocabularyError, inspection
from support import sentencepiece as real
from support.texts import multilingual, patchwork

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FULL = os.environ.get("BYTEMILL_FULL") == "1"
MODELS = 3_000 if FULL else 240
GROUPS = 4
pytestmark = pytest.mark.filterwarnings("ignore:the special token")

TYPES = ("UNIGRAM", "WORD", "CHAR")


def compare(contents: bytes, texts: Iterable[str], path: Path) -> bytemill.Encoding:
    """Compares ids, pieces, spans, counts and what ids are decoded to with the library."""
    theirs = real.processor(contents)
    ours = bytemill.sentencepiece.SentencePieceProcessor(model_proto=contents)
    (path / "types.model").write_bytes(contents)
    encoding = bytemill.Encoding.from_file(path / "types.model")
    for text in texts:
        ids = theirs.encode(text)
        assert encoding.encode_ordinary(text) == ids, text
        assert ours.encode(text) == ids, text
        assert encoding.count(text, disallowed_special=()) == len(ids), text
        assert encoding.decode(ids) == theirs.decode(ids), text
        found, expected = (each.encode(text, return_type="proto") for each in (ours, theirs))
        spans = [
            [(piece.id, piece.piece, piece.surface, piece.begin, piece.end) for piece in each.pieces]
            for each in (found, expected)
        ]
        assert spans[0] == spans[1], text
    return encoding


def synthetic(seed: int, name: str) -> tuple[bytes, Any]:
    """Returns a model of one's own kind for each seed, of a type; its scores often tie."""
    parsed = real.parse(real.synthetic(seed))
    parsed.trainer_spec.model_type = getattr(parsed.trainer_spec, name)
    dice = random.Random(seed)
    scores = dice.choice(
        [
            [-1.0, -2.0],
            [-0.1, -0.2, -0.3],
            [-1.0, 0.0, 5.0, 30.0],
            [-3.14159, -2.71828, -1.41421],
            [-9e3, 4e4],
        ]
    )
    for piece in parsed.pieces:
        piece.score = dice.choice(scores)
    return parsed.SerializeToString(), parsed


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("group", range(GROUPS))
def test_synthetic_models(group: int, name: str, tmp_path: Path) -> None:
    for seed in range(group, MODELS, GROUPS):
        contents, parsed = synthetic(seed, name)
        compare(contents, real.texts(seed, 12, parsed), tmp_path)


SAMPLE = "\n".join([multilingual(1, 300), patchwork(3, 4000)])


@cache
def trained(name: str, **options: Any) -> bytes:
    """Trains a model on texts of many scripts."""
    written = io.BytesIO()
    real.library().SentencePieceTrainer.train(
        sentence_iterator=iter(SAMPLE.split("\n") * 2),
        model_writer=written,
        model_type=name.lower(),
        vocab_size=2000,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    {"user_defined_symbols": "<s1>,the,▁a,--,  "},
    {"treat_whitespace_as_suffix": True},
    {"add_dummy_prefix": False},
]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_trained_models(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    dice = random.Random(4)
    strings = [
        *"aéE \t\n▁.,-_0中가ｶＡ①ﬁ½…x\x01",
        "\u0301",
        "\u3000",
        "  ",
        "---",
        "<s1>",
        "<unk>",
        "</s>",
        "the",
        " a",
        "0" * 40,
    ]
    texts = ["".join(dice.choices(strings, k=dice.randint(0, 20))) for _ in range(300)]
    texts += [*SAMPLE.split("\n")[:60], SAMPLE, "", " ", "-" * 500, "-=" * 300]
    compare(trained(name, **options), texts, tmp_path)


@pytest.mark.parametrize("options", [{}, {"byte_fallback": True}], ids=str)
@pytest.mark.parametrize("largest", [1, 40, 300, 3000])
def test_sums_of_long_texts_start_again(largest: int, options: dict[str, Any], tmp_path: Path) -> None:
    parsed = real.parse(trained("UNIGRAM", **options))
    dice = random.Random(largest)
    for piece in parsed.pieces:
        piece.score = -dice.random() * largest
    text = "".join(dice.choices("abcdefgh -=_.中é한\u0301", k=60_000))
    words = " ".join(dice.choices(SAMPLE.split(), k=20_000))
    compare(parsed.SerializeToString(), [text, words, "-" * 20_000], tmp_path)


def test_bytes_that_are_no_text() -> None:
    contents = trained("UNIGRAM", byte_fallback=True)
    theirs = real.processor(contents)
    ours = bytemill.sentencepiece.SentencePieceProcessor(model_proto=contents)
    for data in real.random_bytes(5, 300):
        assert ours.encode(data) == theirs.encode(data), data


@pytest.mark.parametrize("name", TYPES)
def test_the_other_verbs(name: str, tmp_path: Path) -> None:
    encoding = compare(trained(name), [SAMPLE], tmp_path)
    ids = encoding.encode_ordinary(SAMPLE)
    encoding.save(tmp_path / "again.bytemill")
    assert bytemill.Encoding.from_file(tmp_path / "again.bytemill").encode_ordinary(SAMPLE) == ids
    encoding.save_sentencepiece(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == trained(name)
    assert encoding.encode_ordinary_batch([SAMPLE] * 3, num_threads=2) == [ids] * 3
    text = SAMPLE[:2000]
    for limit in (3, 50, len(ids)):
        cut = encoding.truncate(text, limit).text
        assert text.startswith(cut)
        assert encoding.count(cut) <= limit
    for call in (
        lambda: encoding.with_vocab_size(100),
        lambda: encoding.encode_with_unstable("a"),
        lambda: inspection.report(encoding),
        lambda: encoding.save_huggingface(tmp_path / "tokenizer.json"),
    ):
        with pytest.raises(VocabularyError, match=f"of type {name}"):
            call()
    with pytest.raises(VocabularyError):
        encoding.merges()
    stream = encoding.stream_decoder()
    assert "".join([*map(stream.push, ids), stream.flush()]) == encoding.decode(ids)


@pytest.mark.parametrize("score", [float("inf"), float("nan")])
def test_scores_that_are_no_numbers_are_refused(score: float) -> None:
    parsed = real.parse(trained("UNIGRAM"))
    parsed.pieces[9].score = score
    with pytest.raises(RuntimeError, match="infinite or not a number"):
        bytemill.sentencepiece.SentencePieceProcessor(model_proto=parsed.SerializeToString())


def test_sampling_is_refused_by_name() -> None:
    ours = bytemill.sentencepiece.SentencePieceProcessor(model_proto=trained("UNIGRAM"))
    with pytest.raises(RuntimeError, match="sampling"):
        ours.encode("a", enable_sampling=True, alpha=0.1, nbest_size=-1)
    with pytest.raises((AttributeError, RuntimeError, NotImplementedError)):
        ours.nbest_encode_as_ids("a", 5)
