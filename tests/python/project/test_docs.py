"""The README and every page of docs/: examples run, links lead somewhere, the reference is complete.

The blocks of a page run in order, in a folder of their own. In `python` blocks, which share their names, a
comment that begins with a value says what its line gives. In `console` blocks bash runs the lines that begin
with `$ ` (one that ends in a backslash goes on in the next), and all lines below say what is printed; a line
of three dots stands for any lines. The exit code is 0.
"""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bytemill
from report import readme_chart
from support.examples import VALUE, run_python

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

BLOCKS = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Generated entries of the reference.
ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))

LINK = re.compile(r"\]\(([^)\s]+)\)")
LINKING = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "fuzz" / "README.md"]
REPOSITORY = "https://github.com/bytemill/bytemill"
SITE = "https://bytemill.github.io/bytemill/"
# Where files of the repository are shown.
FILES = (f"{REPOSITORY}/blob/main/", "https://raw.githubusercontent.com/bytemill/bytemill/main/")

# A command with the lines that it goes on in, and what is said to be printed.
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@pytest.fixture
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `bytemill` and `python`: those that are tested, wherever the tests run."""
    folder = tmp_path_factory.mktemp("commands")
    for name, options in (("bytemill", "-m bytemill "), ("python", "")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {options}"$@"\n')
        path.chmod(0o755)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page(page: Path, commands: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.setenv("COLUMNS", "80")
    names: dict[str, Any] = {}
    for kind, block in BLOCKS.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            run_python(block, names)
        else:
            run_console(block)


# --- The site ---


def test_the_navigation_names_every_page_once() -> None:
    named = re.findall(
        r"^ +- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(named) == sorted(page.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:])


def test_no_title_is_in_the_navigation_twice() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    titles = re.findall(r"^ +- (.*):", text, re.MULTILINE)
    assert len(titles) > 40
    assert len(titles) == len(set(titles))


def test_addresses_agree_with_those_of_the_package() -> None:
    """`[project.urls]` is the one place of the addresses; nothing else names another repository or site."""
    urls = re.search(r"^\[project\.urls\]\n((?:.+\n)+)", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert urls is not None
    known = dict(re.findall(r'^(\w+) = "(.*)"$', urls[1], re.MULTILINE))
    assert known["Repository"] == REPOSITORY
    owner, name = REPOSITORY.split("/")[-2:]
    for path in [ROOT / "Cargo.toml", ROOT / "mkdocs.yml", *LINKING]:
        for address in re.findall(r"https://github\.com/(\S+?/[\w.-]+)", path.read_text(encoding="utf-8")):
            assert "bytemill" not in address or address == f"{owner}/{name}", path
        for site in re.findall(r"https://[\w.-]*\.github\.io/\S*", path.read_text(encoding="utf-8")):
            assert "bytemill" not in site or site.startswith(known["Documentation"]), path


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page: its headings, as mkdocs and GitHub name them, and its generated entries."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    slugs = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"\s", "-", slug) for slug in slugs} | set(ENTRY.findall(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", LINKING, ids=[str(page.relative_to(ROOT)) for page in LINKING])
def test_links_lead_somewhere(page: Path) -> None:
    text = prose(page)
    for link in [*LINK.findall(text), *re.findall(r'(?:src|srcset|href)="([^"]+)"', text)]:
        if base := next((base for base in FILES if link.startswith(base)), None):
            target, anchor = ROOT / link.removeprefix(base), ""
        elif link.startswith(SITE):
            path, _, anchor = link.removeprefix(SITE).partition("#")
            target = ROOT / "docs" / (f"{path.removesuffix('/')}.md" if path else "index.md")
            if path == "try/":
                # The static page, which `make site` builds.
                target = ROOT / "wasm" / "page" / "worker.js"
        elif link.startswith(("https://", "http://")):
            assert not link.startswith("https://github.com/bytemill/") or link.startswith(REPOSITORY), link
            continue
        else:
            path, _, anchor = link.partition("#")
            target = page if not path else (page.parent / path).resolve()
            if (ROOT / "docs") in page.parents:
                assert (ROOT / "docs") in target.parents, f"{link} leads out of the site"
        assert target.is_file(), link
        if target.suffix == ".md" and anchor not in {"", "only-light", "only-dark"}:
            assert anchor in anchors(target), link


def test_the_readme_can_be_shown_anywhere() -> None:
    """On the page of a package index, relative links and pictures lead nowhere."""
    text = prose(ROOT / "README.md")
    links = [*LINK.findall(text), *re.findall(r'(?:src|srcset|href)="([^"]+)"', text)]
    assert len(links) > 30
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_readme_says_what_it_is() -> None:
    """In the field's words, before the first picture."""
    start = (ROOT / "README.md").read_text(encoding="utf-8").partition("<picture>")[0]
    for word in ("tokenizer library", "tiktoken", "transformers", "Llama 3", "Qwen", "DeepSeek", "Mistral"):
        assert word in start, word


def test_the_badge_of_tests_names_a_workflow() -> None:
    named = re.findall(
        r"actions/workflow/status/bytemill/bytemill/([\w.]+)", (ROOT / "README.md").read_text()
    )
    assert named
    for name in named:
        assert (ROOT / ".github" / "workflows" / name).is_file()


def test_the_reference_names_what_is_there() -> None:
    named = [name for page in REFERENCE for name in ENTRY.findall(page.read_text(encoding="utf-8"))]
    for name in named:
        assert pkgutil.resolve_name(name) is not None
    assert len(named) == len(set(named))
    for name in set(bytemill.__all__) - {"__version__"}:
        described = getattr(bytemill, name)
        whole = {f"bytemill.{name}", described.__module__}
        assert whole & set(named), f"{name} is in no page of docs/reference"


# --- The examples ---


def test_values_are_found() -> None:
    """The examples are full of values; were they not recognised, nothing would be compared."""
    found = {}
    for page in PAGES:
        blocks = (
            block for kind, block in BLOCKS.findall(page.read_text(encoding="utf-8")) if kind == "python"
        )
        found[page.name] = sum(
            VALUE.search(line) is not None for block in blocks for line in block.splitlines()
        )
    assert found["README.md"] >= 6
    assert found["pipeline.md"] >= 30
    assert sum(found.values()) >= 50


def run_console(block: str) -> None:
    """Runs the commands of a block and compares what they print."""
    commands = COMMAND.findall(block)
    assert sum(len(command) + len(said) + 3 for command, said in commands) == len(block), (
        "text before a command"
    )
    for command, said in commands:
        result = subprocess.run(  # noqa: S603 - our own pages
            ["bash", "-c", command],  # noqa: S607 - as readers run it
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=60,
        )
        assert result.returncode == 0, f"{command}\n{result.stdout}"
        expected = "".join(
            "(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in said.splitlines()
        )
        assert re.fullmatch(expected, result.stdout), f"{command}\n{result.stdout}"


def test_the_chart_shows_what_was_measured() -> None:
    for path, content in readme_chart.charts().items():
        assert path.read_text(encoding="utf-8") == content, "run `make bench-report`"


def test_examples_can_fail() -> None:
    run_python("one = 1  # 1, and more\n", {})
    run_console("$ echo a; echo b; echo c\na\n...\nc\n")
    with pytest.raises(AssertionError):
        run_python("one = 1  # 2\n", {})
    for wrong in (
        "$ echo a\nb\n",
        "$ echo a\n",
        "$ false\n",
        "$ echo a; echo b\n...\na\n",
        "a\n$ echo a\na\n",
    ):
        with pytest.raises(AssertionError):
            run_console(wrong)


def test_guarantees_name_tests_that_are_there() -> None:
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    names = re.findall(r"`([\w/]+\.(?:py|rs))`", page)
    assert len(names) > 30
    for name in names:
        found = [ROOT / name] if "/" in name else [*(ROOT / "tests").rglob(name)]
        assert len(found) == 1, name
        assert found[0].is_file(), name


def test_the_map_names_what_is_there() -> None:
    """Paths of the map exist: below the root, the Python package, or the first folder of their row."""
    page = (ROOT / "docs" / "internals" / "source.md").read_text(encoding="utf-8")
    package = ROOT / "python" / "bytemill"
    for line in page.splitlines():
        names = re.findall(r"`([\w./]+(?:/|\.\w+))`", line)
        for name in names:
            folders = [ROOT, package, ROOT / names[0], package / names[0]]
            assert any((folder / name).exists() for folder in folders), name


def test_the_map_has_every_folder() -> None:
    page = (ROOT / "docs" / "internals" / "source.md").read_text(encoding="utf-8")
    for parent, entry in (("src", "`src/{}/"), ("python/bytemill", "`{}/`"), ("tests/python", "`{}`")):
        for path in (ROOT / parent).iterdir():
            if path.is_dir() and path.name[0] not in "_.":
                assert entry.format(path.name) in page, path


def test_lists_have_no_gaps() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"^(?:- |  \S).*\n\n- ", text, re.MULTILINE), page.name
