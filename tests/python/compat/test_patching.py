"""bytemill in the place of tiktoken, and back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import tiktoken
import tiktoken.core
import tiktoken.load

import bytemill
from bytemill import patching

MODULES = ["tiktoken", "tiktoken.core", "tiktoken.load", "tiktoken.model", "tiktoken.registry"]


@pytest.fixture(autouse=True)
def unpatched() -> Iterator[None]:
    """Leaves tiktoken as it was."""
    yield
    bytemill.unpatch_tiktoken()


def imported(name: str) -> ModuleType:
    """Returns what a module that is imported now gets."""
    return __import__(name, fromlist=["*"])


def test_imports_get_bytemill_until_it_is_undone() -> None:
    original = {name: imported(name) for name in MODULES}
    functions = {name: getattr(tiktoken, name) for name in patching.NAMES}
    bytemill.patch_tiktoken()
    assert imported("tiktoken") is bytemill
    assert imported("tiktoken.core").Encoding is bytemill.Encoding
    assert imported("tiktoken.load").load_tiktoken_bpe.__module__ == "bytemill.load"
    # Modules that have it already.
    found: object = tiktoken.get_encoding("gpt2")
    assert found is bytemill.get_encoding("gpt2")
    assert isinstance(tiktoken.encoding_for_model("gpt-4o"), tiktoken.Encoding)
    bytemill.patch_tiktoken()
    bytemill.unpatch_tiktoken()
    assert {name: imported(name) for name in MODULES} == original
    assert {name: getattr(tiktoken, name) for name in patching.NAMES} == functions
    bytemill.unpatch_tiktoken()
    assert imported("tiktoken") is tiktoken


@pytest.mark.usefixtures("tiktoken_encodings")
def test_samples_are_compared_first(monkeypatch: pytest.MonkeyPatch) -> None:
    bytemill.patch_tiktoken(compare=["gpt2", "cl100k_base"])
    # Again, with those that tiktoken loads now.
    bytemill.patch_tiktoken(compare=["o200k_base"])
    bytemill.unpatch_tiktoken()
    ours = tiktoken.get_encoding("gpt2")
    other = tiktoken.Encoding(
        "gpt2", pat_str=".", mergeable_ranks=dict(ours._mergeable_ranks), special_tokens={}
    )
    with monkeypatch.context() as patch:
        patch.setitem(tiktoken.registry.ENCODINGS, "gpt2", other)
        with pytest.raises(ValueError, match="tiktoken's encoding 'gpt2' gives other token IDs"):
            bytemill.patch_tiktoken()
    assert imported("tiktoken") is tiktoken
    with pytest.raises(ValueError, match="no_such"):
        bytemill.patch_tiktoken(compare=["no_such"])
    with pytest.raises(TypeError, match="compare must be an iterable"):
        bytemill.patch_tiktoken(compare="gpt2")


WITHOUT_TIKTOKEN = """
import importlib.util
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "tiktoken":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Hidden())
import bytemill

bytemill.patch_tiktoken()
import tiktoken
from tiktoken.load import load_tiktoken_bpe
from tiktoken import encoding_for_model

assert importlib.util.find_spec("tiktoken") is not None
assert tiktoken.get_encoding("o200k_base").encode("hello world") == [24912, 2375]
assert encoding_for_model("gpt-4o").name == "o200k_base"
bytemill.unpatch_tiktoken()
try:
    import tiktoken
except ImportError:
    print("gone")
bytemill.patch_tiktoken()
try:
    # The second time as well: never with itself.
    bytemill.patch_tiktoken(compare=["gpt2"])
except ImportError:
    print("needed")
"""


def test_tiktoken_need_not_be_installed() -> None:
    command = [sys.executable, "-c", WITHOUT_TIKTOKEN]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout.split() == ["gone", "needed"]


def test_importing_bytemill_changes_nothing() -> None:
    code = (
        "import bytemill, tiktoken; assert tiktoken is not bytemill; print(tiktoken.get_encoding.__module__)"
    )
    command: list[Any] = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout.strip() == "tiktoken.registry"
