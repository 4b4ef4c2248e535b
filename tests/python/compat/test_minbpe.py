"""minbpe's classes: its examples, its files, its merges."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest

import bytemill
from bytemill.minbpe import BasicTokenizer, GPT4Tokenizer, RegexTokenizer, Tokenizer, base, basic, gpt4, regex
from bytemill.patterns import MINBPE_GPT2_PATTERN, MINBPE_GPT4_PATTERN
from bytemill.reference import train
from bytemill.training.learning import learn_merges
from bytemill.training.options import TieBreak
from support import training_oracle

TEXTS = ["", "?", "hello world!!!? (안녕하세요!) lol123 😉", Path(__file__).read_text(encoding="utf-8")]
SPECIAL = {"<|endoftext|>": 100_257, "<|fim_prefix|>": 100_258, "<|other|>": 100_259}
LLAMAS = "<|endoftext|>The llama (Lama glama) is domesticated. <|fim_prefix|>It is social.<|endoftext|>"


def trained(kind: type[Tokenizer]) -> Tokenizer:
    tokenizer = kind()
    tokenizer.train(TEXTS[-1], 256 + 64)
    return tokenizer


@pytest.mark.parametrize("text", TEXTS, ids=["nothing", "one", "many", "this file"])
@pytest.mark.parametrize(
    "make", [BasicTokenizer, RegexTokenizer, GPT4Tokenizer, lambda: trained(RegexTokenizer)]
)
def test_there_and_back(make: type[Tokenizer], text: str) -> None:
    tokenizer = make()
    encode = getattr(tokenizer, "encode_ordinary", tokenizer.encode)
    assert tokenizer.decode(encode(text)) == text


@pytest.mark.parametrize("kind", [BasicTokenizer, RegexTokenizer])
def test_the_example_of_wikipedia(kind: type[Tokenizer]) -> None:
    tokenizer = kind()
    tokenizer.train("aaabdaaabac", 256 + 3)
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tokenizer.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"
    assert tokenizer.merges == {(97, 97): 256, (256, 97): 257, (257, 98): 258}
    assert tokenizer.vocab[258] == b"aaab"


@pytest.mark.parametrize("pattern", ["", MINBPE_GPT4_PATTERN, MINBPE_GPT2_PATTERN, r"[a-z]+|[^a-z]+"])
def test_merges_are_those_of_the_reference(pattern: str) -> None:
    text = TEXTS[-1] + TEXTS[2] * 3
    tokenizer = RegexTokenizer(pattern) if pattern else BasicTokenizer()
    tokenizer.train(text, 500)
    assert list(tokenizer.merges) == train(text, 500, pattern=pattern or None, tie_break="first_seen")
    assert list(tokenizer.merges.values()) == list(range(256, 500))


def test_verbose_prints_each_merge(capsys: pytest.CaptureFixture[str]) -> None:
    BasicTokenizer().train("aaabdaaabac", 258, verbose=True)
    assert capsys.readouterr().out == (
        "merge 1/2: (97, 97) -> 256 (b'aa') had 4 occurrences\n"
        "merge 2/2: (256, 97) -> 257 (b'aaa') had 2 occurrences\n"
    )


def test_verbose_prints_what_was_learned_of_too_little_text(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no pairs left"):
        BasicTokenizer().train("ab", 300, verbose=True)
    assert capsys.readouterr().out == "merge 1/44: (97, 98) -> 256 (b'ab') had 1 occurrences\n"


@pytest.mark.parametrize("tie_break", ["first_seen", "smallest_pair", "huggingface", "greatest_bytes"])
def test_counts_of_merges_are_those_of_counting_again(tie_break: TieBreak) -> None:
    text = (TEXTS[-1] + "aaaaaaa" * 5).encode()
    counts = bytemill.count_pieces([text.decode()], None, progress=False)
    learned = learn_merges(counts, 200, tie_break=tie_break, num_threads=2)
    ids = list(text)
    for new_id, (pair, count) in enumerate(zip(learned.pairs(), learned.counts(), strict=True), start=256):
        stats = base.get_stats(ids)
        assert count == stats[pair] == max(stats.values())
        ids = base.merge(ids, pair, new_id)
    assert len(learned) == 200


# --- The functions and the base class, as a learner uses them ---


def test_get_stats() -> None:
    counts = base.get_stats([1, 2, 3, 1, 2])
    assert list(counts.items()) == [((1, 2), 2), ((2, 3), 1), ((3, 1), 1)]
    assert base.get_stats(b"aaa", counts) is counts
    assert counts[97, 97] == 2
    assert base.get_stats([]) == base.get_stats([1]) == {}


def test_merge() -> None:
    assert base.merge([1, 2, 3, 1, 2], (1, 2), 4) == [4, 3, 4]
    assert base.merge(ids=[1, 1, 1], pair=(1, 1), idx=2) == [2, 1]
    assert base.merge((1, 2), (2, 1), 3) == [1, 2]
    assert base.merge([], (1, 2), 3) == []


def test_render_token() -> None:
    assert base.render_token(b"a\n\xff\x85\xc2\x85") == "a\\u000a\ufffd\ufffd\\u0085"
    assert base.replace_control_characters("a\tb\u200b") == "a\\u0009b\\u200b"


class LearnersTokenizer(base.Tokenizer):
    """A tokenizer as the exercise has it: everything but the files is written by the learner."""

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:  # noqa: FBT001, FBT002
        ids = list(text.encode())
        self.merges = {}
        for new_id in range(256, vocab_size):
            stats = base.get_stats(ids)
            pair = max(stats, key=stats.__getitem__)
            ids = base.merge(ids, pair, new_id)
            self.merges[pair] = new_id
            if verbose:
                token = self._build_vocab()[new_id]
                which = f"{new_id - 255}/{vocab_size - 256}"
                print(f"merge {which}: {pair} -> {new_id} ({token!r}) had {stats[pair]} occurrences")  # noqa: T201
        self.vocab = self._build_vocab()


def test_the_base_class_is_for_derived_ones(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    theirs, ours = LearnersTokenizer(), BasicTokenizer()
    assert len(theirs.vocab) == 256
    with pytest.raises(NotImplementedError):
        theirs.encode("a")
    with pytest.raises(NotImplementedError):
        base.Tokenizer().train("a", 256)
    theirs.train(TEXTS[-1], 300, verbose=True)
    lines = capsys.readouterr().out
    ours.train(TEXTS[-1], 300, verbose=True)
    assert capsys.readouterr().out == lines
    assert theirs.merges == ours.merges
    theirs.save(str(tmp_path / "theirs"))
    ours.load(str(tmp_path / "theirs.model"))
    assert ours.vocab == theirs.vocab
    assert ours.encode("return tokenizer") == bytemill.Encoding.from_file(tmp_path / "theirs.model").encode(
        "return tokenizer"
    )


def test_assigned_attributes_take_effect() -> None:
    tokenizer = BasicTokenizer()
    assert tokenizer.encode("abc") == [97, 98, 99]
    tokenizer.merges = {(97, 98): 256}
    assert tokenizer.encode("abc") == [256, 99]
    split = RegexTokenizer()
    split.merges, split.pattern = {(97, 32): 256}, ".|\\s"
    assert split.encode("a ") == [97, 32]


def loop_of_minbpe(text: str, merges: dict[tuple[int, int], int]) -> list[int]:
    """Returns the token IDs of a text, as the loop of minbpe's `BasicTokenizer.encode` has them."""
    ids = list(text.encode())
    while len(ids) > 1:
        pair = min(base.get_stats(ids), key=lambda pair: merges.get(pair, float("inf")))
        if pair not in merges:
            break
        ids = base.merge(ids, pair, merges[pair])
    return ids


# Merges that files may have, the first as an encoding too; then such as only assignment makes.
MERGES: dict[str, dict[tuple[int, int], int]] = {
    "by rank": {(97, 98): 256, (98, 99): 257, (256, 99): 258},
    "made of other tokens": {(97, 98): 256, (98, 99): 257, (97, 257): 258},
    "the same bytes": {(97, 97): 256, (256, 97): 257, (97, 256): 258},
    "not in order": {(97, 98): 256, (98, 97): 257, (257, 256): 258, (256, 97): 259},
    "with a gap": {(97, 98): 300},
    "numbered otherwise": {(97, 98): 257, (98, 99): 256},
    "of one ID": {(97, 98): 256, (98, 99): 256},
    "of later tokens": {(97, 300): 301, (98, 99): 300},
    "of no tokens": {(97, 98): 256, (-1, 97): 257},
}


@pytest.mark.parametrize("name", MERGES)
def test_merges_are_followed_as_in_minbpe(name: str) -> None:
    tokenizer, split = BasicTokenizer(), RegexTokenizer(r"[^ ]+|\s")
    tokenizer.merges = split.merges = MERGES[name]
    split.special_tokens = {"<s>": 500}
    for size in range(6):
        for characters in product("abc", repeat=size):
            text = "".join(characters)
            ids = loop_of_minbpe(text, MERGES[name])
            assert tokenizer.encode(text) == split.encode(text) == ids
            parts = [*ids, 32, *ids]
            assert split.encode(f"{text} {text}") == parts
            assert split.encode(f"{text}<s>{text}", allowed_special="all") == [*ids, 500, *ids]
            if name not in {"of one ID", "of later tokens"}:
                assert split.decode([*parts, 500]) == f"{text} {text}<s>"
                assert tokenizer.decode(ids) == text
    with pytest.raises(ValueError, match=r"invalid token id: .*5000"):
        split.decode([97, 5000])


@pytest.mark.parametrize("name", ["made of other tokens", "the same bytes"])
def test_files_that_are_no_encodings(name: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.model"
    lines = [f"{left} {right}" for left, right in MERGES[name]]
    path.write_text("\n".join(["minbpe v1", "", "0", *lines]), encoding="utf-8")
    with pytest.raises(bytemill.VocabularyError):
        bytemill.Encoding.from_file(path)
    for tokenizer in (BasicTokenizer(), RegexTokenizer()):
        tokenizer.load(path)
        assert tokenizer.encode("aaabcab") == loop_of_minbpe("aaabcab", MERGES[name])


def test_the_basic_tokenizer_ignores_patterns_and_special_tokens(tmp_path: Path) -> None:
    tokenizer = RegexTokenizer()
    tokenizer.train("a b c" * 9, 257)
    tokenizer.register_special_tokens({"<|x|>": 300})
    tokenizer.save(tmp_path / "saved")
    basic = BasicTokenizer()
    basic.load(tmp_path / "saved.model")
    basic.merges = {(32, 98): 256, (97, 256): 257}
    assert basic.encode("a b<|x|>") == [257, *b"<|x|>"]


def test_names_of_the_modules() -> None:
    assert basic.BasicTokenizer is BasicTokenizer
    assert regex.RegexTokenizer is RegexTokenizer
    assert (regex.GPT2_SPLIT_PATTERN, regex.GPT4_SPLIT_PATTERN) == (MINBPE_GPT2_PATTERN, MINBPE_GPT4_PATTERN)
    assert gpt4.GPT4Tokenizer is GPT4Tokenizer
    assert gpt4.GPT4_SPECIAL_TOKENS["<|endofprompt|>"] == 100_276
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens(SPECIAL)
    assert tokenizer.inverse_special_tokens[100_259] == "<|other|>"


def test_recovered_merges() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    recovered = gpt4.recover_merges(encoding._mergeable_ranks)
    tokenizer = GPT4Tokenizer()
    assert recovered == tokenizer.merges
    assert tokenizer.inverse_byte_shuffle[tokenizer.byte_shuffle[65]] == 65
    with pytest.raises(bytemill.VocabularyError, match="cannot be made by any merges"):
        gpt4.recover_merges({bytes([byte]): byte for byte in range(256)} | {b"abc": 256})


def test_too_little_text() -> None:
    with pytest.raises(ValueError, match="no pairs left after 1 merges of 44"):
        BasicTokenizer().train("ab", 300)
    with pytest.raises(AssertionError):
        BasicTokenizer().train("ab", 255)


# --- Special tokens ---


def test_special_tokens() -> None:
    tokenizer = RegexTokenizer()
    tokenizer.train(TEXTS[-1], 300)
    tokenizer.register_special_tokens(SPECIAL)
    ids = tokenizer.encode(LLAMAS, allowed_special="all")
    assert ids[0] == ids[-1] == 100_257
    assert 100_258 in ids
    assert tokenizer.decode(ids) == LLAMAS
    assert tokenizer.encode(LLAMAS, allowed_special="none") == tokenizer.encode_ordinary(LLAMAS)
    assert tokenizer.encode(LLAMAS, allowed_special={"<|fim_prefix|>"}).count(100_258) == 1
    assert 100_257 not in tokenizer.encode(LLAMAS, allowed_special={"<|fim_prefix|>", "no token"})
    with pytest.raises(AssertionError):
        tokenizer.encode(LLAMAS)
    with pytest.raises(AssertionError):
        tokenizer.encode(LLAMAS, allowed_special="none_raise")
    with pytest.raises(ValueError, match="allowed_special=some not understood"):
        tokenizer.encode(LLAMAS, allowed_special="some")  # type: ignore[arg-type]
    tokenizer.register_special_tokens({"<|new|>": 5_000})
    assert tokenizer.special_tokens == {"<|new|>": 5_000}
    assert tokenizer.encode(LLAMAS) == tokenizer.encode_ordinary(LLAMAS)
    assert tokenizer.vocab[5_000] == b"<|new|>"


@pytest.mark.parametrize("merges", [{}, {(97, 98): 300}], ids=["compiled", "in Python"])
def test_the_first_special_token_counts(merges: dict[tuple[int, int], int]) -> None:
    tokenizer = RegexTokenizer()
    tokenizer.merges = merges
    tokenizer.register_special_tokens({"<a>": 400, "<a>b": 401, "<a>bc": 402, "<c>d": 403, "<c>": 404})
    assert tokenizer.encode("x<a>b", allowed_special="all") == [120, 400, 98]
    assert tokenizer.encode("<a>bc<c>d<c>", allowed_special="all") == [400, 98, 99, 403, 404]
    assert tokenizer.encode("<a>bc<c>d", allowed_special={"<a>b", "<a>bc", "<c>"}) == [401, 99, 404, 100]
    tokenizer.special_tokens = dict(reversed(tokenizer.special_tokens.items()))
    assert tokenizer.encode("<a>bc<c>d", allowed_special="all") == [402, 404, 100]


def test_training_again_keeps_special_tokens() -> None:
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens(SPECIAL)
    tokenizer.train(TEXTS[-1], 300)
    assert tokenizer.encode("<|other|>", allowed_special="all") == [100_259]
    assert len(tokenizer.merges) == 44


@pytest.mark.parametrize("ids", [[300], [-1], [2**40]])
def test_unknown_ids(ids: list[int]) -> None:
    with pytest.raises(ValueError, match="invalid token id"):
        RegexTokenizer().decode(ids)


def test_bytes_that_are_not_utf8() -> None:
    assert BasicTokenizer().decode([0xFF, 97]) == "\ufffda"


# --- GPT-4 ---


@pytest.mark.parametrize("text", TEXTS, ids=["nothing", "one", "many", "this file"])
def test_gpt4(text: str) -> None:
    tokenizer = GPT4Tokenizer()
    encoding = bytemill.get_encoding("cl100k_base")
    assert tokenizer.encode(text, allowed_special="none") == encoding.encode_ordinary(text)
    assert tokenizer.encode(LLAMAS + text, allowed_special="all") == encoding.encode(
        LLAMAS + text, allowed_special="all"
    )
    assert tokenizer.decode(tokenizer.encode(LLAMAS, allowed_special="all")) == LLAMAS


def test_gpt4_has_its_merges() -> None:
    tokenizer = GPT4Tokenizer()
    encoding = bytemill.get_encoding("cl100k_base")
    assert len(tokenizer.merges) == 100_000
    assert tokenizer.byte_shuffle[0] == encoding.encode_single_token(b"\0")
    left, right = next(iter(tokenizer.merges))
    assert tokenizer.vocab[left] + tokenizer.vocab[right] == tokenizer.vocab[256] == b"  "
    tokenizer.register_special_tokens({"<|new|>": 200_000})
    assert tokenizer.encode("hello<|new|>", allowed_special="all") == [15339, 200_000]


def test_gpt4_is_what_it_is(tmp_path: Path) -> None:
    tokenizer = GPT4Tokenizer()
    with pytest.raises(NotImplementedError):
        tokenizer.train("text", 300)
    with pytest.raises(NotImplementedError):
        tokenizer.save(tmp_path / "gpt4")
    with pytest.raises(NotImplementedError):
        tokenizer.load(tmp_path / "gpt4.model")
    with pytest.raises(AssertionError):
        tokenizer.save_vocab(tmp_path / "gpt4.txt")
    tokenizer.save_vocab(tmp_path / "gpt4.vocab")
    lines = (tmp_path / "gpt4.vocab").read_text(encoding="utf-8").splitlines()
    assert lines[256] == "[ ][ ] -> [  ] 256"
    assert [path.name for path in tmp_path.iterdir()] == ["gpt4.vocab"]


# --- Files ---

MODEL = f"""minbpe v1
{MINBPE_GPT4_PATTERN}
1
<|endoftext|> 300
97 98
256 99
10 10
"""


def test_a_file_of_minbpe(tmp_path: Path) -> None:
    (tmp_path / "theirs.model").write_text(MODEL, encoding="utf-8", newline="\n")
    tokenizer = RegexTokenizer()
    tokenizer.load(tmp_path / "theirs.model")
    assert tokenizer.pattern == MINBPE_GPT4_PATTERN
    assert tokenizer.merges == {(97, 98): 256, (256, 99): 257, (10, 10): 258}
    assert tokenizer.encode("abcab\n\n<|endoftext|>", allowed_special="all") == [257, 256, 258, 300]
    tokenizer.save(str(tmp_path / "ours"))
    assert (tmp_path / "ours.model").read_bytes() == MODEL.encode()
    lines = (tmp_path / "ours.vocab").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "[\\u0000] 0"
    assert lines[97] == "[a] 97"
    assert lines[200] == "[\ufffd] 200"
    assert lines[256:] == [
        "[a][b] -> [ab] 256",
        "[ab][c] -> [abc] 257",
        "[\\u000a][\\u000a] -> [\\u000a\\u000a] 258",
        "[<|endoftext|>] 300",
    ]


@pytest.mark.parametrize("kind", [BasicTokenizer, RegexTokenizer])
@pytest.mark.parametrize("special_tokens", [{}, SPECIAL])
def test_save_and_load(kind: type[Tokenizer], special_tokens: dict[str, int], tmp_path: Path) -> None:
    tokenizer = trained(kind)
    if isinstance(tokenizer, RegexTokenizer):
        tokenizer.register_special_tokens(special_tokens)
    ids = tokenizer.encode(TEXTS[2])
    tokenizer.save(tmp_path / "saved")
    again = kind()
    again.load(tmp_path / "saved.model")
    assert again.encode(TEXTS[2]) == ids
    assert again.merges == tokenizer.merges
    assert again.vocab == tokenizer.vocab
    assert again.special_tokens == tokenizer.special_tokens
    assert sorted(path.name for path in tmp_path.iterdir()) == ["saved.model", "saved.vocab"]


def test_lines_end_where_they_do_in_files(tmp_path: Path) -> None:
    pattern = "[\u2028\x85\x0c ]|[^\u2028\x85\x0c ]+"
    (tmp_path / "theirs.model").write_bytes(f"minbpe v1\r\n{pattern}\n0\n97 98\r\n".encode())
    tokenizer = RegexTokenizer()
    tokenizer.load(tmp_path / "theirs.model")
    assert tokenizer.pattern == pattern
    assert tokenizer.encode("ab\u2028ab") == [256, *"\u2028".encode(), 256]
    tokenizer.save(tmp_path / "ours")
    again = RegexTokenizer()
    again.load(tmp_path / "ours.model")
    assert (again.pattern, again.merges) == (pattern, {(97, 98): 256})


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "damaged.model"
    path.write_bytes(b"minbpe v1\n\n1\n<\xff> 300\n")
    for read in (RegexTokenizer().load, bytemill.Encoding.from_file):
        with pytest.raises(bytemill.VocabularyError, match=r"damaged\.model: expected text in UTF-8"):
            read(path)


def test_what_the_file_cannot_hold(tmp_path: Path) -> None:
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens({"<|end of text|>": 300})
    with pytest.raises(ValueError, match=r"<\|end of text\|>.* without blanks"):
        tokenizer.save(tmp_path / "saved")
    with pytest.raises(ValueError, match="expected one line"):
        RegexTokenizer("(?x) a+\n| b").save(tmp_path / "saved")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["minbpe v2", "", "0"], "line 1: expected 'minbpe v1'"),
        ([], "line 1: expected 'minbpe v1'"),
        (["minbpe v1"], "line 3: invalid literal"),
        (["minbpe v1", "", "one"], "line 3: invalid literal"),
        (["minbpe v1", "", "1", "<|x|>"], "line 4: not enough values"),
        (["minbpe v1", "", "1", "<|x|> 300 301"], "line 4: too many values"),
        (["minbpe v1", "", "2", "<|x|> 300"], "expected 2 special tokens, got 1"),
        (["minbpe v1", "", "1", "<|x|> -1"], "line 4: expected an id from 0 to 4294967294"),
        (["minbpe v1", "", "1", "<|x|> 4294967295"], "line 4: expected an id from 0 to 4294967294"),
        (["minbpe v1", "", "0", "97"], "line 4: not enough values"),
        (["minbpe v1", "", "0", "97 256"], "line 4: expected two IDs from 0 to 255"),
        (["minbpe v1", "", "0", "97 97", "97 97"], "line 5: the pair is merged already"),
    ],
)
def test_files_that_are_damaged(lines: list[str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.model"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    tokenizer = trained(BasicTokenizer)
    merges = dict(tokenizer.merges)
    with pytest.raises(bytemill.VocabularyError, match=message) as refused:
        tokenizer.load(path)
    assert str(path) in str(refused.value)
    assert tokenizer.merges == merges
    with pytest.raises(AssertionError):
        tokenizer.load(tmp_path / "damaged.txt")


def test_every_token_of_a_trained_one_is_reached() -> None:
    tokenizer = trained(RegexTokenizer)
    merges: Iterable[tuple[int, int]] = tokenizer.merges
    for token_id, token in enumerate(training_oracle.token_bytes(list(merges))):
        assert tokenizer.vocab[token_id] == token
