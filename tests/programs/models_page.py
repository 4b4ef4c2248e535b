"""The page about open models: which families load from their own file, and how; what is refused.

    PYTHONPATH=tests:benches python -m programs.models_page            writes docs/models.md
    PYTHONPATH=tests:benches python -m programs.models_page --check    fails if the page is not what this writes

Everything in the tables is read off the files in `support.open_models`, which the tests compare with
`tokenizers`: a row is there because its test is. Speeds are those that `make bench-families` recorded.
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
from bytemill.errors import VocabularyError
from report import families
from support.catalogue import PRE_TOKENIZERS
from support.open_models import BYTE_LEVEL_MODELS, CHAIN_MODELS, PIECE_MODELS, REFUSED, ROWS, file_of
from support.open_models.components import Row
from support.open_models.folders import FOLDERS, SENTENCEPIECE
from support.open_models.splitting import splitting_of, steps_of

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

SPEEDS = """\
*MB/s* are those of `encode_to_numpy`, then of `encode` to lists, each on text that the process has never seen and on text
that it has: one thread, documents of 4 KB in many scripts and of code, medians of the texts. The files that are measured
have a vocabulary of full size, cl100k's or that of Mistral's first model, in place of the small one. Ids are compared
with `tokenizers` first. {source}.
"""

FOLDERS_START = """\
Models that come without a `tokenizer.json` are read from their folder, with no argument. The ids are those of tiktoken,
or of SentencePiece, as the [guide](guides/from-huggingface.md#folders-without-a-tokenizerjson) says.
"""

# Models whose folder has pieces of SentencePiece.
PIECES = "Llama 2, CodeLlama, Mistral v1 to v3, Mixtral, Gemma 1 to 3, Yi, and others"

# How many ids there are before special tokens, in the folders that are read for the page.
BYTES = {bytes([byte]): byte for byte in range(256)}

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
    """Returns the page, with speeds if they were measured."""
    cells = families.recorded()
    speeds = families.speeds(cells)
    parts = [
        START,
        *([SPEEDS.format(source=families.source())] if cells else []),
        "## Merges of bytes\n",
        *table({**BYTE_LEVEL_MODELS, **CHAIN_MODELS}, speeds),
        "\n## Merges of characters\n",
        (
            "The vocabularies of SentencePiece as `tokenizer.json`. A `tokenizer.model` loads too, and so does a GGUF file "
            "of the kind `llama`.\n"
        ),
        *table(PIECE_MODELS, speeds),
        "\n## Folders\n",
        FOLDERS_START,
        *folders(speeds),
        *(["\n## The general engine\n", *general(cells)] if cells else []),
        "\n## Refused\n",
        "What is not byte pair encoding, or not encoded exactly, raises `VocabularyError` with the place in the file:\n",
        *refusals(),
    ]
    return "\n".join(parts) + "\n"


def table(rows: Mapping[str, Row], speeds: Mapping[str, str]) -> Iterator[str]:
    """Yields the lines of a table of rows."""
    yield from head(["models", "pattern", "splitting", "normalizer", "tokens"], speeds)
    for name, row in rows.items():
        if name in REFUSED:
            continue
        file = json.loads(file_of(name))
        cells = [
            row.models,
            pattern_of(row),
            splitting_of(file["pre_tokenizer"]),
            normalizer_of(file["normalizer"]),
            ", ".join(peculiarities(file)),
        ]
        yield line(cells, name, speeds)


def head(columns: list[str], speeds: Mapping[str, str]) -> Iterator[str]:
    """Yields the head of a table, with a column of speeds if they were measured."""
    columns = [*columns, "MB/s"] if speeds else columns
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"


def line(cells: list[str], name: str, speeds: Mapping[str, str]) -> str:
    """Returns the line of a family in a table."""
    return f"| {' | '.join([*cells, speeds.get(name, 'not measured')] if speeds else cells)} |"


def folders(speeds: Mapping[str, str]) -> Iterator[str]:
    """Yields the lines of the table of folders, which are written and read."""
    yield from head(
        ["models", "file", "recognised by", "pattern", "splitting", "normalizer", "special tokens"], speeds
    )
    for name, folder in FOLDERS.items():
        with tempfile.TemporaryDirectory() as path:
            folder.write(Path(path), BYTES)
            encoding = Encoding.from_file(path)
        normalizer = ""
        if encoding.definition.tokenizer is not None:
            normalizer = normalizer_of(json.loads(encoding.definition.tokenizer)["normalizer"])
        cells = [
            folder.models,
            f"`{folder.ranks}`",
            folder.sign,
            f"`{folder.chain}`",
            splitting_of(PRE_TOKENIZERS[folder.chain]),
            normalizer,
            str(encoding.n_vocab - len(BYTES)),
        ]
        yield line(cells, name, speeds)
    yield line(
        [PIECES, "`tokenizer.model`", "its first bytes", "", "none", "its own", "its own"],
        SENTENCEPIECE,
        speeds,
    )


def general(cells: list[Any]) -> Iterator[str]:
    """Yields what was measured of the general engine."""
    others = ", ".join(families.refused(cells))
    yield (
        "Lists of ids by the general engine beside those of tokenizers 1.0.0rc3, medians of the texts, for chains that both "
        f"have scanners for: here these are not used. That version refuses the files of these families, or gives other ids: {others or 'none'}.\n"
    )
    yield "| chain or family | cold | warm |"
    yield "|---|---|---|"
    for name, times in families.times_candidate(cells, "general").items():
        yield f"| {name} | {times['cold']:.1f}x | {times['warm']:.1f}x |"
    yield ""
    yield from (f"- {verdict}" for verdict in families.verdicts(cells))


def pattern_of(row: Row) -> str:
    """Returns the name of the pre-tokenizer in `support.catalogue`, or its types."""
    if isinstance(row.chain, str):
        return f"`{row.chain}`"
    return "" if row.chain is None else ", ".join(step["type"] for step in steps_of(row.chain))


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
