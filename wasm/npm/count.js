// @ts-check
/** Counts token IDs, in a module of half the size: the published encodings, without files and regular expressions. */

import { checked, whole } from "./arguments.js";
import { InternalError } from "./engine.js";
import { encodingNameForModel, encodingNames, loaderOf, once, open } from "./loading.js";

export { encodingNameForModel, encodingNames, InternalError };

/** Loads the module; see `loaderOf`. */
export const init = loaderOf("count.wasm");

const counters = once(async (name) => new Counter(name, await open(init, name)));

/**
 * Returns an encoding by its name, such as "o200k_base".
 * @param {string} name
 * @returns {Promise<Counter>}
 */
export async function getEncoding(name) {
	return await counters(name);
}

/**
 * Returns the encoding of a model, such as "gpt-4o".
 * @param {string} model
 */
export async function encodingForModel(model) {
	return await getEncoding(encodingNameForModel(model));
}

/** An encoding that counts. Special tokens are ordinary text. */
export class Counter {
	/** @type {import("./engine.js").Tokenizer} */
	#tokenizer;

	/**
	 * @param {string} name
	 * @param {import("./engine.js").Tokenizer} tokenizer
	 */
	constructor(name, tokenizer) {
		this.name = name;
		this.#tokenizer = tokenizer;
	}

	/**
	 * Returns the number of token IDs of a text.
	 * @param {string} text
	 */
	count(text) {
		return this.#tokenizer.count(checked(text), "text");
	}

	/**
	 * Returns the number of token IDs, or null if there are more than a limit, which stops early.
	 * @param {string} text
	 * @param {number} limit
	 * @returns {number | null}
	 */
	countUpTo(text, limit) {
		return this.#tokenizer.numbers("count_up_to", checked(text), whole("limit", limit))[0] ?? null;
	}
}
