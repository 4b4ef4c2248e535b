"""GGUF files made from the files of other libraries, as converters make them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gguf

from support import sentencepiece
from support.open_models import ROWS

__all__ = [
    "CONTROL",
    "FAMILIES",
    "UNKNOWN",
    "UNUSED",
    "USER_DEFINED",
    "Source",
    "columns_of",
    "columns_of_merges",
    "columns_of_words",
    "contents_of",
    "sources",
    "word_entries",
    "write",
    "write_merges",
    "write_pieces",
    "write_words",
]


def write(
    path: Path,
    kind: str,
    columns: dict[str, list[Any]],
    *,
    options: dict[str, bool] | None = None,
    **entries: Any,
) -> Path:
    """Writes a file by the package itself; `options` are entries for which it has no method."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(kind)
    for name, add in (
        ("tokens", writer.add_token_list),
        ("scores", writer.add_token_scores),
        ("types", writer.add_token_types),
    ):
        if name in columns:
            add(columns[name])
    for name, value in entries.items():
        getattr(writer, f"add_{name}")(value)
    for name, value in (options or {}).items():
        writer.add_bool(f"tokenizer.ggml.{name}", value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def columns_of(model: bytes) -> dict[str, list[Any]]:
    """Returns the pieces of a SentencePiece model."""
    pieces = sentencepiece.parse(model).pieces
    # Converters write the marks of user-defined symbols as spaces.
    return {
        "tokens": [
            piece.piece.replace("\u2581", " ") if piece.type == USER_DEFINED else piece.piece
            for piece in pieces
        ],
        "scores": [piece.score for piece in pieces],
        "types": [piece.type for piece in pieces],
    }


def write_pieces(path: Path, model: bytes, *, kind: str) -> Path:
    """Writes a SentencePiece model: one of BPE as `llama`, one of Unigram as `t5`."""
    normalizer = sentencepiece.parse(model).normalizer_spec
    entries: dict[str, Any] = {"add_space_prefix": normalizer.add_dummy_prefix}
    if kind == "t5":
        entries["remove_extra_whitespaces"] = normalizer.remove_extra_whitespaces
        entries["precompiled_charsmap"] = normalizer.precompiled_charsmap
    return write(path, kind, columns_of(model), **entries)


# The families of `tokenizer.ggml.pre`, and the row of `support.open_models` with the published components.
FAMILIES = {
    "gpt-2": "gpt2",
    "phi-2": "phi-2",
    "exaone4": "exaone-4",
    "roberta-bpe": "roberta",
    "olmo": "pythia",
    "modern-bert": "modernbert",
    "mpt": "pythia",
    "starcoder": "starcoder",
    "refact": "starcoder",
    "smollm": "smollm2",
    "command-r": "command-r",
    "exaone": "exaone-3",
    "llama-bpe": "llama3",
    "llama3": "llama3",
    "llama-v3": "llama3",
    "falcon3": "falcon-3",
    "dbrx": "dbrx",
    "glm4": "glm-4",
    "chatglm-bpe": "glm-4",
    "lfm2": "lfm2",
    "jais-2": "jais-2",
    "minicpm5": "minicpm-5",
    "qwen2": "qwen2",
    "qwen35": "qwen3.5",
    "stablelm2": "stablelm-2",
    "seed-coder": "seed-coder",
    "bailingmoe": "ling",
    "gpt-4o": "gpt-oss",
    "llama4": "llama4",
    "minimax-m2": "minimax",
    "tekken": "tekken",
    "kimi-k2": "kimi-k2",
    "youtu": "youtu",
    "tiny_aya": "cohere-2",
    "afmoe": "trinity",
    "exaone-moe": "k-exaone",
    "deepseek-llm": "deepseek-llm",
    "deepseek-coder": "deepseek-coder",
    "deepseek-v3": "deepseek-v3",
    "bloom": "bloom",
    "viking": "viking",
    "chameleon": "chameleon",
}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED = range(1, 6)


def contents_of(family: str) -> dict[str, Any]:
    """Returns the `tokenizer.json` of a family, without the flags of added tokens, which GGUF files lack."""
    contents = ROWS[FAMILIES[family]].contents()
    for token in contents["added_tokens"]:
        token.update(dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False))
    return contents


def columns_of_merges(contents: dict[str, Any]) -> dict[str, list[Any]]:
    """Returns the tokens of a `tokenizer.json` with types, and what converters fill ids with."""
    texts = {token_id: text for text, token_id in contents["model"]["vocab"].items()}
    added = {token["id"]: token for token in contents["added_tokens"]}
    texts |= {token_id: token["content"] for token_id, token in added.items()}
    tokens, types = [], []
    for token_id in range(max(texts) + 3):
        tokens.append(texts.get(token_id, f"[PAD{token_id}]"))
        special = CONTROL if token_id in added and added[token_id]["special"] else USER_DEFINED
        types.append(special if token_id in added else NORMAL if token_id in texts else UNUSED)
    return {"tokens": tokens, "types": types}


def write_merges(path: Path, family: str, contents: dict[str, Any], **entries: Any) -> Path:
    """Writes a `tokenizer.json` of byte-level BPE."""
    merges = contents["model"]["merges"]
    joined = [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]
    columns = columns_of_merges(contents)
    return write(path, "gpt2", columns, tokenizer_pre=family, token_merges=joined, **entries)


def columns_of_words(contents: dict[str, Any], *, by_brackets: bool) -> dict[str, list[Any]]:
    """Returns the tokens of WordPiece as converters spell them."""
    special = {token["content"] for token in contents["added_tokens"]}
    tokens, types = [], []
    for text in contents["model"]["vocab"]:
        kept = text in special or (by_brackets and text.startswith("[") and text.endswith("]"))
        tokens.append(text if kept else text[2:] if text.startswith("##") else f"\u2581{text}")
        types.append(CONTROL if text in special else NORMAL)
    return {"tokens": tokens, "types": types}


def word_entries(contents: dict[str, Any]) -> dict[str, Any]:
    """Returns the entries with the IDs of the tokens that WordPiece adds or falls back to."""
    ids = contents["model"]["vocab"]
    names = {"pad": "[PAD]", "unk": "[UNK]", "bos": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return {f"{name}_token_id": ids[text] for name, text in names.items()}


def write_words(path: Path, contents: dict[str, Any], *, by_brackets: bool = False) -> Path:
    """Writes a `tokenizer.json` of WordPiece."""
    columns = columns_of_words(contents, by_brackets=by_brackets)
    # The package has no method for them.
    options = {"normalizer.lowercase": contents["normalizer"]["lowercase"]}
    return write(path, "bert", columns, options=options, **word_entries(contents))


class Source(NamedTuple):
    """A file of another library, which is converted.

    Attributes:
        library: The library, a key of `bytemill.cli.engines.ENGINES`.
        models: The models with such a file.
        contents: Returns the file.
        write: Converts these contents into a file at a path.
    """

    library: str
    models: str
    contents: Callable[[], bytes]
    write: Callable[[Path, bytes], Path]


def sources() -> dict[str, Source]:
    """Returns a file for each kind and each family, by name; published ones if they are installed."""
    models: dict[str, Callable[[], bytes]] = {
        name: functools.partial(sentencepiece.published, name)
        for name in sentencepiece.PUBLISHED
        if sentencepiece.published_path(name) is not None
    }
    trained = functools.partial(sentencepiece.trained, byte_fallback=True, remove_extra_whitespaces=False)
    models |= {"trained": trained, "no prefix": functools.partial(trained, add_dummy_prefix=False)}
    models["runs of spaces"] = functools.partial(
        trained,
        add_dummy_prefix=False,
        user_defined_symbols=",".join("\u2581" * size for size in range(2, 32)),
    )
    llama = functools.partial(write_pieces, kind="llama")
    found = {
        f"llama, {name}": Source("sentencepiece", "SentencePiece BPE", contents, llama)
        for name, contents in models.items()
    }
    scored = functools.partial(sentencepiece.trained, "nmt_nfkc", 1000, model_type="unigram")
    t5 = functools.partial(write_pieces, kind="t5")
    found["t5"] = Source("sentencepiece", "SentencePiece Unigram", scored, t5)
    for row in ("bert-uncased", "bert-cased"):
        found[row] = of_json(row, ROWS[row].contents, write_words)
    for family, row in FAMILIES.items():
        write = functools.partial(write_merges, family=family)
        found[family] = of_json(row, functools.partial(contents_of, family), write)
    return found


def of_json(row: str, contents: Callable[[], dict[str, Any]], write: Callable[..., Path]) -> Source:
    """Returns a `tokenizer.json` as a source."""
    return Source(
        "hf",
        ROWS[row].models,
        lambda: json.dumps(contents()).encode(),
        lambda path, data: write(path, contents=json.loads(data)),
    )
