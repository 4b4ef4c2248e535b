"""Texts within a number of tokens: never more, whatever the text; as much as fits; nothing lost or broken."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bytemill
from bytemill import PatternError, Truncated
from bytemill.splitting import repair_surrogates
from support.custom_patterns import PATTERNS_OF_RUST, encoding_with
from support.strategies import few_letters, surrogate_texts, texts, vocabularies
from support.texts import ADVERSARIAL, multilingual, patchwork
from support.timing import assert_in_proportion, assert_takes_less

NAMES = ["gpt2", "cl100k_base", "o200k_base"]
SIDES = ["right", "left"]

every_encoding = pytest.mark.parametrize("name", NAMES)
every_side = pytest.mark.parametrize("side", SIDES)

# What is hard to cut: characters of several code points, of several tokens, and of several bytes.
CLUSTERS = [
    *["\U0001f469\u200d\U0001f4bb", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f1e9\U0001f1ea"],
    *["\u1112\u1161\u11ab", "e\u0301\u0302", "\u0915\u094d\u0937\u093f", "\u4e2d\u6587", "\U00020000"],
    *["a" * 40, " " * 40, "\n\n", "word", " word", "?!", "123456", "\ufffd"],
]
clusters = st.lists(st.sampled_from(CLUSTERS), max_size=12).map("".join)
any_texts = st.one_of(texts, surrogate_texts, few_letters(), clusters)
limits = st.integers(0, 30)


def kept(text: str, length: int, side: str) -> str:
    return text[:length] if side == "right" else text[len(text) - length :]


def assert_truncated(encoding: bytemill.Encoding, text: str, limit: int, side: Any) -> Truncated:
    """Asserts what holds for every text, limit and side."""
    result = encoding.truncate(text, limit, side=side)
    assert result.text == kept(text, len(result.text), side)
    assert result.token_count == len(encoding.encode_ordinary(result.text)) <= limit
    count = len(encoding.encode_ordinary(text))
    assert result.truncated == (count > limit)
    assert encoding.count_till_limit(text, limit) == (count if count <= limit else None)
    if not result.truncated:
        assert result == (text, count, False)
    return result


def assert_split(encoding: bytemill.Encoding, text: str, limit: int, overlap: int) -> list[str]:
    """Asserts what holds for every text, limit and overlap."""
    parts = encoding.split(text, limit, overlap=overlap)
    assert all(len(encoding.encode_ordinary(part)) <= limit for part in parts)
    # Where the parts are.
    repaired = repair_surrogates(text)
    places = encoding._core_bpe.parts(text, limit, overlap, [])
    assert [repaired[start:end] for start, end in places] == list(map(repair_surrogates, parts))
    last = 0
    for start, end in places:
        assert start <= last < end
        assert len(encoding.encode_ordinary(repaired[start:last])) <= overlap
        last = end
    assert last == len(repaired)
    assert overlap or "".join(parts) == text
    return parts


# --- Known answers ------------------------------------------------------------------------------------------


def test_examples() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    assert encoding.truncate("hello world again", 2) == ("hello world", 2, True)
    assert encoding.truncate("hello world again", 2, side="left") == (" world again", 2, True)
    assert encoding.truncate("hello world again", 3) == ("hello world again", 3, False)
    assert encoding.split("hello world again", 2) == ["hello world", " again"]
    assert encoding.split("a b c d e", 3, overlap=1) == ["a b c", " c d e"]
    assert encoding.count_till_limit("hello world again", 3) == 3
    assert encoding.count_till_limit("hello world again", 2) is None


def test_the_tokens_of_a_part_are_counted_by_itself() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    # The whole's first two ids have two of the three blanks; at the end of a text, three are one token too.
    assert encoding.decode(encoding.encode("a   b")[:2]) == "a  "
    assert encoding.truncate("a   b", 2) == ("a   ", 2, True)


def test_a_result_has_names_and_is_a_tuple() -> None:
    result = bytemill.get_encoding("gpt2").truncate("hello world", 1)
    assert isinstance(result, bytemill.Truncated)
    text, token_count, truncated = result
    assert (text, token_count, truncated) == (result.text, result.token_count, result.truncated)
    assert result == ("hello", 1, True)


class Counting(str):
    """A string that counts something else than its characters, as those with styles do."""

    __slots__ = ()

    def __len__(self) -> int:
        return 1_000_000


def test_the_characters_of_a_text_count() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    text = Counting("a few words")
    assert encoding.count_till_limit(text, 3) == 3
    assert encoding.truncate(text, 3) == ("a few words", 3, False)


def test_empty_texts() -> None:
    encoding = bytemill.get_encoding("gpt2")
    assert encoding.truncate("", 0) == ("", 0, False)
    assert encoding.split("", 1) == []
    assert encoding.count_till_limit("", 0) == 0


@every_side
def test_where_nothing_fits_nothing_is_left(side: Any) -> None:
    encoding = bytemill.get_encoding("gpt2")
    assert encoding.truncate("hello", 0, side=side) == ("", 0, True)
    assert encoding.count("\U0001f9ff") == 3
    assert encoding.truncate("\U0001f9ff", 2, side=side) == ("", 0, True)
    assert encoding.truncate("\U0001f9ff", 3, side=side) == ("\U0001f9ff", 3, False)


@every_side
def test_a_character_of_several_tokens_stays_whole(side: Any) -> None:
    encoding = bytemill.get_encoding("gpt2")
    text = "\U0001f9ff" * 20
    for limit in range(61):
        result = assert_truncated(encoding, text, limit, side)
        assert len(result.text) == limit // 3
    assert encoding.split(text, 7) == ["\U0001f9ff" * 2] * 10


def test_special_tokens_are_text() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    text = "<|endoftext|>"
    assert encoding.truncate(text, 1) == ("<", 1, True)
    assert len(encoding.split(text, 1)) == encoding.count(text) == encoding.count_till_limit(text, 99) == 7


def test_pairs_of_surrogates_stay_together() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    text = "a\ud83d\ude00b\ud800c\ude00\ud83d\ude00d" * 3
    for limit in range(1, 40):
        for side in SIDES:
            result = assert_truncated(encoding, text, limit, side)
            assert not result.text.endswith("\ud83d")
            assert result.text.startswith("\ude00") == (result.text.startswith("\ude00\ud83d"))
    for limit in (3, 4, 9):
        assert "".join(encoding.split(text, limit)) == text


# --- Any text -----------------------------------------------------------------------------------------------


@every_encoding
@every_side
@given(text=any_texts, limit=limits)
@example(text="\ud83d\ude00" * 9, limit=5)
@example(text="a" * 300, limit=3)
def test_truncated_texts_fit(name: str, side: str, text: str, limit: int) -> None:
    assert_truncated(bytemill.get_encoding(name), text, limit, side)


@every_encoding
@every_side
@pytest.mark.parametrize("seed", range(12))
def test_no_longer_part_fits(name: str, side: str, seed: int) -> None:
    encoding = bytemill.get_encoding(name)
    text = patchwork(seed, 30) if seed % 2 else multilingual(seed, 12)
    fits = {
        length: len(encoding.encode_ordinary(kept(text, length, side))) for length in range(len(text) + 1)
    }
    for limit in (0, 1, 2, 3, 5, 8, 13, 21, 34):
        result = assert_truncated(encoding, text, limit, side)
        assert len(result.text) == max(length for length, count in fits.items() if count <= limit)


@every_encoding
@given(text=any_texts, limit=st.integers(1, 30), overlap=st.integers(0, 29))
@example(text="\U0001f9ff" * 9, limit=5, overlap=4)
def test_parts_fit_and_lose_nothing(name: str, text: str, limit: int, overlap: int) -> None:
    encoding = bytemill.get_encoding(name)
    # Only a character that has too many tokens may stand in the way, and it need not.
    large = any(encoding.count(character) > limit for character in repair_surrogates(text))
    with contextlib.suppress(*([ValueError] if large else [])):
        parts = assert_split(encoding, text, limit, min(overlap, limit - 1))
        assert (len(parts) <= 1) == (encoding.count(text) <= limit)


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_adversarial_texts(name: str) -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    text = ADVERSARIAL[name]
    for limit in (7, 100, 1_000):
        parts = encoding.split(text, limit)
        assert "".join(parts) == text
        counts = encoding.count_batch(parts)
        assert counts.max() <= limit
        for side in SIDES:
            result = assert_truncated(encoding, text, limit, side)
            # Not much less than may be: of a run that nothing takes apart, what is tried is limited.
            assert not result.truncated or result.token_count >= limit - 4
        overlapping = encoding.split(text, limit, overlap=limit // 4)
        assert encoding.count_batch(overlapping).max() <= limit
        assert text.startswith(overlapping[0])
        assert text.endswith(overlapping[-1])


def test_parts_overlap_by_as_many_tokens() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    text = multilingual(4, 300) + "In plain words, one after the other. " * 50
    assert len(assert_split(encoding, text, 64, 16)) > 50
    places = encoding._core_bpe.parts(text, 64, 16, [])
    repeated = [encoding.count(text[start:end]) for (_, end), (start, _) in itertools.pairwise(places)]
    # Characters of up to four tokens may leave some over.
    assert min(repeated) >= 13
    assert max(repeated) == 16


@pytest.mark.parametrize("overlap", [0, 5])
@pytest.mark.parametrize("separators", [(), ("\n", " ")])
def test_spans_are_those_of_the_parts(overlap: int, separators: tuple[str, ...]) -> None:
    encoding = bytemill.get_encoding("o200k_base")
    for text in [
        "",
        "one two three",
        multilingual(4, 200),
        "\ud83d\ude00 a pair\n" * 40,
        "\ud800 alone " * 30,
    ]:
        options: dict[str, Any] = {"overlap": overlap, "separators": separators}
        spans = encoding.split_spans(text, 16, **options)
        assert [text[start:end] for start, end in spans] == encoding.split(text, 16, **options)
        if not overlap:
            assert [start for start, _ in spans[1:]] == [end for _, end in spans[:-1]]
        if text:
            assert (spans[0][0], spans[-1][1]) == (0, len(text))


# --- Patterns of one's own ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS_OF_RUST.values(), ids=PATTERNS_OF_RUST)
def test_custom_patterns(pattern: str) -> None:
    try:
        encoding = encoding_with(pattern)
    except PatternError:
        pytest.skip("matches the empty string")
    for text in [
        "abc abc  aab\r\n12 345",
        "aaaa1bbb  \t\n\xc0\xe9\u0301x",
        "the THE the\n\n" * 9,
        "\u4e2d \u4e2d" * 9,
    ]:
        for limit in (1, 2, 3, 4, 9, 20):
            for side in SIDES:
                assert_truncated(encoding, text, limit, side)
            if limit >= 3:
                assert_split(encoding, text, limit, 0)
                assert_split(encoding, text, limit, limit // 2)


def test_a_pattern_for_the_regex_package() -> None:
    encoding = encoding_with(r"\X")
    text = "ab\u0301\u0302 " * 40
    for limit in (1, 4, 5, 60, 300):
        for side in SIDES:
            assert_truncated(encoding, text, limit, side)
    assert "".join(encoding.split(text, 5)) == text
    assert "".join(encoding.split(text * 20, 700)) == text * 20


def test_text_that_a_pattern_drops_takes_no_tokens() -> None:
    encoding = encoding_with(r"\w+")
    assert encoding.truncate("ab    ab    ab", 2) == ("ab    ab    ", 2, True)
    assert encoding.truncate("ab    ab    ab", 2, side="left") == ("    ab    ab", 2, True)
    assert encoding.truncate("    ab", 0) == ("    ", 0, True)
    assert encoding.split("  ab  ab  ab  ", 1) == ["  ab  ", "ab  ", "ab  "]


@given(ranks=vocabularies(b"ab\xe4\xb8\xad"), text=st.text("ab\u4e2d", max_size=40), limit=st.integers(0, 12))
def test_vocabularies_whose_merges_surprise(ranks: dict[bytes, int], text: str, limit: int) -> None:
    for pattern in (r"(?s).+", r"[ab]+|[^ab]+"):
        encoding = bytemill.Encoding("toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        for side in SIDES:
            assert_truncated(encoding, text, limit, side)
        if limit >= 3:
            assert_split(encoding, text, limit, limit // 3)


# --- What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda encoding: encoding.truncate("a", -1), "max_tokens must be a number of tokens, 0 or more"),
        (lambda encoding: encoding.split("a", 0), "max_tokens must be a number of tokens, 1 or more"),
        (lambda encoding: encoding.split("a", 2, overlap=2), "overlap must be below max_tokens, which is 2"),
        (
            lambda encoding: encoding.split("a", 2, overlap=-1),
            "overlap must be a number of tokens, 0 or more",
        ),
        (lambda encoding: encoding.count_till_limit("a", -1), "limit must be a number of tokens"),
        (lambda encoding: encoding.truncate("a", 1, side="end"), "side must be 'right'"),
        (
            lambda encoding: encoding.split("ab \U0001f9ff", 2),
            r"begins at character 3 .*'\U0001f9ff' takes 3",
        ),
    ],
)
def test_wrong_values(call: Callable[[bytemill.Encoding], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(bytemill.get_encoding("gpt2"))


@pytest.mark.parametrize("text", [b"bytes", None, 5])
@pytest.mark.parametrize("method", ["truncate", "split", "split_spans", "count_till_limit"])
def test_what_is_no_text(method: str, text: object) -> None:
    with pytest.raises(TypeError, match="expected text as str"):
        getattr(bytemill.get_encoding("gpt2"), method)(text, 1)


@pytest.mark.parametrize("number", ["3", 2.0, None])
@pytest.mark.parametrize("method", ["truncate", "split", "split_spans", "count_till_limit"])
def test_what_is_no_number(method: str, number: object) -> None:
    with pytest.raises(TypeError, match="must be a number of tokens as an integer"):
        getattr(bytemill.get_encoding("gpt2"), method)("a", number)


def test_limits_beyond_all_texts() -> None:
    encoding = bytemill.get_encoding("gpt2")
    assert encoding.truncate("hello", 10**30) == ("hello", 1, False)
    assert encoding.split("hello", 10**30, overlap=10**9) == ["hello"]
    assert encoding.count_till_limit("hello", 10**30) == 1


# --- Time ---------------------------------------------------------------------------------------------------


UNITS = ["words and words. ", "a", " ", "\u4e2d\u6587", "!?", "x" * 250 + " "]


@pytest.mark.parametrize("unit", UNITS)
def test_what_does_not_fit_is_not_encoded(unit: str) -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    # So much that the whole takes some 50 times as long as what is looked at for a cut.
    text = unit * (32_000_000 // len(unit.encode()))
    for work in (
        lambda: encoding.count_till_limit(text, 50),
        lambda: encoding.truncate(text, 50),
        lambda: encoding.truncate(text, 50, side="left"),
    ):
        assert_takes_less(work, 1 / 4, lambda: encoding.count(text))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("limit", [16, 200])
def test_splitting_takes_time_in_proportion(unit: str, limit: int) -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    short, long = (unit * (size // len(unit.encode())) for size in (60_000, 240_000))
    assert_in_proportion(lambda text: encoding.split(text, limit), short, long)


def test_parts_of_every_size_agree_with_counting() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    text = multilingual(7, 400)
    for limit in itertools.chain(range(5, 40), (100, 1_000, 5_000)):
        parts = encoding.split(text, limit)
        assert "".join(parts) == text
        assert encoding.count_batch(parts).tolist() == [
            encoding.count_till_limit(part, limit) for part in parts
        ]


# --- Special tokens ---

SPECIAL = ["<|endoftext|>", "<|endofprompt|>"]
POLICIES: list[dict[str, Any]] = [
    {"allowed_special": "all"},
    {"allowed_special": {"<|endoftext|>"}, "disallowed_special": ()},
    {},
]


def with_special_tokens(seed: int) -> str:
    """Returns a text with special tokens in it, next to each other too."""
    dice = random.Random(seed)  # noqa: S311 - for tests
    parts = [*SPECIAL, *SPECIAL, "hello ", "world", "  \n", "世界😀", "a" * 40, "<|endof", "text|>"]
    return "".join(dice.choices(parts, k=dice.randint(0, 20)))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_special_tokens_are_counted_and_kept_as_encode_takes_them(name: str, policy: dict[str, Any]) -> None:
    encoding = bytemill.get_encoding(name)
    rule = {"disallowed_special": ()} | policy
    texts = [with_special_tokens(seed) for seed in range(150)]
    counts = [len(encoding.encode(text, **rule)) for text in texts]
    assert [encoding.count(text, **policy) for text in texts] == counts
    assert encoding.count_batch(texts, num_threads=2, **policy).tolist() == counts
    allowed = policy.get("allowed_special", ())
    allowed = encoding.special_tokens_set if allowed == "all" else allowed
    for text, count in zip(texts, counts, strict=True):
        for limit in (0, 1, 3, 10):
            expected = count if count <= limit else None
            assert encoding.count_till_limit(text, limit, **policy) == expected
            for side in ("right", "left"):
                kept = encoding.truncate(text, limit, side=side, **policy)
                assert kept.token_count == len(encoding.encode(kept.text, **rule)) <= limit
                assert kept.truncated == (kept.text != text)
                whole = [token for token in allowed if token in text]
                total = {token: text.count(token) for token in whole}
                rest = text[len(kept.text) :] if side == "right" else text[: len(text) - len(kept.text)]
                # None is cut in two.
                assert all(kept.text.count(token) + rest.count(token) == total[token] for token in whole)
            if limit:
                parts = encoding.split(text, limit + 8, **policy)
                assert "".join(parts) == text
                assert all(len(encoding.encode(part, **rule)) <= limit + 8 for part in parts)


def test_special_tokens_may_be_an_error() -> None:
    encoding = bytemill.get_encoding("gpt2")
    text = "a" * 10_000 + "<|endoftext|>"
    calls: list[Callable[..., object]] = [
        lambda **rule: encoding.count(text, **rule),
        lambda **rule: encoding.count_batch([text], **rule),
        lambda **rule: encoding.count_till_limit(text, 5, **rule),
        lambda **rule: encoding.truncate(text, 5, **rule),
        lambda **rule: encoding.split(text, 5, **rule),
    ]
    for call in calls:
        call()
        call(allowed_special="all", disallowed_special="all")
        with pytest.raises(bytemill.DisallowedSpecialTokenError):
            call(disallowed_special="all")
        with pytest.raises(bytemill.DisallowedSpecialTokenError):
            call(disallowed_special={"<|endoftext|>"}, allowed_special="all")
        with pytest.raises(TypeError, match="allowed_special must be"):
            call(allowed_special=["<|endoftext|>"])


def test_a_long_rest_is_dropped() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    text = "hello world " * 200_000
    for policy in POLICIES:
        assert encoding.truncate(text, 3, **policy).text == "hello world hello"
        assert encoding.count_till_limit(text, 3, **policy) is None


SEPARATORS = ["\n\n", "\n", ". ", " "]


def parts_by_definition(
    encoding: bytemill.Encoding, text: str, limit: int, separators: list[str]
) -> list[str]:
    """Returns the parts of a text, by what the docstring says."""
    found = []
    while text:
        part = encoding.split(text, limit)[0]
        if part != text:
            ends = (
                part[:end]
                for separator in separators
                for end in range(len(part), 0, -1)
                if part[:end].endswith(separator) and encoding.count(part[:end]) <= limit
            )
            part = next(ends, part)
        found.append(part)
        text = text[len(part) :]
    return found


@every_encoding
@given(
    text=any_texts, limit=st.integers(5, 30), separators=st.sampled_from([SEPARATORS, [" "], ["a", "\ud83d"]])
)
@example(text="One two.\n\nThree four five six seven eight nine ten.", limit=6, separators=SEPARATORS)
def test_parts_end_behind_separators(name: str, text: str, limit: int, separators: list[str]) -> None:
    encoding, text = bytemill.get_encoding(name), repair_surrogates(text)
    separators = [repair_surrogates(each) for each in separators]
    with contextlib.suppress(ValueError):  # a character that does not fit
        expected = parts_by_definition(encoding, text, limit, separators)
        assert encoding.split(text, limit, separators=separators) == expected


def test_separators_with_surrogates() -> None:
    encoding = bytemill.get_encoding("gpt2")
    for text in ("a\U0001f600b" * 5, "a\ud83d\ude00b" * 5):
        expected = encoding.split(text, 6, separators=["\U0001f600"])
        assert len(expected) > 1
        assert encoding.split(text, 6, separators=["\ud83d\ude00"]) == expected
    parts = encoding.split("a\ud800b" * 5, 6, separators=["\ud800"])
    assert len(parts) > 1
    assert all(part.endswith("\ud800") for part in parts[:-1])


def test_separators_of_a_text() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    text = "One two three.\n\nFour five. Six seven eight nine ten eleven twelve.\nThirteen"
    assert encoding.split(text, 8, separators=SEPARATORS) == [
        "One two three.\n\n",
        "Four five. ",
        "Six seven eight nine ten eleven twelve.\n",
        "Thirteen",
    ]
    overlapping = encoding.split(text, 8, overlap=3, separators=SEPARATORS)
    assert overlapping[0] == "One two three.\n\n"
    assert all(encoding.count(part) <= 8 for part in overlapping)
    special = "a <|endoftext|> b"
    parts = encoding.split(special * 9, 4, separators=["end", " "], allowed_special="all")
    assert "".join(parts) == special * 9
    assert all(encoding.count(part, allowed_special="all") <= 4 for part in parts)


@pytest.mark.parametrize(
    ("separators", "error", "message"),
    [
        ("\n", TypeError, r"separators must be an iterable of texts.*given as \[text\]"),
        ([b"\n"], TypeError, "a separator must be of the type str, not bytes"),
        (["\n", ""], ValueError, "separators must not be empty"),
    ],
)
def test_wrong_separators(separators: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        bytemill.get_encoding("gpt2").split("a text", 1, separators=separators)
