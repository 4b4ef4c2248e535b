"""The page about open models: which families load from their own file, and how; what is refused.

    python -m programs.models_page            writes docs/models.md
    python -m programs.models_page --check    fails if the page is not what this writes

Everything in the tables is read off the files in `support.open_models`, which the tests compare with
`tokenizers`: a row is there because its test is.
"""

# ruff: noqa: E501, T201 - a program that prints lines of Markdown

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bytemill import Encoding
from bytemill._backend import CoreSplitter
from bytemill.errors import VocabularyError
from support.open_models import BYTE_LEVEL_MODELS, CHAIN_MODELS, PIECE_MODELS, REFUSED, ROWS, file_of
from support.open_models.components import Row

__all__ = ["page"]

PATH = Path(__file__).parents[2] / "docs" / "models.md"

START = """\
# Models

`bytemill.Encoding.from_file("tokenizer.json")` reads the file of a family below as it is, and gives the ids, offsets and
text of `tokenizers` 0.23.3.

Each row is a test: a small file with the family's normalizer, pre-tokenizer, added tokens, template and decoder,
beside `tokenizers` itself, on texts of all scripts, code, added tokens in all neighbourhoods and random strings. The
published files are not in the tests, nor in this package. Where two files of one model say different things, each is
encoded as it says itself.

Patterns have the names that `tests/support/catalogue.py` lists. *Splitting* is **native** where texts are cut by the
scanner that reads 64 bytes at a time, and **general** where a regular expression engine runs; the ids are exact either
way. *Ordinary* added tokens are those that are not special: they are found always, special tokens only where
`allowed_special` has them.
"""

AT_SPACES = [{"String": " "}, {"Regex": " "}]

CHANGES: dict[str, dict[str, Any]] = {
    "WordPiece (BERT, E5, BGE, GTE, MiniLM)": {
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"a": 0}}
    },
    "Unigram (T5, XLM-R, BGE-M3, ALBERT)": {
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]]}
    },
    "WordLevel": {"model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}},
    "BPE with dropout": {"model": {"dropout": 0.1}},
    "BertPreTokenizer": {"pre_tokenizer": {"type": "BertPreTokenizer"}},
    "UnicodeScripts": {"pre_tokenizer": {"type": "UnicodeScripts"}},
    "BertNormalizer": {"normalizer": {"type": "BertNormalizer", "lowercase": True}},
    "Precompiled (SentencePiece's rules)": {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}
    },
    "version 2.0 of the format": {"version": "2.0"},
}


def page() -> str:
    """Returns the page."""
    parts = [
        START,
        "## Merges of bytes\n",
        *table({**BYTE_LEVEL_MODELS, **CHAIN_MODELS}),
        "\n## Merges of characters\n",
        (
            "The vocabularies of SentencePiece as `tokenizer.json`. A `tokenizer.model` loads too, and so does a GGUF file "
            "of the kind `llama`.\n"
        ),
        *table(PIECE_MODELS),
        "\n## Refused\n",
        "What is not byte pair encoding, or not encoded exactly, raises `VocabularyError` with the place in the file:\n",
        *refusals(),
    ]
    return "\n".join(parts) + "\n"


def table(rows: Mapping[str, Row]) -> Iterator[str]:
    """Yields the lines of a table of rows."""
    yield "| models | pattern | splitting | normalizer | tokens |"
    yield "|---|---|---|---|---|"
    for name, row in rows.items():
        if name in REFUSED:
            continue
        file = json.loads(file_of(name))
        cells = [
            row.models,
            pattern_of(row),
            splitting_of(file["pre_tokenizer"]),
            normalizer_of(file["normalizer"]),
        ]
        yield f"| {' | '.join([*cells, ', '.join(peculiarities(file))])} |"


def pattern_of(row: Row) -> str:
    """Returns the name of the pre-tokenizer in `support.catalogue`, or its types."""
    if isinstance(row.chain, str):
        return f"`{row.chain}`"
    return "" if row.chain is None else ", ".join(step["type"] for step in steps_of(row.chain))


def steps_of(component: Any) -> list[Any]:
    """Returns the steps of a pre-tokenizer."""
    if component is None:
        return []
    if component["type"] != "Sequence":
        return [component]
    return [step for part in component["pretokenizers"] for step in steps_of(part)]


def splitting_of(component: Any) -> str:
    """Returns how texts are split, by the core itself."""
    steps = [step for step in steps_of(component) if step["type"] != "Metaspace"]
    # No space is left to split at, in the files that have such a step.
    if all(step.get("pattern") in AT_SPACES for step in steps):
        return "none"
    return "native" if CoreSplitter.of_steps([described(step) for step in steps]).is_native else "general"


def described(step: Any) -> tuple[str, str, str, bool]:
    """Returns a step as the core takes it."""
    kind = step["type"]
    if kind == "Split":
        ((language, pattern),) = step["pattern"].items()
        return language, pattern, step["behavior"], step["invert"]
    if kind == "ByteLevel":
        return "Gpt2" if step["use_regex"] else "ByteLevel", "", "Isolated", False
    return kind, "", step.get("behavior", "Isolated"), step.get("individual_digits", False)


def normalizer_of(component: Any) -> str:
    """Returns the types of the normalizers."""
    if component is None:
        return ""
    parts = component.get("normalizers", [component])
    return ", ".join(part["type"] for part in parts)


def peculiarities(file: Any) -> Iterator[str]:
    """Yields what is said of the tokens of a file."""
    model, added = file["model"], file["added_tokens"]
    if model.get("ignore_merges"):
        yield "whole pieces first"
    if model.get("end_of_word_suffix"):
        yield f"`{model['end_of_word_suffix']}`"
    if model.get("byte_fallback"):
        yield "bytes for unknown characters"
    if any(token["lstrip"] or token["rstrip"] for token in added):
        yield "added tokens take blanks"
    if any(not token["special"] for token in added):
        yield "ordinary added tokens"
    if any(token["normalized"] for token in added):
        yield "added tokens in normalized text"


def refusals() -> Iterator[str]:
    """Yields the lines of the table of what is refused, with the messages."""
    yield "| in the file | message |"
    yield "|---|---|"
    base = json.loads(file_of("gpt2"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        for name, change in CHANGES.items():
            changed = base | change
            if "model" in change:
                model = change["model"]
                changed["model"] = model if "type" in model else base["model"] | model
            path.write_text(json.dumps(changed), encoding="utf-8")
            yield f"| {name} | {refusal(path)} |"
        for name in REFUSED:
            path.write_bytes(file_of(name))
            yield f"| {ROWS[name].models} | {refusal(path)} |"


def refusal(path: Path) -> str:
    """Returns with which message a file is refused."""
    try:
        Encoding.from_file(path)
    except VocabularyError as error:
        return str(error).replace(str(path), "tokenizer.json").replace("|", r"\|")
    raise AssertionError(f"{path.read_bytes()[:100]!r} is not refused")


def main() -> None:
    """Writes or checks the page."""
    written = page()
    if "--check" not in sys.argv[1:]:
        PATH.write_text(written, encoding="utf-8")
    elif PATH.read_text(encoding="utf-8") != written:
        sys.exit(f"{PATH} is not what this program writes: run `make models`")
    print(PATH)


if __name__ == "__main__":
    main()
