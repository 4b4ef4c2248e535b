"""Models of the Hugging Face Hub: read from its cache on this machine, or a message says how to get there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill.hf import Tokenizer

constants: Any = pytest.importorskip("huggingface_hub.constants")

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, empty, in a working folder that is empty as well."""
    folder = tmp_path / "hub"
    folder.mkdir()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setenv("HF_HUB_CACHE", str(folder))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return folder


def put(cache: Path, model: str, *files: Path) -> None:
    """Puts files into the cache as a model's, as the Hub's library lays them out."""
    folder = cache / f"models--{model.replace('/', '--')}"
    snapshot = folder / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(COMMIT)
    for file in files:
        shutil.copy(file, snapshot / file.name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A `tokenizer.json`."""
    bytemill.get_encoding("gpt2").save_huggingface(tmp_path / "made")
    return tmp_path / "made" / "tokenizer.json"


@pytest.mark.parametrize("model", ["Qwen/Qwen3-8B", "acme/Model-2.5-mini", "a/b_c.d"])
def test_a_cached_model_is_read_by_its_name(cache: Path, file: Path, model: str) -> None:
    put(cache, model, file)
    encoding = bytemill.Encoding.from_file(model)
    assert encoding.encode("hello world") == bytemill.get_encoding("gpt2").encode("hello world")
    assert encoding.name == model.partition("/")[2]
    ran = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "bytemill", "encode", "-e", model, "--format", "ids"],
        input="hello world",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "31373 995\n"), ran.stderr


def test_files_and_folders_come_first(cache: Path, file: Path, tmp_path: Path) -> None:
    put(cache, "acme/model", file)
    bytemill.get_encoding("o200k_base").save_huggingface(tmp_path / "work" / "acme" / "model")
    encoding = bytemill.Encoding.from_file("acme/model")
    assert encoding.encode("hello world") == [24912, 2375]


def test_other_files_of_a_model_are_read(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    model = bytemill.train(["the lowest of the low"] * 9, 30, kind="sentencepiece")
    model.save_sentencepiece(path)
    put(cache, "acme/llama", path)
    assert bytemill.Encoding.from_file("acme/llama").encode("the low") == model.encode("the low")


def test_a_tokenizer_is_read_by_name_or_from_its_folder(cache: Path, file: Path) -> None:
    put(cache, "acme/model", file)
    ids = bytemill.get_encoding("gpt2").encode("hello world")
    for identifier in ("acme/model", file.parent, str(file)):
        assert Tokenizer.from_pretrained(identifier).encode("hello world").ids == ids
    with pytest.raises(FileNotFoundError, match=r"hf download acme/other tokenizer\.json"):
        Tokenizer.from_pretrained("acme/other")
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_pretrained(file.parent.parent)


@pytest.mark.usefixtures("cache")
def test_what_is_not_cached_says_how_to_get_it() -> None:
    with pytest.raises(FileNotFoundError, match=r"hf download Qwen/Qwen3-8B tokenizer\.json"):
        bytemill.Encoding.from_file("Qwen/Qwen3-8B")
    for path in (
        "missing/tokenizer.json",
        "missing/m.model",
        "missing/v.tiktoken",
        "missing/merges.txt",
        "missing/v.BPE",
        "missing/m.gguf",
        "missing",
        "a/b/c",
        # What the Hub does not take for a name.
        "runs/v1--v2",
        "runs/v1..v2",
        "runs-/v1",
        "runs/v1.",
        "runs/v1.git",
        "runs/caf\xe9",
        f"runs/{'v' * 97}",
    ):
        with pytest.raises(FileNotFoundError) as caught:
            bytemill.Encoding.from_file(path)
        assert "hf download" not in str(caught.value)
    ran = subprocess.run(
        [sys.executable, "-m", "bytemill", "count", "-e", "Qwen/Qwen3-8B"],
        input="hello",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "hf download Qwen/Qwen3-8B tokenizer.json" in ran.stderr


@pytest.mark.usefixtures("cache")
def test_without_the_hub_s_library_the_message_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(FileNotFoundError, match=r"hf download Qwen/Qwen3-8B.*pip install huggingface_hub"):
        bytemill.Encoding.from_file("Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Qwen/Qwen3-8B", r"Encoding\.from_file\('Qwen/Qwen3-8B'\)"),
        ("llama3", r"Encoding\.from_file\('meta-llama/Llama-3\.1-8B'\), after `hf download"),
        ("qwen3", r"Encoding\.from_file\('Qwen/Qwen3-8B'\)"),
        ("deepseek-v3", r"Encoding\.from_file\('deepseek-ai/DeepSeek-V3'\)"),
        ("o200k", "Did you mean"),
    ],
)
def test_names_of_models_are_no_built_in_encodings(name: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        bytemill.get_encoding(name)
