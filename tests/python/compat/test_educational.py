"""The educational module beside tiktoken's: the same results, the same pictures of encoding."""

from __future__ import annotations

from typing import Any

import pytest
import tiktoken._educational
from hypothesis import given, settings
from hypothesis import strategies as st

import bytemill
from bytemill import _educational
from bytemill.patterns import GPT2_PATTERN

THEIRS: Any = tiktoken._educational
TEXT = "low lower lowest, newer newest: it's the lowest of 100 — 你好你好"
SIZE = 280
RANKS = _educational.bpe_train(TEXT, SIZE, GPT2_PATTERN, visualise=None)


@pytest.fixture
def pair() -> tuple[Any, Any]:
    """The same toy encoding here and there."""
    return (
        _educational.SimpleBytePairEncoding(pat_str=GPT2_PATTERN, mergeable_ranks=RANKS),
        THEIRS.SimpleBytePairEncoding(pat_str=GPT2_PATTERN, mergeable_ranks=RANKS),
    )


@pytest.mark.parametrize("visualise", ["colour", "color", "simple", None, "", "unknown"])
@pytest.mark.parametrize("text", ["", "lowest", "hello, lowest 你好们 aaaa\n"])
def test_encodes_and_prints_as_tiktoken(
    pair: tuple[Any, Any], text: str, visualise: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [(encoding.encode(text, visualise=visualise), capsys.readouterr().out) for encoding in pair]
    assert results[0] == results[1]
    assert bool(results[0][1]) == bool(text and visualise)


def test_decodes_as_tiktoken(pair: tuple[Any, Any]) -> None:
    tokens = pair[0].encode(TEXT, visualise=None)
    cut = tokens[:-1]
    for ours, theirs in (
        [getattr(encoding, name) for encoding in pair] for name in ("decode", "decode_bytes")
    ):
        assert ours(tokens) == theirs(tokens)
        assert ours(cut) == theirs(cut)
    assert pair[0].decode(tokens) == TEXT
    assert pair[0].decode_tokens_bytes(cut) == pair[1].decode_tokens_bytes(cut)
    with pytest.raises(KeyError):
        pair[0].decode([SIZE])


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab c"), min_size=1, max_size=40), st.integers(256, 262))
def test_trains_as_tiktoken(text: str, vocab_size: int) -> None:
    try:
        theirs = THEIRS.bpe_train(text, vocab_size, GPT2_PATTERN, visualise=None)
    except ValueError:
        with pytest.raises(ValueError, match="no pairs left"):
            _educational.bpe_train(text, vocab_size, GPT2_PATTERN, visualise=None)
    else:
        assert _educational.bpe_train(text, vocab_size, GPT2_PATTERN, visualise=None) == theirs


def test_training_below_the_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 256"):
        _educational.bpe_train("ab", 255, GPT2_PATTERN, visualise=None)


@pytest.mark.parametrize("visualise", ["colour", "simple"])
def test_training_prints_every_merge(visualise: str, capsys: pytest.CaptureFixture[str]) -> None:
    ours = _educational.bpe_train(TEXT, 262, GPT2_PATTERN, visualise=visualise)
    printed = capsys.readouterr().out
    assert THEIRS.bpe_train(TEXT, 262, GPT2_PATTERN, visualise=visualise) == ours
    expected = capsys.readouterr().out
    # The sentences are our own; the pictures of the words and the number of lines are the same.
    pictures = [line for line in expected.splitlines() if line.startswith(("\x1b", "["))]
    assert len(pictures) >= 6
    assert [line for line in printed.splitlines() if line.startswith(("\x1b", "["))] == pictures
    assert len(printed.splitlines()) == len(expected.splitlines())
    for token in list(ours)[256:]:
        assert repr(token) in printed


def test_train_makes_an_encoding(capsys: pytest.CaptureFixture[str]) -> None:
    encoding = _educational.SimpleBytePairEncoding.train(TEXT, SIZE, GPT2_PATTERN)
    assert "Most frequent pair: b'l' + b'o'" in capsys.readouterr().out
    assert encoding.mergeable_ranks == RANKS
    assert encoding.pat_str == GPT2_PATTERN


def test_tokens_keep_their_colours_in_the_picture(capsys: pytest.CaptureFixture[str]) -> None:
    for tokens in ([], [b"a"], [b"", b"", b"a"], [b"a" * 7, b"b"], [b"\xe4", b"\xbd\xa0", b"x" * 8]):
        _educational.visualise_tokens(tokens)
        ours = capsys.readouterr().out
        THEIRS.visualise_tokens(tokens)
        assert ours == capsys.readouterr().out
        assert ours.endswith("\x1b[0m\n")


def test_from_tiktoken() -> None:
    by_name = _educational.SimpleBytePairEncoding.from_tiktoken("r50k_base")
    theirs = tiktoken.Encoding("toy", pat_str=GPT2_PATTERN, mergeable_ranks=RANKS, special_tokens={})
    for encoding, origin in (
        (by_name, bytemill.get_encoding("r50k_base")),
        (_educational.SimpleBytePairEncoding.from_tiktoken(theirs), theirs),
    ):
        assert encoding.encode(TEXT, visualise=None) == origin.encode(TEXT)
        assert encoding.decode(origin.encode(TEXT)) == TEXT


def test_train_simple_encoding(capsys: pytest.CaptureFixture[str]) -> None:
    encoding = _educational.train_simple_encoding()
    assert capsys.readouterr().out.rstrip().endswith("\x1b[0m")
    tokens = encoding.encode("hello world", visualise=None)
    assert encoding.decode_tokens_bytes(tokens) == [b"hello", b" world"]
    assert len(encoding.mergeable_ranks) == 600
