"""Training: the merges are those of the definition, whatever the threads, the order, the way of counting."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import os
import pickle
import random
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import tiktoken
import tiktoken.load

import bytemill
from bytemill._backend import build_core
from bytemill.patterns import LLAMA3_PATTERN, O200K_PATTERN, PATTERNS
from bytemill.progress import Progress
from bytemill.reference import split
from bytemill.splitting import Splitter
from bytemill.training import TieBreak, train
from bytemill.training.learning import learn_merges
from bytemill.training.options import InitialVocabulary
from support import training_oracle

TIE_BREAKS = get_args(TieBreak)
FULL = os.environ.get("BYTEMILL_FULL") == "1"
each_tie_break = pytest.mark.parametrize("tie_break", TIE_BREAKS)


def random_pieces(rng: random.Random) -> dict[bytes, int]:
    """A few short pieces over a few symbols, with runs, pieces that occur again and heavy weights."""
    alphabet = rng.sample(range(256), rng.choice([1, 2, 2, 3, 5, 10]))
    pieces: dict[bytes, int] = {}
    for _ in range(rng.randint(1, 12)):
        piece = bytes(rng.choices(alphabet, k=rng.randint(0, 10)))
        if rng.random() < 0.3:
            piece += bytes([rng.choice(alphabet)]) * rng.randint(1, 9)
        if piece:
            pieces[piece] = pieces.get(piece, 0) + rng.choice([1, 1, 2, 3, 10**13])
    return pieces or {b"a": 1}


def counts_of(pieces: dict[bytes, int]) -> bytemill.PieceCounts:
    return bytemill.PieceCounts(pieces, pattern=None)


def learn(pieces: dict[bytes, int], merges: int, **options: Any) -> list[tuple[int, int]]:
    """Returns the merges learned from pieces, fewer if training ends early."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        encoding = train(counts_of(pieces), 256 + merges, progress=False, **options)
    return encoding.merges()


@pytest.fixture(scope="module")
def source_code() -> str:
    """Real text that every Python installation has."""
    folder = Path(sysconfig.get_path("stdlib"))
    names = (
        "argparse.py",
        "ast.py",
        "datetime.py",
        "decimal.py",
        "typing.py",
        "turtle.py",
        "html/entities.py",
    )
    paths = (folder / name for name in names)
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.exists())[:200_000]


# --- The definition ---


@each_tie_break
def test_random_corpora(tie_break: TieBreak) -> None:
    rng = random.Random(tie_break)
    for _ in range(1_000 if FULL else 250):
        pieces = random_pieces(rng)
        merges = rng.randint(0, 30)
        limits: dict[str, Any] = {
            "min_frequency": rng.choice([0, 0, 0, 1, 2, 5]),
            "max_token_length": rng.choice([None, None, 1, 2, 3, 5]),
        }
        expected, _ = training_oracle.train(pieces, merges, tie_break=tie_break, **limits)
        learned = learn(pieces, merges, tie_break=tie_break, num_threads=rng.choice([1, 2, 7]), **limits)
        assert learned == expected, (pieces, merges, limits)


@each_tie_break
@pytest.mark.parametrize("word", ["aaa", "aaaa", "aaaaaaaaaaaaa", "abab", "ababab", "aabaabaa", "abcabcab"])
def test_runs(word: str, tie_break: TieBreak) -> None:
    pieces = {word.encode(): 3, word[1:].encode(): 2, b"ba": 2}
    expected, _ = training_oracle.train(pieces, 10, tie_break=tie_break)
    assert learn(pieces, 10, tie_break=tie_break) == expected


@each_tie_break
def test_real_text(tie_break: TieBreak, source_code: str) -> None:
    text = source_code[:20_000]
    pieces = Counter(split(text, Splitter(O200K_PATTERN)))
    expected, state = training_oracle.train(pieces, 200, tie_break=tie_break)
    encoding = bytemill.train([text], 456, tie_break=tie_break, progress=False)
    assert encoding.merges() == expected
    # What the text has become in training is what it is encoded to.
    assert [encoding._encode_single_piece(piece) for piece in pieces] == state


def test_a_training_piece_is_encoded_as_training_left_it() -> None:
    rng = random.Random(3)
    for _ in range(300):
        pieces = random_pieces(rng)
        encoding = quietly_trained(counts_of(pieces), 280)
        _, state = training_oracle.train(pieces, encoding.n_vocab - 256)
        assert [encoding._encode_single_piece(piece) for piece in pieces] == state


def quietly_trained(source: Any, vocab_size: int, **options: Any) -> bytemill.Encoding:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        return train(source, vocab_size, progress=False, **options)


@each_tie_break
def test_all_bytes(tie_break: TieBreak) -> None:
    """Ties between all of them: the order of the bytes decides."""
    rng = random.Random(11)
    values = [*range(256)]
    rng.shuffle(values)
    pieces = {bytes(values[i : i + 2]): 1 for i in range(0, 256, 2)}
    expected, _ = training_oracle.train(pieces, 128, tie_break=tie_break)
    assert learn(pieces, 128, tie_break=tie_break) == expected
    assert len(set(expected)) == 128


def test_heavy_pairs() -> None:
    """Counts far above 32 bits decide as small ones do."""
    pieces = {b"ab": 2**40, b"cd": 2**40 + 1, b"ef": 2**33, b"gh": 3, b"ij": 10**13 * 50_000}
    expected = [b"ij", b"cd", b"ab", b"ef", b"gh"]
    encoding = train(counts_of(pieces), 261, progress=False)
    assert [encoding.decode_single_token_bytes(token) for token in range(256, 261)] == expected


# --- What must not matter ---


@pytest.mark.parametrize("tie_break", TIE_BREAKS[:3])
def test_neither_threads_nor_order_matter(tie_break: TieBreak, source_code: str) -> None:
    documents = source_code.splitlines(keepends=True)
    expected = bytemill.train(documents, 1_500, tie_break=tie_break, num_threads=1, progress=False)
    random.Random(1).shuffle(documents)
    for threads in (2, 7):
        again = bytemill.train(documents, 1_500, tie_break=tie_break, num_threads=threads, progress=False)
        assert again.merges() == expected.merges()
    half = len(documents) // 2
    shards = [bytemill.count_pieces(part, progress=False) for part in (documents[half:], documents[:half])]
    assert (
        bytemill.train(shards[0] + shards[1], 1_500, tie_break=tie_break, progress=False).merges()
        == expected.merges()
    )


def test_first_seen_goes_by_the_order_of_the_text() -> None:
    pieces = {b"cd": 2, b"ab": 2}
    assert learn(pieces, 2, tie_break="first_seen") == [(99, 100), (97, 98)]
    assert learn(dict(reversed(pieces.items())), 2, tie_break="first_seen") == [(97, 98), (99, 100)]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_first_seen_does_not_depend_on_threads(threads: int, source_code: str) -> None:
    lines = source_code[:20_000].splitlines()
    in_order = Counter(piece for line in lines for piece in split(line, Splitter(O200K_PATTERN)))
    expected, _ = training_oracle.train(in_order, 60, tie_break="first_seen")
    encoding = bytemill.train(lines, 316, tie_break="first_seen", num_threads=threads, progress=False)
    assert encoding.merges() == expected
    counts = bytemill.count_pieces(lines * 20, num_threads=threads, progress=False)
    assert list(dict(counts)) == list(in_order)


def test_str_and_bytes_are_the_same_document(source_code: str) -> None:
    texts = [source_code[:5_000], "naïve 日本語 " * 10]
    as_bytes = [text.encode() for text in texts]
    assert dict(bytemill.count_pieces(texts)) == dict(bytemill.count_pieces(as_bytes))


# --- Patterns ---


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_by_name(name: str, source_code: str) -> None:
    text = source_code[:20_000] + " naïve 日本語, it's 12345 \r\n x"
    expected = Counter(split(text, Splitter(PATTERNS[name])))
    assert dict(bytemill.count_pieces([text], name, progress=False)) == expected
    encoding = bytemill.train([text], 300, pattern=name, progress=False)
    assert encoding._pat_str == PATTERNS[name]
    assert encoding.decode(encoding.encode(text)) == text


@pytest.mark.parametrize(
    "pattern",
    [
        LLAMA3_PATTERN.replace("{1,3}", "{1,2}"),  # of a native family
        r"[a-z]+|[^a-z]+",  # of the Rust engine
        r"(?<!x)[a-z]+|[^a-z]+|x",
        r"[a-z]+(?&blank)?|(?<blank>[^a-z]+)",  # of the `regex` package alone
    ],
)
def test_patterns_of_ones_own(pattern: str, source_code: str) -> None:
    text = source_code[:20_000]
    expected = Counter(split(text, Splitter(pattern)))
    assert dict(bytemill.count_pieces([text], pattern, num_threads=2, progress=False)) == expected
    encoding = bytemill.train([text], 300, pattern=pattern, progress=False)
    assert encoding.merges() == training_oracle.train(expected, 44)[0]
    assert encoding.encode_ordinary(text) == bytemill.train([text], 300, pattern=pattern).encode_ordinary(
        text
    )


def test_no_pattern() -> None:
    encoding = bytemill.train(["aaabdaaabac"], 259, pattern=None, tie_break="first_seen", progress=False)
    assert encoding.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert encoding.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"
    more = bytemill.train(["aaabdaaabac"], 260, initial=encoding, progress=False)
    assert more.merges()[:3] == encoding.merges()


def test_a_misspelt_name_is_no_pattern() -> None:
    with pytest.raises(ValueError, match=r"unknown pattern 'cl100'.*cl100k"):
        bytemill.train(["a"], 256, pattern="cl100")
    with pytest.raises(bytemill.PatternError):
        bytemill.train(["a"], 256, pattern="(")
    with pytest.raises(bytemill.PatternError):
        bytemill.train(["a"], 256, pattern="a*")


# --- Odd documents ---


def test_odd_documents() -> None:
    documents: list[str | bytes] = ["", "a", "\0\0\0 \0", "\ud800 and \ud83d\ude00", "ab" * 3, b"", b"ab\0ab"]
    encoding = bytemill.train(documents, 262, progress=False)
    assert b"ab" in encoding.vocab().values()
    replaced = [count for piece, count in bytemill.count_pieces(documents) if b"\xef\xbf\xbd" in piece]
    assert replaced == [1]


def test_bytes_that_are_not_utf8() -> None:
    counts = bytemill.count_pieces([b"hello \xff\xfe hello", b"\x80" * 5], errors="keep", progress=False)
    assert b"".join(piece * n for piece, n in counts).count(b"\x80") == 5
    assert sum(len(piece) * n for piece, n in counts) == len(b"hello \xff\xfe hello") + 5


@each_tie_break
def test_a_long_piece(tie_break: TieBreak) -> None:
    rng = random.Random(5)
    text = "".join(rng.choices("abcd", k=1_000_000)) + "a" * 1_000_000
    encoding = bytemill.train([text], 400, pattern=None, tie_break=tie_break, progress=False)
    assert encoding.n_vocab == 400
    assert encoding.decode(encoding.encode_ordinary(text)) == text


# --- Special tokens ---


def test_special_tokens_are_in_no_merge() -> None:
    text = "<|a|>x<|a|>x<|a|>yz<|b|>yz" * 3
    encoding = quietly_trained([text], 300, special_tokens=["<|b|>", "<|a|>"])
    assert set(encoding.vocab().values()) == {*training_oracle.BYTE_TOKENS, b"yz", b"<|a|>", b"<|b|>"}
    assert encoding._special_tokens == {"<|b|>": 257, "<|a|>": 258}
    assert encoding.encode("yz<|a|>", allowed_special="all") == [256, 258]


def test_special_tokens_count_in_the_size() -> None:
    text = "".join(random.Random(2).choices("abcd ", k=2_000))
    encoding = bytemill.train([text], 300, special_tokens=["<|endoftext|>", "<|pad|>"], progress=False)
    assert encoding.n_vocab == 300
    assert (encoding.eot_token, encoding._special_tokens["<|pad|>"]) == (298, 299)
    assert len(encoding.merges()) == 300 - 256 - 2
    assert encoding.max_token_value == 299


def test_chosen_ids() -> None:
    encoding = bytemill.train(["ab ab abc"], 259, special_tokens={"<|x|>": 1_000}, progress=False)
    assert len(encoding.merges()) == 2
    assert encoding.encode("ab<|x|>", allowed_special="all") == [256, 1_000]
    with pytest.raises(ValueError, match=r"from 258 on.* got 257"):
        bytemill.train(["ab ab abc"], 259, special_tokens={"<|x|>": 257})
    with pytest.raises(ValueError, match="the same id"):
        bytemill.train(["ab ab abc"], 300, special_tokens={"<|x|>": 400, "<|y|>": 400})


def test_padding() -> None:
    encoding = bytemill.train(["ab ab abc"], 259, special_tokens=["<|x|>"], pad_vocab_to=64, progress=False)
    assert encoding.n_vocab == 320
    assert encoding._special_tokens["<|x|>"] == 258
    assert encoding.decode([319]) == "<|reserved_319|>"
    assert bytemill.train(["ab ab abc"], 258, pad_vocab_to=129, progress=False).special_tokens_set == set()
    # They keep their names where they are passed on.
    reserved = {"<|reserved_319|>": 319}
    encoding = bytemill.train(["ab"], 258, special_tokens=reserved, pad_vocab_to=128, progress=False)
    assert (encoding.n_vocab, encoding._special_tokens["<|reserved_319|>"]) == (384, 319)


# --- Continuing and cutting short ---


def test_a_prefix_of_the_merges_is_what_less_training_gives(source_code: str) -> None:
    special = ["<|endoftext|>", "<|pad|>"]
    whole = bytemill.train([source_code], 1_000, special_tokens=special, progress=False)
    less = bytemill.train([source_code], 600, special_tokens=special, progress=False)
    cut = whole.with_vocab_size(600)
    assert cut.merges() == less.merges()
    assert cut.vocab() == less.vocab()
    assert cut._special_tokens == {"<|endoftext|>": 598, "<|pad|>": 599}
    assert cut.name == "custom_600"
    assert cut.encode(source_code[:9_999]) == less.encode(source_code[:9_999])
    assert whole.n_vocab == 1_000


def test_a_published_encoding_cut_short() -> None:
    whole = bytemill.get_encoding("cl100k_base")
    cut = whole.with_vocab_size(50_000, name="half")
    assert cut.name == "half"
    assert cut.n_vocab == 50_000
    assert cut.merges() == whole.merges()[: 50_000 - 256 - 5]
    assert cut.eot_token == 49_995
    text = "it goes on as before"
    assert cut.decode(cut.encode(text)) == text


@pytest.mark.parametrize("size", [0, 257, 1_001, -1])
def test_sizes_that_cannot_be(size: int, source_code: str) -> None:
    whole = bytemill.train([source_code], 1_000, special_tokens=["<|x|>", "<|y|>"], progress=False)
    with pytest.raises(ValueError, match="from 258 to 1000"):
        whole.with_vocab_size(size)


@each_tie_break
def test_continuing_is_training_on(tie_break: TieBreak, source_code: str) -> None:
    text = [source_code[:50_000]]
    whole = bytemill.train(text, 500, tie_break=tie_break, progress=False)
    part = bytemill.train(text, 400, tie_break=tie_break, special_tokens=["<|x|>"], progress=False)
    again = bytemill.train(text, 500, tie_break=tie_break, initial=part, progress=False)
    assert again.merges() == whole.merges()
    assert again.special_tokens_set == set()


@pytest.mark.parametrize("name", ["cl100k_base", "p50k_base"])
def test_continuing_a_published_encoding(name: str) -> None:
    initial = bytemill.get_encoding(name)
    text = "zyzzyva quokka zyzzyva quokka zyzzyva numbat " * 5
    first = max(initial._mergeable_ranks.values()) + 1
    size = first + 3
    encoding = bytemill.train([text], size + 1, initial=initial, special_tokens=["<|end|>"], progress=False)
    assert encoding._pat_str == initial._pat_str
    assert encoding.n_vocab == size + 1
    assert encoding.merges()[:-3] == initial.merges()
    assert {
        token: rank for token, rank in encoding._mergeable_ranks.items() if rank < first
    } == initial._mergeable_ranks
    new = [encoding.decode_single_token_bytes(token) for token in range(first, size)]
    assert all(b" zyzzyva quokka numbat".find(token) >= 0 for token in new)
    assert len(encoding.encode(text)) < len(initial.encode(text))


def test_an_encoding_that_cannot_be_continued() -> None:
    ranks = {b"ab": 0} | {bytes([byte]): byte + 1 for byte in range(256)}
    initial = bytemill.Encoding("odd", pat_str=O200K_PATTERN, mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(ValueError, match="first 256 token IDs"):
        bytemill.train(["ab"], 300, initial=initial)
    with pytest.raises(ValueError, match="at least 100256"):
        bytemill.train(["ab"], 300, initial=bytemill.get_encoding("cl100k_base"))


# --- The result ---


def test_the_result_is_an_encoding_like_any_other(source_code: str) -> None:
    encoding = bytemill.train([source_code], 700, special_tokens=["<|x|>"], name="mine", progress=False)
    assert repr(encoding) == f"<Encoding 'mine', {encoding.n_vocab} tokens>"
    again = pickle.loads(pickle.dumps(encoding))  # noqa: S301 - our own
    assert again.encode(source_code) == encoding.encode(source_code)
    assert again._special_tokens == encoding._special_tokens
    assert again.merges() == encoding.merges()
    assert encoding.encode_batch_to_numpy([source_code]).ids.tolist() == encoding.encode_ordinary(source_code)


@each_tie_break
def test_the_same_vocabulary_from_its_ranks(tie_break: TieBreak, source_code: str) -> None:
    # A trained encoding is built of its merges, without checks; from ranks, every split of a token is tried.
    for seed in range(60):
        rng = random.Random(seed)
        pieces = random_pieces(rng)
        longest = rng.choice([None, 2, 3])
        trained = quietly_trained(counts_of(pieces), 276, tie_break=tie_break, max_token_length=longest)
        from_ranks = bytemill.Encoding(
            "of ranks",
            pat_str=trained._pat_str,
            mergeable_ranks=dict(trained._mergeable_ranks),
            special_tokens={},
        )
        assert trained.merges() == from_ranks.merges()
        symbols = sorted({byte for piece in pieces for byte in piece})
        for _ in range(40):
            data = bytes(rng.choices(symbols, k=rng.randint(0, 30)))
            assert trained.encode_bytes(data) == from_ranks.encode_bytes(data)
        for token, token_id in trained._mergeable_ranks.items():
            assert trained._encode_single_piece(token) == [token_id]
            assert trained.encode_single_token(token) == token_id
    trained = train([source_code], 1_000, tie_break=tie_break, special_tokens=["<|a|>"], progress=False)
    again = pickle.loads(pickle.dumps(trained))  # noqa: S301 - it was just written
    text = source_code[::-1] + "<|a|>" + source_code
    assert trained.encode(text, allowed_special="all") == again.encode(text, allowed_special="all")
    assert trained.max_token_value == again.max_token_value == 999


def test_merges_that_continue_a_vocabulary_need_it() -> None:
    counts = bytemill.count_pieces(["abcabc"], None, progress=False)
    start = InitialVocabulary([bytes([byte]) for byte in range(256)], list(range(256)), [(97, 98)])
    learned = learn_merges(counts, 1, tie_break="smallest_pair", start=start)
    assert learned.pairs() == [(256, 99)]
    with pytest.raises(ValueError, match="the merges continue a vocabulary: expected those of training"):
        build_core(learned, {}, r"\S+")


@each_tie_break
def test_tiktoken_takes_the_vocabulary(tie_break: TieBreak, source_code: str, tmp_path: Path) -> None:
    encoding = bytemill.train([source_code], 2_000, tie_break=tie_break, pattern="cl100k", progress=False)
    path = tmp_path / "trained.tiktoken"
    encoding.save_tiktoken(path)
    ranks = tiktoken.load.load_tiktoken_bpe(str(path))
    assert len(ranks) == 2_000
    theirs = tiktoken.Encoding(
        "trained", pat_str=PATTERNS["cl100k"], mergeable_ranks=ranks, special_tokens={}
    )
    text = source_code + " other text, naïve 日本語 \n\n\t aaaaaaaaaaaaaaaaaaaaaaa"
    assert encoding.encode(text) == theirs.encode(text)


def test_random_vocabularies_in_tiktoken() -> None:
    rng = random.Random(8)
    for _ in range(200):
        pieces = random_pieces(rng)
        encoding = quietly_trained(counts_of(pieces), 280)
        ranks = encoding._mergeable_ranks
        assert len(set(ranks.values())) == len(ranks) == 256 + len(encoding.merges())
        theirs = tiktoken.Encoding("t", pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens={})
        for piece in pieces:
            assert encoding._encode_single_piece(piece) == theirs._encode_single_piece(piece)


def test_vocab_and_merges() -> None:
    encoding = bytemill.train(["ab ab abc"], 259, special_tokens=["<|x|>"], progress=False)
    assert encoding.merges() == [(97, 98), (32, 256)]
    assert list(encoding.vocab().items())[255:] == [
        (255, b"\xff"),
        (256, b"ab"),
        (257, b" ab"),
        (258, b"<|x|>"),
    ]


# --- Ending early ---


def test_ending_early_is_told() -> None:
    with pytest.warns(UserWarning, match="2 merges of 44: no pair is left$"):
        encoding = bytemill.train(["abc"], 300, progress=False)
    assert encoding.n_vocab == 258
    with pytest.warns(UserWarning, match="1 merges of 44: no pair is left that occurs 3 times$"):
        bytemill.train(["ab ab ab", "cd"], 300, pattern=r"\w+", min_frequency=3, progress=False)
    with pytest.warns(UserWarning, match="1 merges of 44: no pair is left of at most 2 bytes$"):
        bytemill.train(["abab"], 300, max_token_length=2, pattern=None, progress=False)
    with pytest.warns(UserWarning, match="0 merges of 44"):
        assert bytemill.train(["a"], 300, progress=False).n_vocab == 256


def test_min_frequency_is_of_the_pair() -> None:
    assert learn({b"ab": 2, b"abc": 1}, 5, min_frequency=3) == [(97, 98)]


# --- Arguments ---


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"vocab_size": 255}, ValueError, "at least 256"),
        ({"vocab_size": 257, "special_tokens": ["a", "b"]}, ValueError, "at least 258"),
        ({"tie_break": "largest"}, ValueError, "tie_break to be one of smallest_pair, "),
        ({"min_frequency": -1}, ValueError, "min_frequency"),
        ({"max_token_length": 0}, ValueError, "max_token_length"),
        ({"pad_vocab_to": 0}, ValueError, "pad_vocab_to"),
        ({"num_threads": 0}, ValueError, "num_threads must be 1 or more"),
        ({"special_tokens": "<|x|>"}, TypeError, "in a list"),
        ({"special_tokens": [b"x"]}, TypeError, "as str, got bytes"),
        ({"special_tokens": [""]}, ValueError, "none of them empty"),
        ({"special_tokens": ["x", "x"]}, ValueError, "different"),
        (
            {"special_tokens": {"<x>": 300.0}},
            TypeError,
            "the ID of the special token '<x>' must be an integer",
        ),
        ({"special_tokens": {"<x>": "300"}}, TypeError, "'<x>' must be an integer, not '300'"),
        ({"special_tokens": {"<x>": None, "<y>": None}}, TypeError, "'<x>' must be an integer, not None"),
        ({"special_tokens": {"<x>": 400, "<y>": 2**32 - 1}}, ValueError, "'<y>' from 0 to 4294967294, got "),
        ({"special_tokens": {"<x>": 2**33}}, ValueError, "'<x>' from 0 to 4294967294, got 8589934592"),
        ({"special_tokens": {"<x>": -5}}, ValueError, "'<x>' from 0 to 4294967294, got -5"),
        (
            {"special_tokens": ["<|reserved_301|>"], "pad_vocab_to": 64},
            ValueError,
            r"special token '<\|reserved_301\|>', which is the name of a token that pad_vocab_to may add",
        ),
        ({"special_tokens": {"<x>": 2**32 - 3}, "pad_vocab_to": 64}, ValueError, "can follow with IDs below"),
        ({"pattern": 3}, TypeError, "pattern as a string"),
        ({"source": b"text"}, TypeError, r"pass a single document as \[document\]"),
        ({"source": 3}, TypeError, "got int"),
        ({"source": [3]}, TypeError, "got int"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    whole: dict[str, Any] = {"source": ["text"], "vocab_size": 300, **arguments}
    with pytest.raises(error, match=message):
        train(**whole)


def test_bad_arguments_are_told_before_anything_is_read() -> None:
    def documents() -> Iterator[str]:
        yield pytest.fail("a document was read")

    with pytest.raises(ValueError, match="tie_break"):
        train(documents(), 300, tie_break="x")  # type: ignore[arg-type]


def test_counts_of_something_else() -> None:
    counts = bytemill.count_pieces(["ab ab"], "cl100k", special_tokens=["<|x|>"], progress=False)
    with pytest.raises(ValueError, match="come from the pattern"):
        train(counts, 258, pattern="o200k")
    with pytest.raises(ValueError, match=r"\['<\|y\|>'\] were not left out"):
        train(counts, 258, special_tokens=["<|y|>"])
    encoding = train(counts, 258, pattern="cl100k", progress=False)
    assert encoding._special_tokens == {"<|x|>": 257}
    assert encoding._pat_str == PATTERNS["cl100k"]


# --- Progress ---


def test_progress_is_told_to_a_function(monkeypatch: pytest.MonkeyPatch, source_code: str) -> None:
    monkeypatch.setattr("bytemill.progress.INTERVAL", 0)
    told: list[Progress] = []
    bytemill.train(source_code.splitlines(), 600, progress=told.append)
    assert told[-1].merges == told[-1].merges_wanted == 344
    assert told[-1].documents == len(source_code.splitlines())
    assert told[0].merges_wanted == 0
    assert told == sorted(told)


class EnoughError(Exception):
    """An error raised by a progress callback."""


def test_a_function_that_raises_ends_the_work() -> None:
    def raise_it(_: Progress) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        bytemill.count_pieces(["a"], progress=raise_it)


def test_nothing_is_shown_but_on_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    bytemill.train(["ab ab"], 257)
    assert capfd.readouterr() == ("", "")


def test_a_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("bytemill.progress.INTERVAL", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    bytemill.train(["ab ab"], 257)
    shown = capsys.readouterr().err
    assert "counting: 1 documents" in shown
    assert "merging: 1 of 1" in shown
    assert shown.endswith("\r\x1b[K")
