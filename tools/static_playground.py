"""Builds the playground as a static page, which holds the library in WebAssembly.

    python tools/static_playground.py FOLDER --module FILE

FOLDER is made anew. The page is that of the package with another `transport.js` (wasm/page); what the server
would read from the package is written to `data.json`. Module and tables have a part of their hash in their
names, so that a browser may keep them for ever. Any server of static files can serve the folder, below any
path.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from bytemill.builtin import BUILTIN_ENCODINGS
from bytemill.inspection.token_report import MEANING, SCRIPTS
from bytemill.patterns import PATTERNS
from bytemill.playground import DEFAULT_TEXT
from bytemill.playground.answers import FORMATS, STAGES, definition_of
from bytemill.playground.files import squeezed, static_files
from bytemill.playground.loaded import Loaded

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "wasm" / "page"
TABLES = ROOT / "src" / "builtin"

# The tables of each vocabulary, as `Builtin::tables` has them.
VOCABULARIES = {"r50k": ["r50k"], "p50k": ["r50k", "p50k"], "cl100k": ["cl100k"], "o200k": ["o200k"]}

# The header of the server, as far as a meta element can say it; the module needs to be compiled, and the
# worker's address to be trusted.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types bytemill"
)
HEAD = '<meta charset="utf-8">'
MAIN = '<script type="module" src="main.js"></script>'
# It starts the worker, and needs one other module, so it runs long before main.js, which needs all.
TRANSPORT = (
    '<link rel="modulepreload" href="wire.js">\n<script type="module" async src="transport.js"></script>'
)
HEAD_END = "</head>"
FOOT = '<span id="foot" class="faint"></span>'
PROMISE = "Nothing that you type leaves this page."


def replaced(text: str, old: str, new: str) -> str:
    """Returns a text with its one occurrence of another replaced."""
    if text.count(old) != 1:
        sys.exit(f"expected {old!r} once, got it {text.count(old)} times")
    return text.replace(old, new)


def added(folder: Path, contents: bytes, name: str) -> tuple[str, str]:
    """Writes a file whose name has a part of its hash; returns that name, and the hash."""
    digest = hashlib.sha256(contents).hexdigest()
    stem, _, suffix = name.rpartition(".")
    file = f"{stem}.{digest[:8]}.{suffix}"
    (folder / file).write_bytes(contents)
    return file, digest


def index(first: list[str]) -> bytes:
    """Returns the page with its policy and its promise.

    Args:
        first: The files that the worker asks for first. The page preloads them: they arrive while it starts.
    """
    text = (ROOT / "python/bytemill/playground/static/index.html").read_text("utf-8")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    text = replaced(text, HEAD, f"{HEAD}\n{policy}")
    preloads = [f'<link rel="preload" as="fetch" crossorigin href="{file}">' for file in first]
    text = replaced(text, MAIN, f"{TRANSPORT}\n{MAIN}")
    text = replaced(text, HEAD_END, "\n".join([*preloads, HEAD_END]))
    text = replaced(text, FOOT, f'<span class="faint">{PROMISE}</span>{FOOT}')
    return squeezed(text, "html").encode()


def data(module: str, tables: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Returns what the worker answers from."""
    loaded = Loaded()
    known = [each for each in loaded.described() if each["name"] in BUILTIN_ENCODINGS]
    return {
        "state": {"text": DEFAULT_TEXT, "encoding": "o200k_base", "compare": None},
        "encodings": known,
        "details": {each["name"]: loaded.details(each["name"]) for each in known},
        "patterns": PATTERNS,
        "stages": {name: definition_of(name) for name in STAGES},
        "formats": {name: form._asdict() for name, form in FORMATS.items()},
        "meanings": MEANING,
        "scripts": SCRIPTS,
        "tables": tables,
        "vocabularies": {
            name: VOCABULARIES[definition.vocabulary] for name, definition in BUILTIN_ENCODINGS.items()
        },
        "module": module,
    }


def build(folder: Path, module: Path) -> None:
    """Writes the page to a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, (_, contents) in static_files().items():
        (folder / (name or "index.html")).write_bytes(contents)
    for path in PAGE.glob("*.js"):
        (folder / path.name).write_text(squeezed(path.read_text("utf-8"), "js"), "utf-8")
    tables = {}
    for name in ("r50k", "p50k", "cl100k", "o200k"):
        file, digest = added(folder, (TABLES / f"{name}.merges").read_bytes(), f"{name}.merges")
        tables[name] = {"file": file, "sha256": digest}
    file, _ = added(folder, module.read_bytes(), "bytemill.wasm")
    answers = data(file, tables)
    text = json.dumps(answers, ensure_ascii=False, separators=(",", ":"))
    (folder / "data.json").write_text(text, "utf-8")
    needed = [tables[name]["file"] for name in answers["vocabularies"][answers["state"]["encoding"]]]
    (folder / "index.html").write_bytes(index(["data.json", file, *needed]))


def main() -> None:
    """Builds the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--module", type=Path, required=True, metavar="FILE", help="the library in WebAssembly"
    )
    options = parser.parse_args()
    build(options.folder, options.module)


if __name__ == "__main__":
    main()
