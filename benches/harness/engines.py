"""Loads the engines that are compared; `suites/engines.toml` says how each is called.

Only installed engines are compared, and an engine has no figures for an encoding or a way of calling that it
lacks. Modules are imported by name when an engine is loaded, so that type checks do not depend on what is
installed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from numpy import frombuffer

from harness.suites import suite


class Call(NamedTuple):
    """One way of calling an engine.

    Attributes:
        name: Name of the method.
        form: Form of its result, see `suites/engines.toml`.
        work: The callable, without wrappers where possible: a short text takes less than a microsecond.
        threads: Number of threads it uses by default.
    """

    name: str
    form: str
    work: Callable[..., Any]
    threads: int = 1


Calls = Mapping[str, Call]

# The first text of every engine, before anything is timed.
SENTENCE = "The first call may build what the others use."

# Modules with another name than the distribution.
MODULES = {"rs-bpe": "rs_bpe.bpe", "quicktok-v1": "quicktok"}

# Below 3 MB/s, and slower the longer the text: these get only the beginning of long texts.
SLOW = frozenset({"tokenizers"})


def ranks_file(folder: Path, encoding: str) -> Path:
    """Returns the path of the mergeable ranks of an encoding: gigatoken goes by the name of the file."""
    return folder / f"{encoding}.tiktoken"


def tokenizer_file(folder: Path, encoding: str) -> Path:
    """Returns the path of the `tokenizer.json` of an encoding."""
    return folder / f"{encoding}.json"


def wordchipper_file(folder: Path, encoding: str) -> Path:
    """Returns the path of an encoding in wordchipper's cache, if that is `folder`."""
    return folder / "openai" / encoding / f"{encoding}.tiktoken"


def installed(distribution: str) -> str | None:
    """Returns the version of a distribution, or `None` if it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def imported(engine: str) -> Any:
    """Returns the module of an engine."""
    return import_module(MODULES.get(engine, engine))


# --- Objects of the engines ---


def quicktok(encoding: str, _folder: Path) -> Any:
    """Loads one of its own vocabularies."""
    try:
        return imported("quicktok-v1").get_encoding(encoding)
    except RuntimeError as error:
        raise LookupError(encoding) from error


def rs_bpe(encoding: str, _folder: Path) -> Any:
    """Loads one of its own vocabularies."""
    module = imported("rs-bpe").openai
    if not hasattr(module, encoding):
        raise LookupError(encoding)
    return getattr(module, encoding)()


def snaptokens(encoding: str, folder: Path) -> Any:
    """Loads a `tokenizer.json`, of which it knows few patterns.

    It gets cl100k's in the spelling of Llama 3, which differs in white space at the end of a text.
    """
    from bytemill.patterns import LLAMA3_PATTERN

    contents = json.loads(tokenizer_file(folder, encoding).read_text(encoding="utf-8"))
    if encoding == "cl100k_base":
        contents["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = LLAMA3_PATTERN
    try:
        return imported("snaptokens").Tokenizer.from_json_str(json.dumps(contents))
    except ValueError as error:
        raise LookupError(encoding) from error


def wordchipper(encoding: str, folder: Path) -> Any:
    """Loads it with its fast lexers, from its cache."""
    os.environ["WORDCHIPPER_CACHE_DIR"] = str(folder)
    module = imported("wordchipper")
    options = module.TokenizerOptions.default()
    options.set_accelerated_lexers(True)
    return module.Tokenizer.from_pretrained(encoding, options)


LOADERS: dict[str, Callable[[str, Path], Any]] = {
    "bytemill": lambda encoding, _: imported("bytemill").get_encoding(encoding),
    # It reads its own cache, which the caller has filled.
    "tiktoken": lambda encoding, _: imported("tiktoken").get_encoding(encoding),
    "gigatoken": lambda encoding, folder: imported("gigatoken").Tokenizer.from_tiktoken(
        ranks_file(folder, encoding)
    ),
    "quicktok-v1": quicktok,
    "rs-bpe": rs_bpe,
    "snaptokens": snaptokens,
    "tokie": lambda encoding, folder: imported("tokie").Tokenizer.from_json(
        str(tokenizer_file(folder, encoding))
    ),
    "tokenizers": lambda encoding, folder: imported("tokenizers").Tokenizer.from_file(
        str(tokenizer_file(folder, encoding))
    ),
    "wordchipper": wordchipper,
}


def load(engine: str, encoding: str, folder: Path) -> Calls:
    """Loads an encoding.

    Args:
        engine: A key of `LOADERS`.
        encoding: Name of the encoding.
        folder: Folder with its vocabulary (`vocabularies.write_vocabulary`).

    Returns:
        The ways of calling it that this version has.

    Raises:
        LookupError: The engine does not have this encoding.
    """
    tokenizer = LOADERS[engine](encoding, folder)
    ways = suite("engines")[engine]
    # For lists gigatoken has a class that is compatible with tiktoken.
    compatible = tokenizer.as_tiktoken() if any("object" in way for way in ways.values()) else None
    calls = {}
    for name, way in ways.items():
        work = getattr(compatible if "object" in way else tokenizer, way["method"], None)
        if work is not None:
            threads = (os.cpu_count() or 1) if way.get("all_cores") else 1
            calls[name] = Call(way["method"], way["form"], adapted(work, way), threads)
    return calls


def adapted(work: Callable[..., Any], way: Mapping[str, Any]) -> Callable[..., Any]:
    """Returns a method with its arguments bound; a batch takes (texts, threads)."""
    arguments = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in way.get("arguments", {}).items()
    }
    if keyword := way.get("threads"):
        return lambda texts, threads: work(texts, **{keyword: threads})
    if way.get("parallel"):
        return lambda texts, threads: work(texts, parallel=threads > 1)
    if way.get("bytes_of_one"):
        return lambda text: frombuffer(work([text])[0], dtype="<u4")
    if way.get("each"):
        return lambda texts, _threads: [each.ids for each in work(texts, **arguments)]
    if way.get("ids"):
        return lambda text: work(text, **arguments).ids
    return partial(work, **arguments) if arguments else work
