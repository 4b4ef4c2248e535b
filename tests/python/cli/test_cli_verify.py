"""`verify` and `bench`: other libraries with the same vocabulary, and deliberate differences."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import bytemill
from bytemill.cli import bench, engines, reading
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
    assert engines.tokenizer_file(str(path)) == engines.tokenizer_file(str(path.parent)) == path
    assert engines.tokenizer_file(str(tmp_path)) is None
    assert engines.tokenizer_file("gpt2") is None


def test_a_file_that_truncates_and_pads(mine: bytemill.Encoding, tmp_path: Path) -> None:
    mine.save_huggingface(tmp_path)
    path = tmp_path / "tokenizer.json"
    contents = json.loads(path.read_bytes())
    contents["truncation"] = {
        "direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0,
    }  # fmt: skip
    contents["padding"] = {
        "strategy": {"Fixed": 4096}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
        "pad_type_id": 0, "pad_token": "!",
    }  # fmt: skip
    path.write_text(json.dumps(contents), encoding="utf-8")
    called = run("verify", path, "--against", "hf", given=TEXT)
    assert called.code == 0, called.out


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
        engines.guarded("tiktoken", panic)
    with pytest.raises(KeyboardInterrupt):
        engines.guarded("tiktoken", lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def test_texts_that_the_other_library_refuses_are_errors(tmp_path: Path) -> None:
    model = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"a": 0}}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model}), encoding="utf-8")
    called = run("verify", "--ledger", path)
    assert called.code == 2
    assert "error: tokenizers refuses a text: " in called.err


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
    assert "token IDs give the texts back" in called.out
    assert "tiktoken" not in called.out


def files_of(mine: bytemill.Encoding, folder: Path) -> dict[str, Path]:
    """Writes encodings for three libraries: the file by the name of the library."""
    mine.save_huggingface(folder / "hf")
    mine.save_tiktoken(folder / "mine.tiktoken")
    model = folder / "mine.model"
    trained = run("train", "-o", model, "--kind", "sentencepiece", "--vocab-size", 60, given=TEXT * 3)
    assert trained.code == 0, trained.err
    return {"tokenizers": folder / "hf", "sentencepiece": model, "tiktoken": folder / "mine.bytemill"}


def test_bench_compares_with_the_library_of_the_file(
    mine: bytemill.Encoding, mine_file: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    for library, path in files_of(mine, mine_file.parent).items():
        called = run("bench", text, "-e", path, "--rounds", 1, "--threads", 1)
        assert called.code == 0, called.err
        assert f"token IDs equal those of {library} " in called.out
        assert f"\n{library}, lists" in called.out
        assert re.search(rf"\nto lists, 1 thread: [\d.]+ times the speed of {library}\n", called.out)
    # One written for it.
    called = run("bench", text, "-e", mine_file, "--against", "hf", "--rounds", 1, "--threads", 1)
    assert "token IDs equal those of tokenizers " in called.out


def test_verify_with_sentencepiece(mine: bytemill.Encoding, tmp_path: Path) -> None:
    model = files_of(mine, tmp_path)["sentencepiece"]
    for text in (TEXT, "a </s> b <unk>", ""):
        called = run("verify", model, "--against", "sentencepiece", given=text)
        assert called.code == 0, called.out + called.err


def test_bench_measures_a_slow_library_on_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []

    def slow(encoding: bytemill.Encoding, _: str) -> Engine:
        return Engine("slow 1.0", encoding.encode, lambda texts, _: encoded.append("".join(texts)))

    monkeypatch.setitem(engines.ENGINES, "tiktoken", slow)
    monkeypatch.setattr(bench, "COMPARING", 0)
    monkeypatch.setattr(bench, "MEASURING", 0)
    monkeypatch.setattr(bench, "PART", 100)
    lines = "a line of text\n" * 50
    text = tmp_path / "text.txt"
    text.write_text(lines, encoding="utf-8")
    called = run("bench", text, "--threads", 1, "--json")
    assert called.code == 0, called.err
    report = json.loads(called.out)
    assert report["ids"] == "of the first 0.0 MB equal those of slow 1.0"
    assert [(each["what"], each["bytes"], each["rounds"]) for each in report["timings"]] == [
        ("bytemill, array", len(lines), 1),
        ("bytemill, lists", len(lines), 1),
        ("slow, lists", 90, 1),
    ]
    assert encoded == [lines[:90]] * 2


def test_bench_says_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(reading, "is_terminal", lambda _: True)
    monkeypatch.setattr(reading, "show_line", shown.append)
    text = tmp_path / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    assert run("bench", text, "--rounds", 2, "--threads", 2).code == 0
    for count in ("1 thread", "2 threads"):
        for what in ("first round", "round 1", "round 2"):
            for label in ("bytemill, array", "bytemill, lists", "tiktoken, lists"):
                assert f"measuring {label}, {count}, {what}" in shown
    assert shown[-1] == ""


@pytest.mark.parametrize("text", ["", "a", "ab\ncd\n" * 9, "x" * 50, "日本\n語" * 20])
def test_parts_of_documents(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PART", 10)
    parts = list(bench.parts_of(text))
    assert "".join(parts) == text
    assert all(len(part) <= 10 for part in parts)
    assert all(part.endswith("\n") for part in parts[:-1] if "\n" in part)


def test_bench_refuses_wrong_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    monkeypatch.setitem(engines.ENGINES, "tiktoken", lambda *_: Engine("other 1.0", lambda _: [1]))
    called = run("bench", path)
    assert called.code == 1
    assert "document 1: the token IDs differ from those of other 1.0" in called.err
    assert "bytemill verify --against tiktoken shows where" in called.err


def test_bench_without_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    called = run("bench", given="hello")
    assert called.code == 2
    assert "pip install tiktoken" in called.err
    assert "measure without it by --alone" in called.err


@pytest.mark.parametrize("library", ["tokenizers", "sentencepiece", "tiktoken"])
def test_bench_names_the_missing_package(
    library: str, mine: bytemill.Encoding, mine_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files_of(mine, mine_file.parent)[library]
    monkeypatch.setitem(sys.modules, library, None)
    called = run("bench", "-e", path)
    assert called.code == 2
    assert f"pip install {library}`, or measure without it by --alone" in called.err
    text = mine_file.parent / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    called = run("bench", text, "-e", path, "--alone", "--rounds", 1, "--threads", 1)
    assert called.code == 0, called.err


def test_bench_with_a_library_that_cannot(tmp_path: Path, mine: bytemill.Encoding) -> None:
    model = files_of(mine, tmp_path)["sentencepiece"]
    called = run("bench", "-e", model, "--against", "tiktoken")
    assert called.code == 2
    assert called.err.endswith("; measure without it by --alone\n")
    assert "exclude each other" in run("bench", "--alone", "--against", "hf").err


def test_threads_double() -> None:
    assert [thread_counts(most) for most in (1, 2, 3, 8)] == [[1], [1, 2], [1, 2, 3], [1, 2, 4, 8]]
