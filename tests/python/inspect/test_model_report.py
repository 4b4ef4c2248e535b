"""Reports on SentencePiece models and their pieces."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from bytemill import Encoding, VocabularyError, inspection
from bytemill._educational import SimpleBytePairEncoding
from bytemill.cli import main
from bytemill.formats.sentencepiece_model import definition_of
from bytemill.inspection.reachability import Pieces
from bytemill.inspection.token_report import MEANING
from bytemill.reference_sentencepiece import Kind
from support import sentencepiece as real
from support.tokenizer_files import file

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = range(100, 130)


def encoding_of(model: bytes) -> Encoding:
    return Encoding.from_definition(definition_of(model, "model", "a test"))


def small(**normalizer: object) -> bytes:
    """A model with a piece of each type, and some that no text or not every text becomes."""
    parsed = real.parse()
    parsed.trainer_spec.model_type = parsed.trainer_spec.BPE
    parsed.trainer_spec.byte_fallback = True
    parsed.normalizer_spec.name = "identity"
    for name, value in normalizer.items():
        setattr(parsed.normalizer_spec, name, value)
    parsed.pieces.add(piece="<unk>", type=2)
    parsed.pieces.add(piece="<s>", type=3)
    for byte in range(256):
        parsed.pieces.add(piece=f"<0x{byte:02X}>", type=6)
    for piece, score, kind in (
        ("▁ab", -2, 1),
        ("ab", -1, 1),
        ("bc", 0, 1),
        ("xcy", -3, 1),
        ("▁▁", -3, 1),
        ("xy", -4, 5),
        ("é▁", -5, 1),
        ("[s]", 0, 4),
        ("[s]a", -6, 1),
        ("a b", 0, 4),
        *((letter, -7, 1) for letter in "▁abcxy"),
    ):
        parsed.pieces.add(piece=piece, score=score, type=kind)
    serialized: bytes = parsed.SerializeToString()
    return serialized


IDS = {piece.piece: number for number, piece in enumerate(real.parse(small()).pieces)}


def test_a_report_of_a_model() -> None:
    report = inspection.report(encoding_of(small(remove_extra_whitespaces=True)))
    facts = report.model
    assert facts is not None
    assert facts.types == {
        "normal": 13,
        "unknown": 1,
        "control": 1,
        "user_defined": 2,
        "unused": 1,
        "byte": 256,
    }
    assert facts.named == {"unk": 0, "bos": 1}
    assert (facts.highest_score, facts.lowest_score, facts.equal_scores) == (0, -6, 2)
    assert facts.without_characters == [IDS["é▁"], IDS["[s]a"]]
    assert (facts.normalization, facts.add_dummy_prefix, facts.remove_extra_whitespaces) == (
        "identity",
        True,
        True,
    )
    assert report.mergeable_tokens == 13
    assert report.special_tokens == {"<s>": 1}
    assert report.holes == []
    assert (report.pattern_name, report.unicode_version) == (None, None)
    assert report.reachability.changed == [IDS["▁▁"]]
    # The bytes of characters that have a piece, and those that are in no text.
    known = [byte + 2 for byte in b" abcxy"]
    never = [byte + 2 for byte in (0xC0, 0xC1, *range(0xF5, 0x100))]
    expected = {*known, *never, IDS["xcy"], IDS["[s]a"], IDS["a b"]}
    assert set(report.reachability.unreachable) == expected
    page = str(report)
    assert "changed by normalization" in page
    assert "space in front yes, extra spaces removed yes" in page
    assert "normal 13, unknown 1, control 1, user-defined 2, unused 1, byte 256" in page
    assert json.loads(json.dumps(report.to_dict()))["model"]["byte_fallback"] is True
    assert "pattern" not in str(report).replace("pattern_name", "")


@pytest.mark.parametrize(
    ("piece", "kind", "reach", "parts"),
    [
        ("<unk>", "unknown", "unreachable", []),
        ("<s>", "control", "special", []),
        ("<0x41>", "byte", "fallback", []),
        ("<0x61>", "byte", "unreachable", []),
        ("<0xC0>", "byte", "unreachable", []),
        ("▁ab", "normal", "merged", ["▁", "ab"]),
        ("xcy", "normal", "unreachable", []),
        ("▁▁", "normal", "merged", ["▁", "▁"]),
        ("xy", "unused", "unused", ["x", "y"]),
        # One of its characters is no token.
        ("é▁", "normal", "merged", []),
        ("[s]", "user_defined", "whole", []),
        ("a b", "user_defined", "unreachable", []),
        ("[s]a", "normal", "unreachable", []),
        ("a", "normal", "merged", []),
    ],
)
def test_a_report_of_a_piece(piece: str, kind: str, reach: str, parts: list[str]) -> None:
    report = inspection.report_token(encoding_of(small(remove_extra_whitespaces=False)), IDS[piece])
    assert (report.piece, report.type, report.reach) == (piece, kind, reach)
    assert [token_id for token_id, _ in report.parts] == [IDS[part] for part in parts]
    values = report.to_dict()
    assert (values["piece"], values["type"], values["score"]) == (piece, kind, report.score)
    assert f"type {kind}".replace("_", "-") in " ".join(str(report).split())


def test_tokens_that_are_no_pieces() -> None:
    encoding = encoding_of(small()).with_special_tokens({"<x>": 500})
    report = inspection.report_token(encoding, 500)
    assert (report.reach, report.piece, "piece" in report.to_dict()) == ("special", None, False)
    assert inspection.report(encoding).holes == [(len(IDS), 499)]


WORDS = {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "able": 4, "a": 5, "##": 6, "b c": 7}
PREFIX = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
SCORES = [["<unk>", 0], ["▁", -9], ["▁a", -3], ["a", -1], ["b", -1], ["aab", -90], ["😀", -2], ["▁aa", -2.5]]


@pytest.mark.parametrize(
    ("contents", "whole"),
    [
        ({"type": "WordPiece", **PREFIX, "vocab": WORDS}, {0, 1, 2, 3, 4, 5, 6}),
        ({"type": "WordLevel", "unk_token": "", "vocab": WORDS}, {0, 1, 2, 3, 4, 5, 6}),
        ({"type": "Unigram", "unk_id": 0, "vocab": SCORES}, {1, 2, 7}),
        ({"type": "Unigram", "unk_id": None, "vocab": SCORES[1:]}, {0, 1, 6}),
    ],
)
def test_of_a_token_without_a_rank_only_what_is_known(
    contents: dict[str, Any], whole: set[int], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    splitter = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    if contents["type"] != "Unigram":
        splitter = {"type": "WhitespaceSplit"}
    path.write_text(file({}, model=contents, pre_tokenizer=splitter), encoding="utf-8")
    encoding = Encoding.from_file(path)
    reports = [inspection.report_token(encoding, token_id) for token_id in range(len(contents["vocab"]))]
    assert {report.id for report in reports if report.reach == "whole"} == whole
    for report in reports:
        assert report.reach in {"whole", "other"}
        assert report.parts == ()
        assert str(report).endswith(MEANING[report.reach])
        if report.reach == "whole":
            assert encoding.encode(report.value.decode()) == [report.id]


def test_a_token_of_a_unigram_model() -> None:
    parsed = real.parse(small())
    parsed.trainer_spec.model_type = parsed.trainer_spec.UNIGRAM
    encoding = encoding_of(parsed.SerializeToString())
    for piece, reach in (("<s>", "special"), ("bc", "other"), ("▁ab", "whole"), ("<0x41>", "other")):
        report = inspection.report_token(encoding, IDS[piece])
        assert (report.reach, report.parts, report.piece) == (reach, (), None), piece


def test_pieces_that_no_text_becomes_are_never_met() -> None:
    for seed in SEEDS:
        model = real.synthetic(seed)
        parsed, theirs = real.parse(model), real.processor(model)
        pieces = Pieces(encoding_of(model), model)
        for token_id in pieces.normal():
            # The compiled core, and the definition.
            text = parsed.pieces[token_id].piece
            expected = pieces.last_merge(text) is not None and not pieces.is_hidden(text)
            assert pieces.is_made(token_id) == expected, (seed, token_id)
        unreachable = set(pieces.reachability().unreachable)
        met = {token for text in real.texts(seed, 40, parsed) for token in theirs.encode(text)}
        assert not met & unreachable, seed


def test_published_models_have_pieces_that_can_be_met() -> None:
    model = real.published("mistral-v3")
    report = inspection.report(encoding_of(model))
    parsed = real.parse(model)
    found = report.model
    assert found is not None
    assert found.types == {
        Kind(kind).name.lower(): count
        for kind, count in sorted(Counter(piece.type for piece in parsed.pieces).items())
    }
    assert found.equal_scores == 14
    assert found.without_characters == []
    # Only tokens of bytes.
    assert {parsed.pieces[token_id].type for token_id in report.reachability.unreachable} == {Kind.BYTE}
    assert report.reachability.changed == []


def test_normalization_keeps_some_pieces_from_texts() -> None:
    parsed = real.parse(real.trained("nfkc"))
    parsed.pieces.add(piece="Ａ", score=-1e6)  # noqa: RUF001 - NFKC makes an A of it
    report = inspection.report(encoding_of(parsed.SerializeToString()))
    assert report.reachability.changed == [len(parsed.pieces) - 1]


def test_the_command_inspects_models(tmp_path: Path) -> None:
    path = tmp_path / "small.model"
    path.write_bytes(small())
    encoding = Encoding.from_file(path)

    def output(*arguments: str) -> str:
        done = CliRunner().invoke(main, ["inspect", "-e", str(path), *arguments])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    assert output() == f"{inspection.report(encoding)}\n"
    assert json.loads(output("--json")) == inspection.report(encoding).to_dict()
    assert output("--id", str(IDS["ab"])) == f"{inspection.report_token(encoding, IDS['ab'])}\n"
    assert (
        output("--merges", "abab") == inspection.show_merges(encoding, "abab").terminal(colour=False) + "\n"
    )


def test_lessons_are_about_bytes() -> None:
    with pytest.raises(VocabularyError, match="lessons need merges of bytes"):
        SimpleBytePairEncoding.from_tiktoken(encoding_of(small()))
