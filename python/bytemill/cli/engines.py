"""Other libraries with the same vocabulary, for comparing ids; none of them uses a network."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill._optional import import_optional

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytemill.core import Encoding

__all__ = ["ENGINES", "Engine", "engine"]

HUGGINGFACE_FILE = "tokenizer.json"


class Engine(NamedTuple):
    """Another library, loaded with an encoding.

    Attributes:
        name: Name and version.
        encode: Encodes a text; special tokens are tokens.
        encode_ordinary_batch: Encodes texts on a number of threads; special tokens are text. `None` if the
            library has no such method.
    """

    name: str
    encode: Callable[[str], Sequence[int]]
    encode_ordinary_batch: Callable[[list[str], int], object] | None = None


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
        path = Path(spec) / HUGGINGFACE_FILE if Path(spec).is_dir() else Path(spec)
        if not is_tokenizer(path):
            encoding.save_huggingface(folder)
            path = Path(folder) / HUGGINGFACE_FILE
        # Not `from_file`, which takes no name that is not UTF-8.
        theirs = tokenizers.Tokenizer.from_buffer(path.read_bytes())
    return Engine(
        f"tokenizers {tokenizers.__version__}",
        lambda text: theirs.encode(text, add_special_tokens=False).ids,
    )


ENGINES: dict[str, Callable[[Encoding, str], Engine]] = {
    "tiktoken": tiktoken_engine,
    "hf": huggingface_engine,
}


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


def is_tokenizer(path: Path) -> bool:
    """Returns whether a file is a `tokenizer.json`."""
    try:
        contents = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(contents, dict) and isinstance(contents.get("model"), dict)


def guarded(encode: Callable[[], Sequence[int]]) -> Sequence[int]:
    """Calls tiktoken, turning its panics, which are not `Exception`s, into `ValueError`."""
    try:
        return encode()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"tiktoken panics: {error}") from error
