"""`bytemill.registry`: one object for each name, and plugins only when they are needed."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import tiktoken

import bytemill
from bytemill import registry
from bytemill.errors import UnknownEncodingError
from support.offline_tiktoken import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


PLUGIN = """
def constructor():
    return {{
        "name": "{name}",
        "pat_str": ".",
        "mergeable_ranks": {{bytes([byte]): byte for byte in range(256)}},
        "special_tokens": {{}},
        "explicit_n_vocab": 256,
    }}

ENCODING_CONSTRUCTORS = {{"{name}": constructor}}
"""


def exactly(message: str) -> str:
    """The regular expression for this message and no other."""
    return rf"\A{re.escape(message)}\Z"


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Returns a function that installs a plugin module, in a registry that has not looked for any yet."""
    folder = tmp_path / "tiktoken_ext"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", None)
    modules = registry._available_plugin_modules.__wrapped__
    monkeypatch.setattr(registry, "_available_plugin_modules", modules)

    def install(module: str, source: str) -> None:
        monkeypatch.delitem(sys.modules, f"tiktoken_ext.{module}", raising=False)
        (folder / f"{module}.py").write_text(source, encoding="utf-8")

    return install


def test_the_same_encoding_every_time() -> None:
    assert bytemill.get_encoding("cl100k_base") is bytemill.get_encoding("cl100k_base")
    assert registry.ENCODINGS["cl100k_base"] is bytemill.get_encoding("cl100k_base")


def test_threads_that_ask_at_once_get_the_same_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    barrier = threading.Barrier(8)

    def ask(_: int) -> bytemill.Encoding:
        barrier.wait()
        return bytemill.get_encoding("r50k_base")

    with ThreadPoolExecutor(8) as pool:
        encodings = list(pool.map(ask, range(8)))
    assert len({id(encoding) for encoding in encodings}) == 1


def test_builtin_encodings_need_no_plugin_no_file_and_no_socket() -> None:
    script = f"""
import sys
import bytemill, bytemill._core

def audit(event, arguments):
    if event == "open" or event.startswith("socket."):
        raise AssertionError((event, arguments))

sys.addaudithook(audit)
for name in {NAMES}:
    encoding = bytemill.get_encoding(name)
    assert encoding.decode(encoding.encode("naïve 文字 1234")) == "naïve 文字 1234"
print(sorted({{"numpy", "regex", "socket", "tiktoken", "tiktoken_ext"}} & sys.modules.keys()))
"""
    command = [sys.executable, "-X", "utf8", "-c", script]
    result = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
    assert result.stdout == "[]\n"


def test_a_plugin_is_found(install_plugin: Callable[[str, str], None]) -> None:
    install_plugin("first", PLUGIN.format(name="plugged_in"))
    install_plugin("second", PLUGIN.format(name="also"))
    assert registry._available_plugin_modules() == ["tiktoken_ext.first", "tiktoken_ext.second"]
    encoding = bytemill.get_encoding("plugged_in")
    assert encoding is bytemill.get_encoding("plugged_in")
    assert encoding.name == "plugged_in"
    assert encoding.encode("ab") == [97, 98]
    assert bytemill.list_encoding_names() == [*NAMES, "plugged_in", "also"]


def test_plugins_are_not_imported_for_builtin_encodings(install_plugin: Callable[[str, str], None]) -> None:
    install_plugin("broken", "raise ImportError('a plugin that does not work')")
    assert bytemill.get_encoding("gpt2").n_vocab == 50257
    for _ in range(2):
        with pytest.raises(ImportError, match="a plugin that does not work"):
            bytemill.list_encoding_names()
        with pytest.raises(ImportError, match="a plugin that does not work"):
            bytemill.get_encoding("unknown")
    assert registry.ENCODING_CONSTRUCTORS is None


def test_a_plugin_without_constructors_is_an_error_every_time(
    install_plugin: Callable[[str, str], None],
) -> None:
    install_plugin("empty", "")
    message = "tiktoken plugin tiktoken_ext.empty does not define ENCODING_CONSTRUCTORS"
    for _ in range(2):
        with pytest.raises(ValueError, match=exactly(message)):
            bytemill.list_encoding_names()


@pytest.mark.parametrize("name", ["twice", "cl100k_base"])
def test_a_name_that_is_taken_is_an_error_every_time(
    name: str, install_plugin: Callable[[str, str], None]
) -> None:
    install_plugin("a_first", PLUGIN.format(name="twice"))
    install_plugin("b_second", PLUGIN.format(name=name))
    message = f"Duplicate encoding name {name} in tiktoken plugin tiktoken_ext.b_second"
    for _ in range(2):
        with pytest.raises(ValueError, match=exactly(message)):
            bytemill.get_encoding("unknown")


def test_a_constructor_may_be_replaced(monkeypatch: pytest.MonkeyPatch, byte_ranks: dict[bytes, int]) -> None:
    def constructor() -> dict[str, object]:
        return {"name": "gpt2", "pat_str": ".", "mergeable_ranks": byte_ranks, "special_tokens": {}}

    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", {"gpt2": constructor, "mine": constructor})
    assert bytemill.get_encoding("gpt2").n_vocab == bytemill.get_encoding("mine").n_vocab == 256


def test_an_unknown_name_is_an_error_that_tells_what_was_found(
    install_plugin: Callable[[str, str], None],
) -> None:
    install_plugin("first", PLUGIN.format(name="plugged_in"))
    message = (
        "Unknown encoding unknown.\n"
        "Plugins found: ['tiktoken_ext.first']\n"
        f"bytemill version: {bytemill.__version__} (are you on latest?)\n"
        f"Encodings: {', '.join(NAMES)}, plugged_in"
    )
    with pytest.raises(UnknownEncodingError, match=exactly(message)):
        bytemill.get_encoding("unknown")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt-5", "'gpt-5' is a model: use encoding_for_model('gpt-5')."),
        ("gpt-4o-2024-05-13", "'gpt-4o-2024-05-13' is a model: use encoding_for_model('gpt-4o-2024-05-13')."),
        ("gpt4o", "Did you mean encoding_for_model('gpt-4o')?"),
        ("cl100k", "Did you mean 'cl100k_base'?"),
        ("O200K_BASE", "Did you mean 'o200k_base'?"),
        ("o200k", "Did you mean 'o200k_base' or 'o200k_harmony'?"),
        ("cl10k_base", "Did you mean 'cl100k_base'?"),
        (
            "llama3",
            (
                "For a model's tokenizer, use its file or its name on the Hugging Face Hub: "
                "Encoding.from_file('meta-llama/Llama-3.1-8B'), after "
                "`hf download meta-llama/Llama-3.1-8B tokenizer.json`."
            ),
        ),
        (
            "nanochat",
            (
                "'nanochat' is a split pattern: Encoding.from_file(path, pattern='nanochat') reads a "
                "vocabulary file for it."
            ),
        ),
    ],
)
def test_an_unknown_name_has_suggestions(name: str, hint: str) -> None:
    with pytest.raises(UnknownEncodingError) as caught:
        bytemill.get_encoding(name)
    assert str(caught.value).endswith(f"\n{hint}\nEncodings: {', '.join(bytemill.list_encoding_names())}")


@pytest.mark.parametrize("name", [None, 1, b"gpt2", ["gpt2"]])
def test_a_name_must_be_a_string(name: object) -> None:
    message = f"Expected a string in get_encoding, got {type(name)}"
    for get_encoding in (bytemill.get_encoding, tiktoken.get_encoding):
        with pytest.raises(ValueError, match=exactly(message)):
            get_encoding(name)  # type: ignore[arg-type]
