"""Files that few programs write, compared with `tokenizers`.

Ids with holes, unknown tokens that are characters, tokens spelled like the names of bytes, words of bytes
with affixes, and special tokens whose characters stand for bytes.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

import bytemill
from bytemill import VocabularyError, hf

pytestmark = pytest.mark.filterwarnings("ignore")

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES = {character: place for place, character in enumerate(sorted(ByteLevel.alphabet()))}
BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]


def added(content: str, token_id: int, *, special: bool = True) -> dict[str, Any]:
    """Returns the entry of an added token."""
    flags = dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word"), False)
    return {"id": token_id, "content": content, "special": special, **flags}


def file(vocab: dict[str, int], tokens: list[dict[str, Any]] | None = None, **more: Any) -> str:
    """Returns the text of a file; `more` are entries of it, and of its model."""
    entries = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    outside: dict[str, Any] = {name: more.pop(name, None) for name in entries}
    model = {"type": "BPE", "vocab": vocab, "merges": [], **more}
    return json.dumps({"version": "1.0", "added_tokens": tokens or [], **outside, "model": model})


def encoding_of(text: str) -> bytemill.Encoding:
    """Returns the encoding of the text of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(text, encoding="utf-8")
        return bytemill.Encoding.from_file(path)


# --- Ids of added tokens ---


@pytest.mark.parametrize(
    ("vocab", "tokens", "expected"),
    [
        ({"a": 0, "b": 5}, [("b", 5), ("x", 6)], {"b": 5, "x": 2}),
        ({"a": 0, "b": 5}, [("x", 6), ("b", 5), ("y", 7)], {"x": 2, "b": 5, "y": 3}),
        ({"a": 0, "b": 9}, [("x", 1), ("y", 2), ("x", 3), ("z", 4)], {"x": 2, "y": 3, "z": 4}),
    ],
)
def test_new_ids_follow_the_number_of_tokens(
    vocab: dict[str, int], tokens: list[tuple[str, int]], expected: dict[str, int]
) -> None:
    text = file(vocab, [added(*token) for token in tokens])
    theirs = Tokenizer.from_str(text)
    found = {content: theirs.token_to_id(content) for content in expected}
    assert found == expected
    ours = encoding_of(text)
    assert {content: ours.encode(content, allowed_special="all") for content in expected} == {
        content: [token_id] for content, token_id in expected.items()
    }


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "gpt2"])
def test_a_token_is_added_to_a_written_file(name: str, tmp_path: Path) -> None:
    """Our file, extended by `transformers` and saved again, has the ids that its readers give."""
    fast = pytest.importorskip("transformers").PreTrainedTokenizerFast
    bytemill.get_encoding(name).save_huggingface(tmp_path / "written")
    tokenizer = fast(tokenizer_file=str(tmp_path / "written" / "tokenizer.json"))
    tokenizer.add_tokens(["<new>"])
    tokenizer.save_pretrained(str(tmp_path / "extended"))
    path = tmp_path / "extended" / "tokenizer.json"
    expected: Any = Tokenizer.from_file(str(path)).encode("hi<new> there").ids
    assert bytemill.Encoding.from_file(path).encode("hi<new> there", allowed_special="all") == expected
    assert hf.Tokenizer.from_file(str(path)).encode("hi<new> there").ids == expected


def test_a_tokenizer_in_use_whose_ids_change_when_it_is_saved_is_refused(tmp_path: Path) -> None:
    """The encoding would not have the ids of the object that it is made from."""
    bytemill.get_encoding("cl100k_base").save_huggingface(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    text = "hi<|endoftext|>"
    assert bytemill.Encoding.from_huggingface(tokenizer).encode(text, allowed_special="all") == [6151, 100257]
    tokenizer.add_tokens(["<new>"])
    with pytest.raises(VocabularyError, match=r"<new>.* has the id 100277 in the tokenizer, and 100261 once"):
        bytemill.Encoding.from_huggingface(tokenizer)
    again = Tokenizer.from_str(tokenizer.to_str())
    expected: Any = again.encode("hi<new>").ids
    assert expected == [6151, 100261]
    ours = bytemill.Encoding.from_huggingface(again)
    assert ours.encode_ordinary("hi<new>") == expected


# --- What becomes of characters ---


def test_unknown_tokens_are_fused_but_not_with_characters() -> None:
    for unknown in ("?", "�", "▁"):
        text = file({unknown: 0, "b": 1}, unk_token=unknown, fuse_unk=True)
        theirs, ours = Tokenizer.from_str(text), encoding_of(text)
        for sample in (f"b{unknown}{unknown}", f"x{unknown}x", f"xx{unknown}b xx", f"{unknown}xb{unknown}"):
            encoded: Any = theirs.encode(sample)
            assert ours.encode_ordinary(sample) == encoded.ids, sample
            found = ours.encode_with_offsets(sample)
            assert found.ids.tolist() == encoded.ids, sample
            spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
            assert list(spans) == encoded.offsets, sample


def test_a_whole_piece_is_found_by_its_spelling() -> None:
    vocab = {name: byte for byte, name in enumerate(BYTE_NAMES)} | {
        character: 256 + place for place, character in enumerate("<0x41>a")
    }
    text = file(vocab, pre_tokenizer={"type": "WhitespaceSplit"}, byte_fallback=True, ignore_merges=True)
    theirs, ours = Tokenizer.from_str(text), encoding_of(text)
    assert ours.encode_ordinary("a <0x41>") == [262, 65]
    for sample in ("<0x41>", "<0x41>a", "a<0x41> <0x4> <0x42>", "<0xFF> <0xff>", "é <0xC3>"):
        encoded: Any = theirs.encode(sample)
        assert ours.encode_ordinary(sample) == encoded.ids, sample
        assert ours.encode_with_offsets(sample).ids.tolist() == encoded.ids, sample


def test_a_whole_piece_is_found_where_an_added_token_has_its_id() -> None:
    vocab = {"a": 0, "b": 1, "ab": 3}
    text = file(vocab, [added("x", 3, special=False)], ignore_merges=True)
    theirs, ours = Tokenizer.from_str(text), encoding_of(text)
    for sample in ("ab", "a", "abx", "xab", "ba"):
        assert ours.encode_ordinary(sample) == theirs.encode(sample).ids, sample


def test_a_character_is_not_its_byte_where_an_added_token_has_its_id() -> None:
    token = added("A", 1, special=False) | {"normalized": True}
    options: dict[str, Any] = {"byte_fallback": True, "ignore_merges": True}
    text = file(
        {"x": 0, "A": 1, "<0x41>": 2}, [token], normalizer={"type": "Prepend", "prepend": "x"}, **options
    )
    theirs, ours = Tokenizer.from_str(text), encoding_of(text)
    for sample in ("AA", "A", "AAA", "B"):
        assert ours.encode_ordinary(sample) == theirs.encode(sample).ids, sample


@pytest.mark.parametrize("affix", ["end_of_word_suffix", "continuing_subword_prefix"])
def test_a_missing_unknown_token_is_refused_if_it_may_be_needed(affix: str) -> None:
    """Where the original raises for some text, no character is dropped in silence."""
    more: dict[str, Any] = {"pre_tokenizer": BYTE_LEVEL, "unk_token": "<unk>", affix: "##"}
    theirs = Tokenizer.from_str(file(BYTES, **more))
    with pytest.raises(Exception, match="Unk token"):
        theirs.encode("az")
    with pytest.raises(VocabularyError, match="<unk>"):
        encoding_of(file(BYTES, **more))
    form = "{}##" if affix == "end_of_word_suffix" else "##{}"
    every = BYTES | {form.format(character): 256 + place for character, place in BYTES.items()}
    text = file(every, **more)
    assert encoding_of(text).encode_ordinary("az é") == Tokenizer.from_str(text).encode("az é").ids


def test_a_token_of_byte_characters_is_decoded_as_the_original_does() -> None:
    for content in ("đe", "§", "«s»", "é", "<s>", "[é ]", "中"):
        text = file(BYTES, [added(content, 256)], pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL)
        theirs, ours = Tokenizer.from_str(text), encoding_of(text)
        token_id = theirs.token_to_id(content)
        assert token_id is not None
        expected = theirs.decode([72, token_id, 73], skip_special_tokens=False)
        assert ours.decode([72, token_id, 73]) == expected, content
        assert ours.encode(f"a{content}b", allowed_special="all") == theirs.encode(f"a{content}b").ids


def test_offsets_of_bytes_of_an_affix() -> None:
    """The original has them outside of the word, where they mean nothing; ours are those of the word."""
    fast = pytest.importorskip("transformers").PreTrainedTokenizerFast
    vocab = {name: byte for byte, name in enumerate(BYTE_NAMES)} | {"a</w>": 256}
    splits = {"type": "WhitespaceSplit"}
    text = file(vocab, pre_tokenizer=splits, byte_fallback=True, end_of_word_suffix="</w>")
    original: Any = Tokenizer.from_str(text).encode("a x a")
    found = encoding_of(text).encode_with_offsets("a x a")
    assert found.ids.tolist() == original.ids == [256, *b"x</w>", 256]
    spans = [*zip(found.starts.tolist(), found.ends.tolist(), strict=True)]
    assert spans == [(0, 1), *[(2, 3)] * 5, (4, 5)]
    # An accelerated tokenizer returns what it returned before.
    accelerated, before = (fast(tokenizer_object=Tokenizer.from_str(text)) for _ in range(2))
    hf.accelerate(accelerated)
    assert accelerated("a x a", return_offsets_mapping=True) == before("a x a", return_offsets_mapping=True)
    assert accelerated("a x a")["input_ids"] == original.ids


# --- Other models ---


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ({"type": "Other", "vocab": {"a": 0}}, "Other"),
        ({"type": "unigram", "vocab": [["a", -1.0]]}, "unigram"),
    ],
)
def test_other_models_are_named(model: dict[str, Any], name: str) -> None:
    """Early files do not say the type."""
    contents = json.loads(file({})) | {"model": model}
    with pytest.raises(
        VocabularyError,
        match=f"model.type: expected BPE, Unigram, WordPiece or WordLevel, got {name}: use the package",
    ):
        encoding_of(json.dumps(contents))


# --- Fields that the original refuses ---


FLAGS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
SPLIT = {"type": "Split", "behavior": "Isolated", "invert": False}
REPLACE = {"type": "Replace", "content": "z"}
MARKS = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
PUNCTUATION = {"type": "Punctuation"}
BYTE_LEVELS = ("pre_tokenizer", "post_processor", "decoder")


@pytest.mark.parametrize(
    ("entry", "sound", "wrong", "path"),
    [
        *(
            (
                entry,
                FLAGS,
                {key: value for key, value in FLAGS.items() if key != missing},
                f"{entry}.{missing}",
            )
            for entry in BYTE_LEVELS
            for missing in ("add_prefix_space", "trim_offsets")
        ),
        *(
            (entry, FLAGS, {**FLAGS, "trim_offsets": "true"}, f"{entry}.trim_offsets")
            for entry in BYTE_LEVELS
        ),
        *((entry, FLAGS, {**FLAGS, "use_regex": None}, f"{entry}.use_regex") for entry in BYTE_LEVELS),
        (
            "pre_tokenizer",
            {"type": "CharDelimiterSplit", "delimiter": "a"},
            {"type": "CharDelimiterSplit", "delimiter": "ab"},
            "pre_tokenizer.delimiter",
        ),
        *(
            (entry, step | {"pattern": {"String": "a"}}, step | {"pattern": {"String": "a", **more}}, entry)
            for entry, step in (("pre_tokenizer", SPLIT), ("normalizer", REPLACE), ("decoder", REPLACE))
            for more in ({"X": 1}, {"Regex": None})
        ),
        ("pre_tokenizer", PUNCTUATION, {**PUNCTUATION, "behavior": None}, "pre_tokenizer.behavior"),
        *(
            (entry, MARKS, {**MARKS, "prepend_scheme": None}, f"{entry}.prepend_scheme")
            for entry in ("pre_tokenizer", "decoder")
        ),
        ("dropout", 0.0, -0.5, "model.dropout"),
        ("dropout", None, -1, "model.dropout"),
    ],
)
def test_fields_that_are_refused(entry: str, sound: Any, wrong: Any, path: str) -> None:
    vocab = dict(BYTES)
    vocab["▁"] = len(vocab)
    for read in (Tokenizer.from_str, encoding_of):
        read(file(vocab, **{entry: sound}))
    text = file(vocab, **{entry: wrong})
    with pytest.raises(Exception, match=r"line 1 column|Dropout should be"):
        Tokenizer.from_str(text)
    with pytest.raises(VocabularyError, match=rf": {re.escape(path)}[.a-z]*: expected"):
        encoding_of(text)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("version", "version: expected a string, got null"),
        ("type", "model.type: expected a string, got null"),
        ("byte_fallback", "model.byte_fallback: expected true or false, got null"),
    ],
)
def test_fields_that_may_be_missing_and_not_null(field: str, message: str) -> None:
    model = {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 0, "byte_fallback": False}
    contents = json.loads(file({})) | {"model": model}
    owner = contents if field == "version" else contents["model"]
    owner[field] = None
    with pytest.raises(Exception, match="line 1 column"):
        Tokenizer.from_str(json.dumps(contents))
    with pytest.raises(VocabularyError, match=message):
        encoding_of(json.dumps(contents))
    del owner[field]
    for read in (Tokenizer.from_str, encoding_of):
        read(json.dumps(contents))


# --- Unusual combinations ---


def test_two_steps_that_write_marks_are_refused() -> None:
    marks = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": False}
    steps = [marks, {"type": "WhitespaceSplit"}, marks | {"prepend_scheme": "always", "split": True}]
    text = file({"a": 0}, pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
    with pytest.raises(bytemill.VocabularyError, match="Metaspace is there twice"):
        encoding_of(text)


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
@pytest.mark.parametrize("splits", [True, False])
def test_bytes_behind_marks_are_refused(scheme: str, splits: bool) -> None:  # noqa: FBT001
    steps = [
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": splits},
        {**BYTE_LEVEL, "use_regex": False},
    ]
    text = file(BYTES, pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
    Tokenizer.from_str(text)
    with pytest.raises(VocabularyError, match=r"pretokenizers\[1\]\.type: ByteLevel behind Metaspace"):
        encoding_of(text)


@pytest.mark.parametrize("ignores", [True, False])
@pytest.mark.parametrize("affix", ["", "##"])
def test_letters_of_bytes_are_spelt_by_their_own_bytes(ignores: bool, affix: str) -> None:  # noqa: FBT001
    vocab = {name: place for place, name in enumerate(BYTE_NAMES)} | {"a": 256, "ab": 257}
    options: dict[str, Any] = {"byte_fallback": True, "ignore_merges": ignores}
    if affix and not ignores:
        options["continuing_subword_prefix"] = affix
    text = file(vocab, pre_tokenizer={**BYTE_LEVEL, "use_regex": False}, **options)
    theirs, ours = Tokenizer.from_str(text), hf.Tokenizer.from_str(text)
    for sample in ("\n", " ", "a", "ab", "a\n", "\n\n", "b", "é", "\x00", "a é\n"):
        assert ours.encode(sample).ids == theirs.encode(sample).ids, sample
        assert ours.encode(sample).tokens == theirs.encode(sample).tokens, sample
