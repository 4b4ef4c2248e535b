"""Vocabularies in GGUF files: each kind has the ids of the library that its model was made with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import pytest
import tokenizers

import bytemill
from bytemill.errors import VocabularyError
from bytemill.formats.gguf_splitting import SPLITTINGS
from support import sentencepiece
from support.open_models import ROWS
from support.open_models.speech import CODE, SENTENCES, TRICKY, patchworks


def write(
    path: Path,
    kind: str,
    columns: dict[str, list[Any]],
    *,
    options: dict[str, bool] | None = None,
    **entries: Any,
) -> Path:
    """Writes a file by the package itself; `options` are entries for which it has no method."""
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
    for name, value in (options or {}).items():
        writer.add_bool(f"tokenizer.ggml.{name}", value)
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


# The families of `tokenizer.ggml.pre`, and the row of `support.open_models` with the published components.
FAMILIES = {
    "gpt-2": "gpt2",
    "phi-2": "phi-2",
    "exaone4": "exaone-4",
    "roberta-bpe": "roberta",
    "olmo": "pythia",
    "modern-bert": "modernbert",
    "mpt": "pythia",
    "starcoder": "starcoder",
    "refact": "starcoder",
    "smollm": "smollm2",
    "command-r": "command-r",
    "exaone": "exaone-3",
    "llama-bpe": "llama3",
    "llama3": "llama3",
    "llama-v3": "llama3",
    "falcon3": "falcon-3",
    "dbrx": "dbrx",
    "glm4": "glm-4",
    "chatglm-bpe": "glm-4",
    "lfm2": "lfm2",
    "jais2": "jais-2",
    "minicpm5": "minicpm-5",
    "qwen2": "qwen2",
    "qwen35": "qwen3.5",
    "stablelm2": "stablelm-2",
    "seed-coder": "seed-coder",
    "bailingmoe": "ling",
    "gpt-4o": "gpt-oss",
    "llama4": "llama4",
    "minimax-m2": "minimax",
    "tekken": "tekken",
    "kimi-k2": "kimi-k2",
    "youtu": "youtu",
    "tiny_aya": "cohere-2",
    "afmoe": "trinity",
    "exaone-moe": "k-exaone",
    "deepseek-llm": "deepseek-llm",
    "deepseek-coder": "deepseek-coder",
    "deepseek-v3": "deepseek-v3",
    "bloom": "bloom",
    "viking": "viking",
    "chameleon": "chameleon",
}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED = range(1, 6)


def columns_of_merges(contents: dict[str, Any]) -> dict[str, list[Any]]:
    """Returns the tokens of a `tokenizer.json` with types, and what converters fill ids with."""
    texts = {token_id: text for text, token_id in contents["model"]["vocab"].items()}
    added = {token["id"]: token for token in contents["added_tokens"]}
    texts |= {token_id: token["content"] for token_id, token in added.items()}
    tokens, types = [], []
    for token_id in range(max(texts) + 3):
        tokens.append(texts.get(token_id, f"[PAD{token_id}]"))
        special = CONTROL if token_id in added and added[token_id]["special"] else USER_DEFINED
        types.append(special if token_id in added else NORMAL if token_id in texts else UNUSED)
    return {"tokens": tokens, "types": types}


def write_merges(path: Path, family: str, contents: dict[str, Any], **entries: Any) -> Path:
    merges = contents["model"]["merges"]
    joined = [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]
    columns = columns_of_merges(contents)
    return write(path, "gpt2", columns, tokenizer_pre=family, token_merges=joined, **entries)


def test_every_family_is_compared() -> None:
    assert set(FAMILIES) == set(SPLITTINGS)


@pytest.mark.parametrize("family", FAMILIES)
def test_merges_of_each_family(family: str, tmp_path: Path) -> None:
    contents = ROWS[FAMILIES[family]].contents()
    # The flags of added tokens are not in the file.
    for token in contents["added_tokens"]:
        token.update(dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False))
    library = tokenizers.Tokenizer.from_str(json.dumps(contents))
    encoding = bytemill.Encoding.from_file(write_merges(tmp_path / "model.gguf", family, contents))
    texts = [*TRICKY, *SENTENCES, CODE, *patchworks(8, 200, [])]
    texts += [f"a{token['content']} b" for token in contents["added_tokens"]]
    for text in texts:
        ids = library.encode(text, add_special_tokens=False).ids
        assert encoding.encode(text, allowed_special="all") == ids
        assert encoding.decode(ids) == library.decode(ids, skip_special_tokens=False)
    specials = {token["content"]: token["id"] for token in contents["added_tokens"] if token["special"]}
    assert encoding.definition.special_tokens == specials


def test_fill_of_the_type_unknown_is_no_token(tmp_path: Path) -> None:
    contents = ROWS["gpt2"].contents()
    columns = columns_of_merges(contents)
    columns["types"] = [UNKNOWN if kind == UNUSED else kind for kind in columns["types"]]
    entries: dict[str, Any] = {"tokenizer_pre": "gpt-2", "token_merges": ["a b"], "unk_token_id": 0}
    encoding = bytemill.Encoding.from_file(write(tmp_path / "model.gguf", "gpt2", columns, **entries))
    assert encoding.n_vocab == len(columns["tokens"]) - columns["types"].count(UNKNOWN)
    assert not any(text.startswith("[PAD") for text in encoding.definition.special_tokens)


def test_tokens_around_texts_follow_the_file(tmp_path: Path) -> None:
    contents = ROWS["llama3"].contents()
    ids = {token["content"]: token["id"] for token in contents["added_tokens"]}
    first, last = ids["<|begin_of_text|>"], ids["<|end_of_text|>"]
    entries = {"bos_token_id": first, "eos_token_id": last, "add_bos_token": True}
    path = write_merges(tmp_path / "first.gguf", "llama-bpe", contents, **entries)
    with pytest.warns(UserWarning, match=r"adds <\|begin_of_text\|> to each text"):
        encoding = bytemill.Encoding.from_file(path)
    assert encoding.definition.template == (("<|begin_of_text|>",), ())
    path = write_merges(tmp_path / "both.gguf", "llama-bpe", contents, **entries, add_eos_token=True)
    with pytest.warns(UserWarning, match="end_of_text"):
        encoding = bytemill.Encoding.from_file(path)
    assert encoding.definition.template == (("<|begin_of_text|>",), ("<|end_of_text|>",))


def columns_of_words(contents: dict[str, Any], *, by_brackets: bool) -> dict[str, list[Any]]:
    """Returns the tokens of WordPiece as converters spell them."""
    special = {token["content"] for token in contents["added_tokens"]}
    tokens, types = [], []
    for text in contents["model"]["vocab"]:
        kept = text in special or (by_brackets and text.startswith("[") and text.endswith("]"))
        tokens.append(text if kept else text[2:] if text.startswith("##") else f"\u2581{text}")
        types.append(CONTROL if text in special else NORMAL)
    return {"tokens": tokens, "types": types}


def word_entries(contents: dict[str, Any]) -> dict[str, Any]:
    ids = contents["model"]["vocab"]
    names = {"pad": "[PAD]", "unk": "[UNK]", "bos": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return {f"{name}_token_id": ids[text] for name, text in names.items()}


@pytest.mark.parametrize("row", ["bert-uncased", "bert-cased"])
@pytest.mark.parametrize("by_brackets", [True, False])
def test_words(row: str, by_brackets: bool, tmp_path: Path) -> None:  # noqa: FBT001
    contents = ROWS[row].contents()
    columns = columns_of_words(contents, by_brackets=by_brackets)
    # The package has no method for them.
    options = {"normalizer.lowercase": contents["normalizer"]["lowercase"]}
    path = write(tmp_path / "model.gguf", "bert", columns, options=options, **word_entries(contents))
    library = tokenizers.Tokenizer.from_str(json.dumps(contents))
    with pytest.warns(UserWarning, match=r"adds \[CLS\], \[SEP\] to each text"):
        encoding = bytemill.Encoding.from_file(path)
    for text in [*TRICKY, *SENTENCES, CODE, *patchworks(9, 300, [])]:
        ids = library.encode(text, add_special_tokens=False).ids
        assert encoding.encode(text, allowed_special="all") == ids
        assert encoding.decode(ids) == library.decode(ids, skip_special_tokens=False)


@pytest.mark.filterwarnings("ignore:.*post-processor:UserWarning")
def test_words_without_a_normalizer(tmp_path: Path) -> None:
    uncased, cased = (ROWS[row].contents() for row in ("bert-uncased", "bert-cased"))
    columns = columns_of_words(uncased, by_brackets=False)
    path = write(tmp_path / "uncased.gguf", "bert", columns, **word_entries(uncased))
    encoding = bytemill.Encoding.from_file(path)
    assert encoding.encode_ordinary("Caf\xe9") == encoding.encode_ordinary("cafe")
    columns = columns_of_words(cased, by_brackets=False)
    path = write(tmp_path / "cased.gguf", "bert", columns, **word_entries(cased))
    with pytest.raises(VocabularyError, match=r"normalizer\.lowercase: expected true or false"):
        bytemill.Encoding.from_file(path)


@pytest.mark.parametrize("prefix", [True, False])
def test_scored_models(prefix: bool, tmp_path: Path) -> None:  # noqa: FBT001
    model = sentencepiece.trained(
        "nmt_nfkc", 1000, model_type="unigram", add_dummy_prefix=prefix, remove_extra_whitespaces=True
    )
    message = sentencepiece.parse(model)
    options: dict[str, Any] = {
        "add_space_prefix": prefix,
        "remove_extra_whitespaces": True,
        "precompiled_charsmap": message.normalizer_spec.precompiled_charsmap,
    }
    path = write(tmp_path / "model.gguf", "t5", columns_of(model), **options)
    encoding = bytemill.Encoding.from_file(path)
    processor = sentencepiece.processor(model)
    for text in [*TRICKY, *SENTENCES, CODE, *patchworks(10, 300, [])]:
        assert encoding.encode_ordinary(text) == processor.encode(text)


@pytest.mark.parametrize(
    ("kind", "reason"), [("rwkv", "greedy search"), ("no_vocab", "no vocabulary"), ("other", "got 'other'")]
)
def test_other_kinds_are_refused_by_name(kind: str, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path / "model.gguf", kind, {"tokens": ["a", "b"], "types": [1, 1]})
    expected = r"tokenizer\.ggml\.model: expected 'bert', 'gpt2', 'llama', 't5', "
    with pytest.raises(VocabularyError, match=rf"{expected}.*{reason}"):
        bytemill.Encoding.from_file(path)


def test_merges_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    contents = ROWS["gpt2"].contents()
    path = write_merges(tmp_path / "family.gguf", "default", contents)
    with pytest.raises(
        VocabularyError, match=r"tokenizer\.ggml\.pre: expected the name of a family.*'default'"
    ):
        bytemill.Encoding.from_file(path)
    columns = columns_of_merges(contents)
    path = write(tmp_path / "merges.gguf", "gpt2", columns, tokenizer_pre="gpt-2")
    with pytest.raises(VocabularyError, match=r"tokenizer\.ggml\.merges: expected a list of texts, got None"):
        bytemill.Encoding.from_file(path)
    columns["tokens"][7] = columns["tokens"][8]
    path = write(tmp_path / "twice.gguf", "gpt2", columns, tokenizer_pre="gpt-2", token_merges=["a b"])
    with pytest.raises(VocabularyError, match=r"expected each token once, got .* at 7 and 8"):
        bytemill.Encoding.from_file(path)
    entries = {"bos_token_id": 10**6, "add_bos_token": True}
    path = write_merges(tmp_path / "first.gguf", "gpt-2", contents, **entries)
    with pytest.raises(VocabularyError, match=r"expected a token 1000000, got \d+ tokens"):
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
    with pytest.raises(
        VocabularyError, match=r"tokenizer\.ggml\.scores: expected a list of numbers, got None"
    ):
        bytemill.Encoding.from_file(tmp_path / "none.gguf")
    twice = columns | {"tokens": ["a"] * len(columns["tokens"])}
    write(tmp_path / "twice.gguf", "llama", twice)
    with pytest.raises(VocabularyError, match="twice"):
        bytemill.Encoding.from_file(tmp_path / "twice.gguf")
