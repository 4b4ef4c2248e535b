"""Where this library does something else than tiktoken, on purpose: each case with outcomes and reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from bytemill import errors
from support.libraries import EOT, Call, Library, outcome, sort
from support.toys import BYTE_RANKS


@dataclass(frozen=True)
class Deviation:
    """A call that ends differently here: in an error of a class, or in a value."""

    call: Call
    theirs: object
    ours: object
    why: str


class Table:
    """Iterates over the names of its columns, as a data frame does."""

    columns = ("text", "id")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


REPAIR = "one repair of surrogates in all methods, where tiktoken makes it in two"
PANIC = "a panic is no answer: it is a BaseException that `except Exception` does not catch"

DEVIATIONS = {
    "surrogates to an array": Deviation(
        lambda library: library.encoding.encode_to_numpy("\ud83d\ude00"),
        UnicodeEncodeError,
        [76460, 222],
        REPAIR,
    ),
    "surrogates where text is unstable": Deviation(
        lambda library: sort(library.encoding.encode_with_unstable("\ud83d\ude00")),
        UnicodeEncodeError,
        ([], [[76460, 222], [76460, 55570]]),
        REPAIR,
    ),
    "surrogates with the splitting in Python": Deviation(
        lambda library: library.encoding._encode_only_native_bpe("\ud83d\ude00"),
        UnicodeEncodeError,
        [76460, 222],
        REPAIR,
    ),
    "surrogates among what is allowed": Deviation(
        lambda library: library.encoding.encode("a", allowed_special={"\ud800"}),
        UnicodeEncodeError,
        [64],
        "no special token can be a lone surrogate, and what is no special token has no effect",
    ),
    "nothing disallowed in a batch": Deviation(
        lambda library: library.encoding.encode_batch(["<|end"], disallowed_special=None),
        TypeError,
        [[27, 91, 408]],
        "`encode` takes None for ()",
    ),
    "a wrong type of what is allowed, and no texts": Deviation(
        lambda library: library.encoding.encode_batch([], allowed_special={EOT: 1}.keys()),
        [],
        TypeError,
        "a mistake in the arguments is found also in an empty batch",
    ),
    "a table in place of texts": Deviation(
        lambda library: library.encoding.encode_batch(Table()),
        [[1342], [307]],
        TypeError,
        "the names of the columns are not the texts that are meant",
    ),
    "an empty piece": Deviation(
        lambda library: library.encoding._encode_single_piece(""),
        BaseException,
        [],
        PANIC,
    ),
    "threads as a float": Deviation(
        lambda library: library.encoding.encode_batch(["a"], num_threads=2.0),
        [[64]],
        TypeError,
        "the number of threads is an int: tiktoken hands anything that compares with 0 to a pool",
    ),
    "a byte that the vocabulary lacks": Deviation(
        lambda library: library.custom(mergeable_ranks={b"a": 0, b"b": 1}).encode("abc"),
        BaseException,
        errors.VocabularyError,
        PANIC,
    ),
    "two tokens of one rank": Deviation(
        lambda library: library.custom(mergeable_ranks={**BYTE_RANKS, b"ab": 97}),
        BaseException,
        errors.VocabularyError,
        PANIC,
    ),
    "a pattern that matches the empty string": Deviation(
        lambda library: library.custom(pat_str=r"\w*").encode("a  b"),
        BaseException,
        errors.PatternError,
        PANIC,
    ),
    "a pattern that takes too many steps": Deviation(
        lambda library: library.custom(pat_str=r"(?:(a|aa)+)\1b|x").encode_ordinary("a" * 1_000 + "c"),
        BaseException,
        errors.PatternError,
        PANIC,
    ),
    "a pattern that takes too many steps where it is backtracked": Deviation(
        lambda library: library.custom(pat_str=r"(?:a+)+(?!c)b|x").encode_ordinary("x" + "a" * 1_000 + "cx"),
        BaseException,
        [120, 120],
        "an automaton finds the matches in linear time",
    ),
    "a pattern with an optional part between two runs of the same kind": Deviation(
        lambda library: library.custom(pat_str=r"[a-z]+-?[a-z]+").encode("a bc d-e"),
        [*b"abcd-e"],
        [*b"bcd-e"],
        "fancy-regex 0.19.0 reads it as `[a-z]+(?:-[a-z]+)?`, which also matches a single letter",
    ),
    "no mergeable tokens": Deviation(
        lambda library: library.custom(mergeable_ranks={}),
        ValueError,
        errors.VocabularyError,
        "the message tells what is missing, not that `max` got nothing",
    ),
    "an empty token": Deviation(
        lambda library: library.custom(mergeable_ranks={**BYTE_RANKS, b"": 256}).n_vocab,
        301,
        errors.VocabularyError,
        "no text has such a token in it, and the offsets of one do not exist",
    ),
    "the highest number as a rank": Deviation(
        lambda library: library.custom(mergeable_ranks={**BYTE_RANKS, b"ab": 2**32 - 1}).n_vocab,
        2**32,
        errors.VocabularyError,
        "tiktoken takes that rank for none",
    ),
}


def assert_outcome(got: object, expected: object) -> None:
    if isinstance(expected, type):
        assert isinstance(got, expected), repr(got)
        # A panic, and nothing that just happens to be an exception.
        assert expected is not BaseException or not isinstance(got, Exception)
    else:
        assert got == expected


@pytest.mark.parametrize("deviation", DEVIATIONS.values(), ids=DEVIATIONS)
def test_deviations(deviation: Deviation, ours: Library, theirs: Library) -> None:
    assert deviation.why
    assert_outcome(outcome(deviation.call, theirs), deviation.theirs)
    got = outcome(deviation.call, ours)
    assert_outcome(got, deviation.ours)
    assert not isinstance(got, BaseException) or isinstance(got, Exception)


def test_an_empty_special_token_is_refused(ours: Library) -> None:
    # With it, tiktoken's `encode` does not return: that side of the comparison is left out.
    with pytest.raises(ValueError, match="empty"):
        ours.custom(special_tokens={"": 300})
    with pytest.raises(ValueError, match="empty"):
        ours.custom(special_tokens={EOT: 300, "": 301})


def test_defects_are_found_when_an_encoding_is_built(ours: Library) -> None:
    defects: dict[str, dict[str, Any]] = {
        'b"c"': {"mergeable_ranks": {token: rank for token, rank in BYTE_RANKS.items() if token != b"c"}},
        "97": {"mergeable_ranks": {**BYTE_RANKS, b"ab": 97}},
        "empty": {"pat_str": r"\w*"},
    }
    for words, parts in defects.items():
        with pytest.raises(ValueError, match=words):
            ours.custom(**parts)
