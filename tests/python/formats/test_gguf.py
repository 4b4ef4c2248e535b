"""Vocabularies in GGUF files: each kind has the ids of the library that its model was made with."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import bytemill
import bytemill.sentencepiece
from bytemill.errors import VocabularyError
from bytemill.formats.gguf_splitting import SPLITTINGS
from support import sentencepiece
from support.gguf_files import (
    CONTROL,
    FAMILIES,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    columns_of,
    columns_of_merges,
    columns_of_words,
    contents_of,
    word_entries,
    write,
    write_merges,
    write_pieces,
    write_words,
)
from support.open_models import ROWS
from support.open_models.speech import CODE, SENTENCES, TRICKY, patchworks


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
        add_bos_token=False,
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
    # A file without the entry has the prefix.
    entries: dict[str, Any] = {} if prefix else {"add_space_prefix": False}
    path = write(tmp_path / "model.gguf", "llama", columns_of(model), **entries)
    encoding = bytemill.Encoding.from_file(path)
    processor = sentencepiece.processor(model)
    for text in [*TRICKY, *SENTENCES, CODE, *patchworks(7, 300, [])]:
        assert encoding.encode_ordinary(text) == processor.encode(text)


@pytest.mark.parametrize("form", ["spaces", "marks"])
def test_user_defined_runs_of_spaces(form: str, tmp_path: Path) -> None:
    runs = ["\u2581" * size for size in (2, 3, 4, 8)]
    model = sentencepiece.trained(
        size=1000,
        byte_fallback=True,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        user_defined_symbols=",".join([*runs, "<tag>"]),
    )
    columns = columns_of(model)
    assert "  " in columns["tokens"]
    if form == "marks":
        columns["tokens"] = [text.replace(" ", "\u2581") for text in columns["tokens"]]
    path = write(tmp_path / "model.gguf", "llama", columns, add_space_prefix=False)
    encoding = bytemill.Encoding.from_file(path)
    processor = sentencepiece.processor(model)
    for text in ["a    b", "     a<tag>  b ", *TRICKY, *SENTENCES, CODE, *patchworks(7, 300, [])]:
        assert encoding.encode_ordinary(text) == processor.encode(text)


@pytest.mark.parametrize("kind", ["llama", "t5"])
def test_special_pieces_have_the_names_in_the_file(kind: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {"bos_piece": "<bos>", "eos_piece": "<eos>", "pad_piece": "<fill>", "pad_id": 3}
    model_type = "bpe" if kind == "llama" else "unigram"
    model = sentencepiece.trained(size=500, model_type=model_type, control_symbols="<s>", **names)
    columns = columns_of(model)
    ids = {name: columns["tokens"].index(f"<{name}>") for name in ("bos", "eos", "unk", "fill")}
    entries: dict[str, Any] = {"bos_token_id": ids["bos"], "eos_token_id": ids["eos"]}
    entries |= {"unk_token_id": ids["unk"], "pad_token_id": ids["fill"], "add_bos_token": True}
    path = write(tmp_path / "model.gguf", kind, columns, **entries, add_eos_token=True)
    with pytest.warns(UserWarning, match="adds <bos>, <eos> to each text"):
        encoding = bytemill.Encoding.from_file(path)
    assert encoding.definition.template == (("<bos>",), ("<eos>",))
    ours = bytemill.sentencepiece.SentencePieceProcessor(model_proto=encoding.definition.model)
    assert [ours.bos_id(), ours.eos_id(), ours.unk_id(), ours.pad_id()] == [*ids.values()]
    values, _ = encoding.encode_batch_to_numpy(["the"], add_special_tokens=True)
    processor = sentencepiece.processor(model)
    assert values.tolist() == processor.encode("the", add_bos=True, add_eos=True)


def test_every_family_is_compared() -> None:
    assert set(FAMILIES) == set(SPLITTINGS)


@pytest.mark.parametrize("family", FAMILIES)
def test_merges_of_each_family(family: str, tmp_path: Path) -> None:
    contents = contents_of(family)
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


@pytest.mark.parametrize(("kind", "prefix", "suffix"), [("llama", ["<s>"], []), ("t5", [], ["</s>"])])
def test_tokens_around_texts_if_the_file_does_not_say(
    kind: str, prefix: list[str], suffix: list[str], tmp_path: Path
) -> None:
    model = sentencepiece.trained(size=500, model_type="bpe" if kind == "llama" else "unigram")
    entries: dict[str, Any] = {"bos_token_id": 1, "eos_token_id": 2}
    path = write(tmp_path / "silent.gguf", kind, columns_of(model), **entries)
    with pytest.warns(UserWarning, match=f"adds {(prefix + suffix)[0]} to each text"):
        encoding = bytemill.Encoding.from_file(path)
    assert encoding.definition.template == (tuple(prefix), tuple(suffix))
    path = write(
        tmp_path / "none.gguf", kind, columns_of(model), **entries, add_bos_token=False, add_eos_token=False
    )
    assert bytemill.Encoding.from_file(path).definition.template is None


@pytest.mark.parametrize(("family", "adds"), [("llama-bpe", True), ("tekken", True), ("qwen2", False)])
def test_tokens_around_texts_of_families(family: str, adds: bool, tmp_path: Path) -> None:  # noqa: FBT001
    contents = contents_of(family)
    first = contents["added_tokens"][0]
    path = write_merges(tmp_path / "silent.gguf", family, contents, bos_token_id=first["id"])
    with pytest.warns(UserWarning, match="to each text") if adds else nullcontext():
        encoding = bytemill.Encoding.from_file(path)
    assert encoding.definition.template == (((first["content"],), ()) if adds else None)


@pytest.mark.parametrize("row", ["bert-uncased", "bert-cased"])
@pytest.mark.parametrize("by_brackets", [True, False])
def test_words(row: str, by_brackets: bool, tmp_path: Path) -> None:  # noqa: FBT001
    contents = ROWS[row].contents()
    path = write_words(tmp_path / "model.gguf", contents, by_brackets=by_brackets)
    library = tokenizers.Tokenizer.from_str(json.dumps(contents))
    with pytest.warns(UserWarning, match=r"adds \[CLS\], \[SEP\] to each text"):
        encoding = bytemill.Encoding.from_file(path)
    for text in [*TRICKY, *SENTENCES, CODE, *patchworks(9, 300, [])]:
        ids = library.encode(text, add_special_tokens=False).ids
        assert encoding.encode(text, allowed_special="all") == ids
        assert encoding.decode(ids) == library.decode(ids, skip_special_tokens=False)


@pytest.mark.filterwarnings("ignore:.*post-processor:UserWarning")
def test_added_tokens_of_words(tmp_path: Path) -> None:
    contents = ROWS["bert-uncased"].contents()
    library = tokenizers.Tokenizer.from_str(json.dumps(contents))
    library.add_special_tokens(["<special>", "<line\nfeed>"])
    library.add_tokens([tokenizers.AddedToken("<plain>", normalized=False)])
    columns = columns_of_words(contents, by_brackets=False)
    columns["tokens"] += ["<special>", "\u2581<line\nfeed>", "\u2581<plain>"]
    columns["types"] += [CONTROL, CONTROL, USER_DEFINED]
    options = {"normalizer.lowercase": True}
    path = write(tmp_path / "model.gguf", "bert", columns, options=options, **word_entries(contents))
    encoding = bytemill.Encoding.from_file(path)
    for text in ["the <special> cat", "a<plain>b<line\nfeed>c", "<PLAIN> x"]:
        assert (
            encoding.encode(text, allowed_special="all") == library.encode(text, add_special_tokens=False).ids
        )


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
    path = write_pieces(tmp_path / "model.gguf", model, kind="t5")
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
