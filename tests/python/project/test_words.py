"""How the project writes about itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]

# First lines are imperative or noun phrases: "Returns ...", "Number of ...".
UNWANTED = re.compile(r"(?:Gives|Tells|What)\b")


def python_docstrings() -> Iterator[tuple[Path, str]]:
    """Yields the docstrings of all modules, classes and functions."""
    for folder in ("python", "tests", "benches", "fuzz", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    docstring = ast.get_docstring(node)
                    if docstring:
                        yield path, docstring


def rust_docstrings() -> Iterator[tuple[Path, str]]:
    """Yields the blocks of `///` and `//!` lines of all Rust files."""
    for folder in ("src", "tests", "benches", "fuzz/targets", "tools"):
        for path in sorted((ROOT / folder).rglob("*.rs")):
            block: list[str] = []
            for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
                found = re.match(r"\s*//[/!] ?(.*)", line)
                if found:
                    block.append(found[1])
                elif block:
                    yield path, "\n".join(block)
                    block = []


def test_docstrings_begin_with_what_a_thing_does_or_is() -> None:
    docstrings = [*python_docstrings(), *rust_docstrings()]
    assert len(docstrings) > 3000
    assert [(path, text) for path, text in docstrings if UNWANTED.match(text)] == []


# Phrases that readers stumble over, each with an example that it finds. One line says what to write instead.
STUMBLES = {
    # Write "If there are several, the first is used."
    r"\b[Oo]f (?:several|some|two)(?: \w+){0,5}, (?:the|that|one|only)\b": "of several, the first",
    # Name the subject, and what the code does with it: "Invalid UTF-8 raises ValueError."
    r"(?:^|(?<=[.!?] ))What (?:[^.?!:]|\.\w)*\b(?:is|are|becomes|stands|counts)\b(?:[^.?!]|\.\w)*[.;]": (
        "What a file cannot hold is refused."
    ),
    r"\bWhat becomes of\b": "What becomes of bytes that are not UTF-8",
    r"\b(?:is|are) told\b(?! apart)": "what differs is told",
    # Write "compared with".
    r"\bbeside (?:tiktoken|tokenizers|sentencepiece|the (?:original|definition|reference)|texts?)\b": (
        "ids beside tiktoken and tokenizers"
    ),
    # Write "same as tokenizers".
    r"\bas there\b(?! (?:is|are|was|were|may)\b)": "Arguments are checked as there: a flag must be one.",
    r"\b[Ww]hoever\b": "whoever has the address can use the page",
    r"\b[Nn]obody\b": "a copy that nobody writes to",
    # Write "resumes" or "continues".
    r"\b(?:go|goes|going|went) on (?:where|with|from|after)\b": "The next run goes on where this one ended.",
    r"\bbrought near\b": "names that are brought near",
    # Name the number: "at most `max_tokens` tokens".
    r"\bso many\b(?! \w+ that\b)": "a part of at most so many tokens",
    r"\bfor want of\b": "killed, perhaps for want of memory",
    r"\breckon with\b": "reckon with 60 GB and more",
    r"\bwill do\b": "the rows of an array will do",
    # Write "is not an integer".
    r"(?<!there )(?<!There )\bis no (?:encoding|model|integer|string|str|list|mapping|tokenizer|number)\b": (
        "`limit` is no integer"
    ),
}


def written() -> Iterator[tuple[Path, str]]:
    """Yields what users read, a paragraph at a time: pages, docstrings and messages."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        code = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
        text = code.sub("", page.read_text(encoding="utf-8"))
        for paragraph in re.split(r"\n\n|^#.*$|^\|", text, flags=re.MULTILINE):
            yield page, " ".join(paragraph.split())
    for path in sorted((ROOT / "python" / "bytemill").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for paragraph in node.value.split("\n\n"):
                    yield path, " ".join(paragraph.split())


def test_nothing_that_users_read_is_a_riddle() -> None:
    found = [
        (str(path.relative_to(ROOT)), match[0])
        for path, text in written()
        for pattern in STUMBLES
        if (match := re.search(pattern, text))
    ]
    assert found == []


def test_stumbles_are_found() -> None:
    for pattern, example in STUMBLES.items():
        assert re.search(pattern, example), pattern
    for plain in (
        "If several are given, the first is used.",
        "What differs? The names.",
        "as there are no others",
        "so many tokens that they do not fit",
        "There is no model of that name.",
        "a folder beside the output",
    ):
        assert [pattern for pattern in STUMBLES if re.search(pattern, plain)] == [], plain
