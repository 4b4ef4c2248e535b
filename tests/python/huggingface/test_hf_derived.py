"""The class of accelerated tokenizers: what it makes, what derives from it, copies of either."""

# ruff: noqa: S301 - what this test pickled itself

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from bytemill import hf
from bytemill.hf.accelerated import Accelerated
from support.server_tokenizers import cached, pooled
from support.tokenizer_files import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

tokenizers: Any = pytest.importorskip("tokenizers")
transformers: Any = pytest.importorskip("transformers")

TEXT = "a <s>b\u00e9"
IDS = [97, 32, 256, 98, 0xC3, 0xA9]


@pytest.fixture
def originals(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns a list that gets the name of each original method when it is called."""
    calls: list[str] = []
    base = transformers.PreTrainedTokenizerFast
    for name in ("_encode_plus", "_decode"):
        original = getattr(base, name)

        def counted(self: Any, *args: Any, _name: str = name, _original: Any = original, **given: Any) -> Any:
            calls.append(_name)
            return _original(self, *args, **given)

        monkeypatch.setattr(base, name, counted)
    return calls


def plain() -> Any:
    """Returns a tokenizer of `transformers`."""
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(PLAIN))


def check(tokenizer: Any) -> None:
    """Checks that a tokenizer encodes and decodes."""
    assert tokenizer(TEXT)["input_ids"] == IDS
    assert tokenizer([TEXT, "a"])["input_ids"] == [IDS, [97]]
    assert tokenizer.decode(IDS) == TEXT
    assert tokenizer.decode(IDS, skip_special_tokens=True) == "a b\u00e9"
    assert tokenizer.batch_decode([IDS, [97]]) == [TEXT, "a"]
    assert len(tokenizer) == 257


class Importable(type(hf.accelerate(plain()))):  # type: ignore[misc]
    """A class that derives from that of an accelerated tokenizer, which pickle finds."""


COPIES: dict[str, Callable[[Any], Any]] = {"copy": copy.copy, "deepcopy": copy.deepcopy}
for number in range(2, pickle.HIGHEST_PROTOCOL + 1):
    COPIES[f"pickle {number}"] = lambda value, number=number: pickle.loads(pickle.dumps(value, number))  # type: ignore[misc]


@pytest.mark.parametrize("is_derived", [False, True])
@pytest.mark.parametrize("name", COPIES)
def test_copies(name: str, is_derived: bool, originals: list[str]) -> None:  # noqa: FBT001 - parameters
    tokenizer = hf.accelerate(plain())
    if is_derived:
        tokenizer.__class__ = Importable
    check(COPIES[name](COPIES[name](tokenizer)))
    other = COPIES[name](tokenizer)
    assert type(other) is type(tokenizer)
    check(other)
    # Shallow copies share what is behind them, also here.
    is_shared = name == "copy"
    other.add_tokens(["<new>"])
    assert other("<new>")["input_ids"] == [257]
    assert len(tokenizer) == 257 + is_shared
    assert len(tokenizer("<new>")["input_ids"]) == (1 if is_shared else 5)
    assert originals == []


def test_what_the_class_makes(tmp_path: Path, originals: list[str]) -> None:
    accelerated = hf.accelerate(plain())
    kind = type(accelerated)
    accelerated.save_pretrained(tmp_path)
    made = kind.from_pretrained(tmp_path)
    assert type(made) is kind
    check(made)
    check(hf.accelerate(kind.from_pretrained(tmp_path)))
    check(Importable.from_pretrained(tmp_path))
    check(kind(tokenizer_object=tokenizers.Tokenizer.from_str(PLAIN)))
    trained = accelerated.train_new_from_iterator(["abab"] * 9, 260)
    expected = plain().train_new_from_iterator(["abab"] * 9, 260)
    assert originals == []
    assert type(trained) is kind
    assert trained("ab abab")["input_ids"] == expected("ab abab")["input_ids"]
    check(transformers.AutoTokenizer.from_pretrained(tmp_path))


def test_a_class_with_its_own_way_to_be_made(tmp_path: Path) -> None:
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2, "\u2581": 3, "a": 4, "b": 5, "ab": 6}
    theirs = transformers.LlamaTokenizer(vocab=vocab, merges=[("a", "b")])
    theirs.save_pretrained(tmp_path)
    ours = hf.accelerate(transformers.AutoTokenizer.from_pretrained(tmp_path))
    made = type(ours).from_pretrained(tmp_path)
    assert made("ab a")["input_ids"] == theirs("ab a")["input_ids"]
    assert made.backend_tokenizer.to_str() == theirs.backend_tokenizer.to_str()


def test_objects_of_a_derived_class(originals: list[str]) -> None:
    class Wrapped(type(hf.accelerate(plain()))):  # type: ignore[misc]
        pass

    tokenizer = hf.accelerate(plain())
    tokenizer.__class__ = Wrapped
    check(tokenizer)
    assert hf.accelerate(tokenizer) is tokenizer
    check(tokenizer)
    assert originals == []
    assert hf.restore(tokenizer) is tokenizer
    assert type(tokenizer) is Wrapped
    check(tokenizer)
    assert set(originals) == {"_encode_plus", "_decode"}
    tokenizer.add_tokens(["<new>"])
    originals.clear()
    assert copy.deepcopy(tokenizer)("<new>")["input_ids"] == [257]
    assert originals == ["_encode_plus"]
    hf.accelerate(tokenizer)
    assert tokenizer("<new>")["input_ids"] == [257]
    assert originals == ["_encode_plus"]


def test_restore_of_copies() -> None:
    accelerated = hf.accelerate(plain())
    for make in COPIES.values():
        other = hf.restore(make(accelerated))
        assert type(other) is type(plain())
        assert vars(other).keys() == vars(plain()).keys()
        check(other)
    assert isinstance(accelerated, Accelerated)


def test_another_backend_is_seen(originals: list[str]) -> None:
    tokenizer = hf.accelerate(plain())
    tokenizer._tokenizer = tokenizers.Tokenizer.from_str(PLAIN.replace("<s>", "<t>"))
    assert tokenizer("<t>")["input_ids"] == [256]
    assert originals == []


def test_wrapped_by_a_server(tmp_path: Path, originals: list[str]) -> None:
    plain().save_pretrained(tmp_path)
    tokenizer = cached(hf.accelerate(transformers.AutoTokenizer.from_pretrained(tmp_path)))
    check(tokenizer)
    for make in COPIES.values():
        check(make(tokenizer))
    server = pooled(tokenizer, 2)
    check(server)
    for make in COPIES.values():
        check(make(server))
    assert originals == []
    # The other way round.
    outside = hf.accelerate(cached(plain()))
    for make in COPIES.values():
        check(make(outside))
    assert originals == []
    assert hf.restore(outside)(TEXT)["input_ids"] == IDS
    assert originals == ["_encode_plus"]
