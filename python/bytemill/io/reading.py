"""Reads a definition from a file, whose format is detected from its contents or its name.

The module of a format is imported when a file may have it: all together took 20 ms, as long as loading a
vocabulary.
"""

from __future__ import annotations

import errno
import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from bytemill._messages import named
from bytemill.builtin import BUILTIN_ENCODINGS, MODEL_TO_ENCODING
from bytemill.definition import Definition, Loaded
from bytemill.errors import VocabularyError
from bytemill.patterns import GPT2_PATTERN, WHOLE_TEXT_PATTERN, described_pattern, resolve_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytemill.definition import Splitting
    from bytemill.formats.json_file import Value

__all__ = [
    "CONTENTS",
    "NATIVE",
    "USUAL_NAMES",
    "MissingPatternError",
    "read",
    "read_contents",
    "read_tokenizer",
    "usual_name",
]

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

# What files begin with: GGUF, and those of `Encoding.save`.
GGUF, NATIVE = b"GGUF", b"bytemill "

# What messages call contents that are not in a file, and the usual name of their encoding.
CONTENTS, NAMELESS = "the given file", "tokenizer"


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
    check_path(path)
    place = located(path)
    file, usual = file_of(place), usual_name(path) if place == Path(path) else Path(path).name
    given = splitting_of(pattern)
    with file.open("rb") as opened:
        if opened.read(len(GGUF)) == GGUF:
            loaded = parse_gguf(opened, usual, str(file))
        else:
            opened.seek(0)
            loaded = parse(opened.read(), Origin(file), usual, given)
    check_pattern(loaded.definition, given, str(path))
    warn_of_template(loaded.definition, str(file))
    return named_as(loaded, name, usual, special_tokens)


def read_contents(
    contents: bytes,
    *,
    name: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Loaded:
    """Reads the contents of a file of any format that needs no other file; arguments and errors as `read`."""
    given = splitting_of(pattern)
    if contents.startswith(GGUF):
        loaded = parse_gguf(io.BytesIO(contents), NAMELESS, CONTENTS)
    else:
        loaded = parse(contents, Origin(None), NAMELESS, given)
    check_pattern(loaded.definition, given, CONTENTS)
    warn_of_template(loaded.definition, CONTENTS)
    return named_as(loaded, name, NAMELESS, special_tokens)


def check_path(path: str | os.PathLike[str]) -> None:
    """Raises an error for the contents of a file in place of its path: systems take them for a name."""
    if isinstance(path, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"path must be a str or os.PathLike, not {type(path).__name__}: from_bytes reads the contents of "
            "a file"
        )
    start = path[:100].lstrip() if isinstance(path, str) else ""
    if start.startswith("{"):
        raise ValueError(
            f"expected the path of a file, got its contents, which begin with {start[:20]!r}: "
            "from_bytes(text.encode()) reads them"
        )


def splitting_of(pattern: str | None) -> Splitting | None:
    """Returns the pattern that a name or a regular expression gives; `None` for none."""
    return None if pattern is None else resolve_pattern(pattern) or WHOLE_TEXT_PATTERN


def check_pattern(definition: Definition, given: Splitting | None, source: str) -> None:
    """Raises `ValueError` if a pattern was given for a file that has one, or has none at all."""
    if given is not None and (definition.model is not None or definition.tokenizer is not None):
        kind = "a tokenizer.json with its own rules" if definition.model is None else "a SentencePiece model"
        raise ValueError(f"{source} is {kind}, which has no pattern: pattern= is for other files")
    if given not in {None, definition.splitting}:
        raise ValueError(
            f"{source} has {described_pattern(definition.splitting)}, and {described_pattern(given)} was "
            "given: pattern= is for files without one"
        )


def named_as(
    loaded: Loaded, name: str | None, usual: str, special_tokens: Mapping[str, int] | None
) -> Loaded:
    """Returns a definition with the name and the special tokens that were given, or else its own."""
    definition = loaded.definition
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


class Origin(NamedTuple):
    """Where the contents of a file come from.

    Attributes:
        path: The file; `None` for contents that were given.
    """

    path: Path | None

    def __str__(self) -> str:
        return CONTENTS if self.path is None else str(self.path)

    @property
    def name(self) -> str:
        """The name of the file, empty if it has none."""
        return "" if self.path is None else self.path.name

    @property
    def suffix(self) -> str:
        """The suffix of the name."""
        return "" if self.path is None else self.path.suffix

    def beside(self, name: str) -> Path | None:
        """Returns a file in the same directory; `None` if there is none."""
        file = None if self.path is None else self.path.with_name(name)
        return file if file is not None and file.is_file() else None

    def config(self, name: str) -> Value | None:
        """Returns the contents of a JSON file in the same directory; `None` if there is none."""
        from bytemill.formats.json_file import parse_json

        file = self.beside(name)
        return None if file is None else parse_json(file.read_bytes(), str(file))


def parse(contents: bytes, origin: Origin, name: str, pattern: Splitting | None) -> Loaded:
    """Parses the contents of a file of any format but GGUF; same errors as `read`."""
    source = str(origin)
    if not contents:
        raise VocabularyError(f"{source}: expected a vocabulary, and the file is empty")
    start = contents[:100].lstrip()
    if contents.startswith(NATIVE):
        from bytemill.formats import native

        return native.load(contents, source)
    if start.startswith(b"{"):
        return parse_json_file(contents, origin, name, pattern)
    if start.startswith(b"minbpe v"):
        from bytemill.formats import minbpe_model

        model = minbpe_model.parse_model(contents, source)
        return Loaded(minbpe_model.definition_of(model, name, source))
    if start.startswith(b"#version") or origin.name in dict(PAIR_NAMES):
        return Loaded(parse_pair(origin, contents, None, name, pattern))
    return parse_by_looks(contents, origin, name, pattern)


def parse_gguf(file: BinaryIO, name: str, source: str) -> Loaded:
    """Parses an open GGUF file, which may be larger than memory; same errors as `read`."""
    from bytemill.formats import gguf_file, gguf_model

    return gguf_model.load(gguf_file.read_entries(file, gguf_model.PREFIX, source), name, source)


def parse_by_looks(contents: bytes, origin: Origin, name: str, pattern: Splitting | None) -> Loaded:
    """Parses a file whose contents only resemble a format; same errors as `read`."""
    from bytemill.formats import sentencepiece_model

    source = str(origin)
    # No file of ranks begins as a model does, and asking so is quicker.
    if origin.suffix != ".tiktoken" and sentencepiece_model.looks_like_model(contents):
        return sentencepiece_model.load(contents, name, source)
    from bytemill.formats import bert_vocabulary

    if bert_vocabulary.looks_like_vocabulary(contents):
        from bytemill.formats import tokenizer_json, transformers_folder

        beside = transformers_folder.Beside(*map(origin.config, transformers_folder.FILES))
        ids = bert_vocabulary.ids_of(contents, source)
        tokenizer = bert_vocabulary.tokenizer_of(ids, beside, source)
        return tokenizer_json.load(tokenizer, name, source)
    from bytemill.formats import tiktoken_ranks

    if origin.suffix == ".tiktoken" or tiktoken_ranks.looks_like_ranks(contents):
        return parse_ranks(contents, origin, name, pattern)
    raise VocabularyError(
        f"{source}: expected a .tiktoken file, tokenizer.json, vocab.bpe with encoder.json, merges.txt with "
        "vocab.json, minbpe's .model, SentencePiece's .model, BERT's vocab.txt, tekken.json, GGUF or a "
        f".bytemill file, got a file that begins with {contents[:16]!r}"
    )


def parse_ranks(contents: bytes, origin: Origin, name: str, pattern: Splitting | None) -> Loaded:
    """Parses a file of ranks, with a configuration in the same folder; same errors as `read`."""
    from bytemill.formats import ranks_folders, tiktoken_ranks, tokenizer_json

    source = str(origin)
    ranks = tiktoken_ranks.parse_ranks(contents, source)
    if pattern is not None:
        return Loaded(Definition(name, pattern, ranks, {}).check(source))
    if origin.name == "tiktoken.model":
        config = origin.config("tokenizer_config.json")
        if config is not None and ranks_folders.is_kimi(config):
            return Loaded(ranks_folders.kimi_definition(ranks, config, name, source))
    elif origin.name == "qwen.tiktoken":
        config = origin.config("tokenizer_config.json")
        if config is not None and ranks_folders.is_qwen(config):
            model = origin.config("config.json")
            return tokenizer_json.load(
                ranks_folders.qwen_tokenizer(ranks, config, model, name, source), name, source
            )
    elif origin.name == "tokenizer.model":
        config = origin.config("params.json")
        if config is not None and ranks_folders.is_llama(config):
            return Loaded(ranks_folders.llama_definition(ranks, config, name, source))
    Definition(name, "", ranks, {}).check(source)
    raise MissingPatternError(
        f"{source} has no pattern: expected pattern=, a name such as 'cl100k', 'o200k', 'llama3' "
        "or 'qwen2', or a regular expression"
    )


def located(path: str | os.PathLike[str], names: Sequence[str] = IN_DIRECTORY) -> Path:
    """Returns the path itself, or where the file of a model with that name is in the cache of the Hub.

    Args:
        path: The path, or the name of a model.
        names: The names that the file may have, the best first.

    Raises:
        FileNotFoundError: It is the name of a model, and its file is not in the cache; the message says how
            to download it. Or it is the name of a built-in encoding or of OpenAI's model, and of no file.
    """
    from bytemill.io.uris import cached_file, download_hint, is_model

    file, model = Path(path), os.fspath(path)
    if not model:
        # As `open` has it: for a path, this is the folder that the process is in.
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), model)
    if os.path.lexists(file):
        return file
    # A `Path` is meant as one.
    is_name = isinstance(path, str)
    if is_name and model in BUILTIN_ENCODINGS:
        raise FileNotFoundError(f"{model}: no such file; get_encoding({model!r}) returns this encoding")
    if is_name and model in MODEL_TO_ENCODING:
        raise FileNotFoundError(f"{model}: no such file; encoding_for_model({model!r}) returns its encoding")
    if not is_model(model):
        return file
    cached = cached_file(model, names)
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


def parse_json_file(contents: bytes, origin: Origin, name: str, pattern: Splitting | None) -> Loaded:
    """Parses a JSON file, whose entries tell its format."""
    from bytemill.formats import tokenizer_json

    source = str(origin)
    if tokenizer_json.looks_like_tokenizer(contents):
        return tokenizer_json.load(contents, name, source)
    from bytemill.formats import native, tekken
    from bytemill.formats.json_file import parse_json

    file = parse_json(contents, source)
    if file["format"].contents == native.FORMAT:
        return Loaded(native.parse_version_1(file))
    if isinstance(file["model"].contents, dict):
        return tokenizer_json.load(contents, name, source)
    if isinstance(file["config"].contents, dict) and isinstance(file["vocab"].contents, list):
        return Loaded(tekken.parse_tekken(file, name))
    if all(type(entry) is int for entry in file.object().values()):
        return Loaded(parse_pair(origin, None, contents, name, pattern))
    return file.refuse(
        "expected tokenizer.json (with an entry model), tekken.json (config and vocab), encoder.json (ids "
        'only) or a native file ("format": "bytemill"), got an object with the keys '
        f"{sorted(file.object())[:10]}"
    )


def parse_pair(
    origin: Origin, merges: bytes | None, encoder: bytes | None, name: str, pattern: Splitting | None
) -> Definition:
    """Parses GPT-2's two files, of which one has been read."""
    from bytemill.formats import data_gym, transformers_folder
    from bytemill.formats.json_file import parse_json

    # The other of the two: of the pair that the name is from, if it is from one.
    other = None
    for pair in PAIR_NAMES:
        found = origin.beside(pair[encoder is None])
        other = found or other
        if found is not None and origin.name in pair:
            break
    if other is None:
        others = [pair[encoder is None] for pair in PAIR_NAMES]
        raise VocabularyError(
            f"{origin}: expected {' or '.join(others)} beside it: GPT-2's vocabularies have two files"
        )
    sources = {True: str(origin), False: str(other)}
    merges_source, encoder_source = sources[merges is not None], sources[encoder is not None]
    merges = other.read_bytes() if merges is None else merges
    encoder = other.read_bytes() if encoder is None else encoder
    beside = transformers_folder.Beside(*map(origin.config, transformers_folder.FILES))
    if beside.config is not None and pattern is None:
        data_gym.check_config(beside.config)
    definition = data_gym.parse_pair(
        merges,
        parse_json(encoder, encoder_source),
        name,
        vocab_bpe_file=merges_source,
        pattern=GPT2_PATTERN if pattern is None else pattern,
    )
    if pattern is None:
        beside.check_tokens(definition.special_tokens, has_normalizer=False)
    if beside.config is None:
        return definition
    return definition._replace(template=data_gym.template_of(beside.config))


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
