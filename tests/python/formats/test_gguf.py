"""Vocabularies in GGUF files: those of the kind `llama` have the ids of SentencePiece, others are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import pytest

import bytemill
from bytemill.errors import VocabularyError
from support import sentencepiece
from support.open_models.speech import CODE, SENTENCES, TRICKY, patchworks


def write(path: Path, kind: str, columns: dict[str, list[Any]], **entries: Any) -> Path:
    """Writes a file by the package itself."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(kind)
    for name, add in (
        ("tokens", writer.add_token_list),
        ("scores", writer.add_token_scores),
        ("types", writer.add_token_types),
    ):
        if name in columns:
            add(columns[name])
    for name, value in entries.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def columns_of(model: bytes) -> dict[str, list[Any]]:
    pieces = sentencepiece.parse(model).pieces
    return {
        "tokens": [piece.piece for piece in pieces],
        "scores": [piece.score for piece in pieces],
        "types": [piece.type for piece in pieces],
    }


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])
def test_published_models(name: str, tmp_path: Path) -> None:
    model = sentencepiece.published(name)
    path = write(
        tmp_path / "model.gguf",
        "llama",
        columns_of(model),
        bos_token_id=1,
        eos_token_id=2,
        add_space_prefix=True,
    )
    encoding = bytemill.Encoding.from_file(path)
    expected = bytemill.Encoding.from_file(sentencepiece.published_path(name) or "")
    assert encoding.name == "model"
    assert encoding.definition.special_tokens == expected.definition.special_tokens
    processor = sentencepiece.processor(model)
    for text in [*TRICKY, *SENTENCES, CODE, *patchworks(6, 300, [])]:
        assert encoding.encode_ordinary(text) == processor.encode(text)
        assert encoding.decode(processor.encode(text)) == expected.decode(processor.encode(text))


@pytest.mark.parametrize("prefix", [True, False])
def test_trained_models(prefix: bool, tmp_path: Path) -> None:  # noqa: FBT001
    model = sentencepiece.trained(
        size=1000, byte_fallback=True, add_dummy_prefix=prefix, remove_extra_whitespaces=False
    )
    entries: dict[str, Any] = {} if prefix else {"add_space_prefix": False}
    path = write(tmp_path / "model.gguf", "llama", columns_of(model), **entries)
    encoding = bytemill.Encoding.from_file(path)
    processor = sentencepiece.processor(model)
    for text in [*TRICKY, *SENTENCES, CODE, *patchworks(7, 300, [])]:
        assert encoding.encode_ordinary(text) == processor.encode(text)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("gpt2", "merges of bytes"), ("bert", "WordPiece"), ("t5", "type Unigram"), ("other", "got 'other'")],
)
def test_other_kinds_are_refused_by_name(kind: str, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path / "model.gguf", kind, {"tokens": ["a", "b"], "types": [1, 1]})
    with pytest.raises(VocabularyError, match=rf"tokenizer\.ggml\.model: expected 'llama'.*{reason}"):
        bytemill.Encoding.from_file(path)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    columns = columns_of(sentencepiece.trained(size=500))
    path = write(tmp_path / "model.gguf", "llama", columns)
    contents = path.read_bytes()
    for size in (4, 20, 100, len(contents) // 2):
        path.write_bytes(contents[:size])
        with pytest.raises(VocabularyError, match=r"model\.gguf: expected a GGUF file, and it is damaged"):
            bytemill.Encoding.from_file(path)
    write(tmp_path / "short.gguf", "llama", columns | {"scores": [1.0]})
    with pytest.raises(VocabularyError, match="expected lists of one length"):
        bytemill.Encoding.from_file(tmp_path / "short.gguf")
    write(tmp_path / "none.gguf", "llama", {"tokens": columns["tokens"]})
    with pytest.raises(VocabularyError, match=r"tokenizer\.ggml\.scores: expected a list, got None"):
        bytemill.Encoding.from_file(tmp_path / "none.gguf")
    twice = columns | {"tokens": ["a"] * len(columns["tokens"])}
    write(tmp_path / "twice.gguf", "llama", twice)
    with pytest.raises(VocabularyError, match="twice"):
        bytemill.Encoding.from_file(tmp_path / "twice.gguf")
