"""Invisible characters are seen in every view, whatever hides them."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

import pytest
import regex  # type: ignore[import-untyped]  # noqa: TID251 - what knows the property

import bytemill
from bytemill import inspection
from bytemill._messages import BLANK, is_invisible
from support.command_line import bytemill as run
from support.toys import BYTE_RANKS, ONE_PIECE

BYTES = bytemill.Encoding("bytes", pat_str=ONE_PIECE, mergeable_ranks=BYTE_RANKS, special_tokens={})

ALL = list(map(chr, range(sys.maxunicode + 1)))

# Spaces and line breaks are also what views are laid out with; of surrogates, private use and what is not
# assigned, there are too many.
INVISIBLE = [
    c for c in ALL if is_invisible(c) and c not in " \n" and unicodedata.category(c) not in {"Cs", "Co", "Cn"}
]


def test_blank_characters_are_those_that_the_property_and_categories_say() -> None:
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    assert {c for c in ALL if c.isprintable() and ignorable.match(c)} | set("\u2800\U0001d159") == BLANK


def test_no_view_has_an_invisible_character() -> None:
    # What right-to-left letters are shown with, too, as they have a view more.
    text = "".join(f"a{c}אב " for c in INVISIBLE)
    view = inspection.show(BYTES, text)
    both = inspection.show_both(BYTES, BYTES, text)
    views = {
        "terminal": view.terminal(colour=False, ids=False),
        "colours": re.sub("\x1b\\[[0-9;]*m", "", view.terminal(colour=True, ids=False)),
        "notebook": view._repr_html_(),
        "plain": view._repr_mimebundle_()["text/plain"],
        "page": view.page(),
        "both": both.terminal(colour=False, ids=False),
        "both in a notebook": both._repr_html_(),
        "merges": str(inspection.show_merges(BYTES, text[:400])),
        "training": str(inspection.show_training(text[:400], 20)),
    }
    for name, shown in views.items():
        # These isolate cells in a terminal, and joiners form letters in the text as it is written.
        found = set(shown) & set(INVISIBLE) - {"\u2068", "\u2069", "\u200c", "\u200d"}
        assert not found, (name, found)
        assert "\\u202e" in shown or name in {"merges", "training"}, name


HOSTILE_NAME = "\x1b]0;owned\x07\u202e" + "x" * 300


def test_names_of_encodings_are_shown_escaped_and_short() -> None:
    encoding = bytemill.Encoding(
        HOSTILE_NAME, pat_str=ONE_PIECE, mergeable_ranks=BYTE_RANKS, special_tokens={}
    )
    view = inspection.show(encoding, "a")
    shown = [
        view.terminal(colour=False).partition("\n")[0],
        view.page(),
        view._repr_html_(),
        str(inspection.show_both(encoding, encoding, "a")),
        str(inspection.report(encoding)),
    ]
    for text in [*shown, str(inspection.compare({HOSTILE_NAME: encoding}, {HOSTILE_NAME: ["a"]}))]:
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
        assert r"\x1b]0;owned\x07\u202e" in text
    assert not any("x" * 80 in text for text in shown)


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "x.bytemill", "a"],
        ["inspect", "x.bytemill"],
        ["inspect", "x.bytemill", "--id", "999999"],
        ["convert", "x.bytemill", "-o", "y.bytemill"],
        ["verify", "x.bytemill", "--against", "x.bytemill", "a.txt"],
        ["verify", "x.bytemill", "--against", "gpt2", "a.txt"],
        ["compare", "x.bytemill", "gpt2", "a.txt"],
        ["count", "-e", "x.bytemill", "a.txt", "\x1b[31mb.txt"],
        ["count", "-e", "gpt2", "c.jsonl"],
        ["encode", "-e", "gpt2", "c.jsonl", "--field", "a"],
    ],
)
def test_no_command_writes_controls_from_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    bytemill.Encoding(HOSTILE_NAME, pat_str=ONE_PIECE, mergeable_ranks=BYTE_RANKS, special_tokens={}).save(
        "x.bytemill"
    )
    for name in ("a.txt", "\x1b[31mb.txt"):
        Path(name).write_text("a \u202e\n", encoding="utf-8")
    Path("c.jsonl").write_text(json.dumps({"\x1b]0;owned\x07\u202e": "x"}) + "\n", encoding="utf-8")
    called = run(*arguments)
    assert called.out + called.err
    assert not set(called.out + called.err) & set(INVISIBLE)
