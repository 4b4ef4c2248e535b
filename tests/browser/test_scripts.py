"""The scripts can be parsed as they are served; that they are the same programs is tested elsewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from bytemill._messages import is_invisible, printable
from bytemill.inspection.token import visible
from bytemill.playground.files import static_files
from support.chromium import missing


def deno(*arguments: str) -> str:
    """Returns what deno prints."""
    found = shutil.which("deno", path=str(Path(sys.executable).parent)) or shutil.which("deno")
    if found is None:
        missing("no deno: pip install --group browser")
    done = subprocess.run([found, *arguments], capture_output=True, text=True, check=True)  # noqa: S603 - our own call
    return done.stdout


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with the scripts as they are served."""
    for name, (_, content) in static_files().items():
        if name.endswith(".js"):
            (tmp_path / name).write_bytes(content)
    return tmp_path


def test_served_scripts_can_be_parsed(served: Path) -> None:
    graph = json.loads(deno("info", "--json", str(served / "main.js")))
    assert {Path(each["local"]).name for each in graph["modules"]} == {each.name for each in served.iterdir()}
    assert [each["error"] for each in graph["modules"] if "error" in each] == []


# Deno's Unicode may know characters that Python's does not, and the other way round: those are left out.
SIGNS_OF_ALL = r"""
import { visible, written } from "BYTES";
const encoder = new TextEncoder();
const found = {};
for (let code = 0; code < 0x110000; code++) {
  const c = String.fromCodePoint(code);
  if (/\p{Cs}|\p{Co}|\p{Cn}/u.test(c)) continue;
  const bytes = encoder.encode(`a${c}`);
  const signs = [visible(bytes), written(bytes)];
  if (signs[0] !== `a${c}`) found[code] = signs;
}
console.log(JSON.stringify(found));
"""


def test_signs_are_those_of_the_terminal(served: Path, tmp_path: Path) -> None:
    script = tmp_path / "signs.mjs"
    script.write_text(SIGNS_OF_ALL.replace("BYTES", (served / "bytes.js").as_uri()), encoding="utf-8")
    found = {chr(int(code)): signs for code, signs in json.loads(deno("run", "--quiet", str(script))).items()}
    invisible = [
        c
        for c in map(chr, range(sys.maxunicode + 1))
        if is_invisible(c) and unicodedata.category(c) not in {"Cs", "Co", "Cn"}
    ]
    found = {c: signs for c, signs in found.items() if unicodedata.category(c) != "Cn"}
    assert sorted(found) == invisible
    kept = " \n\t\u200c\u200d"
    for c, (sign, written) in found.items():
        assert sign == visible(f"a{c}".encode())
        assert written == (f"a{c}" if c in kept else printable(f"a{c}"))
