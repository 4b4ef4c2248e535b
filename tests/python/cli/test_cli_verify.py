"""`verify` and `bench`: other libraries with the same vocabulary, and deliberate differences."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import bytemill
from bytemill.cli import engines
from bytemill.cli.bench import thread_counts
from bytemill.cli.engines import Engine
from bytemill.cli.verify import first_difference
from support.command_line import bytemill as run

TEXT = "The quick brown fox, 1234 times: «naïve» 你好 <|endoftext|> slowest\n" * 10


@pytest.fixture(scope="module")
def mine() -> bytemill.Encoding:
    return bytemill.train(
        [TEXT], 290, pattern="cl100k", special_tokens=["<|endoftext|>"], progress=False, name="mine"
    )


@pytest.fixture
def mine_file(mine: bytemill.Encoding, tmp_path: Path) -> Path:
    path = tmp_path / "mine.bytemill"
    mine.save(path)
    return path


@pytest.mark.parametrize("library", ["tiktoken", "hf"])
def test_equal_ids(library: str, mine_file: Path, mine: bytemill.Encoding) -> None:
    called = run("verify", mine_file, "--against", library, "--json", given=TEXT)
    assert called.code == 0, called.err
    report = json.loads(called.out)
    assert report["equal"] is True
    assert report["documents"] == 1
    assert report["tokens"] == len(mine.encode(TEXT, allowed_special="all"))


def test_a_file_of_hugging_face_is_compared_with_itself(mine: bytemill.Encoding, tmp_path: Path) -> None:
    mine.save_huggingface(tmp_path / "folder")
    path = tmp_path / "folder" / "tokenizer.json"
    assert run("verify", path, "--against", "hf", given=TEXT).code == 0
    # With another pattern in the file, both read it from there.
    assert engines.is_tokenizer(path)
    assert not engines.is_tokenizer(tmp_path)


@pytest.mark.parametrize("options", [["--json"], []])
def test_the_first_difference_is_shown(
    mine: bytemill.Encoding, mine_file: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    def other(encoding: bytemill.Encoding, _: str) -> Engine:
        # It lacks a merge of "slowest".
        return Engine(
            "other 1.0",
            lambda text: [
                token
                for span in text.partition(" slowest")
                for token in (
                    list(span.encode())
                    if span == " slowest"
                    else encoding.encode(span, allowed_special="all")
                )
            ],
        )

    monkeypatch.setitem(engines.ENGINES, "tiktoken", other)
    offset = TEXT.index(" slowest")
    called = run("verify", mine_file, "--against", "tiktoken", *options, given=TEXT)
    assert called.code == 1
    if options:
        report = json.loads(called.out)
        assert report["equal"] is False
        assert (report["file"], report["document"]) == ("-", 1)
        assert report["piece"] == " slowest"
        assert offset <= report["character"] < offset + len(" slowest")
        assert mine.decode(report["our_ids"]) == " slowest"
        assert bytes(report["their_ids"]) == b" slowest"
    else:
        assert "piece      " in called.out


def test_differences_at_the_end_and_of_unknown_ids(mine: bytemill.Encoding) -> None:
    ids = mine.encode_ordinary("a fox")
    assert first_difference(mine, "a fox", ids, ids[:-1])["their_ids"] == ids[-2:-1] * (len(ids) > 2)
    found = first_difference(mine, "a fox", ids, [*ids, 9999])
    assert (found["piece"], found["our_ids"], found["their_ids"]) == ("", [], [9999])
    found = first_difference(mine, "<|endoftext|>", [mine.eot_token], [9999])
    assert (found["piece"], found["our_ids"], found["their_ids"]) == (
        "<|endoftext|>",
        [mine.eot_token],
        [9999],
    )


def test_panics_are_errors() -> None:
    class PanicException(BaseException):
        pass

    def panic() -> list[int]:
        raise PanicException

    with pytest.raises(ValueError, match="tiktoken panics"):
        engines.guarded(panic)
    with pytest.raises(KeyboardInterrupt):
        engines.guarded(lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def test_bench_reports(mine_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    called = run("bench", path, "-e", mine_file, "--rounds", 2, "--threads", 2, "--json")
    assert called.code == 0, called.err
    report = json.loads(called.out)
    assert report["documents"] == 1
    assert report["bytes"] == len(TEXT.encode())
    assert report["ids"].startswith("equal those of tiktoken ")
    assert [(row["what"], row["threads"]) for row in report["timings"]] == [
        (what, threads)
        for threads in (1, 2)
        for what in ("bytemill, array", "bytemill, lists", "tiktoken, lists")
    ]
    assert all(0 < row["min_seconds"] <= row["median_seconds"] for row in report["timings"])
    called = run("bench", path, "-e", mine_file, "--rounds", 1, "--threads", 1, "--alone")
    assert "the ids give the texts back" in called.out
    assert "tiktoken" not in called.out


def test_bench_refuses_wrong_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    monkeypatch.setitem(engines.ENGINES, "tiktoken", lambda *_: Engine("other 1.0", lambda _: [1]))
    called = run("bench", path)
    assert called.code == 1
    assert "the ids are not those of tiktoken" in called.err


def test_bench_without_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    called = run("bench", given="hello")
    assert called.code == 2
    assert "pip install tiktoken" in called.err
    assert "measure without it by --alone" in called.err


def test_threads_double() -> None:
    assert [thread_counts(most) for most in (1, 2, 3, 8)] == [[1], [1, 2], [1, 2, 3], [1, 2, 4, 8]]
