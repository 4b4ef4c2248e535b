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

/**
 * @param {string} path
 * @param {BodyInit | null} [body] `null` for a request that only reads
 * @returns {Promise<Response>}
 */
async function ask(path, body = null) {
	let response;
	try {
		response = await fetch(
			path,
			body === null ? {} : {
				method: "POST",
				body,
				headers: { "Content-Type": "application/octet-stream" },
			},
		);
	} catch {
		throw new Unreachable("The playground was stopped.");
	}
	if (response.status === 422) throw new Refused(await response.json());
	if (response.status === 413) throw new Refused({ error: "This is more than the playground takes: 16 MiB of text, 64 MiB of tokenizer." });
	if (response.status === 404 || response.status === 403) throw new Unreachable("The playground was started again under another address.");
	if (!response.ok) throw new Refused({ error: `The server answers ${response.status}.` });
	return response;
}

/** @param {Record<string, string | number | null | undefined>} values those that are given */
function query(values) {
	const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
	return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

/**
 * @param {string} path
 * @param {unknown} [request] is sent as JSON
 * @returns {Promise<any>}
 */
async function json(path, request) {
	return (await ask(path, request === undefined ? null : JSON.stringify(request))).json();
}

/**
 * @param {string} path
 * @param {Uint8Array} bytes
 */
async function sizes(path, bytes) {
	return new Uint32Array(await (await ask(path, /** @type {BodyInit} */ (bytes))).arrayBuffer());
}

export const transport = {
	start: () => json("start"),
	encodings: () => json("encodings"),
	/** @param {string} e */
	details: (e) => json(`details?${query({ e })}`),
	/**
	 * @param {Uint8Array} bytes
	 * @param {{e: string, b?: string | null, special: string, seq: number}} options
	 */
	async encode(bytes, options) {
		const response = await ask(`encode?${query(options)}`, /** @type {BodyInit} */ (bytes));
		return unpack(await response.arrayBuffer(), bytes);
	},
	/**
	 * @param {string} e
	 * @param {Uint32Array} ids
	 */
	async decode(e, ids) {
		return (await ask(`decode?${query({ e })}`, /** @type {BodyInit} */ (ids))).json();
	},
	/**
	 * @param {string} e
	 * @param {number} id
	 */
	token: (e, id) => json(`token?${query({ e })}`, { id }),
	/**
	 * @param {string} e
	 * @param {string} text
	 */
	async explain(e, text) {
		return (await ask(`explain?${query({ e })}`, text)).json();
	},
	/**
	 * Returns the sizes of pieces, by an encoding or a pattern.
	 * @param {{e?: string, pattern?: string}} by
	 * @param {Uint8Array} bytes
	 */
	pieces: (by, bytes) => sizes(`pieces?${query(by)}`, bytes),
	/**
	 * Returns the sizes of parts of at most n tokens.
	 * @param {string} e
	 * @param {number} n
	 * @param {Uint8Array} bytes
	 */
	parts: (e, n, bytes) => sizes(`parts?${query({ e, n })}`, bytes),
	/**
	 * @param {string} e
	 * @param {string} special
	 * @param {Uint8Array} bytes
	 */
	async page(e, special, bytes) {
		return (await ask(`page?${query({ e, special })}`, /** @type {BodyInit} */ (bytes))).arrayBuffer();
	},
	/**
	 * @param {string} e
	 * @param {string[]} tokens in hexadecimal digits
	 */
	known: (e, tokens) => json(`known?${query({ e })}`, { tokens }),
	/** @param {{format: string, messages: unknown[], answering: string | null, parsed: boolean}} request */
	chat: (request) => json("chat", request),
	/** @param {string} name */
	stage: (name) => json(`stage?${query({ name })}`),
	/**
	 * @param {string} e
	 * @param {string} text
	 */
	search: (e, text) => json(`search?${query({ e })}`, { query: text }),
	/** @param {{text: string, merges: number, pattern: string, tie_break: string}} request */
	train: (request) => json("train", request),
	/**
	 * @param {File} file
	 * @param {string} pattern
	 */
	async load(file, pattern) {
		return (await ask(`load?${query({ name: file.name, pattern })}`, file)).json();
	},
};
