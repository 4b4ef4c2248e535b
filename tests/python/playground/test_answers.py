"""Answers of the playground to its page: tokens, chats, definitions, files."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import bytemill
from bytemill import inspection, playground, reference
from bytemill.inspection.traces import MOST_MERGES, MOST_TEXT
from bytemill.patterns import PATTERNS
from bytemill.playground import Playground
from bytemill.playground.answers import ENDPOINTS, FORMATS, STAGES, Message, chat_tokens
from bytemill.playground.loaded import Loaded
from bytemill.playground.wire import unpack
from support.requests import answer, ask, problem
from support.timing import assert_in_proportion
from support.tokenizer_files import file


@pytest.fixture(scope="module")
def running() -> Iterator[Playground]:
    with playground.start("hello", open_browser=False) as started:
        yield started


def test_start(running: Playground) -> None:
    assert answer(running, "start") == {"text": "hello", "encoding": "o200k_base", "compare": None}


def test_encodings(running: Playground) -> None:
    found = answer(running, "encodings")
    names = [each["name"] for each in found["encodings"]]
    assert names == bytemill.list_encoding_names()
    by_name = {each["name"]: each for each in found["encodings"]}
    assert "gpt-4o" in by_name["o200k_base"]["models"]
    for name, each in by_name.items():
        assert (each["tokens"], each["ranks"]) == (bytemill.get_encoding(name).n_vocab, True)
    assert "cl100k" in found["patterns"]


def test_encodings_while_a_file_is_opened() -> None:
    loaded = Loaded()
    ranks = {bytes([byte]): byte for byte in range(256)}

    class Growing(bytemill.Encoding):
        """An encoding that another request follows while it is described."""

        @property
        def n_vocab(self) -> int:
            loaded.add(bytemill.get_encoding("gpt2").with_special_tokens({"<x>": 60_000}, name="other"))
            return super().n_vocab

    loaded.add(Growing("growing", pat_str=".", mergeable_ranks=ranks, special_tokens={}))
    assert [each["name"] for each in loaded.described()][-1] == "growing"
    assert [each["name"] for each in loaded.described()][-2:] == ["growing", "other"]


def test_details(running: Playground) -> None:
    found = answer(running, "details", e="gpt2")
    assert (found["tokens"], found["special"]) == (50257, {"<|endoftext|>": 50256})
    assert found["sha256"] == bytemill.get_encoding("gpt2").sha256


def test_encode_by_two(running: Playground) -> None:
    text = "def f(x):  return x"
    response, content = ask(running, "encode", text.encode(), e="o200k_base", b="gpt2", seq="9")
    assert response.status == 200
    first, sequence, size = unpack(content)
    second, again, rest = unpack(content[size:])
    assert (sequence, again, size + rest) == (9, 9, len(content))
    assert first.ids.tolist() == [1314, 285, 4061, 3127, 220, 622, 1215]
    assert second.ids.tolist() == bytemill.get_encoding("gpt2").encode(text)


def test_a_special_token_that_is_an_error(running: Playground) -> None:
    found = problem(running, "encode", b"ab<|endoftext|>", e="gpt2", special="error")
    assert (found["place"], found["token"]) == (2, "<|endoftext|>")


def test_text_that_is_not_utf8(running: Playground) -> None:
    assert (
        problem(running, "encode", b"ab\xff", e="gpt2")["error"] == "The file is not UTF-8: byte 2 is 0xff."
    )


def test_unknown_encodings(running: Playground) -> None:
    assert "no encoding 'x'" in problem(running, "encode", b"a", e="x")["error"]
    assert "expected the name" in problem(running, "token", b"{}")["error"]


def test_decode(running: Playground) -> None:
    def ids(*values: int) -> bytes:
        return np.array(values, "<u4").tobytes()

    found = answer(running, "decode", ids(1314, 285), e="o200k_base")
    assert found == {"text": "def f", "exact": True, "unknown": [], "highest": 200018}
    found = answer(running, "decode", ids(1314, 4294967295, 285, 199999), e="o200k_base")
    assert (found["text"], found["unknown"]) == ("def f<|endoftext|>", [4294967295])
    assert answer(running, "decode", ids(0xC3), e="gpt2")["exact"] in (True, False)
    assert "4 bytes each" in problem(running, "decode", b"abc", e="gpt2")["error"]


def test_decoding_takes_time_in_proportion_to_unknown_ids() -> None:
    loaded = Loaded()

    def decode(size: int) -> None:
        ids = np.arange(300_000, 300_000 + size, dtype="<u4")
        found = json.loads(ENDPOINTS["POST", "decode"](loaded, {"e": "gpt2"}, ids.tobytes()).body)
        assert (found["text"], found["unknown"]) == ("", ids[:200].tolist())

    assert_in_proportion(decode, 3_000, 12_000)


def test_token(running: Playground) -> None:
    found = answer(running, "token", b'{"id": 622}', e="o200k_base")
    assert (found["bytes"], found["reach"]) == (b" return".hex(), "whole")
    assert b"".join(bytes.fromhex(part["bytes"]) for part in found["parts"]) == b" return"
    assert "no token of gpt2" in problem(running, "token", b'{"id": 50257}', e="gpt2")["error"]
    for body in (b"{}", b"[]", b"x", b'{"id": -1}', b'{"id": "1"}'):
        assert problem(running, "token", body, e="gpt2")["error"].startswith("expected")


def test_a_token_of_a_model_without_ranks() -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -1], ["aab", -90]]}
    with playground.start(open_browser=False) as started:
        name = answer(started, "load", file({}, model=model).encode(), name="tokenizer.json")["name"]
        found = answer(started, "token", b'{"id": 3}', e=name)
    assert (found["text"], found["reach"], found["parts"]) == ("aab", "other", [])
    assert found["meaning"] == "its own text does not encode to it; other texts may"


def test_explain(running: Playground) -> None:
    found = answer(running, "explain", "hello wörlds".encode(), e="o200k_base")
    assert found["count"] == 2
    assert [piece["ids"] for piece in found["pieces"]] == [[24912], [286, 2877, 123485]]
    joined = found["pieces"][1]["steps"]
    assert all(each["rank"] < other for each in joined for _, other in each["others"])
    long = answer(running, "explain", b"a" * 65, e="gpt2")
    assert (long["pieces"], long["count"]) == ([], 1)


def test_pieces(running: Playground) -> None:
    response, content = ask(running, "pieces", "hello wörlds".encode(), e="o200k_base")
    assert response.status == 200
    assert np.frombuffer(content, "<u4").tolist() == [5, 8]


@pytest.mark.parametrize(
    ("encoding", "wanted", "expected"),
    [
        ("gpt2", "Magikarp", [41538, 42202, 43453]),
        ("cl100k_base", "Magikarp", []),
        ("gpt2", "#43453", [43453]),
        ("gpt2", "#5-7", [5, 6, 7]),
        ("gpt2", "0x204d6167696b617270", []),
        ("gpt2", "<|endoftext|>", [50256]),
    ],
)
def test_search(running: Playground, encoding: str, wanted: str, expected: list[int]) -> None:
    found = answer(running, "search", json.dumps({"query": wanted}).encode(), e=encoding)
    assert [hit["id"] for hit in found["hits"]] == expected
    assert found["count"] == len(expected)


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_search_for_nothing_lists_the_first_merges(running: Playground, name: str) -> None:
    encoding = bytemill.get_encoding(name)
    found = answer(running, "search", b'{"query": ""}', e=name)
    assert found["count"] == len(encoding.vocab())
    assert [hit["id"] for hit in found["hits"]] == list(range(256, 456))
    assert [bytes.fromhex(hit["bytes"]) for hit in found["hits"]] == [
        encoding.decode_single_token_bytes(i) for i in range(256, 456)
    ]


def test_search_lists_the_first_hits(running: Playground) -> None:
    found = answer(running, "search", b'{"query": "a"}', e="gpt2")
    assert len(found["hits"]) == 200 < found["count"]


def test_train_has_limits(running: Playground) -> None:
    request = {"text": "ab" * 9, "merges": 3, "pattern": "cl100k", "tie_break": "first_seen"}
    assert len(answer(running, "train", json.dumps(request).encode())["merges"]) == 3
    for change, message in (
        ({"text": "a" * (MOST_TEXT + 1)}, "at most 50,000 bytes"),
        ({"merges": MOST_MERGES + 1}, "1 to 512 merges"),
        ({"merges": 0}, "1 to 512 merges"),
        ({"pattern": "(a+)+"}, "name of a pattern"),
        ({"tie_break": "coin"}, "smallest_pair"),
        ({"text": 5}, "expected text"),
    ):
        assert message in problem(running, "train", json.dumps(request | change).encode())["error"]


def test_known_tokens(running: Playground) -> None:
    request = {"tokens": [b" return".hex(), b"lowest of".hex(), b"a".hex()]}
    found = answer(running, "known", json.dumps(request).encode(), e="cl100k_base")
    encoding = bytemill.get_encoding("cl100k_base")
    assert found == {
        "ids": [encoding.encode_single_token(" return"), None, encoding.encode_single_token("a")]
    }
    for wrong in ({}, {"tokens": 5}, {"tokens": ["00"] * 2000}, {"tokens": ["x"]}, {"tokens": [5]}):
        assert problem(running, "known", json.dumps(wrong).encode(), e="gpt2")["error"]


def test_parts(running: Playground) -> None:
    text = "one two three four five 👩‍👩‍👧‍👦"
    _, content = ask(running, "parts", text.encode(), e="gpt2", n="3")
    expected = bytemill.get_encoding("gpt2").split(text, 3)
    assert np.frombuffer(content, "<u4").tolist() == [len(part.encode()) for part in expected]
    for wrong in ("0", "-1", "x", ""):
        assert problem(running, "parts", b"a", e="gpt2", n=wrong)["error"]


def test_a_page_to_save(running: Playground) -> None:
    response, content = ask(running, "page", b"a<b>c<|endoftext|>", e="gpt2", special="allow")
    gpt2 = bytemill.get_encoding("gpt2")
    assert content.decode() == inspection.show(gpt2, "a<b>c<|endoftext|>", allowed_special="all").page()
    # It is no page of this server.
    assert response.getheader("Content-Type") == "application/octet-stream"
    assert "at most 1,000,000 bytes" in problem(running, "page", b"a" * 1_000_001, e="gpt2")["error"]
    assert problem(running, "page", b"<|endoftext|>", e="gpt2", special="error")["place"] == 0


def test_a_file_without_a_pattern(running: Playground) -> None:
    ranks = "".join(f"{base64.b64encode(bytes([rank])).decode()} {rank}\n" for rank in range(256)).encode()
    found = problem(running, "load", ranks, name="bytes.tiktoken")
    assert "bytes.tiktoken has no pattern" in found["error"]
    assert found["patterns"] == list(PATTERNS)
    assert answer(running, "load", ranks, name="bytes.tiktoken", pattern="gpt2")["name"] == "bytes"


# --- Chats, and where stages are defined ---


def chat(running: Playground, *messages: list[str], **options: object) -> dict[str, Any]:
    request = {"format": "harmony", "messages": messages, "answering": None, "parsed": False, **options}
    found = answer(running, "chat", json.dumps(request).encode())
    assert isinstance(found, dict)
    return found


def test_a_chat_is_its_text_with_special_tokens() -> None:
    harmony = bytemill.get_encoding("o200k_harmony")
    found = chat_tokens(FORMATS["harmony"], [Message("user", "hi")], None, parsed=False)
    assert found["text"] == "<|start|>user<|message|>hi<|end|>"
    assert found["ids"] == harmony.encode(found["text"], allowed_special="all")
    assert (len(found["ids"]), found["as_text"], found["special"]) == (5, 17, [0, 2, 4])
    assert sum(found["lengths"]) == len(found["text"].encode())


def test_special_tokens_in_messages(running: Playground) -> None:
    message = ["user", "a<|end|>b"]
    harmony = bytemill.get_encoding("o200k_harmony")
    text = chat(running, message)
    assert text["ids"][3:-1] == harmony.encode_ordinary("a<|end|>b")
    parsed = chat(running, message, parsed=True)
    assert parsed["ids"] == harmony.encode(text["text"], allowed_special="all")
    assert len(parsed["ids"]) < len(text["ids"])
    assert chat(running, message, answering="assistant")["text"].endswith("<|end|><|start|>assistant")


def test_assumed_ids(running: Playground) -> None:
    found = chat(running, ["user", "hi"], format="chatml")
    assert [found["ids"][i] for i in found["special"]] == [100264, 100266, 100265]
    assert found["encoding"] == "cl100k_base"


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": "x"},
        {"messages": 5},
        {"messages": [["a", "b"]] * 65},
        {"messages": [["a"]]},
        {"messages": [["a", 5]]},
        {"messages": ["ab"]},
        {"messages": [["a", "b", "c"]]},
        {"answering": 5},
    ],
)
def test_chats_that_are_none(running: Playground, wrong: dict[str, object]) -> None:
    request = {"format": "harmony", "messages": [], "answering": None, "parsed": False, **wrong}
    assert problem(running, "chat", json.dumps(request).encode())["error"]


@pytest.mark.parametrize("name", STAGES)
def test_stages_are_in_the_reference(running: Playground, name: str) -> None:
    found = answer(running, "stage", name=name)
    source = Path(reference.__file__).read_text(encoding="utf-8").splitlines()
    start = found["start"]
    assert found["lines"] == source[start - 1 : start - 1 + len(found["lines"])]
    first, last = found["marked"]
    marked = [line.strip() for line in source[first - 1 : last]]
    assert marked[0].startswith(STAGES[name].first)
    assert all(marked)
    assert last < start + len(found["lines"])
    assert sum(line.strip().startswith(STAGES[name].first) for line in found["lines"]) == 1


def test_an_unknown_stage(running: Playground) -> None:
    assert "no stage 'x'" in problem_of_get(running, "stage?name=x")["error"]


def problem_of_get(running: Playground, path: str) -> dict[str, Any]:
    connection = HTTPConnection("127.0.0.1", urlsplit(running.url).port or 0, timeout=20)
    connection.request("GET", urlsplit(running.url).path + path)
    response = connection.getresponse()
    found = json.loads(response.read())
    connection.close()
    assert response.status == 422
    assert isinstance(found, dict)
    return found


# --- Files that the reader opens ---


def test_open_a_file(running: Playground, tmp_path: Path) -> None:
    encoding = bytemill.train(["low lower lowest " * 20], 262, name="mine")
    encoding.save(tmp_path / "mine.bytemill")
    contents = (tmp_path / "mine.bytemill").read_bytes()
    first = answer(running, "load", contents, name="../../mine.bytemill")
    assert first["name"] == "mine"
    response, content = ask(running, "encode", b"lowest", e="mine")
    assert response.status == 200
    assert unpack(content)[0].ids.tolist() == encoding.encode("lowest")
    assert answer(running, "load", contents, name="mine.bytemill")["name"] == "mine (2)"


@pytest.mark.parametrize("name", ["x.bytemill", "a/b/x.json", "<img src=x>.json", "", "..", "\0", "x" * 500])
def test_a_file_that_holds_nothing(running: Playground, name: str) -> None:
    message = problem(running, "load", b"nothing", name=name)["error"]
    assert message
    assert "/tmp" not in message  # noqa: S108 - the folder must not be told
    assert "bytemill-" not in message


def test_pieces_by_the_name_of_a_pattern(running: Playground) -> None:
    _, content = ask(running, "pieces", b"it's 1234", pattern="cl100k")
    assert np.frombuffer(content, "<u4").tolist() == [2, 2, 1, 3, 1]
    assert "name of a pattern" in problem(running, "pieces", b"a", pattern="(a+)+")["error"]
    assert problem(running, "pieces", b"a", e="x")["error"]


# --- Requests that cannot be answered ---


@pytest.mark.parametrize("endpoint", [name for method, name in ENDPOINTS if method == "POST"])
@pytest.mark.parametrize(
    "body",
    [b"[" * 20_000, b'{"id":' * 20_000, b'{"id": ' + b"1" * 5000 + b"}", b"5", b"\xff", b"", b"{}"],
    ids=["arrays", "objects", "digits", "number", "bytes", "nothing", "object"],
)
def test_no_body_is_an_error_of_the_server(
    running: Playground, endpoint: str, body: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    response, content = ask(running, endpoint, body, e="gpt2", name="a.json")
    assert response.status in {200, 422}
    if endpoint in {"token", "search", "train", "known", "chat"} and body != b"{}":
        assert json.loads(content)["error"] == f"expected {'a JSON object' if body == b'5' else 'JSON'}"
    assert capfd.readouterr().err == ""


def test_a_damaged_file_is_named(running: Playground) -> None:
    message = problem(running, "load", b"GGUF" + bytes(100), name="a.gguf")["error"]
    assert message == "a.gguf: expected a GGUF file, and it is damaged: expected version 2 or 3, got 0"
