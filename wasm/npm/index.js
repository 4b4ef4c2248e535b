// @ts-check
/** A tokenizer: the encodings of tiktoken, `tokenizer.json`, SentencePiece and `.tiktoken` files, in WebAssembly. */

import { checked, whole } from "./arguments.js";
import { PATTERNS } from "./data.js";
import { InternalError, openerOf, Refusal } from "./engine.js";
import { encodingNameForModel, encodingNames, loaderOf, once, open } from "./loading.js";

export { encodingNameForModel, encodingNames, InternalError };

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

/** Loads the module; see `loaderOf`. */
export const init = loaderOf("bytemill.wasm");

const encodings = once(async (name) => new Encoding(name, await open(init, name), true));

/**
 * Returns an encoding by its name, such as "o200k_base".
 * @param {string} name
 * @returns {Promise<Encoding>}
 */
export async function getEncoding(name) {
	return await encodings(name);
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

/** Gives back the memory of what is no longer reachable. */
const kept = new FinalizationRegistry((/** @type {{close(): void}} */ opened) => opened.close());

/** @param {SpecialOptions} options */
function ruleOf({ allowedSpecial = [], disallowedSpecial = "all" }) {
	/** @param {"all" | Iterable<string>} texts */
	const listed = (texts) => texts === "all" ? null : Array.from(texts);
	return JSON.stringify({ allowed: listed(allowedSpecial), disallowed: listed(disallowedSpecial) });
}

/** A tokenizer. Token IDs are those of the Python package, and of the library that the file comes from. */
export class Encoding {
	/** @type {import("./engine.js").Tokenizer | undefined} */
	#tokenizer;
	/** @type {boolean} */
	#shared;

	/**
	 * @param {string} name
	 * @param {import("./engine.js").Tokenizer} tokenizer
	 * @param {boolean} [shared] `getEncoding` returns it again
	 */
	constructor(name, tokenizer, shared = false) {
		this.name = name;
		this.#tokenizer = tokenizer;
		this.#shared = shared;
		kept.register(this, tokenizer, this);
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
	 * @returns {Uint32Array}
	 */
	encode(text, options) {
		// The default rule has a number: reading one from JSON takes longer than encoding a short text.
		if (!options) return this.#asked((tokenizer) => tokenizer.encode(checked(text), "error"));
		return this.#asked((tokenizer) => tokenizer.numbers("encode_with", checked(text), ruleOf(options)));
	}

	/**
	 * Starts a text that grows, whose token IDs are known after each change: that takes the time of what is new.
	 * @param {string} [text]
	 * @param {SpecialOptions} [options] as of `encode`
	 */
	session(text = "", options = {}) {
		const rule = ruleOf(options);
		const opened = this.#asked((tokenizer) => tokenizer.session(rule));
		const session = new Session(opened);
		session.append(text);
		return session;
	}

	/**
	 * Gives its memory back. The encoding is not usable afterwards; `getEncoding` makes another one. Without this call, it is
	 * given back when the encoding is no longer reachable, at a time that the engine chooses.
	 */
	free() {
		if (this.#tokenizer) {
			if (this.#shared) encodings.forget(this.name);
			kept.unregister(this);
			this.#tokenizer.close();
		}
		this.#tokenizer = undefined;
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
		const cut = this.#asked((tokenizer) => tokenizer.returned("cut", bytes, whole("limit", limit), Number(ends)));
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
		if (!this.#tokenizer) throw new Error(`the encoding ${this.name} was freed: call getEncoding or fromFile again`);
		try {
			return ask(this.#tokenizer);
		} catch (error) {
			throw told(error);
		}
	}
}

/** A text that grows or changes, with its token IDs, which are always those of encoding the whole text. */
export class Session {
	/** @type {import("./engine.js").Session | undefined} */
	#session;

	/** @param {import("./engine.js").Session} session */
	constructor(session) {
		this.#session = session;
		kept.register(this, session, this);
	}

	/**
	 * Appends to the text, and returns the change: the token IDs from `start` to `stop` became `ids`.
	 * @param {string} text
	 */
	append(text) {
		return this.#asked((session) => session.append(checked(text)));
	}

	/**
	 * Replaces the text, and returns the change; what both begin and end with is not encoded again.
	 * @param {string} text
	 */
	update(text) {
		return this.#asked((session) => session.update(checked(text)));
	}

	/** The text. */
	get text() {
		return this.#asked((session) => session.text);
	}

	/** The number of token IDs. */
	get count() {
		return this.#asked((session) => session.count());
	}

	/** Returns the token IDs. */
	ids() {
		return this.#asked((session) => session.ids());
	}

	/** Gives its memory back; the session is not usable afterwards. */
	free() {
		kept.unregister(this);
		this.#session?.close();
		this.#session = undefined;
	}

	/**
	 * @template T
	 * @param {(session: import("./engine.js").Session) => T} ask
	 */
	#asked(ask) {
		if (!this.#session) throw new Error("the session was freed: call encoding.session again");
		try {
			return ask(this.#session);
		} catch (error) {
			throw told(error);
		}
	}
}

// `using` calls these, in engines that have it.
for (const each of [Encoding, Session]) {
	if (Symbol.dispose) Object.defineProperty(each.prototype, Symbol.dispose, { value: each.prototype.free });
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
