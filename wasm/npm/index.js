// @ts-check
/** A tokenizer: the encodings of tiktoken, `tokenizer.json`, SentencePiece and `.tiktoken` files, in WebAssembly. */

import { ENCODINGS, MODEL_PREFIXES, MODELS, PATTERNS, TABLES } from "./data.js";
import { InternalError, Library, openerOf, Refusal } from "./engine.js";
import { sha256 } from "./sha256.js";

export { InternalError };

const encoder = new TextEncoder(), decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A text contains a special token that is not allowed, with the number of characters before it. */
export class DisallowedSpecialTokenError extends Error {
	/**
	 * @param {string} message
	 * @param {string} token
	 * @param {number} start
	 */
	constructor(message, token, start) {
		super(message);
		this.token = token;
		this.start = start;
	}
}

/** Names of the encodings. */
export const encodingNames = Object.keys(ENCODINGS);

/** @param {string} name */
async function read(name) {
	const url = new URL(name, import.meta.url);
	if (url.protocol !== "file:") {
		const response = await fetch(url);
		if (!response.ok) throw new Error(`${url} could not be loaded: status ${response.status}`);
		return new Uint8Array(await response.arrayBuffer());
	}
	const { readFile } = await import("node:fs/promises");
	return new Uint8Array(await readFile(url));
}

/** @type {Promise<Library> | undefined} */
let library;

/**
 * Loads the module once. Without an argument it is read from beside this file; where compiling bytes is forbidden, as on edge
 * workers, give it the module that was imported.
 * @param {WebAssembly.Module} [module]
 */
export function init(module) {
	library ??= module
		? Promise.resolve(new Library(module))
		: read("bytemill.wasm").then((bytes) => WebAssembly.compile(/** @type {BufferSource} */ (bytes))).then((compiled) =>
			new Library(compiled)
		);
	const loading = library;
	loading.catch(() => library = undefined);
	return loading;
}

/** @type {Map<string, Promise<Uint8Array>>} */
const tables = new Map();

/** @param {string} name */
function table(name) {
	let found = tables.get(name);
	if (!found) {
		found = read(`${name}.merges`).then((contents) => {
			if (sha256(contents) !== TABLES[name]) throw new Error(`${name}.merges is not the file of this version`);
			return contents;
		});
		tables.set(name, found);
		found.catch(() => tables.delete(name));
	}
	return found;
}

/** @type {Map<string, Promise<Encoding>>} */
const encodings = new Map();

/**
 * Returns an encoding by its name, such as "o200k_base".
 * @param {string} name
 * @returns {Promise<Encoding>}
 */
export async function getEncoding(name) {
	if (!Object.hasOwn(ENCODINGS, name)) {
		throw new RangeError(`expected the name of an encoding, one of ${encodingNames.join(", ")}, got "${name}"`);
	}
	let found = encodings.get(name);
	if (!found) {
		found = Promise.all([init(), ...ENCODINGS[name].map(table)]).then(([loaded, first, second]) =>
			new Encoding(name, loaded.open("open_published", name, first, second ?? new Uint8Array()))
		);
		encodings.set(name, found);
		found.catch(() => encodings.delete(name));
	}
	return await found;
}

/**
 * Returns the name of the encoding of a model, such as "gpt-4o".
 * @param {string} model
 */
export function encodingNameForModel(model) {
	if (Object.hasOwn(MODELS, model)) return MODELS[model];
	const prefix = Object.keys(MODEL_PREFIXES).find((each) => model.startsWith(each));
	if (prefix === undefined) throw new RangeError(`no encoding is known for the model "${model}": call getEncoding with its name`);
	return MODEL_PREFIXES[prefix];
}

/**
 * Returns the encoding of a model, such as "gpt-4o".
 * @param {string} model
 */
export function encodingForModel(model) {
	return getEncoding(encodingNameForModel(model));
}

/**
 * Opens the contents of a file: `tokenizer.json`, SentencePiece's `.model`, `.bytemill`, or `.tiktoken` with a pattern.
 * @param {Uint8Array} contents
 * @param {{name?: string, pattern?: string}} [options] `pattern` is a name such as "cl100k", or a regular expression
 */
export async function fromFile(contents, { name = "file", pattern } = {}) {
	const loaded = await init();
	const opener = openerOf(contents);
	if (!opener) throw new TypeError("expected a tokenizer.json, a SentencePiece .model, a .tiktoken or a .bytemill file");
	/** @type {string[]} */
	const more = [];
	if (opener === "open_ranks") {
		if (pattern === undefined) throw new TypeError("a .tiktoken file has no pattern: expected one as the option `pattern`");
		more.push(PATTERNS[pattern] ?? pattern);
	}
	try {
		const tokenizer = loaded.open(opener, contents, ...more);
		return new Encoding(tokenizer.described().name ?? name, tokenizer);
	} catch (error) {
		throw told(error);
	}
}

/**
 * @typedef {{
 *   allowedSpecial?: "all" | Iterable<string>,
 *   disallowedSpecial?: "all" | Iterable<string>,
 * }} SpecialOptions
 */

/** A tokenizer. Token IDs are those of the Python package, and of the library that the file comes from. */
export class Encoding {
	/** @type {import("./engine.js").Tokenizer} */
	#tokenizer;

	/**
	 * @param {string} name
	 * @param {import("./engine.js").Tokenizer} tokenizer
	 */
	constructor(name, tokenizer) {
		this.name = name;
		this.#tokenizer = tokenizer;
		const facts = tokenizer.described();
		/** The ID of each special token. */
		this.specialTokens = new Map(facts.special);
		/** The highest ID. */
		this.maxTokenId = facts.highest;
	}

	/**
	 * Returns the token IDs of a text. Special tokens in it are an error, as in tiktoken, unless they are allowed, or not disallowed.
	 * @param {string} text
	 * @param {SpecialOptions} [options]
	 */
	encode(text, { allowedSpecial = [], disallowedSpecial = "all" } = {}) {
		/** @param {"all" | Iterable<string>} texts */
		const listed = (texts) => texts === "all" ? null : Array.from(texts);
		const rule = JSON.stringify({ allowed: listed(allowedSpecial), disallowed: listed(disallowedSpecial) });
		return this.#asked((tokenizer) => tokenizer.numbers("encode_with", checked(text), rule));
	}

	/**
	 * Returns the token IDs of a text, in which special tokens are ordinary text.
	 * @param {string} text
	 */
	encodeOrdinary(text) {
		return this.#asked((tokenizer) => tokenizer.encode(checked(text), "text"));
	}

	/**
	 * Returns the number of token IDs of a text, in which special tokens are ordinary text.
	 * @param {string} text
	 */
	count(text) {
		return this.#asked((tokenizer) => tokenizer.count(checked(text), "text"));
	}

	/**
	 * Returns the number of token IDs, or null if there are more than a limit, which stops early.
	 * @param {string} text
	 * @param {number} limit
	 * @returns {number | null}
	 */
	countUpTo(text, limit) {
		return this.#asked((tokenizer) => tokenizer.numbers("count_up_to", checked(text), whole("limit", limit)))[0] ?? null;
	}

	/**
	 * Returns the text of token IDs; bytes that are not UTF-8 become U+FFFD.
	 * @param {Uint32Array | number[]} ids
	 */
	decode(ids) {
		return decoder.decode(this.decodeBytes(ids));
	}

	/**
	 * Returns the bytes of token IDs.
	 * @param {Uint32Array | number[]} ids
	 * @returns {Uint8Array}
	 */
	decodeBytes(ids) {
		const given = ids instanceof Uint32Array ? ids : Uint32Array.from(ids, (id) => whole("a token ID", id));
		return this.#asked((tokenizer) => tokenizer.decode(given));
	}

	/** Returns a decoder of token IDs that arrive one by one. */
	streamDecoder() {
		const stream = new TextDecoder("utf-8", { ignoreBOM: true });
		return {
			/** @param {number | Uint32Array | number[]} ids */
			push: (ids) => stream.decode(this.decodeBytes(typeof ids === "number" ? [ids] : ids), { stream: true }),
			flush: () => stream.decode(),
		};
	}

	/**
	 * Returns the longest beginning of a text, or its longest end, that has at most `limit` token IDs.
	 * @param {string} text
	 * @param {number} limit
	 * @param {{keep?: "start" | "end"}} [options]
	 */
	truncate(text, limit, { keep = "start" } = {}) {
		const bytes = encoder.encode(checked(text)), ends = keep === "end";
		const [cut] = this.#asked((tokenizer) => tokenizer.numbers("cut", bytes, whole("limit", limit), Number(ends)));
		return decoder.decode(ends ? bytes.subarray(cut) : bytes.subarray(0, cut));
	}

	/**
	 * Returns the parts of a text that have at most `limit` token IDs each, and repeat the last `overlap` of the part before.
	 * @param {string} text
	 * @param {number} limit
	 * @param {{overlap?: number}} [options]
	 * @returns {string[]}
	 */
	split(text, limit, { overlap = 0 } = {}) {
		const bytes = encoder.encode(checked(text));
		const ends = this.#asked((tokenizer) => tokenizer.numbers("ranges", bytes, whole("limit", limit), whole("overlap", overlap)));
		return Array.from({ length: ends.length / 2 }, (_, i) => decoder.decode(bytes.subarray(ends[2 * i], ends[2 * i + 1])));
	}

	/**
	 * Returns token IDs, and where each starts and ends in the text: `text.slice(starts[i], ends[i])`.
	 * @param {string} text
	 */
	encodeWithOffsets(text) {
		const numbers = this.#asked((tokenizer) => tokenizer.numbers("with_offsets", checked(text)));
		const count = numbers.length / 3;
		return { ids: numbers.slice(0, count), starts: numbers.slice(count, 2 * count), ends: numbers.slice(2 * count) };
	}

	/**
	 * @template T
	 * @param {(tokenizer: import("./engine.js").Tokenizer) => T} ask
	 */
	#asked(ask) {
		try {
			return ask(this.#tokenizer);
		} catch (error) {
			throw told(error);
		}
	}
}

/**
 * Returns the error of a refusal, and others as they are.
 * @param {unknown} error
 */
function told(error) {
	if (!(error instanceof Refusal)) return error;
	const { token, place } = /** @type {{token?: string, place?: number}} */ (error.answer);
	if (token === undefined) return new RangeError(error.message);
	return new DisallowedSpecialTokenError(error.message, token, place ?? 0);
}

/** @param {unknown} text */
function checked(text) {
	if (typeof text !== "string") throw new TypeError(`expected a string, got ${text === null ? "null" : typeof text}`);
	return text;
}

/**
 * @param {string} what
 * @param {number} value
 */
function whole(what, value) {
	if (!Number.isInteger(value) || value < 0 || value > 0xFFFFFFFF) {
		throw new RangeError(`expected ${what} of 0 to 4294967295, a whole number, got ${value}`);
	}
	return value;
}
