"""tokenizer.json: the same ids in tokenizers and transformers as here, both ways; all else is refused."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from tokenizers.pre_tokenizers import Split

import bytemill
from bytemill._backend import CoreSplitter, from_oniguruma, matches_everything
from bytemill.definition import Template
from bytemill.errors import VocabularyError
from bytemill.formats import data_gym
from bytemill.formats.dialects import check_python, to_oniguruma
from bytemill.patterns import CL100K_PATTERN, PATTERNS, WHOLE_TEXT_PATTERN
from support import texts
from support.toys import BYTE_RANKS

EOT = "<|endoftext|>"
CORPUS = [Path(__file__).read_text(encoding="utf-8"), texts.multilingual(1, 300)]
SAMPLES = [
    *CORPUS,
    texts.patchwork(2, 3000),
    texts.random_unicode(3, 500),
    f"a{EOT}b <|other|>{EOT} c<|endoftext",
    *[text[:500] for text in texts.ADVERSARIAL.values()],
]


def toy(pattern: str = "cl100k", size: int = 600, special: dict[str, int] | None = None) -> bytemill.Encoding:
    special_tokens = special or {EOT: size + 7, "<|other|>": size + 20}
    trained = bytemill.train(CORPUS, size, pattern=pattern, progress=False)
    return bytemill.Encoding(
        "toy",
        pat_str=trained._pat_str,
        mergeable_ranks=trained._mergeable_ranks,
        special_tokens=special_tokens,
    )


def same_ids(encoding: bytemill.Encoding, tokenizer: Tokenizer) -> None:
    for text in SAMPLES:
        ids = encoding.encode(text, allowed_special="all")
        assert tokenizer.encode(text, add_special_tokens=False).ids == ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == text


# --- Writing ---


@pytest.mark.parametrize("pattern", [*PATTERNS, WHOLE_TEXT_PATTERN])
def test_written_files_give_the_same_ids_in_tokenizers(tmp_path: Path, pattern: str) -> None:
    encoding = toy(pattern)
    encoding.save_huggingface(tmp_path / "new" / "toy")
    same_ids(encoding, Tokenizer.from_file(str(tmp_path / "new" / "toy" / "tokenizer.json")))
    read = bytemill.Encoding.from_file(tmp_path / "new" / "toy")
    assert read.__getstate__() == encoding.__getstate__()
    assert read.name == "toy"


def test_written_files_give_the_same_ids_in_transformers(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    encoding = toy("o200k")
    encoding.save_huggingface(tmp_path)
    by_file = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))  # type: ignore[no-untyped-call]
    by_directory = AutoTokenizer.from_pretrained(str(tmp_path))
    assert by_directory.eos_token_id == encoding.eot_token
    for tokenizer in (by_file, by_directory):
        for text in SAMPLES:
            ids = encoding.encode(text, allowed_special="all")
            assert tokenizer.encode(text, add_special_tokens=False) == ids
            assert tokenizer.decode(ids) == text
    # What transformers writes is read again.
    by_directory.save_pretrained(str(tmp_path / "again"))
    read = bytemill.Encoding.from_file(tmp_path / "again" / "tokenizer.json")
    assert read._mergeable_ranks == encoding._mergeable_ranks
    assert read._special_tokens == encoding._special_tokens


def test_a_built_in_encoding_with_holes_among_its_ids(tmp_path: Path) -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    encoding.save_huggingface(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    same_ids(encoding, tokenizer)
    for text, token_id in encoding._special_tokens.items():
        assert tokenizer.token_to_id(text) == token_id


def test_tokens_that_no_merges_make_need_whole_pieces(tmp_path: Path) -> None:
    encoding = bytemill.Encoding(
        "toy",
        pat_str=PATTERNS["gpt2"],
        mergeable_ranks=BYTE_RANKS | {b"ab": 256, b"abxyz": 257},
        special_tokens={},
    )
    encoding.save_huggingface(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert json.loads((tmp_path / "tokenizer.json").read_bytes())["model"]["ignore_merges"] is True
    assert (
        tokenizer.encode("abxyz abxyz").ids == encoding.encode("abxyz abxyz") == [257, 32, 256, 120, 121, 122]
    )
    read = bytemill.Encoding.from_file(tmp_path)
    assert read._mergeable_ranks == encoding._mergeable_ranks


def test_patterns_that_leave_text_out(tmp_path: Path) -> None:
    encoding = bytemill.Encoding(
        "letters", pat_str=r"\p{L}+", mergeable_ranks=BYTE_RANKS | {b"ab": 256}, special_tokens={}
    )
    encoding.save_huggingface(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert tokenizer.encode("ab 12 ab!").ids == encoding.encode("ab 12 ab!") == [256, 256]
    assert bytemill.Encoding.from_file(tmp_path).encode("ab 12 ab!") == [256, 256]


NOT_WRITTEN = {
    "two names for one id": ({"<|a|>": 700, "<|b|>": 700}, "have the same id 700"),
    "spelled like another token": ({"the": 700}, "that is how the mergeable token b'the'"),
    "decoded to bytes": ({"caf\xe9": 700}, r"would be decoded to b'caf\xe9'"),
    "the id of another token": ({"<|a|>": 300}, "have the same id 300"),
}


@pytest.mark.filterwarnings("ignore:special tokens share the IDs")
@pytest.mark.parametrize(("special", "reason"), NOT_WRITTEN.values(), ids=NOT_WRITTEN)
def test_what_cannot_be_exact_is_not_written(tmp_path: Path, special: dict[str, int], reason: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        toy(special=special).save_huggingface(tmp_path)
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_patterns_that_mean_something_else_are_not_written(tmp_path: Path) -> None:
    encoding = bytemill.Encoding("words", pat_str=r"\w+|\W+", mergeable_ranks=BYTE_RANKS, special_tokens={})
    with pytest.raises(ValueError, match=r"cannot be translated to Oniguruma: nothing like"):
        encoding.save_huggingface(tmp_path)


def test_a_reader_that_disagrees_stops_the_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = toy()
    encoding.save_huggingface(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("bytemill.formats.huggingface.to_oniguruma", lambda _: r"\p{L}+|\P{L}+")
    with pytest.raises(VocabularyError, match="gives different token IDs for"):
        toy(size=500).save_huggingface(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# --- Reading ---


def trained_tokenizer(*, byte_level: bool = True, pattern: str = PATTERNS["llama3"]) -> Tokenizer:
    """Trains with the library itself."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = (
        pre_tokenizers.ByteLevel(add_prefix_space=False)
        if byte_level
        else pre_tokenizers.Sequence(
            [
                Split(Regex(pattern), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[EOT, "<|other|>"],
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


@pytest.mark.parametrize("byte_level", [True, False])
def test_trained_tokenizers_are_read(tmp_path: Path, byte_level: bool) -> None:  # noqa: FBT001 - a case
    tokenizer = trained_tokenizer(byte_level=byte_level)
    tokenizer.add_tokens(["<added>", AddedToken(" two words", normalized=False)])
    tokenizer.save(str(tmp_path / "mine.json"))
    encoding = bytemill.Encoding.from_file(tmp_path / "mine.json")
    assert encoding.name == "mine"
    # The added ones are not special: they are always found.
    assert encoding._special_tokens == {EOT: 0, "<|other|>": 1}
    assert [encoding.encode_single_token(token) for token in ("<added>", " two words")] == [700, 701]
    same_ids(encoding, tokenizer)
    text = "a <added> two words"
    assert encoding.encode_ordinary(text) == tokenizer.encode(text).ids


def test_added_tokens_that_are_mergeable_too(tmp_path: Path) -> None:
    tokenizer = trained_tokenizer()
    tokenizer.add_tokens(["import", "!"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    encoding = bytemill.Encoding.from_file(tmp_path / "tokenizer.json")
    assert encoding.encode_single_token("import") == tokenizer.token_to_id("import")
    same_ids(encoding, tokenizer)
    assert (
        encoding.encode("importimportant!", allowed_special="all") == tokenizer.encode("importimportant!").ids
    )


def test_merges_may_be_strings_and_options_missing(tmp_path: Path) -> None:
    tokenizer = trained_tokenizer()
    file = json.loads(tokenizer.to_str())
    file["model"]["merges"] = [" ".join(merge) for merge in file["model"]["merges"]]
    del file["model"]["type"], file["model"]["ignore_merges"]
    (tmp_path / "old.json").write_text(json.dumps(file), encoding="utf-8")
    same_ids(bytemill.Encoding.from_file(tmp_path / "old.json"), tokenizer)


def test_tokens_that_a_post_processor_adds_are_warned_of(tmp_path: Path) -> None:
    tokenizer = trained_tokenizer()
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single=f"{EOT} $A", special_tokens=[(EOT, 0)]),
        ]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    with pytest.warns(UserWarning, match=r"post-processor adds <\|endoftext\|> to each text") as caught:
        encoding = bytemill.Encoding.from_file(tmp_path)
    assert caught[0].filename == __file__
    assert encoding.definition.template == Template((EOT,), ())
    ids, _ = encoding.encode_batch_to_numpy(["hello world"], prepend=encoding.eot_token)
    assert tokenizer.encode("hello world").ids == ids.tolist()


@pytest.mark.filterwarnings("ignore:.*its post-processor adds")
@pytest.mark.parametrize(
    ("single", "pair"),
    [
        (f"{EOT} $A", f"{EOT} $A {EOT}:1 $B:1"),
        (f"$A {EOT}", f"$A {EOT} $B:1 {EOT}:1"),
        (f"{EOT} $A the", f"{EOT} $A the {EOT}:1 $B:1 the:1"),
    ],
)
def test_tokens_that_a_post_processor_adds_are_written(single: str, pair: str, tmp_path: Path) -> None:
    tokenizer = trained_tokenizer()
    special = [(text, tokenizer.token_to_id(text)) for text in (EOT, "the") if text in single]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=special)
    encoding = bytemill.Encoding.from_huggingface(tokenizer)
    encoding.save_huggingface(tmp_path)
    again = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("", "the hello", f"a{EOT}b"):
        assert again.encode(text).ids == tokenizer.encode(text).ids
        ours, theirs = again.encode(text, "b c"), tokenizer.encode(text, "b c")
        assert (ours.ids, ours.type_ids) == (theirs.ids, theirs.type_ids)
    assert bytemill.Encoding.from_file(tmp_path).definition.template == encoding.definition.template


def test_a_template_of_unknown_tokens_is_not_written(tmp_path: Path) -> None:
    definition = bytemill.get_encoding("gpt2").definition._replace(template=Template(("<s>",), ()))
    with pytest.raises(VocabularyError, match=r"adds '<s>' to each text, which is not one of its tokens"):
        bytemill.Encoding.from_definition(definition).save_huggingface(tmp_path)


def added(**options: Any) -> dict[str, Any]:
    token = {"id": 700, "content": "<x>", "single_word": False, "lstrip": False, "rstrip": False}
    return token | {"normalized": False, "special": True} | options


def put(*path: Any) -> Callable[[dict[str, Any]], None]:
    """A change of a file: the last of the arguments is put at the place that the others name."""
    *places, last, value = path

    def change(file: dict[str, Any]) -> None:
        for place in places:
            file = file[place]
        file[last] = value

    return change


# All the parts that another model has.
UNIGRAM = {"normalizer": {"type": "NFKC"}, "decoder": {"type": "Metaspace"}, "model": {"type": "Unigram"}}


def split(regex: Any, behavior: str = "Isolated", *, invert: bool = False) -> dict[str, Any]:
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    steps = [{"type": "Split", "pattern": regex, "behavior": behavior, "invert": invert}, byte_level]
    return {"type": "Sequence", "pretokenizers": steps}


YES, NO = True, False
DIGITS = {"type": "Digits", "individual_digits": True}
# Files that are not merges by rank, and are read all the same.
ELSE = {
    "normalizer": put("normalizer", {"type": "NFC"}),
    "no decoder": put("decoder", None),
    "suffix": put("model", "end_of_word_suffix", "</w>"),
    "no pre-tokenizer": put("pre_tokenizer", None),
    "other pre-tokenizer": put("pre_tokenizer", DIGITS),
    "prefix space": put("pre_tokenizer", "add_prefix_space", YES),
    "no splitting": put("pre_tokenizer", "use_regex", NO),
    "fixed string": put("pre_tokenizer", split({"String": " "})),
    "other behavior": put("pre_tokenizer", split({"Regex": r"\s"}, "MergedWithNext")),
    "pieces between matches": put("pre_tokenizer", split({"Regex": r"\p{L}+"})),
    "other regular expressions": put("pre_tokenizer", split({"Regex": r"\w+|\W+"})),
    "end of line": put("pre_tokenizer", split({"Regex": r"a$|(?m:.)"})),
    "stripping": put("added_tokens", [added(lstrip=True)]),
    "whole words": put("added_tokens", [added(single_word=True)]),
    "token twice": put("added_tokens", [added(), added(id=701)]),
    "id twice": put("added_tokens", [added(), added(content="<y>")]),
    "id that the library changes": put("added_tokens", [added(id=800)]),
    "id of another token": put("added_tokens", [added(id=300)]),
    "overlapping tokens": put("added_tokens", [added(), added(id=701, content="x><", normalized=True)]),
    "not a byte": put("model", "vocab", "a b", 999),
    "no merge": put("model", "vocab", "zqz", 999),
    "merge twice": lambda file: file["model"]["merges"].append(file["model"]["merges"][0]),
    "order of merges": lambda file: file["model"]["merges"].reverse(),
    "merge left out": lambda file: file["model"]["merges"].pop(0),
}

# Files that are refused.
OUTSIDE = {
    "other decoder": (
        put("decoder", {"type": "Metaspace"}),
        "decoder.replacement: expected a string, got null",
    ),
    "other model": (
        put("model", "type", "Words"),
        "model.type: expected BPE, Unigram, WordPiece or WordLevel, got Words",
    ),
    "fields of another model": (
        put("model", "type", "WordPiece"),
        "model.continuing_subword_prefix: expected a string, got null",
    ),
    "an unknown token that is none": (
        lambda file: file.update(model={"type": "Unigram", "unk_id": 1, "vocab": [["<unk>", 0.0]]}),
        "model.unk_id: expected an id below 1",
    ),
    "all of another model": (
        lambda file: file.update(UNIGRAM),
        "model.vocab: it is missing",
    ),
    "dropout": (put("model", "dropout", 0.1), "model.dropout: expected null or 0"),
    "prefix": (put("model", "continuing_subword_prefix", "##"), 'model.merges[0]: "Ġ" is too short'),
    "post-processor": (
        put("post_processor", {"type": "BertProcessing"}),
        "post_processor.type: expected ByteLevel, TemplateProcessing, RobertaProcessing",
    ),
    "surrogate": (
        put("added_tokens", [added(content="\ud800")]),
        "expected JSON: added_tokens: unexpected end of hex escape at line",
    ),
    "id is text": (put("model", "vocab", "!", "5"), 'model.vocab: invalid type: string "5"'),
    "id is a truth": (put("model", "vocab", "!", YES), "model.vocab: invalid type: boolean"),
    "id is a fraction": (put("model", "vocab", "!", 1.0), "model.vocab: invalid type: floating point"),
    "id is huge": (put("model", "vocab", "!", 2**32 - 1), "model.vocab: expected ids below 4294967295"),
    "id is negative": (put("model", "vocab", "!", -1), "model.vocab: invalid value: integer `-1`"),
    "same id": (put("model", "vocab", "!", 50), "have the same id 50"),
    "missing byte": (lambda file: file["model"]["vocab"].pop("!"), '"!" is no token in model.vocab'),
    "unknown part": (put("model", "merges", [["zq", "z"]]), "is no token in model.vocab"),
    "malformed merge": (put("model", "merges", [["a"]]), "model.merges: merge 0: expected two strings"),
    "malformed merge text": (
        put("model", "merges", ["a b c"]),
        "model.merges: merge 0: expected two tokens with a space",
    ),
    "merges are no list": (put("model", "merges", {}), "model.merges: invalid type: map"),
    "vocabulary is no object": (put("model", "vocab", []), "model.vocab: invalid type: sequence"),
}


@pytest.fixture(scope="module")
def plain_file() -> dict[str, Any]:
    file: dict[str, Any] = json.loads(trained_tokenizer().to_str())
    file["added_tokens"] = []
    for text in (EOT, "<|other|>"):
        del file["model"]["vocab"][text]
    ids = {token_id: i for i, token_id in enumerate(sorted(file["model"]["vocab"].values()))}
    file["model"]["vocab"] = {text: ids[token_id] for text, token_id in file["model"]["vocab"].items()}
    file["added_tokens"] = [added(id=698)]
    return file


@pytest.mark.parametrize(("change", "reason"), OUTSIDE.values(), ids=OUTSIDE)
def test_all_else_is_refused_with_the_reason(
    tmp_path: Path, plain_file: dict[str, Any], change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(plain_file), encoding="utf-8")
    assert bytemill.Encoding.from_file(path).encode_ordinary("!") == [0]
    file = copy.deepcopy(plain_file)
    change(file)
    path.write_text(json.dumps(file), encoding="utf-8")
    with pytest.raises(VocabularyError) as caught:
        bytemill.Encoding.from_file(path)
    assert str(path) in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize("change", ELSE.values(), ids=ELSE)
def test_all_else_has_the_ids_of_the_library(
    tmp_path: Path, plain_file: dict[str, Any], change: Callable[[dict[str, Any]], object]
) -> None:
    file = copy.deepcopy(plain_file)
    change(file)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    tokenizer = Tokenizer.from_file(str(path))
    encoding = bytemill.Encoding.from_file(path)
    assert encoding.definition.tokenizer == path.read_bytes()
    for text in ["hello world! a b zqz", "Ünï 123 <x> x><y>  \n the END ", "don't", " lead", "!!!"]:
        expected = tokenizer.encode(text, add_special_tokens=False).ids
        assert encoding.encode(text, allowed_special="all") == expected
        assert encoding.decode(expected) == tokenizer.decode(expected, skip_special_tokens=False)


# Files with an option more that changes nothing: merging by rank gives the ids all the same.
SAME = {
    "empty added token": put("added_tokens", [added(id=698), added(id=5, content="")]),
    "unknown token": put("model", "unk_token", "!"),
    "fallback to bytes": put("model", "byte_fallback", YES),
    "normalized tokens": put("added_tokens", [added(id=698, normalized=True)]),
    "whole pieces": put("model", "ignore_merges", YES),
    "own pattern": put("pre_tokenizer", split({"Regex": r"[a-z]+|[^a-z]"})),
    "only matches": put("pre_tokenizer", split({"Regex": r"[a-z]+"}, "Removed", invert=True)),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_merges_by_rank_are_recognised(
    tmp_path: Path, plain_file: dict[str, Any], change: Callable[[dict[str, Any]], object]
) -> None:
    file = copy.deepcopy(plain_file)
    change(file)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    encoding = bytemill.Encoding.from_file(path)
    assert encoding.definition.tokenizer is None
    assert encoding._mergeable_ranks == {
        data_gym.token_bytes(text): token_id for text, token_id in file["model"]["vocab"].items()
    }
    tokenizer = Tokenizer.from_file(str(path))
    for text in [*SAMPLES, "a <x> b<x>"]:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert encoding.encode(text, allowed_special="all") == ids
        assert encoding.decode(ids) == tokenizer.decode(ids, skip_special_tokens=False)
    again = pickle.loads(pickle.dumps(encoding))  # noqa: S301 - made here
    assert again.definition == encoding.definition


def test_files_that_break_off_are_refused(tmp_path: Path, plain_file: dict[str, Any]) -> None:
    whole = json.dumps(plain_file).encode()
    path = tmp_path / "tokenizer.json"
    for size in (1, 10, 1000, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(VocabularyError, match="expected JSON"):
            bytemill.Encoding.from_file(path)
    path.write_bytes(b'{"model": {"a": 1, "a": 2}}')
    with pytest.raises(VocabularyError, match="the key 'a' occurs twice"):
        bytemill.Encoding.from_file(path)
    path.write_bytes(b'{"model": ' + b"[" * 100_000)
    with pytest.raises(VocabularyError, match="recursion"):
        bytemill.Encoding.from_file(path)
    path.write_bytes(b'{"model": {"vocab": ' + b"9" * 5000 + b"}}")
    with pytest.raises(VocabularyError, match="5000 digits"):
        bytemill.Encoding.from_file(path)
    path.write_bytes(b'{"model": "\xff"}')
    with pytest.raises(VocabularyError, match="decode"):
        bytemill.Encoding.from_file(path)


def test_ids_of_added_tokens_are_those_of_the_library(tmp_path: Path, plain_file: dict[str, Any]) -> None:
    size = len(plain_file["model"]["vocab"])
    for ids in ([size], [size, size + 1], [size + 1], [size, size + 2], [size + 5, size]):
        file = copy.deepcopy(plain_file)
        file["added_tokens"] = [added(id=token_id, content=f"<{i}>") for i, token_id in enumerate(ids)]
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(file), encoding="utf-8")
        tokenizer = Tokenizer.from_file(str(path))
        given = [tokenizer.token_to_id(f"<{i}>") for i in range(len(ids))]
        assert list(bytemill.Encoding.from_file(path)._special_tokens.values()) == given


# --- Patterns ---

# No two have a character in common.
CLASSES = [r"\s", *(rf"\p{{{name}}}" for name in ("Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "P", "S"))]
CHARACTERS = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))

TRANSLATED = {
    r"\p{N}{1,3}+": r"(?>\p{N}{1,3})",
    r"(?:ab|c){2,}+d": r"(?>(?:ab|c){2,})d",
    r"(?s:.+)": r"(?m:.+)",
    r"a$|\s++$|b": r"a\z|\s++$|b",
    r"(?>a{1,3}b)": r"(?>a{1,3}b)",
    r"[^\r\n\p{L}]?+\p{L}+(?i:'s|'t)?": r"[^\r\n\p{L}]?+\p{L}+(?i:'s|'t)?",
}


@pytest.mark.parametrize(("ours", "oniguruma"), TRANSLATED.items())
def test_patterns_are_translated_and_back(ours: str, oniguruma: str) -> None:
    assert to_oniguruma(ours) == oniguruma
    assert from_oniguruma(oniguruma) == ours


def test_repeated_quantifiers_of_oniguruma() -> None:
    assert from_oniguruma(r"a{1,3}+b") == r"(?:a{1,3})+b"
    assert [
        piece for piece, _ in Split(Regex(r"a{2}+b"), "removed", invert=True).pre_tokenize_str("aaaab")
    ] == ["aaaab"]
    # So in copies of cl100k's pattern all numbers in a row are one piece.
    splitter = CoreSplitter.of_steps([("Regex", CL100K_PATTERN, "Isolated", False)])
    assert splitter.is_native
    for text in [*SAMPLES, "12345678 a1 1a 99\u0661\u0662 \u0663"]:
        encoded, offsets = text.encode(), splitter.offsets(text)
        pieces = [encoded[start:end].decode() for start, end in zip(offsets[::2], offsets[1::2], strict=True)]
        assert pieces == [
            piece for piece, _ in Split(Regex(CL100K_PATTERN), "isolated").pre_tokenize_str(text)
        ]


@pytest.mark.parametrize("pattern", [*PATTERNS.values(), WHOLE_TEXT_PATTERN, *TRANSLATED])
def test_translated_patterns_split_the_same(pattern: str) -> None:
    encoding = bytemill.Encoding("toy", pat_str=pattern, mergeable_ranks=BYTE_RANKS, special_tokens={})
    theirs = Split(Regex(to_oniguruma(pattern)), "removed", invert=True)
    for text in [*SAMPLES, "aaaaab abcd cc d\n12345 \u0661\u0662\u0663\u0664a\nb a\n"]:
        assert [piece for piece, _ in theirs.pre_tokenize_str(text)] == encoding._core_bpe.split(text)


@pytest.mark.parametrize("bit", range(4))
def test_unicode_classes_are_the_same(bit: int) -> None:
    # A class has a number, and what it is in shows in the four bits.
    pattern = "".join(name for number, name in enumerate(CLASSES, start=1) if number >> bit & 1)
    encoding = bytemill.Encoding(
        "toy", pat_str=f"[{pattern}]+", mergeable_ranks=BYTE_RANKS, special_tokens={}
    )
    theirs = Split(Regex(f"[{pattern}]+"), "removed", invert=True).pre_tokenize_str(CHARACTERS)
    assert [piece for piece, _ in theirs] == encoding._core_bpe.split(CHARACTERS)


DIFFERENT = [
    r"\w",
    r"\b",
    r"^a",
    r"[a&&b]",
    r"[a--b]",
    r"[[:alpha:]]",
    r"[a[b]]",
    r"a{,2}",
    r"a{2}?",
    r"a++*",
    r"(a)\1",
]
DIFFERENT += [
    r"(?i:k)",
    r"(?i:ss)",
    r"(?i:st)",
    r"(?i:[^s])",
    r"(?i)a",
    r"\p{Script=Han}",
    r"\<a",
    r"(?i:s(?:s))",
]
DIFFERENT += ["a)", "(a", r"(?P<x>a)", r"\xe9", r"\u0041", "[]a]", "{"]


@pytest.mark.parametrize("pattern", DIFFERENT)
def test_what_may_mean_something_else_is_refused(pattern: str) -> None:
    for translate in (to_oniguruma, check_python):
        with pytest.raises(ValueError, match="cannot be translated"):
            translate(pattern)


EVERYTHING = {
    r"[^a]|a(?!b)|a": True,
    r"[^a]|a(?!b)": False,
    r"[^a]+|a{1,2}": True,
    r"(?>[^a])|a": True,
    r"(?>[^a]b|[^a])|a": False,
    r"\S|\s++$": False,
    r"(?:(?:a|[^a]))++": True,
    r"(?s:.)": True,
    ".": False,
    r"[^a]?+a|[^a]": True,
    r"a?+a|[^a]": False,
    r"(?:b?+c*|d{0,2})[^d]|d": True,
    r"(?:a|b*[^a])(?!c)": False,
    r"[^a]{2}|a": False,
    r"[^a]{0}|a": False,
    r"[^a]{1,3}+c?|a{0,1}+a*+b|a": True,
    r"\p{L}\p{M}?|\P{L}": True,
}


@pytest.mark.parametrize(("pattern", "expected"), EVERYTHING.items())
def test_which_patterns_match_everything(pattern: str, expected: bool) -> None:  # noqa: FBT001 - a case
    assert matches_everything(pattern) is expected
    if expected:
        encoding = bytemill.Encoding("toy", pat_str=pattern, mergeable_ranks=BYTE_RANKS, special_tokens={})
        for text in (CHARACTERS, CHARACTERS[::-1], "aabbaaaccab\na bd ddda"):
            assert "".join(encoding._core_bpe.split(text)) == text
