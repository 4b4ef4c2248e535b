"""Decoders of `tokenizer.json`: texts, streams and offsets of ids, by every combination of steps."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, decoders, models
from tokenizers.decoders import DecodeStream

import bytemill
from bytemill import StreamDecoder, UnknownTokenError
from support.open_models import LOADED, file_of
from support.open_models.speech import SENTENCES, TRICKY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Tokens that the steps change, alone and beside each other: names of bytes of characters, whole, incomplete
# and wrong; marks and spaces at both ends; ends of words; characters that stand for bytes.
TOKENS = [
    *(
        "a",
        "b",
        "\u2581",
        "\u2581a",
        "a\u2581",
        "\u2581\u2581",
        " ",
        "  ",
        " a ",
        "</w>",
        "a</w>",
        "</",
        "w>",
        "b</w>a",
    ),
    *(
        "<0xC3>",
        "<0xA9>",
        "<0xE4>",
        "<0xB8>",
        "<0xAD>",
        "<0xFF>",
        "<0x20>",
        "<0x61>",
        "<0x+1>",
        "<0xG0>",
        "<0x",
    ),
    *(
        "\u0120",
        "\u0120b",
        "\u00c3",
        "\u00a9",
        "\u00e4\u00b8",
        "\u0143",
        "\u4e2d",
        "\u00e9",
        "x\u0120\u4e2d",
        "ab",
        "aba",
    ),
]

STEPS: dict[str, Callable[[], decoders.Decoder]] = {
    "replace": lambda: decoders.Replace("\u2581", " "),
    "replace two": lambda: decoders.Replace("ab", "\u2581"),
    "replace three": lambda: decoders.Replace("aba", "<0x61>"),
    "fallback": decoders.ByteFallback,
    "fuse": decoders.Fuse,
    "strip": lambda: decoders.Strip(" ", 1, 0),
    "strip two": lambda: decoders.Strip(" ", 2, 0),
    "strip end": lambda: decoders.Strip(" ", 0, 2),
    "metaspace": lambda: decoders.Metaspace("\u2581", "always"),
    "metaspace never": lambda: decoders.Metaspace("\u2581", "never"),
    "word end": lambda: decoders.BPEDecoder("</w>"),
    "byte level": decoders.ByteLevel,
}


def pair(steps: Sequence[str] | None) -> tuple[bytemill.Encoding, Tokenizer]:
    """Our encoding and the library's tokenizer, with these steps, or without a decoder."""
    vocabulary = {token: number for number, token in enumerate(TOKENS)}
    theirs = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    if steps is not None:
        theirs.decoder = decoders.Sequence([STEPS[step]() for step in steps])
    return bytemill.Encoding.from_huggingface(theirs, name="toy"), theirs


def decoded(theirs: Tokenizer, ids: list[int]) -> str | None:
    """The text that the library decodes ids to; `None` where it panics: if more is stripped than there is."""
    try:
        return theirs.decode(ids, skip_special_tokens=False)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def check(encoding: bytemill.Encoding, ids: list[int], expected: str | None, source: random.Random) -> None:
    """Streams and offsets give the text, which is that of the library if it has one."""
    text = encoding.decode(ids)
    assert expected in {text, None}
    stream = encoding.stream_decoder()
    assert isinstance(stream, StreamDecoder)
    for _ in range(2):
        rest, parts = ids, []
        while rest:
            size = source.choice([1, 1, 2, 5])
            parts.append(stream.push(rest[0] if size == 1 else rest[:size]))
            rest = rest[size:]
        assert "".join([*parts, stream.flush()]) == text
    try:
        with_offsets, offsets = encoding.decode_with_offsets(ids)
    except UnicodeDecodeError:
        # Bytes that are joined as they are.
        assert "\ufffd" in text
        return
    assert with_offsets == text
    assert len(offsets) == len(ids)
    bounds = [*offsets, len(text)]
    assert all(0 <= start <= end for start, end in itertools.pairwise(bounds))
    assert "".join(text[start:end] for start, end in itertools.pairwise(bounds)) == text[bounds[0] :]


CHAINS: list[tuple[str, ...] | None] = [
    None,
    (),
    *((step,) for step in STEPS),
    *itertools.product(STEPS, repeat=2),
    ("replace", "fallback", "fuse", "strip"),
    ("fallback", "fuse", "metaspace"),
    ("fallback", "word end", "fuse", "replace"),
]


def test_every_pair_of_steps_decodes_as_in_the_library() -> None:
    source = random.Random(3)
    for steps in CHAINS:
        encoding, theirs = pair(steps)
        for length in (0, 1, 2, 3, 5, 9):
            for _ in range(12):
                ids = source.choices(range(len(TOKENS)), k=length)
                check(encoding, ids, decoded(theirs, ids), source)


@pytest.mark.parametrize("seed", range(4))
def test_longer_chains_decode_as_in_the_library(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(60):
        steps = source.choices(list(STEPS), k=source.randint(3, 5))
        encoding, theirs = pair(steps)
        for _ in range(12):
            ids = source.choices(range(len(TOKENS)), k=source.randint(0, 12))
            check(encoding, ids, decoded(theirs, ids), source)


@pytest.mark.filterwarnings(
    "ignore:.* its post-processor adds", "ignore:the special token .* is the beginning of"
)
@pytest.mark.parametrize("name", LOADED)
def test_streams_of_open_models(name: str) -> None:
    theirs = Tokenizer.from_str(file_of(name).decode())
    theirs.no_truncation()
    theirs.no_padding()
    encoding = bytemill.Encoding.from_huggingface(theirs, name="model")
    source = random.Random(5)
    agreed = 0
    for text in [*SENTENCES, *TRICKY]:
        ids = encoding.encode(text, allowed_special="all")
        expected = theirs.decode(ids, skip_special_tokens=False)
        stream = encoding.stream_decoder()
        assert "".join([*map(stream.push, ids), stream.flush()]) == expected
        their_stream = DecodeStream(skip_special_tokens=False)
        theirs_received = "".join(their_stream.step(theirs, token) or "" for token in ids)
        # It holds an incomplete character at the end, and adds spaces at the start of some texts.
        agreed += theirs_received == expected
        shuffled = source.sample(ids, len(ids))
        check(encoding, shuffled, decoded(theirs, shuffled), source)
    assert agreed > len([*SENTENCES, *TRICKY]) // 2


def test_text_comes_as_soon_as_it_is_certain() -> None:
    def received(steps: Sequence[str] | None, *tokens: str) -> list[str]:
        encoding, _ = pair(steps)
        stream = encoding.stream_decoder()
        return [*(stream.push(TOKENS.index(token)) for token in tokens), stream.flush()]

    assert received(None, "a", "b", "ab") == ["a", " b", " ab", ""]
    assert received(("word end",), "a</w>", "b", "a</w>") == ["", "a ", "b", "a"]
    assert received(("fallback", "fuse"), "<0xC3>", "<0xA9>", "a", "b") == ["", "", "\u00e9a", "b", ""]
    assert received(("fallback",), "<0xC3>", "a", "<0xA9>") == ["", "\ufffda", "", "\ufffd"]
    assert received(("metaspace",), "\u2581a", "\u2581a") == ["a", " a", ""]
    assert received(("fuse", "strip end"), "  ", " a ", " ", "b") == ["", "   a", "", "  b", ""]
    assert received(("fuse", "replace two"), "a", "b", "a", "a", "</w>") == [
        "",
        "\u2581",
        "",
        "a",
        "a</w>",
        "",
    ]


def test_errors_leave_a_stream_as_it_was() -> None:
    encoding, _ = pair(("fallback", "fuse"))
    stream = encoding.stream_decoder()
    c3, a9 = TOKENS.index("<0xC3>"), TOKENS.index("<0xA9>")
    assert stream.push(c3) == ""
    with pytest.raises(UnknownTokenError):
        stream.push([a9, 10_000])
    with pytest.raises(TypeError, match="expected"):
        stream.push("a")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        stream.push(-1)
    assert stream.push([a9, 0]) == "\u00e9a"
    assert stream.flush() == ""
    with pytest.raises(UnknownTokenError):
        encoding.decode_with_offsets([0, 10_000])
    with pytest.raises(LookupError):
        encoding.stream_decoder("mistake")


def test_offsets_are_those_of_the_characters_that_tokens_begin_in() -> None:
    encoding, _ = pair(("replace", "fallback", "fuse", "strip"))
    ids = [
        TOKENS.index(token) for token in ("\u2581a", "<0xE4>", "<0xB8>", "<0xAD>", "b", "<0xFF>", "\u2581")
    ]
    assert encoding.decode_with_offsets(ids) == ("a\u4e2db\ufffd ", [0, 1, 1, 1, 2, 3, 4])
