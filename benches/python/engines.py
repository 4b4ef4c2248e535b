"""The engines that are compared, by the names of their distributions: how each is loaded and called.

Only what is installed is compared, and an engine has no figures for an encoding or a way of calling that it
lacks. Modules are imported by name when an engine is loaded, so that type checks do not depend on what is
installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One way of calling an engine.

    Attributes:
        name: What its documentation calls it.
        form: What comes out: "list", "flat" (an array), "lists", "ragged", "number", "text" or "bytes".
        work: The callable, as bare as can be: a hundred bytes take less than a microsecond.
        threads: How many threads it takes without being asked.
    """

    name: str
    form: str
    work: Callable[..., Any]
    threads: int = 1


# The ways of calling that an engine has:
#   array, list    a text to an array, or to a list
#   checked        the same with the default rule for special tokens
#   threaded       (text, threads) to an array
#   batch          (texts, threads) to whatever holds the ids of all
#   count          a text to the number of its ids
#   decode, decode_bytes, decode_array     ids as a list, or array, to text or bytes
#   decode_batch   lists of ids to texts
Calls = Mapping[str, Call]

# What an engine is asked before anything is timed.
SENTENCE = "The first call may build what the others use."

# What to import, where it has another name than the distribution.
MODULES = {"rs-bpe": "rs_bpe.bpe", "quicktok-v1": "quicktok"}

# Below 3 MB/s, and slower the longer the text: long texts are cut for it.
SLOW = frozenset({"tokenizers"})


def ranks_file(folder: Path, encoding: str) -> Path:
    """Where the mergeable ranks of an encoding are: gigatoken goes by the name of the file."""
    return folder / f"{encoding}.tiktoken"


def tokenizer_file(folder: Path, encoding: str) -> Path:
    """Where the `tokenizer.json` of an encoding is."""
    return folder / f"{encoding}.json"


def wordchipper_file(folder: Path, encoding: str) -> Path:
    """Where wordchipper looks for an encoding if `folder` is its cache."""
    return folder / "openai" / encoding / f"{encoding}.tiktoken"


def installed(engine: str) -> str | None:
    """The version of an engine, or None if it is not installed."""
    try:
        return version(engine)
    except PackageNotFoundError:
        return None


def imported(engine: str) -> Any:
    """The module of an engine."""
    return import_module(MODULES.get(engine, engine))


def load(engine: str, encoding: str, folder: Path) -> Calls:
    """Loads an encoding.

    Args:
        engine: A key of `LOADERS`.
        encoding: The name of the encoding.
        folder: Where its vocabulary has been written (`vocabularies.write_vocabulary`).

    Raises:
        LookupError: The engine does not have this encoding.
    """
    return LOADERS[engine](encoding, folder)


def methods(owner: Any, **ways: tuple[Any, ...]) -> dict[str, Call]:
    """Gives those methods of an object that it has; a way is (name, form) or (name, form, arguments)."""
    calls = {}
    for way, (name, form, *arguments) in ways.items():
        work = getattr(owner, name, None)
        if work is not None:
            calls[way] = Call(name, form, partial(work, **arguments[0]) if arguments else work)
    return calls


def threads_last(owner: Any, name: str, form: str, to_arguments: Callable[[int], dict[str, Any]]) -> Call:
    """Makes a method take the number of threads as its second argument."""
    work = getattr(owner, name)
    return Call(name, form, lambda texts, threads: work(texts, **to_arguments(threads)))


def load_bytemill(encoding: str, _folder: Path) -> Calls:
    """This library."""
    tokenizer = imported("bytemill").get_encoding(encoding)
    calls = methods(
        tokenizer,
        array=("encode_to_numpy", "flat", {"disallowed_special": ()}),
        list=("encode_ordinary", "list"),
        checked=("encode", "list"),
        count=("count", "number"),
        decode=("decode", "text"),
        decode_bytes=("decode_bytes", "bytes"),
        decode_array=("decode_bytes", "bytes"),
        decode_batch=("decode_batch", "texts", {"num_threads": 1}),
        memory_usage=("memory_usage", "number"),
        clear_cache=("clear_cache", "nothing"),
    )
    for way, name, form in (
        ("threaded", "encode_ordinary_to_numpy", "flat"),
        ("batch", "encode_batch_to_numpy", "ragged"),
    ):
        if hasattr(tokenizer, name):
            calls[way] = threads_last(tokenizer, name, form, lambda threads: {"num_threads": threads})
    return calls


def load_tiktoken(encoding: str, _folder: Path) -> Calls:
    """The original: it reads its own cache, which the caller has filled. Its arrays are decoded as lists."""
    tokenizer = imported("tiktoken").get_encoding(encoding)
    calls = methods(
        tokenizer,
        array=("encode_to_numpy", "flat", {"disallowed_special": ()}),
        list=("encode_ordinary", "list"),
        checked=("encode", "list"),
        decode=("decode", "text"),
        decode_bytes=("decode_bytes", "bytes"),
        decode_batch=("decode_batch", "texts", {"num_threads": 1}),
    )
    calls["batch"] = threads_last(
        tokenizer, "encode_ordinary_batch", "lists", lambda threads: {"num_threads": threads}
    )
    return calls


def load_gigatoken(encoding: str, folder: Path) -> Calls:
    """Its flat tokenizer, and for lists its class that is compatible with tiktoken."""
    tokenizer = imported("gigatoken").Tokenizer.from_tiktoken(ranks_file(folder, encoding))
    calls = methods(
        tokenizer.as_tiktoken(),
        list=("encode_ordinary", "list"),
        checked=("encode", "list"),
        decode=("decode", "text"),
        decode_bytes=("decode_bytes", "bytes"),
        decode_batch=("decode_batch", "texts"),
    )
    calls |= methods(tokenizer, array=("encode", "flat"), decode_array=("decode", "bytes"))
    # Its pool has as many threads as RAYON_NUM_THREADS says.
    calls["batch"] = threads_last(
        tokenizer, "encode_batch", "ragged", lambda threads: {"parallel": threads > 1}
    )
    return calls


def load_tokenizers(encoding: str, folder: Path) -> Calls:
    """Hugging Face's, from `tokenizer.json`; its objects are asked for their ids."""
    tokenizer = imported("tokenizers").Tokenizer.from_file(str(tokenizer_file(folder, encoding)))
    encode = tokenizer.encode
    one = Call("encode", "list", lambda text: encode(text, add_special_tokens=False).ids)
    return {"array": one, "list": one}


def load_rs_bpe(encoding: str, _folder: Path) -> Calls:
    """It brings its vocabularies along."""
    module = imported("rs-bpe").openai
    if not hasattr(module, encoding):
        raise LookupError(encoding)
    tokenizer = getattr(module, encoding)()
    return methods(
        tokenizer,
        array=("encode", "list"),
        list=("encode", "list"),
        count=("count", "number"),
        decode=("decode", "text"),
    )


def load_quicktok(encoding: str, _folder: Path) -> Calls:
    """It brings its vocabularies along."""
    try:
        tokenizer = imported("quicktok-v1").get_encoding(encoding)
    except RuntimeError as error:
        raise LookupError(encoding) from error
    calls = methods(
        tokenizer,
        array=("encode_ordinary", "list"),
        list=("encode_ordinary", "list"),
        checked=("encode", "list"),
        count=("count", "number"),
        decode=("decode", "text"),
        decode_bytes=("decode_bytes", "bytes"),
        decode_batch=("decode_batch", "texts"),
    )
    calls["batch"] = threads_last(tokenizer, "encode_batch", "ragged", lambda threads: {"threads": threads})
    return calls


def load_tokie(encoding: str, folder: Path) -> Calls:
    """From `tokenizer.json`; its objects are asked for their ids. It cuts long texts for all cores."""
    tokenizer = imported("tokie").Tokenizer.from_json(str(tokenizer_file(folder, encoding)))
    encode, encode_batch = tokenizer.encode, tokenizer.encode_batch
    one = Call("encode", "list", lambda text: encode(text, add_special_tokens=False).ids)
    batch = Call(
        "encode_batch",
        "lists",
        lambda texts, _threads: [each.ids for each in encode_batch(texts, add_special_tokens=False)],
    )
    calls = methods(
        tokenizer,
        count=("count_tokens", "number"),
        decode=("decode", "text"),
        decode_bytes=("decode_bytes", "bytes"),
        decode_batch=("decode_batch", "texts"),
    )
    return calls | {"array": one._replace(threads=os.cpu_count() or 1), "list": one, "batch": batch}


def load_wordchipper(encoding: str, folder: Path) -> Calls:
    """With its fast lexers; it finds the vocabulary in its cache."""
    os.environ["WORDCHIPPER_CACHE_DIR"] = str(folder)
    module = imported("wordchipper")
    options = module.TokenizerOptions.default()
    options.set_accelerated_lexers(True)
    return methods(
        module.Tokenizer.from_pretrained(encoding, options),
        array=("encode", "list"),
        list=("encode", "list"),
        decode=("decode", "text"),
        decode_bytes=("decode_bytes", "bytes"),
        decode_batch=("decode_batch", "texts"),
    )


LOADERS: dict[str, Callable[[str, Path], Calls]] = {
    "bytemill": load_bytemill,
    "tiktoken": load_tiktoken,
    "gigatoken": load_gigatoken,
    "quicktok-v1": load_quicktok,
    "rs-bpe": load_rs_bpe,
    "tokie": load_tokie,
    "tokenizers": load_tokenizers,
    "wordchipper": load_wordchipper,
}
