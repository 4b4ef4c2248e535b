"""Other libraries with the same vocabulary, to compare ids and speed with; none of them uses a network."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill._optional import import_optional
from bytemill.io.reading import file_of, located

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytemill.core import Encoding

__all__ = ["ENGINES", "Engine", "engine", "own_library"]

HUGGINGFACE_FILE = "tokenizer.json"


class Engine(NamedTuple):
    """Another library, loaded with an encoding.

    Attributes:
        name: Name and version.
        encode: Encodes a text.
        encode_batch: Encodes texts on a number of threads. `None` if it is not measured.
        finds_special: Whether `encode` takes special tokens in the text for tokens.
        threads: The numbers of threads that it can be measured on in one process; empty for any.
    """

    name: str
    encode: Callable[[str], Sequence[int]]
    encode_batch: Callable[[list[str], int], object] | None = None
    finds_special: bool = True
    threads: tuple[int, ...] = ()

    def both(self, encoding: Encoding, text: str) -> tuple[list[int], list[int]]:
        """Returns the ids of a text by the encoding, special tokens as here, and by the library."""
        ours = (
            encoding.encode(text, allowed_special="all")
            if self.finds_special
            else encoding.encode_ordinary(text)
        )
        return ours, list(self.encode(text))


def tiktoken_engine(encoding: Encoding, _: str) -> Engine:
    """Returns tiktoken with the definition of the encoding, so that nothing is downloaded."""
    tiktoken = import_optional("tiktoken", "comparisons with tiktoken")
    theirs: Any = encoding.to_tiktoken()
    return Engine(
        f"tiktoken {tiktoken.__version__}",
        lambda text: guarded(lambda: theirs.encode(text, allowed_special="all")),
        lambda texts, threads: theirs.encode_ordinary_batch(texts, num_threads=threads),
    )


def huggingface_engine(encoding: Encoding, spec: str) -> Engine:
    """Returns `tokenizers` with the file that the encoding was read from, or with one written for it."""
    tokenizers = import_optional("tokenizers", "comparisons with Hugging Face")
    with tempfile.TemporaryDirectory() as folder:
        path = tokenizer_file(spec)
        if path is None:
            encoding.save_huggingface(folder)
            path = Path(folder) / HUGGINGFACE_FILE
        # Not `from_file`, which takes no name that is not UTF-8.
        theirs = tokenizers.Tokenizer.from_buffer(path.read_bytes())
    # The file may ask for either.
    theirs.no_truncation()
    theirs.no_padding()

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        # Its threads are made once, one for each processor.
        os.environ["TOKENIZERS_PARALLELISM"] = "false" if threads == 1 else "true"
        return [each.ids for each in theirs.encode_batch_fast(texts, add_special_tokens=False)]

    return Engine(
        f"tokenizers {tokenizers.__version__}",
        lambda text: theirs.encode(text, add_special_tokens=False).ids,
        encode_batch,
        threads=(1, os.cpu_count() or 1),
    )


def sentencepiece_engine(encoding: Encoding, _: str) -> Engine:
    """Returns `sentencepiece` with the model that the encoding was read from."""
    sentencepiece = import_optional("sentencepiece", "comparisons with SentencePiece")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.model"
        encoding.save_sentencepiece(path)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
    return Engine(
        f"sentencepiece {sentencepiece.__version__}",
        theirs.encode,
        lambda texts, threads: theirs.encode(texts, num_threads=threads),
        finds_special=False,
    )


ENGINES: dict[str, Callable[[Encoding, str], Engine]] = {
    "tiktoken": tiktoken_engine,
    "hf": huggingface_engine,
    "sentencepiece": sentencepiece_engine,
}


def own_library(encoding: Encoding, spec: str) -> str:
    """Returns the key in `ENGINES` of the library that the file of an encoding belongs to.

    Args:
        encoding: The encoding.
        spec: Its name on the command line.
    """
    if encoding.definition.model is not None:
        return "sentencepiece"
    # Of many a `tokenizer.json` the definition only has ranks.
    if encoding.definition.tokenizer is not None or tokenizer_file(spec) is not None:
        return "hf"
    return "tiktoken"


def engine(name: str, encoding: Encoding, spec: str) -> Engine:
    """Returns another library with an encoding.

    Args:
        name: A key of `ENGINES`.
        encoding: The encoding.
        spec: Its name on the command line; if that is a file, the library reads it too.

    Raises:
        ImportError: The library is not installed.
        ValueError: The library does not support the encoding.
    """
    return ENGINES[name](encoding, spec)


def tokenizer_file(spec: str) -> Path | None:
    """Returns the `tokenizer.json` that an encoding on the command line is read from, `None` for others."""
    try:
        path = file_of(located(spec))
        contents = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return path if isinstance(contents, dict) and isinstance(contents.get("model"), dict) else None


def guarded(encode: Callable[[], Sequence[int]]) -> Sequence[int]:
    """Calls tiktoken, turning its panics, which are not `Exception`s, into `ValueError`."""
    try:
        return encode()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"tiktoken panics: {error}") from error
