"""The static page's answers are those of the package: `make test-wasm`."""

# ruff: noqa: RUF001, S311, S603 - texts; what can be repeated; Node, by its name; this library

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bytemill
from bytemill.builtin import BUILTIN_ENCODINGS
from bytemill.patterns import PATTERNS
from bytemill.playground.answers import ENDPOINTS, FORMATS, REFUSED, STAGES, failure
from bytemill.playground.loaded import Loaded
from bytemill.playground.wire import unpack
from support import sentencepiece
from support.examples import ROOT
from support.open_models import ROWS, encoding_of, file_of
from support.open_models.speech import CODE, SENTENCES, TRICKY, patchworks
from support.texts import ADVERSARIAL, multilingual, random_unicode

FOLDER = Path(os.environ.get("BYTEMILL_STATIC_PLAYGROUND", ROOT / "target" / "playground"))
ASK = ROOT / "wasm" / "node" / "ask.mjs"

# The files of the page are modules, without a package.json that says so.
NODE = ["node", "--no-warnings", "--experimental-default-type=module"]


VOCABULARIES = ["o200k_base", "cl100k_base", "r50k_base", "p50k_base"]


class Node:
    """Node with the files of the page."""

    def __init__(self) -> None:
        """Starts it."""
        self.process = subprocess.Popen(
            [*NODE, str(ASK), str(FOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, name: str, *given: Any) -> Any:
        """Returns an answer, as JSON has it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"name": name, "given": given}).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    assert (FOLDER / "data.json").exists(), f"{FOLDER} has no page: make playground"
    started = Node()
    yield started
    started.process.communicate()


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return Loaded()


def hexadecimal(data: bytes) -> dict[str, str]:
    return {"hex": data.hex()}


def expected(loaded: Loaded, method: str, name: str, query: dict[str, str], body: bytes = b"") -> Any:
    """Returns the answer of the package: JSON, bytes, or an error as the page shows it."""
    try:
        answer = ENDPOINTS[method, name](loaded, query, body)
    except REFUSED as error:
        return failure(error)
    return answer.body if answer.binary else json.loads(answer.body)


def texts() -> list[str]:
    """Returns texts of all kinds, without lone surrogates, which no text of a page has in UTF-8."""
    source = random.Random(7)
    found = [*TRICKY, *SENTENCES, CODE, *(text[:3000] for text in ADVERSARIAL.values())]
    found += [*patchworks(21, 1500, [])]
    found += [random_unicode(seed, source.randint(1, 80)) for seed in range(1500)]
    found += [multilingual(seed, source.randint(1, 60)) for seed in range(1500)]
    symbols = "aB'sS’1²  \t\n\r\u3000\u00a0.,/!_é字かא๏\u0301😀\u200d"
    found += ["".join(source.choices(symbols, k=source.randint(1, 30))) for _ in range(1500)]
    # Where an offset needs more than 16 bits.
    found += ["".join(multilingual(seed, 30_000)) for seed in range(3)]
    return [text.encode("utf-8", "replace").decode() for text in found]


TEXTS = texts()
FEW = TEXTS[:: len(TEXTS) // 60]


def digest_of(encoding: bytemill.Encoding, given: list[str], special: str) -> dict[str, Any]:
    digest, count = hashlib.sha256(), 0
    for text in given:
        if special == "allow":
            ids = encoding.encode_to_numpy(text, allowed_special="all")
        else:
            ids = encoding.encode_ordinary_to_numpy(text)
        digest.update(f"{len(text.encode('utf-16-le')) // 2}:".encode() + ids.tobytes())
        count += len(ids)
    return {"sha256": digest.hexdigest(), "count": count}


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("special", ["text", "allow"])
def test_token_ids(node: Node, name: str, special: str) -> None:
    assert len(TEXTS) > 5000
    given = TEXTS if special == "text" else [text + "<|endoftext|>" + text[::-1] for text in FEW]
    answer = node.ask("sha256", name, special, given)
    assert answer == {"answer": digest_of(bytemill.get_encoding(name), given, special)}


def test_golden_cases(node: Node) -> None:
    cases = json.loads((ROOT / "tests" / "data" / "cases.json").read_text("utf-8"))
    for case in cases["encoding"]:
        text = case["text"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        answer = node.ask(
            "encode", hexadecimal(text.encode()), {"e": case["encoding"], "special": "text", "seq": 3}
        )
        tokens, sequence, _ = unpack(bytes.fromhex(answer["answer"]["hex"]))
        assert sequence == 3
        if text == case["text"]:
            assert tokens.ids.tolist() == case["ids"], case["name"]
    for case in cases["splitting"]:
        if case["pattern"] in PATTERNS:
            answer = node.ask("pieces", {"pattern": case["pattern"]}, hexadecimal(case["text"].encode()))
            assert answer["answer"]["ids"] == [len(piece.encode()) for piece in case["pieces"]]


@pytest.mark.parametrize("special", ["text", "allow", "error", "other"])
def test_blocks(node: Node, loaded: Loaded, special: str) -> None:
    for text in [*FEW, "a<|endoftext|>b", "é<|endofprompt|>"]:
        query = {"e": "o200k_base", "b": "gpt2", "special": special, "seq": "7"}
        found = node.ask("encode", hexadecimal(text.encode()), {**query, "seq": 7})
        wanted = expected(loaded, "POST", "encode", query, text.encode())
        if isinstance(wanted, dict):
            assert found["refused"] == wanted
            continue
        block = bytes.fromhex(found["answer"]["hex"])
        assert len(block) == len(wanted)
        while block:
            (ours, number, size), (theirs, again, _) = unpack(block), unpack(wanted)
            assert number == again == 7
            for one, other in zip(ours[:5], theirs[:5], strict=True):
                assert bytes(np.asarray(one)) == bytes(np.asarray(other))
            block, wanted = block[size:], wanted[size:]


def test_a_text_that_is_not_utf8(node: Node, loaded: Loaded) -> None:
    body = b"a" * 1234 + b"\xff"
    query = {"e": "gpt2", "special": "text"}
    found = node.ask("encode", hexadecimal(body), {**query, "seq": 0})
    assert found["refused"] == expected(loaded, "POST", "encode", query, body)


def test_what_is_written_when_the_page_is_built(node: Node, loaded: Loaded) -> None:
    listed = expected(loaded, "GET", "encodings", {})
    known = [each for each in listed["encodings"] if each["name"] in BUILTIN_ENCODINGS]
    assert node.ask("encodings")["answer"] == {**listed, "encodings": known}
    for name in BUILTIN_ENCODINGS:
        assert node.ask("details", name)["answer"] == expected(loaded, "GET", "details", {"e": name})
    for name in [*STAGES, "other"]:
        found = node.ask("stage", name)
        assert found.get("answer", found.get("refused")) == expected(loaded, "GET", "stage", {"name": name})


@pytest.mark.parametrize("name", [*BUILTIN_ENCODINGS])
def test_merges_pieces_and_parts(node: Node, loaded: Loaded, name: str) -> None:
    for text in [text[:400] for text in FEW]:
        body, query = text.encode(), {"e": name}
        assert node.ask("explain", name, text)["answer"] == expected(loaded, "POST", "explain", query, body)
        sizes = node.ask("pieces", query, hexadecimal(body))["answer"]["ids"]
        assert b"".join(size.to_bytes(4, "little") for size in sizes) == expected(
            loaded, "POST", "pieces", query, body
        )
        found = node.ask("parts", name, 7, hexadecimal(body))
        wanted = expected(loaded, "POST", "parts", {**query, "n": "7"}, body)
        if isinstance(wanted, bytes):
            assert b"".join(size.to_bytes(4, "little") for size in found["answer"]["ids"]) == wanted
        else:
            assert "refused" in found


def test_tokens(node: Node, loaded: Loaded) -> None:
    source = random.Random(3)
    for name in ("o200k_base", "cl100k_base", "p50k_base"):
        highest = bytemill.get_encoding(name).max_token_value
        ids = [
            *range(0, 300, 7),
            *(source.randint(0, highest) for _ in range(150)),
            highest,
            50256,
            highest + 1,
        ]
        for token_id in ids:
            found = node.ask("token", name, token_id)
            wanted = expected(loaded, "POST", "token", {"e": name}, json.dumps({"id": token_id}).encode())
            assert found.get("answer", found.get("refused")) == wanted, (name, token_id)


def test_decoding(node: Node, loaded: Loaded) -> None:
    source = random.Random(4)
    for name in VOCABULARIES:
        highest = bytemill.get_encoding(name).max_token_value
        for size in (0, 1, 5, 300):
            ids = [source.randint(0, highest + 30) for _ in range(size)]
            body = b"".join(each.to_bytes(4, "little") for each in ids)
            assert node.ask("decode", name, {"ids": ids})["answer"] == expected(
                loaded, "POST", "decode", {"e": name}, body
            )


def test_search_and_known_tokens(node: Node, loaded: Loaded) -> None:
    for wanted in ("", "hello", "#5", "#100-120", "#50256", "0x20 68", "0xff", "é", " ", "<|", "#x", "0x2"):
        for name in ("gpt2", "o200k_harmony"):
            body = json.dumps({"query": wanted}).encode()
            assert node.ask("search", name, wanted)["answer"] == expected(
                loaded, "POST", "search", {"e": name}, body
            )
    tokens = [b"hello".hex(), b" world".hex(), b"\xff".hex(), b"no such token".hex(), b"<|endoftext|>".hex()]
    body = json.dumps({"tokens": tokens}).encode()
    assert node.ask("known", "o200k_base", tokens)["answer"] == expected(
        loaded, "POST", "known", {"e": "o200k_base"}, body
    )


def test_training(node: Node, loaded: Loaded) -> None:
    for text in ("", "low lower lowest", "aaaa aaaa aaa", CODE, SENTENCES[7] + SENTENCES[27], "x" * 50_001):
        for pattern in ("gpt2", "cl100k", "o200k", "other"):
            for rule in ("first_seen", "smallest_pair", "other"):
                for merges in (1, 40, 600):
                    request = {"text": text, "merges": merges, "pattern": pattern, "tie_break": rule}
                    found = node.ask("train", request)
                    wanted = expected(loaded, "POST", "train", {}, json.dumps(request).encode())
                    if "error" in wanted:
                        assert "refused" in found, request
                    else:
                        assert found["answer"] == wanted, request


@pytest.mark.parametrize("name", [*FORMATS])
@pytest.mark.parametrize("parsed", [True, False])
def test_chats(node: Node, loaded: Loaded, name: str, parsed: bool) -> None:  # noqa: FBT001
    messages = [["system", "You help."], ["user", "naïve <|end|> <|im_end|> 😀"]]
    for answering in (None, "assistant"):
        request = {"format": name, "messages": messages, "answering": answering, "parsed": parsed}
        wanted = expected(loaded, "POST", "chat", {}, json.dumps(request).encode())
        assert node.ask("chat", request)["answer"] == wanted


def native(encoding: bytemill.Encoding) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "it.bytemill")
        encoding.save(path)
        return path.read_bytes()


def encoding_of_model(contents: bytes) -> bytemill.Encoding:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scores.model")
        path.write_bytes(contents)
        return bytemill.Encoding.from_file(path)


def files() -> dict[str, bytes]:
    """Returns a file of each format and model."""
    model = sentencepiece.trained("nmt_nfkc", 700, model_type="unigram")
    ranks = bytemill.get_encoding("cl100k_base")._mergeable_ranks
    lines = b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())
    rows = ["gpt2", "llama3", "qwen2", "deepseek-v3", "llama-2", "gemma-3", "bert-uncased", "bge-m3", "clip"]
    return {
        **{f"{row}.json": file_of(row) for row in rows if row in ROWS},
        "cl100k.tiktoken": lines,
        "merges.model": sentencepiece.trained("nmt_nfkc", 900, byte_fallback=True),
        "scores.model": sentencepiece.trained("nmt_nfkc", 900, model_type="unigram"),
        "trained.bytemill": native(
            bytemill.train([CODE * 9], 400, name="<b>", special_tokens=["<|1|>", "2"], progress=False)
        ),
        "model.bytemill": native(encoding_of_model(model)),
        "file.bytemill": native(encoding_of("bge-m3")),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*files()])
def test_files(node: Node, loaded: Loaded, name: str) -> None:
    contents = files()[name]
    pattern = "cl100k" if name.endswith(".tiktoken") else ""
    if pattern:
        assert set(node.ask("load", name, hexadecimal(contents), "")["refused"]["patterns"]) == set(PATTERNS)
    opened = node.ask("load", name, hexadecimal(contents), pattern)["answer"]["name"]
    here = loaded.open(name, contents, pattern or None)
    found = node.ask("sha256", opened, "text", TEXTS[::4])
    encoding = loaded[here]
    assert found == {"answer": digest_of(encoding, TEXTS[::4], "text")}
    facts = node.ask("details", opened)["answer"]
    wanted = loaded.details(here)
    for text in FEW[::5]:
        explained = node.ask("explain", opened, text[:200])
        same = expected(loaded, "POST", "explain", {"e": here}, text[:200].encode())
        if "error" in same or "kind" in explained.get("refused", {}) or "refused" in explained:
            assert "refused" in explained
            assert encoding._core_bpe.model_kind == "merges"
        else:
            assert explained["answer"] == same
    for key in ("tokens", "special", "sha256"):
        assert facts[key] == wanted[key], key
    for text in FEW:
        query = {"e": opened, "special": "text", "seq": 1}
        block = bytes.fromhex(node.ask("encode", hexadecimal(text.encode()), query)["answer"]["hex"])
        tokens = unpack(block)[0]
        theirs = unpack(expected(loaded, "POST", "encode", {"e": here, "seq": "1"}, text.encode()))[0]
        for one, other in zip(tokens[1:5], theirs[1:5], strict=True):
            assert bytes(np.asarray(one)) == bytes(np.asarray(other)), text
        ids = tokens.ids.tolist()
        assert node.ask("decode", opened, {"ids": ids})["answer"]["text"] == encoding.decode(ids)


def test_damaged_files_are_refused(node: Node) -> None:
    for name, contents in {
        "a.json": b"{}",
        "b.model": b"\x0a\x05",
        "c.txt": b"hello",
        "d.json": b"",
        "e": b"YQ== 0\nx\n",
    }.items():
        found = node.ask("load", name, hexadecimal(contents), "gpt2")
        assert found["refused"]["error"].startswith(f"{name}: "), found


def test_a_fault_ends_an_instance_and_no_more(node: Node) -> None:
    before = node.ask("sha256", "gpt2", "text", FEW)
    assert node.ask("trap")["failed"].startswith("Error: The library failed: ")
    assert node.ask("sha256", "gpt2", "text", FEW) == before


def test_a_table_that_was_changed_is_refused(tmp_path: Path) -> None:
    for path in FOLDER.iterdir():
        contents = path.read_bytes()
        if path.suffix == ".merges":
            contents = contents[:-1] + bytes([contents[-1] ^ 1])
        (tmp_path / path.name).write_bytes(contents)
    command = [*NODE, str(ASK), str(tmp_path)]
    request = json.dumps({"name": "sha256", "given": ["gpt2", "text", ["a"]]}).encode()
    done = subprocess.run(command, input=request, capture_output=True, check=True)
    assert "did not arrive as it was built" in json.loads(done.stdout)["refused"]["error"]


HASH = """
import { sha256, sha256InScript } from "%s";
const sizes = [...Array(200).keys(), 100_000];
const texts = sizes.map((size) => Uint8Array.from({ length: size }, (_, i) => i * i % 251));
const found = await Promise.all(texts.map(async (bytes) => [await sha256(bytes), sha256InScript(bytes)]));
console.log(JSON.stringify(found));
"""


def test_hashes_are_those_of_hashlib_with_and_without_the_browser() -> None:
    script = HASH.replace("%s", (FOLDER / "sha256.js").as_uri())
    command = [*NODE, "--input-type=module", "-e", script]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    texts = [bytes(i * i % 251 for i in range(size)) for size in [*range(200), 100_000]]
    assert found == [[hashlib.sha256(text).hexdigest()] * 2 for text in texts]


PACK = """
import { brotliCompressSync } from "node:zlib";
import { readFileSync } from "node:fs";
const sizes = process.argv.slice(1).map((path) => [path, brotliCompressSync(readFileSync(path)).length]);
console.log(JSON.stringify(Object.fromEntries(sizes)));
"""


def test_sizes() -> None:
    """The page without a server stays small, as servers of static files compress it."""
    paths = [str(path) for path in FOLDER.iterdir() if path.suffix in {".wasm", ".js", ".json"}]
    command = ["node", "--input-type=module", "--eval", PACK, "--", *paths]
    done = subprocess.run(command, capture_output=True, check=True)
    sizes = {Path(path).name: size for path, size in json.loads(done.stdout).items()}
    [module] = [size for name, size in sizes.items() if name.endswith(".wasm")]
    own = [path.name for path in (ROOT / "wasm" / "page").iterdir()]
    assert module <= 760_000
    assert sizes["data.json"] + sum(sizes[name] for name in own) <= 25_000
