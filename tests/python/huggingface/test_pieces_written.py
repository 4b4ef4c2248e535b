"""SentencePiece models written as `tokenizer.json`: the ids of SentencePiece, by tokenizers; else refused."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import bytemill
from bytemill.errors import VocabularyError
from bytemill.formats.huggingface import FORMS, Form, format_pieces, same_choices, tied
from bytemill.formats.sentencepiece_model import definition_of
from bytemill.reference_sentencepiece import MARK, Kind
from support import sentencepiece
from support.command_line import bytemill as command
from support.open_models.speech import CODE, SENTENCES, TRICKY, neighbourhoods, patchworks
from support.texts import multilingual

EXACT = ["mistral-v1", "mistral-v2"]


def texts_with(special: list[str]) -> list[str]:
    mixed = [*TRICKY, *SENTENCES, CODE, multilingual(3, 300), *[" " * count + "x" for count in range(40)]]
    return [*mixed, *neighbourhoods(special[:6]), *patchworks(4, 300, special)]


@pytest.mark.parametrize("name", EXACT)
def test_published_models_have_the_same_ids_in_tokenizers(name: str, tmp_path: Path) -> None:
    encoding = bytemill.Encoding._of(definition_of(sentencepiece.published(name), name, name))
    encoding.save_huggingface(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    processor = sentencepiece.processor(sentencepiece.published(name))
    read = bytemill.Encoding.from_file(tmp_path)
    texts = texts_with(sorted(encoding.special_tokens_set))
    for text, found in zip(texts, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True):
        assert found.ids == encoding.encode(text, allowed_special="all")
        assert found.ids == read.encode(text, allowed_special="all")
    tokenizer.encode_special_tokens = True
    for text, found in zip(texts, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True):
        assert found.ids == processor.encode(text) == read.encode_ordinary(text)
        assert tokenizer.decode(found.ids, skip_special_tokens=False) == encoding.decode(found.ids)
        assert read.decode(found.ids) == encoding.decode(found.ids)


def test_forms(tmp_path: Path) -> None:
    definition = definition_of(edited(add_dummy_prefix=False), "small", "small")
    encoding = bytemill.Encoding._of(definition)
    encoding.save_huggingface(tmp_path / "gemma")
    encoding.save_huggingface(tmp_path / "metaspace", form="metaspace")
    for form, kind in (("gemma", "Split"), ("metaspace", "Metaspace")):
        file = tmp_path / form / "tokenizer.json"
        assert json.loads(file.read_bytes())["pre_tokenizer"]["type"] == kind
        assert Tokenizer.from_file(str(file)).encode(" ab a").ids == encoding.encode(" ab a")
    with pytest.raises(ValueError, match="form= is for SentencePiece models, and 'gpt2' is none"):
        bytemill.get_encoding("gpt2").save_huggingface(tmp_path, form="llama")
    with pytest.raises(ValueError, match="expected a form of llama, gemma, metaspace, got 'other'"):
        encoding.save_huggingface(tmp_path, form="other")  # type: ignore[arg-type]


def test_the_command_line_writes_them(tmp_path: Path) -> None:
    path = sentencepiece.published_path("mistral-v1")
    if path is None:
        pytest.skip("mistral-common is not installed")
    assert command("convert", path, f"huggingface:{tmp_path}").code == 0
    contents = json.loads((tmp_path / "tokenizer.json").read_bytes())
    assert len(contents["model"]["merges"]) > 50_000
    config = json.loads((tmp_path / "tokenizer_config.json").read_bytes())
    assert (config["bos_token"], config["eos_token"]) == ("<s>", "</s>")


def test_symbols_behind_a_prefix_are_refused() -> None:
    definition = definition_of(sentencepiece.published("mistral-v3"), "v3", "v3")
    with pytest.raises(VocabularyError, match="it has user-defined symbols such as"):
        format_pieces(definition)


# --- Models made for the tests ------------------------------------------------------------------------------


def model_of(seed: int) -> Any:
    """Returns a random model whose normalization changes spaces only, as that of models in use."""
    source = random.Random(seed)
    model = sentencepiece.small(source)
    known = {piece.piece for piece in model.pieces}
    if source.random() < 0.9:
        letters = {letter for piece in model.pieces if piece.type == Kind.NORMAL for letter in piece.piece}
        for number, letter in enumerate(sorted(letters - known)):
            model.pieces.add(piece=letter, score=-500.0 - number)
    if source.random() < 0.5:
        add_runs(model, source)
    for piece in model.pieces:
        if piece.score > -1e8 and source.random() < 0.3:
            piece.score = -source.random() * 50
    if source.random() < 0.3:
        for piece in model.pieces:
            if piece.type == Kind.NORMAL and len(piece.piece) > 1 and source.random() < 0.1:
                piece.type = Kind.USER_DEFINED
    if source.random() < 0.3:
        sentencepiece.add_bytes(model, source.randint(0, len(model.pieces)))
    model.normalizer_spec.add_dummy_prefix = source.random() < 0.5
    model.normalizer_spec.remove_extra_whitespaces = False
    return model


def add_runs(model: Any, source: random.Random) -> None:
    """Adds runs of one character, with equal scores."""
    known = {piece.piece for piece in model.pieces}
    letter = source.choice(f"{MARK}a")
    for text in {letter, *[letter * count for count in source.sample(range(2, 10), source.randint(1, 7))]}:
        if text not in known:
            model.pieces.add(piece=text, score=-1e9)
    for piece in model.pieces:
        if len(piece.piece) > 1 and set(piece.piece) == {letter}:
            piece.score = -1e9


def test_random_models_are_exact_or_refused() -> None:
    written = 0
    for seed in range(300):
        model = model_of(seed)
        contents = model.SerializeToString()
        definition = definition_of(contents, "model", "model")
        for form in FORMS:
            try:
                file = format_pieces(definition, form)
            except VocabularyError:
                continue
            written += 1
            tokenizer = Tokenizer.from_str(file.decode())
            tokenizer.encode_special_tokens = True
            processor = sentencepiece.processor(contents)
            for text in sentencepiece.texts(seed, 30, model, 40):
                assert tokenizer.encode(text, add_special_tokens=False).ids == processor.encode(text), seed
    assert written > 100


def edited(**changes: Any) -> bytes:
    """Returns a small model with other rules, options, and pieces of (text, score, kind)."""
    model = sentencepiece.parse()
    model.trainer_spec.model_type = model.trainer_spec.BPE
    model.normalizer_spec.remove_extra_whitespaces = False
    pieces = [
        ("<unk>", 0, Kind.UNKNOWN),
        ("<s>", 0, Kind.CONTROL),
        *[(letter, -99, Kind.NORMAL) for letter in f"{MARK}ab"],
        ("ab", -1, Kind.NORMAL),
    ]
    for text, score, kind in [*pieces, *changes.pop("pieces", [])]:
        model.pieces.add(piece=text, score=score, type=kind)
    for name, value in changes.items():
        owner = model.trainer_spec if name == "treat_whitespace_as_suffix" else model.normalizer_spec
        setattr(owner, name, value)
    contents: bytes = model.SerializeToString()
    return contents


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "other spaces": ({"remove_extra_whitespaces": True}, "expected remove_extra_whitespaces to be False"),
    "spaces stay": ({"escape_whitespaces": False}, "expected escape_whitespaces to be True"),
    "suffix": ({"treat_whitespace_as_suffix": True}, "it puts spaces after texts"),
    "unused": ({"pieces": [("ba", -2, Kind.UNUSED)]}, "the piece 'ba' is unused"),
    "control character": ({"pieces": [("c", 0, Kind.CONTROL)]}, "the piece 'c' is a character"),
    "missing character": ({"pieces": [("ac", -2, Kind.NORMAL)]}, "'c' in the piece 'ac' is no piece"),
    "no number": ({"pieces": [("ba", float("nan"), Kind.NORMAL)]}, "is not a number"),
    "equal scores": ({"pieces": [("ba", -1, Kind.NORMAL)]}, "'ab' and 'ba' have the same score -1.0"),
    "symbols behind a prefix": (
        {"pieces": [("ba", 0, Kind.USER_DEFINED)]},
        "a space would be put after each",
    ),
    "a symbol with a space": (
        {"add_dummy_prefix": False, "pieces": [("b a", 0, Kind.USER_DEFINED)]},
        "'b a' has a space",
    ),
}


@pytest.mark.parametrize(("changes", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_exact_is_refused(changes: dict[str, Any], reason: str) -> None:
    definition = definition_of(edited(**changes), "small", "small")
    with pytest.raises(VocabularyError) as caught:
        format_pieces(definition)
    assert "the SentencePiece model 'small' cannot be written as tokenizer.json: " in str(caught.value)
    assert reason in str(caught.value)


def test_rules_of_normalization_are_refused() -> None:
    definition = definition_of(sentencepiece.trained("nmt_nfkc"), "trained", "trained")
    with pytest.raises(VocabularyError, match="it normalizes texts by the rules 'nmt_nfkc'"):
        format_pieces(definition)


@pytest.mark.parametrize(("form", "prefix"), [("gemma", True), ("metaspace", True), ("llama", False)])
def test_forms_that_treat_spaces_otherwise_are_refused(form: Form, prefix: bool) -> None:  # noqa: FBT001
    definition = definition_of(edited(add_dummy_prefix=prefix), "small", "small")
    with pytest.raises(VocabularyError, match="as the form"):
        format_pieces(definition, form)


def test_special_tokens_with_other_ids_are_refused() -> None:
    definition = definition_of(edited(), "small", "small")
    more = definition._replace(special_tokens=definition.special_tokens | {"<a>": 6, "<b>": 7})
    ids = [token["id"] for token in json.loads(format_pieces(more))["added_tokens"]]
    assert ids == [1, 6, 7]
    gap = definition._replace(special_tokens=definition.special_tokens | {"<a>": 9})
    with pytest.raises(VocabularyError, match="'<a>' has the id 9, but the library gives it 6"):
        format_pieces(gap)


# --- Equal scores -------------------------------------------------------------------------------------------


def test_equal_scores_of_runs() -> None:
    assert same_choices(range(2, 17))
    assert same_choices([2, 4, 8, 16])
    assert same_choices(set(range(2, 17)) - {11})
    assert tied({MARK * count: -1e9 for count in range(2, 17)}) is None
    assert tied({"ab": -1, "cd": -2}) is None
    assert tied({"ab": -1, "cd": -1}) == ("ab", "cd")
    # Another piece has two of the character side by side, and may be merged with a part of a run.
    assert tied({MARK * 2: -9, MARK * 3: -9, f"{MARK * 2}x": -1}) is not None
