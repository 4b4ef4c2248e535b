"""`verify --ledger`: equal results, a deliberate difference in each aspect, missing libraries, the row."""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill.cli import engines
from bytemill.cli.comparing import ASPECTS, Comparison, portions, shortest
from bytemill.cli.engines import Engine, Spans
from bytemill.cli.ledger import UNITS, files_of, kind_of
from bytemill.cli.made_texts import made_texts, texts_of_added_tokens
from support.command_line import bytemill as run
from support.open_models import encoding_of, file_of
from support.sentencepiece import library, trained

TEXT = "The quick brown fox, 1234 times: «naïve» 你好 <|endoftext|> slowest 😀\n" * 10


@pytest.fixture(autouse=True)
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bytemill.cli.made_texts.SIZE", 5_000)


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def files(folder: Path) -> dict[str, Path]:
    """Writes a file for each library but tiktoken: its path by the name of the library."""
    for name, contents in (("tokenizer.json", file_of("flags")), ("u.model", trained("nmt_nfkc"))):
        (folder / name).write_bytes(contents)
    return {"tokenizers": folder / "tokenizer.json", "sentencepiece": folder / "u.model"}


# --- The command --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["tiktoken", "tokenizers", "sentencepiece"])
def test_the_row_of_equal_results(library: str, text_file: Path, tmp_path: Path) -> None:
    path = files(tmp_path).get(library)
    for given in ([text_file], []):
        called = run("verify", "--ledger", path or "gpt2", *given, "--json")
        assert called.code == 0, called.out + called.err
        row = json.loads(called.out)
        assert row["oracle"].startswith(f"{library} ")
        assert row["bytemill"] == bytemill.__version__
        assert row["texts"] == ("of the files" if given else "made of samples and tokens")
        assert row["documents"] == 1 if given else row["documents"] > 50
        assert row["bytes"] == len(TEXT.encode()) if given else row["bytes"] > 5_000
        expected = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()} if path else {}
        assert row["files"] == expected
        assert row["found"] == []
        for aspect in ASPECTS:
            assert row[aspect]["compared"] > 0
            assert row[aspect]["differences"] == 0
        assert row["offsets"]["compared"] == row["token_ids"]["compared"]
        if given:
            assert row["decoded_text"]["compared"] >= len(TEXT) - 20
            assert row["streams"]["compared"] <= row["token_ids"]["compared"]
            assert row["sessions"]["compared"] <= len(TEXT)


def test_the_row_for_people(text_file: Path, tmp_path: Path) -> None:
    called = run("verify", "--ledger", files(tmp_path)["tokenizers"], text_file)
    assert called.code == 0, called.err
    lines = dict(line.split("  ", 1) for line in called.out.splitlines())
    shown = {key: value.strip() for key, value in lines.items()}
    assert shown["kind"] == "BPE by list"
    assert shown["files"].startswith("tokenizer.json (SHA-256 ")
    assert shown["bytes"] == f"{len(TEXT.encode()):,}"
    assert shown["documents"] == "1"
    assert shown["sessions"].endswith("portions, 0 documents differ")


def test_standard_input_and_a_chosen_library() -> None:
    called = run("verify", "--ledger", "gpt2", "-", "--against", "hf", "--json", given=TEXT)
    assert called.code == 0, called.err
    row = json.loads(called.out)
    assert row["oracle"].startswith("tokenizers ")
    assert (row["documents"], row["bytes"]) == (1, len(TEXT.encode()))


def test_long_documents_are_compared_in_parts(text_file: Path) -> None:
    text = "a line of text\n" * 10_000
    text_file.write_text(text, encoding="utf-8")
    called = run("verify", "--ledger", "gpt2", text_file, "--json")
    assert called.code == 0, called.err
    row = json.loads(called.out)
    assert (row["documents"], row["bytes"]) == (3, len(text))


def test_it_wants_a_library_or_all() -> None:
    called = run("verify", "gpt2", given=TEXT)
    assert called.code == 2
    assert "--against" in called.err
    assert "--ledger" in called.err


@pytest.mark.parametrize("library", ["tokenizers", "sentencepiece", "tiktoken"])
def test_a_missing_library_is_named(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = files(tmp_path).get(library, "gpt2")
    monkeypatch.setitem(sys.modules, library, None)
    called = run("verify", "--ledger", path)
    assert called.code == 2
    assert f"pip install {library}" in called.err
    assert called.out == ""


def spoilt(aspect: str) -> Engine:
    """Returns tiktoken, which is wrong about one aspect where a text, or that of its token IDs, has "qu"."""
    theirs = engines.engine("tiktoken", bytemill.get_encoding("gpt2"), "gpt2")
    whole, decode = theirs.spans, theirs.decode
    assert whole is not None
    assert decode is not None

    def spans(text: str) -> Spans:
        found = whole(text)
        if "qu" not in text:
            return found
        if aspect == "token_ids":
            return found._replace(ids=[*found.ids[:-1], 0])
        starts = list(found.starts or ())
        return found._replace(starts=[*starts[:-1], 99]) if aspect == "offsets" else found

    def decoded(ids: Sequence[int]) -> str:
        text = decode(ids)
        return f"{text}!" if aspect == "decoded_text" and "qu" in text else text

    return theirs._replace(spans=spans, decode=decoded)


@pytest.mark.parametrize("aspect", ["token_ids", "offsets", "decoded_text"])
def test_a_difference_of_the_library(
    aspect: str, text_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_library = spoilt(aspect)
    monkeypatch.setitem(engines.ENGINES, "tiktoken", lambda *_: other_library)
    other = tmp_path / "other.txt"
    other.write_text("nothing of it", encoding="utf-8")
    called = run("verify", "--ledger", "gpt2", other, text_file, "--json")
    assert called.code == 1
    row = json.loads(called.out)
    found = {each["aspect"]: each for each in row["found"]}
    assert row[aspect]["differences"] == 1
    assert found[aspect]["text"] == "qu"
    assert found[aspect]["ours"] != found[aspect]["theirs"]
    called = run("verify", "--ledger", "gpt2", text_file)
    assert called.code == 1
    assert f"{aspect.replace('_', ' ').replace('ids', 'IDs')} differ of" in called.out
    assert called.out.count(", 1 documents differ") == called.out.count(" differ of")
    assert called.out.count(", theirs") == called.out.count(" differ of")


class Forgetful:
    """A stream or a session that leaves out what comes in the second call."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        self.calls = 0

    def push(self, ids: Sequence[int]) -> str:
        self.calls += 1
        text: str = self.whole.push(ids)
        return "" if self.calls == 2 else text

    def append(self, text: str) -> Any:
        self.calls += 1
        return self.whole.append("" if self.calls == 2 else text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


@pytest.mark.parametrize(("aspect", "method"), [("streams", "stream_decoder"), ("sessions", "session")])
def test_a_difference_in_portions(
    aspect: str, method: str, text_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = getattr(bytemill.Encoding, method)
    monkeypatch.setattr(bytemill.Encoding, method, lambda self, **options: Forgetful(whole(self, **options)))
    called = run("verify", "--ledger", "gpt2", text_file, "--json")
    assert called.code == 1
    row = json.loads(called.out)
    assert [aspect for aspect in ASPECTS if row[aspect]["differences"]] == [aspect]
    (found,) = row["found"]
    assert found["aspect"] == aspect
    assert len(found["text"]) <= 4
    assert len(found["portions"]) >= 2
    assert found["ours"] != found["theirs"]


def test_a_change_that_a_session_does_not_tell(text_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bytemill.Session.append
    monkeypatch.setattr(
        bytemill.Session, "append", lambda self, text: whole(self, text)._replace(ids=[]) if text else None
    )
    called = run("verify", "--ledger", "gpt2", text_file, "--json")
    assert called.code == 1
    assert json.loads(called.out)["sessions"]["differences"] == 1


# --- Its parts ----------------------------------------------------------------------------------------------


def test_what_a_library_cannot_tell_is_none() -> None:
    encoding = bytemill.get_encoding("gpt2")
    other = Engine("ids only", lambda text: encoding.encode(text, allowed_special="all"))
    comparison = Comparison(encoding, other)
    comparison.add(TEXT)
    record = comparison.record()
    assert [record[aspect] is None for aspect in ASPECTS] == [False, True, True, True, False]


def test_a_difference_where_the_library_returns_nothing() -> None:
    comparison = Comparison(bytemill.get_encoding("gpt2"), Engine("nothing", lambda _: []))
    comparison.add("a")
    assert comparison.record()["token_ids"] == {"compared": 0, "differences": 1}
    assert [each["text"] for each in comparison.found] == ["a", "a"]


def test_offsets_of_text_that_a_pattern_drops_are_not_compared() -> None:
    encoding = bytemill.train(["ab ab"], 257, pattern=r"\w+", progress=False)
    comparison = Comparison(encoding, engines.engine("tiktoken", encoding, ""))
    comparison.add("ab-ab")
    assert comparison.record()["offsets"] is None
    comparison.add("ab")
    assert comparison.record()["offsets"] == {"compared": 1, "differences": 0}
    assert comparison.found == []


def test_sentencepiece_without_offsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = library().SentencePieceProcessor
    encode = processor.encode

    def older(self: Any, text: Any, out_type: Any = int, **options: Any) -> Any:
        if out_type == "offset_mapping":
            raise RuntimeError("unknown out_type")
        return encode(self, text, out_type=out_type, **options)

    monkeypatch.setattr(processor, "encode", older)
    called = run("verify", "--ledger", files(tmp_path)["sentencepiece"], "--json")
    assert called.code == 0, called.err
    row = json.loads(called.out)
    assert row["offsets"] is None
    assert row["streams"]["compared"] > 0


def test_a_comparison_goes_on() -> None:
    encoding = bytemill.get_encoding("gpt2")
    other = engines.engine("tiktoken", encoding, "gpt2")
    whole, first = Comparison(encoding, other), Comparison(encoding, other)
    first.add("one text")
    second = Comparison(encoding, other, json.loads(json.dumps(first.record())))
    second.add(TEXT)
    for text in ("one text", TEXT):
        whole.add(text)
    assert second.record() == whole.record()


@pytest.mark.parametrize("length", [0, 1, 2, 5, 1000, 100_000])
def test_portions_are_all_of_a_text(length: int) -> None:
    found = [[*portions(length, random.Random(seed))] for seed in range(50)]  # noqa: S311 - to repeat it
    assert all(sum(sizes) == length and all(size > 0 for size in sizes) for sizes in found)
    if length > 5:
        assert len({*map(tuple, found)}) == 50
        assert any(1 in sizes for sizes in found)


def test_a_text_is_made_short() -> None:
    calls = []

    def differs(text: str) -> bool:
        calls.append(text)
        return text.count("a") >= 2 and "b" in text

    assert shortest("x" * 500 + "a" + "y" * 300 + "ba" + "z" * 5_000, differs) == "aba"
    assert len(calls) < 200


def test_kinds(tmp_path: Path) -> None:
    of_files = {
        "qwen2": "BPE by list",
        "gpt2": "BPE by rank",
        "gpt2-oldest": "BPE by rank",
        "bert-uncased": "WordPiece",
        "bert-old": "WordPiece",
        "word-level": "WordLevel",
        "albert": "Unigram",
    }
    for name, kind in of_files.items():
        assert kind_of(encoding_of(name)) == kind, name
    for model_type, kind in {"bpe": "BPE", "unigram": "Unigram", "word": "word", "char": "character"}.items():
        path = tmp_path / f"{model_type}.model"
        path.write_bytes(trained("identity", 800, model_type=model_type, hard_vocab_limit=False))
        assert kind_of(bytemill.Encoding.from_file(path)) == f"SentencePiece {kind}"


def test_files_of_encodings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()
    assert files_of("gpt2") == files_of("gpt-4o") == files_of("gpt-4o-2099") == []
    encoding = bytemill.train(["ab ab"], 257, pattern="gpt2", progress=False)
    encoding.save_gpt2(tmp_path / "pair")
    pair = sorted((tmp_path / "pair").iterdir())
    assert files_of("pair") == [path.relative_to(tmp_path) for path in pair]
    path = files(tmp_path)["sentencepiece"]
    assert files_of(str(path)) == [path]


def test_made_texts(tmp_path: Path) -> None:
    model = files(tmp_path)["sentencepiece"]
    for encoding in (
        bytemill.get_encoding("gpt2"),
        encoding_of("flags"),
        bytemill.Encoding.from_file(model),
    ):
        texts = [*made_texts(encoding)]
        assert [*made_texts(encoding)] == texts
        added = texts_of_added_tokens(encoding)
        assert added
        assert "" not in added
        assert all(any(token in text for text in texts) for token in added)
    flags = json.loads(file_of("flags"))["added_tokens"]
    assert {token["content"] for token in flags} <= {*texts_of_added_tokens(encoding_of("flags"))}


def test_every_thing_has_a_unit() -> None:
    assert [*UNITS] == [*ASPECTS]
