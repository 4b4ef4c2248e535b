"""Special tokens: what is allowed, what is refused, what is ordinary text, and which of several is found."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

import pytest
import tiktoken

import bytemill
from bytemill import DisallowedSpecialTokenError
from support.offline_tiktoken import NAMES
from support.timing import assert_takes_less

Encodings = Mapping[str, tiktoken.Encoding]

EOT, FIM, EOP = "<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>"
TEXT = f"{EOT} hello {FIM}"


def outcome(encoding: Any, method: str, text: str, special: dict[str, Any]) -> object:
    """The ids, or the message of the error."""
    try:
        ids = getattr(encoding, method)(text, **special)
    except ValueError as error:
        return str(error)
    if method == "encode_with_unstable":
        return ids[0], sorted(ids[1])
    return [int(token) for token in ids]


ALLOWED: list[Any] = [
    "all",
    set(),
    {EOT},
    {FIM},
    {EOT, FIM},
    frozenset({EOP}),
    {"hello"},
    {""},
    {EOT, "no token"},
]
DISALLOWED: list[Any] = [
    "all",
    (),
    set(),
    None,
    [],
    {EOT},
    [FIM],
    (EOP,),
    frozenset({FIM, EOP}),
    {"hello"},
    ["ello", "lo"],
    {"not there"},
    {EOT: 1},
    {EOT: 1}.keys(),
    {"\u4f60"},
    {"."},
    "lo",
]


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *product(NAMES, ["encode", "encode_to_numpy"]),
        ("cl100k_base", "encode_with_unstable"),
    ],
)
def test_every_combination(name: str, method: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    for text, allowed, disallowed in product((TEXT, "hello", "", EOT), ALLOWED, DISALLOWED):
        special = {"allowed_special": allowed, "disallowed_special": disallowed}
        expected = outcome(theirs, method, text, special)
        if isinstance(disallowed, (list, str)) and len(disallowed) > 1 and isinstance(expected, str):
            # Which of several strings is named first depends on hashes there.
            assert "disallowed special token" in str(outcome(ours, method, text, special))
        else:
            assert outcome(ours, method, text, special) == expected, special


@pytest.mark.parametrize("name", NAMES)
def test_defaults(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    eot = encoding.encode_single_token(EOT)
    for encode in (encoding.encode, encoding.encode_to_numpy, encoding.encode_with_unstable):
        with pytest.raises(DisallowedSpecialTokenError):
            encode(f"a {EOT}")
        with pytest.raises(ValueError, match="disallowed special token"):
            encode(f"a {EOT}", allowed_special=set())
    with pytest.raises(DisallowedSpecialTokenError):
        encoding.encode_batch(["a", f"a {EOT}"])
    assert encoding.encode(EOT, allowed_special="all") == encoding.encode(EOT, allowed_special={EOT}) == [eot]
    for ids in (encoding.encode(EOT, disallowed_special=()), encoding.encode_ordinary(EOT)):
        assert eot not in ids
        assert encoding.decode(ids) == EOT


def test_the_error_tells_what_and_where() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        encoding.encode(f"\U0001f600 a {FIM} {EOT}")
    assert (caught.value.token, caught.value.start) == (FIM, 4)
    assert repr(FIM) in str(caught.value)
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        encoding.encode("he said hello", disallowed_special=["hello", "said"])
    assert (caught.value.token, caught.value.start) == ("said", 3)


def test_allowed_wins_over_disallowed_all_and_loses_to_naming() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    assert encoding.encode(EOT, allowed_special={EOT}, disallowed_special="all") == [100257]
    with pytest.raises(DisallowedSpecialTokenError):
        encoding.encode(EOT, allowed_special={EOT}, disallowed_special={EOT})
    with pytest.raises(DisallowedSpecialTokenError):
        encoding.encode(f"{EOT}{FIM}", allowed_special={EOT})


def test_special_tokens_at_the_ends_and_side_by_side(tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding("cl100k_base"), tiktoken_encodings["cl100k_base"]
    texts = [
        EOT,
        EOT * 3,
        f"{EOT}a",
        f"a{EOT}",
        f" {EOT} ",
        f"{EOT}{FIM}{EOP}",
        f"a{EOT}b{EOT}c",
        f"\n{EOT}\n\n{FIM}\r",
    ]
    texts += [
        f"<{EOT}>",
        f"{EOT[:-1]}{EOT}",
        f"<|{EOT}",
        f"{EOT}|>",
        EOT[:-1],
        EOT[1:],
        EOT.upper(),
        f"it{EOT}'s",
        f"12{EOT}345",
    ]
    texts += [f"   {EOT}   x", f"e{EOT}\u0301", f"\u4f60{EOT}\u597d"]
    for text in texts:
        ids = ours.encode(text, allowed_special="all")
        assert ids == theirs.encode(text, allowed_special="all"), text
        assert ours.decode(ids) == text


def test_splitting_starts_anew_after_a_special_token() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    ids = encoding.encode(f"a  {EOT}  b", allowed_special="all")
    assert ids == [*encoding.encode("a  "), encoding.eot_token, *encoding.encode("  b")]
    # Without the token, "    b" would be split in another place.
    assert encoding.encode("a    b") != [*encoding.encode("a  "), *encoding.encode("  b")]


def test_special_tokens_with_surrogates_around() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    text = f"\ud83d\ude00{EOT}\ud83d{EOT}\ude00"
    assert encoding.encode(text, allowed_special="all") == [
        *encoding.encode("\U0001f600"),
        encoding.eot_token,
        *encoding.encode("\ufffd"),
        encoding.eot_token,
        *encoding.encode("\ufffd"),
    ]
    # Special tokens and other strings are found in two ways; both count a joined pair as one character.
    for disallowed, token, start in (
        ("all", EOT, 1),
        (["<"], "<", 1),
        ([EOT, "\ufffd"], EOT, 1),
    ):
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            encoding.encode(text, disallowed_special=disallowed)
        assert (caught.value.token, caught.value.start) == (token, start)
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        encoding.encode("\ud83d\ude00<" + EOT, disallowed_special=["<<", EOT])
    assert (caught.value.token, caught.value.start) == ("<<", 1)


def custom(byte_ranks: dict[bytes, int], special_tokens: dict[str, int], library: Any = bytemill) -> Any:
    return library.Encoding(
        "custom", pat_str=r"[\s\S]", mergeable_ranks=byte_ranks, special_tokens=special_tokens
    )


def test_of_two_that_start_together_the_longer_is_taken(byte_ranks: dict[bytes, int]) -> None:
    tokens = {"<|a|>": 300, "<|a|><|b|>": 301, "<|b|>": 302, "<": 303}
    with pytest.warns(UserWarning, match="the longer one wins") as caught:
        encoding = custom(byte_ranks, tokens)
    assert len(caught) == 2
    assert all(warning.filename == __file__ for warning in caught)
    assert encoding.encode("<|a|><|b|>", allowed_special="all") == [301]
    assert encoding.encode("<|a|><|b|", allowed_special="all") == [300, 303, *b"|b|"]
    assert encoding.encode("<|b|><|a|><", allowed_special="all") == [302, 300, 303]
    # Only what is allowed competes.
    assert encoding.encode("<|a|><|b|>", allowed_special={"<|a|>", "<|b|>"}, disallowed_special=()) == [
        300,
        302,
    ]
    assert encoding.encode("<|a|>", allowed_special={"<|a|><|b|>"}, disallowed_special=()) == list(b"<|a|>")


def test_of_two_that_overlap_the_leftmost_is_taken(byte_ranks: dict[bytes, int]) -> None:
    special_tokens = {"abcd": 300, "cdef": 301, "ef": 302}
    ours, theirs = custom(byte_ranks, special_tokens), custom(byte_ranks, special_tokens, tiktoken)
    for text in ("abcdef", "xabcdefx", "cdef", "bcdef", "abcabcd", "cdecdef"):
        assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all"), text
    assert ours.encode("abcdef", allowed_special="all") == [300, 302]


def test_special_tokens_of_one_beginning_do_not_warn(byte_ranks: dict[bytes, int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoding = custom(byte_ranks, {"<|a|>": 300, "<|b|>": 301, "a": 302})
    assert encoding.encode("<|a|>a", allowed_special="all") == [300, 302]


def test_special_tokens_may_be_any_text(byte_ranks: dict[bytes, int]) -> None:
    special_tokens = {
        ".*": 300,
        "\\": 301,
        "\u4f60\u597d": 302,
        "\U0001f600": 303,
        "\n\n": 304,
        "(": 305,
        "\x00": 306,
        " ": 307,
    }
    ours, theirs = custom(byte_ranks, special_tokens), custom(byte_ranks, special_tokens, tiktoken)
    for text in (
        "a.*b",
        "\\\\",
        "\u4f60\u597d\u4f60",
        "\U0001f600 \U0001f601",
        "\n\n\n",
        "((a",
        "\x00 \x00",
        "abc .* \u597d",
    ):
        ids = ours.encode(text, allowed_special="all")
        assert ids == theirs.encode(text, allowed_special="all"), text
        assert ours.decode(ids) == text
        with pytest.raises(DisallowedSpecialTokenError):
            ours.encode(text)


def test_a_special_token_with_the_id_of_a_token_warns_and_is_shadowed(byte_ranks: dict[bytes, int]) -> None:
    with pytest.warns(UserWarning, match=r"share the IDs \[97\]"):
        ours = custom(byte_ranks, {"<|a|>": 97})
    theirs = custom(byte_ranks, {"<|a|>": 97}, tiktoken)
    for encoding in (ours, theirs):
        assert encoding.encode("<|a|>a", allowed_special="all") == [97, 97]
        assert encoding.decode([97]) == "a"
        assert encoding.is_special_token(97)


def test_one_token_text_that_is_special_and_mergeable(byte_ranks: dict[bytes, int]) -> None:
    ranks = {**byte_ranks, b"ab": 256}
    for library in (bytemill, tiktoken):
        encoding = custom(ranks, {"ab": 400}, library)
        assert encoding.encode_single_token("ab") == 256
        assert encoding.encode("ab", allowed_special="all") == [400]
        assert encoding.decode([256, 400]) == "abab"


def test_no_special_tokens_at_all(byte_ranks: dict[bytes, int]) -> None:
    encoding = custom(byte_ranks, {})
    assert encoding.special_tokens_set == set()
    for allowed, disallowed in product(("all", set()), ("all", ())):
        assert encoding.encode(EOT, allowed_special=allowed, disallowed_special=disallowed) == list(
            EOT.encode()
        )


def test_the_special_tokens_of_harmony(tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding("o200k_harmony"), tiktoken_encodings["o200k_harmony"]
    assert len(ours._special_tokens) == len(theirs._special_tokens) > 1_000
    text = "\n".join(ours._special_tokens)
    ids = ours.encode(text, allowed_special="all")
    assert ids == theirs.encode(text, allowed_special="all")
    assert ids[::2] == list(ours._special_tokens.values())
    for token, value in ours._special_tokens.items():
        assert (
            ours.encode(token, allowed_special="all")
            == ours.encode(token, allowed_special={token})
            == [value]
        )
        assert ours.encode_single_token(token) == value
        assert ours.is_special_token(value)
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            ours.encode(f"say {token}")
        assert (caught.value.token, caught.value.start) == (token, 4)
    conversation = (
        "<|start|>user<|message|>Hi! <|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>"
    )
    assert ours.encode(conversation, allowed_special="all") == theirs.encode(
        conversation, allowed_special="all"
    )


def test_many_special_tokens_cost_little(byte_ranks: dict[bytes, int]) -> None:
    few = custom(byte_ranks, {EOT: 300})
    many = custom(byte_ranks, {f"<|token {number}|>": 300 + number for number in range(5_000)})
    text = "words and < more words | than one would read >\n" * 4_000
    specials: list[dict[str, Any]] = [{}, {"allowed_special": "all"}, {"disallowed_special": ()}]
    for special in specials:
        work, base = (partial(encoding.encode, text, **special) for encoding in (many, few))
        assert_takes_less(work, 3, base, what=special)


def test_the_default_check_costs_little() -> None:
    encoding = bytemill.get_encoding("o200k_harmony")
    text = "words and < more words | than one would read >\n" * 4_000
    # Half as long again, measured.
    assert_takes_less(lambda: encoding.encode(text), 4, lambda: encoding.encode_ordinary(text))
    # A call on a short text does not pay for a thousand special tokens.
    few = bytemill.get_encoding("o200k_base")
    assert_takes_less(
        lambda: [encoding.encode("short") for _ in range(2_000)],
        3,
        lambda: [few.encode("short") for _ in range(2_000)],
    )
