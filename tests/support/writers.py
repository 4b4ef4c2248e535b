"""Every public way of writing files, as functions that write into a folder, with the file names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import bytemill
from bytemill import inspection, minbpe
from bytemill.load import dump_tiktoken_bpe
from support.command_line import bytemill as command

__all__ = ["WRITERS", "Writer"]

TEXT = "The lowest of the low, slower and slowest; naïve 日本語 and 12 more words to learn. " * 40


class Writer(NamedTuple):
    """One way of writing files.

    Attributes:
        names: Names of the files, each of more than 50 bytes.
        write: Writes them into a folder. Errors of the command line are `OSError`s with its message.
    """

    names: tuple[str, ...]
    write: Callable[[Path], object]


@cache
def encoding() -> bytemill.Encoding:
    """Returns a small encoding that every format supports."""
    return bytemill.train([TEXT], 300, pattern="gpt2", name="small", progress=False)


@cache
def counts() -> bytemill.PieceCounts:
    """Returns the piece counts of the text."""
    return bytemill.count_pieces([TEXT], "gpt2", progress=False)


@cache
def tokenizer() -> minbpe.RegexTokenizer:
    """Returns a tokenizer of `minbpe`."""
    trained = minbpe.RegexTokenizer()
    trained.train(TEXT, 270)
    return trained


@cache
def gpt4_tokenizer() -> minbpe.GPT4Tokenizer:
    """Returns the other tokenizer of `minbpe`, with a smaller vocabulary."""
    small = minbpe.GPT4Tokenizer()
    small.vocab, small.merges = tokenizer().vocab, tokenizer().merges
    return small


def called(*args: object) -> None:
    """Runs the command line with the text as standard input."""
    result = command(*args, given=TEXT)
    if result.code != 0:
        raise OSError(result.err)


def written_as_ids(name: str) -> Writer:
    """Runs `bytemill encode`."""
    return Writer((name,), lambda folder: called("encode", "-e", "gpt2", "-o", folder / name))


def decoded(folder: Path) -> None:
    """Runs `bytemill decode`."""
    ids = " ".join(map(str, bytemill.get_encoding("gpt2").encode(TEXT)))
    result = command("decode", "-e", "gpt2", "-o", folder / "text.txt", given=ids)
    if result.code != 0:
        raise OSError(result.err)


WRITERS: dict[str, Writer] = {
    "save": Writer(("a.bytemill",), lambda folder: encoding().save(folder / "a.bytemill")),
    "save_tiktoken": Writer(("a.tiktoken",), lambda folder: encoding().save_tiktoken(folder / "a.tiktoken")),
    "save_huggingface": Writer(
        ("tokenizer.json", "tokenizer_config.json"), lambda folder: encoding().save_huggingface(folder)
    ),
    "save_gpt2": Writer(("vocab.bpe", "encoder.json"), lambda folder: encoding().save_gpt2(folder)),
    "save_minbpe": Writer(("a.model", "a.vocab"), lambda folder: encoding().save_minbpe(folder / "a")),
    "dump_tiktoken_bpe": Writer(
        ("a.tiktoken",),
        lambda folder: dump_tiktoken_bpe(encoding()._mergeable_ranks, str(folder / "a.tiktoken")),
    ),
    "minbpe, save": Writer(("a.model", "a.vocab"), lambda folder: tokenizer().save(folder / "a")),
    "minbpe, save_vocab": Writer(
        ("a.vocab",), lambda folder: gpt4_tokenizer().save_vocab(folder / "a.vocab")
    ),
    "counts in Parquet": Writer(("a.parquet",), lambda folder: counts().save(folder / "a.parquet")),
    "counts in Arrow": Writer(("a.arrow",), lambda folder: counts().save(folder / "a.arrow")),
    "a page": Writer(
        ("page.html",), lambda folder: inspection.show(encoding(), TEXT).write_page(folder / "page.html")
    ),
    "a chart": Writer(
        ("a.png",),
        lambda folder: inspection.compare({"small": encoding()}, {"a": [TEXT]}).write_chart(folder / "a.png"),
    ),
    "encode to ids": written_as_ids("out.ids"),
    "encode to JSON lines": written_as_ids("out.jsonl"),
    "encode to an array": written_as_ids("out.npy"),
    "encode to numbers": written_as_ids("out.bin"),
    "decode": Writer(("text.txt",), decoded),
    "split": Writer(
        ("parts.jsonl",), lambda folder: called("split", "-e", "gpt2", "-n", 50, "-o", folder / "parts.jsonl")
    ),
    "train": Writer(
        ("a.bytemill",), lambda folder: called("train", "--vocab-size", 300, "-o", folder / "a.bytemill", "-")
    ),
    "convert": Writer(("a.tiktoken",), lambda folder: called("convert", "gpt2", folder / "a.tiktoken")),
    "inspect": Writer(
        ("page.html",), lambda folder: called("inspect", "gpt2", TEXT, "--html", folder / "page.html")
    ),
}
