"""The ids are tiktoken's: on real text, on text in every script, and on text made to break tokenizers.

By default some megabytes of the Python installation are encoded; with BYTEMILL_FULL=1 in the environment
all of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import tiktoken

import bytemill
from programs import verify
from support import sentencepiece
from support.differences import assert_same_ids, first_difference
from support.offline_tiktoken import NAMES
from support.texts import (
    ADVERSARIAL,
    FRAGMENTS,
    SCRIPTS,
    installation_files,
    multilingual,
    patchwork,
    random_unicode,
)

Encodings = Mapping[str, tiktoken.Encoding]

FULL = os.environ.get("BYTEMILL_FULL") == "1"
INSTALLATION_BYTES = None if FULL else 9_000_000

every_encoding = pytest.mark.parametrize("name", NAMES)

# The encodings that have another's pattern and ranks, and special tokens of their own.
TWINS = {"gpt2": "r50k_base", "p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}

# For ordinary text, of which the ids are those of the twin.
every_vocabulary = pytest.mark.parametrize("name", NAMES if FULL else sorted({*NAMES} - {*TWINS}))

SPECIAL_FRAGMENTS = [
    *[
        "<|endoftext|>",
        "<|fim_prefix|>",
        "<|fim_suffix|>",
        "<|endofprompt|>",
        "<|reserved_200013|>",
        "<|start|>",
    ],
    *["<|", "|>", "<|endoftext|", "endoftext|>", "<<|endoftext|>>"],
]


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    """Texts of the Python installation by path."""
    return {str(path): text for path, text in installation_files(INSTALLATION_BYTES)}


def test_the_documents_are_many_and_varied(documents: dict[str, str]) -> None:
    assert len(documents) > 100
    assert sum(map(len, documents.values())) > 4_000_000
    assert not all(map(str.isascii, documents.values()))


@pytest.mark.parametrize(("name", "twin"), TWINS.items())
def test_twins_differ_in_special_tokens_only(name: str, twin: str, tiktoken_encodings: Encodings) -> None:
    encodings = [
        get(each) for get in (bytemill.get_encoding, tiktoken_encodings.__getitem__) for each in (name, twin)
    ]
    assert len({encoding._pat_str for encoding in encodings}) == 1
    assert all(encoding._mergeable_ranks == encodings[0]._mergeable_ranks for encoding in encodings)


@every_vocabulary
@pytest.mark.timeout(1800 if FULL else 300)
def test_the_python_installation(name: str, documents: dict[str, str], tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    for path, text in documents.items():
        ids = ours.encode_ordinary(text)
        assert_same_ids(theirs, ids, theirs.encode_ordinary(text), path)
        assert ours.decode(ids) == text


@every_encoding
def test_the_python_installation_with_special_tokens_between_and_inside(
    name: str, documents: dict[str, str], tiktoken_encodings: Encodings
) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    tokens = sorted(theirs.special_tokens_set)
    for number, (path, text) in enumerate(list(documents.items())[:60]):
        # A token after every 1,000 characters, wherever that is.
        token = tokens[number % len(tokens)]
        marked = token.join(text[start : start + 1_000] for start in range(0, len(text), 1_000))
        ids = ours.encode(marked, allowed_special="all")
        assert_same_ids(theirs, ids, theirs.encode(marked, allowed_special="all"), path)
        assert_same_ids(
            theirs,
            ours.encode(marked, disallowed_special=()),
            theirs.encode(marked, disallowed_special=()),
            path,
        )


@every_vocabulary
def test_batches_of_the_python_installation(
    name: str, documents: dict[str, str], tiktoken_encodings: Encodings
) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    batch = list(documents.values())[:100]
    expected = theirs.encode_ordinary_batch(batch, num_threads=2)
    for ids in (ours.encode_ordinary_batch(batch), ours.encode_batch(batch, disallowed_special=())):
        assert len(ids) == len(batch)
        for one, other, text in zip(ids, expected, batch, strict=True):
            assert_same_ids(theirs, one, other, text)
    assert ours.decode_batch(expected) == batch
    assert ours.decode_bytes_batch(expected) == theirs.decode_bytes_batch(expected, num_threads=2)


def check_everything(ours: bytemill.Encoding, theirs: tiktoken.Encoding, text: str) -> None:
    """Compares all ways to encode one text, and decodes it again."""
    expected = theirs.encode_ordinary(text)
    assert_same_ids(theirs, ours.encode_ordinary(text), expected, repr(text))
    assert_same_ids(theirs, ours.encode_to_numpy(text, disallowed_special=()).tolist(), expected, repr(text))
    assert ours.decode_bytes(expected) == theirs.decode_bytes(expected)
    assert ours.decode_with_offsets(expected) == theirs.decode_with_offsets(expected)


@every_vocabulary
@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_adversarial_texts(name: str, text: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    check_everything(ours, theirs, text)
    # As one piece, without splitting.
    piece = text[:2_000].encode()
    assert ours._encode_single_piece(piece) == theirs._encode_single_piece(piece)


@every_vocabulary
@pytest.mark.parametrize("seed", range(50 if FULL else 4))
def test_all_scripts_mixed(name: str, seed: int, tiktoken_encodings: Encodings) -> None:
    check_everything(bytemill.get_encoding(name), tiktoken_encodings[name], multilingual(seed, 10_000))


@every_vocabulary
def test_every_script_by_itself(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    for first, last in SCRIPTS.values():
        block = [chr(point) for point in range(first, min(last, first + 3_000) + 1)]
        for text in ("".join(block), " ".join(block), "a".join(block), "1".join(block), ".A".join(block)):
            check_everything(ours, theirs, text)


@every_vocabulary
@pytest.mark.parametrize("seed", range(50 if FULL else 4))
def test_code_points_of_all_planes(name: str, seed: int, tiktoken_encodings: Encodings) -> None:
    check_everything(bytemill.get_encoding(name), tiktoken_encodings[name], random_unicode(seed, 20_000))


@every_vocabulary
@pytest.mark.parametrize("seed", range(200 if FULL else 8))
def test_seams_of_many_fragments(name: str, seed: int, tiktoken_encodings: Encodings) -> None:
    check_everything(bytemill.get_encoding(name), tiktoken_encodings[name], patchwork(seed, 20_000))


@every_vocabulary
def test_many_short_texts(name: str, tiktoken_encodings: Encodings) -> None:
    # What happens at the end of a text is most of what patterns disagree on.
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    for seed in range(200_000 if FULL else 8_000):
        text = patchwork(seed, 1 + seed % 7)
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text), ascii(text)


@every_encoding
def test_special_tokens_among_fragments(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    fragments = FRAGMENTS + SPECIAL_FRAGMENTS * 10
    some = {"<|endoftext|>", "<|start|>", "no special token"}
    for seed in range(20_000 if FULL else 800):
        text = patchwork(seed, 1 + seed % 40, fragments)
        for allowed in ("all", some, frozenset[str]()):
            ids = ours.encode(text, allowed_special=allowed, disallowed_special=())
            assert ids == theirs.encode(text, allowed_special=allowed, disallowed_special=()), ascii(text)


@every_encoding
def test_surrogates_among_fragments(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    fragments = FRAGMENTS + ["\ud83d\ude00", "\ud83d", "\ude00", "\udfff", "\ud800"] * 8
    for seed in range(20_000 if FULL else 800):
        text = patchwork(seed, 1 + seed % 20, fragments)
        expected = theirs.encode_ordinary(text)
        assert ours.encode_ordinary(text) == expected, ascii(text)
        assert (
            ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all") == expected
        )


# --- The comparisons themselves can fail --------------------------------------------------------------------


def test_a_difference_is_described(tiktoken_encodings: Encodings) -> None:
    encoding = tiktoken_encodings["cl100k_base"]
    ids = encoding.encode("one two three")
    assert first_difference(encoding, ids, ids) is None
    assert first_difference(encoding, ids, encoding.encode_to_numpy("one two three")) is None
    assert first_difference(encoding, [], []) is None
    for other in (ids[:2], [*ids[:2], 5], [*ids, 6]):
        for got, expected in ((ids, other), (other, ids)):
            described = first_difference(encoding, got, expected)
            assert described is not None
            assert f"from token {min(len(other), 3) if len(other) > 3 else 2} on, at byte" in described
    with pytest.raises(pytest.fail.Exception, match="some text: ids differ from token 2 on, at byte 7"):
        assert_same_ids(encoding, ids[:2], ids, "some text")


def run_verify(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["verify.py", str(folder), *options])
    return verify.main()


def test_verify_finds_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "one.txt").write_text(patchwork(1, 20_000), encoding="utf-8")
    (tmp_path / "two.bin").write_bytes(b"\xff<|endoftext|> " * 100)
    (tmp_path / "empty").write_bytes(b"")
    assert run_verify(tmp_path, monkeypatch, "--encodings", "gpt2", "o200k_base") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * 3 + 1
    assert lines[-1].startswith("TOTAL 0.0 MB, 3 files, ")
    assert lines[-1].endswith(", 2 encodings, 0 differences")


def test_verify_finds_no_difference_in_sentencepiece_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentencepiece.published("mistral-v1")  # or there is nothing to verify
    (tmp_path / "one.txt").write_text(patchwork(2, 20_000), encoding="utf-8")
    (tmp_path / "two.bin").write_bytes(b"\xff<s>  \xe2\x96\x81 " * 1_000)
    assert run_verify(tmp_path, monkeypatch, "--encodings", "mistral-v1", "mistral-v7") == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(", 2 encodings, 0 differences")


def test_verify_finds_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.txt").write_text("one two three", encoding="utf-8")
    cl100k = bytemill.get_encoding("cl100k_base")
    with monkeypatch.context() as patch:
        patch.setattr(cl100k, "encode_ordinary", lambda text: [*cl100k.encode(text)[:-1], 5])
        assert run_verify(tmp_path, monkeypatch, "--encodings", "cl100k_base", "gpt2") == 1
    printed = capsys.readouterr().out
    assert "encode_ordinary: ids differ from token 2 on, at byte 7" in printed
    assert printed.splitlines()[-1].endswith(", 2 encodings, 1 differences")


def test_verify_wants_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as caught:
        run_verify(tmp_path, monkeypatch)
    assert caught.value.code == 2
