// Answers requests as the worker of the static page does, for tests: `node ask.mjs FOLDER`, a line of JSON each.
//
// A request is {name, given}; {hex} among what is given stands for bytes, {ids} for numbers of 32 bits. An answer is
// {answer}, where bytes are {hex} and numbers {ids}; {refused} or {failed}. The request {name: "sha256", given: [encoding, special,
// texts]} answers with the SHA-256 of the ids of all texts, {name: "trap"} ends the instance as a fault would.

import { createHash, webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

globalThis.crypto ??= webcrypto;
const folder = pathToFileURL(`${process.argv[2]}/`);
const { Answers } = await import(new URL("answers.js", folder));
const { Refusal } = await import(new URL("engine.js", folder));

const read = async (file) => new Uint8Array(await readFile(new URL(file, folder)));
const data = JSON.parse(new TextDecoder().decode(await read("data.json")));
const answers = new Answers(data, read, read(data.module).then((bytes) => WebAssembly.compile(bytes)));

function plain(value) {
	if (value && typeof value === "object" && "hex" in value) return new Uint8Array(Buffer.from(value.hex, "hex"));
	if (value && typeof value === "object" && "ids" in value) return Uint32Array.from(value.ids);
	return value;
}

function wired(value) {
	if (value instanceof ArrayBuffer) return { hex: Buffer.from(value).toString("hex") };
	if (value instanceof Uint32Array) return { ids: Array.from(value) };
	return value;
}

const more = {
	async sha256(encoding, special, texts) {
		const { tokenizer } = await answers.chosen(encoding);
		const hash = createHash("sha256");
		let count = 0;
		for (const text of texts) {
			const ids = tokenizer.encode(text, special);
			if (tokenizer.count(text, special) !== ids.length) throw new Error(`another count of ${JSON.stringify(text)}`);
			hash.update(`${text.length}:`).update(new Uint8Array(ids.buffer));
			count += ids.length;
		}
		return { sha256: hash.digest("hex"), count };
	},
	async trap() {
		const instance = (await answers.library).instance();
		// An address that no memory has.
		instance.call("decode", [0, 0xFFFFFFF0, 0xFFFFFF]);
	},
};

for await (const line of createInterface({ input: process.stdin })) {
	const { name, given } = JSON.parse(line);
	let found;
	try {
		const ask = more[name] ?? answers[name].bind(answers);
		found = { answer: wired(await ask(...given.map(plain))) };
	} catch (error) {
		found = error instanceof Refusal ? { refused: error.answer } : { failed: `${error.name}: ${error.message}` };
	}
	process.stdout.write(`${JSON.stringify(found)}\n`);
}
