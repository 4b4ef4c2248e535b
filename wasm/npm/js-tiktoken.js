// @ts-check
/**
 * The names of js-tiktoken, whose functions do not wait: call `await init(["o200k_base"])` once, with the encodings that are
 * used, and change the import.
 */

import { encodingNameForModel, getEncoding as load } from "./index.js";

/** @type {Map<string, Tiktoken>} */
const ready = new Map();

/**
 * Loads encodings; `getEncoding` and `encodingForModel` return these afterwards.
 * @param {string[]} names
 */
export async function init(names) {
	for (const name of names) ready.set(name, new Tiktoken(await load(name)));
}

/**
 * @param {string} name
 * @returns {Tiktoken}
 */
export function getEncoding(name) {
	const found = ready.get(name);
	if (!found) throw new Error(`${name} is not loaded: await init(["${name}"]) first`);
	return found;
}

export const getEncodingNameForModel = encodingNameForModel;

/** @param {string} model */
export function encodingForModel(model) {
	return getEncoding(encodingNameForModel(model));
}

export class Tiktoken {
	/** @param {import("./index.js").Encoding} encoding */
	constructor(encoding) {
		this.encoding = encoding;
	}

	/**
	 * @param {string} text
	 * @param {string[] | "all"} [allowedSpecial]
	 * @param {string[] | "all"} [disallowedSpecial]
	 * @returns {number[]}
	 */
	encode(text, allowedSpecial = [], disallowedSpecial = "all") {
		return Array.from(this.encoding.encode(text, { allowedSpecial, disallowedSpecial }));
	}

	/** @param {number[]} tokens */
	decode(tokens) {
		return this.encoding.decode(tokens);
	}
}
