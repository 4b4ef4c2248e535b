"""Which format is this file? By what is in it, and where that does not tell, by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bytemill.errors import VocabularyError
from bytemill.formats import data_gym, huggingface, minbpe_model, native, tekken, tiktoken_ranks
from bytemill.formats.json_file import parse_json
from bytemill.formats.parts import Parts, checked_ranks

if TYPE_CHECKING:
    import os

__all__ = ["read_parts", "usual_name"]

# What is looked for in a directory, in this order.
IN_DIRECTORY = [
    "tokenizer.json",
    "tekken.json",
    "vocab.bpe",
    "merges.txt",
    "tiktoken.model",
    "tokenizer.model",
]

# Names that say what a file is and not what is in it: then the directory has the name of the encoding.
USUAL_NAMES = {*IN_DIRECTORY, "encoder.json", "vocab.json"}


def read_parts(path: str | os.PathLike[str]) -> Parts:
    """Reads a file of any format, or the one in a directory.

    Raises:
        VocabularyError: It is of no format known here, malformed, or cannot be encoded exactly; the message
            names file, place and reason.
        OSError: It cannot be read.
    """
    file = file_of(Path(path))
    contents = file.read_bytes()
    start = contents[:100].lstrip()
    if start.startswith(b"{"):
        return read_json(file, contents)
    if start.startswith(b"minbpe v"):
        return minbpe_model.parts_of(minbpe_model.parse_model(contents, str(file)), str(file))
    if start.startswith(b"#version") or file.name in dict(data_gym.FILE_NAMES):
        return read_pair(file, contents, encoder=None)
    if file.suffix == ".tiktoken" or tiktoken_ranks.looks_like_ranks(contents):
        ranks = tiktoken_ranks.parse_ranks(contents, str(file))
        return Parts(None, checked_ranks(ranks, str(file)), {})
    message = (
        f"{file}: expected a .tiktoken file, tokenizer.json, vocab.bpe with encoder.json, merges.txt with "
        "vocab.json, minbpe's .model, tekken.json or a .bytemill file, got a file that begins with "
        f"{contents[:16]!r} (SentencePiece's models hold no byte-level BPE)"
    )
    raise VocabularyError(message)


def file_of(path: Path) -> Path:
    """Gives the file to read: of a directory, the one that is known."""
    if not path.is_dir():
        return path
    for name in IN_DIRECTORY:
        if (path / name).is_file():
            return path / name
    message = f"{path}: expected a directory with one of {', '.join(IN_DIRECTORY)}"
    raise VocabularyError(message)


def read_json(path: Path, contents: bytes) -> Parts:
    """Reads a JSON file: what it is, its entries tell."""
    file = parse_json(contents, str(path))
    if file["format"].contents == native.FORMAT:
        return native.parse_native(file)
    if isinstance(file["model"].contents, dict):
        return huggingface.parse_tokenizer(file)
    if isinstance(file["config"].contents, dict) and isinstance(file["vocab"].contents, list):
        return tekken.parse_tekken(file)
    if all(type(entry) is int for entry in file.object().values()):
        return read_pair(path, None, encoder=contents)
    return file.refuse(
        "expected tokenizer.json (with an entry model), tekken.json (config and vocab), encoder.json (ids "
        'only) or a native file ("format": "bytemill"), got an object with the keys '
        f"{sorted(file.object())[:10]}"
    )


def read_pair(path: Path, merges: bytes | None, *, encoder: bytes | None) -> Parts:
    """Reads GPT-2's two files, of which one has been read."""
    merges_path, encoder_path = path, path
    for merges_name, encoder_name in data_gym.FILE_NAMES:
        if encoder is None and (path.parent / encoder_name).is_file():
            encoder_path = path.parent / encoder_name
        elif merges is None and (path.parent / merges_name).is_file():
            merges_path = path.parent / merges_name
        else:
            continue
        if path.name in {merges_name, encoder_name}:
            break
    if merges_path == encoder_path:
        others = [names[encoder is None] for names in data_gym.FILE_NAMES]
        message = f"{path}: expected {' or '.join(others)} beside it, as GPT-2's vocabularies have two files"
        raise VocabularyError(message)
    return data_gym.parse_pair(
        merges_path.read_bytes() if merges is None else merges,
        encoder_path.read_bytes() if encoder is None else encoder,
        vocab_bpe_file=str(merges_path),
        encoder_json_file=str(encoder_path),
    )


def usual_name(path: str | os.PathLike[str]) -> str:
    """Gives an encoding the name of its file, or that of the directory where files have one usual name."""
    file = Path(path).absolute()
    return file.parent.name if file.name in USUAL_NAMES else file.name if file.is_dir() else file.stem
