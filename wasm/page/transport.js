// @ts-check
/** The page without a server: asks a worker that holds the library. It stands in the place of the playground's transport.js. */

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

/** The worker does not answer. */
export class Unreachable extends Error {}

/** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
const waiting = new Map();

/**
 * Sends a file to the worker; null if it cannot be loaded. The page fetches it because only the page gets what it preloads.
 * @param {string} file
 * @param {number} request
 */
async function send(file, request) {
	const loaded = fetch(new URL(file, import.meta.url)).then((response) => response.ok ? response.arrayBuffer() : null);
	const contents = await loaded.catch(() => null);
	worker.postMessage({ request, contents }, contents ? [contents] : []);
}

const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("bytemill", {
	createScriptURL: (/** @type {string} */ url) => url,
});
const address = new URL("worker.js", import.meta.url).href;
const worker = new Worker(policy ? policy.createScriptURL(address) : address, { type: "module" });
worker.onmessage = (/** @type {MessageEvent<any>} */ { data: { number, answer, refused, failed, file, request } }) => {
	if (request) return void send(file, request);
	const asked = waiting.get(number);
	waiting.delete(number);
	if (refused) asked?.reject(new Refused(refused));
	else if (failed) asked?.reject(new Refused({ error: failed }));
	else asked?.resolve(answer);
};
worker.onerror = () => {
	for (const { reject } of waiting.values()) reject(new Unreachable("The playground could not be loaded: reload the page."));
	waiting.clear();
};

let count = 0;

/**
 * @param {string} name
 * @param {unknown[]} given
 * @returns {Promise<any>}
 */
function ask(name, ...given) {
	return new Promise((resolve, reject) => {
		waiting.set(++count, { resolve, reject });
		worker.postMessage({ number: count, name, given });
	});
}

export const transport = {
	/** The start of a link, and how it is opened. */
	link: location.origin + location.pathname,
	copied: "Copied.",
	start: () => ask("start"),
	encodings: () => ask("encodings"),
	/** @param {string} e */
	details: (e) => ask("details", e),
	/**
	 * @param {Uint8Array} bytes
	 * @param {{e: string, b?: string | null, special: string, seq: number}} options
	 */
	encode: async (bytes, options) => unpack(await ask("encode", bytes, options), bytes),
	/**
	 * @param {string} e
	 * @param {Uint32Array} ids
	 */
	decode: (e, ids) => ask("decode", e, ids),
	/**
	 * @param {string} e
	 * @param {number} id
	 */
	token: (e, id) => ask("token", e, id),
	/**
	 * @param {string} e
	 * @param {string} text
	 */
	explain: (e, text) => ask("explain", e, text),
	/**
	 * @param {{e?: string, pattern?: string}} by
	 * @param {Uint8Array} bytes
	 */
	pieces: (by, bytes) => ask("pieces", by, bytes),
	/**
	 * @param {string} e
	 * @param {number} n
	 * @param {Uint8Array} bytes
	 */
	parts: (e, n, bytes) => ask("parts", e, n, bytes),
	/**
	 * @param {string} e
	 * @param {string} special
	 * @param {Uint8Array} bytes
	 */
	page: (e, special, bytes) => ask("page", e, special, bytes),
	/**
	 * @param {string} e
	 * @param {string[]} tokens in hexadecimal digits
	 */
	known: (e, tokens) => ask("known", e, tokens),
	/** @param {{format: string, messages: unknown[], answering: string | null, parsed: boolean}} request */
	chat: (request) => ask("chat", request),
	/** @param {string} name */
	stage: (name) => ask("stage", name),
	/**
	 * @param {string} e
	 * @param {string} text
	 */
	search: (e, text) => ask("search", e, text),
	/** @param {{text: string, merges: number, pattern: string, tie_break: string}} request */
	train: (request) => ask("train", request),
	/**
	 * @param {File} file
	 * @param {string} pattern
	 */
	load: async (file, pattern) => ask("load", file.name, new Uint8Array(await file.arrayBuffer()), pattern),
};
