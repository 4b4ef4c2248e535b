"""Other libraries with the vocabulary of an encoding, to compare results and speed with.

None of them uses a network.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bytemill._messages import import_optional
from bytemill.io.reading import file_of, located

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytemill.core import Encoding

__all__ = ["ENGINES", "Engine", "Spans", "engine", "of_tiktoken", "own_library", "tokenizer_file"]

HUGGINGFACE_FILE = "tokenizer.json"

Result = TypeVar("Result")


class Spans(NamedTuple):
    """A text encoded by another library.

    Attributes:
        ids: The token IDs.
        starts: The start of each token in the text; `None` if the library does not tell.
        ends: The end of each token; `None` if the library does not tell.
        in_bytes: Whether starts and ends count bytes of UTF-8, not characters.
    """

    ids: Sequence[int]
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None
    in_bytes: bool = False


class Engine(NamedTuple):
    """Another library, loaded with an encoding.

    Attributes:
        name: Name and version.
        encode: Encodes a text.
        encode_batch: Encodes texts on a number of threads. `None` if it is not measured.
        spans: Encodes a text with offsets. `None` if the library has none.
        decode: Decodes token IDs, special tokens as their text. `None` if it is not compared.
        finds_special: Whether it takes special tokens in the text for tokens.
        threads: The numbers of threads that it can be measured on in one process; empty for any.
    """

    name: str
    encode: Callable[[str], Sequence[int]]
    encode_batch: Callable[[list[str], int], object] | None = None
    spans: Callable[[str], Spans] | None = None
    decode: Callable[[Sequence[int]], str] | None = None
    finds_special: bool = True
    threads: tuple[int, ...] = ()

    @property
    def special(self) -> dict[str, Any]:
        """The arguments with which an encoding treats special tokens as the library does."""
        return {"allowed_special": "all"} if self.finds_special else {"disallowed_special": ()}

    def encoded(self, text: str) -> Spans:
        """Encodes a text, with offsets if the library has any."""
        return Spans(self.encode(text)) if self.spans is None else self.spans(text)

    def both(self, encoding: Encoding, text: str) -> tuple[list[int], list[int]]:
        """Returns the ids of a text by the encoding, special tokens as here, and by the library."""
        return encoding.encode(text, **self.special), list(self.encode(text))


def tiktoken_engine(encoding: Encoding, _: str) -> Engine:
    """Returns tiktoken with the definition of the encoding, so that nothing is downloaded."""
    import_optional("tiktoken", "comparisons with tiktoken")
    return of_tiktoken(encoding.to_tiktoken())


def of_tiktoken(theirs: Any) -> Engine:  # noqa: ANN401 - the package may be missing
    """Returns an encoding of tiktoken as an engine."""
    tiktoken = import_optional("tiktoken", "comparisons with tiktoken")

    def encode(text: str) -> Sequence[int]:
        ids: Sequence[int] = guarded("tiktoken", lambda: theirs.encode(text, allowed_special="all"))
        return ids

    def spans(text: str) -> Spans:
        ids = encode(text)
        decoded, starts = theirs.decode_with_offsets(ids)
        # They refer to the decoded text, which lacks what a custom pattern drops.
        return Spans(ids, starts if decoded == text else None)

    return Engine(
        f"tiktoken {tiktoken.__version__}",
        encode,
        lambda texts, threads: theirs.encode_ordinary_batch(texts, num_threads=threads),
        spans,
        theirs.decode,
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
    # It adds tokens to a text and takes spaces from its offsets, which an encoding does not.
    theirs.post_processor = None

    def encoded(text: str) -> Any:  # noqa: ANN401 - as `of_tiktoken`
        return guarded("tokenizers", lambda: theirs.encode(text, add_special_tokens=False))

    def spans(text: str) -> Spans:
        found = encoded(text)
        return Spans(found.ids, *separated(found.offsets))

    def encode_batch(texts: list[str], threads: int) -> list[list[int]]:
        # Its threads are made once, one for each processor.
        os.environ["TOKENIZERS_PARALLELISM"] = "false" if threads == 1 else "true"
        return [each.ids for each in theirs.encode_batch_fast(texts, add_special_tokens=False)]

    def decode(ids: Sequence[int]) -> str:
        text: str = theirs.decode(ids, skip_special_tokens=False)
        return text

    return Engine(
        f"tokenizers {tokenizers.__version__}",
        lambda text: encoded(text).ids,
        encode_batch,
        spans,
        decode,
        threads=(1, os.cpu_count() or 1),
    )


def sentencepiece_engine(encoding: Encoding, _: str) -> Engine:
    """Returns `sentencepiece` with the model that the encoding was read from."""
    sentencepiece = import_optional("sentencepiece", "comparisons with SentencePiece")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.model"
        encoding.save_sentencepiece(path)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())

    def spans(text: str) -> Spans:
        # Of bytes: within a character, offsets in characters tell less.
        found = theirs.encode(text.encode(), out_type="offset_mapping")
        return Spans(found["ids"], *separated(found["offsets"]), in_bytes=True)

    return Engine(
        f"sentencepiece {sentencepiece.__version__}",
        theirs.encode,
        lambda texts, threads: theirs.encode(texts, num_threads=threads),
        spans if has_offsets(theirs) else None,
        theirs.decode,
        finds_special=False,
    )


def has_offsets(processor: Any) -> bool:  # noqa: ANN401 - as `of_tiktoken`
    """Returns whether a processor of SentencePiece returns offsets, which it does since version 0.2.2."""
    try:
        processor.encode(b"a", out_type="offset_mapping")
    except (RuntimeError, ValueError):
        return False
    return True


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


def separated(offsets: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Returns starts and ends."""
    return [start for start, _ in offsets], [end for _, end in offsets]


def guarded(library: str, call: Callable[[], Result]) -> Result:
    """Calls another library, turning its panics and errors without a class of their own into `ValueError`."""
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise ValueError(f"{library} panics: {error}") from error
        # So `tokenizers` refuses a text that needs an unknown token where the vocabulary has none.
        if type(error) is Exception:
            raise ValueError(f"{library} refuses a text: {error}") from error
        raise
