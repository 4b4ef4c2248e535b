"""The page about open models: which families load from their own file, and how; what is refused.

    PYTHONPATH=tests:benches python -m programs.models_page            writes docs/models.md
    PYTHONPATH=tests:benches python -m programs.models_page --check    fails if the page is not what this writes

Everything in the tables is read from the files in `support.open_models`, which the tests compare with
`tokenizers`: each row has a test. Speeds are those that `make bench-families` recorded.
"""

# ruff: noqa: E501, T201 - a program that prints lines of Markdown

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bytemill import Encoding
from bytemill.errors import VocabularyError
from harness.models import Cell
from report import families
from report.page import times
from support.open_models import (
    BYTE_LEVEL_MODELS,
    CHAIN_MODELS,
    PIECE_MODELS,
    REFUSED,
    ROWS,
    SCORE_MODELS,
    WORD_MODELS,
    file_of,
)
from support.open_models.components import Row
from support.open_models.folders import FOLDERS, SENTENCEPIECE

__all__ = ["page"]

PATH = Path(__file__).parents[2] / "docs" / "models.md"

START = """\
---
hide:
  - toc
---

# Models

`Encoding.from_file` reads a model's own `tokenizer.json` for all families below. bytemill downloads nothing: get the file
first, for example with `hf download Qwen/Qwen3-8B tokenizer.json`, and pass the model's name or the file's path.

```py
encoding = bytemill.Encoding.from_file("tokenizer.json")  # or the folder of the model
ids = encoding.encode("hello world")

tokenizer = transformers.AutoTokenizer.from_pretrained("Qwen/Qwen3-8B")
bytemill.hf.accelerate(tokenizer)  # speeds up this tokenizer, in place
```

[From Hugging Face](guides/from-huggingface.md) shows both in detail.

**What is compared.** Each row below is a test: token IDs, offsets and decoded text are the same as those of `tokenizers`
0.23.3, on texts in all scripts, code, added tokens in many contexts and random strings. The published files are not part
of this repository, so the test files are small stand-ins: they have the published normalizer, pre-tokenizer, added
tokens, template and decoder, with a small vocabulary. Published SentencePiece models and ranks of Mistral and the
published encodings of OpenAI are compared as they are. The [ledger](ledger.md) lists how much text each file was compared
on. To compare a published file with `tokenizers`, run `bytemill verify --ledger tokenizer.json`, with texts of your own if
you like.

If two published files of a model differ, each has a row and is followed exactly. Offsets may differ in one way:
`Encoding.encode_with_offsets` applies no post-processor, so tokens keep their spaces where the post-processor trims
offsets (`trim_offsets` in RoBERTa, GPT-2 and ModernBERT). `bytemill.hf` trims them.
"""

SPEEDS = """\
**Speed** is in MB/s, on one thread, for documents of 4 KB in many scripts and of code: medians of the texts. *Array* is
`encode_to_numpy`, *list* is `encode`; *cold* is text that the process has never seen, *warm* is text that it has seen.
For speed, the stand-ins have a vocabulary of full size: that of cl100k_base, or of Mistral v1. Families with much lower
numbers than their neighbours have a split pattern that runs on a general engine. {source}.
"""

COLUMNS_START = """\
*Normalizer* lists the steps before splitting. *Ordinary added tokens* are those that are not special: they are always
recognised, special tokens only if `allowed_special` names them. With `ignore_merges`, a piece that is a token is that
token, whatever its merges are.
"""

FOLDERS_START = """\
Some models have no `tokenizer.json`. `Encoding.from_file` reads their folder without further arguments. Token IDs are
those of tiktoken or of SentencePiece: [From Hugging Face](guides/from-huggingface.md#folders-without-a-tokenizerjson) has
the details.
"""

# Models whose folder has pieces of SentencePiece.
PIECES = "Llama 2, CodeLlama, Mistral v1 to v3, Mixtral, Gemma 1 to 3, Yi, and others"

CHANGES: dict[str, dict[str, Any]] = {
    "a type of model that is not known": {"model": {"type": "Other", "vocab": {"a": 0}}},
    "BPE with dropout": {"model": {"dropout": 0.1}},
    "UnicodeScripts": {"pre_tokenizer": {"type": "UnicodeScripts"}},
    "Precompiled without a map": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}},
    "version 2.0 of the format": {"version": "2.0"},
}


def page() -> str:
    """Returns the page, with speeds if they were measured."""
    cells = families.recorded()
    speeds = families.speeds(cells)
    parts = [
        START,
        *([SPEEDS.format(source=families.source())] if cells else []),
        COLUMNS_START,
        "## Byte-level BPE\n",
        *table({**BYTE_LEVEL_MODELS, **CHAIN_MODELS}, speeds),
        "\n## SentencePiece BPE\n",
        (
            "SentencePiece vocabularies as `tokenizer.json`. A `tokenizer.model` loads as well, and so does a GGUF file "
            "of the kind `llama`.\n"
        ),
        *table(PIECE_MODELS, speeds),
        "\n## WordPiece and WordLevel\n",
        *table(WORD_MODELS, speeds),
        "\n## Unigram\n",
        "A SentencePiece `.model` of the type Unigram, word or character loads as well, with the token IDs of sentencepiece.\n",
        *table(SCORE_MODELS, speeds),
        "\n## Folders\n",
        FOLDERS_START,
        *folders(speeds),
        *(["\n## The general engine\n", *general(cells)] if cells else []),
        *(["\n## Tokens of blanks\n", *blanks(cells)] if families.shares(cells) else []),
        "\n## Not supported\n",
        "Other kinds of tokenizers, and files that bytemill cannot follow exactly, raise `VocabularyError`:\n",
        *refusals(),
    ]
    return "\n".join(parts) + "\n"


def table(rows: Mapping[str, Row], speeds: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a table of rows."""
    yield from head(["models", "normalizer", "tokens"], speeds)
    for name, row in rows.items():
        if name in REFUSED:
            continue
        file = json.loads(file_of(name))
        cells = [
            row.models,
            normalizer_of(file["normalizer"]),
            ", ".join(peculiarities(file)),
        ]
        yield line(cells, name, speeds)


def head(columns: list[str], speeds: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields the head of a table, with columns of speeds if they were measured."""
    columns = [*columns, *(what.replace(",", "") for what in families.COLUMNS)] if speeds else columns
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"


def line(cells: list[str], name: str, speeds: Mapping[str, Sequence[str]]) -> str:
    """Returns the line of a family in a table."""
    missing = ["-"] * len(families.COLUMNS)
    return f"| {' | '.join([*cells, *(speeds.get(name, missing) if speeds else ())])} |"


def folders(speeds: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields the lines of the table of folders."""
    yield from head(["models", "file, recognised by"], speeds)
    for name, folder in FOLDERS.items():
        yield line([folder.models, f"`{folder.ranks}`, {folder.sign}"], name, speeds)
    yield line([PIECES, "`tokenizer.model`, its first bytes"], SENTENCEPIECE, speeds)


def general(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields what was measured of the general engine."""
    yield (
        "The split patterns of most families have a scanner of their own. All others run on a general engine, with the same "
        "token IDs. The table shows its speed compared with tokenizers 1.0.0rc3, to lists, for five patterns whose scanner is "
        "switched off. Ratio = bytemill / tokenizers; above 1x, bytemill is faster.\n"
    )
    yield "| pattern | cold | warm |"
    yield "|---|---|---|"
    for name, ratios in families.times_candidate(cells, "general").items():
        cold, warm = (times(ratios[state]) for state in ("cold", "warm"))
        yield f"| {name.removesuffix(' by the general engine')} | {cold} | {warm} |"


def blanks(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields what tokens of blanks cost."""
    yield (
        "Some models have an added token for each run of 2 to 24 spaces or more, which ends the text that is split. The table "
        "shows the speed of arrays compared with that of the same file without these tokens, on the text where it is lowest.\n"
    )
    yield "| models | cold | warm |"
    yield "|---|---|---|"
    for name, shares in families.shares(cells).items():
        cold, warm = (times(shares[state]) for state in ("cold", "warm"))
        yield f"| {ROWS[name].models} | {cold} | {warm} |"


def normalizer_of(component: Any) -> str:
    """Returns the types of the normalizers."""
    if component is None:
        return ""
    parts = component.get("normalizers", [component])
    return ", ".join(part["type"] for part in parts)


def peculiarities(file: Any) -> Iterator[str]:
    """Yields what is peculiar to the tokens of a file."""
    model, added = file["model"], file["added_tokens"]
    if model.get("ignore_merges"):
        yield "`ignore_merges`"
    if model.get("end_of_word_suffix"):
        yield f"`{model['end_of_word_suffix']}`"
    if model.get("byte_fallback"):
        yield "byte fallback"
    if any(token["lstrip"] or token["rstrip"] for token in added):
        yield "added tokens strip spaces"
    if any(not token["special"] for token in added):
        yield "ordinary added tokens"
    if any(token["normalized"] for token in added):
        yield "added tokens are normalized"


def refusals() -> Iterator[str]:
    """Yields the lines of the table of files that are not supported, with the messages."""
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
