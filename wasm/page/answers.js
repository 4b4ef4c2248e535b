// @ts-check
/** The answers to the page, of the shapes of answers.py; a test compares them. */

import { Library, openerOf, Refusal, RULES } from "./engine.js";
import { sha256 } from "./sha256.js";
import { grouped, hex, kindOf, lastMerge, mayOccur, mergeTrace, textOf, trainingTrace, unhex } from "./twins.js";

/** @typedef {import("./engine.js").Tokenizer} Tokenizer */

/** Limits, as in answers.py. */
const MOST_EXPLAINED = 64, MOST_PIECES = 64, MOST_HITS = 200, MOST_DECODED = 4_000_000, MOST_CUT = 10_000;
const MOST_LOOKED_UP = 1024, MOST_MESSAGES = 64, MOST_FILES = 8;

/** What the playground of the Python package does beside this. */
const ONLY_IN_PYTHON = "This needs the Python package: pip install bytemill; bytemill playground";

const encoder = new TextEncoder(), lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * @typedef {{
 *   state: object,
 *   encodings: {name: string, tokens: number | null, models: string[], file: boolean, ranks: boolean}[],
 *   details: Record<string, any>,
 *   patterns: Record<string, string>,
 *   stages: Record<string, object>,
 *   formats: Record<string, {encoding: string, start: string, content: string, end: string, assumed: Record<string, number>}>,
 *   meanings: Record<string, string>,
 *   scripts: string[],
 *   tables: Record<string, {file: string, sha256: string}>,
 *   vocabularies: Record<string, string[]>,
 * }} Data is written when the page is built
 */

/** A tokenizer that the page knows by a name. */
class Known {
	/**
	 * @param {string} name
	 * @param {Tokenizer} tokenizer
	 */
	constructor(name, tokenizer) {
		this.name = name;
		this.tokenizer = tokenizer;
		this.facts = tokenizer.described();
		/** @type {Map<number, string>} */
		this.special = new Map(this.facts.special.toReversed().map((/** @type {[string, number]} */ [text, id]) => [id, text]));
		/** @type {{id: number, bytes: Uint8Array, text: string, merged: boolean}[] | undefined} with each byte as a character */
		this.table = undefined;
	}

	tokens() {
		return this.table ??= this.tokenizer.tokens().map((token) => ({ ...token, text: latin(token.bytes) }));
	}

	/** @param {Uint8Array} token */
	rank = (token) => this.tokenizer.rank(token);
}

/** @param {Uint8Array} bytes */
function latin(bytes) {
	let text = "";
	for (const byte of bytes) text += String.fromCharCode(byte);
	return text;
}

/** @param {Uint8Array[]} parts */
function joined(parts) {
	const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
	let place = 0;
	for (const part of parts) {
		whole.set(part, place);
		place += part.length;
	}
	return whole;
}

export class Answers {
	/**
	 * @param {Data} data
	 * @param {(file: string) => Promise<Uint8Array>} read
	 * @param {Promise<WebAssembly.Module>} module
	 */
	constructor(data, read, module) {
		this.data = data;
		this.read = read;
		this.library = module.then((compiled) => new Library(compiled));
		/** @type {Map<string, Promise<Known>>} */
		this.published = new Map();
		/** @type {Map<string, {known: Known, contents: Uint8Array}>} */
		this.files = new Map();
		/** @type {Map<string, Known>} with the special tokens that a format of chats assumes, by its name */
		this.formats = new Map();
	}

	/**
	 * @param {string | undefined | null} name
	 * @returns {Promise<Known>}
	 */
	async chosen(name) {
		if (!name) throw new Refusal({ error: "expected the name of an encoding as e=" });
		const file = this.files.get(name);
		if (file) return file.known;
		if (!(name in this.data.details)) throw new Refusal({ error: `there is no encoding '${name}'` });
		let found = this.published.get(name);
		if (!found) {
			found = this.openPublished(name);
			this.published.set(name, found);
			// A table that did not come may come when it is asked for again.
			found.catch(() => this.published.delete(name));
		}
		return await found;
	}

	/** @param {string} name */
	async openPublished(name) {
		const tables = await Promise.all(this.data.vocabularies[name].map((table) => this.table(table)));
		const tokenizer = (await this.library).open("open_published", name, tables[0], tables[1] ?? new Uint8Array());
		// Before the time of a text is taken: the first use of an encoding builds its tables.
		tokenizer.count("a", "text");
		return new Known(name, tokenizer);
	}

	/** @param {string} name */
	async table(name) {
		const { file, sha256: expected } = this.data.tables[name];
		const contents = await this.read(file);
		if (await sha256(contents) !== expected) throw new Refusal({ error: `${file} did not arrive as it was built: reload the page.` });
		return contents;
	}

	start() {
		return this.data.state;
	}

	encodings() {
		const files = Array.from(this.files, ([name, { known }]) => ({
			name,
			tokens: known.facts.highest + 1,
			models: [],
			file: true,
			ranks: known.facts.ranks,
		}));
		return { encodings: [...this.data.encodings, ...files], patterns: Object.keys(this.data.patterns) };
	}

	/** @param {string} name */
	async details(name) {
		const known = await this.chosen(name), file = this.files.get(name);
		if (!file) return this.data.details[name];
		return {
			name,
			tokens: known.facts.highest + 1,
			special: Object.fromEntries(known.facts.special),
			sha256: await fingerprint(known, file.contents),
			pattern: known.facts.pattern,
		};
	}

	/**
	 * @param {Uint8Array} bytes
	 * @param {{e: string, b?: string | null, special: string, seq: number}} options
	 */
	async encode(bytes, { e, b, special, seq }) {
		if (!RULES.includes(special)) {
			throw new Refusal({ error: `expected text, allow or error as the rule for special tokens, got '${special}'` });
		}
		const blocks = [];
		for (const name of b ? [e, b] : [e]) {
			const { tokenizer } = await this.chosen(name);
			const began = performance.now();
			const block = tokenizer.packed(bytes, special, seq >>> 0);
			new DataView(block.buffer).setUint32(28, Math.round((performance.now() - began) * 1000), true);
			blocks.push(block);
		}
		return joined(blocks).buffer;
	}

	/**
	 * @param {string} name
	 * @param {Uint32Array} ids
	 */
	async decode(name, ids) {
		const { tokenizer, facts } = await this.chosen(name);
		if (ids.length > MOST_DECODED) {
			throw new Refusal({
				error: `expected at most ${grouped(MOST_DECODED)} IDs of 4 bytes each, got ${grouped(4 * ids.length)} bytes`,
			});
		}
		const unknown = Array.from(tokenizer.unknown(ids)), missing = new Set(unknown);
		const bytes = tokenizer.decode(missing.size ? ids.filter((id) => !missing.has(id)) : ids);
		return { text: lossy.decode(bytes), exact: textOf(bytes) !== null, unknown: unknown.slice(0, MOST_HITS), highest: facts.highest };
	}

	/**
	 * @param {string} name
	 * @param {number} id
	 */
	async token(name, id) {
		const known = await this.chosen(name);
		const bytes = Uint32Array.of(id);
		if (known.tokenizer.unknown(bytes).length) {
			throw new Refusal({ error: `no token of ${name} has the id ${id}; IDs go from 0 to ${known.facts.highest}` });
		}
		const special = known.special.get(id);
		const merged = known.tokens().find((token) => token.id === id);
		if (!merged || (special === undefined && !known.facts.ranks)) throw new Refusal({ error: ONLY_IN_PYTHON });
		const value = merged.bytes, text = textOf(value);
		const report = { encoding: name, id, bytes: hex(value), text, kind: kindOf(value, this.data.scripts) };
		if (special !== undefined) return { ...report, reach: "special", parts: [], meaning: this.data.meanings.special };
		const parts = lastMerge(value, known.rank);
		const made = text === null ? [] : known.tokenizer.encode(value, "text");
		const whole = made.length === 1 && made[0] === id;
		let reach;
		if (!mayOccur(value) || !(parts || whole)) reach = "unreachable";
		else if (text === null) reach = "fragment";
		else if (!whole) reach = "cut";
		else reach = parts ? "whole" : "whole_only";
		const joined = (parts ?? []).map((part) => ({ id: known.rank(part), bytes: hex(part) }));
		return { ...report, reach, parts: joined, meaning: this.data.meanings[reach] };
	}

	/**
	 * @param {string} name
	 * @param {string} text
	 */
	async explain(name, text) {
		const known = await this.chosen(name);
		if (!known.facts.ranks) {
			const explained = known.tokenizer.explained(Array.from(text).slice(0, MOST_EXPLAINED).join(""));
			if (!explained) throw new Refusal({ error: ONLY_IN_PYTHON });
			return explained;
		}
		const bytes = encoder.encode(text), sizes = known.tokenizer.pieces(bytes), pieces = [];
		let start = 0;
		for (const size of sizes.subarray(0, MOST_PIECES)) {
			const piece = bytes.subarray(start, start += size);
			if (size <= MOST_EXPLAINED) pieces.push(mergeTrace(piece, known.rank));
		}
		return { pieces, count: sizes.length, ranks: true };
	}

	/**
	 * @param {{e?: string, pattern?: string}} by
	 * @param {Uint8Array} bytes
	 */
	async pieces({ e, pattern }, bytes) {
		if (pattern !== undefined) {
			const text = Array.from(lossy.decode(bytes)).slice(0, MOST_CUT).join("");
			return (await this.library).pieces(this.pattern(pattern), text);
		}
		const known = await this.chosen(e);
		if (!known.facts.ranks) throw new Refusal({ error: `${e} has no single pattern that cuts the text into pieces` });
		return known.tokenizer.pieces(bytes);
	}

	/** @param {string} name */
	pattern(name) {
		const names = Object.keys(this.data.patterns);
		if (!names.includes(name)) throw new Refusal({ error: `expected the name of a pattern, one of ${names.join(", ")}` });
		return this.data.patterns[name];
	}

	/**
	 * @param {string} name
	 * @param {number} limit
	 * @param {Uint8Array} bytes
	 */
	async parts(name, limit, bytes) {
		return (await this.chosen(name)).tokenizer.parts(bytes, limit);
	}

	page() {
		throw new Refusal({ error: ONLY_IN_PYTHON });
	}

	/**
	 * @param {string} name
	 * @param {string[]} tokens in hexadecimal digits
	 */
	async known(name, tokens) {
		if (tokens.length > MOST_LOOKED_UP) throw new Refusal({ error: `expected at most ${grouped(MOST_LOOKED_UP)} tokens` });
		const known = await this.chosen(name);
		const ids = new Map(known.tokens().map(({ text, id }) => [text, id]));
		return { ids: tokens.map((digits) => ids.get(latin(unhex(digits))) ?? null) };
	}

	/**
	 * @param {string} name
	 * @param {string} wanted
	 */
	async search(name, wanted) {
		const known = await this.chosen(name), matches = matcher(wanted);
		let found = known.tokens().filter(({ id, text }) => matches(id, text));
		const count = found.length;
		// Where merges begin.
		if (!wanted) found = found.filter(({ id, bytes }) => bytes.length > 1 && !known.special.has(id));
		const hits = found.slice(0, MOST_HITS).map(({ id, bytes }) => ({ id, bytes: hex(bytes), special: known.special.has(id) }));
		return { count, hits };
	}

	/** @param {{text: string, merges: number, pattern: string, tie_break: string}} request */
	async train(request) {
		const library = await this.library, pattern = this.pattern(request.pattern);
		return trainingTrace(request, (bytes) => library.pieces(pattern, bytes));
	}

	/** @param {{format: string, messages: [string, string][], answering: string | null, parsed: boolean}} request */
	async chat({ format, messages, answering, parsed }) {
		const form = this.data.formats[format];
		if (!form) throw new Refusal({ error: `expected a format, one of ${Object.keys(this.data.formats).join(", ")}` });
		if (messages.length > MOST_MESSAGES) throw new Refusal({ error: `expected at most ${MOST_MESSAGES} messages` });
		let known = this.formats.get(format);
		if (!known) {
			known = await this.chosen(form.encoding);
			if (Object.keys(form.assumed).length) known = new Known(form.encoding, known.tokenizer.with(form.assumed));
			this.formats.set(format, known);
		}
		/** @type {[string, boolean][]} */
		const segments = messages.flatMap(([role, content]) => [
			[form.start, true],
			[role, false],
			[form.content, true],
			[content, false],
			[form.end, true],
		]);
		if (answering !== null) segments.push([form.start, true], [answering, false]);
		/** @type {number[]} */
		const ids = [], special = [], lengths = [];
		for (const [part, marks] of segments) {
			for (const id of known.tokenizer.encode(part, marks || parsed ? "allow" : "text")) {
				if (known.special.has(id)) special.push(ids.length);
				lengths.push(known.tokenizer.decode(Uint32Array.of(id)).length);
				ids.push(id);
			}
		}
		const text = segments.map(([part]) => part).join("");
		return { encoding: form.encoding, text, ids, lengths, special, as_text: known.tokenizer.count(text, "text") };
	}

	/** @param {string} name */
	stage(name) {
		if (!(name in this.data.stages)) throw new Refusal({ error: `there is no stage '${name}'` });
		return this.data.stages[name];
	}

	/**
	 * @param {string} filename
	 * @param {Uint8Array} contents
	 * @param {string} pattern
	 */
	async load(filename, contents, pattern) {
		const library = await this.library;
		const base = filename.split(/[/\\]/).pop() || "file";
		let known;
		try {
			known = new Known(base, opened(library, base, contents, pattern && this.pattern(pattern), this.data));
		} catch (error) {
			if (!(error instanceof Refusal) || error.answer.patterns) throw error;
			throw new Refusal({ ...error.answer, error: `${base}: ${error.message}` });
		}
		const stem = known.facts.name ?? (base.replace(/\.[^.]*$/, "") || base);
		let name = stem;
		for (let number = 2; name in this.data.details || this.files.has(name); number++) name = `${stem} (${number})`;
		known.name = name;
		this.files.set(name, { known, contents: body(contents) });
		if (this.files.size > MOST_FILES) {
			const [[oldest, file]] = this.files;
			file.known.tokenizer.close();
			this.files.delete(oldest);
		}
		return { name, warnings: [] };
	}
}

/**
 * Opens a file of the format that its contents show.
 * @param {Library} library
 * @param {string} base
 * @param {Uint8Array} contents
 * @param {string} pattern
 * @param {Data} data
 */
function opened(library, base, contents, pattern, data) {
	if (!contents.length) throw new Refusal({ error: "expected a vocabulary, and the file is empty" });
	const opener = openerOf(contents);
	if (!opener) {
		throw new Refusal({
			error: `expected a tokenizer.json, a .tiktoken or .bytemill file, or SentencePiece's .model. ${ONLY_IN_PYTHON}, which reads more`,
		});
	}
	if (opener !== "open_ranks") return library.open(opener, contents);
	if (!pattern) {
		throw new Refusal({
			error: `${base} has no pattern: choose the one that its model splits texts by.`,
			patterns: Object.keys(data.patterns),
		});
	}
	return library.open(opener, contents, pattern);
}

/**
 * Returns the model in a native file: what is behind its head and before its checksum; other files as they are.
 * @param {Uint8Array} contents
 */
function body(contents) {
	if (!latin(contents.subarray(0, 9)).startsWith("bytemill ")) return contents;
	const head = contents.indexOf(0x0A) + 1;
	return contents.subarray(contents.indexOf(0x0A, head) + 1, -4);
}

/**
 * Returns the test of a search: `#5` and `#5-9` are ids, `0x` begins bytes, anything else is text.
 * @param {string} wanted
 * @returns {(id: number, text: string) => boolean}
 */
function matcher(wanted) {
	const ids = wanted.trim().match(/^#(\d{1,10})(?:-(\d{1,10}))?$/);
	if (ids) {
		const first = Number(ids[1]), last = Number(ids[2] ?? ids[1]);
		return (id) => first <= id && id <= last;
	}
	const digits = wanted.trim().match(/^0x((?:[0-9a-fA-F]{2}\s*)+)$/);
	const part = latin(digits ? unhex(digits[1].replace(/\s/g, "")) : encoder.encode(wanted));
	return (_, text) => text.includes(part);
}

/**
 * Returns the SHA-256 of all that determines ids; fingerprint.py describes what is hashed.
 * @param {Known} known
 * @param {Uint8Array} contents
 */
function fingerprint(known, contents) {
	/** @type {Uint8Array[]} */
	const parts = [encoder.encode("bytemill vocabulary 1\n")];
	/** @param {number} value */
	const number = (value) => parts.push(new Uint8Array(new BigUint64Array([BigInt(value)]).buffer));
	/** @param {Uint8Array} bytes */
	const sized = (bytes) => (number(bytes.length), parts.push(bytes));
	sized(encoder.encode(known.facts.pattern ?? ""));
	const merged = known.facts.ranks ? known.tokens().filter((token) => token.merged) : [];
	number(merged.length);
	for (const { id, bytes } of merged) {
		number(id);
		sized(bytes);
	}
	number(known.facts.special.length);
	for (const [text, id] of known.facts.special) {
		number(id);
		sized(encoder.encode(text));
	}
	if (!known.facts.ranks) sized(contents);
	return sha256(joined(parts));
}
