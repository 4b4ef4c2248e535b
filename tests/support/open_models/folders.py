"""Folders of models without a `tokenizer.json`: ranks or pieces, beside what says which model they are of."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bytemill.load import dump_tiktoken_bpe
from support.catalogue import PATTERNS

__all__ = ["FOLDERS", "SENTENCEPIECE", "Folder"]

# The family of folders with pieces of SentencePiece, which are not of ranks.
SENTENCEPIECE = "sentencepiece, folder"

Ranks = dict[bytes, int]


@dataclass(frozen=True)
class Folder:
    """A kind of folder.

    Attributes:
        models: The models that come so.
        ranks: The name of the file with the ranks.
        sign: What the folder is recognised by.
        chain: The name of the pattern in `support.catalogue`.
        write: Writes the folder of a vocabulary.
    """

    models: str
    ranks: str
    sign: str
    chain: str
    write: Callable[[Path, Ranks], None]


def write_json(path: Path, contents: Any) -> None:
    """Writes a file of JSON."""
    path.write_text(json.dumps(contents), encoding="utf-8")


def write_ranks(path: Path, ranks: Ranks) -> None:
    """Writes ranks in tiktoken's format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    dump_tiktoken_bpe(ranks, str(path))


def kimi(folder: Path, ranks: Ranks) -> None:
    """Writes a folder of Kimi's."""
    write_ranks(folder / "tiktoken.model", ranks)
    named = {str(len(ranks)): {"content": "[BOS]", "special": True}}
    config = {"tokenizer_class": "TikTokenTokenizer", "added_tokens_decoder": named}
    write_json(folder / "tokenizer_config.json", config)


def qwen(folder: Path, ranks: Ranks) -> None:
    """Writes a folder of the first Qwen models."""
    write_ranks(folder / "qwen.tiktoken", ranks)
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "QWenTokenizer"})


def llama(special: int, **params: Any) -> Callable[[Path, Ranks], None]:
    """Returns what writes Meta's own folder of a model with so many special tokens."""

    def write(folder: Path, ranks: Ranks) -> None:
        write_ranks(folder / "tokenizer.model", ranks)
        write_json(folder / "params.json", {"vocab_size": len(ranks) + special, **params})

    return write


def tekken(folder: Path, ranks: Ranks) -> None:
    """Writes a folder of Mistral's."""
    folder.mkdir(parents=True, exist_ok=True)
    in_order = sorted(ranks, key=ranks.__getitem__)
    special = 1000
    config = {
        "pattern": PATTERNS["TEKKEN"],
        "num_vocab_tokens": len(ranks),
        "default_vocab_size": len(ranks) + special,
        "default_num_special_tokens": special,
        "version": "v13",
    }
    tokens = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(in_order)
    ]
    names = [
        {"rank": rank, "token_str": text, "is_control": True}
        for rank, text in enumerate(["<unk>", "<s>", "</s>"])
    ]
    write_json(folder / "tekken.json", {"config": config, "vocab": tokens, "special_tokens": names})


FOLDERS: dict[str, Folder] = {
    "kimi, folder": Folder(
        "Kimi K2, K2.5, Linear, VL; Moonlight",
        "tiktoken.model",
        "`TikTokenTokenizer` in `tokenizer_config.json`",
        "KIMI",
        kimi,
    ),
    "qwen-1, folder": Folder(
        "Qwen 1, also of code and of mathematics",
        "qwen.tiktoken",
        "`QWenTokenizer` in `tokenizer_config.json`",
        "QWEN2",
        qwen,
    ),
    "llama-3, folder": Folder(
        "Llama 3, Meta's own", "tokenizer.model", "`vocab_size` in `params.json`", "LLAMA3", llama(256)
    ),
    "llama-3.1, folder": Folder(
        "Llama 3.1, 3.2, 3.3, Meta's own",
        "tokenizer.model",
        "`use_scaled_rope` in `params.json`",
        "LLAMA3",
        llama(256, use_scaled_rope=True),
    ),
    "llama-4, folder": Folder(
        "Llama 4, Meta's own",
        "tokenizer.model",
        "`vocab_size` in `params.json`",
        "O200K",
        llama(2048, use_scaled_rope=True),
    ),
    "tekken, folder": Folder(
        "Mistral Nemo, Pixtral, Small 3, Ministral, Magistral, Devstral, Large 3",
        "tekken.json",
        "`config` and `vocab` in the file",
        "TEKKEN",
        tekken,
    ),
}
