"""Reads a definition from a file, whose format is detected from its contents or its name.

The module of a format is imported when a file may have it: all together took 20 ms, as long as loading a
vocabulary.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from bytemill._messages import named
from bytemill.definition import Definition, Loaded
from bytemill.errors import VocabularyError
from bytemill.patterns import GPT2_PATTERN, WHOLE_TEXT_PATTERN, described_pattern, resolve_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill.definition import Splitting
    from bytemill.formats.json_file import Value

__all__ = ["USUAL_NAMES", "MissingPatternError", "read", "read_tokenizer", "usual_name"]

# The files that are looked for in a directory, in this order.
IN_DIRECTORY = [
    "tokenizer.json",
    "tekken.json",
    "vocab.bpe",
    "merges.txt",
    "tiktoken.model",
    "qwen.tiktoken",
    "tokenizer.model",
    "vocab.txt",
]

# The names of GPT-2's two files, merges and ids: those of its authors, and those of the library transformers.
PAIR_NAMES = (("vocab.bpe", "encoder.json"), ("merges.txt", "vocab.json"))

USUAL_NAMES = {*IN_DIRECTORY, "encoder.json", "vocab.json"}


class MissingPatternError(ValueError):
    """A file has no pattern and none was given."""


def read(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Loaded:
    """Reads a file of any format, or the one in a directory.

    Args:
        path: The file or directory; or the name of a model on the Hub, whose file is in the Hub's cache.
        name: The name of the encoding; if not given, that in the file, or else that of the file.
        pattern: For files without a pattern, a name in `bytemill.patterns.PATTERNS` or a regular expression.
        special_tokens: The ID of each special token, instead of those in the file.

    Raises:
        VocabularyError: It is of no known format, malformed, or cannot be encoded exactly; the message has
            file, entry and reason.
        ValueError: The file needs a pattern and none is given, or has one and another is given.
        OSError: It cannot be read.

    Warns:
        UserWarning: The file says that tokens are added to each text, which an encoding does not do.
    """
    place = located(path)
    file, usual = file_of(place), usual_name(path) if place == Path(path) else Path(path).name
    given = None if pattern is None else resolve_pattern(pattern) or WHOLE_TEXT_PATTERN
    loaded = parse(file, usual, given)
    definition = loaded.definition
    if given is not None and (definition.model is not None or definition.tokenizer is not None):
        kind = "a tokenizer.json with its own rules" if definition.model is None else "a SentencePiece model"
        raise ValueError(f"{path} is {kind}, which has no pattern: pattern= is for other files")
    if given not in {None, definition.splitting}:
        raise ValueError(
            f"{path} has {described_pattern(definition.splitting)}, and {described_pattern(given)} was "
            "given: pattern= is for files without one"
        )
    warn_of_template(definition, str(file))
    return loaded.with_names(
        name or definition.name or usual,
        definition.special_tokens if special_tokens is None else special_tokens,
    )


def read_tokenizer(contents: bytes, name: str) -> Loaded:
    """Returns the definition of a `tokenizer.json` that is not a file; errors and warnings as `read`."""
    from bytemill.formats import tokenizer_json

    loaded = tokenizer_json.load(contents, name, "the tokenizer", is_live=True)
    warn_of_template(loaded.definition, "the tokenizer")
    return loaded


def warn_of_template(definition: Definition, source: str) -> None:
    """Warns of special tokens that an encoding does not add to texts."""
    if definition.template is not None:
        added = named([*map(str, definition.template.prefix + definition.template.suffix)])
        warnings.warn(
            f"{source}: its post-processor adds {added} to each text, which an encoding does not: "
            "`encode_batch_to_numpy(add_special_tokens=True)` adds them",
            UserWarning,
            stacklevel=4,
        )


def parse(file: Path, name: str, pattern: Splitting | None) -> Loaded:
    """Parses a file of any format; same errors as `read`."""
    source = str(file)
    if begins_with(file, b"GGUF"):
        from bytemill.formats import gguf_file, gguf_model

        return gguf_model.load(gguf_file.read_entries(file, gguf_model.PREFIX), name, source)
    contents = file.read_bytes()
    if not contents:
        raise VocabularyError(f"{file}: expected a vocabulary, and the file is empty")
    start = contents[:100].lstrip()
    if contents.startswith(b"bytemill "):
        from bytemill.formats import native

        return native.load(contents, source)
    if start.startswith(b"{"):
        return parse_json_file(file, contents, name, pattern)
    if start.startswith(b"minbpe v"):
        from bytemill.formats import minbpe_model

        model = minbpe_model.parse_model(contents, source)
        return Loaded(minbpe_model.definition_of(model, name, source))
    if start.startswith(b"#version") or file.name in dict(PAIR_NAMES):
        return Loaded(parse_pair(file, contents, None, name, pattern))
    return parse_by_looks(file, contents, name, pattern)


def begins_with(file: Path, magic: bytes) -> bool:
    """Returns whether a file begins with some bytes; it may be larger than memory."""
    with file.open("rb") as start:
        return start.read(len(magic)) == magic


def parse_by_looks(file: Path, contents: bytes, name: str, pattern: Splitting | None) -> Loaded:
    """Parses a file whose contents only resemble a format; same errors as `read`."""
    from bytemill.formats import sentencepiece_model

    # No file of ranks begins as a model does, and asking so is quicker.
    if file.suffix != ".tiktoken" and sentencepiece_model.looks_like_model(contents):
        return sentencepiece_model.load(contents, name, str(file))
    from bytemill.formats import bert_vocabulary

    if bert_vocabulary.looks_like_vocabulary(contents):
        from bytemill.formats import tokenizer_json

        config = config_beside(file, "tokenizer_config.json")
        tokenizer = bert_vocabulary.tokenizer_of(contents, config, str(file))
        return tokenizer_json.load(tokenizer, name, str(file))
    from bytemill.formats import tiktoken_ranks

    if file.suffix == ".tiktoken" or tiktoken_ranks.looks_like_ranks(contents):
        return parse_ranks(file, contents, name, pattern)
    raise VocabularyError(
        f"{file}: expected a .tiktoken file, tokenizer.json, vocab.bpe with encoder.json, merges.txt with "
        "vocab.json, minbpe's .model, SentencePiece's .model, BERT's vocab.txt, tekken.json, GGUF or a "
        f".bytemill file, got a file that begins with {contents[:16]!r}"
    )


def parse_ranks(file: Path, contents: bytes, name: str, pattern: Splitting | None) -> Loaded:
    """Parses a file of ranks, with a configuration in the same folder; same errors as `read`."""
    from bytemill.formats import ranks_folders, tiktoken_ranks, tokenizer_json

    source = str(file)
    ranks = tiktoken_ranks.parse_ranks(contents, source)
    if pattern is not None:
        return Loaded(Definition(name, pattern, ranks, {}).check(source))
    if file.name == "tiktoken.model":
        config = config_beside(file, "tokenizer_config.json")
        if config is not None and ranks_folders.is_kimi(config):
            return Loaded(ranks_folders.kimi_definition(ranks, config, name, source))
    elif file.name == "qwen.tiktoken":
        config = config_beside(file, "tokenizer_config.json")
        if config is not None and ranks_folders.is_qwen(config):
            model = config_beside(file, "config.json")
            return tokenizer_json.load(
                ranks_folders.qwen_tokenizer(ranks, config, model, name, source), name, source
            )
    elif file.name == "tokenizer.model":
        config = config_beside(file, "params.json")
        if config is not None and ranks_folders.is_llama(config):
            return Loaded(ranks_folders.llama_definition(ranks, config, name, source))
    Definition(name, "", ranks, {}).check(source)
    raise MissingPatternError(
        f"{file} has no pattern: expected pattern=, a name such as 'cl100k', 'o200k', 'llama3' "
        "or 'qwen2', or a regular expression"
    )


def config_beside(file: Path, name: str) -> Value | None:
    """Returns the contents of a JSON file in the same directory, `None` if there is none."""
    from bytemill.formats.json_file import parse_json

    path = file.with_name(name)
    return parse_json(path.read_bytes(), str(path)) if path.is_file() else None


def located(path: str | os.PathLike[str]) -> Path:
    """Returns the path itself, or where the file of a model with that name is in the cache of the Hub.

    Raises:
        FileNotFoundError: It is the name of a model, and its file is not in the cache; the message says how
            to download it.
    """
    from bytemill.io.uris import cached_file, download_hint, is_model

    file, model = Path(path), os.fspath(path)
    if not is_model(model) or os.path.lexists(file):
        return file
    cached = cached_file(model, IN_DIRECTORY)
    if cached is None and not file.parent.exists():
        # Without the number of the error, or its message would lose the hint.
        raise FileNotFoundError(
            f"{model}: no such file, and no such model in the Hub's cache; {download_hint(model)}"
        )
    return cached or file


def file_of(path: Path) -> Path:
    """Returns the file to read: in a directory, the first of the known names."""
    if not path.is_dir():
        return path
    for name in IN_DIRECTORY:
        if (path / name).is_file():
            return path / name
    raise VocabularyError(f"{path}: expected a directory with one of {', '.join(IN_DIRECTORY)}")


def parse_json_file(path: Path, contents: bytes, name: str, pattern: Splitting | None) -> Loaded:
    """Parses a JSON file, whose entries tell its format."""
    from bytemill.formats import tokenizer_json

    if tokenizer_json.looks_like_tokenizer(contents):
        return tokenizer_json.load(contents, name, str(path))
    from bytemill.formats import native, tekken
    from bytemill.formats.json_file import parse_json

    file = parse_json(contents, str(path))
    if file["format"].contents == native.FORMAT:
        return Loaded(native.parse_version_1(file))
    if isinstance(file["model"].contents, dict):
        return tokenizer_json.load(contents, name, str(path))
    if isinstance(file["config"].contents, dict) and isinstance(file["vocab"].contents, list):
        return Loaded(tekken.parse_tekken(file, name))
    if all(type(entry) is int for entry in file.object().values()):
        return Loaded(parse_pair(path, None, contents, name, pattern))
    return file.refuse(
        "expected tokenizer.json (with an entry model), tekken.json (config and vocab), encoder.json (ids "
        'only) or a native file ("format": "bytemill"), got an object with the keys '
        f"{sorted(file.object())[:10]}"
    )


def parse_pair(
    path: Path, merges: bytes | None, encoder: bytes | None, name: str, pattern: Splitting | None
) -> Definition:
    """Parses GPT-2's two files, of which one has been read."""
    from bytemill.formats import data_gym
    from bytemill.formats.json_file import parse_json

    merges_path, encoder_path = path, path
    for merges_name, encoder_name in PAIR_NAMES:
        if encoder is None and (path.parent / encoder_name).is_file():
            encoder_path = path.parent / encoder_name
        elif merges is None and (path.parent / merges_name).is_file():
            merges_path = path.parent / merges_name
        else:
            continue
        if path.name in {merges_name, encoder_name}:
            break
    if merges_path == encoder_path:
        others = [names[encoder is None] for names in PAIR_NAMES]
        raise VocabularyError(
            f"{path}: expected {' or '.join(others)} beside it, as GPT-2's vocabularies have two files"
        )
    merges = merges_path.read_bytes() if merges is None else merges
    encoder = encoder_path.read_bytes() if encoder is None else encoder
    return data_gym.parse_pair(
        merges,
        parse_json(encoder, str(encoder_path)),
        name,
        vocab_bpe_file=str(merges_path),
        pattern=GPT2_PATTERN if pattern is None else pattern,
    )


def usual_name(path: str | os.PathLike[str]) -> str:
    """Returns the name of an encoding by its file, or by the directory where files have one usual name."""
    file = Path(path).absolute()
    # Most usual names say the format of a file and nothing of its contents.
    if file.name in USUAL_NAMES and file.suffix != ".tiktoken":
        # At the root, a folder has no name.
        name = file.parent.name or file.stem
    else:
        name = file.name if file.is_dir() else file.stem
    # The name of an encoding is text: of others, the bytes are shown.
    return os.fsencode(name).decode(errors="backslashreplace")
