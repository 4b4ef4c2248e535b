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

/** Bytes of the room for arguments that is kept; those of longer ones are given back. */
const ROOM = 1 << 16;

/** Shorter texts of ASCII are written character by character: in Node 20 that takes 50 ns for 44, `encodeInto` 200. */
const SHORT = 128;

/** So many numbers are copied one by one: `slice` takes 400 ns in Node 20, whatever their number. */
const FEW = 64;

/** One instance. After a fault its memory may be wrong, so that it must not be used again. */
class Instance {
	/** @param {WebAssembly.Module} module */
	constructor(module) {
		/** @type {any} */
		this.functions = new WebAssembly.Instance(module, {}).exports;
		this.broken = false;
		this.functions.set_seeds(...crypto.getRandomValues(new BigUint64Array(2)));
		this.memory = new Uint8Array(this.functions.memory.buffer);
		/** The same as numbers: what answers with numbers aligns them. */
		this.numbers = new Uint32Array(this.functions.memory.buffer);
		this.room = this.functions.allocate(ROOM);
		/** Bytes of the room that the arguments of this call take. */
		this.used = 0;
		/** @type {[number, number][]} */
		this.rooms = [];
		/** Where the last argument is, and its bytes. */
		this.address = 0;
		this.size = 0;
	}

	/** Returns the memory; an array of it ends when the memory grows. */
	bytes() {
		if (this.memory.length === 0) this.memory = new Uint8Array(this.functions.memory.buffer);
		return this.memory;
	}

	/**
	 * Writes a text or bytes into the memory, to `this.address` and `this.size`.
	 * @param {string | Uint8Array} given
	 */
	write(given) {
		if (typeof given !== "string" || 3 * given.length > ROOM - this.used) {
			const bytes = typeof given === "string" ? encoder.encode(given) : given;
			this.address = this.functions.allocate(bytes.length);
			this.size = bytes.length;
			this.rooms.push([this.address, this.size]);
			this.bytes().set(bytes, this.address);
			return;
		}
		const memory = this.bytes(), address = this.room + this.used, length = given.length;
		let i = length <= SHORT ? 0 : length + 1;
		for (let unit; i < length && (unit = given.charCodeAt(i)) < 0x80; i++) memory[address + i] = unit;
		this.address = address;
		this.size = i === length ? i : encoder.encodeInto(given, memory.subarray(address, address + 3 * length)).written;
		this.used += this.size;
	}

	/** Gives back the room of the arguments. */
	done() {
		this.used = 0;
		for (let room; (room = this.rooms.pop());) this.functions.release(...room);
	}

	/**
	 * Calls a function, and returns what it returns; a `Refusal` if that is below 0.
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	call(name, given) {
		let status;
		try {
			/** @type {number[]} */
			const passed = [];
			for (const each of given) {
				if (typeof each === "number") passed.push(each);
				else this.write(each), passed.push(this.address, this.size);
			}
			status = this.functions[name](...passed);
			this.done();
		} catch (error) {
			throw this.fault(error);
		}
		return status < 0 ? this.refuse(status) : status;
	}

	/**
	 * Calls a function of a tokenizer or session with a text, as `call` does; that took three times as long for short ones.
	 * @param {(number: number, address: number, size: number, more: number) => number} named
	 * @param {number} number
	 * @param {string | Uint8Array} text
	 * @param {number} more
	 */
	callWith(named, number, text, more) {
		let status;
		try {
			this.write(text);
			status = named(number, this.address, this.size, more);
			this.done();
		} catch (error) {
			throw this.fault(error);
		}
		return status < 0 ? this.refuse(status) : status;
	}

	/**
	 * Returns the error of a trap. Where memory ends, in JavaScript or here, the instance is also given up.
	 * @param {unknown} error
	 */
	fault(error) {
		this.broken = true;
		return new InternalError(`The library failed: ${/** @type {Error} */ (error).message}.`);
	}

	/**
	 * @param {number} status
	 * @returns {never}
	 */
	refuse(status) {
		throw new Refusal(JSON.parse(decoder.decode(this.answer(-status))));
	}

	/**
	 * Returns a copy of the answer of the last call, of so many bytes.
	 * @param {number} size
	 */
	answer(size) {
		const address = this.functions.answer();
		return this.bytes().slice(address, address + size);
	}

	/**
	 * Returns a copy of the answer as numbers.
	 * @param {number} size
	 */
	words(size) {
		const first = this.functions.answer() >>> 2, count = size >>> 2;
		if (this.numbers.length === 0) this.numbers = new Uint32Array(this.functions.memory.buffer);
		if (count > FEW) return this.numbers.slice(first, first + count);
		const words = new Uint32Array(count);
		for (let i = 0; i < count; i++) words[i] = this.numbers[first + i];
		return words;
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
		return instance.words(instance.call("pieces_by_pattern", [pattern, text]));
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
	 * Returns the bytes that a function answers with.
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	ask(name, ...given) {
		const number = this.number(), instance = this.library.instance();
		return instance.answer(instance.call(name, [number, ...given]));
	}

	/**
	 * Returns the numbers that a function answers with.
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	numbers(name, ...given) {
		const number = this.number(), instance = this.library.instance();
		return instance.words(instance.call(name, [number, ...given]));
	}

	/**
	 * Returns what a function returns.
	 * @param {string} name
	 * @param {Argument[]} given
	 */
	returned(name, ...given) {
		return this.library.instance().call(name, [this.number(), ...given]);
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
	 * Starts a text that grows, under a rule as of `encode_with`.
	 * @param {string} rule
	 */
	session(rule) {
		return new Session(this, rule);
	}

	/**
	 * @param {string | Uint8Array} text
	 * @param {string} special
	 */
	encode(text, special) {
		const number = this.number(), instance = this.library.instance();
		return instance.words(instance.callWith(instance.functions.encode, number, text, RULES.indexOf(special)));
	}

	/**
	 * @param {string | Uint8Array} text
	 * @param {string} special
	 */
	count(text, special) {
		const number = this.number(), instance = this.library.instance();
		return instance.callWith(instance.functions.count, number, text, RULES.indexOf(special));
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
		return this.numbers("unknown", bytesOf(ids));
	}

	/** @param {Argument} text */
	pieces(text) {
		return this.numbers("pieces", text);
	}

	/**
	 * @param {Argument} text
	 * @param {number} limit
	 */
	parts(text, limit) {
		return this.numbers("parts", text, limit);
	}

	/**
	 * Returns the rank of a mergeable token; null if there is none.
	 * @param {Uint8Array} token
	 */
	rank(token) {
		return this.numbers("rank", token)[0] ?? null;
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
		const sizes = new Uint32Array(block.buffer, 0, highest + 1);
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

/** A text that grows, with its IDs. */
export class Session {
	/**
	 * @param {Tokenizer} tokenizer
	 * @param {string} rule
	 */
	constructor(tokenizer, rule) {
		this.tokenizer = tokenizer;
		this.rule = rule;
		/** The text: a fault ends the instance that has the session, and the next one begins with it. */
		this.text = "";
		/** Whether it ends in the first half of a character. */
		this.half = false;
		/** @type {Instance | undefined} */
		this.instance = undefined;
		this.opened = -1;
	}

	/** Returns its number in the current instance. */
	number() {
		const current = this.tokenizer.library.instance();
		if (this.instance !== current) {
			const opened = current.call("open_session", [this.tokenizer.number(), this.rule]);
			if (this.text) current.callWith(current.functions.session_append, opened, this.text, 0);
			this.opened = opened;
			this.instance = current;
		}
		return this.opened;
	}

	/**
	 * Appends to the text, and returns the change.
	 * @param {string} text
	 */
	append(text) {
		// The half of a character at the end of a text is U+FFFD until the other half follows.
		const joins = this.half && isIn(0xDC00, text.charCodeAt(0));
		return joins ? this.update(this.text + text) : this.changed("session_append", text, this.text + text);
	}

	/**
	 * Replaces the text, and returns the change.
	 * @param {string} text
	 */
	update(text) {
		return this.changed("session_update", text, text);
	}

	/**
	 * @param {string} name
	 * @param {string} text
	 * @param {string} whole what the text is afterwards
	 */
	changed(name, text, whole) {
		const number = this.number(), instance = /** @type {Instance} */ (this.instance);
		const found = instance.words(instance.callWith(instance.functions[name], number, text, 0));
		this.text = whole;
		// To look at the end of `whole` would copy it: it is kept as the parts that were appended.
		if (text || !whole) this.half = isIn(0xD800, text.charCodeAt(text.length - 1));
		return { start: found[0], stop: found[1], ids: found.subarray(2) };
	}

	count() {
		const number = this.number();
		return /** @type {Instance} */ (this.instance).call("session_count", [number]);
	}

	ids() {
		const number = this.number(), instance = /** @type {Instance} */ (this.instance);
		return instance.words(instance.call("session_ids", [number]));
	}

	/** Gives back its memory. The next question opens it again. */
	close() {
		const instance = this.instance;
		this.instance = undefined;
		if (instance && !instance.broken) instance.call("close_session", [this.opened]);
	}
}

/**
 * Returns whether a unit is one of the 1,024 surrogates from the first on.
 * @param {number} first
 * @param {number} unit
 */
function isIn(first, unit) {
	return unit >= first && unit < first + 0x400;
}

const NO_TOKEN = 0xFFFFFFFF, OTHERS = 0x80000000;

/** The rules for special tokens in a text, in the order of their numbers. */
export const RULES = ["text", "allow", "error"];

/** @param {Uint32Array} ids */
function bytesOf(ids) {
	return new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
}
