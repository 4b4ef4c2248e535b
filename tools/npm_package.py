"""Puts the npm package together.

    python tools/npm_package.py FOLDER --module FILE --count FILE

FOLDER is made anew, ready for `npm pack`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

from static_playground import PAGE, ROOT, TABLES, VOCABULARIES

import bytemill
from bytemill.builtin import BUILTIN_ENCODINGS
from bytemill.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING
from bytemill.patterns import PATTERNS

SOURCE = ROOT / "wasm" / "npm"


def build(folder: Path, module: Path, count: Path) -> None:
    """Writes the package to a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder)
    for name in ("engine.js", "sha256.js"):
        shutil.copy(PAGE / name, folder)
    shutil.copy(ROOT / "LICENSE", folder)
    shutil.copy(module, folder / "bytemill.wasm")
    shutil.copy(count, folder / "count.wasm")
    hashes = {}
    for name in VOCABULARIES:
        table = (TABLES / f"{name}.merges").read_bytes()
        (folder / f"{name}.merges").write_bytes(table)
        hashes[name] = hashlib.sha256(table).hexdigest()
    tables = {name: VOCABULARIES[each.vocabulary] for name, each in BUILTIN_ENCODINGS.items()}
    constants = {
        "ENCODINGS": ("Record<string, string[]>", tables),
        "MODELS": ("Record<string, string>", MODEL_TO_ENCODING),
        "MODEL_PREFIXES": ("Record<string, string>", MODEL_PREFIX_TO_ENCODING),
        "PATTERNS": ("Record<string, string>", PATTERNS),
        "TABLES": ("Record<string, string>", hashes),
    }
    lines = []
    for name, (kind, value) in constants.items():
        contents = json.dumps(value, ensure_ascii=False, indent="\t")
        lines.append(f"/** @type {{{kind}}} */\nexport const {name} = {contents};")
    (folder / "data.js").write_text("// @ts-check\n\n" + "\n\n".join(lines) + "\n", "utf-8")
    description = json.loads((folder / "package.json").read_text("utf-8"))
    description["version"] = bytemill.__version__
    (folder / "package.json").write_text(json.dumps(description, indent=2) + "\n", "utf-8")


def main() -> None:
    """Builds the package."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--module", type=Path, required=True, metavar="FILE", help="the library in WebAssembly"
    )
    parser.add_argument(
        "--count", type=Path, required=True, metavar="FILE", help="the same without files and patterns"
    )
    options = parser.parse_args()
    build(options.folder, options.module, options.count)


if __name__ == "__main__":
    main()
