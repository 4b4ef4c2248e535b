"""The table of errors, executed against both libraries: what tiktoken refuses we refuse with the same class.

Two tables. `SAME`: the class is tiktoken's or a subclass of it, and the arguments, so the message, are
equal; or both return the same. `SAME_CLASS`: the class is, the words are our own. Where we do
something else on purpose is in `test_deviations`.
"""

from __future__ import annotations

import array
import collections
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bytemill import errors
from support.libraries import EOT, Call, Library, decodes, encodes, outcome
from support.toys import BYTE_RANKS

TEXTS: dict[str, Any] = {
    "bytes": b"a",
    "bytearray": bytearray(b"a"),
    "NumPy bytes": np.bytes_(b"a"),
    "nothing": None,
    "an int": 3,
    "a float": 1.5,
    "a list": ["a"],
}


def table(**rows: Mapping[str, Call] | Call) -> dict[str, Call]:
    """One row for each call: "what: method"."""
    flat = {}
    for name, calls in rows.items():
        what = name.replace("_", " ")
        if callable(calls):
            flat[what] = calls
        else:
            flat |= {f"{what}: {method}": call for method, call in calls.items()}
    return flat


# --- The same class and the same arguments ------------------------------------------------------------------

SAME = table(
    special_token_in_text=encodes(f"a {EOT} b"),
    special_token_alone=encodes(EOT),
    text_of_a_subclass_of_str=encodes(np.str_(f"a {EOT}")),
    other_special_tokens_allowed=encodes(EOT, allowed_special={"<|fim_prefix|>"}),
    disallowed_by_name=encodes(f"a {EOT}", disallowed_special={EOT}),
    disallowed_and_allowed=encodes(EOT, allowed_special="all", disallowed_special={EOT}),
    disallowed_text_that_is_no_special_token=encodes("say hello", disallowed_special=["hello"]),
    disallowed_text_with_quotes=encodes('it\'s "this"', disallowed_special=["'s \""]),
    disallowed_character=encodes("a\u4f60", disallowed_special=("\u4f60",)),
    disallowed_characters_of_a_string=encodes("xyz", disallowed_special="y"),
    nothing_disallowed=encodes(EOT, disallowed_special=()),
    an_empty_list_disallowed=encodes(EOT, disallowed_special=[]),
    no_rule_at_all={
        name: call for name, call in encodes(EOT, disallowed_special=None).items() if "batch" not in name
    },
    allowed_by_frozenset=encodes(EOT, allowed_special=frozenset({EOT})),
    allowed_text_that_is_no_special_token=encodes("hello", allowed_special={"hello"}),
    second_text_of_a_batch=lambda library: library.encoding.encode_batch(["a", EOT, 3]),
    unknown_single_token=lambda library: library.encoding.encode_single_token("no token at all"),
    unknown_single_token_of_bytes=lambda library: library.encoding.encode_single_token(b"\xff\xfe\xfd"),
    empty_single_token=lambda library: library.encoding.encode_single_token(""),
    surrogate_as_single_token=lambda library: library.encoding.encode_single_token("\ud800"),
    surrogate_as_single_piece=lambda library: library.encoding._encode_single_piece("a\ud800"),
    unknown_id=decodes([100256]),
    unknown_id_among_others=decodes([5, 100261, 100262]),
    unknown_id_beyond_all=decodes([2**32 - 1]),
    unknown_id_in_an_array=decodes(np.array([100256])),
    unknown_id_by_itself=lambda library: library.encoding.decode_single_token_bytes(100256),
    unknown_id_for_tokens=lambda library: library.encoding.decode_tokens_bytes([5, 100256]),
    unknown_id_for_offsets=lambda library: library.encoding.decode_with_offsets([5, 100256]),
    ids_that_are_no_text=lambda library: library.encoding.decode_with_offsets(
        library.encoding._encode_bytes(b"a\xff")
    ),
    ids_that_are_no_text_decoded_strictly=lambda library: library.encoding.decode(
        library.encoding._encode_bytes(b"a\xff"), errors="strict"
    ),
    unknown_error_handler=lambda library: library.encoding.decode(
        library.encoding._encode_bytes(b"\xff"), "bogus"
    ),
    no_threads=lambda library: library.encoding.encode_batch(["a"], num_threads=0),
    no_threads_for_ordinary_text=lambda library: library.encoding.encode_ordinary_batch(["a"], num_threads=0),
    negative_threads=lambda library: library.encoding.decode_batch([[1]], num_threads=-1),
    no_threads_and_no_texts=lambda library: library.encoding.decode_bytes_batch([], num_threads=0),
    any_number_of_threads=lambda library: library.encoding.encode_batch(["a"], num_threads=None),
    special_id_of_another_type=lambda library: library.encoding.is_special_token(np.int64(100257)),
    special_id_of_text=lambda library: library.encoding.is_special_token("100257"),
    no_end_of_text_token=lambda library: library.custom(special_tokens={}).eot_token,
    wrong_number_of_tokens=lambda library: library.custom(explicit_n_vocab=5),
    wrong_highest_id=lambda library: library.custom(explicit_n_vocab=258),
    encoding_name_that_is_no_string=lambda library: library.module.get_encoding(3),
    encoding_name_of_bytes=lambda library: library.module.get_encoding(b"gpt2"),
    encoding_name_of_nothing=lambda library: library.module.get_encoding(None),
    unknown_model=lambda library: library.module.encoding_for_model("no-such-model"),
    unknown_model_name=lambda library: library.module.encoding_name_for_model("no-such-model"),
    empty_model_name=lambda library: library.module.encoding_name_for_model(""),
    ids_from_a_deque=lambda library: library.encoding.decode(collections.deque([1, 2])),
    missing_file=lambda library: library.load().read_file("/no/such/file"),
    property_that_cannot_be_set=lambda library: setattr(library.encoding, "n_vocab", 5),
    attribute_that_does_not_exist=lambda library: library.encoding.no_such_attribute,
    encoding_without_a_length=lambda library: len(library.encoding),
)

# --- The same class, in words of our own --------------------------------------------------------------------

SAME_CLASS = table(
    **{f"text is {kind}".replace(" ", "_"): encodes(text) for kind, text in TEXTS.items()},
    **{
        f"ordinary text is {kind}".replace(" ", "_"): {
            "encode_ordinary": lambda library, text=text: library.encoding.encode_ordinary(text),
            "encode_ordinary_batch": lambda library, text=text: library.encoding.encode_ordinary_batch(
                [text]
            ),
            "_encode_only_native_bpe": lambda library, text=text: library.encoding._encode_only_native_bpe(
                text
            ),
        }
        for kind, text in TEXTS.items()
    },
    **{
        f"allowed {kind}".replace(" ", "_"): encodes("a", allowed_special=allowed)
        for kind, allowed in {
            "as a list": [EOT],
            "as a tuple": (EOT,),
            "as the keys of a dict": {EOT: 1}.keys(),
            "as nothing": None,
            "as a string": "some",
            "as True": True,
            "as a set of ints": {3},
        }.items()
    },
    disallowed_as_an_int=encodes("a", disallowed_special=3),
    disallowed_ints=encodes("a", disallowed_special=[3]),
    text_and_no_keywords=lambda library: library.encoding.encode("a", set()),
    unknown_keyword=lambda library: library.encoding.encode("a", allowed=set()),
    no_text=lambda library: library.encoding.encode(),
    **{
        f"batch is {kind}".replace(" ", "_"): {
            "encode_batch": lambda library, batch=batch: library.encoding.encode_batch(batch),
            "encode_ordinary_batch": lambda library, batch=batch: library.encoding.encode_ordinary_batch(
                batch
            ),
            "decode_batch": lambda library, batch=batch: library.encoding.decode_batch(batch),
        }
        for kind, batch in {"an int": 3, "nothing": None, "ints and text": [3, "a"]}.items()
    },
    **{
        f"ids are {kind}".replace(" ", "_"): decodes(tokens)
        for kind, tokens in {
            "floats": [1.0],
            "an array of floats": np.array([1.0]),
            "text": "12",
            "texts": ["1"],
            "nothing": None,
            "a set": {1, 2},
            "an int": 3,
            "keys": {1: 2}.keys(),
            "a dict": {1: 2},
            "rows": np.array([[1, 2]]),
            "an array of no dimension": np.array(3),
            "negative": [-1],
            "negative in an array": np.array([-1]),
            "too large": [2**32],
            "far too large": [2**70],
            "too large in an array": np.array([2**33]),
            "complex": np.array([1 + 0j]),
            "spans of time": np.array([1], dtype="m8[s]"),
            "unknown and negative": [-1, 100256],
            "negative and unknown": [100256, -1],
            "an array of doubles": array.array("d", [1, 2]),
        }.items()
    },
    ids_from_a_generator=lambda library: library.encoding.decode(token for token in [1]),
    **{
        f"single id is {kind}".replace(" ", "_"): lambda library, token=token: (
            library.encoding.decode_single_token_bytes(token)
        )
        for kind, token in {
            "negative": -1,
            "too large": 2**32,
            "a float": 1.0,
            "a NumPy float": np.float64(1),
            "text": "5",
            "bytes": b"5",
            "nothing": None,
            "a list": [5],
        }.items()
    },
    **{
        f"single token is {kind}".replace(" ", "_"): {
            "encode_single_token": lambda library, token=token: library.encoding.encode_single_token(token),
            "_encode_single_piece": lambda library, token=token: library.encoding._encode_single_piece(token),
            "_encode_bytes": lambda library, token=token: library.encoding._encode_bytes(token),
        }
        for kind, token in {"an int": 3, "nothing": None, "a list of floats": [1.5], "a float": 1.0}.items()
    },
    bytes_as_text=lambda library: library.encoding._encode_bytes("a"),
    number_of_threads_as_text=lambda library: library.encoding.encode_batch(["a"], num_threads="2"),
    pattern_that_does_not_compile=lambda library: library.custom(pat_str="("),
    pattern_of_bytes=lambda library: library.custom(pat_str=b"."),
    ranks_of_another_type=lambda library: library.custom(mergeable_ranks={**BYTE_RANKS, "ab": 256}),
    rank_that_is_no_int=lambda library: library.custom(mergeable_ranks={**BYTE_RANKS, b"ab": 1.5}),
    rank_that_is_negative=lambda library: library.custom(mergeable_ranks={**BYTE_RANKS, b"ab": -1}),
    rank_that_is_too_large=lambda library: library.custom(mergeable_ranks={**BYTE_RANKS, b"ab": 2**32}),
    special_token_of_bytes=lambda library: library.custom(special_tokens={b"a": 300}),
    special_id_that_is_negative=lambda library: library.custom(special_tokens={"a": -1}),
    special_id_that_is_too_large=lambda library: library.custom(special_tokens={"a": 2**32}),
    missing_argument=lambda library: library.module.Encoding("custom", pat_str="."),
    unhashable_encoding_name=lambda library: library.module.get_encoding([]),
    unknown_encoding=lambda library: library.module.get_encoding("no such encoding"),
)


def assert_same_class(got: object, expected: object) -> None:
    """The class of the error that tiktoken raises, or one derived from it."""
    assert isinstance(expected, Exception), f"tiktoken raises no ordinary error but gives {expected!r}"
    assert isinstance(got, Exception), f"no error but {got!r}"
    assert isinstance(got, type(expected)), f"{got!r} is no {type(expected).__name__}"


@pytest.mark.parametrize("call", SAME.values(), ids=SAME)
def test_the_same(call: Call, ours: Library, theirs: Library) -> None:
    got, expected = outcome(call, ours), outcome(call, theirs)
    if isinstance(expected, BaseException):
        assert_same_class(got, expected)
        assert isinstance(got, Exception)
        if isinstance(expected, OSError):
            assert str(got) == str(expected)
        assert got.args == expected.args
        assert str(got) == str(expected)
    else:
        assert got == expected


@pytest.mark.parametrize("call", SAME_CLASS.values(), ids=SAME_CLASS)
def test_the_same_class(call: Call, ours: Library, theirs: Library) -> None:
    got, expected = outcome(call, ours), outcome(call, theirs)
    assert_same_class(got, expected)
    assert str(got), "an error without a message"


def test_every_error_is_what_tiktoken_raises_and_can_be_told_apart() -> None:
    assert issubclass(errors.DisallowedSpecialTokenError, ValueError)
    assert issubclass(errors.UnknownTokenError, KeyError)
    assert issubclass(errors.UnknownEncodingError, ValueError)
    assert issubclass(errors.VocabularyError, ValueError)
    assert issubclass(errors.PatternError, ValueError)
    assert issubclass(errors.InternalError, RuntimeError)


def test_unknown_encodings_are_listed_with_plugins_and_version(ours: Library, theirs: Library) -> None:
    for library in (ours, theirs):
        with pytest.raises(
            ValueError, match=r"^Unknown encoding nope\.\nPlugins found: \[.*\]\n\w+ version: \S+ "
        ) as caught:
            library.module.get_encoding("nope")
        assert "(are you on latest?)" in str(caught.value)


def test_files_that_cannot_be_read(
    ours: Library, theirs: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    file = tmp_path / "some.tiktoken"
    for contents in (b"YQ==\n", b"YQ== 0 1\n", b"YQ== x\n", b"Y 0\n"):
        file.write_bytes(b"Yg== 1\n" + contents)
        messages = []
        for library in (theirs, ours):
            with pytest.raises(ValueError, match=r"^Error parsing line") as caught:
                library.load().load_tiktoken_bpe(str(file))
            messages.append(str(caught.value))
        # Ours goes on with the number of the line and the reason.
        assert messages[1].startswith(messages[0])
        assert "line 2" in messages[1][len(messages[0]) :]


def test_files_with_another_hash(
    ours: Library, theirs: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, cache = tmp_path / "some.tiktoken", tmp_path / "cache"
    file.write_bytes(b"YQ== 0\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    messages = []
    for library in (theirs, ours):
        with pytest.raises(ValueError, match="Hash mismatch") as caught:
            library.load().load_tiktoken_bpe(str(file), "0" * 64)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
