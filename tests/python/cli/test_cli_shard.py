"""`bytemill shard` from the command line."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import bytemill
from bytemill.cli import reading
from bytemill.shards import source_blocks
from support.command_line import bytemill as run

GPT2 = bytemill.get_encoding("gpt2")
TEXTS = ["a first document", "naïve, the second", "<|endoftext|> is text"] * 5


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"body": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return path


def test_shards(documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    args = ["shard", documents, "-o", out, "-e", "gpt2", "--field", "body", "--shard-tokens", "50"]
    called = run(*args, "--eos", "<|endoftext|>", "--bos", "13", "--json")
    assert called.code == 0, called.err
    ids, _ = GPT2.encode_batch_to_numpy(TEXTS, prepend=13, append=GPT2.eot_token)
    assert json.loads(called.out) == {
        "shards": -(-len(ids) // 50),
        "documents": len(TEXTS),
        "tokens": len(ids),
        "dtype": "uint16",
        "directory": str(out),
    }
    parts = [np.fromfile(path, np.uint16) for path in sorted(out.glob("*.bin"))]
    assert np.array_equal(np.concatenate(parts), ids)
    # The same again: nothing to do with --resume, an error without.
    again = [*args, "--append", "<|endoftext|>", "--prepend", "13"]
    assert run(*again, "--resume").code == 0
    refused = run(*again)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(
        f"bytemill: error: {out}: the folder has shards with the name 'shard' already: "
    )


def test_standard_input(documents: Path, tmp_path: Path) -> None:
    for given, options, texts in (
        (documents.read_bytes(), ["--field", "body"], TEXTS),
        ("\n".join(TEXTS).encode(), [], ["\n".join(TEXTS)]),
        ("\n".join(TEXTS).encode(), ["--lines"], [*(f"{text}\n" for text in TEXTS[:-1]), TEXTS[-1]]),
    ):
        out = tmp_path / f"out{len(options)}"
        called = run("shard", "-o", out, "-e", "gpt2", "--shard-tokens", "none", *options, given=given)
        assert called.code == 0, called.err
        assert np.array_equal(
            np.fromfile(out / "shard.bin", np.uint16), GPT2.encode_batch_to_numpy(texts).ids
        )
    called = run("shard", "-", "-o", tmp_path / "resumed", "--resume")
    assert called.code == 2
    assert "--resume needs files" in called.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shard-tokens", "many"], "expected a number of tokens such as 1000000 or 100M, got 'many'"),
        (["--shard-tokens", "0"], "expected 1 or more, or none, got 0"),
        (["-e", "cl100k_base", "--dtype", "uint16"], "dtype uint16 cannot hold token IDs up to 100276"),
        (["--special", "error"], "documents.jsonl: expected no special token '<|endoftext|>'"),
        (
            ["--append", "<|no such|>"],
            "append has the text '<|no such|>', which is not a token of 'o200k_base'",
        ),
        (["--field", "text"], "line 1: expected an object with the field 'text', got the fields body"),
        (["--field", "body", "--lines"], "--lines is for text, and --field implies"),
    ],
)
def test_errors_are_messages(options: list[str], said: str, documents: Path, tmp_path: Path) -> None:
    field = [] if "--field" in options else ["--field", "body"]
    called = run("shard", documents, "-o", tmp_path / "out", *field, *options)
    assert called.code == 2
    assert called.err.startswith("bytemill: error: ")
    assert said in called.err


def test_numbers_may_have_units(documents: Path, tmp_path: Path) -> None:
    for value, number in (("1_000", 1000), ("3k", 3000), ("2M", 2_000_000), ("1G", 10**9)):
        out = tmp_path / value
        assert run("shard", documents, "--field", "body", "-o", out, "--shard-tokens", value).code == 0
        assert json.loads((out / "provenance.json").read_text())["options"]["shard_tokens"] == number


def test_a_run_that_failed_before_its_first_shard_binds_no_other(documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("shard", documents, "-o", out, "--field", "wrong").code == 2
    (out / "shard-000000.bin.tmp").write_bytes(b"killed")
    for options in ([], ["--resume"]):
        assert run("shard", documents, "-o", out, "--field", "body", *options).code == 0
    assert sorted(path.name for path in out.iterdir()) == ["provenance.json", "shard-000000.bin"]
    assert run("shard", documents, "-o", out, "--field", "body").code == 2


def test_outputs_in_a_folder_of_the_source_are_refused(documents: Path) -> None:
    out = documents.parent / "out"
    called = run("shard", documents.parent, "-o", out, "--field", "body")
    assert called.code == 2
    assert f"{out}: expected a folder for outputs outside of the source {documents.parent}," in called.err
    assert not out.exists()


def test_what_is_not_empty_is_left_alone(documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("shard", documents, "-o", out, "--field", "wrong").code == 2
    (out / "mine.txt").write_text("mine")
    called = run("shard", documents, "-o", out, "--field", "body")
    assert (called.code, "the folder is not empty" in called.err) == (2, True)
    assert {path.name for path in out.iterdir()} == {"mine.txt", "provenance.json"}


def test_parquet_without_its_package_is_said_at_once(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    called = run("shard", documents, "-o", tmp_path / "out", "--field", "body", "--format", "parquet")
    assert called.code == 2
    assert "pip install pyarrow" in called.err
    assert not (tmp_path / "out").exists()


def test_a_file_where_the_folder_should_be(documents: Path, tmp_path: Path) -> None:
    (tmp_path / "hello.txt").touch()
    for out in ("hello.txt", "hello.txt/new"):
        called = run("shard", documents, "-o", tmp_path / out, "--field", "body", "--eos", "<|endoftext|>")
        assert called.code == 2
        assert called.err == (
            f"bytemill: error: {tmp_path / 'hello.txt'}: expected a folder, and this is a file\n"
        )


@pytest.mark.parametrize(
    ("encoding", "token", "code", "said"),
    [
        ("gpt2", "eos", 2, "which is not a token of 'gpt2': expected one, such as '<|endoftext|>', or an id"),
        # Here it is one, which is no mark.
        ("cl100k_base", "eos", 0, "'eos', which is an ordinary token of 'cl100k_base' (ID 85499) and occurs"),
        ("cl100k_base", "\n", 0, ""),
        ("cl100k_base", "<|endofprompt|>", 0, ""),
    ],
)
def test_a_word_is_no_mark(  # noqa: PLR0913, PLR0917 - all are parameters
    encoding: str, token: str, code: int, said: str, documents: Path, tmp_path: Path
) -> None:
    called = run(
        "shard", documents, "-o", tmp_path / "out", "--field", "body", "-e", encoding, "--eos", token
    )
    assert called.code == code
    assert said in called.err
    assert bool(said) == bool(called.err)


def test_documents_that_run_together(documents: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("one\ntwo\n")

    def told(*args: object) -> str:
        called = run("shard", "-e", "gpt2", *args, "-o", tmp_path / f"out{len(list(tmp_path.iterdir()))}")
        assert called.code == 0, called.err
        return called.err

    lines = [documents, "--field", "body"]
    for args in (lines, [*lines, "--format", "npy"], [text, "--lines"], [text, text]):
        assert " does not mark the ends of documents: --eos" in told(*args)
        assert "such as --eos '<|endoftext|>'" in told(*args)
    for args in ([text], [*lines, "--eos", "13"], [*lines, "--bos", "13"], [*lines, "--format", "megatron"]):
        assert told(*args) == ""


def test_an_interrupted_run_says_how_to_go_on(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_blocks, "BLOCK_BYTES", 20)
    out = tmp_path / "out"
    args = ["-o", out, "-e", "gpt2", "--field", "body", "--eos", "<|endoftext|>", "--shard-tokens", 10]
    seen = 0

    def interrupted(*_: object, **__: object) -> None:
        nonlocal seen
        seen += 1
        if seen == last:
            raise error

    monkeypatch.setattr(reading.Meter, "at", interrupted)
    error: BaseException = KeyboardInterrupt()
    last = 1
    called = run("shard", documents, *args, "--shard-tokens", "1G")
    assert called.code == 130
    assert called.err.strip() == ("bytemill: interrupted: no shard is complete: run the same command again")
    (out / "provenance.json").unlink()
    last = 7
    for raised, code in ((KeyboardInterrupt(), 130), (OSError(errno.EIO, "the disk is gone"), 2)):
        error, seen = raised, 0
        called = run("shard", documents, *args, "--resume")
        assert called.code == code
        told = called.err.splitlines()[0]
        record = json.loads((out / "provenance.json").read_text())
        shards, tokens = len(record["shards"]), record["tokens"]
        assert shards > 0
        so_far = "1 shard is" if shards == 1 else f"{shards} shards are"
        so_far += f" complete in {out} ({tokens} tokens of {record['documents']} documents)"
        assert told == f"bytemill: interrupted: {so_far}; run the same command with --resume to continue"
        last = 3
    seen, last = 0, 7
    called = run("shard", *args[:1], tmp_path / "piped", *args[2:], given=documents.read_bytes())
    assert "; standard input cannot be read again: start over in another folder" in called.err
    monkeypatch.undo()
    assert run("shard", documents, *args, "--resume").code == 0


def test_names_share_a_folder(documents: Path, tmp_path: Path) -> None:
    for name in ("train", "val"):
        args = [
            "-o",
            tmp_path / "out",
            "--field",
            "body",
            "--eos",
            "13",
            "--shard-tokens",
            "none",
            "--name",
            name,
        ]
        assert run("shard", documents, *args).code == 0
        refused = run("shard", documents, *args)
        assert refused.code == 2
        assert f"the folder has shards with the name '{name}' already: resume writing them" in refused.err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["provenance.json", "train.bin", "val.bin", "val.provenance.json"]


def test_a_touched_source_is_trusted(documents: Path, tmp_path: Path) -> None:
    args = ["shard", documents, "-o", tmp_path / "out", "--field", "body", "--eos", "13", "--resume"]
    assert run(*args).code == 0
    os.utime(documents, ns=(0, 0))
    called = run(*args)
    assert called.code == 2
    assert "its size is the same. If its contents are too, resume with --trust-sources" in called.err
    assert run(*args, "--trust-sources").code == 0
