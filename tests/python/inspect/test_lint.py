"""Faults of tokenizer files that loading them does not show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import bytemill
from bytemill import inspection
from bytemill.patterns import LLAMA3_PATTERN
from support.command_line import bytemill as run
from support.open_models import ROWS
from support.sentencepiece import trained

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, contents: dict[str, Any]) -> Path:
    """Writes a `tokenizer.json`, and returns its name."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(contents), encoding="utf-8")
    return path


def contents_of(name: str) -> dict[str, Any]:
    """Returns the file of a stand-in of an open model."""
    return json.loads(json.dumps(ROWS[name].contents()))  # type: ignore[no-any-return]


def added(content: str, token_id: int, **flags: bool) -> dict[str, Any]:
    """Returns an added token."""
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": token_id, "content": content, **dict.fromkeys(names, False), **flags}


def kinds(path: Path) -> dict[str, tuple[int, ...]]:
    """Returns the tokens of the findings, by kind."""
    return {finding.kind: finding.tokens for finding in inspection.lint(path)}


def test_published_files_have_none(tmp_path: Path) -> None:
    path = tmp_path / "gpt2.bytemill"
    bytemill.get_encoding("gpt2").save(path)
    assert inspection.lint(path) == []
    path = tmp_path / "p50k.bytemill"
    bytemill.get_encoding("p50k_edit").save(path)
    assert kinds(path) == {}


def test_holes_and_bytes(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 258}
    encoding = bytemill.Encoding("x", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={"<s>": 261})
    path = tmp_path / "x.bytemill"
    encoding.save(path)
    (finding,) = inspection.lint(path)
    assert (finding.kind, finding.tokens) == ("holes", (256, 257, 259, 260))
    assert "below the highest ID 261" in finding.message
    contents = contents_of("missing bytes")
    found = {finding.kind: finding for finding in inspection.lint(written(tmp_path, contents))}
    assert "bytes have no token" in found["bytes"].message


def test_an_id_beyond_billions_of_holes(tmp_path: Path) -> None:
    contents = contents_of("word-level")
    highest = 4_000_000_000
    contents["model"]["vocab"]["far"] = highest
    path = written(tmp_path, contents)
    found = {finding.kind: finding for finding in inspection.lint(path)}["holes"]
    assert len(found.tokens) == 1 << 16
    assert f"below the highest ID {highest}" in found.message
    encoding = bytemill.Encoding.from_file(path)
    listed = inspection.list_tokens(encoding, 1_000_000, highest + 9)
    assert listed.tokens == {highest: b"far"}
    assert list(encoding.vocab().items())[-1] == (highest, b"far")


def test_unreachable_tokens(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 256, b"a b": 257, b"ab": 258}
    encoding = bytemill.Encoding("x", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={})
    path = tmp_path / "x.bytemill"
    encoding.save(path)
    (finding,) = inspection.lint(path)
    assert finding.kind == "unreachable"
    assert 257 in finding.tokens
    assert "'a·b'" in finding.message


def test_the_wrong_pattern_of_mistral(tmp_path: Path) -> None:
    contents = contents_of("mistral-small-2501")
    assert (
        LLAMA3_PATTERN
        in json.loads(json.dumps(contents["pre_tokenizer"]))["pretokenizers"][0]["pattern"].values()
    )
    contents["added_tokens"].append(
        added("[INST]", len(contents["model"]["vocab"]) + len(contents["added_tokens"]), special=True)
    )
    assert "pattern" in kinds(written(tmp_path, contents))
    contents = contents_of("tekken")
    contents["added_tokens"].append(
        added("[INST]", len(contents["model"]["vocab"]) + len(contents["added_tokens"]), special=True)
    )
    assert "pattern" not in kinds(written(tmp_path, contents))


def test_flags_and_numbers(tmp_path: Path) -> None:
    contents = contents_of("llama3")
    size = max(contents["model"]["vocab"].values()) + 1
    contents["added_tokens"] = [
        added("<|one|>", size, special=True),
        added("<|two|>", size + 1),
        added("<s>", size + 2),
        added("[MASK]", size + 3),
        added("<html>x", size + 4),
        added("    ", size + 9),
    ]
    found = kinds(written(tmp_path, contents))
    assert found["flags"] == (size + 1, size + 2, size + 3)
    assert found["numbers"] == (size + 9,)


def test_duplicates(tmp_path: Path) -> None:
    contents = contents_of("llama3")
    vocabulary = contents["model"]["vocab"]
    token = next(iter(vocabulary))
    contents["added_tokens"] = [added(token, len(vocabulary) + 5)]
    assert kinds(written(tmp_path, contents))["duplicates"] == (vocabulary[token],)
    contents = contents_of("xlm-roberta")
    contents["model"]["vocab"].append(contents["model"]["vocab"][7])
    assert "duplicates" in kinds(written(tmp_path, contents))


def test_models_of_sentencepiece(tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    path.write_bytes(trained(byte_fallback=True))
    assert "bytes" not in kinds(path)


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "gpt2.bytemill"
    bytemill.get_encoding("gpt2").save(path)
    called = run("inspect", "--lint", path)
    assert (called.code, called.out) == (0, "no findings\n")
    contents = contents_of("llama3")
    contents["added_tokens"] = [added("<|end|>", max(contents["model"]["vocab"].values()) + 1)]
    written(tmp_path, contents)
    called = run("inspect", "--lint", tmp_path / "tokenizer.json")
    assert called.code == 1
    assert "flags: 1 added token looks special and is not marked so" in called.out
    called = run("inspect", "--lint", "--json", tmp_path / "tokenizer.json")
    assert [finding["kind"] for finding in json.loads(called.out)].count("flags") == 1
    assert run("inspect", "--lint").code == 2
    assert run("inspect", "--lint", "-e", "gpt2", path).code == 2
    assert run("inspect", "--lint", tmp_path / "missing.json").code == 2
    assert run("inspect", "--lint", "--color", "never", path).code == 0


@pytest.mark.parametrize(
    "option",
    [
        ["--output", "out"],
        ["--html", "out"],
        ["--file", "out"],
        ["--id", "1"],
        ["--ids", "1-2"],
        ["--merges"],
        ["--no-ids"],
        ["--special", "allow"],
        ["--field", "text"],
        ["--lines"],
        ["--errors", "replace"],
    ],
)
def test_options_that_findings_have_no_use_for(
    option: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bytemill.get_encoding("gpt2").save("gpt2.bytemill")
    called = run("inspect", "--lint", "gpt2.bytemill", *option)
    assert (called.code, called.out) == (2, "")
    assert "--lint and -" in called.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["qwen2", "bert-uncased", "llama-2", "bloom", "t5", "word-level"])
def test_any_kind_of_file_is_looked_at(name: str, tmp_path: Path) -> None:
    for finding in inspection.lint(written(tmp_path, contents_of(name))):
        assert finding.kind in {"pattern", "duplicates", "flags", "numbers", "holes", "bytes", "unreachable"}
        assert finding.message
        assert list(finding.tokens) == sorted(finding.tokens)
