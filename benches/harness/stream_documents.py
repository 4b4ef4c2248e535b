"""Builds a stream: documents that all differ, from the files of folders or of Debian packages.

    PYTHONPATH=tests:benches python -m harness.stream_documents --output STREAM.jsonl [FOLDER ...]

Without folders, the packages of `PACKAGES` are downloaded with `apt-get` and unpacked: help pages in 34
languages, the C sources of Linux, a dictionary. The same packages, or folders, and size give the same bytes.
Each line of the result is a JSON string.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path

LANGUAGES = (
    *(
        "ca",
        "cs",
        "da",
        "de",
        "dz",
        "el",
        "en-gb",
        "en-us",
        "es",
        "et",
        "eu",
        "fi",
        "fr",
        "gl",
        "hi",
        "hu",
        "id",
    ),
    *("it", "ja", "km", "ko", "nl", "om", "pl", "pt", "pt-br", "ru", "sk", "sl", "sv", "tr", "vi", "zh-cn"),
    "zh-tw",
)
PACKAGES = [*(f"libreoffice-help-{language}" for language in LANGUAGES), "linux-source-6.1", "dict-gcide"]

MEGABYTES = 510

# Smaller documents are mostly headings; of larger ones, generated tables are most.
LEAST_BYTES, MOST_BYTES = 500, 1 << 20

SUFFIXES = frozenset({".c", ".h", ".html", ".md", ".py", ".rs", ".rst", ".txt"})

UNSEEN = re.compile(r"(?s)<(head|script|style|noscript)\b.*?</\1>|<!--.*?-->")
TAG = re.compile(r"(?s)<[^>]*>")
BLANK_LINES = re.compile(r"\s*\n\s*\n\s*")


def text_of_page(page: str) -> str:
    """Returns the text of an HTML page, a paragraph for each."""
    return BLANK_LINES.sub("\n\n", unescape(TAG.sub("", UNSEEN.sub("", page)))).strip()


def documents(path: Path) -> Iterator[str]:
    """Yields the documents of a file: itself, or, of a dictionary, some entries at a time."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return
    if path.suffix == ".html":
        text = text_of_page(text)
    for start in range(0, len(text), MOST_BYTES):
        yield text[start : start + MOST_BYTES]


def files_of(folder: Path) -> list[Path]:
    """Returns the files of a folder in an order that mixes languages and kinds, by hashes of their names."""
    found = (path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    regular = [path for path in found if path.is_file() and not path.is_symlink()]
    return sorted(
        regular, key=lambda path: hashlib.sha256(str(path.relative_to(folder)).encode("utf-8")).digest()
    )


def stream(folders: Sequence[Path], size: int) -> Iterator[str]:
    """Yields documents of all folders in turn, none of them twice, `size` bytes in all or a little more.

    A folder that has no more leaves its turns to the others.
    """
    seen: set[bytes] = set()

    def of_folder(folder: Path) -> Iterator[str]:
        for path in files_of(folder):
            for document in documents(path):
                digest = hashlib.sha256(document.encode()).digest()
                if len(document.encode()) >= LEAST_BYTES and digest not in seen:
                    seen.add(digest)
                    yield document

    # The folder with the fewest bytes so far is next.
    turns = {number: of_folder(folder) for number, folder in enumerate(folders)}
    written = dict.fromkeys(turns, 0)
    while turns and sum(written.values()) < size:
        number = min(turns, key=written.__getitem__)
        document = next(turns[number], None)
        if document is None:
            del turns[number]
            continue
        written[number] += len(document.encode())
        yield document


def unpack_packages(folder: Path) -> list[Path]:
    """Downloads and unpacks the packages, and returns a folder for each kind of text."""
    packages = folder / "packages"
    packages.mkdir()
    subprocess.run(["apt-get", "download", "-qq", *PACKAGES], cwd=packages, check=True)
    kinds = {
        "libreoffice-help": folder / "help",
        "linux-source": folder / "source",
        "dict": folder / "dictionary",
    }
    for package in sorted(packages.glob("*.deb")):
        into = next(path for prefix, path in kinds.items() if package.name.startswith(prefix))
        subprocess.run(["dpkg", "-x", str(package), str(into)], check=True)
    for archive in kinds["linux-source"].rglob("*.tar.xz"):
        with tarfile.open(archive) as file:
            file.extractall(kinds["linux-source"], filter="data")
    for dictionary in kinds["dict"].rglob("*.dict.dz"):
        with dictionary.open("rb") as file:
            data = subprocess.run(["gzip", "-dc"], stdin=file, check=True, capture_output=True).stdout
        dictionary.with_suffix(".txt").write_text(data.decode(errors="replace"), encoding="utf-8")
    return list(kinds.values())


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="instead of packages")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help="default: %(default)s")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Builds the stream; the exit code is 1 if the folders have too little text."""
    options = parse_arguments(arguments)
    size = options.megabytes * 1_000_000
    written = count = 0
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as name, options.output.open("wb") as file:
        for document in stream(options.folders or unpack_packages(Path(name)), size):
            line = json.dumps(document, ensure_ascii=False).encode() + b"\n"
            digest.update(line)
            file.write(line)
            written += len(document.encode())
            count += 1
    print(f"{options.output}: {count} documents, {written / 1e6:.1f} MB, SHA-256 {digest.hexdigest()}")
    return 0 if written >= size else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
