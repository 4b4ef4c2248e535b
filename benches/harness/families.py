"""Measures the files of all families of open models: ids first, then time.

    python -m benches families --corpus DIR

The file of a family has its normalizer, pre-tokenizer, added tokens and decoder, and what is peculiar to its
model, as in `support.open_models`; the vocabulary is one of full size: cl100k's, or that of Mistral's first
model for families that merge characters. Folders without a `tokenizer.json` are measured as they are, beside
a `tokenizer.json` with their tokens and chain. Runs and figures are those of `harness.models`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import bytemill
from bytemill.formats.huggingface import format_tokenizer
from bytemill.patterns import R50K_PATTERN
from harness import record
from harness.corpora import read_texts
from harness.engines import installed
from harness.model_files import VOCABULARY, Files, write_chain, write_sentencepiece
from harness.model_tasks import SUITE
from harness.models import CANDIDATE_VERSION, Cell, Model, measure
from harness.suites import CANDIDATE, OURS
from harness.vocabularies import tokenizer_json
from report import families as report
from support.catalogue import PRE_TOKENIZERS
from support.open_models import (
    BYTE_LEVEL_MODELS,
    CHAIN_MODELS,
    PIECE_MODELS,
    REFUSED,
    ROWS,
    SCORE_MODELS,
    WORD_MODELS,
)
from support.open_models.components import Row
from support.open_models.folders import FOLDERS, SENTENCEPIECE
from support.open_models.splitting import splitting_of

# Chains that both have scanners for: what the general engine is compared with the release candidate by, which
# refuses nearly all other patterns.
GENERAL = {
    f"{chain} by the general engine": chain for chain in ("LLAMA3", "QWEN2", "O200K", "TEKKEN", "DEEPSEEK3")
}
NOTHING = r"|[^\s\S]"


def is_blanks(token: Mapping[str, Any]) -> bool:
    """Returns whether an added token is a run of white space."""
    return len(token["content"]) > 1 and token["content"].isspace()


# Families whose added tokens are runs of spaces, among others, and the same files without these tokens.
WITHOUT_BLANKS = {
    f"{name}{report.WITHOUT}": name
    for name, row in {**BYTE_LEVEL_MODELS, **CHAIN_MODELS}.items()
    if name not in REFUSED and sum(map(is_blanks, row.contents()["added_tokens"])) > 1
}


@cache
def bytes_model() -> str:
    """Returns a model of bytes of full size, as JSON."""
    model: Any = json.loads(tokenizer_json(bytemill.get_encoding(VOCABULARY)))["model"]
    return json.dumps(model | {"ignore_merges": False})


@cache
def characters_model(folder: Path) -> str:
    """Returns a model of characters of full size, as JSON, from a file that is written into a folder."""
    file = write_sentencepiece(folder)["tokenizers"]
    return json.dumps(json.loads(file.read_text(encoding="utf-8"))["model"])


def row_file(row: Row, folder: Path) -> dict[str, Any]:
    """Returns the file of a family with a vocabulary of full size.

    Models of words, those with scores, and those with a suffix for the end of a word keep their own
    vocabulary: no other has such tokens.
    """
    own = [*WORD_MODELS.values(), *SCORE_MODELS.values()]
    if not dict(row.options).get("end_of_word_suffix") and row not in own:
        whole = characters_model(folder) if row in PIECE_MODELS.values() else bytes_model()
        row = replace(row, vocabulary=lambda _chain, _normalizer: json.loads(whole))
    # Texts are measured whole.
    return row.contents() | {"truncation": None, "padding": None}


def files_of(name: str, folder: Path) -> tuple[str, Files]:
    """Writes the files of a family, and returns how its texts are split, and what each engine reads."""
    if name == SENTENCEPIECE:
        return "none", write_sentencepiece(folder)
    theirs = folder / "tokenizer.json"
    if name in GENERAL:
        contents = json.loads(write_chain(GENERAL[name], None, folder)["tokenizers"].read_bytes())
        ours = folder / "unrecognised.json"
        contents["pre_tokenizer"] = unrecognised(contents["pre_tokenizer"])
        ours.write_text(json.dumps(contents), encoding="utf-8")
        return splitting_of(contents["pre_tokenizer"]), {OURS: ours, "tokenizers": theirs, CANDIDATE: theirs}
    if name in FOLDERS:
        ours = folder / "own"
        FOLDERS[name].write(ours, bytemill.get_encoding(VOCABULARY)._mergeable_ranks)
        contents = folder_file(bytemill.Encoding.from_file(ours), FOLDERS[name].chain)
    elif name in WITHOUT_BLANKS:
        ours = theirs
        contents = row_file(ROWS[WITHOUT_BLANKS[name]], folder)
        contents["added_tokens"] = [token for token in contents["added_tokens"] if not is_blanks(token)]
    else:
        ours = theirs
        contents = row_file(ROWS[name], folder)
    theirs.write_text(json.dumps(contents), encoding="utf-8")
    files = {OURS: ours, "tokenizers": theirs, CANDIDATE: theirs}
    kind = "words" if name in WORD_MODELS else "scores" if name in SCORE_MODELS else None
    return kind or splitting_of(contents["pre_tokenizer"]), files


def unrecognised(component: dict[str, Any]) -> dict[str, Any]:
    """Returns a pre-tokenizer whose patterns have an alternative that matches nothing, and so no scanner."""
    steps = [
        step | {"pattern": {"Regex": step["pattern"]["Regex"] + NOTHING}} if step["type"] == "Split" else step
        for step in component["pretokenizers"]
    ]
    return component | {"pretokenizers": steps}


def folder_file(encoding: bytemill.Encoding, chain: str) -> dict[str, Any]:
    """Returns the file of an encoding with a chain, whose pattern need not have an equal of Oniguruma."""
    definition = encoding.definition
    written = definition.tokenizer or format_tokenizer(definition._replace(splitting=R50K_PATTERN))
    contents: dict[str, Any] = json.loads(written)
    return contents | {"pre_tokenizer": PRE_TOKENIZERS[chain]}


def names() -> Iterator[str]:
    """Yields the families, in the order of the page."""
    yield from (
        name
        for name in [*BYTE_LEVEL_MODELS, *CHAIN_MODELS, *PIECE_MODELS, *WORD_MODELS, *SCORE_MODELS]
        if name not in REFUSED
    )
    yield from (*FOLDERS, SENTENCEPIECE, *GENERAL, *WITHOUT_BLANKS)


def measured(name: str, texts: Sequence[Path], rounds: int) -> Iterator[Cell]:
    """Yields the cells of a family."""
    with tempfile.TemporaryDirectory() as folder:
        kind, files = files_of(name, Path(folder))
        for text in texts:
            yield from measure(Model(name=name, kind=kind, files=files), text, rounds)


def main(arguments: Sequence[str]) -> int:
    """Measures, prints and writes; the exit code is 1 if our ids differ from those of `tokenizers`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--families", metavar="A;B", type=lambda value: value.split(";"), help="only these")
    parser.add_argument("--rounds", type=int, default=1, help="for each figure (default: %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    options = parser.parse_args(arguments)
    cells: list[Cell] = []
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for corpus, text in read_texts(options.corpus, SUITE["families"]["corpus_bytes"]).items():
            paths.append(Path(folder) / f"{corpus}.txt")
            paths[-1].write_text(text, encoding="utf-8", newline="")
        for name in options.families or names():
            cells += measured(name, paths, options.rounds)
    versions = {engine: installed(engine) for engine in (OURS, "sentencepiece", "tokenizers")}
    head = record.description() | {
        "versions": versions | {CANDIDATE: CANDIDATE_VERSION},
        "arguments": record.given(options, "corpus", "families", "rounds"),
    }
    # First, so that nothing that was measured is lost.
    if options.output is not None:
        record.write(options.output, head, cells=cells)
    print("\n".join(report.lines(cells)))
    return 0 if all(cell.ids_equal for cell in cells if cell.engine == OURS) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
