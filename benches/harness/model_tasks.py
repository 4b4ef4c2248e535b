"""Encodes and decodes with the tokenizer file of a model, in the measured process: see `harness.models`."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

from harness.corpora import cut
from harness.suites import CANDIDATE, OURS, suite

SUITE = suite("models")

# The forms in which one call encodes all documents, with the number of threads of each.
BATCHES = {"batch of 1": 1, "batch of 2": 2}


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """An engine that has read a file.

    Attributes:
        encode: Returns the ids of a document, or of all in the form of a batch.
        decode: Returns the text of a document's ids; `None` where only encoding is measured.
    """

    encode: Callable[[Any], Any]
    decode: Callable[[Any], str] | None = None


def ours(file: str, form: str) -> Loaded:
    """Returns this library's methods for a form of result."""
    encoding = import_module("bytemill").Encoding.from_file(file)
    # `tokenizers` finds special tokens in every text.
    special: dict[str, Any] = {"allowed_special": "all"} if encoding.special_tokens_set else {}
    if form in BATCHES:
        return Loaded(encode=partial(encoding.encode_batch_to_numpy, num_threads=BATCHES[form], **special))
    if special:
        encode = partial(encoding.encode_to_numpy if form == "array" else encoding.encode, **special)
    else:
        encode = encoding.encode_to_numpy if form == "array" else encoding.encode_ordinary
    return Loaded(encode=encode, decode=encoding.decode)


def sentencepiece(file: str, _form: str) -> Loaded:
    """Returns the methods of `sentencepiece`."""
    processor = import_module("sentencepiece").SentencePieceProcessor(model_file=file)
    return Loaded(encode=processor.encode, decode=processor.decode)


def tokenizers(file: str, _form: str) -> Loaded:
    """Returns the methods of `tokenizers`, with its ids read."""
    tokenizer = import_module("tokenizers").Tokenizer.from_file(file)
    return Loaded(
        encode=lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        decode=partial(tokenizer.decode, skip_special_tokens=False),
    )


def nanotoken(file: str, _form: str) -> Loaded:
    """Returns the method of `nanotoken` for all documents, on one thread."""
    encode = import_module("nanotoken").Tokenizer(file).encode_batch

    def flat(texts: Any) -> Any:
        batch = encode(texts, add_special_tokens=False, parallel=False)
        return batch.ids, batch.offsets

    return Loaded(encode=flat)


LOADERS = {
    OURS: ours,
    "sentencepiece": sentencepiece,
    "tokenizers": tokenizers,
    CANDIDATE: tokenizers,
    "nanotoken": nanotoken,
}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Returns the seconds of a call, and its result."""
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def digest(values: Iterable[Any]) -> str:
    """Returns a digest of lists of ids, arrays of ids or texts, equal for equal ones."""
    found = hashlib.sha256()
    for each in values:
        found.update(json.dumps(each if isinstance(each, list | str) else each.tolist()).encode())
    return found.hexdigest()


def speed(work: Callable[[], Any], first: float, size: int) -> float:
    """Returns MB/s of the passes after the first."""
    # Slow engines need no second pass to be compared with.
    passes = SUITE["passes"] if first < SUITE["slow_seconds"] else 1
    return size / statistics.median(timed(work)[0] for _ in range(passes)) / 1e6


def decoding(decode: Callable[[Any], str], ids: Sequence[Any], size: int) -> dict[str, Any]:
    """Returns MB/s of text decoded a document at a time, and a digest of the texts."""

    def work() -> list[str]:
        return [*map(decode, ids)]

    first, texts = timed(work)
    return {"decode": speed(work, first, size), "text_digest": digest(texts)}


def coding(asked: dict[str, Any]) -> dict[str, Any]:
    """Measures one engine, and returns milliseconds, MB/s and digests of all ids and all texts.

    Args:
        asked: "engine", a key of `LOADERS`; the "file" that it reads; the "form" of its result; the path of
            the "text".
    """
    engine, form = asked["engine"], asked["form"]
    documents = cut(Path(asked["text"]).read_text(encoding="utf-8"), SUITE["document_bytes"])
    size = sum(len(document.encode()) for document in documents)
    import_module({OURS: "bytemill", CANDIDATE: "tokenizers"}.get(engine, engine))
    load, loaded = timed(partial(LOADERS[engine], asked["file"], form))
    sentence = "The first call may build what the others use."
    loaded.encode([sentence] if form in BATCHES else sentence)

    def work() -> Any:
        return loaded.encode(documents) if form in BATCHES else [*map(loaded.encode, documents)]

    cold, ids = timed(work)
    if form in BATCHES:
        flat, offsets = ids
        ids = [flat[start:end] for start, end in pairwise(offsets)]
    decoded = decoding(loaded.decode, ids, size) if loaded.decode is not None else {}
    ids_digest = digest(ids)
    del ids
    return {
        "load": load * 1e3,
        "cold": size / cold / 1e6,
        "warm": speed(work, cold, size),
        "bytes": size,
        "digest": ids_digest,
        **decoded,
    }
