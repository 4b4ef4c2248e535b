// @ts-check
/** The library in WebAssembly; src/face.rs is the other side. */

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A request that cannot be answered, with what the page shows of it. */
export class Refusal extends Error {
	/** @param {Record<string, unknown> & {error: string}} answer */
	constructor(answer) {
		super(answer.error);
		this.answer = answer;
	}
}

/** A fault of the library. The next call works, on a new instance. */
export class InternalError extends Error {}

/** @typedef {number | string | Uint8Array} Argument texts and bytes are passed as address and size */

/** One instance. After a fault its memory may be wrong, so that it must not be used again. */
class Instance {
	/** @param {WebAssembly.Module} module */
	constructor(module) {
		/** @type {any} */
		this.functions = new WebAssembly.Instance(module, {}).exports;
		this.broken = false;
		this.functions.set_seeds(...crypto.getRandomValues(new BigUint64Array(2)));
	}

	/**
	 * @param {number} address
	 * @param {number} size
	 */
	bytes(address, size) {
		return new Uint8Array(this.functions.memory.buffer, address, size);
	}

	/**
	 * Calls a function, and returns what it returns; a `Refusal` if that is below 0.
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	call(name, given) {
		/** @type {number[]} */
		const passed = [];
		/** @type {[number, number][]} */
		const rooms = [];
		let status;
		try {
			for (const each of given) {
				if (typeof each === "number") {
					passed.push(each);
					continue;
				}
				const bytes = typeof each === "string" ? encoder.encode(each) : each;
				const address = this.functions.allocate(bytes.length);
				rooms.push([address, bytes.length]);
				this.bytes(address, bytes.length).set(bytes);
				passed.push(address, bytes.length);
			}
			status = this.functions[name](...passed);
			for (const [address, size] of rooms) this.functions.release(address, size);
		} catch (error) {
			this.broken = true;
			throw new InternalError(`The library failed: ${/** @type {Error} */ (error).message}.`);
		}
		if (status < 0 && name !== "rank") throw new Refusal(JSON.parse(decoder.decode(this.answer())));
		return status;
	}

	/** Returns a copy of the answer of the last call. */
	answer() {
		return this.bytes(this.functions.answer(), this.functions.answer_size()).slice();
	}
}

/**
 * Returns the function of the library that opens a file, by how its contents begin; null if they are of no format that it reads.
 * @param {Uint8Array} contents
 */
export function openerOf(contents) {
	const start = String.fromCharCode(...contents.subarray(0, 200));
	if (/^\s*\{/.test(start)) return "open_tokenizer_json";
	if (start.startsWith("bytemill ")) return "open_native";
	if (contents[0] === 0x0A) return "open_model";
	return /^[A-Za-z0-9+/]+=*\x20\d+\r?\n/.test(start) ? "open_ranks" : null;
}

/** Opens tokenizers, and opens them again where a fault has ended an instance. */
export class Library {
	/** @param {WebAssembly.Module} module */
	constructor(module) {
		this.module = module;
		/** @type {Instance | undefined} */
		this.current = undefined;
	}

	instance() {
		if (!this.current || this.current.broken) this.current = new Instance(this.module);
		return this.current;
	}

	/**
	 * Opens a tokenizer by a function of the library.
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	open(name, ...given) {
		const tokenizer = new Tokenizer(this, (instance) => instance.call(name, given));
		tokenizer.number();
		return tokenizer;
	}

	/**
	 * Returns the sizes of the pieces that a pattern cuts a text into.
	 * @param {string} pattern
	 * @param {Argument} text
	 */
	pieces(pattern, text) {
		const instance = this.instance();
		instance.call("pieces_by_pattern", [pattern, text]);
		return words(instance.answer());
	}
}

/** A tokenizer that is open. */
export class Tokenizer {
	/**
	 * @param {Library} library
	 * @param {(instance: Instance) => number} open
	 */
	constructor(library, open) {
		this.library = library;
		this.open = open;
		/** @type {Instance | undefined} */
		this.instance = undefined;
		this.opened = -1;
	}

	/** Returns its number in the current instance. */
	number() {
		const current = this.library.instance();
		if (this.instance !== current) {
			this.opened = this.open(current);
			this.instance = current;
		}
		return this.opened;
	}

	/**
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	ask(name, ...given) {
		const number = this.number(), instance = this.library.instance();
		instance.call(name, [number, ...given]);
		return instance.answer();
	}

	/**
	 * Returns the same tokenizer with further special tokens.
	 * @param {Record<string, number>} tokens
	 */
	with(tokens) {
		const more = JSON.stringify(tokens);
		return new Tokenizer(this.library, (instance) => instance.call("with_special_tokens", [this.number(), more]));
	}

	/** Gives back its memory. The next question opens it again. */
	close() {
		const instance = this.instance;
		this.instance = undefined;
		if (instance && !instance.broken) instance.call("close", [this.opened]);
	}

	/**
	 * @param {Argument} text
	 * @param {string} special
	 */
	encode(text, special) {
		return words(this.ask("encode", text, RULES.indexOf(special)));
	}

	/**
	 * @param {Argument} text
	 * @param {string} special
	 */
	count(text, special) {
		return words(this.ask("count", text, RULES.indexOf(special)))[0];
	}

	/**
	 * Returns a block for the page.
	 * @param {Uint8Array} text
	 * @param {string} special
	 * @param {number} sequence
	 */
	packed(text, special, sequence) {
		return this.ask("packed", text, RULES.indexOf(special), sequence);
	}

	/** @param {Uint32Array} ids */
	decode(ids) {
		return this.ask("decode", bytesOf(ids));
	}

	/** @param {Uint32Array} ids */
	unknown(ids) {
		return words(this.ask("unknown", bytesOf(ids)));
	}

	/** @param {Argument} text */
	pieces(text) {
		return words(this.ask("pieces", text));
	}

	/**
	 * @param {Argument} text
	 * @param {number} limit
	 */
	parts(text, limit) {
		return words(this.ask("parts", text, limit));
	}

	/**
	 * Returns the answer of another function that answers with numbers.
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	numbers(name, ...given) {
		return words(this.ask(name, ...given));
	}

	/**
	 * Returns the rank of a mergeable token; null if there is none.
	 * @param {Uint8Array} token
	 */
	rank(token) {
		const found = Number(this.library.instance().call("rank", [this.number(), token]));
		return found < 0 ? null : found;
	}

	/**
	 * Returns how the pieces of a text become tokens without ranks; null for models that merge.
	 * @param {Argument} text
	 */
	explained(text) {
		return JSON.parse(decoder.decode(this.ask("explained", text)));
	}

	described() {
		return JSON.parse(decoder.decode(this.ask("described")));
	}

	/**
	 * Returns all tokens in the order of their ids.
	 * @returns {{id: number, bytes: Uint8Array, merged: boolean}[]}
	 */
	tokens() {
		const block = this.ask("tokens"), { highest } = this.described();
		const sizes = words(block.subarray(0, 4 * (highest + 1)));
		const found = [];
		let place = 4 * (highest + 1);
		for (let id = 0; id <= highest; id++) {
			if (sizes[id] === NO_TOKEN) continue;
			const size = sizes[id] & ~OTHERS;
			found.push({ id, bytes: block.subarray(place, place += size), merged: sizes[id] < OTHERS });
		}
		return found;
	}
}

const NO_TOKEN = 0xFFFFFFFF, OTHERS = 0x80000000;

/** The rules for special tokens in a text, in the order of their numbers. */
export const RULES = ["text", "allow", "error"];

/** @param {Uint8Array} bytes */
function words(bytes) {
	// Their place need not be a multiple of 4.
	return new Uint32Array(bytes.slice().buffer);
}

/** @param {Uint32Array} ids */
function bytesOf(ids) {
	return new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
}
