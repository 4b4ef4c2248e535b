"""The plugins of vLLM and SGLang, with stand-ins for these.

The servers themselves need gigabytes and a graphics processor. The stand-ins have the functions that the
plugins call, with the names and signatures of vLLM 0.12 to 0.22 (`vllm.tokenizers`) and SGLang 0.5
(`sglang.srt.plugins.hook_registry`), and make of a tokenizer what the servers make of it.
"""

from __future__ import annotations

import enum
import importlib
import logging
import sys
from importlib.metadata import entry_points
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import bytemill
from bytemill import hf
from support.server_tokenizers import cached, pooled
from support.toy_tokenizers import TEXTS, byte_level

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

transformers: Any = pytest.importorskip("transformers")

LONG = "a conversation of some length " * 400


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Returns a folder with a tokenizer."""
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level("template")).save_pretrained(tmp_path)
    return tmp_path


def original(model: Path) -> Any:
    """Returns the tokenizer in a folder as `transformers` has it."""
    return transformers.AutoTokenizer.from_pretrained(model)


class Registry:
    """vLLM's registry of tokenizer modes."""

    def __init__(self) -> None:
        self.tokenizers: dict[str, tuple[str, str]] = {}

    def register(self, tokenizer_mode: str, module: str, class_name: str) -> None:
        self.tokenizers[tokenizer_mode] = (module, class_name)

    def load_tokenizer(self, tokenizer_mode: str, *args: Any, **kwargs: Any) -> Any:
        module, name = self.tokenizers[tokenizer_mode]
        return getattr(importlib.import_module(module), name).from_pretrained(*args, **kwargs)


class Loader:
    """vLLM's class of tokenizers of `transformers`."""

    @classmethod
    def from_pretrained(
        cls,
        path: Path,
        *args: Any,
        trust_remote_code: bool = False,
        download_dir: str | None = None,
        **kwargs: Any,
    ) -> Any:
        del trust_remote_code
        return cached(
            transformers.AutoTokenizer.from_pretrained(path, *args, cache_dir=download_dir, **kwargs)
        )


def pretend(monkeypatch: pytest.MonkeyPatch, **modules: dict[str, Any]) -> None:
    """Puts modules with some contents in the place of those that are not installed."""
    for name, contents in modules.items():
        path = name.replace("__", ".")
        parts = path.split(".")
        for count in range(1, len(parts)):
            parent = ".".join(parts[:count])
            if parent not in sys.modules:
                monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
        module = ModuleType(path)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, path, module)


@pytest.mark.parametrize("name", ["CachedHfTokenizer", "HfTokenizer"])
def test_the_mode_of_vllm(name: str, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry()
    theirs = {name: Loader, "HfTokenizer": Loader, "get_cached_tokenizer": cached}
    pretend(monkeypatch, vllm__tokenizers={"TokenizerRegistry": registry}, vllm__tokenizers__hf=theirs)
    sys.modules["vllm.tokenizers"].hf = sys.modules["vllm.tokenizers.hf"]  # type: ignore[attr-defined]
    (plugin,) = entry_points(group="vllm.general_plugins", name="bytemill")
    plugin.load()()
    plugin.load()()
    tokenizer = registry.load_tokenizer("bytemill", model, trust_remote_code=False, truncation_side="left")
    expected = original(model)
    assert hf.is_accelerated(tokenizer)
    assert tokenizer.truncation_side == "left"
    server = pooled(tokenizer, 2)
    for text in TEXTS:
        assert server(text)["input_ids"] == expected(text)["input_ids"]
        assert server.decode(expected(text)["input_ids"]) == expected.decode(expected(text)["input_ids"])
    # All copies share one cache.
    for _ in range(3):
        assert server(LONG)["input_ids"] == expected(LONG)["input_ids"]
    cache = tokenizer.__reduce__()[1][0]._bytemill_engine.prefix_cache
    assert cache.stats().hits == 2


class HookType(enum.Enum):
    """SGLang's kinds of hooks."""

    AFTER = "after"


class Hooks:
    """SGLang's registry of hooks: what comes after a function may replace its result."""

    def __init__(self) -> None:
        self.hooks: list[tuple[str, Callable[..., Any], HookType]] = []

    def register(self, target: str, hook: Callable[..., Any], hook_type: HookType = HookType.AFTER) -> None:
        self.hooks.append((target, hook, hook_type))

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        for _, hook, _ in self.hooks:
            changed = hook(result, *args, **kwargs)
            result = result if changed is None else changed
        return result


def test_the_plugin_of_sglang(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = Hooks()
    pretend(monkeypatch, sglang__srt__plugins__hook_registry={"HookRegistry": hooks, "HookType": HookType})
    (plugin,) = entry_points(group="sglang.srt.plugins", name="bytemill")
    for variable in ("", "others", "not_bytemill"):
        monkeypatch.setenv("SGLANG_PLUGINS", variable)
        plugin.load()()
        assert hooks.hooks == []
    monkeypatch.setenv("SGLANG_PLUGINS", "others, bytemill")
    plugin.load()()
    ((target, _, kind),) = hooks.hooks
    assert (target, kind) == ("sglang.srt.utils.hf_transformers.tokenizer.get_tokenizer", HookType.AFTER)
    tokenizer = hooks.call(lambda path, **_: original(path), model, tokenizer_mode="auto")
    assert hf.is_accelerated(tokenizer)
    assert [tokenizer.encode(text) for text in TEXTS] == [original(model).encode(text) for text in TEXTS]


def test_what_cannot_be_accelerated_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    from bytemill.serve import accelerated

    other = SimpleNamespace(encode=str.split)
    with caplog.at_level(logging.WARNING):
        assert accelerated(other) is other
    assert "bytemill does not accelerate this tokenizer: expected a fast tokenizer" in caplog.text


def test_older_versions_of_transformers_are_left_alone(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bytemill.serve import accelerated

    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level())
    monkeypatch.setitem(sys.modules, "transformers.tokenization_utils_tokenizers", None)
    with caplog.at_level(logging.WARNING):
        assert accelerated(tokenizer) is tokenizer
    assert "accelerated tokenizers need transformers 5 or later" in caplog.text


def test_the_size_of_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    from bytemill.serve import new_prefix_cache

    assert isinstance(new_prefix_cache(), bytemill.PrefixCache)
    monkeypatch.setenv("BYTEMILL_PREFIX_CACHE_BYTES", "0")
    assert new_prefix_cache() is None
    monkeypatch.setenv("BYTEMILL_PREFIX_CACHE_BYTES", "-1")
    with pytest.raises(
        ValueError, match="expected a number of bytes in the variable BYTEMILL_PREFIX_CACHE_BYTES"
    ):
        new_prefix_cache()
