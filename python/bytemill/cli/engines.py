"""Other libraries that ids are compared with, around the same vocabulary; none of them uses a network."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.files import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytemill.core import Encoding

__all__ = ["ENGINES", "Engine", "engine"]

HUGGINGFACE_FILE = "tokenizer.json"


class Engine(NamedTuple):
    """Another library with an encoding.

    Attributes:
        name: Its name and version.
        encode: Encodes a text in which special tokens are tokens.
        encode_ordinary_batch: Encodes texts in which they are text, on so many threads; `None` if it cannot.
    """

    name: str
    encode: Callable[[str], Sequence[int]]
    encode_ordinary_batch: Callable[[list[str], int], object] | None = None


def tiktoken_engine(encoding: Encoding, _: str) -> Engine:
    """Tiktoken with the parts of the encoding, not those it would download."""
    tiktoken = imported("tiktoken", "comparisons with tiktoken")
    theirs: Any = encoding.to_tiktoken()
    return Engine(
        f"tiktoken {tiktoken.__version__}",
        lambda text: guarded(lambda: theirs.encode(text, allowed_special="all")),
        lambda texts, threads: theirs.encode_ordinary_batch(texts, num_threads=threads),
    )


def huggingface_engine(encoding: Encoding, spec: str) -> Engine:
    """The tokenizers package with the file that the encoding came from, or else with one written for it."""
    tokenizers = imported("tokenizers", "comparisons with Hugging Face")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(spec) / HUGGINGFACE_FILE if Path(spec).is_dir() else Path(spec)
        if not is_tokenizer(path):
            encoding.save_huggingface(folder)
            path = Path(folder) / HUGGINGFACE_FILE
        theirs = tokenizers.Tokenizer.from_file(str(path))
    return Engine(
        f"tokenizers {tokenizers.__version__}",
        lambda text: theirs.encode(text, add_special_tokens=False).ids,
    )


ENGINES: dict[str, Callable[[Encoding, str], Engine]] = {
    "tiktoken": tiktoken_engine,
    "hf": huggingface_engine,
}


def engine(name: str, encoding: Encoding, spec: str) -> Engine:
    """Gives another library with an encoding.

    Args:
        name: A key of `ENGINES`.
        encoding: The encoding.
        spec: What it was named by on the command line: the file that it came from is preferred.

    Raises:
        ImportError: The library is not installed.
        ValueError: It cannot take the encoding.
    """
    return ENGINES[name](encoding, spec)


def is_tokenizer(path: Path) -> bool:
    """Tells whether this is a file of the tokenizers package."""
    try:
        contents = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(contents, dict) and isinstance(contents.get("model"), dict)


def guarded(encode: Callable[[], Sequence[int]]) -> Sequence[int]:
    """Calls tiktoken, whose panics are no `Exception`; `ValueError` instead."""
    try:
        return encode()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        message = f"tiktoken panics: {error}"
        raise ValueError(message) from error
