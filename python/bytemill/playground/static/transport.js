// @ts-check
/** The only module that talks to the server. Another one could stand in its place: a notebook's, or WebAssembly. */

import { unpack } from "./wire.js";

/** An answer that says what is wrong with the request. */
export class Refused extends Error {
	/** @param {{error: string, place?: number, token?: string, patterns?: string[]}} answer */
	constructor(answer) {
		super(answer.error);
		this.patterns = answer.patterns;
		this.place = answer.place;
		this.token = answer.token;
	}
}

/** The server does not answer. */
export class Unreachable extends Error {}

/** @typedef {Record<string, string | number | null | undefined>} Query values, of which those are sent that are given */

/**
 * @param {string} path
 * @param {Query} query
 * @param {BodyInit | Uint8Array | Uint32Array | null} [body] `null` for a request that only reads
 * @returns {Promise<Response>}
 */
async function ask(path, query, body = null) {
	const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
	const values = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
	let response;
	try {
		response = await fetch(
			values ? `${path}?${values}` : path,
			body === null ? {} : {
				method: "POST",
				body: /** @type {BodyInit} */ (body),
				headers: { "Content-Type": "application/octet-stream" },
			},
		);
	} catch {
		throw new Unreachable("The playground was stopped.");
	}
	if (response.status === 422) throw new Refused(await response.json());
	if (response.status === 413) throw new Refused({ error: "The limits are 16 MiB of text and 64 MiB of tokenizer." });
	if (response.status === 404 || response.status === 403) throw new Unreachable("The playground was started again under another address.");
	if (!response.ok) throw new Refused({ error: `The server answers ${response.status}.` });
	return response;
}

/**
 * @param {string} path
 * @param {Query} [query]
 * @param {object} [request] is sent as JSON
 * @returns {Promise<any>}
 */
async function json(path, query = {}, request) {
	return (await ask(path, query, request && JSON.stringify(request))).json();
}

/**
 * @param {string} path
 * @param {Query} query
 * @param {Uint8Array} bytes
 */
async function sizes(path, query, bytes) {
	return new Uint32Array(await (await ask(path, query, bytes)).arrayBuffer());
}

export const transport = {
	/** The start of a link, and how it is opened. */
	link: `${location.origin}/`,
	copied: "Copied. Open it with: bytemill playground LINK",
	start: () => json("start"),
	encodings: () => json("encodings"),
	/** @param {string} e */
	details: (e) => json("details", { e }),
	/**
	 * @param {Uint8Array} bytes
	 * @param {{e: string, b?: string | null, special: string, seq: number}} options
	 */
	async encode(bytes, options) {
		const response = await ask("encode", options, bytes);
		return unpack(await response.arrayBuffer(), bytes);
	},
	/**
	 * @param {string} e
	 * @param {Uint32Array} ids
	 */
	async decode(e, ids) {
		return (await ask("decode", { e }, ids)).json();
	},
	/**
	 * @param {string} e
	 * @param {number} id
	 */
	token: (e, id) => json("token", { e }, { id }),
	/**
	 * @param {string} e
	 * @param {string} text
	 */
	async explain(e, text) {
		return (await ask("explain", { e }, text)).json();
	},
	/**
	 * Returns the sizes of pieces, by an encoding or a pattern.
	 * @param {{e?: string, pattern?: string}} by
	 * @param {Uint8Array} bytes
	 */
	pieces: (by, bytes) => sizes("pieces", by, bytes),
	/**
	 * Returns the sizes of parts of at most n tokens.
	 * @param {string} e
	 * @param {number} n
	 * @param {Uint8Array} bytes
	 */
	parts: (e, n, bytes) => sizes("parts", { e, n }, bytes),
	/**
	 * @param {string} e
	 * @param {string} special
	 * @param {Uint8Array} bytes
	 */
	async page(e, special, bytes) {
		return (await ask("page", { e, special }, bytes)).arrayBuffer();
	},
	/**
	 * @param {string} e
	 * @param {string[]} tokens in hexadecimal digits
	 */
	known: (e, tokens) => json("known", { e }, { tokens }),
	/** @param {{format: string, messages: unknown[], answering: string | null, parsed: boolean}} request */
	chat: (request) => json("chat", {}, request),
	/** @param {string} name */
	stage: (name) => json("stage", { name }),
	/**
	 * @param {string} e
	 * @param {string} text
	 */
	search: (e, text) => json("search", { e }, { query: text }),
	/** @param {{text: string, merges: number, pattern: string, tie_break: string}} request */
	train: (request) => json("train", {}, request),
	/**
	 * @param {File} file
	 * @param {string} pattern
	 */
	async load(file, pattern) {
		return (await ask("load", { name: file.name, pattern }, file)).json();
	},
};
