"""Compare vocabularies in GGUF files with the token IDs that llama.cpp keeps beside them.

    python -m programs.gguf_files DIR

llama.cpp's folder `models` has files `ggml-vocab-*.gguf`, each with texts in `.gguf.inp` and, in `.gguf.out`,
the IDs that the model's own tokenizer gives. Exits with 1 if there is any difference; a file that is refused
is listed with the reason, and files without texts are left out.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import bytemill
from bytemill.errors import VocabularyError

SEPARATOR = "\n__ggml_vocab_test__\n"


def differences(path: Path) -> tuple[int, list[str]]:
    """Returns the number of texts of a file, and those whose IDs differ."""
    with warnings.catch_warnings():
        # Of what is added to each text.
        warnings.simplefilter("ignore")
        encoding = bytemill.Encoding.from_file(path)
    texts = path.with_suffix(".gguf.inp").read_bytes().decode().split(SEPARATOR)
    lines = path.with_suffix(".gguf.out").read_text("utf-8").splitlines()
    pairs = list(zip(texts, lines, strict=False))
    return len(pairs), [
        text
        for text, line in pairs
        if encoding.encode_ordinary(text) != [int(number) for number in line.split()]
    ]


def main() -> int:
    """Compares all files of a folder."""
    paths = [
        path for path in sorted(Path(sys.argv[1]).glob("*.gguf")) if path.with_suffix(".gguf.out").exists()
    ]
    if not paths:
        sys.exit(f"{sys.argv[1]}: expected files ggml-vocab-*.gguf with .inp and .out beside them, got none")
    failed = False
    for path in paths:
        try:
            count, different = differences(path)
        except VocabularyError as error:
            print(f"{path.name}: refused: {error}")
            continue
        failed |= bool(different) or not count
        print(f"{path.name}: {count} texts, {len(different)} differences", *map(repr, different[:3]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
