"""Files of vocabularies: which format they are, what is read and what is written, and what is refused."""

# ruff: noqa: S106, S311 - tokens are no passwords, and what is random can be repeated

from __future__ import annotations

import base64
import errno
import itertools
import json
import pickle
import random
import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex  # type: ignore[import-untyped]  # noqa: TID251 - what minbpe splits with
import tiktoken
import tiktoken.load
from tokenizers import Tokenizer, models, pre_tokenizers

import bytemill
from bytemill import Encoding, hf
from bytemill.definition import Definition, Loaded, Template
from bytemill.errors import PatternError, VocabularyError
from bytemill.fingerprint import vocabulary_sha256
from bytemill.formats.tiktoken_ranks import format_ranks
from bytemill.minbpe import BasicTokenizer, RegexTokenizer
from bytemill.patterns import GPT2_PATTERN, PATTERNS, R50K_PATTERN, WHOLE_TEXT_PATTERN
from support import texts
from support.native_files import native_version_1, with_checksum
from support.toys import BYTE_RANKS

EOT = "<|endoftext|>"
CORPUS = [Path(__file__).read_text(encoding="utf-8"), texts.multilingual(1, 300)]
SAMPLES = [*CORPUS, texts.patchwork(2, 3000), f"a{EOT}b <|other|>{EOT} c<|endoftext", "", "  \n\n x"]


@pytest.fixture(autouse=True)
def tiktoken_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would copy local files there."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")


def toy(pattern: str = "cl100k", size: int = 500, special: dict[str, int] | None = None) -> Encoding:
    trained = bytemill.train(CORPUS, size, pattern=pattern, progress=False, name="toy")
    return Encoding(
        "toy",
        pat_str=trained._pat_str,
        mergeable_ranks=trained._mergeable_ranks,
        special_tokens=special or {EOT: size + 7, "<|other|>": size + 20},
    )


def assert_equal(read: Encoding, written: Encoding) -> None:
    """The same encoding, but for its name and the spelling of its pattern."""
    assert read._mergeable_ranks == written._mergeable_ranks
    assert read._special_tokens == written._special_tokens
    for text in SAMPLES:
        assert read.encode(text, allowed_special="all") == written.encode(text, allowed_special="all")


def refuses(path: Path, reason: str, error: type[Exception] = VocabularyError, **options: Any) -> None:
    with pytest.raises(error) as caught:
        Encoding.from_file(path, **options)
    assert str(path.parent) in str(caught.value)
    assert reason in str(caught.value)


def write(path: Path, contents: bytes) -> Path:
    path.write_bytes(contents)
    return path


# --- tiktoken ---


def test_tiktoken_objects_there_and_back() -> None:
    encoding = toy("o200k")
    theirs = encoding.to_tiktoken()
    assert isinstance(theirs, tiktoken.Encoding)
    for text in SAMPLES:
        assert theirs.encode(text, allowed_special="all") == encoding.encode(text, allowed_special="all")
    back = Encoding.from_tiktoken(theirs)
    assert back.__getstate__() == encoding.__getstate__()
    with pytest.raises(TypeError, match="expected an encoding of tiktoken, got dict"):
        Encoding.from_tiktoken({})  # type: ignore[arg-type]


def test_the_real_encodings_of_tiktoken(
    monkeypatch: pytest.MonkeyPatch, tiktoken_cache: Path, tiktoken_encodings: Mapping[str, tiktoken.Encoding]
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tiktoken_cache))
    encoding = Encoding.from_tiktoken(tiktoken_encodings["p50k_edit"])
    assert_equal(encoding, bytemill.get_encoding("p50k_edit"))
    assert encoding.name == "p50k_edit"


@pytest.mark.filterwarnings("ignore:the special token")
def test_special_tokens_that_tiktoken_may_confuse_are_not_converted() -> None:
    encoding = toy(special={"<|a|>": 600, "<|a|><|b|>": 601})
    with pytest.raises(VocabularyError, match=r"tiktoken may find '<\|a\|>'"):
        encoding.to_tiktoken()


def test_a_tiktoken_that_disagrees_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = tiktoken.Encoding
    monkeypatch.setattr(tiktoken, "Encoding", lambda name, **parts: real(name, **parts | {"pat_str": "."}))
    with pytest.raises(VocabularyError, match="tiktoken gives different token IDs for"):
        toy().to_tiktoken()


def test_tiktoken_files(tmp_path: Path) -> None:
    encoding = toy("llama3")
    path = tmp_path / "mine.tiktoken"
    encoding.save_tiktoken(path)
    assert tiktoken.load.load_tiktoken_bpe(str(path)) == encoding._mergeable_ranks
    # Llama 3's and Qwen's files have this format and other names.
    for name in ("mine.tiktoken", "tiktoken.model", "tokenizer.model", "qwen.tiktoken"):
        (tmp_path / name).write_bytes(path.read_bytes())
        read = Encoding.from_file(tmp_path / name, pattern="llama3", special_tokens=encoding._special_tokens)
        assert_equal(read, encoding)
        assert read.name == (name.split(".")[0] if name.endswith(".tiktoken") else tmp_path.name)
    path.unlink()
    (tmp_path / "qwen.tiktoken").unlink()
    # Of a folder that has one of them.
    for name in ("tiktoken.model", "tokenizer.model"):
        read = Encoding.from_file(
            tmp_path, pattern=PATTERNS["llama3"], special_tokens=encoding._special_tokens
        )
        assert_equal(read, encoding)
        (tmp_path / name).unlink()


def test_tiktoken_files_need_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "mine.tiktoken"
    toy().save_tiktoken(path)
    refuses(path, "has no pattern: expected pattern=, a name such as 'cl100k'", ValueError)
    with pytest.raises(ValueError, match="unknown pattern 'cl101k'"):
        Encoding.from_file(path, pattern="cl101k")
    with pytest.raises(PatternError):
        Encoding.from_file(path, pattern="(")
    whole = Encoding.from_file(path, pattern=WHOLE_TEXT_PATTERN)
    assert whole._pat_str == WHOLE_TEXT_PATTERN


MALFORMED_RANKS = {
    "missing byte": (
        lambda lines: lines[1:],
        "expected a token for each of the 256 bytes, got none for 0x00",
    ),
    "missing bytes": (
        lambda lines: lines[100:],
        "got none for 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, ...",
    ),
    "huge rank": (lambda lines: [*lines, b"YWI= 99999999999"], "line 257: expected a rank below 4294967295"),
    "empty token": (lambda lines: [*lines, b" 256"], "line 257: expected a token and a rank, got 1 fields"),
    "damaged": (lambda lines: [*lines, b"Y"], "line 257"),
    "repeated": (lambda lines: [*lines, lines[0]], "line 257: the token is in line 1 already"),
}


@pytest.mark.parametrize(("change", "reason"), MALFORMED_RANKS.values(), ids=MALFORMED_RANKS)
def test_malformed_tiktoken_files(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], reason: str
) -> None:
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(b"\n".join(change(format_ranks(BYTE_RANKS).splitlines())))
    refuses(path, reason, pattern="cl100k")


# --- GPT-2 ---


@pytest.mark.parametrize("names", [("vocab.bpe", "encoder.json"), ("merges.txt", "vocab.json")])
def test_gpt2_files(tmp_path: Path, names: tuple[str, str]) -> None:
    encoding = toy("gpt2")
    encoding.save_gpt2(tmp_path, file_names=names)
    for path in (tmp_path, *(tmp_path / name for name in names)):
        read = Encoding.from_file(path)
        assert_equal(read, encoding)
        assert (read.name, read._pat_str) == (tmp_path.name, GPT2_PATTERN)
    tokenizer = Tokenizer(models.BPE.from_file(str(tmp_path / names[1]), str(tmp_path / names[0])))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    for text in SAMPLES:
        assert tokenizer.encode(text).ids == encoding.encode_ordinary(text)


def test_gpt2_files_in_tiktoken(tmp_path: Path) -> None:
    encoding = toy("gpt2", special={EOT: 500})  # it knows no other special token
    encoding.save_gpt2(tmp_path)
    paths = (str(tmp_path / "vocab.bpe"), str(tmp_path / "encoder.json"))
    ranks = tiktoken.load.data_gym_to_mergeable_bpe_ranks(*paths, clobber_one_byte_tokens=True)
    assert ranks == encoding._mergeable_ranks


def test_gpt2_itself(tmp_path: Path) -> None:
    gpt2 = bytemill.get_encoding("gpt2")
    gpt2.save_gpt2(tmp_path)
    merges, ids = (str(tmp_path / name) for name in ("vocab.bpe", "encoder.json"))
    assert tiktoken.load.data_gym_to_mergeable_bpe_ranks(merges, ids) == gpt2._mergeable_ranks
    assert_equal(Encoding.from_file(tmp_path), gpt2)


def test_the_pattern_of_gpt2_files_may_be_another(tmp_path: Path) -> None:
    encoding = toy("gpt2")
    encoding.save_gpt2(tmp_path)
    assert Encoding.from_file(tmp_path, pattern="qwen2")._pat_str == PATTERNS["qwen2"]
    with pytest.raises(VocabularyError, match="its readers cut text by GPT-2's pattern"):
        toy("qwen2").save_gpt2(tmp_path)


def write_json(path: Path, contents: object) -> None:
    path.write_text(json.dumps(contents), encoding="utf-8")


def test_gpt2_files_with_the_configuration_of_transformers(tmp_path: Path) -> None:
    encoding = toy("gpt2")
    encoding.save_gpt2(tmp_path, file_names=("merges.txt", "vocab.json"))
    token = {"content": EOT, "lstrip": False, "normalized": True, "rstrip": False, "single_word": False}
    config = {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": False, "bos_token": token}
    write_json(tmp_path / "tokenizer_config.json", config)
    write_json(tmp_path / "special_tokens_map.json", {"bos_token": EOT, "unk_token": EOT})
    assert_equal(Encoding.from_file(tmp_path), encoding)
    # Of numbers only, as files with IDs are.
    write_json(tmp_path / "tokenizer_config.json", {"model_max_length": 1024})
    assert_equal(Encoding.from_file(tmp_path), encoding)
    write_json(tmp_path / "tokenizer_config.json", config | {"add_bos_token": True})
    with pytest.warns(UserWarning, match=r"adds <\|endoftext\|> to each text"):
        read = Encoding.from_file(tmp_path / "merges.txt")
    assert read.definition.template == Template((EOT,), ())


@pytest.mark.parametrize(
    ("config", "prefix", "suffix"),
    [
        ({"add_bos_token": True, "bos_token": EOT}, [EOT], []),
        ({"add_bos_token": True}, [EOT], []),
        ({"add_bos_token": True, "bos_token": None}, [], []),
        ({"add_eos_token": True, "eos_token": EOT}, [], [EOT]),
        ({"add_bos_token": True, "add_eos_token": True}, [EOT], [EOT]),
        ({"add_bos_token": False, "bos_token": EOT}, [], []),
    ],
)
@pytest.mark.filterwarnings("ignore:.*adds")
def test_gpt2_files_say_which_tokens_are_added(
    config: dict[str, Any], prefix: list[str], suffix: list[str], tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    toy("gpt2").save_gpt2(tmp_path, file_names=("merges.txt", "vocab.json"))
    write_json(tmp_path / "tokenizer_config.json", {"tokenizer_class": "GPT2Tokenizer"} | config)
    encoding = Encoding.from_file(tmp_path)
    ids, _ = encoding.encode_batch_to_numpy(["a b"], add_special_tokens=True)
    expected = [[encoding.encode_single_token(token) for token in part] for part in (prefix, suffix)]
    assert ids.tolist() == [*expected[0], *encoding.encode("a b"), *expected[1]]
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs("a b")["input_ids"] == ids.tolist()


@pytest.mark.parametrize(
    ("name", "contents", "reason"),
    [
        (
            "tokenizer_config.json",
            {"tokenizer_class": "Qwen2Tokenizer"},
            "tokenizer_class: expected a tokenizer of GPT2, CodeGen, got Qwen2Tokenizer",
        ),
        ("tokenizer_config.json", {"add_prefix_space": True}, "add_prefix_space: expected false"),
        ("tokenizer_config.json", {"pad_token": "<pad>"}, "pad_token: the vocabulary has no such special"),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {"7": {"content": EOT}}},
            "added_tokens_decoder.7: the vocabulary has no such special token",
        ),
        (
            "special_tokens_map.json",
            {"additional_special_tokens": [{"content": EOT, "rstrip": True}]},
            r"additional_special_tokens[0]: rstrip is not supported without a tokenizer.json",
        ),
        ("added_tokens.json", {"<new>": 50257}, "no such special token: '<new>'"),
        ("added_tokens.json", {EOT: 7}, "no such special token: '<|endoftext|>'"),
        ("added_tokens.json", {EOT: "7"}, "expected an integer"),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {"x": {"content": EOT}}},
            "added_tokens_decoder: expected IDs as keys, got 'x'",
        ),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {"9" * 5000: {"content": EOT}}},
            "added_tokens_decoder: expected IDs as keys, got '999",
        ),
        (
            "tokenizer_config.json",
            {"extra_special_tokens": {"a_token": "<a>"}},
            "extra_special_tokens.a_token",
        ),
    ],
)
def test_gpt2_files_beside_what_they_cannot_say(
    tmp_path: Path, name: str, contents: object, reason: str
) -> None:
    encoding = toy("gpt2")
    encoding.save_gpt2(tmp_path, file_names=("merges.txt", "vocab.json"))
    write_json(tmp_path / name, contents)
    refuses(tmp_path, reason)
    # With a pattern, the two files alone are read.
    assert_equal(Encoding.from_file(tmp_path, pattern="gpt2"), encoding)


def test_what_gpt2_files_cannot_hold(tmp_path: Path) -> None:
    special = {"the": 700}
    with pytest.raises(VocabularyError, match=r"\['the'\] would be mergeable tokens"):
        toy("gpt2", special=special).save_gpt2(tmp_path)
    with pytest.raises(VocabularyError, match=r"special tokens are in <> or \[\]: \['EOS'\] would be taken"):
        toy("gpt2", special={"EOS": 700}).save_gpt2(tmp_path)
    orphan = Encoding(
        "x", pat_str=R50K_PATTERN, mergeable_ranks=BYTE_RANKS | {b"abc": 256}, special_tokens={}
    )
    with pytest.raises(VocabularyError, match=r"no merges make the token b'abc' with the id 256"):
        orphan.save_gpt2(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_malformed_gpt2_files(tmp_path: Path) -> None:
    toy("gpt2").save_gpt2(tmp_path)
    merges, ids = tmp_path / "vocab.bpe", tmp_path / "encoder.json"
    contents = json.loads(ids.read_bytes())
    lines = merges.read_text(encoding="utf-8").splitlines()
    merges.write_text("\n".join([lines[0], *reversed(lines[1:])]), encoding="utf-8")
    refuses(merges, "cannot be encoded exactly")
    merges.write_text("\n".join([*lines, "a"]), encoding="utf-8")
    refuses(merges, f"in {merges}: line {len(lines) + 1}: expected two parts, got 1")
    merges.write_text("\n".join(lines[:-50]), encoding="utf-8")
    refuses(merges, "is a file cut short?")
    merges.write_text("\n".join(lines), encoding="utf-8")
    ids.write_text(json.dumps(contents | {"!": -1}), encoding="utf-8")
    refuses(ids, "['!']: expected an integer from 0 to")
    ids.write_text(json.dumps(contents | {"!": 300}), encoding="utf-8")
    refuses(ids, "have the same id 300")
    ids.write_text(
        json.dumps({text: token_id for text, token_id in contents.items() if text != "!"}), encoding="utf-8"
    )
    refuses(ids, "got none for 0x21")
    merges.unlink()
    refuses(ids, "expected vocab.bpe or merges.txt beside it")
    merges.write_text("\n".join(lines), encoding="utf-8")
    ids.unlink()
    refuses(merges, "expected encoder.json or vocab.json beside it")


# --- minbpe ---


def minbpe_encode(tokenizer: BasicTokenizer | RegexTokenizer, piece: bytes) -> list[int]:
    """Encodes as minbpe's loop: merges the pair that training merged first, everywhere, and repeats."""
    ids = list(piece)
    while pairs := [pair for pair in pairwise(ids) if pair in tokenizer.merges]:
        first = min(pairs, key=tokenizer.merges.__getitem__)
        merged: list[int] = []
        i = 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == first
            merged.append(tokenizer.merges[first] if found else ids[i])
            i += 2 if found else 1
        ids = merged
    return ids


@pytest.mark.parametrize("kind", [BasicTokenizer, RegexTokenizer])
def test_minbpe_files(tmp_path: Path, kind: type[BasicTokenizer | RegexTokenizer]) -> None:
    tokenizer = kind()
    tokenizer.train(CORPUS[0], 400)
    if isinstance(tokenizer, RegexTokenizer):
        tokenizer.register_special_tokens({EOT: 1000, "<|other|>": 1001})
    tokenizer.save(tmp_path / "mine")
    encoding = Encoding.from_file(tmp_path / "mine.model")
    assert encoding.name == "mine"
    assert encoding._special_tokens == tokenizer.special_tokens
    for text in ["hello world", "the lowest of the low", CORPUS[0][:300]]:
        ids = [
            token_id
            for piece in encoding._core_bpe.split(text)
            for token_id in minbpe_encode(tokenizer, piece.encode())
        ]
        assert encoding.encode_ordinary(text) == ids
    encoding.save_minbpe(tmp_path / "again")
    for suffix in ("model", "vocab"):
        assert (tmp_path / f"again.{suffix}").read_bytes() == (tmp_path / f"mine.{suffix}").read_bytes()
    again = kind()
    again.load(tmp_path / "again.model")
    assert (again.merges, again.pattern, again.special_tokens) == (
        tokenizer.merges,
        tokenizer.pattern,
        tokenizer.special_tokens,
    )


@pytest.mark.filterwarnings("ignore:the special token")
def test_minbpe_takes_the_first_special_token_that_matches(tmp_path: Path) -> None:
    encoding = toy(special={"<|a|>": 600, "<|a|><|b|>": 601})
    encoding.save_minbpe(tmp_path / "mine")
    lines = (tmp_path / "mine.model").read_text(encoding="utf-8").splitlines()
    assert lines[3:5] == ["<|a|><|b|> 601", "<|a|> 600"]
    assert_equal(Encoding.from_file(tmp_path / "mine.model"), encoding)
    lines[3:5] = lines[4:2:-1]
    (tmp_path / "mine.model").write_text("\n".join(lines), encoding="utf-8")
    refuses(tmp_path / "mine.model", "minbpe never finds the special token '<|a|><|b|>'")


def test_what_minbpe_files_cannot_hold(tmp_path: Path) -> None:
    for encoding, reason in (
        (bytemill.get_encoding("cl100k_base"), "expected the ids 0 to 255 for the bytes in their order"),
        (toy(special={"a b": 600}), "the special token 'a b' cannot be written"),
        (toy(r"\w+|\W+"), "cannot be translated to or from Python's"),
        (toy(r"(a)|[^a]"), "of a group that captures"),
        (toy(special={"<|a|>": 600, "<|b|>": 600}), "have the same id 600"),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - each has its own reason
            encoding.save_minbpe(tmp_path / "mine")
        assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


MALFORMED_MODELS = {
    "the same bytes": ("97 97\n97 256\n256 97\n", "IDs 257 and 258 are both of b'aaa'"),
    "another order": ("97 98\n98 99\n97 257\n", "cannot be encoded exactly"),
    "unknown part": ("97 256\n", "line 4: expected two IDs from 0 to 255"),
    "no number": ("97 x\n", "line 4"),
}


@pytest.mark.parametrize(("merges", "reason"), MALFORMED_MODELS.values(), ids=MALFORMED_MODELS)
def test_malformed_minbpe_files(tmp_path: Path, merges: str, reason: str) -> None:
    path = tmp_path / "mine.model"
    path.write_text(f"minbpe v1\n\n0\n{merges}", encoding="utf-8")
    refuses(path, reason)


def test_minbpe_files_with_other_patterns_and_versions(tmp_path: Path) -> None:
    path = tmp_path / "mine.model"
    path.write_text("minbpe v1\n\\w+|\\W+\n0\n", encoding="utf-8")
    refuses(path, "line 2: the pattern '\\\\w+|\\\\W+' cannot be translated")
    # What minbpe asks for pieces gives it what is in a group.
    assert regex.findall("(a)|[^a]", "ab") == ["a", ""]
    path.write_text("minbpe v1\n(a)|[^a]\n0\n", encoding="utf-8")
    refuses(path, "of a group that captures")
    path.write_text("minbpe v2\n\n0\n", encoding="utf-8")
    refuses(path, "line 1: expected 'minbpe v1'")
    path.write_text("minbpe v1\n\n1\n<|a|> -5\n", encoding="utf-8")
    refuses(path, "'<|a|> -5'")


@pytest.mark.parametrize("pattern", [r"[a-z]+", r"\d| ?\p{L}+", r"[^\s]++|\s(?!\S)"])
def test_minbpe_files_drop_what_minbpe_drops(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "mine.model"
    path.write_text(f"minbpe v1\n{pattern}\n0\n97 98\n", encoding="utf-8")
    encoding = Encoding.from_file(path)
    for text in ("ab, cab 12 \n\n 中文", CORPUS[0]):
        kept = "".join(regex.findall(pattern, text))
        assert 0 < len(kept) < len(text)
        assert encoding.decode(encoding.encode_ordinary(text)) == kept


# --- tekken ---


def tekken(**config: Any) -> dict[str, Any]:
    """A small file as Mistral's: more tokens than are in use, and special tokens without a name."""
    tokens = [*BYTE_RANKS, b"ab", b"abc", b" ab", b"unused"]
    return {
        "config": {
            "pattern": PATTERNS["llama3"],
            "num_vocab_tokens": 260,
            "default_vocab_size": 269,
            "default_num_special_tokens": 10,
            "version": "v13",
        }
        | config,
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": i, "token_str": text, "is_control": True}
            for i, text in enumerate(("<unk>", "<s>", "</s>"))
        ],
    }


def test_tekken_files(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    file = tekken()
    path.write_text(json.dumps(file), encoding="utf-8")
    encoding = Encoding.from_file(tmp_path)
    # Mistral's library asks tiktoken for ranks and adds the number of special tokens.
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in file["vocab"][:259]}
    theirs = tiktoken.Encoding("x", pat_str=PATTERNS["llama3"], mergeable_ranks=ranks, special_tokens={})
    for text in [*SAMPLES, "abc abcab ababc unused"]:
        assert encoding.encode_ordinary(text) == [10 + rank for rank in theirs.encode_ordinary(text)]
    assert encoding.encode_single_token("</s>") == 2
    assert encoding.encode_single_token("<SPECIAL_9>") == 9
    assert encoding.n_vocab == 269
    assert len(encoding._special_tokens) == 10

    del file["special_tokens"]
    file["config"] |= {"version": "v3", "default_num_special_tokens": 22, "default_vocab_size": 280}
    path.write_text(json.dumps(file), encoding="utf-8")
    older = Encoding.from_file(path)
    assert older.decode([1, 3, 4, 19, 20]) == "<s>[INST][/INST][TOOL_CONTENT]<SPECIAL_20>"


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    file = tekken()
    change(file)
    return file


MALFORMED_TEKKEN = {
    "no size": (
        lambda file: file["config"].pop("default_vocab_size"),
        "config.default_vocab_size: expected an integer",
    ),
    "no pattern": (
        lambda file: file["config"].update(pattern=5),
        "config.pattern: expected a string, got an integer 5",
    ),
    "bad pattern": (lambda file: file["config"].update(pattern="("), "does not compile"),
    "too few tokens": (
        lambda file: file["config"].update(default_vocab_size=500),
        "expected 490 tokens or more",
    ),
    "names without end": (
        lambda file: file["config"].update(
            default_vocab_size=3_000_000_259, default_num_special_tokens=3_000_000_000
        ),
        "config.default_num_special_tokens: expected at most 65536, got 3000000000",
    ),
    "order": (lambda file: file["vocab"].reverse(), "vocab[0].rank: expected 0"),
    "no base64": (lambda file: file["vocab"][5].update(token_bytes="!"), "vocab[5].token_bytes: "),
    "no entry": (lambda file: file["vocab"][5].clear(), "vocab[5].rank: expected an integer, got None"),
    "token twice": (
        lambda file: file["vocab"][257].update(token_bytes="YWI="),
        "b'ab' has the rank 256 already",
    ),
    "missing byte": (lambda file: file["vocab"][5].update(token_bytes="eHl6"), "got none for 0x05"),
    "no special tokens": (
        lambda file: file.pop("special_tokens"),
        "special_tokens: expected a list, which only files of the versions v1, v2, v3, v7 do without",
    ),
    "special rank": (
        lambda file: file["special_tokens"][0].update(rank=10),
        "[0].rank: expected a rank below 10",
    ),
    "special twice": (lambda file: file["special_tokens"][0].update(token_str="<s>"), "'<s>' is there twice"),
    "special id twice": (lambda file: file["special_tokens"][0].update(rank=1), "have the same id 1"),
    "name of a filler": (
        lambda file: file["special_tokens"][0].update(token_str="<SPECIAL_7>"),
        "the names ['<SPECIAL_7>'] are those of special tokens without a name",
    ),
}


@pytest.mark.parametrize(("change", "reason"), MALFORMED_TEKKEN.values(), ids=MALFORMED_TEKKEN)
def test_malformed_tekken_files(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    path = tmp_path / "mistral.json"
    path.write_text(json.dumps(changed(change)), encoding="utf-8")
    refuses(path, reason)


# --- The native file ---


def test_native_files_hold_everything(tmp_path: Path) -> None:
    encoding = toy("o200k", special={EOT: 600, "<|also|>": 600, "\U0001f600": 1_000_000})
    path = tmp_path / "mine.bytemill"
    encoding.save(path, provenance={"corpus": "texts", "documents": 2})
    read = Encoding.from_file(path)
    assert read.__getstate__() == encoding.__getstate__()
    assert pickle.dumps(read) == pickle.dumps(encoding)
    assert list(read._special_tokens) == list(encoding._special_tokens)
    assert read.decode([600]) == EOT
    assert_equal(read, encoding)
    assert Encoding.from_file(path, name="other").name == "other"
    assert Encoding.from_file(path, special_tokens={"<|x|>": 5000})._special_tokens == {"<|x|>": 5000}
    assert Encoding.from_file(path, pattern="o200k").name == "toy"
    version, head, _ = path.read_bytes().split(b"\n", 2)
    assert version == b"bytemill 2"
    contents = json.loads(head)
    assert contents["provenance"] == {"bytemill": bytemill.__version__, "corpus": "texts", "documents": 2}
    assert contents["sha256"] == read.sha256 == encoding.sha256
    assert encoding.sha256 == vocabulary_sha256(
        encoding._pat_str, encoding._mergeable_ranks, encoding._special_tokens
    )
    read.save(tmp_path / "again", provenance={"corpus": "texts", "documents": 2})
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    refuses(path, "has the pattern", ValueError, pattern="cl100k")


def test_native_files_of_version_1_are_read(tmp_path: Path) -> None:
    encoding = toy("o200k", special={EOT: 600, "<|also|>": 600, "\U0001f600": 1_000_000})
    path = tmp_path / "mine.bytemill"
    path.write_bytes(native_version_1(encoding))
    read = Encoding.from_file(path)
    assert read.__getstate__() == encoding.__getstate__()
    assert_equal(read, encoding)
    assert Encoding.from_file(path, special_tokens={"<|x|>": 5000})._special_tokens == {"<|x|>": 5000}
    refuses(path, "has the pattern", ValueError, pattern="cl100k")


# Tokens that no merges make, alone and as parts of others; parts that follow what they make; ids with holes.
UNUSUAL = {
    "no merges": {},
    "a token that no merges make": {b"abcdef": 256, b"ab": 257},
    "a part that no merges make": {b"xyz": 256, b"xyzw": 257, b"zw": 258},
    "two parts that are a token in another way": {
        b"ab": 256,
        b"bc": 257,
        b"abc": 258,
        b"abcb": 259,
        b"cb": 260,
    },
    "parts of higher ids": {b"abc": 300, b"ab": 301, b"abcd": 299},
    "holes": {b"ab": 1000, b"aba": 70_000, b"abab": 2**32 - 2},
    "large ids": {b"ab": 2**24, b"abab": 2**24 + 1},
}


@pytest.mark.parametrize("tokens", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_vocabularies_in_native_files(tokens: dict[bytes, int], tmp_path: Path) -> None:
    ranks = BYTE_RANKS | tokens
    encoding = Encoding("toy", pat_str=r"(?s).{1,8}", mergeable_ranks=ranks, special_tokens={})
    path = tmp_path / "mine.bytemill"
    encoding.save(path)
    read = Encoding.from_file(path)
    assert read._mergeable_ranks == ranks
    for length in range(1, 8):
        for piece in map("".join, itertools.product("abc", repeat=length)):
            assert read.encode_ordinary(piece) == encoding.encode_ordinary(piece), piece
    for piece in texts.patchwork(4, 2000), "abcdefabcde" * 20, "xyzwxyzxyw" * 30:
        assert read.encode_ordinary(piece) == encoding.encode_ordinary(piece)
    assert read.token_byte_values() == encoding.token_byte_values()


def test_models_and_tokenizers_in_native_files(tmp_path: Path) -> None:
    theirs = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ab": 2, "\u0120": 3}, merges=[("a", "b")]))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    theirs.add_special_tokens(["<s>"])
    for encoding in (
        Encoding.from_huggingface(theirs, name="toy"),
        bytemill.train(CORPUS, 1500, kind="sentencepiece", progress=False, name="toy"),
    ):
        more = encoding.with_special_tokens({"<|more|>": 5000}, name="more")
        for saved in (encoding, more):
            path = tmp_path / "mine.bytemill"
            saved.save(path)
            read = Encoding.from_file(path)
            assert read.definition == saved.definition
            assert pickle.loads(pickle.dumps(read)).definition == saved.definition  # noqa: S301 - our own
            assert (read.name, read.sha256) == (saved.name, saved.sha256)
            for text in [*SAMPLES, "<s>ab<|more|> ab"]:
                ids = saved.encode(text, allowed_special="all")
                assert read.encode(text, allowed_special="all") == ids
                assert read.decode(ids) == saved.decode(ids)
            refuses(path, "which has no pattern", ValueError, pattern="gpt2")


def test_special_tokens_that_were_added_since_are_not_lost(tmp_path: Path) -> None:
    theirs = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ab": 2, "\u0120": 3}, merges=[("a", "b")]))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    more = Encoding.from_huggingface(theirs).with_special_tokens({"<|more|>": 5000})
    with pytest.raises(VocabularyError, match=r"'<\|more\|>' was added or removed since: `save` writes it"):
        more.save_huggingface(tmp_path / "folder")
    model = bytemill.train(CORPUS, 1500, kind="sentencepiece", progress=False)
    more = model.with_special_tokens({"<|more|>": 5000})
    with pytest.raises(VocabularyError, match=r"'<\|more\|>' was added or removed since"):
        more.save_sentencepiece(tmp_path / "m.model")
    assert not (tmp_path / "m.model").exists()


@pytest.mark.filterwarnings("ignore:.*its post-processor adds")
def test_templates_are_in_native_files(tmp_path: Path) -> None:
    definition = toy().definition._replace(template=Template((EOT,), ("<|other|>", EOT)))
    path = tmp_path / "mine.bytemill"
    encoding = Encoding.from_definition(definition)
    encoding.save(path)
    read = Encoding.from_file(path)
    assert read.definition.template == definition.template
    assert read.__getstate__() == encoding.__getstate__()


@pytest.mark.parametrize("name", ["o200k_harmony", "p50k_base"])
def test_built_in_encodings_in_native_files(tmp_path: Path, name: str) -> None:
    encoding = bytemill.get_encoding(name)
    encoding.save(tmp_path / "file")
    read = Encoding.from_file(tmp_path / "file")
    assert_equal(read, encoding)
    assert (read.name, read._pat_str) == (name, encoding._pat_str)
    ids = list(encoding._special_tokens.values())
    assert read.decode(ids) == encoding.decode(ids)


def test_provenance_must_be_json(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        toy().save(tmp_path / "mine", provenance={"corpus": tmp_path})
    with pytest.raises(ValueError, match="JSON"):
        toy().save(tmp_path / "mine", provenance={"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []


def numbers(*values: int, size: int = 4) -> bytes:
    return b"".join(value.to_bytes(size, "little") for value in values)


def stored(tokens: Mapping[bytes, int], pairs: list[int]) -> bytes:
    """The body of a native file, whatever the tokens."""
    return b"".join(
        [
            numbers(len(tokens), sum(map(len, tokens)), size=8),
            numbers(*tokens.values()),
            numbers(*map(len, tokens)),
            *tokens,
            numbers(*pairs),
        ]
    )


AB, NONE = BYTE_RANKS | {b"ab": 256}, 2**32 - 1
A, B = BYTE_RANKS[b"a"], BYTE_RANKS[b"b"]
WHOLE = stored(AB, [A, B])

MALFORMED_NATIVE: dict[str, tuple[Callable[[dict[str, Any]], object], bytes, str]] = {
    "no kind": (lambda head: head.pop("kind"), WHOLE, "kind: expected a string, got None"),
    "another kind": (
        lambda head: head.update(kind="x"),
        WHOLE,
        "kind: expected ranks, sentencepiece or tokeni",
    ),
    "no name": (lambda head: head.pop("name"), WHOLE, "name: expected a string, got None"),
    "no pattern": (
        lambda head: head.update(pattern=5),
        WHOLE,
        "pattern: expected a string, got an integer 5",
    ),
    "a bad pattern": (lambda head: head.update(pattern="("), WHOLE, "pattern"),
    "a wrong id": (
        lambda head: head["special_tokens"].update(x=-1),
        WHOLE,
        "special_tokens['x']: expected an",
    ),
    "an empty special token": (lambda head: head["special_tokens"].update({"": 5}), WHOLE, "empty"),
    "a wrong template": (lambda head: head.update(template=5), WHOLE, "template: expected an object"),
    "half a template": (
        lambda head: head.update(template={"prefix": []}),
        WHOLE,
        "template.suffix: expected a list",
    ),
    "no model": (lambda head: head.update(kind="sentencepiece"), WHOLE, "model"),
    "no tokenizer": (lambda head: head.update(kind="tokenizer.json"), WHOLE, "expected"),
    "no body": (lambda _: None, b"", "it has fewer bytes than it says"),
    "half a body": (lambda _: None, WHOLE[:-5], "it has fewer bytes than it says"),
    "too long a body": (lambda _: None, WHOLE + b"x", "it has more bytes than it says"),
    "many tokens": (lambda _: None, numbers(2**62, 5, size=8) + WHOLE, "it has fewer bytes than it says"),
    "many bytes": (lambda _: None, numbers(1, 2**64 - 1, size=8) + WHOLE, "it has fewer bytes than it says"),
    "a missing byte": (
        lambda _: None,
        stored({b"a": 0, b"b": 1, b"ab": 2}, [0, 1]),
        'has no token for the single byte b"\\x00"',
    ),
    "an empty token": (lambda _: None, stored(AB | {b"": 257}, [A, B]), "257"),
    "an id twice": (lambda _: None, stored(AB | {b"bc": 256}, [A, B, A, B]), "256"),
    "the largest id": (lambda _: None, stored(AB | {b"bc": NONE}, [A, B, NONE, NONE]), "bc"),
    "parts of other bytes": (lambda _: None, stored(AB, [B, A]), "the parts of a token have other bytes"),
    "an unknown part": (lambda _: None, stored(AB, [A, 999]), "999"),
    "the token itself as a part": (
        lambda _: None,
        stored(AB, [256, B]),
        "the parts of a token have other bytes",
    ),
    "no left part": (lambda _: None, stored(AB, [NONE, B]), str(NONE)),
    "other lengths": (
        lambda _: None,
        WHOLE.replace(numbers(2) + bytes([0, 1]), numbers(1) + bytes([0, 1])),
        "",
    ),
}


def malformed_native(change: Callable[[dict[str, Any]], object], body: bytes) -> bytes:
    """A native file with this body and the right checksum."""
    head = {
        "kind": "ranks",
        "name": "toy",
        "pattern": GPT2_PATTERN,
        "special_tokens": {EOT: 300},
        "template": None,
    }
    change(head)
    return with_checksum(b"bytemill 2\n" + json.dumps(head).encode() + b"\n" + body)


def test_the_body_of_a_native_file(tmp_path: Path) -> None:
    written = write(tmp_path / "a", malformed_native(lambda _: None, WHOLE))
    expected = Encoding("toy", pat_str=GPT2_PATTERN, mergeable_ranks=AB, special_tokens={EOT: 300})
    assert_equal(Encoding.from_file(written), expected)
    expected.save(tmp_path / "b")
    assert (tmp_path / "b").read_bytes().split(b"\n", 2)[2].startswith(WHOLE)
    with_all_pairs = write(tmp_path / "c", malformed_native(lambda _: None, stored(AB, [])))
    assert_equal(Encoding.from_file(with_all_pairs), expected)


@pytest.mark.parametrize(("change", "body", "reason"), MALFORMED_NATIVE.values(), ids=MALFORMED_NATIVE)
def test_malformed_native_files(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], body: bytes, reason: str
) -> None:
    refuses(write(tmp_path / "mine.bytemill", malformed_native(change, body)), reason)


def test_damaged_native_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.bytemill"
    toy(size=300).save(path)
    whole = path.read_bytes()
    source = random.Random(8)
    for place in source.sample(range(len(whole)), 300):
        write(path, whole[:place] + bytes([whole[place] ^ 1 << source.randrange(8)]) + whole[place + 1 :])
        refuses(path, "")
        write(path, whole[:place])
        refuses(path, "")
    write(path, with_checksum(b"bytemill 3\n{}\n"))
    refuses(path, "version: expected 1 or 2, got 3: a newer bytemill may read it")
    write(path, with_checksum(b"bytemill 2\n{}"))
    refuses(path, "expected a line of JSON after the first")
    write(path, with_checksum(b"bytemill 2\n[]\n"))
    refuses(path, "expected an object")
    write(path, b"bytemill 2\n")
    refuses(path, "the file is damaged: expected the checksum")


MALFORMED_VERSION_1 = {
    "later version": (
        lambda file: file.update(version=3),
        "version: expected 1 or 2, got 3: a newer bytemill may",
    ),
    "other pattern": (lambda file: file.update(pattern="."), "sha256: expected "),
    "other token": (lambda file: file["tokens"].update({"enp6eno=": 999}), "sha256: expected "),
    "other special token": (lambda file: file["special_tokens"].update(x=999), "sha256: expected "),
    "no name": (lambda file: file.pop("name"), "name: expected a string, got None"),
    "missing byte": (lambda file: file["tokens"].pop("AA=="), "got none for 0x00"),
    "no base64": (lambda file: file["tokens"].update({"!": 999}), "tokens: '!': "),
    "token twice": (lambda file: file["tokens"].update({"AB==": 999}), "the token b'\\x00' is there already"),
    "id twice": (lambda file: file["tokens"].update({"enp6eno=": 0}), "have the same id 0"),
    "id is text": (lambda file: file["tokens"].update({"AA==": "0"}), "tokens['AA==']: expected an integer"),
    "no tokens": (lambda file: file.pop("tokens"), "tokens: expected an object, got None"),
    "tokens in a list": (lambda file: file.update(tokens=[["AA==", 0]]), "tokens: expected an object, got "),
    "special tokens in a list": (
        lambda file: file.update(special_tokens=[[]]),
        "special_tokens: expected an object, got a list [[]]",
    ),
    "empty special token": (lambda file: file["special_tokens"].update({"": 999}), "sha256: expected "),
}


@pytest.mark.parametrize(("change", "reason"), MALFORMED_VERSION_1.values(), ids=MALFORMED_VERSION_1)
def test_malformed_native_files_of_version_1(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    path = tmp_path / "mine.bytemill"
    file = json.loads(native_version_1(toy(size=300)))
    change(file)
    path.write_text(json.dumps(file), encoding="utf-8")
    refuses(path, reason)


# --- Recognition, writing ---


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name, contents, reason in (
        ("a.model", b"\n\x0e\n\x05<unk>\x15", "SentencePiece's .model, BERT's vocab.txt, tekken.json"),
        ("a.json", b'{"a": "b"}', "got an object with the keys ['a']"),
        ("a.json", b"[1]", "expected a .tiktoken file, tokenizer.json"),
        ("a.pkl", pickle.dumps(5), "got a file that begins with"),
        ("empty", b"", "the file is empty"),
        ("a.tiktoken", b"", "the file is empty"),
    ):
        (tmp_path / name).write_bytes(contents)
        refuses(tmp_path / name, reason)
    (tmp_path / "folder").mkdir()
    refuses(tmp_path / "folder", "expected a directory with one of tokenizer.json, tekken.json")
    with pytest.raises(FileNotFoundError):
        Encoding.from_file(tmp_path / "nothing")


def test_files_that_were_damaged_on_the_way_are_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = toy("gpt2", size=300)
    writers: dict[str, Callable[[], object]] = {
        "save": lambda: encoding.save(tmp_path / "a.bytemill"),
        "save_tiktoken": lambda: encoding.save_tiktoken(tmp_path / "a.tiktoken"),
        "save_gpt2": lambda: encoding.save_gpt2(tmp_path),
        "save_minbpe": lambda: encoding.save_minbpe(tmp_path / "a"),
        "save_huggingface": lambda: encoding.save_huggingface(tmp_path),
    }
    read_bytes = Path.read_bytes
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda path: read_bytes(path)[:-30])
        for write in writers.values():
            with pytest.raises(VocabularyError):
                write()
            assert list(tmp_path.iterdir()) == []
    for write in writers.values():
        write()
    assert len(list(tmp_path.iterdir())) == 8


def test_what_is_read_back_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = toy(size=300)
    others = Definition("toy", encoding._pat_str, BYTE_RANKS, {})
    monkeypatch.setattr("bytemill.formats.native.load", lambda *_: Loaded(others))
    with pytest.raises(VocabularyError, match="has other tokens when it is read back"):
        encoding.save(tmp_path / "a")
    others = Definition("toy", r"\s|\S", encoding._mergeable_ranks, encoding._special_tokens)
    monkeypatch.setattr("bytemill.formats.native.load", lambda *_: Loaded(others))
    with pytest.raises(VocabularyError, match="this library gives different token IDs for"):
        encoding.save(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_two_files_are_written_both_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        toy("gpt2", size=300).save_gpt2(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_files_are_not_written_to_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = bytemill.train(["the lowest of the low"] * 9, 30, kind="sentencepiece")
    with pytest.raises(ValueError, match="expected different files"):
        model.save_sentencepiece("one.model", vocab=tmp_path / "one.model")
    with pytest.raises(ValueError, match="expected different files"):
        model.save_sentencepiece("one.model", vocab="one.model")
    with pytest.raises(ValueError, match="expected different files"):
        bytemill.get_encoding("gpt2").save_gpt2(".", file_names=("one", "one"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("letter", ["n", "\N{HANGUL SYLLABLE GA}"])
def test_names_may_be_as_long_as_the_system_allows(letter: str, tmp_path: Path) -> None:
    path = tmp_path / (letter * (240 // len(letter.encode())) + ".bytemill")
    toy().save(path)
    assert Encoding.from_file(path).definition.ranks == toy().definition.ranks
    assert list(tmp_path.iterdir()) == [path]


def test_no_name_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    toy().save_huggingface(".")
    assert Encoding.from_file(".").definition.ranks == toy().definition.ranks
    for read in (Encoding.from_file, Encoding.from_huggingface, hf.Tokenizer.from_pretrained):
        with pytest.raises(FileNotFoundError):
            read("")


@pytest.mark.filterwarnings("ignore:special tokens share the IDs", "ignore:the special token")
def test_damage_is_an_error_with_the_name_of_the_file(tmp_path: Path) -> None:
    encoding = Encoding(
        "toy",
        pat_str=GPT2_PATTERN,
        mergeable_ranks=BYTE_RANKS | {b"ab": 256, b"abc": 257},
        special_tokens={EOT: 258},
    )
    encoding.save(tmp_path / "mine.bytemill")
    encoding.save_tiktoken(tmp_path / "mine.tiktoken")
    encoding.save_minbpe(tmp_path / "mine")
    encoding.save_gpt2(tmp_path)
    encoding.save_huggingface(tmp_path)
    (tmp_path / "tekken.json").write_text(json.dumps(tekken()), encoding="utf-8")
    source = random.Random(5)
    refused = 0
    for path in sorted(tmp_path.iterdir()):
        if path.name in {"mine.vocab", "tokenizer_config.json"}:
            continue
        pattern = "gpt2" if path.suffix == ".tiktoken" else None
        whole = path.read_bytes()
        for _ in range(60):
            place = source.randrange(1, len(whole))
            rest = source.choice([whole[place + 1 :], whole[place + 9 :], b""])
            path.write_bytes(whole[:place] + bytes(source.choices(b'0129"{}[],: ab\\\xff\n', k=3)) + rest)
            try:
                Encoding.from_file(path, pattern=pattern)
            except VocabularyError as error:
                refused += 1
                assert str(tmp_path) in str(error)  # noqa: PT017 - some damage does not matter
        path.write_bytes(whole)
    assert refused > 300


# --- Contents of files ---


def test_contents_are_read_as_files_are(tmp_path: Path) -> None:
    encoding = toy("llama3")
    encoding.save(tmp_path / "a.bytemill")
    encoding.save_tiktoken(tmp_path / "b.tiktoken")
    encoding.save_huggingface(tmp_path / "c")
    encoding.save_minbpe(tmp_path / "d")
    words = bytemill.train(["the lowest of the low"] * 9, 30, kind="sentencepiece")
    words.save_sentencepiece(tmp_path / "e.model")
    (tmp_path / "f").mkdir()
    vocabulary = "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abc", "##a"])
    (tmp_path / "f" / "vocab.txt").write_text(f"{vocabulary}\n", encoding="utf-8")
    pattern = {"b.tiktoken": "llama3"}
    for name in ("a.bytemill", "b.tiktoken", "c/tokenizer.json", "d.model", "e.model", "f/vocab.txt"):
        path = tmp_path / name
        options: dict[str, Any] = {"pattern": pattern.get(name), "name": "mine"}
        # Of `vocab.txt`, that a template adds tokens.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = Encoding.from_file(path, **options)
            given = Encoding.from_bytes(memoryview(path.read_bytes()), **options)
        assert given.sha256 == read.sha256, name
        assert given.name == "mine"
        for text in SAMPLES:
            assert given.encode(text, allowed_special="all") == read.encode(text, allowed_special="all")
    assert Encoding.from_bytes((tmp_path / "c" / "tokenizer.json").read_bytes()).name == "tokenizer"
    special = {"<|x|>": 900}
    ranks = (tmp_path / "b.tiktoken").read_bytes()
    assert Encoding.from_bytes(ranks, pattern="llama3", special_tokens=special)._special_tokens == special


def test_contents_know_no_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = toy("gpt2")
    encoding.save_gpt2(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("vocab.bpe", "encoder.json"):
        with pytest.raises(VocabularyError, match=r"the given file: expected .* beside it"):
            Encoding.from_bytes((tmp_path / name).read_bytes())


@pytest.mark.parametrize(
    ("contents", "error", "reason"),
    [
        (b"", VocabularyError, "the given file: expected a vocabulary, and the file is empty"),
        (b"GGUF\x09\0\0\0", VocabularyError, "the given file: expected a GGUF file, and it is damaged"),
        (b"GG", VocabularyError, "the given file: expected a .tiktoken file, tokenizer.json"),
        (b"{", VocabularyError, "the given file: expected JSON"),
        (b'{"model": {}, "added_tokens": []}', VocabularyError, "the given file"),
        (b"YQ== 0\nYg== 1\n", ValueError, "the given file"),
        ("{}", TypeError, "contents must be bytes, not str"),
        (5, TypeError, "a bytes-like object is required"),
    ],
)
def test_contents_that_are_no_file(contents: Any, error: type[Exception], reason: str) -> None:
    with pytest.raises(error) as caught:
        Encoding.from_bytes(contents)
    assert reason in str(caught.value)


def test_contents_in_place_of_a_path_are_explained(tmp_path: Path) -> None:
    toy().save_huggingface(tmp_path)
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    for read in (Encoding.from_file, Encoding.from_huggingface):
        with pytest.raises(ValueError, match=r"got its contents, which begin with .*from_bytes") as caught:
            read(f"\n{text}")
        assert len(str(caught.value)) < 200
    with pytest.raises(TypeError, match=r"path must be a str or os.PathLike, not bytes: from_bytes"):
        Encoding.from_file(text.encode())  # type: ignore[arg-type]


def test_names_of_encodings_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"gpt2: no such file; get_encoding\('gpt2'\)"):
        Encoding.from_file("gpt2")
    with pytest.raises(FileNotFoundError, match=r"gpt-4o: no such file; encoding_for_model\('gpt-4o'\)"):
        Encoding.from_file("gpt-4o")
    toy().save(tmp_path / "gpt2")
    assert Encoding.from_file("gpt2").name == "toy"
    with pytest.raises(ValueError, match=r"that of the encoding 'cl100k_base' is 'cl100k'"):
        bytemill.train(["a"], 300, pattern="cl100k_base", progress=False)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tokenizer.json", "save_huggingface"),
        ("a.tiktoken", "save_tiktoken"),
        ("tokenizer.MODEL", "save_sentencepiece"),
        ("m.gguf", "does not write it"),
    ],
)
def test_other_formats_are_not_written_by_name(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"bytemill's own format.*{hint}"):
        toy().save(tmp_path / name)
    assert not list(tmp_path.iterdir())
