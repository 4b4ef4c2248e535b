"""The files of the page: complete, small, and without anything from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pygments.lexers.javascript import JavascriptLexer  # type: ignore[import-untyped]  # comes with pytest
from pygments.token import Comment  # type: ignore[import-untyped]

import bytemill
from bytemill.playground.files import squeezed, static_files, stripped

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "python" / "bytemill" / "playground" / "static"
FILES = {name: content.decode() for name, (_, content) in static_files().items()}
SCRIPTS = {name: content for name, content in FILES.items() if name.endswith(".js")}


IMPORT = re.compile(r"""(?:^|(?<=;))(?:import|export)\b[^;]*?from"\./([a-z]+\.js)";""", re.MULTILINE)
LATER = re.compile(r"""import\("\./([a-z]+\.js)"\)""")


def loaded_at_first() -> set[str]:
    """Returns the names of all files that the browser asks for when it opens the page."""
    found, waiting = {"", "app.css"}, ["main.js"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += IMPORT.findall(FILES[name])
    return found


def test_size() -> None:
    # With the views that are loaded when they are opened.
    assert sum(len(content.encode()) for content in FILES.values()) <= 100_000


def test_every_import_is_there() -> None:
    imported = {
        found for content in SCRIPTS.values() for each in (IMPORT, LATER) for found in each.findall(content)
    }
    assert {"main.js"} | imported == set(SCRIPTS)
    assert {"training.js", "tree.js", "chat.js"}.isdisjoint(loaded_at_first())


def test_modules_are_asked_for_at_once() -> None:
    preloaded = re.findall(r"<link rel=modulepreload href=([a-z]+\.js)>", FILES[""])
    assert sorted(preloaded) == sorted(loaded_at_first() - {"", "app.css", "main.js"})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("\tlet a = 1; // one\n\n\t// two\n\tlet b;\n", "let a = 1; // one\nlet b;\n"),
        ("/** of one line */\nlet a;\n", "let a;\n"),
        ("/**\n * of several\n * @param {a} b\n */\nlet a;\n", "let a;\n"),
        ("\t/** @type {A} */ (a).b();\n", "/** @type {A} */ (a).b();\n"),
        ("/** @type {A} */ a; /* b */\n", "/** @type {A} */ a; /* b */\n"),
        ("a {\n  b: c;\n}\n", "a {\nb: c;\n}\n"),
    ],
)
def test_what_is_stripped(source: str, expected: str) -> None:
    assert stripped(source) == expected
    assert stripped(expected) == expected


@pytest.mark.parametrize(
    ("suffix", "source", "expected"),
    [
        ("js", "const a = (b) => ({ c: [b, 1], });\n", "const a=b=>({c:[b,1]});\n"),
        ("js", "on(async (a) => {\n\tb;\n});\n", "on(async(a)=>{b});\n"),
        ("js", 'return "a = ( b )" + `, ${c} ;`;\n', 'return "a = ( b )"+`, ${c} ;`;\n'),
        ("js", "a = `${b ? `, ${c}` : d}`, e;\n", "a = `${b ? `, ${c}` : d}`, e;\n"),
        ("js", "a = /** @type {B} */ (b.c).d;\n", "a=b.c.d;\n"),
        ("js", "a = b + +c - -d;\n", "a=b + +c - -d;\n"),
        ("js", "a\n\t.b(\n\t\tc,\n\t)\n\t? d\n\t: e;\n", "a.b(c)?d:e;\n"),
        ("js", "let a = 1;\nlet b;\n", "let a=1;let b;\n"),
        ("js", "if (a) {\n\tb;\n}\nc = d - e / f % g++ + h;\n", "if(a){b}c=d-e/f%g+++h;\n"),
        ("css", "a :is(b), c { d: e f; g: h }\n.i { j: k; }\n", "a :is(b),c{d:e f;g:h}.i{j:k}\n"),
        ("css", 'a::b { c: "d ; e"; f: calc(1px + 2px) }\n', 'a::b{c:"d ; e";f:calc(1px + 2px)}\n'),
        ("css", "a > b { c: d }\n", "a>b{c:d}\n"),
        ("js", 'import { a } from "./b.js";\nc;\n', 'import{a}from"./b.js";c;\n'),
        ("html", '<a b="c-d.e" f="g h" i="">\n', '<a b=c-d.e f="g h" i="">\n'),
        ("html", "<p>\n  a  b\n</p>\n\n<p></p>\n", "<p>\na  b\n</p><p></p>\n"),
    ],
)  # fmt: skip
def test_what_is_squeezed(suffix: str, source: str, expected: str) -> None:
    assert squeezed(source, suffix) == expected
    assert squeezed(expected, suffix) == expected


def words(script: str) -> list[str]:
    """Returns the tokens of a script but those that may be left out."""
    found = JavascriptLexer().get_tokens(script)
    return [value for kind, value in found if kind not in Comment and value.strip() and value not in "(),;"]


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_scripts_are_the_same_programs_as_their_sources(name: str) -> None:
    source = words((STATIC / name).read_text(encoding="utf-8"))
    assert words(SCRIPTS[name]) == source
    assert len(source) > 50


@pytest.mark.parametrize("path", sorted(STATIC.iterdir()), ids=lambda path: path.name)
def test_nothing_but_comments_and_indentation_is_stripped(path: Path) -> None:
    # A text of several lines would lose its indentation: a line ends in one only where an expression begins.
    inside = False
    for line in map(str.strip, path.read_text(encoding="utf-8").splitlines()):
        if line.startswith(("//", "/*", "*")):
            continue
        if line.count("`") % 2:
            assert line.startswith("}") if inside else line.endswith("${"), line
            inside = not inside
    assert not inside
    # The end of a comment of several lines is the end of its line.
    for comment in re.findall(
        r"^\s*/\*(?:(?!\*/).)*\n.*?\*/(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        assert comment.split("\n")[0] == ""


def test_nothing_from_elsewhere() -> None:
    for name, content in FILES.items():
        # The name of SVG is the only one that looks like an address; nobody fetches it.
        assert not re.search(r"(?:https?:)?//(?!www\.w3\.org/2000/svg)[a-z0-9-]+\.[a-z]", content), name
        assert "@import" not in content
        assert "url(" not in content


def test_no_markup_from_strings_and_nothing_inline() -> None:
    for name, content in SCRIPTS.items():
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\(|srcdoc|DOMParser",
            content,
        )
        assert not found, name
        source = (STATIC / name).read_text(encoding="utf-8")
        assert source.startswith("// @ts-check"), name
        assert source.count("\n") <= 400, name
    page = FILES[""]
    assert " style=" not in page
    assert "<style" not in page
    assert not re.search(r"\son[a-z]+=", page)
    assert all(found.strip() == "" for found in re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL))


def test_the_wheel_has_the_files() -> None:
    # maturin takes every file below the package; nothing may keep these out.
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'python-source = "python"' in settings
    assert "exclude" not in re.findall(r"\[tool\.maturin\](.*?)\n\[", settings, re.DOTALL)[0]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert not any(line.strip("/*") in ("static", "js", "css", "html") for line in ignored)


# Tokens of the presets by gpt2, cl100k_base and o200k_base, on which what they state depends.
PRESETS = {
    "Python indentation": [8, 2, 2],
    "Digits": [16, 18, 18],
    "Korean": [79, 36, 25],
    "Hindi": [32, 20, 9],
    "Arabic": [12, 10, 4],
    "SolidGoldMagikarp": [1, 5, 5],
    "Trailing space": [12, 12, 11],
    ".DefaultCellStyle": [4, 1, 3],
    "Special tokens": [7, 7, 7],
    "Capital letters": [16, 13, 12],
    "Letters": [3, 3, 3],
    "JSON": [11, 12, 12],
    "YAML": [8, 9, 9],
    "A family": [14, 18, 11],
    "Two kinds of é": [4, 3, 3],
}


def presets() -> dict[str, str]:
    """Returns the texts of the presets in the page by their names."""
    found = re.findall(
        r"name:(\"[^\"]*\"),text:(\"(?:[^\"\\]|\\.)*\"|'[^']*'),",
        FILES["presets.js"],
    )
    return {
        json.loads(name): json.loads('"' + text[1:-1].replace('"', '\\"') + '"' if text[0] == "'" else text)
        for name, text in found
    }


def test_all_presets_are_found() -> None:
    assert list(presets()) == list(PRESETS)
    assert len(PRESETS) == FILES["presets.js"].count("why:")


@pytest.mark.parametrize("name", PRESETS)
def test_counts_of_presets(name: str) -> None:
    encodings = map(bytemill.get_encoding, ("gpt2", "cl100k_base", "o200k_base"))
    assert [encoding.count(presets()[name]) for encoding in encodings] == PRESETS[name]


def test_facts_that_presets_state() -> None:
    gpt2, cl100k = bytemill.get_encoding("gpt2"), bytemill.get_encoding("cl100k_base")
    o200k = bytemill.get_encoding("o200k_base")
    assert gpt2.encode(" SolidGoldMagikarp") == [43453]
    assert gpt2.count("SolidGoldMagikarp") == 2
    assert cl100k.encode(".DefaultCellStyle") == [98518]
    assert gpt2.encode("<|endoftext|>", allowed_special="all") == [50256]
    text = "Here is a tagline for an ice cream shop:"
    assert o200k.count(text + " ") == o200k.count(text) + 1
    assert o200k.encode(text + " ")[-1] == 220
    assert len("👩‍👩‍👧‍👦".encode()) == 25
