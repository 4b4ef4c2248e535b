// @ts-check
/** Answers what the page asks, one after the other, beside it. */

import { Answers } from "./answers.js";
import { Refusal } from "./engine.js";

/** @type {Map<number, (contents: ArrayBuffer | null) => void>} what waits for a file, by the number of the request */
const wanted = new Map();
let requests = 0;

/**
 * Returns a file, which the page fetches: it may preload it before this worker runs.
 * @param {string} file
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
function read(file) {
	return new Promise((resolve, reject) => {
		wanted.set(++requests, (contents) => {
			if (contents) resolve(new Uint8Array(contents));
			else reject(new Error(`${file} could not be loaded.`));
		});
		postMessage({ file, request: requests });
	});
}

const answers = read("data.json").then((bytes) => {
	const data = JSON.parse(new TextDecoder().decode(bytes));
	// Some servers do not know the type that compiling while it comes would need.
	const module = read(data.module).then((bytes) => WebAssembly.compile(bytes));
	module.catch(() => {});
	return new Answers(data, read, module);
});

let last = Promise.resolve();

// Before anything is awaited: early questions would be lost.
onmessage = ({ data: { number, name, given, request, contents } }) => {
	if (request) {
		wanted.get(request)?.(contents);
		wanted.delete(request);
		return;
	}
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
