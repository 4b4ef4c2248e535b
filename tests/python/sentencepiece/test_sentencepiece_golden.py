"""Files and results of older versions of SentencePiece, which are not installed where tests run."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest

import bytemill
import bytemill.sentencepiece as spm
from bytemill import Encoding

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "data" / "sentencepiece.json").read_text(encoding="utf-8")
)

each_model = pytest.mark.parametrize(
    "case", GOLDEN["models"], ids=[case["name"] for case in GOLDEN["models"]]
)


def test_there_are_files_of_every_older_version() -> None:
    versions = [version for case in GOLDEN["models"] for version in case["versions"]]
    assert sorted(set(versions)) == ["0.2.0", "0.2.1", "0.2.2"]
    assert len({case["name"] for case in GOLDEN["models"]}) == len(GOLDEN["models"])


@each_model
def test_texts(case: dict[str, Any], tmp_path: Path) -> None:
    model = base64.b64decode(case["model"])
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model)
    encoding = Encoding.from_file(path)
    processor = spm.SentencePieceProcessor(model_proto=model)
    for expected in case["texts"]:
        text, ids = expected["text"], expected["ids"]
        assert encoding.encode_ordinary(text) == processor.encode(text) == ids
        assert [token for piece in encoding.explain(text) for token in piece.ids] == ids
        assert processor.encode(text, out_type=str) == expected["pieces"]
        assert processor.encode(text, out_type="serialized_proto") == base64.b64decode(expected["message"])
        assert encoding.decode(ids) == processor.decode(ids) == expected["decoded"]


@each_model
def test_files_are_written_again(case: dict[str, Any], tmp_path: Path) -> None:
    model = base64.b64decode(case["model"])
    (tmp_path / "a.model").write_bytes(model)
    encoding = Encoding.from_file(tmp_path / "a.model")
    encoding.save_sentencepiece(tmp_path / "b.model", vocab=tmp_path / "b.vocab")
    assert (tmp_path / "b.model").read_bytes() == model
    assert (tmp_path / "b.vocab").read_text(encoding="utf-8") == case["vocab"]


@each_model
def test_a_processor_takes_the_state_of_an_old_pickle(case: dict[str, Any]) -> None:
    # Up to 0.2.1 the state was the model.
    processor = spm.SentencePieceProcessor()
    processor.__setstate__(base64.b64decode(case["model"]))
    expected = case["texts"][1]
    assert processor.encode(expected["text"]) == expected["ids"]


@pytest.mark.parametrize(
    # 0.2.3 leaves samples of a test out of the file.
    "case",
    [case for case in GOLDEN["models"] if "self_test_sample_size" not in case["options"]],
    ids=lambda case: case["name"],
)
def test_training_again(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.tsv").write_text(GOLDEN["rules"], encoding="utf-8")
    options = dict(case["options"])
    written = io.BytesIO()
    sentences = GOLDEN["sentences"] * 3
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=written, model_type="bpe", **options
    )
    assert written.getvalue() == base64.b64decode(case["model"])
    if "normalization_rule_tsv" not in options:
        size = options.pop("vocab_size")
        again = bytemill.train(sentences, size, kind="sentencepiece", progress=False, **options)
        assert again.definition.model == written.getvalue()
