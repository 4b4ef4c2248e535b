"""Checks that a wheel has the files of the package and no others, and serves the playground's page from it.

    PYTHONPATH=tests python -m programs.check_wheel FOLDER [TAG]

FOLDER holds one wheel, whose name has TAG, such as `cp311-abi3`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

STATIC = Path("bytemill") / "playground" / "static"
SOURCE = Path(__file__).parents[2] / "python"
# How names of compiled modules begin: for one version, for every version, for either on Windows.
COMPILED = ("bytemill/_core.cp", "bytemill/_core.abi3.", "bytemill/_core.pyd")

# Run on what the wheel unpacks to.
PROGRAM = """
import sys
import bytemill
from urllib.request import urlopen
from bytemill import playground
from bytemill.playground.files import static_files

assert bytemill.__file__.startswith(sys.argv[1]), bytemill.__file__
with playground.start("hello", open_browser=False) as running:
    for name, (_, content) in static_files().items():
        assert urlopen(running.url + name, timeout=20).read() == content, name
print(len(static_files()), "files are served from the wheel")
"""


def check_names(names: list[str]) -> None:
    """Compares the names of a wheel's files with the package's, and ends the program where they differ."""
    metadata = [name for name in names if name.split("/")[0].endswith(".dist-info")]
    missing = [
        end
        for end in ("/licenses/LICENSE", "/METADATA", "/WHEEL", "/RECORD")
        if not any(name.endswith(end) for name in metadata)
    ]
    modules = {name for name in names if name not in metadata and not name.startswith(COMPILED)}
    package = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "bytemill").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".so", ".pyd"}
    }
    compiled = len(names) - len(metadata) - len(modules)
    if missing or modules != package or compiled != 1 or "bytemill/py.typed" not in modules:
        different = sorted(modules ^ package)
        sys.exit(f"a wheel lacks {missing}, has {compiled} compiled modules, and other files: {different}")


def main(folder: Path, tag: str = "") -> None:
    """Unpacks the wheel, compares its name and files with what is expected, and serves them."""
    [wheel] = folder.glob("*.whl")
    if f"-{tag}" not in wheel.name:
        sys.exit(f"expected a wheel for {tag}, got {wheel.name}")
    with tempfile.TemporaryDirectory() as unpacked, zipfile.ZipFile(wheel) as archive:
        check_names(archive.namelist())
        archive.extractall(unpacked)
        expected = {path.name: path.read_bytes() for path in (SOURCE / STATIC).iterdir()}
        found = {path.name: path.read_bytes() for path in (Path(unpacked) / STATIC).iterdir()}
        if found != expected:
            sys.exit(
                f"{wheel.name} has other files than the source: {sorted(found.keys() ^ expected.keys())}"
            )
        # Isolated, so that the wheel is found before what is installed.
        program = f"import sys; sys.path.insert(0, sys.argv[1])\n{PROGRAM}"
        subprocess.run([sys.executable, "-I", "-c", program, str(Path(unpacked))], check=True)  # noqa: S603 - our own


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
