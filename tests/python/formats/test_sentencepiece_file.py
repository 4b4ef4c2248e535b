"""Model files of SentencePiece: read, edited and written."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bytemill._backend import SentencePieceModel
from bytemill.errors import VocabularyError

PIECES = [
    ("<unk>", 0.0, 2),
    ("<s>", 0.0, 3),
    ("</s>", 0.0, 3),
    ("ab", -0.0, 1),
    ("a", -1.0, 1),
    ("b", -2.0, 1),
]


def build(**trainer_spec: object) -> SentencePieceModel:
    options = {"model_type": 2, **trainer_spec}
    return SentencePieceModel.build(PIECES, options, {"name": "identity", "precompiled_charsmap": b""})  # type: ignore[arg-type]


def test_a_model_says_what_it_was_built_of() -> None:
    model = build(input=["a.txt", "b.txt"], character_coverage=0.5)
    assert len(model) == 6
    assert list(zip(model.pieces, model.scores.tolist(), model.types.tolist(), strict=True)) == PIECES
    assert np.signbit(model.scores[3])
    assert not np.signbit(model.scores[0])
    assert model.present("trainer_spec") == ["input", "model_type", "character_coverage"]
    assert model.trainer_spec["input"] == ("a.txt", "b.txt")
    assert model.trainer_spec["unk_surface"] == " \u2047 "
    assert model.trainer_spec["pad_id"] == -1
    assert model.normalizer_spec["precompiled_charsmap"] == b""
    assert model.normalizer_spec["escape_whitespaces"] is True
    assert (model.unk_id, model.bos_id, model.eos_id, model.pad_id) == (0, 1, 2, None)
    assert (model.find("ab"), model.find("abc")) == (3, None)


def test_a_model_is_its_bytes() -> None:
    model = build()
    again = SentencePieceModel(model.serialize())
    assert again.serialize() == model.serialize() == model.replace().serialize()
    assert pickle.loads(pickle.dumps(model)).serialize() == model.serialize()  # noqa: S301
    assert SentencePieceModel.is_likely(model.serialize()[:20])


def test_edits_change_what_they_name() -> None:
    model = build(byte_fallback=False)
    flags = model.replace(normalizer_spec={"add_dummy_prefix": False}, trainer_spec={"byte_fallback": None})
    assert flags.normalizer_spec["add_dummy_prefix"] is False
    assert flags.present("trainer_spec") == ["model_type"]
    assert flags.pieces == model.pieces
    more = flags.replace(pieces=[*PIECES, ("aba", -3.0, 4)])
    assert more.pieces == [*model.pieces, "aba"]
    assert more.types[-1] == 4
    back = more.replace(
        pieces=PIECES, normalizer_spec={"add_dummy_prefix": None}, trainer_spec={"byte_fallback": False}
    )
    assert back.serialize() == model.serialize()


def test_wrong_models_are_refused() -> None:
    with pytest.raises(VocabularyError, match="from byte 2 of the file on: expected a SentencePiece model"):
        SentencePieceModel(b"hello world")
    with pytest.raises(VocabularyError, match='"a" has two ids, 4 and 6'):
        build().replace(pieces=[*PIECES, ("a", 0.0, 3)])
    with pytest.raises(ValueError, match="piece 0 has the type 7: expected 1 "):
        build().replace(pieces=[("a", 0.0, 7)])
    with pytest.raises(VocabularyError, match='the trainer_spec has no field "nbest"'):
        build(nbest=1)
    with pytest.raises(TypeError):
        build(byte_fallback=1)
    with pytest.raises(ValueError, match='no message "spec": expected one of trainer_spec'):
        build().present("spec")
