"""Features that the page should have, one by one, in a real browser."""

# ruff: noqa: E501, RUF001 - scripts of pages, and the signs that are shown

from __future__ import annotations

import base64
import json
import re
import shlex
import subprocess
import sys
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill import inspection, reference
from bytemill.playground import Playground
from bytemill.playground.loaded import rule_of
from support import command_line
from support.open_models import file_of
from support.page import CODE, IDS, O200K, PASTE, Opened, choose, copied, expect, ids, put, until, wait, write
from support.questions import answered

pytest_plugins = ["support.browser"]


def test_s1_tokenizer_files(opened: Opened, tmp_path: Path) -> None:
    encoding = bytemill.train(["low lower lowest " * 20], 262, name="<img src=x>")
    encoding.save(tmp_path / "mine.bytemill")
    page = opened()
    write(page, "lowest")
    page.set_input_files("#file", tmp_path / "mine.bytemill")
    expect(page.locator("#name-a")).to_have_text("<img src=x>")
    wait(page, encoding.count("lowest"))
    (tmp_path / "bad.json").write_text("{")
    page.set_input_files("#file", tmp_path / "bad.json")
    expect(page.locator("#message")).to_contain_text("bad.json")
    # The tokens are still those of the text.
    assert page.locator("#a").evaluate("e => getComputedStyle(e).opacity") == "1"
    assert page.locator("img").count() == 0


def test_s2_pieces(opened: Opened) -> None:
    page = opened()
    write(page, "hello wörlds")
    page.check("#show-pieces", force=True)
    expect(page.locator("#a .t.piece")).to_have_count(1)
    page.locator("#text").press_sequentially(" again")
    expect(page.locator("#a .t.piece")).to_have_count(2)


def test_s3_merge_tree(opened: Opened) -> None:
    page = opened()
    write(page, "hello wörlds")
    page.click("#a .t >> nth=2")
    page.click("text=merge tree")
    tree = page.locator("#tree")
    expect(tree).to_contain_text("286 2877 123485")
    # What was possible and lost, with its rank.
    page.locator("#tree input").fill("1")
    expect(tree).to_contain_text("Step 1 of 5: “·w” has rank 286, the lowest.")
    for pair in ("ö", "ld"):
        expect(tree).to_contain_text(f"“{pair}” {O200K.encode_single_token(pair)}")
    page.locator("#tree input").fill("5")
    expect(tree).to_contain_text("“lds” has rank 123485, the lowest. No other merge was possible.")
    page.locator("#tree input").fill("0")
    expect(tree).to_contain_text("Single bytes")
    assert tree.locator(".stage .t").all_inner_texts()[2:4] == ["‹c3›", "‹b6›"]


@pytest.mark.filterwarnings("ignore:.*post-processor adds")
@pytest.mark.parametrize(("row", "column"), [("xlm-roberta", "score"), ("bert-uncased", None)])
def test_s3_words_and_scores(
    opened: Opened, folder: Path, tmp_path: Path, row: str, column: str | None
) -> None:
    (tmp_path / "model.json").write_bytes(file_of(row))
    page = opened()
    page.set_input_files("#file", tmp_path / "model.json")
    expect(page.locator("#name-a")).to_have_text("model")
    page.fill("#text", "The keys are returned")
    count = bytemill.Encoding.from_file(tmp_path / "model.json").count("The keys are returned")
    expect(page.locator("#count-a")).to_have_text(f"{count} tokens")
    page.click("#a .t >> nth=2")
    page.click("text=merge tree")
    tree = page.locator("#tree")
    expect(tree.locator(".rows > div").first).to_be_visible()
    expect(tree.locator("h2")).to_have_text("Longest tokens" if column is None else "Scores")
    expect(tree.locator("table")).to_have_count(0 if column is None else 1)
    if column is not None:
        expect(tree.locator("th").last).to_have_text(column)
        assert tree.locator("tr.chosen").count() > 0
    page.screenshot(path=folder / f"explained-{row}.png")


@pytest.mark.parametrize(("rule", "merge"), [("smallest_pair", 8), ("first_seen", 7)])
def test_s4_training(opened: Opened, rule: str, merge: int) -> None:
    page = opened()
    page.click("#tab-training")
    page.locator(".replay").wait_for()
    with answered(page, "train"):
        page.select_option("[aria-label=Ties]", "first_seen" if rule == "smallest_pair" else "smallest_pair")
    with answered(page, "train"):
        page.select_option("[aria-label=Ties]", rule)
    expect(page.locator(".replay")).to_contain_text("tied")
    page.wait_for_timeout(400)
    slider = page.locator("[aria-label='Merges so far']")
    slider.fill("1")
    expect(page.locator(".replay p[role=status]")).to_contain_text(
        "“l” + “o” occurs 400 times and becomes token 256. 2 pairs occur as often"
    )
    slider.fill(str(merge))
    expect(page.locator(".replay p[role=status]")).to_contain_text(f"becomes token {255 + merge}")
    assert "lowest" in " ".join(page.locator(".pieces .active").all_inner_texts())
    slider.fill("0")
    assert all(len(each) == 1 for each in page.locator(".pieces .t").all_inner_texts())
    expect(page.locator(".trial")).to_contain_text("16 tokens")


def test_s4_steps_by_keys_and_by_list(opened: Opened) -> None:
    page = opened()
    page.click("#tab-training")
    where = page.locator(".where")
    expect(where).to_have_text("Merge 19 of 19")
    page.click(".controls [aria-label=Back]")
    expect(where).to_have_text("Merge 18 of 19")
    for key, expected in (
        ("ArrowLeft", "Merge 17 of 19"),
        ("ArrowRight", "Merge 18 of 19"),
        ("Home", "Single bytes"),
        ("End", "Merge 19 of 19"),
    ):
        page.keyboard.press(key)
        expect(where).to_have_text(expected)
    page.click(".merges .item >> nth=7")
    expect(where).to_have_text("Merge 8 of 19")
    page.click(".controls >> text=Play")
    expect(where).to_have_text("Merge 9 of 19")
    page.keyboard.press("Space")
    expect(page.locator(".controls >> text=Play")).to_be_visible()


def test_s4_nothing_to_learn_from(opened: Opened) -> None:
    page = opened()
    page.click("#tab-training")
    page.fill("[aria-label='Text to learn from']", "")
    page.click("#view-training .primary")
    expect(page.locator(".where")).to_have_text("Single bytes")
    assert page.get_attribute(".curve polyline", "points") == "4.0,84.0"


def test_s4_curve_and_ranks_elsewhere(opened: Opened) -> None:
    page = opened()
    page.click("#tab-training")
    slider = page.locator("[aria-label='Merges so far']")
    slider.wait_for()
    points = page.get_attribute(".curve polyline", "points").split()
    assert len(points) == 20
    heights = [float(point.split(",")[1]) for point in points]
    assert heights == sorted(heights)
    label = page.get_attribute(".curve", "aria-label")
    assert label == "Tokens of the text: 4,300 before the first merge, 1,001 after the last"
    slider.fill("2")
    assert float(page.get_attribute(".dot", "cy")) == pytest.approx(heights[2], abs=0.1)
    cl100k = bytemill.get_encoding("cl100k_base")
    rank = cl100k.encode_single_token("low")
    expect(page.locator(".replay")).to_contain_text(f"In cl100k_base, “low” has rank {rank}.")
    slider.fill("12")
    page.fill("[aria-label='Encode with the vocabulary of this step']", "lowest")
    expect(page.locator(".trial small")).to_have_text("1 token")
    slider.fill("0")
    expect(page.locator(".trial small")).to_have_text("6 tokens")
    page.click("text=train_steps in bytemill/reference.py")
    expect(page.locator("#dialog")).to_contain_text("for new_id in range(")


def test_s4_a_merge_that_another_vocabulary_lacks(opened: Opened) -> None:
    page = opened()
    page.click("#tab-training")
    page.fill("#view-training textarea", "qzxqzx " * 20)
    page.click("#view-training .primary")
    expect(page.locator(".replay")).to_contain_text("In cl100k_base, “·qzxqzx” is not a token.")


def test_s5_the_vocabulary_begins_with_the_first_merges(opened: Opened) -> None:
    page = opened()
    page.click("#tab-vocabulary")
    status, first = (
        page.locator("#view-vocabulary [role=status]"),
        page.locator(".hit code:first-child").first,
    )
    expect(page.locator(".hit")).to_have_count(200)
    expect(first).to_have_text("256")
    expect(status).to_have_text("200,000 tokens, the first longer than a byte")
    # Chosen there, it is the encoding of all views; and chosen elsewhere, that of this one.
    page.click("#view-vocabulary .choice")
    page.keyboard.type("gpt2")
    page.keyboard.press("Enter")
    expect(status).to_have_text("50,257 tokens, the first longer than a byte")
    expect(page.locator(".hit").nth(2)).to_have_text("258he68 65")
    page.click("#tab-text")
    expect(page.locator("#name-a")).to_have_text("gpt2")
    choose(page, "encoding", "cl100k")
    page.click("#tab-vocabulary")
    expect(page.locator("#view-vocabulary .choice span")).to_have_text("cl100k_base")
    expect(status).to_have_text("100,261 tokens, the first longer than a byte")
    page.fill("#view-vocabulary input", "#256")
    expect(page.locator(".hit")).to_have_count(1)
    page.fill("#view-vocabulary input", "")
    expect(page.locator(".hit")).to_have_count(200)


def test_s5_vocabulary_search(opened: Opened) -> None:
    page = opened()
    choose(page, "encoding", "gpt2")
    page.click("#tab-vocabulary")
    page.fill("#view-vocabulary input", "Magikarp")
    expect(page.locator(".hit")).to_have_count(3)
    assert re.findall(r"\b\d{5}\b", page.locator(".hits").inner_text()) == ["41538", "42202", "43453"]
    page.fill("#view-vocabulary input", "#5-7")
    expect(page.locator(".hit code:first-child")).to_have_text(["5", "6", "7"])
    page.fill("#view-vocabulary input", "0x204d61676967")
    expect(page.locator("#view-vocabulary [role=status]")).to_contain_text("No token of gpt2")
    page.fill("#view-vocabulary input", "a")
    expect(page.locator(".hit")).to_have_count(200)
    expect(page.locator("#view-vocabulary [role=status]")).to_contain_text("the first 200 of them")
    page.click("#tab-text")
    choose(page, "encoding", "cl100k")
    page.click("#tab-vocabulary")
    page.fill("#view-vocabulary input", "Magikarp")
    expect(page.locator("#view-vocabulary [role=status]")).to_contain_text("No token of cl100k_base")


def test_s1_a_file_without_a_pattern(opened: Opened, tmp_path: Path) -> None:
    encoding = bytemill.train(["low lower lowest " * 20], 262, pattern="gpt2", name="mine")
    lines = (f"{base64.b64encode(value).decode()} {rank}\n" for rank, value in encoding.vocab().items())
    (tmp_path / "mine.tiktoken").write_text("".join(lines), encoding="ascii")
    page = opened()
    write(page, "lowest lower")
    page.set_input_files("#file", tmp_path / "mine.tiktoken")
    expect(page.locator("#message")).to_contain_text("mine.tiktoken has no pattern")
    page.select_option("#pattern", "gpt2")
    page.click("#dialog .primary")
    expect(page.locator("#name-a")).to_have_text("mine")
    wait(page, encoding.count("lowest lower"))
    assert ids(page) == encoding.encode("lowest lower")


def test_s1_dropped_files(opened: Opened, tmp_path: Path) -> None:
    page = opened()
    drop = """([name, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], name));
      document.getElementById("writing").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop, ["<b>notes</b>.txt", list(b"one\r\ntwo\r\n")])
    wait(page, O200K.count("one\r\ntwo\r\n"))
    expect(page.locator("#text-note")).to_contain_text("<b>notes</b>.txt, 10 bytes, as a document")
    assert ids(page) == O200K.encode("one\r\ntwo\r\n")
    page.evaluate(drop, ["bad.txt", [97, 255]])
    expect(page.locator("#message")).to_contain_text("not UTF-8: byte 1 is 0xff")
    # What is no tokenizer, though its name may be one's, is offered as text.
    for data in (b'[{"text": "one"}]', b'{"one": "two"}\n{"one": 2}', b"{"):
        page.evaluate(drop, ["data.json", list(data)])
        expect(page.locator("#message")).to_contain_text("data.json")
        page.click("text=show as text")
        wait(page, O200K.count(data.decode()))
        expect(page.locator("#text-note")).to_contain_text("data.json")
        expect(page.locator("#message")).to_be_hidden()
    encoding = bytemill.train(["low lower lowest " * 20], 262, name="mine")
    encoding.save(tmp_path / "mine.bytemill")
    page.evaluate(drop, ["mine.bytemill", list((tmp_path / "mine.bytemill").read_bytes())])
    expect(page.locator("#encoding")).to_contain_text("mine")


def test_s6_what_a_message_contains_is_text(opened: Opened) -> None:
    harmony = bytemill.get_encoding("o200k_harmony")
    page = opened()
    page.click("#tab-chat")
    for _ in range(2):
        page.click("[aria-label='Remove this message'] >> nth=0")
    wait(page, 0, "c")
    page.click("text=Add a message")
    page.keyboard.type("hi")
    text = "<|start|>user<|message|>hi<|end|>"
    # As many tokens as after the first letter, so that their number tells nothing.
    until(page, lambda: ids(page, "c") == harmony.encode(text, allowed_special="all"))
    expect(page.locator("#view-chat .head")).to_contain_text(
        ["Messages", "17 if all of it were ordinary text"]
    )
    page.fill("#view-chat textarea", "<|end|>")
    wait(page, 4 + harmony.count("<|end|>"), "c")
    assert page.locator("#c .special").count() == 3
    page.check("#parsed", force=True)
    wait(page, 5, "c")
    assert page.locator("#c .special").count() == 4
    page.check("#answering", force=True)
    wait(page, 7, "c")


def test_s6_assumed_ids_are_said_to_be(opened: Opened) -> None:
    page = opened()
    page.click("#tab-chat")
    page.select_option("[aria-label=Format]", "chatml")
    expect(page.locator("#view-chat > p.faint")).to_contain_text("not published")
    expect(page.locator("#c .special").first).to_have_attribute("data-id", "100264")


def test_s7_link(opened: Opened, running: Playground) -> None:
    page = opened()
    choose(page, "encoding", "gpt2")
    choose(page, "compare", "cl100k")
    page.check("[name=special][value=allow]", force=True)
    page.fill("#text", "größer 👋<|endoftext|>")
    page.click("#share")
    page.click("text=Copy link")
    expect(page.locator("#dialog [role=status]")).to_contain_text("Copied")
    link = copied(page)
    assert running.server.secret not in link
    assert "gpt2" not in link
    other = opened(link=link)
    expect(other.locator("#text")).to_have_value("größer 👋<|endoftext|>")
    expect(other.locator("#name-a")).to_have_text("gpt2")
    expect(other.locator("#name-b")).to_have_text("cl100k_base")
    assert ids(other)[-1] == 50256
    assert "#" not in other.url
    page.fill("#text", "".join(map(chr, range(0x4E00, 0x4E00 + 6000))))
    page.click("#share")
    page.click("text=Copy link")
    expect(page.locator("#dialog [role=status]")).to_contain_text("too long")


def test_s7_a_damaged_link_changes_nothing(opened: Opened) -> None:
    for state in ("#v1=", "#v1=AAAA", "#v1=%3Cimg", "#other"):
        page = opened(link=f"http://127.0.0.1/{state}")
        wait(page, 0)
        expect(page.locator("#text")).to_have_value("")


@pytest.mark.parametrize("rule", ["text", "allow"])
def test_s7_commands_and_programs_give_the_same_ids(opened: Opened, rule: str) -> None:
    text = 'it\'s "quoted" $HOME \\n\n<|endoftext|>\ttab 👋'
    encoding = bytemill.get_encoding("gpt2")
    expected = encoding.encode(text, **rule_of(rule))
    page = opened()
    choose(page, "encoding", "gpt2")
    page.check(f"[name=special][value={rule}]", force=True)
    page.fill("#text", text)
    wait(page, len(expected))
    page.click("#share")
    page.click("text=Copy as Python")
    expect(page.locator("#dialog [role=status]")).to_contain_text("Copied")
    names: dict[str, Any] = {}
    exec(copied(page), names)  # noqa: S102 - what a reader would run
    assert names["ids"] == expected
    page.click("text=Copy as command")
    until(page, lambda: copied(page).startswith("bytemill inspect"))
    shown = json.loads(shell(copied(page).removeprefix("bytemill")))
    assert [each["id"] for each in shown["token_list"]] == expected


def shell(arguments: str) -> str:
    """Returns what the command prints when a shell runs it, as JSON."""
    line = f"{shlex.quote(sys.executable)} -m bytemill {arguments.replace(' inspect', ' inspect --json', 1)}"
    environment = command_line.environment()
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, env=environment)  # noqa: S603, S607
    return done.stdout


@pytest.mark.usefixtures("running")
def test_s7_saved_page(opened: Opened, tmp_path: Path) -> None:
    page = opened()
    write(page, CODE)
    page.click("#share")
    with page.expect_download() as download:
        page.click("text=Save page")
    download.value.save_as(tmp_path / "tokens.html")
    saved = (tmp_path / "tokens.html").read_text(encoding="utf-8")
    assert saved == inspection.show(O200K, CODE).page()
    assert "<script" not in saved


def test_s9_find(opened: Opened) -> None:
    page = opened()
    lines = "".join(f"line {i} of many words\n" for i in range(3000))
    put(page, lines + "a needle\n" + lines)
    page.fill("#find", "needle")
    expect(page.locator("#found")).to_have_text("1 of 1")
    assert "".join(page.locator("#a .found").all_inner_texts()) == "·needle"
    expect(page.locator("#a .active")).to_be_in_viewport()
    page.fill("#find", "nothing of this")
    expect(page.locator("#found")).to_have_text("not found")
    write(page, CODE + CODE)
    # Of a large change, counts are a frame ahead of tokens.
    until(page, lambda: ids(page) == O200K.encode(CODE + CODE))
    page.fill("#find", "#4061")
    expect(page.locator("#found")).to_have_text("1 of 2")
    page.press("#find", "Enter")
    expect(page.locator("#found")).to_have_text("2 of 2")
    expect(page.locator("#details")).to_contain_text(f"token {len(IDS) + 3} of")
    page.press("#find", "Shift+Enter")
    expect(page.locator("#found")).to_have_text("1 of 2")
    page.press("#find", "Escape")
    assert page.locator("#a .found").count() == 0


def test_s9_all_places_of_a_token(opened: Opened) -> None:
    page = opened()
    write(page, "the cat and the dog and the end")
    page.click("#a .t >> nth=3")
    page.click("text=all 2 places")
    expect(page.locator("#found")).to_have_text("1 of 2")
    assert page.locator("#a .found").all_inner_texts() == ["·the", "·the"]


def test_s10_equal_tokens_have_equal_colours(opened: Opened) -> None:
    page = opened()
    write(page, "a b a b c a\n" * 20)
    page.click("#more")
    page.check("#alike", force=True)
    found = page.locator("#a .t").evaluate_all(
        "all => all.map(e => [e.dataset.id, getComputedStyle(e).backgroundColor])"
    )
    colours: dict[str, set[str]] = {}
    for token, colour in found:
        colours.setdefault(token, set()).add(colour)
    assert all(len(each) == 1 for each in colours.values())
    page.uncheck("#alike", force=True)
    plain = page.locator("#a .t").evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)")
    assert all(left != right for left, right in pairwise(plain))


def test_s11_statistics(opened: Opened) -> None:
    page = opened()
    text = "the cat and the dog\n你 the end 𓀀"
    encoding = O200K
    write(page, text)
    page.click("#tab-statistics")
    values = encoding.decode_tokens_bytes(encoding.encode(text))
    partial = sum(value.decode(errors="ignore").encode() != value for value in values)
    assert partial
    facts = page.locator(".facts")
    expect(facts).to_contain_text(f"different tokens{len(set(values))} (")
    expect(facts).to_contain_text(f"parts of characters{partial} (")
    expect(facts).to_contain_text(f"longest token{max(map(len, values))} bytes")
    expect(facts).to_contain_text(f"tokens per line{len(values) / 2:.1f}")
    expect(page.locator(".repeated")).to_have_text(re.compile(r"·the ×2"))
    label = page.get_attribute(".lengths", "aria-label")
    assert f"4 bytes: {sum(len(value) == 4 for value in values)}," in label
    page.fill("#text", "changed")
    expect(facts).to_contain_text("different tokens1 (100.0 %)")


def test_s12_parts_of_n_tokens(opened: Opened) -> None:
    page = opened()
    text = "one two three four five six seven eight nine ten 👩‍👩‍👧‍👦"
    write(page, text)
    page.click("#more")
    page.fill("#limit", "4")
    parts = O200K.split(text, 4)
    expect(page.locator("#limit-note")).to_have_text(f"{len(parts)} parts")
    marked = page.locator("#a .part").evaluate_all("all => all.map(e => e.dataset.part)")
    assert marked == [str(i) for i in range(2, len(parts) + 1)]
    at = [
        i
        for i, names in enumerate(page.locator("#a .t").evaluate_all("all => all.map(e => e.className)"))
        if "part" in names.split()
    ]
    values = O200K.decode_tokens_bytes(O200K.encode(text))
    starts = [sum(map(len, values[:i])) for i in at]
    assert starts == list(accumulate(len(part.encode()) for part in parts[:-1]))
    page.fill("#limit", "")
    expect(page.locator("#a .part")).to_have_count(0)


def test_s13_line_ends(opened: Opened) -> None:
    page = opened()
    page.focus("#text")
    page.evaluate(PASTE, "one\r\n\r\ntwo")
    expect(page.locator("#message")).to_contain_text("CR LF")
    wait(page, O200K.count("one\n\ntwo"))
    page.click("#message button")
    # As many tokens as before, so that their number tells nothing.
    until(page, lambda: ids(page) == O200K.encode("one\r\n\r\ntwo"))
    expect(page.locator("#figures-a")).to_contain_text("10 bytes")
    page.evaluate(
        "(e => e.setSelectionRange(e.value.length - 2, e.value.length - 2))(document.getElementById('text'))"
    )
    page.focus("#text")
    page.keyboard.press("ArrowRight")
    assert page.locator("#a .active").inner_text() == "two"
    page.click("#more")
    page.uncheck("#crlf", force=True)
    wait(page, O200K.count("one\n\ntwo"))


def test_line_ends_that_a_text_area_keeps(opened: Opened) -> None:
    page = opened()
    # Some versions of Chromium leave a CR LF that was pasted as it is.
    page.evaluate("""() => {
      const { get, set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
      const kept = { get() { return get.call(this).replaceAll("\\n", "\\r\\n"); }, set };
      Object.defineProperty(document.getElementById("text"), "value", kept);
    }""")
    page.fill("#text", "one\n\ntwo")
    until(page, lambda: ids(page) == O200K.encode("one\n\ntwo"))
    page.click("#more")
    page.check("#crlf", force=True)
    until(page, lambda: ids(page) == O200K.encode("one\r\n\r\ntwo"))


def test_text_as_it_is_written(opened: Opened) -> None:
    page = opened()
    text = "مرحبا بالعالم\nनमस्ते 你𓀀 e\u0301"
    write(page, text)
    page.click("#more")
    page.check("#written", force=True)
    assert page.locator("#a .block").evaluate_all("all => all.map(e => e.textContent).join('')") == text
    assert page.locator("#a .t").count() == O200K.count(text)
    styles = page.locator("#a .t").first.evaluate(
        "e => [getComputedStyle(e).display, getComputedStyle(e).paddingLeft, getComputedStyle(e).unicodeBidi]"
    )
    assert styles == ["inline", "0px", "normal"]
    # Characters that turn directions around or hide text are seen here, too.
    write(page, "אב \u202ecba\u2066\u3164 א\u200cב")
    assert page.locator("#a .block").inner_text() == r"אב \u202ecba\u2066\u3164 " + "א\u200cב"
    write(page, text)
    # Arabic letters join across cuts: the line is as wide as if there were none.
    width = """([element, text]) => {
      const plain = document.createElement('span');
      plain.textContent = text;
      element.append(plain);
      const found = plain.getBoundingClientRect().width;
      plain.remove();
      return found;
    }"""
    block = page.locator("#a .block").element_handle()
    line = page.locator("#a .t").evaluate_all(
        "all => all.slice(0, 4).reduce((sum, e) => sum + e.getBoundingClientRect().width, 0)"
    )
    assert O200K.count("مرحبا بالعالم") == 4
    assert abs(line - page.evaluate(width, [block, "مرحبا بالعالم"])) < 1


def test_a_block_that_is_cut_without_a_line_break(opened: Opened) -> None:
    page = opened()
    write(page, "word " * 900 + "\nend")
    going = page.locator("#a .block").evaluate_all("all => all.map(e => e.classList.contains('goes-on'))")
    assert going[0]
    assert not going[-1]
    assert "↪" in page.locator("#a .block").first.evaluate("e => getComputedStyle(e, '::after').content")


def test_the_way_of_a_text(opened: Opened) -> None:
    page = opened()
    choose(page, "encoding", "gpt2")
    page.check("[name=special][value=allow]", force=True)
    page.fill("#text", "hello wörlds<|endoftext|>")
    way = page.locator("#way")
    expect(way).to_have_text("25 characters1 special token cut outpieces26 bytesmerges6 IDs")
    page.uncheck("#show-pieces", force=True)
    stages = way.locator("button").evaluate_all("all => all.map(e => e.dataset.stage)")
    assert stages == ["text", "special", "pieces", "bytes", "merges", "ids"]
    lines = Path(reference.__file__).read_text(encoding="utf-8").splitlines()
    for stage in stages:
        page.click(f"#way [data-stage={stage}]")
        marked = page.locator("#dialog mark").first
        expect(page.locator("#dialog")).to_have_attribute("aria-label", f"Definition: {stage}")
        number = int(marked.locator("small").inner_text())
        shown = marked.evaluate("e => e.lastChild.textContent")
        assert lines[number - 1].strip() == shown.strip() != ""
        expect(page.locator("#dialog")).to_contain_text(f"reference.py, line {number}")
        page.keyboard.press("Escape")


def test_s8_the_token_at_the_caret_is_outlined(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    page.evaluate("document.getElementById('text').setSelectionRange(5, 5)")
    page.focus("#text")
    page.keyboard.press("ArrowRight")
    assert page.locator("#a .active").inner_text() == "(x"
    # And the reverse.
    page.click("#a .t >> nth=5")
    page.click("#details >> text=in the text")
    assert page.evaluate("document.activeElement.id") == "text"
    selected = page.evaluate(
        "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.getElementById('text'))"
    )
    assert selected == " return"
