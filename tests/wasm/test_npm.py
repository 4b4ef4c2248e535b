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

FILES = ["llama3", "gemma-3", "bert-uncased", "bge-m3"]

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
    for row in FILES:
        (folder / f"{row}.json").write_bytes(file_of(row))
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


def test_sessions_have_the_ids_of_the_whole_text(project: Path) -> None:
    run(
        project,
        """
    import { DisallowedSpecialTokenError, fromFile, getEncoding } from "bytemill";
    let seed = 7;
    const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
    const encodings = [await getEncoding("o200k_base"), await getEncoding("gpt2"), await fromFile(readFileSync("bert-uncased.json"))];
    for (const encoding of encodings) {
      const session = encoding.session("", { disallowedSpecial: [] });
      let whole = "", ids = [], appended = 0;
      for (const text of given.texts) {
        // Units, not characters: halves of surrogate pairs are appended one by one.
        for (let start = 0; start < text.length;) {
          const part = text.slice(start, start += 1 + random(9)), before = whole;
          whole = random(40) ? whole + part : whole.slice(0, random(whole.length + 1)) + part;
          const { start: from, stop, ids: more } = whole === before + part ? session.append(part) : session.update(whole);
          ids.splice(from, stop - from, ...more);
          appended += more.length;
        }
        const expected = plain(encoding.encodeOrdinary(whole));
        assert.deepEqual(ids, expected);
        assert.deepEqual(plain(session.ids()), expected);
        assert.equal(session.count, expected.length);
        assert.equal(session.text, whole);
        if (whole.length > 2000) session.update(whole = ""), ids = [];
      }
      assert(appended > given.texts.length);
      session.free();
      session.free();
      assert.throws(() => session.append("a"), /freed/);
    }
    const [encoding] = encodings, strict = encoding.session("one");
    assert.throws(() => strict.append(" <|endoftext|>"), DisallowedSpecialTokenError);
    assert.deepEqual(strict.ids(), encoding.encode("one"));
    strict.append(" <|endof");
    assert.throws(() => strict.append("text|>"), DisallowedSpecialTokenError);
    assert.equal(strict.text, "one <|endof");
    assert.equal(encoding.session("<|endoftext|>", { allowedSpecial: "all" }).count, 1);
    assert(encoding.session("<|endoftext|>", { disallowedSpecial: [] }).count > 1);
    """,
        {"texts": TEXTS},
    )


def test_memory_is_given_back(project: Path) -> None:
    run(
        project,
        """
    import { fromFile, getEncoding, init } from "bytemill";
    const bytes = async () => (await init()).instance().functions.memory.buffer.byteLength;
    const contents = readFileSync("llama3.json"), text = "The quick brown fox. ".repeat(1000);
    const open = async (free) => { const encoding = await fromFile(contents); encoding.count(text); if (free) encoding.free(); return encoding; };
    const before = [await open(true), await open(true)].length && await bytes();
    for (let i = 0; i < 40; i++) await open(true);
    assert.equal(await bytes(), before);
    await open(false);
    const freed = await open(true);
    assert.throws(() => freed.count("a"), /was freed/);
    freed.free();
    const shared = await getEncoding("gpt2");
    shared.free();
    const again = await getEncoding("gpt2");
    assert.notEqual(again, shared);
    assert.equal(again.count("hello world"), 2);
    if (Symbol.dispose) assert.equal(again[Symbol.dispose], again.free);
    """,
    )


def test_a_fault_loses_no_session(project: Path) -> None:
    run(
        project,
        """
    import { getEncoding, init, InternalError } from "bytemill";
    const encoding = await getEncoding("gpt2"), session = encoding.session("hello wor");
    const library = await init(), { functions } = library.instance();
    // Makes the next call trap: no module can allocate 4 GiB.
    library.instance().functions = { ...functions, encode: () => functions.allocate(2 ** 32 - 1) };
    assert.throws(() => encoding.encode("a"), InternalError);
    assert.deepEqual(encoding.encode("hello world"), Uint32Array.of(31373, 995));
    assert.deepEqual(session.append("ld").ids.length > 0 && session.ids(), encoding.encode("hello world"));
    """,
    )


def test_files(project: Path) -> None:
    program = """
    import { fromFile } from "bytemill";
    const answers = [];
    for (const row of given.rows) {
      const encoding = await fromFile(readFileSync(`${row}.json`), { name: row });
      answers.push(given.texts.map((text) => plain(encoding.encodeOrdinary(text))));
    }
    told(answers);
    """
    answers = run(project, program, {"rows": FILES, "texts": TEXTS[:150]})
    for row, found in zip(FILES, answers, strict=True):
        assert found == encoding_of(row).encode_ordinary_batch(TEXTS[:150])


def test_counting_alone(project: Path) -> None:
    names = ["o200k_base", "cl100k_base", "r50k_base", "p50k_edit"]
    program = """
    import { encodingForModel, encodingNames, getEncoding } from "bytemill/count";
    assert.equal(encodingNames.length, 7);
    assert.equal((await encodingForModel("gpt-4o")).name, "o200k_base");
    await assert.rejects(getEncoding("other"), RangeError);
    const answers = {};
    for (const name of given.names) {
      const encoding = await getEncoding(name);
      assert.throws(() => encoding.count(5), { name: "TypeError", message: /expected a string/ });
      assert.throws(() => encoding.countUpTo("a", -1), RangeError);
      answers[name] = given.texts.map((text) => {
        const count = encoding.count(text);
        assert.equal(encoding.countUpTo(text, count), count);
        if (count) assert.equal(encoding.countUpTo(text, count - 1), null);
        return count;
      });
    }
    told(answers);
    """
    answers = run(project, program, {"names": names, "texts": TEXTS})
    for name in names:
        encoding = bytemill.get_encoding(name)
        assert answers[name] == [len(ids) for ids in encoding.encode_ordinary_batch(TEXTS)]
    [module] = project.glob("node_modules/bytemill/count.wasm")
    program = """
    import { brotliCompressSync } from "node:zlib";
    told(brotliCompressSync(readFileSync(given)).length);
    """
    assert run(project, program, str(module)) <= 400_000


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
