"""`make verify-huge` on kilobytes: it records what it compares, goes on where it was, finds differences."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from programs import verify_huge
from support import derived_text, sentencepiece
from support.derived_text import WAYS, chunks_of, text_of
from support.sentencepiece import trained
from support.texts import patchwork

KINDS = {"tiktoken", "tokenizers", "sentencepiece"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    sentencepiece.library()
    monkeypatch.setattr(derived_text, "CHUNK_BYTES", 10_000)
    monkeypatch.setattr(verify_huge, "LOADED", ["qwen2", "flags"])
    monkeypatch.setattr(verify_huge, "MODELS", {"identity": trained})


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "one.txt").write_text(patchwork(1, 8_000) + "the question is quick " * 300, encoding="utf-8")
    (folder / "two.bin").write_bytes(b"\xff<|endoftext|> unique " * 700)
    (folder / "empty").write_bytes(b"")
    return folder


@pytest.fixture
def run(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    def run(size: str) -> int:
        monkeypatch.setattr(
            sys, "argv", ["verify_huge", str(corpus), "--size", size, "--output", str(tmp_path / "lines")]
        )
        return verify_huge.main()

    return run


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "lines").read_text(encoding="utf-8").splitlines()]


def test_chunks(corpus: Path) -> None:
    paths = sorted(corpus.iterdir())
    whole = b"".join(path.read_bytes() for path in paths)
    number = -(-len(whole) // 10_000)
    chunks = [*islice(chunks_of(paths), 20 * number)]
    assert [chunk.number for chunk in chunks] == [*range(20 * number)]
    assert [chunk.turn for chunk in chunks] == [turn for turn in range(20) for _ in range(number)]
    assert b"".join(derived_text.read(part) for chunk in chunks[:number] for part in chunk.parts) == whole
    texts = [text_of(chunk) for chunk in chunks]
    assert [text_of(chunk) for chunk in chunks] == texts
    assert len({*texts}) == len(texts)
    assert min(len(text) for chunk, text in zip(chunks, texts, strict=True) if chunk.size == 10_000) > 2_000


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("data", [b"", b"a", b"\xff", "\u4f60\u597d, \U0001f600".encode() * 50])
def test_every_way_takes_any_bytes(way: Callable[..., str], data: bytes) -> None:
    texts = [way(data, np.random.default_rng(seed)) for seed in range(5)]
    assert [way(data, np.random.default_rng(seed)) for seed in range(5)] == texts


def test_a_run_goes_on_where_it_was(
    run: Callable[[str], int], corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("25kB") == 0
    (first,) = lines(tmp_path)
    assert first["chunks"][0] == 0
    assert run("25kB") == 0
    assert len(lines(tmp_path)) == 1
    assert run("90kB") == 0
    _, second = lines(tmp_path)
    assert second["chunks"][0] == first["chunks"][1]
    for line in (first, second):
        assert line["differences"] == 0
        assert {*line["compared"]} == KINDS
        assert all(sums["bytes"] > 0 and sums["ids"] > 0 for sums in line["compared"].values())
        assert line["compared"]["tiktoken"]["bytes"] >= line["bytes"]
    assert first["bytes_derived"] < second["bytes_derived"]
    assert first["bytes"] >= 25_000
    assert first["bytes"] + second["bytes"] >= 90_000
    assert "0 differences" in capsys.readouterr().out.splitlines()[-1]
    (corpus / "three.txt").write_text("others", encoding="utf-8")
    assert run("100kB") == 0
    assert lines(tmp_path)[2]["chunks"][0] == 0


def test_an_interrupted_run_records_what_it_has_done(
    run: Callable[[str], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(chunk: derived_text.Chunk) -> str:
        if chunk.number == 2:
            raise KeyboardInterrupt
        return text_of(chunk)

    with monkeypatch.context() as patch:
        patch.setattr(verify_huge, "text_of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run("50kB")
    assert [line["chunks"] for line in lines(tmp_path)] == [[0, 2]]
    assert run("50kB") == 0
    assert lines(tmp_path)[1]["chunks"][0] == 2


@pytest.mark.parametrize("wrong", sorted(KINDS))
def test_a_difference_is_found_and_made_short(
    run: Callable[[str], int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wrong: str,
) -> None:
    """The other library takes another last token where a text has two letters."""
    whole = verify_huge.libraries

    @contextmanager
    def libraries() -> Iterator[dict[str, verify_huge.Library]]:
        with whole() as found:
            yield {
                **found,
                wrong: found[wrong]._replace(share=1, open=lambda name: spoilt(found[wrong].open(name))),
            }

    def spoilt(pair: verify_huge.Pair) -> verify_huge.Pair:
        def theirs(documents: list[str]) -> list[Any]:
            return [
                [*ids[:-1], 7] if "qu" in text else ids
                for text, ids in zip(documents, pair.theirs(documents), strict=True)
            ]

        return pair._replace(theirs=theirs)

    monkeypatch.setattr(verify_huge, "libraries", libraries)
    assert run("30kB") == 1
    (line,) = lines(tmp_path)
    assert line["differences"] >= len(line["first_differences"]) > 0
    for found in line["first_differences"]:
        assert found["library"] == wrong
        assert found["text"] == "qu"
        assert found["theirs"] == [*found["ours"][:-1], 7]
        assert found["ours"][-1] != 7
    assert json.dumps(line["first_differences"][0]) in capsys.readouterr().out


def test_a_text_is_made_short() -> None:
    calls = []

    def differs(text: str) -> bool:
        calls.append(text)
        return text.count("a") >= 2 and "b" in text

    assert verify_huge.shortest("x" * 500 + "a" + "y" * 300 + "ba" + "z" * 5_000, differs) == "aba"
    assert len(calls) < 200


@pytest.mark.parametrize("size", ["", "10", "GB", "1.5GB", "-1GB", "10gb"])
def test_other_sizes_are_refused(run: Callable[[str], int], size: str) -> None:
    with pytest.raises(SystemExit) as caught:
        run(size)
    assert caught.value.code == 2


def test_it_wants_text(run: Callable[[str], int], corpus: Path) -> None:
    for path in corpus.iterdir():
        path.unlink()
    with pytest.raises(SystemExit) as caught:
        run("10kB")
    assert caught.value.code == 2
