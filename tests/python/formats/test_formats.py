"""File formats: what is written reads back; damaged files are refused with file, line and reason."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill.errors import VocabularyError
from bytemill.formats import data_gym, tiktoken_ranks
from bytemill.io import atomic


def test_saved_files_are_the_exports(tmp_path: Path, exported_files: dict[str, list[bytes]]) -> None:
    gpt2, cl100k = bytemill.get_encoding("gpt2"), bytemill.get_encoding("cl100k_base")
    cl100k.save_tiktoken(tmp_path / "cl100k_base.tiktoken")
    assert (tmp_path / "cl100k_base.tiktoken").read_bytes() == exported_files["cl100k_base"][0]
    gpt2.save_gpt2(tmp_path)
    saved = [(tmp_path / file).read_bytes() for file in ("vocab.bpe", "encoder.json")]
    assert saved == exported_files["gpt2"]
    assert len(list(tmp_path.iterdir())) == 3


def test_ranks_are_read_back_in_rank_order() -> None:
    ranks = bytemill.get_encoding("r50k_base")._mergeable_ranks
    shuffled = dict(sorted(ranks.items()))
    assert list(shuffled) != list(ranks)
    read = tiktoken_ranks.parse_ranks(tiktoken_ranks.format_ranks(shuffled), "r50k")
    assert list(read.items()) == list(ranks.items())


MALFORMED_RANKS = {
    "token is not base64": (b"YQ== 0\nY\xff== 1\n", 2, "base64"),
    "token holds characters that base64 skips": (b"Y!Q== 0\n", 1, "base64"),
    "token is cut short": (b"YQ 0\n", 1, "padding"),
    "no bytes": (b"YQ== 0\n= 1\n", 2, "expected a token of at least one byte"),
    "rank is missing": (b"YQ==\n", 1, "got 1 fields"),
    "too many fields": (b"YQ== 0 1\n", 1, "got more than 2 fields"),
    "blanks only": (b"YQ== 0\n  \n", 2, "got 0 fields"),
    "rank is no number": (b"YQ== one\n", 1, "b'one'"),
    "rank is negative": (b"YQ== -1\n", 1, "b'-1'"),
    "rank is a fraction": (b"YQ== 1.0\n", 1, "b'1.0'"),
    "rank is a number to Python only": (b"YQ== 1_0\n", 1, "b'1_0'"),
    "rank is beyond any number": (b"YQ== " + b"9" * 5000 + b"\n", 1, "5000 digits"),
    "token is repeated": (b"YQ== 0\n\nYg== 1\nYQ== 2\n", 4, "the token is in line 1 already"),
    "rank is repeated": (b"YQ== 0\nYg== 0\n", 2, "the rank is in line 1 already"),
}


@pytest.mark.parametrize(("contents", "line", "reason"), MALFORMED_RANKS.values(), ids=MALFORMED_RANKS)
def test_malformed_rank_files_name_line_and_reason(contents: bytes, line: int, reason: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        tiktoken_ranks.parse_ranks(contents, "some.tiktoken")
    message = str(caught.value)
    shown = repr(contents.splitlines()[line - 1])
    # The beginning of a long line will do.
    assert message.startswith(f"Error parsing line {shown[:200].rstrip(shown[-1])}")
    assert " in some.tiktoken: line " in message
    assert f": line {line}: " in message
    assert reason in message


def test_empty_lines_and_other_line_ends_are_fine() -> None:
    assert tiktoken_ranks.parse_ranks(b"\nYQ== 0\r\n\r\nYg== 7", "some.tiktoken") == {b"a": 0, b"b": 7}


@pytest.mark.parametrize(
    ("contents", "is_usual"),
    [
        (b"YQ== 0\nYg== 7\nYWI= 300", True),
        (b"YQ== 0\nYg== 7\nYWI= 300\n", True),
        (b"YQ== 00\nYg== 7\n", True),
        (b"YQ== 0\r\nYg== 7\r\n", False),
        (b"YQ==\t0\nYg== 7\n", False),
        (b"YQ== 0\n\nYg== 7\n", False),
        (b"YR== 0\nYg== 7\n", False),
        (b" YQ== 0\nYg== 7\n", False),
        (b"YQ== \n0\nYg== 7", False),
    ],
)
def test_all_lines_at_once_are_the_lines_one_by_one(contents: bytes, is_usual: bool) -> None:  # noqa: FBT001
    usual = tiktoken_ranks.parse_usual(contents)
    assert (usual is not None) == is_usual
    if is_usual:
        assert usual == tiktoken_ranks.parse_lines(contents, "some.tiktoken")


def test_unusual_lines_are_read_one_by_one() -> None:
    for contents in (b"=  0\n", b"YQ== 0\nYQ== 1\n", b"YQ== 0\nYg== 0\n", b"YQ== 4294967296\n", b"YQ= 0\n"):
        assert tiktoken_ranks.parse_usual(contents) is None
    for contents in (b"YQ== 1_0\n", b"YQ== -1\n", b"Y!Q== 1\n", b"YQ== " + b"1" * 5000 + b"\n", b"= 1\n"):
        assert tiktoken_ranks.parse_usual(contents) is None


def data_gym_files(merges: list[str], **entries: Any) -> tuple[bytes, bytes]:
    """Two files with these merges and, besides the byte tokens, these entries."""
    texts = [data_gym.token_text(token) for token in data_gym.BYTE_TOKENS]
    texts += [merge.replace(" ", "") for merge in merges]
    encoder = {text: token_id for token_id, text in enumerate(texts)} | entries
    return "\n".join(["#version: 0.2", *merges, ""]).encode(), json.dumps(encoder).encode()


def test_data_gym_files_are_read_back() -> None:
    gpt2 = bytemill.get_encoding("gpt2")
    ranks = data_gym.parse_data_gym(
        data_gym.format_merges(gpt2.definition), data_gym.format_encoder(gpt2.definition)
    )
    assert list(ranks.items()) == list(gpt2._mergeable_ranks.items())


def test_data_gym_special_tokens_are_not_mergeable() -> None:
    files = data_gym_files(["a b"], **{"<|endoftext|>": 257, "<|startoftext|>": 258})
    ranks = data_gym.parse_data_gym(*files)
    assert len(ranks) == 257
    assert ranks[b"ab"] == 256


def test_data_gym_byte_tokens_may_have_other_ids() -> None:
    files = data_gym_files(["a b"], **{"!": 1, '"': 0})
    with pytest.raises(VocabularyError, match=r"encoder\.json does not match vocab\.bpe"):
        data_gym.parse_data_gym(*files)
    ranks = data_gym.parse_data_gym(*files, clobber_one_byte_tokens=True)
    assert (ranks[b"!"], ranks[b'"'], ranks[b"#"], ranks[b"ab"]) == (1, 0, 2, 256)


MALFORMED_MERGES = {
    "one part": ("ab", 2, "got 1"),
    "three parts": ("a b c", 2, "got more than 2"),
    "blank line": ("a b\n\nc d", 3, "got 0"),
    "not a character for a byte": ("a b\na \u20ac", 3, "'\u20ac' does not stand for a byte"),
    "repeated": ("a b\nb c\na b", 4, "line 2 makes the same token"),
}


@pytest.mark.parametrize(("merges", "line", "reason"), MALFORMED_MERGES.values(), ids=MALFORMED_MERGES)
def test_malformed_merges_name_line_and_reason(merges: str, line: int, reason: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        data_gym.parse_data_gym(f"#version: 0.2\n{merges}\n".encode(), b"{}", vocab_bpe_file="some.bpe")
    message = str(caught.value)
    assert message.startswith(f"Error parsing line {merges.splitlines()[line - 2]!r} in some.bpe")
    assert f": line {line}: " in message
    assert reason in message


def test_merges_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(VocabularyError, match=r"line 2: .* does not stand for a byte"):
        data_gym.parse_data_gym(b"#version: 0.2\na \xff\n", b"{}")


MALFORMED_ENCODERS = {
    "not JSON": (b'{"a": 0', "delimiter"),
    "not UTF-8": (b'{"\xff": 0}', "decode"),
    "not an object": (b'["a"]', "expected an object, got list"),
    "id is text": (b'{"a": "0"}', "expected an id for the token 'a', got '0'"),
    "id is a truth": (b'{"a": true}', "expected an id for the token 'a', got True"),
    "not a character for a byte": (b'{"a b": 0}', "' ' does not stand for a byte"),
    "too deep": (b"[" * 100_000, "recursion"),
}


@pytest.mark.parametrize(("contents", "reason"), MALFORMED_ENCODERS.values(), ids=MALFORMED_ENCODERS)
def test_malformed_encoders_are_refused(contents: bytes, reason: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        data_gym.parse_data_gym(b"#version: 0.2\n", contents, encoder_json_file="some.json")
    assert str(caught.value).startswith("Error parsing some.json: ")
    assert reason in str(caught.value)


def test_files_that_disagree_name_the_first_token() -> None:
    merges, _ = data_gym_files(["a b", "c d"])
    _, encoder = data_gym_files(["a b", "c e"])
    with pytest.raises(
        VocabularyError, match="for the token b'cd' the first has the ID None, the second 257"
    ):
        data_gym.parse_data_gym(merges, encoder)


def test_writing_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a longer text than the next")
    atomic.write_atomically(path, b"new")
    atomic.write_atomically(str(path), b"newer")
    assert path.read_bytes() == b"newer"
    assert list(tmp_path.iterdir()) == [path]


def test_written_files_have_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    atomic.write_atomically(tmp_path / "atomic", b"")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_failed_writing_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        atomic.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
