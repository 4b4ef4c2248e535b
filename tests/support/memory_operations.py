"""Public operations, with results that can be compared, for tests of where memory ends."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa  # type: ignore[import-untyped]
import tokenizers

import bytemill
from bytemill.formats.huggingface import format_tokenizer
from bytemill.hf import Tokenizer
from bytemill.shards import write_shards
from support.open_models import encoding_of
from support.sentencepiece import trained
from support.writers import WRITERS
from support.writers import encoding as small

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


def loaded_from_memory(_: int) -> Callable[[], object]:
    """Reading the contents of a file."""
    contents = trained()
    return lambda: bytemill.Encoding.from_bytes(contents).encode("hello world")


def model(operation: Callable[[bytemill.Encoding, str], object]) -> Prepare:
    """An operation on a text, with a SentencePiece model."""

    def prepare(count: int) -> Callable[[], object]:
        path = Path(tempfile.mkdtemp()) / "tokenizer.model"
        path.write_bytes(trained())
        encoding, text = bytemill.Encoding.from_file(path), words(count)
        return of(encoding, lambda encoding: operation(encoding, text))

    return prepare


def scored(operation: Callable[[bytemill.Encoding, str], object]) -> Prepare:
    """An operation on a text, with a tokenizer.json of type Unigram."""

    def prepare(count: int) -> Callable[[], object]:
        encoding, text = encoding_of("xlm-roberta"), words(count)
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


def of_counts(operation: Callable[[bytemill.PieceCounts, Path], object]) -> Prepare:
    """An operation on counts of pieces, which may write files."""

    def prepare(count: int) -> Callable[[], object]:
        counts, folder = bytemill.count_pieces([words(count)], num_threads=1), Path(tempfile.mkdtemp())
        return lambda: operation(counts, folder)

    return prepare


def added(counts: bytemill.PieceCounts, _: Path) -> object:
    total = counts + counts
    total.add(["some more words"])
    total.merge(counts)
    return total.most_common(100)


def summed(count: int) -> Callable[[], object]:
    """Compares the total of counts with their sum, also where adding to them has failed halfway."""
    letters = str.maketrans("0123456789", "abcdefghij")
    text = " ".join(f"{number:08} {number:030}" for number in range(count)).translate(letters)

    def call() -> object:
        counts, failed = bytemill.PieceCounts(), None
        try:
            counts.add([text])
        except MemoryError as error:
            failed = error
        if counts.total() != sum(number for _, number in counts):
            return "another total"
        if failed is not None:
            raise failed
        return counts.total()

    return call


def stored(counts: bytemill.PieceCounts, folder: Path) -> object:
    counts.save(folder / "counts.arrow", sort=True)
    return sorted(bytemill.PieceCounts.load(folder / "counts.arrow"))


def merged(counts: bytemill.PieceCounts, folder: Path) -> object:
    """Adds up two files."""
    for name in ("first.arrow", "second.arrow"):
        counts.save(folder / name, sort=True)
    return sorted(bytemill.PieceCounts.merge_files([folder / "first.arrow", folder / "second.arrow"]))


def through_arrow(counts: bytemill.PieceCounts, _: Path) -> object:
    return sorted(bytemill.PieceCounts.from_arrow(counts.to_arrow()))


def added_arrow(counts: bytemill.PieceCounts, _: Path) -> object:
    total = bytemill.PieceCounts()
    total.add_arrow(pa.array(["some words", *map(str, range(1_000))]))
    return sorted(total + counts)


def changed(change: Callable[[bytemill.Encoding], bytemill.Encoding]) -> Prepare:
    """Making an encoding of another."""
    return lambda _: lambda: change(small()).encode_ordinary("words and others")


def saved_model(encoding: bytemill.Encoding, _: str) -> object:
    path = Path(tempfile.mkdtemp()) / "tokenizer.model"
    encoding.save_sentencepiece(path)
    return path.read_bytes()


def grown(encoding: bytemill.Encoding, text: str) -> object:
    """Changes the text of a session; where memory ends, it stays as it was."""
    half = len(text) // 2
    session = encoding.session(text[:half], disallowed_special=())
    fork = session.fork()
    steps: list[Callable[[], object]] = [
        lambda: session.append(text[half:]),
        lambda: session.edit(10, 20, "others"),
        lambda: session.update(text + " the end"),
        lambda: session.append_ids(fork.tolist()),
        lambda: session.append("more"),
    ]
    for step in steps:
        before = (session.text, session.tolist(), session._core.pinned())
        try:
            step()
        except MemoryError:
            assert (session.text, session.tolist(), session._core.pinned()) == before
            raise
    return (
        session.tolist(),
        session.ids.tolist(),
        session.count_after(text),
        session.first_drift(),
        fork.tolist(),
    )


def streamed(encoding: bytemill.Encoding, text: str) -> object:
    stream = encoding.stream_encoder(allowed_special="all")
    tokens = []
    for start in range(0, len(text), 5_000):
        tokens += stream.push(text[start : start + 5_000])
    return tokens + stream.flush()


def from_a_cache(encoding: bytemill.Encoding, text: str) -> object:
    cache = bytemill.PrefixCache()
    tokens = [encoding.encode(text + end, disallowed_special=(), cache=cache) for end in ("a", "b")]
    array = encoding.encode_to_numpy(text, disallowed_special=(), cache=cache)
    return tokens, array.tolist()


def in_parts(encoding: bytemill.Encoding, text: str) -> object:
    point = encoding.split_points(text, len(text) // 2)[0]
    return [
        *encoding.encode_ordinary(text[:point]),
        *encoding.encode_further(text[point:], disallowed_special=()),
    ]


def written(name: str) -> Prepare:
    """Writing files."""
    writer = WRITERS[name]

    def prepare(_: int) -> Callable[[], object]:
        folder = Path(tempfile.mkdtemp())

        def call() -> object:
            writer.write(folder)
            return [(folder / name).read_bytes() for name in writer.names]

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


def face_padded(tokenizer: Tokenizer, text: str) -> object:
    found = tokenizer.encode_batch_padded([text, text[:100]], max_length=5000)
    return {name: values.tolist() for name, values in found.items()}


def face_batch(tokenizer: Tokenizer, text: str) -> object:
    encoded = tokenizer.encode_batch([text, text[:100]])
    return [each.ids for each in encoded], tokenizer.decode_batch([each.ids for each in encoded])


def with_small_caches(encoding: bytemill.Encoding, text: str) -> object:
    """Encodes while all caches of the process together may take little, then while they may take anything."""
    bytemill.set_process_cache_limit(1 << 18)
    try:
        few = encoding.encode_ordinary(text)
    finally:
        bytemill.set_process_cache_limit(None)
    return few, encoding.encode_ordinary(text)


def unstable(encoding: bytemill.Encoding, _: str) -> object:
    stable, completions = encoding.encode_with_unstable("hello wor")
    return stable, sorted(completions)


OPERATIONS: dict[str, Prepare] = {
    "session": encoded(grown),
    "candidates": scored(lambda encoding, text: encoding.candidates(text[:500])),
    "stream_encoder": encoded(streamed),
    "prefix_cache": encoded(from_a_cache),
    "split_points": encoded(in_parts),
    "first_drift": decoded(lambda encoding, ids: (encoding.first_drift(ids), encoding.is_canonical(ids))),
    "canonicalize": decoded(lambda encoding, ids: encoding.canonicalize(ids)),
    "build": built("gpt2"),
    "build_with_pattern": built("gpt2", splitting=r"\p{L}+(?=b)|\p{L}+|\P{L}+"),
    "with_special_tokens": changed(lambda encoding: encoding.with_special_tokens({"<|new|>": 1_000})),
    "with_vocab_size": changed(lambda encoding: encoding.with_vocab_size(280)),
    "from_tiktoken": changed(lambda encoding: bytemill.Encoding.from_tiktoken(encoding.to_tiktoken())),
    "from_huggingface": changed(
        lambda encoding: bytemill.Encoding.from_huggingface(
            tokenizers.Tokenizer.from_str(format_tokenizer(encoding.definition).decode())
        )
    ),
    "load_native": loaded("gpt2.bytemill", lambda path: bytemill.get_encoding("gpt2").save(path)),
    "load_ranks": loaded(
        "gpt2.tiktoken", lambda path: bytemill.get_encoding("gpt2").save_tiktoken(path), pattern="gpt2"
    ),
    "load_json": loaded("model", lambda path: bytemill.get_encoding("gpt2").save_huggingface(path)),
    "load_model": loaded("tokenizer.model", lambda path: path.write_bytes(trained())),
    "load_from_memory": loaded_from_memory,
    "encode": encoded(bytemill.Encoding.encode_ordinary),
    "encode_special": encoded(lambda encoding, text: encoding.encode(text, allowed_special="all")),
    "encode_bytes": encoded(lambda encoding, text: encoding.encode_bytes(text.encode() + b"\xff")),
    "encode_with_small_caches": encoded(with_small_caches),
    "encode_long_piece": encoded(lambda encoding, text: encoding.encode_ordinary("abc" * len(text))),
    "encode_to_numpy": encoded(lambda encoding, text: encoding.encode_ordinary_to_numpy(text).tolist()),
    "encode_with_offsets": encoded(offsets),
    "encode_with_unstable": encoded(unstable),
    "encode_batch": batch(lambda encoding, texts: encoding.encode_ordinary_batch(texts, num_threads=2)),
    "encode_batch_to_numpy": batch(arrays),
    "encode_batch_special": batch(
        lambda encoding, texts: encoding.encode_batch(texts, num_threads=2, allowed_special="all")
    ),
    "encode_to_numpy_special": encoded(
        lambda encoding, text: encoding.encode_to_numpy(text, allowed_special="all").tolist()
    ),
    "encode_arrow": batch(columns),
    "encode_iter": batch(lambda encoding, texts: [ids.tolist() for ids in encoding.encode_iter(texts)]),
    "explain": encoded(lambda encoding, text: encoding.explain(text[:2_000])),
    "count": encoded(bytemill.Encoding.count),
    "count_batch": batch(lambda encoding, texts: encoding.count_batch(texts, num_threads=2).tolist()),
    "count_till_limit": encoded(lambda encoding, text: encoding.count_till_limit(text, 1_000)),
    "truncate": encoded(lambda encoding, text: encoding.truncate(text, 1_000)),
    "split": encoded(lambda encoding, text: encoding.split(text, 1_000)),
    "split at separators": encoded(
        lambda encoding, text: encoding.split(text, 1_000, separators=["\n", " "])
    ),
    "count_by_token": batch(lambda encoding, texts: encoding.count_by_token(texts, num_threads=2).tolist()),
    "pieces": encoded(lambda encoding, text: encoding.pieces(text)),
    "decode": decoded(bytemill.Encoding.decode),
    "decode_bytes": decoded(bytemill.Encoding.decode_bytes),
    "decode_batch": decoded(
        lambda encoding, ids: encoding.decode_batch([ids, ids[:100], ids], num_threads=2)
    ),
    "decode_bytes_batch": decoded(
        lambda encoding, ids: encoding.decode_bytes_batch([ids, ids[:100], ids], num_threads=2)
    ),
    "token_lengths": decoded(lambda encoding, _: encoding.token_lengths().tolist()),
    "merges": decoded(lambda encoding, _: encoding.merges()),
    "save": written("save"),
    "save_tiktoken": written("save_tiktoken"),
    "save_gpt2": written("save_gpt2"),
    "save_minbpe": written("save_minbpe"),
    "save_huggingface": written("save_huggingface"),
    "model_save": model(saved_model),
    "model_encode": model(bytemill.Encoding.encode_ordinary),
    "model_offsets": model(offsets),
    "model_count": model(bytemill.Encoding.count),
    "model_decode": model(lambda encoding, text: encoding.decode(encoding.encode_ordinary(text))),
    "face_encode": face(lambda tokenizer, text: tokenizer.encode(text).ids),
    "face_decode": face(lambda tokenizer, text: tokenizer.decode(tokenizer.encode(text).ids)),
    "face_batch": face(face_batch),
    "face_padded": face(face_padded),
    "count_pieces": counted,
    "counts_add": of_counts(added),
    "counts_total": summed,
    "counts_add_arrow": of_counts(added_arrow),
    "counts_save": of_counts(stored),
    "counts_merge_files": of_counts(merged),
    "counts_to_arrow": of_counts(through_arrow),
    "train": learned("bytes", 600),
    "train_model": learned("sentencepiece", 400),
    "write_shards": sharded,
}


def prepared(name: str, count: int) -> tuple[Callable[[], object], object]:
    """Returns an operation on texts of so many words, and its result."""
    operation = OPERATIONS[name](count)
    return operation, operation()
