"""Encodings by name: every function that takes an encoding takes the name of one, or of a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill import inspection, jobs, playground
from bytemill._named import encoding_of
from bytemill.jobs.columns import ColumnEncoder
from bytemill.shards import write_shards

O200K = bytemill.get_encoding("o200k_base")
NAMES = {"encoding": "o200k_base", "model": "gpt-4o", "family": "gpt-4o-2024-05-13"}


def shards(encoding: Any, folder: Path) -> object:
    write_shards(["hello world"], folder / "out", encoding, append="<|endoftext|>")
    return {path.name: path.read_bytes() for path in (folder / "out").glob("*.bin")}


def units(encoding: Any, folder: Path) -> object:
    (folder / "a.txt").write_text("hello world", encoding="utf-8")
    plan = jobs.plan(folder / "a.txt", folder / "work")
    written = jobs.write_shards(plan, encoding, append="<|endoftext|>", executor=jobs.Local(1))
    return written.tokens, written.encoding


def page(encoding: Any, _: Path) -> object:
    with playground.start("hello", encoding=encoding, compare_with=encoding, open_browser=False) as running:
        return running.server.state


def column(encoding: Any, _: Path) -> object:
    made = ColumnEncoder(
        encoding, "text", into="ids", prepend=None, append="<|endoftext|>", add_special_tokens=False
    )
    return made._after, made._encoding.value.sha256


FUNCTIONS: dict[str, Callable[[Any, Path], object]] = {
    "write_shards": shards,
    "jobs.write_shards": units,
    "playground.start": page,
    "ColumnEncoder": column,
    "show": lambda encoding, _: inspection.show(encoding, "hello world").to_dict(),
    "show_both": lambda encoding, _: inspection.show_both(encoding, encoding, "hello").to_dict(),
    "show_merges": lambda encoding, _: inspection.show_merges(encoding, "hello").to_dict(),
    "report_token": lambda encoding, _: inspection.report_token(encoding, 5000).to_dict(),
    "list_tokens": lambda encoding, _: inspection.list_tokens(encoding, 256, 300).to_dict(),
    "compare": lambda encoding, _: inspection.compare({"a": encoding}, {"b": ["hello"]}).to_dict(),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("given", NAMES)
def test_a_name_is_its_encoding(function: str, given: str, tmp_path: Path) -> None:
    for folder in ("named", "itself"):
        (tmp_path / folder).mkdir()
    named = FUNCTIONS[function](NAMES[given], tmp_path / "named")
    assert named == FUNCTIONS[function](O200K, tmp_path / "itself")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_not_an_encoding(function: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Unknown encoding gpt2x"):
        FUNCTIONS[function]("gpt2x", tmp_path)
    for number, wrong in enumerate([5, b"gpt2", object()]):
        (folder := tmp_path / str(number)).mkdir()
        with pytest.raises(TypeError, match=r"of the type Encoding, not .*; pass an Encoding, or a name"):
            FUNCTIONS[function](wrong, folder)
        assert {path.name for path in folder.iterdir()} <= {"a.txt", "work"}


def test_names() -> None:
    assert encoding_of("gpt2") is bytemill.get_encoding("gpt2")
    assert encoding_of(O200K) is O200K
    with pytest.raises(FileNotFoundError, match=r"hf download no-such/model tokenizer\.json"):
        encoding_of("no-such/model")


@pytest.mark.parametrize("name", ["inspection", "shards", "jobs", "ray", "spark", "playground"])
def test_dir_lists_what_is_public(name: str) -> None:
    module = __import__(f"bytemill.{name}", fromlist=["__all__"])
    assert dir(module) == sorted(module.__all__)
