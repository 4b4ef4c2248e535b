// @ts-check
/**
 * What the page shows step by step, as `bytemill.reference` defines it: merging, and training. The same in Python is in
 * inspection/traces.py and inspection/token_report.py; a test compares the answers.
 */

import { Refusal } from "./engine.js";

/** Limits of a trace, as in traces.py. */
const MOST_TEXT = 50_000, MOST_MERGES = 512, RUNNERS_UP = 5, MOST_CANDIDATES = 8;

/** @param {number} number */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {string} digits */
export function unhex(digits) {
	return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** @typedef {(token: Uint8Array) => number | null} Ranks */

/**
 * Yields the ends of the parts of a piece: of its bytes, and after each merge, with the merges that were possible.
 * @param {Uint8Array} piece
 * @param {Ranks} rankOf
 */
function* mergeSteps(piece, rankOf) {
	let ends = Array.from(piece, (_, i) => i + 1);
	for (;;) {
		/** @type {[number, number][]} */
		const possible = [];
		for (let i = 0; i + 1 < ends.length; i++) {
			const rank = rankOf(piece.subarray(i ? ends[i - 1] : 0, ends[i + 1]));
			if (rank !== null) possible.push([i, rank]);
		}
		yield { ends, possible };
		if (!possible.length) return;
		const [index] = possible.reduce((best, each) => each[1] < best[1] ? each : best);
		ends = ends.filter((_, i) => i !== index);
	}
}

/**
 * Returns how a piece becomes tokens.
 * @param {Uint8Array} piece
 * @param {Ranks} rankOf
 */
export function mergeTrace(piece, rankOf) {
	const steps = [];
	/** @type {number[]} */
	let last = [];
	for (const { ends, possible } of mergeSteps(piece, rankOf)) {
		last = ends;
		if (!possible.length) break;
		const [index, rank] = possible.reduce((best, each) => each[1] < best[1] ? each : best);
		steps.push({ index, rank, others: possible.filter((each) => each[0] !== index).slice(0, MOST_CANDIDATES) });
	}
	const whole = last.length > 1 ? rankOf(piece) : null;
	const ids = last.map((end, i) => rankOf(piece.subarray(i ? last[i - 1] : 0, end)));
	return { bytes: hex(piece), steps, whole: whole !== null, ids: whole === null ? ids : [whole] };
}

/**
 * Returns the two parts that the last merge of a token joins, none for a byte; null if merges do not make it.
 * @param {Uint8Array} token
 * @param {Ranks} rankOf
 */
export function lastMerge(token, rankOf) {
	/** @type {number[]} */
	let before = [];
	for (const { ends } of mergeSteps(token, rankOf)) {
		if (ends.length === 1) return before.map((end, i) => token.subarray(i ? before[i - 1] : 0, end));
		before = ends;
	}
	return null;
}

/**
 * Trains on a short text, and returns every step.
 * @param {{text: string, merges: number, pattern: string, tie_break: string}} request
 * @param {(bytes: Uint8Array) => Uint32Array} cut returns the sizes of pieces
 */
export function trainingTrace({ text, merges, tie_break }, cut) {
	if (tie_break !== "first_seen" && tie_break !== "smallest_pair") {
		throw new Refusal({ error: "expected first_seen or smallest_pair as tie_break" });
	}
	const bytes = new TextEncoder().encode(text);
	if (bytes.length > MOST_TEXT) {
		throw new Refusal({ error: `expected a text of at most ${grouped(MOST_TEXT)} bytes to learn from, got ${grouped(bytes.length)}` });
	}
	if (merges < 1 || merges > MOST_MERGES) throw new Refusal({ error: `expected 1 to ${MOST_MERGES} merges, got ${merges}` });
	/** @type {Map<string, number>} */
	const pieces = new Map();
	let start = 0;
	for (const size of cut(bytes)) {
		const piece = hex(bytes.subarray(start, start += size));
		pieces.set(piece, (pieces.get(piece) ?? 0) + 1);
	}
	/** @type {[number[], number][]} */
	let words = Array.from(pieces, ([piece, count]) => [Array.from(unhex(piece)), count]);
	const steps = [];
	for (let id = 256; id < 256 + merges; id++) {
		/** @type {Map<number, number>} pairs as one number, in the order in which they are first seen */
		const counts = new Map();
		for (const [ids, weight] of words) {
			for (let i = 0; i + 1 < ids.length; i++) {
				const pair = ids[i] * 65536 + ids[i + 1];
				counts.set(pair, (counts.get(pair) ?? 0) + weight);
			}
		}
		if (!counts.size) break;
		const entries = Array.from(counts);
		if (tie_break === "smallest_pair") entries.sort((a, b) => a[0] - b[0]);
		// The sort keeps the order of equals.
		entries.sort((a, b) => b[1] - a[1]);
		const [pair, count] = entries[0];
		words = words.map(([ids, weight]) => [merged(ids, pair, id), weight]);
		steps.push({
			pair: split(pair),
			count,
			ties: entries.filter((each) => each[1] === count).length,
			others: entries.slice(1, 1 + RUNNERS_UP).map(([other, times]) => [...split(other), times]),
			tokens: words.reduce((sum, [ids, weight]) => sum + ids.length * weight, 0),
		});
	}
	return { bytes: bytes.length, pieces: Array.from(pieces), merges: steps };
}

/** @param {number} pair */
const split = (pair) => [Math.floor(pair / 65536), pair % 65536];

/**
 * @param {number[]} ids
 * @param {number} pair
 * @param {number} id
 */
function merged(ids, pair, id) {
	const found = [];
	for (let i = 0; i < ids.length; i++) {
		const joins = i + 1 < ids.length && ids[i] * 65536 + ids[i + 1] === pair;
		found.push(joins ? id : ids[i]);
		if (joins) i++;
	}
	return found;
}

/**
 * Returns whether the UTF-8 of some text contains these bytes.
 * @param {Uint8Array} token
 */
export function mayOccur(token) {
	let start = 0;
	while (start < token.length && (token[start] & 0xC0) === 0x80) start++;
	if (start > 3) return false;
	const rest = token.subarray(start);
	// A character may begin at the end, and be cut off.
	for (let missing = 0; missing < 4; missing++) {
		for (const filling of missing ? [0x80, 0x90, 0xA0, 0xBF] : [0]) {
			const whole = new Uint8Array(rest.length + missing).fill(0x80);
			whole.set(rest);
			if (missing) whole[rest.length] = filling;
			if (textOf(whole) !== null) return true;
		}
	}
	return false;
}

/**
 * Returns the text of bytes; null if they are not whole characters.
 * @param {Uint8Array} bytes
 */
export function textOf(bytes) {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return null;
	}
}

/**
 * Returns the script of the letters of a token, or what else its characters are.
 * @param {Uint8Array} bytes
 * @param {string[]} scripts
 */
export function kindOf(bytes, scripts) {
	const text = textOf(bytes);
	if (text === null) return "parts of characters";
	const own = scripts.filter((name) => isKnown(name) && new RegExp(`\\p{Script=${name}}`, "u").test(text));
	if (own.length) return own.map((name) => name.replaceAll("_", " ")).sort().join("+");
	if (/\p{N}/u.test(text)) return "numbers";
	if (/[\p{P}\p{S}]/u.test(text)) return "signs";
	return text && Array.from(text).every(isBlank) ? "blanks" : "other";
}

/** @param {string} character as `str.isspace` of Python has it, which separators of files are for too */
function isBlank(character) {
	return /\p{White_Space}/u.test(character) || (character >= "\x1c" && character <= "\x1f");
}

/** @param {string} script a browser may not know the newest */
function isKnown(script) {
	try {
		return Boolean(new RegExp(`\\p{Script=${script}}`, "u"));
	} catch {
		return false;
	}
}
