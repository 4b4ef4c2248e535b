"""Everything public that reads a file, by what the file is, and what reading a hostile one comes to.

The functions here run in a process of their own: see `outcome`.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import bytemill
from bytemill import hf, jobs, minbpe, sentencepiece, shards
from bytemill.load import data_gym_to_mergeable_bpe_ranks, load_tiktoken_bpe
from support.memory import peak_beyond

__all__ = ["NOT_READERS", "READERS", "Outcome", "outcome"]

Reader = Callable[[Path], object]

SAMPLE = "abc ab\u00e9"


def tokenizer(path: Path) -> None:
    """Reads a file with a tokenizer, which must work."""
    encoding = bytemill.Encoding.from_file(path, pattern="gpt2" if path.suffix == ".tiktoken" else None)
    ids = encoding.encode(SAMPLE, disallowed_special=())
    encoding.decode(ids)


def counts(path: Path) -> None:
    """Reads a file of counts, and as part of a sorted one."""
    assert bytemill.PieceCounts.load(path).total() == 1
    bytemill.PieceCounts.merge_files([path])


# By the kind of the file, with names as they are public. The first is what the reasons of the bombs are of.
READERS: dict[str, dict[str, Reader]] = {
    "tokenizer.json, components": {
        "Encoding.from_file": tokenizer,
        "hf.Tokenizer.from_file": hf.Tokenizer.from_file,
    },
    "tokenizer.json, models": {
        "Encoding.from_huggingface": lambda path: bytemill.Encoding.from_huggingface(path).encode(SAMPLE),
        "hf.Tokenizer.from_str": lambda path: hf.Tokenizer.from_str(path.read_text("utf-8")),
    },
    "SentencePiece": {
        "Encoding.from_file": tokenizer,
        "sentencepiece.SentencePieceProcessor": lambda path: sentencepiece.SentencePieceProcessor(
            model_file=path
        ),
        "sentencepiece.SentencePieceNormalizer": lambda path: sentencepiece.SentencePieceNormalizer(
            model_file=path
        ),
    },
    "ranks": {
        "Encoding.from_file": tokenizer,
        "load.load_tiktoken_bpe": lambda path: load_tiktoken_bpe(str(path)),
    },
    "folders of ranks": {"Encoding.from_file": tokenizer},
    "vocab.txt": {"Encoding.from_file": tokenizer},
    "GPT-2's pair": {
        "Encoding.from_file": tokenizer,
        "load.data_gym_to_mergeable_bpe_ranks": lambda path: data_gym_to_mergeable_bpe_ranks(
            str(path), str(path.with_name("encoder.json"))
        ),
    },
    "tekken.json": {"Encoding.from_file": tokenizer},
    "minbpe": {
        "Encoding.from_file": tokenizer,
        "minbpe.RegexTokenizer.load": lambda path: minbpe.RegexTokenizer().load(path),
    },
    "native": {"Encoding.from_file": tokenizer},
    "GGUF": {
        "Encoding.from_file": tokenizer,
        "Encoding.from_bytes": lambda path: bytemill.Encoding.from_bytes(path.read_bytes()).encode(SAMPLE),
    },
    "record of shards": {
        "shards.write_shards": lambda path: shards.write_shards(
            ["a"], path.parent, bytemill.get_encoding("gpt2"), name="a", resume=True
        ),
        "shards.Provenance.from_json": lambda path: shards.Provenance.from_json(path.read_bytes()),
    },
    "plan of a job": {
        "jobs.Plan.load": lambda path: jobs.Plan.load(path.parent),
        "jobs.status": lambda path: jobs.status(path.parent),
    },
    "manifest of a job": {"jobs.Manifest.load": lambda path: jobs.Manifest.load(path.parent)},
    "piece counts": {"PieceCounts.load": counts},
}

# What takes a file, or its contents, and is no reader of its own.
NOT_READERS: dict[str, str] = {
    # The same as another.
    **dict.fromkeys(("training.PieceCounts.load", "training.PieceCounts.merge_files"), "PieceCounts.load"),
    "PieceCounts.merge_files": "PieceCounts.load",
    "inspection.lint": "Encoding.from_file",
    "hf.Tokenizer.from_buffer": "hf.Tokenizer.from_str",
    **dict.fromkeys(
        (f"minbpe.{name}.load" for name in ("Tokenizer", "BasicTokenizer", "GPT4Tokenizer")),
        "minbpe.RegexTokenizer.load",
    ),
    **dict.fromkeys(
        (
            f"sentencepiece.SentencePieceProcessor.{name}"
            for name in (
                "Load",
                "LoadFromFile",
                "LoadFromSerializedProto",
                "from_file",
                "from_proto",
                "load",
                "load_from_file",
                "load_from_serialized_proto",
            )
        ),
        "sentencepiece.SentencePieceProcessor",
    ),
    **dict.fromkeys(
        ("jobs.Manifest.finish", "jobs.Plan.of", "jobs.compact", "jobs.count_pieces", "jobs.write_shards"),
        "jobs.Plan.load",
    ),
    # Reads bytes and parses nothing.
    **dict.fromkeys(("load.read_file", "load.read_file_cached"), ""),
    # Documents, whose memory is that of a block whatever the file.
    **dict.fromkeys(
        (
            "count_pieces",
            "train",
            "training.count_pieces",
            "training.train",
            "ray.count_pieces",
            "ray.write_shards",
        ),
        "",
    ),
    # Writes a file.
    **dict.fromkeys(
        (
            *(
                f"Encoding.save{kind}"
                for kind in ("", "_gpt2", "_huggingface", "_sentencepiece", "_tiktoken")
            ),
            *(
                f"minbpe.{name}.save"
                for name in ("Tokenizer", "BasicTokenizer", "GPT4Tokenizer", "RegexTokenizer")
            ),
            "PieceCounts.save",
            "training.PieceCounts.save",
            "hf.Tokenizer.save",
            "load.dump_tiktoken_bpe",
            "inspection.Comparison.write_chart",
            "inspection.TokenView.write_page",
            "jobs.plan",
        ),
        "",
    ),
    # Takes an object of that name.
    **dict.fromkeys(
        (
            "Definition",
            "Definition.check",
            "jobs.Plan",
            "hf.DecodeStream.step",
            "hf.accelerate",
            "hf.is_accelerated",
            "hf.restore",
        ),
        "",
    ),
}

# What no reader may exceed by far: then it ends.
SECONDS = 15
BEYOND = 256 << 20


class Outcome(NamedTuple):
    """The result of reading a file.

    Attributes:
        error: The type of the exception and those that it is derived from; none if there was none.
        message: Its message.
        peak: The most bytes in use beyond those before.
    """

    error: tuple[str, ...]
    message: str
    peak: int


def outcome(kind: str, name: str, path: Path, most: int) -> Outcome:
    """Returns what a reader comes to.

    The process ends if it takes too much processor time, and gets no memory far beyond `most` bytes.
    """
    warnings.simplefilter("ignore")
    status = Path("/proc/self/status").read_text(encoding="ascii")
    used = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used + most + BEYOND,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    raised: list[Exception] = []

    def read() -> None:
        try:
            READERS[kind][name](path)
        except Exception as error:  # noqa: BLE001 - whatever it is
            raised.append(error.with_traceback(None))

    peak = peak_beyond(read)
    if not raised:
        return Outcome((), "", peak)
    types = tuple(each.__name__ for each in type(raised[0]).__mro__)
    return Outcome(types, str(raised[0]), peak)
