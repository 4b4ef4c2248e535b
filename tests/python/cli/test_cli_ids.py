"""`encode` and `decode`: every format, both ways."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bytemill
from bytemill.cli import id_files
from support.command_line import arguments, environment, started
from support.command_line import bytemill as run
from support.tokenizer_files import added, bytes_file

ENCODING = bytemill.get_encoding("o200k_base")
TEXTS = ["hello world\n", "你好, naïve\n", "\n", "no break at its end"]
TEXT = "".join(TEXTS)
IDS = [ENCODING.encode_ordinary(text) for text in TEXTS]


def test_ids_are_lines() -> None:
    assert run("encode", given=TEXT).out == " ".join(map(str, ENCODING.encode_ordinary(TEXT))) + "\n"
    expected = "".join(" ".join(map(str, ids)) + "\n" for ids in IDS)
    assert run("encode", "--lines", given=TEXT).out == expected


def test_json_lines() -> None:
    lines = run("encode", "--lines", "--format", "jsonl", given=TEXT).out.splitlines()
    assert [json.loads(line) for line in lines] == [{"ids": ids} for ids in IDS]


def test_a_document_without_tokens_is_a_line_too() -> None:
    given = '{"text": ""}\n{"text": "hello"}\n{"text": ""}\n'
    assert run("encode", "--field", "text", given=given).out == "\n24912\n\n"
    called = run("encode", "--field", "text", "--format", "jsonl", given=given)
    assert called.out == '{"ids": []}\n{"ids": [24912]}\n{"ids": []}\n'


@pytest.mark.parametrize(
    ("encoding", "options", "dtype"),
    [("o200k_base", [], "uint32"), ("gpt2", [], "uint16"), ("gpt2", ["--dtype", "uint32"], "uint32")],
)
def test_arrays(tmp_path: Path, encoding: str, options: list[str], dtype: str) -> None:
    ids = bytemill.get_encoding(encoding).encode_ordinary(TEXT)
    for name in ("ids.npy", "ids.bin"):
        path = tmp_path / name
        assert run("encode", "-e", encoding, "-o", path, *options, given=TEXT).code == 0
        array = np.load(path) if name.endswith(".npy") else np.fromfile(path, dtype)
        assert array.dtype == dtype
        assert array.tolist() == ids
        assert run("decode", "-e", encoding, path, *options).out == TEXT


def test_a_type_that_is_too_small_is_refused(tmp_path: Path) -> None:
    called = run("encode", "--dtype", "uint16", "-o", tmp_path / "ids.bin", given=TEXT)
    assert called.code == 2
    assert "cannot hold token IDs up to 200018" in called.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", id_files.FORMATS)
def test_decode_is_the_reverse(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Blocks so small that lines and arrays come in many.
    monkeypatch.setattr(id_files, "LINE_BYTES", 16)
    monkeypatch.setattr(id_files, "BLOCK_IDS", 4)
    path = tmp_path / f"ids.{kind}"
    assert run("encode", "--lines", "-o", path, given=TEXT).code == 0
    assert run("decode", path).out == TEXT
    assert run("decode", "--format", kind, given=path.read_bytes()).out == TEXT


@pytest.mark.parametrize("kind", ["ids", "jsonl"])
def test_documents_as_json(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(id_files, "LINE_BYTES", 16)
    ids = run("encode", "--lines", "--format", kind, given=TEXT).out
    lines = run("decode", "--json", "--format", kind, given=ids).out.splitlines()
    assert [json.loads(line)["text"] for line in lines] == TEXTS


# What is read, and the documents that it has: each line is one, and so is the last without its break.
LINES_OF_IDS = {
    "": [],
    "24912": ["hello"],
    "24912 2375": ["hello world"],
    "24912\n2375": ["hello", " world"],
    "24912\n2375\n": ["hello", " world"],
    "24912\r\n2375": ["hello", " world"],
    "24912\r\n2375\r\n": ["hello", " world"],
    "24912\n\n2375": ["hello", "", " world"],
    "24912\n\n": ["hello", ""],
    "\n": [""],
    "[24912,\t2375]": ["hello world"],
    "0024912": ["hello"],
}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 1 << 20])
def test_the_end_of_a_file_is_the_end_of_a_document(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_files, "LINE_BYTES", size)
    for given, texts in LINES_OF_IDS.items():
        lines = [json.dumps({"text": text}) for text in texts]
        called = run("decode", "--json", given=given)
        assert (called.code, called.out.splitlines()) == (0, lines), given
        assert run("decode", given=given).out == "".join(texts)
        path = tmp_path / "ids.txt.gz"
        path.write_bytes(gzip.compress(given.encode()))
        # No document goes on in the next file.
        assert run("decode", "--json", path, path).out.splitlines() == lines * 2


@pytest.mark.parametrize("kind", id_files.FORMATS)
def test_the_last_document_of_each_file_ends_with_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_files, "BLOCK_IDS", 2)
    path = tmp_path / f"ids.{kind}"
    assert run("encode", "-o", path, given=TEXT).code == 0
    if kind in {"ids", "jsonl"}:
        path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    line = json.dumps({"text": TEXT}, ensure_ascii=False)
    assert run("decode", "--json", path, path).out.splitlines() == [line, line]


@pytest.mark.parametrize("wrong", ["\uff11", "٤", "1_0", "+5", "-5", " 5", "5 ", "²", ""])
def test_ids_in_options_are_digits_of_ascii(wrong: str, tmp_path: Path) -> None:
    vocabulary = tmp_path / "v.tiktoken"
    assert run("convert", "gpt2", vocabulary).code == 0
    options = ["--pattern", "gpt2", "--special-token", "<x>", wrong]
    for call in (
        ["inspect", "gpt2", f"--id={wrong}"],
        ["convert", vocabulary, tmp_path / "v.bytemill", *options],
    ):
        called = run(*call)
        assert called.code == 2
        assert f"expected token IDs as decimal numbers, got {wrong!r}" in called.err


def test_other_digits_are_the_text_of_a_token(tmp_path: Path) -> None:
    called = run("shard", "-o", tmp_path / "out", "--eos", "٤٢", given=TEXT)
    assert called.code == 2
    assert "append has the text '٤٢', which is not a token" in called.err
    assert not (tmp_path / "out").exists()


def test_decode_reads_lists_of_python() -> None:
    assert run("decode", given=str(ENCODING.encode_ordinary(TEXT))).out == TEXT


def test_decode_writes_bytes_that_are_not_utf_8() -> None:
    token = ENCODING.encode_single_token(b"\xe4\xbd")
    assert started("decode", given=str(token).encode()).stdout == b"\xe4\xbd"


def test_special_tokens() -> None:
    assert run("encode", "--special", "allow", given="<|endoftext|>").out == "199999\n"
    assert run("encode", given="<|endoftext|>").out == "27 91 419 1440 919 91 29\n"
    assert run("encode", "--special", "error", given="<|endoftext|>").code == 2


def test_a_large_text_in_parts(tmp_path: Path) -> None:
    text = "words and numbers 1234, <|endoftext|> and more of them.\n" * 60_000
    path = tmp_path / "large.txt"
    path.write_text(text)
    for special, ids in (
        ("text", ENCODING.encode_ordinary(text)),
        ("allow", ENCODING.encode(text, allowed_special="all")),
    ):
        output = tmp_path / "large.npy"
        assert run("encode", path, "-o", output, "--special", special).code == 0
        assert np.load(output).tolist() == ids
    line = run("encode", path).out
    assert line.count("\n") == 1
    assert list(map(int, line.split())) == ENCODING.encode_ordinary(text)


def test_a_large_text_in_parts_whose_tokens_take_blanks(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(bytes_file(added(256, "<mask>", special=True, lstrip=True)))
    text = "a <mask> b" * 120_000
    encoding = bytemill.Encoding.from_file(path)
    large = tmp_path / "large.txt"
    large.write_text(text)
    output = tmp_path / "large.npy"
    assert run("encode", large, "-e", path, "-o", output, "--special", "allow").code == 0
    assert np.load(output).tolist() == encoding.encode(text, allowed_special="all")
    for special, count in (("allow", 4 * 120_000), ("text", encoding.count(text))):
        assert run("count", large, "-e", path, "--special", special).out == f"{count}\n"
    assert run("count", large, "-e", path, "--special", "error").code == 2


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("ids", b"1 2\n3 x\n", "standard input, line 2: expected token IDs as decimal numbers"),
        ("ids", b"99999999", "99999999"),
        ("ids", b"9" * 5000, "line 1: expected token IDs as decimal numbers, got '999"),
        *(
            ("ids", word.encode(), f"line 1: expected token IDs as decimal numbers, got {word!r}")
            for word in ["-4", "+5", "1_0", "\uff11", "٤", "²", "1.0", "0x1"]
        ),
        ("jsonl", b'{"text": "a"}\n', "line 1: expected a JSON object with the field ids"),
        ("jsonl", b'{"ids": ["a"]}\n', "line 1: expected a list of integers in ids"),
        ("npy", b"nothing", "expected an array of token IDs in NumPy's format"),
        ("bin", b"12345", "expected numbers of 4 bytes each, but 1 are left over"),
    ],
)
def test_what_cannot_be_decoded_is_named(kind: str, given: bytes, said: str) -> None:
    called = run("decode", "--format", kind, given=given)
    assert called.code == 2
    assert said in called.err


def test_an_array_of_something_else_is_refused(tmp_path: Path) -> None:
    for wrong in (np.zeros(3), np.zeros((2, 2), np.uint32), np.zeros((3, 0), np.uint32)):
        np.save(tmp_path / "wrong.npy", wrong)
        called = run("decode", tmp_path / "wrong.npy")
        assert called.code == 2
        assert "expected an array of integers of one dimension" in called.err


def test_an_array_does_not_go_into_a_pipe() -> None:
    result = started("encode", "--format", "npy", given=b"a")
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"--output" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="files are opened in another way there")
def test_an_array_is_not_appended_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ids.npy"
    for mode, code in (("ab", 2), ("wb", 0), ("ab", 2)):
        before = path.read_bytes() if path.exists() else b""
        with path.open(mode) as file:
            result = subprocess.run(  # noqa: S603 - our own command
                arguments("encode", "--format", "npy"),
                input=b"hello world",
                stdout=file,
                stderr=subprocess.PIPE,
                check=False,
                env=environment(),
            )
        assert result.returncode == code
        if code:
            assert b"npy cannot be appended" in result.stderr
            assert path.read_bytes() == before
        else:
            assert np.load(path).tolist() == [24912, 2375]


@pytest.mark.parametrize("wrong", [200019, 10**20])
def test_an_id_that_is_none_is_named(wrong: int) -> None:
    called = run("decode", given=f"24912 {wrong} 2375")
    assert called.code == 2
    assert called.err.startswith(
        f"bytemill: error: standard input: {wrong} is not a token ID of o200k_base, "
        "whose IDs go from 0 to 200018"
    )


@pytest.mark.parametrize("name", ["ids.npy", "ids.jsonl", "ids.txt"])
def test_ids_may_be_compressed(name: str, tmp_path: Path) -> None:
    assert run("encode", "-o", tmp_path / name, given=TEXT).code == 0
    compressed = tmp_path / f"{name}.gz"
    compressed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert run("decode", compressed).out == TEXT
