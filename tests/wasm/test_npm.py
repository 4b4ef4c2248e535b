"""The npm package, installed from its archive into an empty folder: `make test-wasm`."""

# ruff: noqa: E501, S603 - programs; Node and npm

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bytemill
from support.examples import ROOT
from support.open_models import encoding_of, file_of
from support.open_models.speech import CODE, SENTENCES, TRICKY, patchworks

[ARCHIVE] = (ROOT / "target" / "npm").glob("bytemill-*.tgz")

HEAD = """
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
const given = JSON.parse(readFileSync(0, "utf-8"));
const plain = (value) => value instanceof Uint32Array ? Array.from(value) : value;
const told = (answer) => console.log(JSON.stringify(answer));
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    command = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", str(ARCHIVE)]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    assert [path.name for path in (folder / "node_modules").iterdir() if not path.name.startswith(".")] == [
        "bytemill"
    ]
    return folder


def run(project: Path, program: str, given: Any = None) -> Any:
    """Runs a program in the project, and returns what it tells."""
    (project / "program.js").write_text(HEAD + program, "utf-8")
    command = ["node", "program.js"]
    done = subprocess.run(
        command, cwd=project, input=json.dumps(given).encode(), capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout) if done.stdout else None


TEXTS = [
    text.encode("utf-8", "replace").decode()
    for text in [*TRICKY, *SENTENCES, CODE, *patchworks(31, 300, []), "a\ufeff", "\ufeffb"]
]


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "p50k_edit", "gpt2", "o200k_harmony"])
def test_the_same_as_in_python(project: Path, name: str) -> None:
    encoding = bytemill.get_encoding(name)
    program = """
    import { getEncoding } from "bytemill";
    const encoding = await getEncoding(given.name);
    told(given.texts.map((text) => {
      const ids = encoding.encodeOrdinary(text), offsets = encoding.encodeWithOffsets(text);
      const stream = encoding.streamDecoder();
      assert.deepEqual(offsets.ids, ids);
      assert.equal(encoding.count(text), ids.length);
      assert.equal(encoding.countUpTo(text, ids.length), ids.length);
      assert.equal(encoding.decode(ids), text);
      assert.equal(Array.from(ids, stream.push).join("") + stream.flush(), text);
      assert.equal(encoding.split(text, 9).join(""), text);
      if (ids.length) assert.equal(encoding.countUpTo(text, ids.length - 1), null);
      return [plain(ids), plain(offsets.starts), plain(offsets.ends), encoding.truncate(text, 3), encoding.truncate(text, 3, { keep: "end" }), encoding.split(text, 9, { overlap: 2 })];
    }));
    """
    answers = run(project, program, {"name": name, "texts": TEXTS})
    for text, (ids, starts, ends, start, end, parts) in zip(TEXTS, answers, strict=True):
        assert ids == encoding.encode_ordinary(text)
        found = encoding.encode_with_offsets(text, disallowed_special=())
        units = [0]
        for character in text:
            units.append(units[-1] + len(character.encode("utf-16-le")) // 2)
        assert starts == [units[i] for i in found.starts.tolist()]
        assert ends == [units[i] for i in found.ends.tolist()]
        assert start == encoding.truncate(text, 3, disallowed_special=()).text
        assert end == encoding.truncate(text, 3, side="left", disallowed_special=()).text
        assert parts == encoding.split(text, 9, overlap=2, disallowed_special=())


def test_special_tokens_as_in_tiktoken(project: Path) -> None:
    run(
        project,
        """
    import { DisallowedSpecialTokenError, encodingForModel, encodingNameForModel, encodingNames, getEncoding } from "bytemill";
    const encoding = await encodingForModel("gpt-4o-mini");
    const text = "é<|endoftext|>b";
    assert.equal(encoding.name, "o200k_base");
    assert.equal(encodingNameForModel("gpt-4"), "cl100k_base");
    assert.equal(encodingNames.length, 7);
    assert.throws(() => encoding.encode(text), (error) => error instanceof DisallowedSpecialTokenError && error.token === "<|endoftext|>" && error.start === 1);
    const ordinary = encoding.encodeOrdinary(text);
    assert.deepEqual(encoding.encode(text, { disallowedSpecial: [] }), ordinary);
    const special = [...encoding.encodeOrdinary("é"), 199999, ...encoding.encodeOrdinary("b")];
    assert.deepEqual(plain(encoding.encode(text, { allowedSpecial: "all" })), special);
    assert.deepEqual(plain(encoding.encode(text, { allowedSpecial: ["<|endoftext|>"] })), special);
    assert.deepEqual(encoding.encode(text, { allowedSpecial: ["<|endofprompt|>"], disallowedSpecial: [] }), ordinary);
    assert.throws(() => encoding.encode("a stop b", { disallowedSpecial: ["stop"] }), DisallowedSpecialTokenError);
    assert.equal(encoding.specialTokens.get("<|endoftext|>"), 199999);
    assert.equal(encoding.maxTokenId, 200018);
    assert.equal(await getEncoding("o200k_base"), encoding);
    """,
    )


def test_mistakes_raise_what_says_them(project: Path) -> None:
    run(
        project,
        """
    import { encodingForModel, fromFile, getEncoding } from "bytemill";
    const encoding = await getEncoding("gpt2");
    await assert.rejects(getEncoding("other"), { name: "RangeError", message: /one of gpt2, .* got "other"/ });
    await assert.rejects(getEncoding("toString"), RangeError);
    await assert.rejects(async () => encodingForModel("other"), RangeError);
    for (const wrong of [null, 5, undefined, ["a"]]) assert.throws(() => encoding.count(wrong), { name: "TypeError", message: /expected a string/ });
    assert.throws(() => encoding.decode([50257]), { name: "RangeError", message: /50257/ });
    for (const wrong of [-1, 1.5, 2 ** 32, NaN]) assert.throws(() => encoding.decode([wrong]), RangeError);
    for (const wrong of [-1, 1.5, NaN]) assert.throws(() => encoding.truncate("a", wrong), RangeError);
    assert.throws(() => encoding.split("abc", 0), RangeError);
    assert.throws(() => encoding.split("abc", 2, { overlap: 2 }), RangeError);
    for (const [text, error] of [["{}", "RangeError"], ["hello", "TypeError"], ["", "TypeError"], ["YQ== 0\\n", "TypeError"]]) {
      await assert.rejects(fromFile(new TextEncoder().encode(text)), { name: error });
    }
    assert.equal(encoding.count("\\ud800a"), encoding.count("\\ufffda"));
    assert.equal(encoding.decode(encoding.encode("still works")), "still works");
    """,
    )


def test_files(project: Path) -> None:
    rows = ["llama3", "gemma-3", "bert-uncased", "bge-m3"]
    for row in rows:
        (project / f"{row}.json").write_bytes(file_of(row))
    program = """
    import { fromFile } from "bytemill";
    const answers = [];
    for (const row of given.rows) {
      const encoding = await fromFile(readFileSync(`${row}.json`), { name: row });
      answers.push(given.texts.map((text) => plain(encoding.encodeOrdinary(text))));
    }
    told(answers);
    """
    answers = run(project, program, {"rows": rows, "texts": TEXTS[:150]})
    for row, found in zip(rows, answers, strict=True):
        assert found == encoding_of(row).encode_ordinary_batch(TEXTS[:150])


def test_names_of_js_tiktoken(project: Path) -> None:
    run(
        project,
        """
    import { encodingForModel, getEncoding, getEncodingNameForModel, init, Tiktoken } from "bytemill/js-tiktoken";
    assert.throws(() => getEncoding("gpt2"), /await init/);
    await init(["o200k_base", "gpt2"]);
    const enc = encodingForModel("gpt-4o");
    assert(enc instanceof Tiktoken);
    assert.equal(getEncodingNameForModel("gpt-4o"), "o200k_base");
    assert.deepEqual(enc.encode("hello world"), [24912, 2375]);
    assert(Array.isArray(enc.encode("hello world")));
    assert.equal(enc.decode([24912, 2375]), "hello world");
    assert.deepEqual(getEncoding("gpt2").encode("<|endoftext|>", ["<|endoftext|>"]), [50256]);
    assert.deepEqual(getEncoding("gpt2").encode("<|endoftext|>", "all"), [50256]);
    assert.deepEqual(getEncoding("gpt2").encode("<|endoftext|>", [], []), [27, 91, 437, 1659, 5239, 91, 29]);
    assert.throws(() => getEncoding("gpt2").encode("<|endoftext|>"));
    """,
    )
