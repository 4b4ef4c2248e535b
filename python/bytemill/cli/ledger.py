"""The row of a ledger: the tokenizer file, the library it was compared with, amounts and differences."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from bytemill._backend import SentencePieceModel
from bytemill.builtin import BUILTIN_ENCODINGS
from bytemill.cli import is_path
from bytemill.cli.comparing import ASPECTS
from bytemill.core import __version__
from bytemill.formats.sentencepiece_model import MODEL_TYPES
from bytemill.io.reading import PAIR_NAMES, file_of, located
from bytemill.model import MODEL_TO_ENCODING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bytemill.cli.comparing import Comparison
    from bytemill.cli.engines import Engine
    from bytemill.core import Encoding

__all__ = [
    "NAMES",
    "UNITS",
    "description",
    "differences",
    "digests",
    "files_of",
    "kind_of",
    "readable",
    "row",
]

# Bytes of a file that are read at a time.
BLOCK = 1 << 20

# How the types of SentencePiece models are written.
TYPE_NAMES = {"bpe": "BPE", "unigram": "Unigram", "word": "word", "char": "character"}

# The names of `ASPECTS`, and what is counted of them.
NAMES = {aspect: aspect.replace("_", " ").replace("ids", "IDs") for aspect in ASPECTS}
UNITS = {
    "token_ids": "token IDs",
    "offsets": "tokens",
    "decoded_text": "characters",
    "streams": "portions",
    "sessions": "portions",
}


def row(about: Mapping[str, Any], comparison: Comparison) -> dict[str, Any]:
    """Returns a row.

    Args:
        about: A `description`, and more entries if wanted.
        comparison: The comparison, with its sums.
    """
    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {**about, "date": date, **comparison.record()}


def differences(row: Mapping[str, Any]) -> int:
    """Returns the number of differences of a row, in all aspects."""
    return sum(row[aspect]["differences"] for aspect in ASPECTS if row[aspect] is not None)


def description(name: str, encoding: Encoding, files: Mapping[str, str], other: Engine) -> dict[str, Any]:
    """Returns the entries of a row about an encoding and the library that it is compared with.

    Args:
        name: The name of the row.
        encoding: The encoding.
        files: The SHA-256 of its files by name.
        other: The other library.
    """
    return {
        "name": name,
        "kind": kind_of(encoding),
        "files": dict(files),
        "definition": encoding.sha256,
        "bytemill": __version__,
        "oracle": other.name,
    }


def kind_of(encoding: Encoding) -> str:
    """Returns how an encoding makes tokens: "BPE by rank", "WordPiece" and so on."""
    definition = encoding.definition
    if definition.model is not None:
        kind = MODEL_TYPES[SentencePieceModel(definition.model).trainer_spec["model_type"] - 1]
        return f"SentencePiece {TYPE_NAMES[kind]}"
    if definition.tokenizer is None:
        return "BPE by rank"
    kind = encoding._core_bpe.model_kind  # noqa: SLF001 - of this package
    if kind != "words":
        return {"merges": "BPE by list", "scores": "Unigram"}[kind]
    # A file need not name its type: one without has a prefix for parts of words, if it has any.
    model = json.loads(definition.tokenizer)["model"]
    return model.get("type") or ("WordPiece" if model.get("continuing_subword_prefix") else "WordLevel")


def files_of(spec: str) -> list[Path]:
    """Returns the files that an encoding on the command line is read from; none for one of this library."""
    if spec in BUILTIN_ENCODINGS or spec in MODEL_TO_ENCODING or not is_path(spec):
        return []
    path = file_of(located(spec))
    partners = {name: other for pair in PAIR_NAMES for name, other in (pair, pair[::-1])}
    partner = path.with_name(partners.get(path.name, path.name))
    return sorted({path, partner}) if partner.is_file() else [path]


def digests(files: list[Path]) -> dict[str, str]:
    """Returns the SHA-256 of files by name."""
    return {file.name: digest(file) for file in files}


def digest(file: Path) -> str:
    """Returns the SHA-256 of a file, which may be larger than memory."""
    hashed = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(BLOCK):
            hashed.update(block)
    return hashed.hexdigest()


def readable(row: Mapping[str, Any]) -> dict[str, object]:
    """Returns a row for people, an entry for each line."""
    files = [f"{name} (SHA-256 {digest})" for name, digest in row["files"].items()]
    shown = {
        "name": row["name"],
        "kind": row["kind"],
        "files": files or "none (built in)",
        "definition": row["definition"],
        "bytemill": row["bytemill"],
        "compared with": row["oracle"],
    }
    shown |= {key: row[key] for key in ("date", "texts", "bytes", "documents")}
    for aspect, name in NAMES.items():
        tally = row[aspect]
        shown[name] = "none" if tally is None else described(tally, UNITS[aspect])
    for found in row["found"]:
        name = NAMES[found["aspect"]]
        shown[f"{name} differ of"] = found["text"]
        shown |= {f"{name}, {whose}": found[whose] for whose in ("ours", "theirs")}
    return shown


def described(tally: Mapping[str, int], unit: str) -> str:
    """Returns sums in words."""
    return f"{tally['compared']:,} {unit}, {tally['differences']:,} documents differ"
