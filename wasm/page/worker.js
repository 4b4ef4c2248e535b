// @ts-check
/** Answers what the page asks, one after the other, beside it. */

import { Answers } from "./answers.js";
import { Refusal } from "./engine.js";

/** @param {string} file */
async function read(file) {
	const response = await fetch(new URL(file, import.meta.url));
	if (!response.ok) throw new Error(`${file} could not be loaded.`);
	return new Uint8Array(await response.arrayBuffer());
}

/** @param {string} file */
async function compiled(file) {
	// Some servers do not know the type that compiling while it comes would need.
	return WebAssembly.compile(await read(file));
}

const answers = read("data.json").then((bytes) => {
	const data = JSON.parse(new TextDecoder().decode(bytes));
	const module = compiled(data.module);
	module.catch(() => {});
	return new Answers(data, read, module);
});

let last = Promise.resolve();

// Before anything is awaited: early questions would be lost.
onmessage = ({ data: { number, name, given } }) => {
	// In turn: each is one call of the library, and the last text is the one that matters.
	last = last.then(async () => {
		try {
			const answer = await /** @type {any} */ (await answers)[name](...given);
			postMessage({ number, answer });
		} catch (error) {
			const refused = error instanceof Refusal ? error.answer : null;
			postMessage({ number, refused, failed: /** @type {Error} */ (error).message });
		}
	});
};
