// @ts-check
/**
 * Measures a tokenizer in WebAssembly, and prints the figures as JSON. Standard input is JSON: `engine`, with `module`, `opener` and
 * `files`, the arguments of the opener; `texts`, each with `name`, `path` and `sizes`.
 *
 * The same JavaScript asks every engine: strings are given, and a Uint32Array or a number is returned. Before anything is
 * measured the module encodes other text for some seconds, so that V8 has compiled all of it.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";

import { Library } from "../../wasm/page/engine.js";

const SHORT = "The quick brown fox jumps over the lazy dogs";
const CALLS = 100_000, FRESH = 11, WARM_BYTES = 30_000_000, WARM_SECONDS = 5;

const given = JSON.parse(readFileSync(0, "utf-8"));

/**
 * Returns the milliseconds of a call. Not of the processor's time: V8's threads beside this one would count, too.
 * @param {() => unknown} call
 */
function milliseconds(call) {
	const start = performance.now();
	call();
	return performance.now() - start;
}

/** @param {number[]} values */
function median(values) {
	return values.toSorted((a, b) => a - b)[values.length >> 1];
}

/** @param {Uint32Array} ids */
function digest(ids) {
	return createHash("sha256").update(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength)).digest("hex");
}

const { module, opener, files } = given.engine;
const library = new Library(new WebAssembly.Module(readFileSync(module)));
const parts = files.map((/** @type {{text?: string, path?: string}} */ { text, path }) =>
	text ?? (path ? new Uint8Array(readFileSync(path)) : new Uint8Array())
);
const open = () => library.open(opener, ...parts);

/** @type {{name: string, warm: string, cuts: {bytes: number, text: string}[]}[]} */
const texts = given.texts.map((/** @type {any} */ { name, path, sizes }) => {
	const whole = readFileSync(path);
	const decoder = new TextDecoder();
	/** Without the character that is cut at the end. */
	const start = (/** @type {number} */ bytes) => decoder.decode(whole.subarray(0, bytes), { stream: true });
	const cuts = sizes.map((/** @type {number} */ bytes) => {
		const text = start(bytes);
		decoder.decode();
		return { bytes: new TextEncoder().encode(text).length, text };
	});
	const warm = new TextDecoder().decode(whole.subarray(Math.max(...sizes)));
	return { name, warm, cuts };
});

const warming = open(), start = performance.now();
for (let done = 0; done < WARM_BYTES && performance.now() - start < 1000 * WARM_SECONDS;) {
	for (const { warm } of texts) {
		// Not all of it at once: some engines take a second for a megabyte.
		const from = done % warm.length, part = warm.slice(from, from + 250_000);
		warming.encode(part, "text");
		warming.count(part, "text");
		done += 2 * part.length;
	}
}
/** @type {{text: string, state: string, bytes: number, milliseconds: number}[]} */
const figures = [];
/** @type {Record<string, string>} */
const digests = {};
for (const { name, cuts } of texts) {
	for (const { bytes, text } of cuts) {
		/** @param {string} state @param {number} taken */
		const record = (state, taken) => figures.push({ text: name, state, bytes, milliseconds: taken });
		let tokenizer = warming, ids = new Uint32Array();
		// A short text takes so little that one process has several first passes, each of a tokenizer of its own.
		const opening = [], first = [];
		for (let i = 0; i < (bytes < 1e6 ? FRESH : 1); i++) {
			if (tokenizer !== warming) tokenizer.close();
			opening.push(milliseconds(() => tokenizer = open()));
			// What is made at the first call is made before the text.
			tokenizer.encode("hello world", "text");
			first.push(milliseconds(() => ids = tokenizer.encode(text, "text")));
		}
		figures.push({ text: "", state: "open", bytes: 0, milliseconds: median(opening) });
		record("first", median(first));
		digests[`${name} ${bytes}`] = digest(ids);
		const times = Math.max(1, Math.ceil(4e6 / bytes));
		const replay = milliseconds(() => {
			for (let i = 0; i < times; i++) tokenizer.encode(text, "text");
		});
		record("replay", replay / times);
		const counting = milliseconds(() => {
			for (let i = 0; i < times; i++) if (tokenizer.count(text, "text") !== ids.length) throw new Error("another count");
		});
		record("count", counting / times);
		tokenizer.close();
	}
}
/** @type {Record<string, (text: string) => unknown>} */
const calls = { encode: (text) => warming.encode(text, "text"), count: (text) => warming.count(text, "text") };
for (const [state, call] of Object.entries(calls)) {
	const several = () => {
		for (let i = 0; i < CALLS; i++) call(SHORT);
	};
	several();
	figures.push({ text: `${SHORT.length} bytes`, state, bytes: SHORT.length, milliseconds: milliseconds(several) / CALLS });
}
console.log(JSON.stringify({ node: process.version, digests, figures }));
