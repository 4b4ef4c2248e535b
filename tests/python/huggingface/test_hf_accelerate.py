"""`bytemill.hf.accelerate`: tokenizers of `transformers` return what they returned before."""

# ruff: noqa: S105, S106, S301 - no passwords; what this test pickled itself

from __future__ import annotations

import copy
import itertools
import json
import os
import pickle
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import bytemill
from bytemill import hf
from bytemill.hf import samples
from bytemill.hf.accelerated import ENGINE, Accelerated, Held, held_of
from support.outcomes import outcome, plain
from support.subprocesses import has_fork
from support.toy_tokenizers import PROCESSORS, TEXTS, byte_level

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

tokenizers: Any = pytest.importorskip("tokenizers")
transformers: Any = pytest.importorskip("transformers")
datasets: Any = pytest.importorskip("datasets.fingerprint")
dill: Any = pytest.importorskip("datasets.utils._dill")


def tokenizer_of(processor: str = "template", **options: Any) -> Any:
    """Returns a tokenizer of `transformers`."""
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_level(processor),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        **options,
    )


def both(processor: str = "template", **options: Any) -> tuple[Any, Any]:
    """Returns a tokenizer, and the same, accelerated."""
    ours = tokenizer_of(processor, **options)
    assert hf.accelerate(ours) is ours
    return tokenizer_of(processor, **options), ours


def check(ours: Any, theirs: Any) -> None:
    """Compares two results."""
    assert type(ours) is type(theirs)
    if not isinstance(theirs, transformers.BatchEncoding):
        assert ours == theirs
        return
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        assert type(ours[name]) is type(value)
        assert plain(ours[name]) == plain(value)
        assert getattr(ours[name], "dtype", None) == getattr(value, "dtype", None)
        assert getattr(ours[name], "shape", None) == getattr(value, "shape", None)
    assert ours.is_fast == theirs.is_fast
    assert vars(ours).get("_n_sequences") == vars(theirs).get("_n_sequences")
    assert len(ours.encodings or []) == len(theirs.encodings or [])


ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"add_special_tokens": False},
    {"padding": True},
    {"padding": "longest", "padding_side": "left", "pad_to_multiple_of": 8},
    {"padding": "max_length", "max_length": 64},
    {"padding": "max_length", "max_length": 16, "truncation": True},
    {"truncation": True, "max_length": 7, "return_special_tokens_mask": True, "return_length": True},
    {"truncation": "only_first", "max_length": 9, "add_special_tokens": False, "padding": True},
    {"truncation": "only_second", "max_length": 9},
    {"truncation": True, "max_length": 2},
    {"truncation": True, "max_length": 1},
    {"truncation": True, "max_length": 8, "stride": 2, "return_overflowing_tokens": True},
    {"return_offsets_mapping": True},
    {"return_token_type_ids": True, "return_attention_mask": False},
    {"return_token_type_ids": True, "padding": True, "return_special_tokens_mask": True},
    {"return_tensors": "np"},
    {"return_tensors": "np", "padding": True},
    {"return_tensors": "np", "padding": True, "truncation": True, "max_length": 12, "return_length": True},
    {"split_special_tokens": True},
    {"split_special_tokens": False, "verbose": False},
]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_calls(processor: str) -> None:
    theirs, ours = both(processor)
    inputs: list[Any] = [TEXTS, tuple(TEXTS[:5]), TEXTS[2:3], [], TEXTS[4], "", "a<s>b", None, 1, [1]]
    for given in inputs:
        for options in ARGUMENTS:
            check(outcome(lambda: ours(given, **options)), outcome(lambda: theirs(given, **options)))  # noqa: B023


@pytest.mark.parametrize("side", ["left", "right"])
def test_sides(side: str) -> None:
    theirs, ours = both(truncation_side=side, padding_side=side)
    for options in ARGUMENTS:
        check(outcome(lambda: ours(TEXTS, **options)), outcome(lambda: theirs(TEXTS, **options)))  # noqa: B023


def test_pairs_words_and_targets() -> None:
    theirs, ours = both()
    calls: list[Callable[[Any], Any]] = [
        lambda tokenizer: tokenizer("a b", "c d"),
        lambda tokenizer: tokenizer(TEXTS[1:4], TEXTS[2:5], padding=True),
        lambda tokenizer: tokenizer(["a", "b"], is_split_into_words=True),
        lambda tokenizer: tokenizer([("a", "b")]),
        lambda tokenizer: tokenizer("a", text_target="b c"),
        lambda tokenizer: tokenizer(text_target=["b c"]),
        lambda tokenizer: tokenizer.encode("Hello there"),
        lambda tokenizer: tokenizer.encode("Hello there", truncation=True, max_length=4),
        lambda tokenizer: tokenizer.encode("a", "b"),
        lambda tokenizer: tokenizer.tokenize("Hello  there<s>"),
        lambda tokenizer: tokenizer.pad(tokenizer(TEXTS[2:6]), padding="longest"),
    ]
    for call in calls:
        check(outcome(lambda: call(ours)), outcome(lambda: call(theirs)))  # noqa: B023


def test_offsets_are_made_when_they_are_asked_for() -> None:
    theirs, ours = both("sequence")
    for options in ARGUMENTS[:7]:
        our, their = ours(TEXTS[2:9], **options), theirs(TEXTS[2:9], **options)
        for index in range(7):
            assert our.tokens(index) == their.tokens(index)
            assert our.word_ids(index) == their.word_ids(index)
            assert our[index].offsets == their[index].offsets
            assert our.char_to_token(index, 1) == their.char_to_token(index, 1)
        back = pickle.loads(pickle.dumps(our))
        check(back, pickle.loads(pickle.dumps(their)))
        assert back.tokens(1) == their.tokens(1)


def test_decoding() -> None:
    for cleans in (False, True):
        theirs, ours = both(clean_up_tokenization_spaces=cleans)
        rows = theirs(TEXTS)["input_ids"] + [[300, 1, 2], [], [5, 10_000]]
        for skips in (True, False):
            assert ours.batch_decode(rows, skips) == theirs.batch_decode(rows, skips)
            assert ours.decode(rows, skips) == theirs.decode(rows, skips)
            for ids in [*rows, 40, np.array(rows[5]), np.array(rows[5][:4]).reshape(2, 2), tuple(rows[5])]:
                assert outcome(lambda: ours.decode(ids, skips)) == outcome(lambda: theirs.decode(ids, skips))  # noqa: B023
            assert ours.decode(
                rows[6], skip_special_tokens=skips, clean_up_tokenization_spaces=True
            ) == theirs.decode(rows[6], skip_special_tokens=skips, clean_up_tokenization_spaces=True)


def test_changes_of_the_tokenizer_are_seen() -> None:
    theirs, ours = both()
    text = "a<new>b <more> c zzz"
    for tokenizer in (theirs, ours):
        tokenizer.add_special_tokens({"additional_special_tokens": ["<new>"]})
        tokenizer.add_special_tokens({"sep_token": "<more>"})
    check(ours(text), theirs(text))
    assert len(ours) == len(theirs)
    assert ours.decode(ours(text)["input_ids"]) == theirs.decode(theirs(text)["input_ids"])
    for tokenizer in (theirs, ours):
        tokenizer.split_special_tokens = True
        tokenizer.padding_side = "left"
        tokenizer.model_max_length = 4
    check(ours([text, "a"], padding=True), theirs([text, "a"], padding=True))
    check(ours(text, truncation=True), theirs(text, truncation=True))
    for tokenizer in (theirs, ours):
        tokenizer.add_bos_token = True
        tokenizer.add_eos_token = False
    check(ours(text), theirs(text))


def test_restore() -> None:
    theirs, ours = both()
    kind = type(ours)
    assert issubclass(kind, Accelerated)
    assert hf.accelerate(ours) is ours
    assert type(ours) is kind
    assert hf.restore(ours) is ours
    assert type(ours) is type(theirs)
    assert vars(ours).keys() == vars(theirs).keys()
    check(ours(TEXTS), theirs(TEXTS))
    assert hf.restore(theirs) is theirs


def test_whether_a_tokenizer_is_accelerated() -> None:
    theirs, ours = both()
    assert (hf.is_accelerated(theirs), hf.is_accelerated(ours), hf.is_accelerated(None)) == (
        False,
        True,
        False,
    )
    assert "(accelerated by bytemill)" in repr(type(ours))
    assert type(ours).__name__ == type(theirs).__name__
    assert hf.is_accelerated(copy.deepcopy(ours))
    assert not hf.is_accelerated(hf.restore(ours))


def test_pickles_are_not_much_larger() -> None:
    theirs, ours = both()
    ours(TEXTS)
    assert len(pickle.dumps(ours)) <= 1.5 * len(pickle.dumps(theirs))


def test_copies() -> None:
    theirs, ours = both()
    for other in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert type(other) is type(ours)
        check(other(TEXTS, padding=True), theirs(TEXTS, padding=True))
        assert type(hf.restore(other)) is type(theirs)
    assert isinstance(ours, Accelerated)


def test_saving(tmp_path: Path) -> None:
    theirs, ours = both()
    theirs.save_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    names = sorted(path.name for path in (tmp_path / "theirs").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "ours").iterdir())
    for name in names:
        assert (tmp_path / "ours" / name).read_text() == (tmp_path / "theirs" / name).read_text()
    loaded = hf.accelerate(transformers.AutoTokenizer.from_pretrained(tmp_path / "ours"))
    check(loaded(TEXTS), theirs(TEXTS))


def test_chat_templates() -> None:
    pytest.importorskip("jinja2")
    theirs, ours = both()
    chats = [[{"role": "user", "content": text}] for text in TEXTS[2:5]]
    for tokenizer in (theirs, ours):
        tokenizer.chat_template = "{% for m in messages %}<s>{{ m.role }}\n{{ m.content }}</s>{% endfor %}"
    for chat in chats:
        check(ours.apply_chat_template(chat), theirs.apply_chat_template(chat))
    check(ours.apply_chat_template(chats, padding=True), theirs.apply_chat_template(chats, padding=True))


@pytest.mark.parametrize("processes", [None, 2])
def test_datasets(processes: int | None) -> None:
    datasets: Any = pytest.importorskip("datasets")
    theirs, ours = both()
    table = datasets.Dataset.from_dict({"text": TEXTS})
    rows = table.map(lambda batch: ours(batch["text"]), batched=True, batch_size=4, num_proc=processes)
    assert rows["input_ids"][:] == theirs(TEXTS)["input_ids"]


def test_what_cannot_be_exact_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a fast tokenizer of transformers, not str"):
        hf.accelerate("gpt2")
    file = json.loads(byte_level().to_str())
    file["pre_tokenizer"] = {"type": "UnicodeScripts"}
    other = byte_level()
    tokenizer = tokenizer_of()
    tokenizer._tokenizer = type(other).from_str(json.dumps(file))
    with pytest.raises(bytemill.VocabularyError, match="pre_tokenizer"):
        hf.accelerate(tokenizer)
    assert not isinstance(tokenizer, Accelerated)

    class Own(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]
        def _encode_plus(self, *args: Any, **kwargs: Any) -> Any:
            return super()._encode_plus(*args, **kwargs)

    with pytest.raises(TypeError, match="the class Own has its own _encode_plus"):
        hf.accelerate(Own(tokenizer_object=byte_level()))


def test_older_versions_of_transformers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 4 has no such module, and another name of the class."""
    monkeypatch.setattr(transformers, "__version__", "4.57.1")
    monkeypatch.setitem(sys.modules, "transformers.tokenization_utils_tokenizers", None)
    with pytest.raises(ImportError, match=r"need transformers 5 or later, not 4\.57\.1: upgrade it"):
        hf.accelerate(tokenizer_of())


def test_samples_find_differences() -> None:
    tokenizer = tokenizer_of()
    from bytemill.hf.engine import Engine
    from bytemill.hf.samples import check as compare

    engine = Engine.parse(tokenizer.backend_tokenizer.to_str().encode(), "tokenizer")
    compare(tokenizer.backend_tokenizer, engine)
    tokenizer.backend_tokenizer.post_processor = byte_level("bert").post_processor
    compare(tokenizer.backend_tokenizer, engine)
    tokenizer.backend_tokenizer.post_processor = byte_level("two_tokens").post_processor
    with pytest.raises(bytemill.VocabularyError, match="the token IDs of 'Hello, world!' would be"):
        compare(tokenizer.backend_tokenizer, engine)
    tokenizer.add_tokens(["lo, w"])
    with pytest.raises(bytemill.VocabularyError, match="the token IDs of 'Hello, world!' would be"):
        compare(tokenizer.backend_tokenizer, engine)


TEMPLATE = (
    "{% for message in messages %}<s>{{ message.role }}\n{{ message.content }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n<think>\n{% endif %}"
)


def test_conversations_through_a_cache() -> None:
    theirs = tokenizer_of("template")
    cache = bytemill.PrefixCache(min_text=100)
    ours = hf.accelerate(tokenizer_of("template"), prefix_cache=cache)
    messages = []
    for turn in range(12):
        messages.append({"role": "user", "content": f"turn {turn}: " + "words and more, of all kinds\n" * 60})
        for options in ({"tokenize": True, "add_generation_prompt": True}, {"return_dict": True}):  # type: dict[str, Any]
            both_ids = [
                each.apply_chat_template(messages, chat_template=TEMPLATE, **options)
                for each in (ours, theirs)
            ]
            check(*both_ids)
        text = theirs.apply_chat_template(messages, chat_template=TEMPLATE, tokenize=False)
        assert ours.encode(text) == theirs.encode(text)
        check(ours(text, return_tensors="np"), theirs(text, return_tensors="np"))
    stats = cache.stats()
    assert stats.hits > 20
    assert stats.reused_bytes > 200_000
    # A copy shares the cache, and a pickle takes its size along.
    assert copy.deepcopy(ours).encode(text) == theirs.encode(text)
    assert cache.stats().hits == stats.hits + 1
    again = pickle.loads(pickle.dumps(ours))
    assert again.encode(text) == theirs.encode(text)
    assert again._bytemill_engine.prefix_cache.stats().misses == 1
    # Without the argument there is none.
    assert hf.accelerate(ours).encode(text) == theirs.encode(text)
    assert cache.stats().hits == stats.hits + 1


def test_sizes_of_a_cache() -> None:
    ours = hf.accelerate(tokenizer_of(), prefix_cache=1 << 20)
    assert ours.encode("some words " * 2_000) == tokenizer_of().encode("some words " * 2_000)
    with pytest.raises(ValueError, match="0 or more, got -1"):
        hf.accelerate(tokenizer_of(), prefix_cache=-1)
    with pytest.raises(TypeError, match="prefix_cache"):
        hf.accelerate(tokenizer_of(), prefix_cache="large")  # type: ignore[arg-type]


def test_fingerprints_of_datasets_hold_the_tokenizer_alone() -> None:
    theirs, ours = both()
    hashed = datasets.Hasher.hash(ours)
    # The class is named, not hashed with the code of its methods.
    data = dill.dumps(ours)
    assert b"create_type" not in data
    assert len(data) < len(dill.dumps(theirs)) + 1000
    ours("hello world")
    pickle.dumps(ours)
    assert datasets.Hasher.hash(ours) == hashed
    again = both()[1]
    assert datasets.Hasher.hash(again) == hashed


@pytest.mark.parametrize("setting", [True, False])
@pytest.mark.parametrize("given", [None, True, False])
def test_spaces_are_cleaned_up_as_the_model_asks(setting: bool, given: bool | None) -> None:  # noqa: FBT001
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *["do", "n", "'", "t", "so", "?", ".", ",", "!"]]
    vocabulary = {token: place for place, token in enumerate(tokens)}

    def made() -> Any:
        return transformers.BertTokenizerFast(vocab=vocabulary, clean_up_tokenization_spaces=setting)

    theirs, ours = made(), hf.accelerate(made())
    rows = [[5, 6, 7, 8, 10], [2, 9, 12, 9, 13, 3], [], [11, 11]]
    options = {} if given is None else {"clean_up_tokenization_spaces": given}
    for skips in (True, False):
        expected = theirs.batch_decode(rows, skips, **options)
        assert ours.batch_decode(rows, skips, **options) == expected
        assert ours.decode(rows, skips, **options) == expected
        assert [ours.decode(ids, skips, **options) for ids in rows] == expected
    assert (expected[0] == "don't?") == (setting if given is None else given)


# --- Classes that change the tokenizer itself ---


def accelerated_pair(make: Callable[[], Any]) -> tuple[Any, Any]:
    """Returns two tokenizers of a class, the second accelerated."""
    return make(), hf.accelerate(make())


def test_another_language_is_another_post_processor() -> None:
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *"\u2581abcd", "<mask>"]
    vocab = [(piece, -0.5 * place) for place, piece in enumerate(pieces)]
    theirs, ours = accelerated_pair(
        lambda: transformers.MBartTokenizer(vocab=vocab, src_lang="en_XX", tgt_lang="ro_RO")
    )
    for text, options in (
        ("a b", {}),
        ("a b", {"text_target": "c d"}),
        (["a", "b"], {"text_target": ["c", "d"]}),
    ):
        check(ours(text, **options), theirs(text, **options))
    assert theirs("a", text_target="c")["labels"][-1] != theirs("a")["input_ids"][-1]
    for language in ("ro_RO", "de_DE", "en_XX"):
        theirs.src_lang = ours.src_lang = language
        check(ours("a b"), theirs("a b"))
    assert hf.is_accelerated(ours)


def test_a_tokenizer_with_its_own_decode_is_asked() -> None:
    letters = [f"{letter}{end}" for end in ("", "</w>") for letter in "ab"]
    vocab = {token: place for place, token in enumerate(["<|startoftext|>", "<|endoftext|>", *letters])}
    theirs, ours = accelerated_pair(lambda: transformers.CLIPTokenizer(vocab=vocab, merges=[]))
    ids = theirs("ab b")["input_ids"]
    check(ours("ab b"), theirs("ab b"))
    for skips in (False, True):
        assert ours.decode(ids, skip_special_tokens=skips) == theirs.decode(ids, skip_special_tokens=skips)
        assert ours.batch_decode([ids, ids], skip_special_tokens=skips) == theirs.batch_decode(
            [ids, ids], skip_special_tokens=skips
        )
    assert "</w>" not in ours.decode(ids)
    assert hf.is_accelerated(ours)


def test_original_methods_leave_no_settings_behind() -> None:
    ours = both()[1]
    # Both raise, or run the original methods.
    for options in (
        {"truncation": "only_second", "max_length": 1, "padding": "max_length"},
        {"split_special_tokens": True},
    ):
        outcome(lambda: ours("a b c", padding_side="left", **options))  # noqa: B023
        assert ours.backend_tokenizer.padding is None
        assert ours.backend_tokenizer.truncation is None


def translating() -> Any:
    """Returns a tokenizer as files of NLLB have it, whose offsets are those of the original methods."""
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", "a", "b", "\u2581a", "<mask>"]
    tokenizer = transformers.NllbTokenizer(
        vocab={token: place for place, token in enumerate(tokens)},
        merges=[("\u2581", "a")],
        src_lang="eng_Latn",
        tgt_lang="fra_Latn",
        mask_token=transformers.AddedToken("<mask>", lstrip=True, special=True),
    )
    tokenizer.backend_tokenizer.normalizer = tokenizers.normalizers.NFKC()
    return tokenizer


def test_encodings_are_of_the_call_whatever_changes_afterwards() -> None:
    found = []
    for tokenizer in accelerated_pair(translating):
        words, pairs = [["a", "b"], ["b"]], ["b"]
        results = [
            tokenizer(text_target="a b"),
            tokenizer("a b", padding="max_length", max_length=9),
            tokenizer(words, is_split_into_words=True),
            tokenizer(["a"], pairs),
            tokenizer("a b a b", truncation=True, max_length=4, stride=1, return_overflowing_tokens=True),
        ]
        tokenizer.src_lang, tokenizer.padding_side, tokenizer.truncation_side = "fra_Latn", "left", "left"
        tokenizer.pad_token = "a"
        tokenizer.add_tokens(["a b"])
        words[0][0] = pairs[0] = "a a a"
        found.append([[(each.tokens, each.offsets) for each in result.encodings] for result in results])
        assert [each.ids for each in results[2].encodings] == results[2]["input_ids"]
    assert found[1] == found[0]


def test_reading_encodings_leaves_the_tokenizer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may encode with it meanwhile."""
    theirs, ours = accelerated_pair(translating)
    expected, found = theirs("a b"), ours("a b")

    def fail(*_args: Any, **_options: Any) -> None:
        raise AssertionError("the settings were changed")

    monkeypatch.setattr(transformers.TokenizersBackend, "set_truncation_and_padding", fail)
    before = ours.backend_tokenizer.to_str()
    assert found.encodings[0].offsets == expected.encodings[0].offsets
    assert ours.backend_tokenizer.to_str() == before


def test_tokens_added_while_an_engine_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = both()
    compare = samples.check

    def compare_and_add(backend: Any, engine: Any) -> None:
        compare(backend, engine)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(ours.add_tokens, ["<new>"]).result() == 1

    for tokenizer in (theirs, ours):
        tokenizer.add_tokens(["<old>"])
    with monkeypatch.context() as patches:
        patches.setattr("bytemill.hf.accelerated.check", compare_and_add)
        check(ours("<old>"), theirs("<old>"))
    theirs.add_tokens(["<new>"])
    check(ours("<old> <new>"), theirs("<old> <new>"))
    assert hf.is_accelerated(ours)


def test_tokens_added_while_a_tokenizer_is_copied() -> None:
    ours = both()[1]
    held, backend = ours.__dict__[ENGINE], ours.backend_tokenizer
    # Copying copies the attributes one after the other.
    memo = {id(backend): copy.deepcopy(backend)}
    ours.add_tokens(["<new>"])
    added = ours.encode("<new>")
    engine = copy.deepcopy(held, memo).engine()
    expected = both()[0].encode("<new>", add_special_tokens=False)
    assert engine.rows(["<new>"], finds_special=True) == [expected]
    assert ours.encode("<new>") == copy.deepcopy(ours).encode("<new>") == added


def test_a_post_processor_set_while_an_engine_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = both()
    processors = [byte_level(name).post_processor for name in ("two_tokens", "template")]
    others, processor_of = itertools.cycle(processors), Held._processor

    def read_and_set(held: Held) -> bytes:
        state = processor_of(held)
        held.backend.post_processor = next(others)
        return state

    ours.add_tokens(["<new>"])
    with monkeypatch.context() as patches:
        patches.setattr(Held, "_processor", read_and_set)
        ours("a")
    for processor in processors:
        for tokenizer in (theirs, ours):
            tokenizer.backend_tokenizer.post_processor = processor
        check(ours("a b"), theirs("a b"))
        assert hf.is_accelerated(ours)


def test_threads_keep_their_settings() -> None:
    theirs, ours = accelerated_pair(translating)
    options: dict[str, Any] = {"padding": "max_length", "max_length": 4, "truncation": True}
    options |= {"return_offsets_mapping": True}
    expected = dict(theirs(["a b a b", "a"], **options))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(6) as pool:
            found = [*pool.map(lambda _: dict(ours(["a b a b", "a"], **options)), range(600))]
    finally:
        sys.setswitchinterval(before)
    assert all(one == expected for one in found)
    assert ours.backend_tokenizer.truncation is None


@has_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_another_thread_changes_settings() -> None:
    theirs, ours = both()
    for tokenizer in (theirs, ours):
        tokenizer.add_tokens(["<new>"])
    expected = theirs("a <new> b")["input_ids"]
    with ThreadPoolExecutor(1) as pool:
        lock = held_of(ours).lock
        pool.submit(lock.acquire).result()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                # It would wait for ever.
                signal.alarm(60)
                code = 0 if ours("a <new> b")["input_ids"] == expected else 1
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        pool.submit(lock.release).result()
    assert os.waitstatus_to_exitcode(status) == 0
    assert ours("a <new> b")["input_ids"] == expected
