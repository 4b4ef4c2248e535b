"""Public operations, with results that can be compared, for tests of where memory ends."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa  # type: ignore[import-untyped]

import bytemill
from bytemill.hf import Tokenizer
from bytemill.shards import write_shards
from support.sentencepiece import trained

__all__ = ["OPERATIONS", "prepared"]

# Returns the operation, which returns a result.
Prepare = Callable[[int], Callable[[], object]]


def words(count: int) -> str:
    """Returns a text of words of several scripts, many of which are no tokens."""
    source = random.Random(1)  # noqa: S311 - the same text each time
    made = ["".join(source.choices("abcdefghij", k=source.randint(2, 40))) for _ in range(300)]
    kinds = ["word", "naïve", "漢字", "foo_bar", " \n", "12345", "Стихи", "<|endoftext|>", *made]
    return " ".join(source.choices(kinds, k=count))


def of(encoding: bytemill.Encoding, operation: Callable[[bytemill.Encoding], object]) -> Callable[[], object]:
    """Returns the operation on an encoding that has learned no pieces."""

    def call() -> object:
        encoding.clear_cache()
        return operation(encoding)

    return call


def encoded(operation: Callable[[bytemill.Encoding, str], object]) -> Prepare:
    """An operation on a text."""
    encoding = bytemill.get_encoding("cl100k_base")

    def prepare(count: int) -> Callable[[], object]:
        text = words(count)
        return of(encoding, lambda encoding: operation(encoding, text))

    return prepare


def batch(operation: Callable[[bytemill.Encoding, list[str]], object]) -> Prepare:
    """An operation on many texts."""
    return encoded(
        lambda encoding, text: operation(encoding, [text[i : i + 100] for i in range(0, len(text), 100)])
    )


def decoded(operation: Callable[[bytemill.Encoding, list[int]], object]) -> Prepare:
    """An operation on ids."""
    encoding = bytemill.get_encoding("cl100k_base")

    def prepare(count: int) -> Callable[[], object]:
        ids = encoding.encode_ordinary(words(count))
        return lambda: operation(encoding, ids)

    return prepare


def loaded(name: str, write: Callable[[Path], object], **options: Any) -> Prepare:
    """Reading a file."""

    def prepare(_: int) -> Callable[[], object]:
        path = Path(tempfile.mkdtemp()) / name
        write(path)
        return lambda: bytemill.Encoding.from_file(path, **options).encode("hello world")

    return prepare


def model(operation: Callable[[bytemill.Encoding, str], object]) -> Prepare:
    """An operation on a text, with a SentencePiece model."""

    def prepare(count: int) -> Callable[[], object]:
        path = Path(tempfile.mkdtemp()) / "tokenizer.model"
        path.write_bytes(trained())
        encoding, text = bytemill.Encoding.from_file(path), words(count)
        return of(encoding, lambda encoding: operation(encoding, text))

    return prepare


def face(operation: Callable[[Tokenizer, str], object]) -> Prepare:
    """An operation on a text, by the class of `tokenizers`."""

    def prepare(count: int) -> Callable[[], object]:
        folder = Path(tempfile.mkdtemp())
        bytemill.get_encoding("gpt2").save_huggingface(folder)
        tokenizer, text = Tokenizer.from_file(folder / "tokenizer.json"), words(count)
        return lambda: operation(tokenizer, text)

    return prepare


def built(name: str, **changes: Any) -> Prepare:
    """Building an encoding that is not in the registry."""
    definition = bytemill.get_encoding(name).definition._replace(**changes)
    return lambda _: lambda: bytemill.Encoding.from_definition(definition).encode("hello world")


def counted(count: int) -> Callable[[], object]:
    """Counts pieces."""
    texts = [words(count), words(count // 2)]
    return lambda: sorted(bytemill.count_pieces(texts, num_threads=2))


def learned(kind: Literal["bytes", "sentencepiece"], size: int) -> Prepare:
    """Training."""

    def prepare(count: int) -> Callable[[], object]:
        texts = [f"{words(count)}\n{words(count // 2)}"]

        def call() -> object:
            trained = bytemill.train(texts, size, kind=kind, num_threads=2, progress=False)
            return trained.encode_ordinary("words and others")

        return call

    return prepare


def sharded(count: int) -> Callable[[], object]:
    """Writes shards."""
    encoding, texts = bytemill.get_encoding("gpt2"), [words(count), words(count // 2)]

    def call() -> object:
        folder = Path(tempfile.mkdtemp())
        try:
            write_shards(texts, folder, encoding, num_threads=2)
        finally:
            # Of what is learned, threads leave now more, now less.
            encoding.clear_cache()
        return [path.read_bytes() for path in sorted(folder.rglob("*.bin"))]

    return call


def columns(encoding: bytemill.Encoding, texts: list[str]) -> object:
    """Encodes a column of Arrow."""
    return pa.array(encoding.encode_arrow(pa.array(texts))).to_pylist()


def arrays(encoding: bytemill.Encoding, texts: list[str]) -> object:
    ids, offsets = encoding.encode_batch_to_numpy(texts, num_threads=2, disallowed_special=())
    return ids.tolist(), offsets.tolist()


def offsets(encoding: bytemill.Encoding, text: str) -> object:
    found = encoding.encode_with_offsets(text, disallowed_special=())
    return [array.tolist() for array in found]


def unstable(encoding: bytemill.Encoding, _: str) -> object:
    stable, completions = encoding.encode_with_unstable("hello wor")
    return stable, sorted(completions)


OPERATIONS: dict[str, Prepare] = {
    "build": built("gpt2"),
    "build_with_pattern": built("gpt2", splitting=r"\p{L}+(?=b)|\p{L}+|\P{L}+"),
    "load_native": loaded("gpt2.bytemill", lambda path: bytemill.get_encoding("gpt2").save(path)),
    "load_ranks": loaded(
        "gpt2.tiktoken", lambda path: bytemill.get_encoding("gpt2").save_tiktoken(path), pattern="gpt2"
    ),
    "load_json": loaded("model", lambda path: bytemill.get_encoding("gpt2").save_huggingface(path)),
    "load_model": loaded("tokenizer.model", lambda path: path.write_bytes(trained())),
    "encode": encoded(bytemill.Encoding.encode_ordinary),
    "encode_special": encoded(lambda encoding, text: encoding.encode(text, allowed_special="all")),
    "encode_bytes": encoded(lambda encoding, text: encoding.encode_bytes(text.encode() + b"\xff")),
    "encode_long_piece": encoded(lambda encoding, text: encoding.encode_ordinary("abc" * len(text))),
    "encode_to_numpy": encoded(lambda encoding, text: encoding.encode_ordinary_to_numpy(text).tolist()),
    "encode_with_offsets": encoded(offsets),
    "encode_with_unstable": encoded(unstable),
    "encode_batch": batch(lambda encoding, texts: encoding.encode_ordinary_batch(texts, num_threads=2)),
    "encode_batch_to_numpy": batch(arrays),
    "encode_arrow": batch(columns),
    "count": encoded(bytemill.Encoding.count),
    "count_batch": batch(lambda encoding, texts: encoding.count_batch(texts, num_threads=2).tolist()),
    "count_till_limit": encoded(lambda encoding, text: encoding.count_till_limit(text, 1_000)),
    "truncate": encoded(lambda encoding, text: encoding.truncate(text, 1_000)),
    "split": encoded(lambda encoding, text: encoding.split(text, 1_000)),
    "decode": decoded(bytemill.Encoding.decode),
    "decode_bytes": decoded(bytemill.Encoding.decode_bytes),
    "decode_batch": decoded(
        lambda encoding, ids: encoding.decode_batch([ids, ids[:100], ids], num_threads=2)
    ),
    "model_encode": model(bytemill.Encoding.encode_ordinary),
    "model_offsets": model(offsets),
    "model_count": model(bytemill.Encoding.count),
    "model_decode": model(lambda encoding, text: encoding.decode(encoding.encode_ordinary(text))),
    "face_encode": face(lambda tokenizer, text: tokenizer.encode(text).ids),
    "face_decode": face(lambda tokenizer, text: tokenizer.decode(tokenizer.encode(text).ids)),
    "count_pieces": counted,
    "train": learned("bytes", 600),
    "train_model": learned("sentencepiece", 400),
    "write_shards": sharded,
}


def prepared(name: str, count: int) -> tuple[Callable[[], object], object]:
    """Returns an operation on texts of so many words, and its result."""
    operation = OPERATIONS[name](count)
    return operation, operation()
