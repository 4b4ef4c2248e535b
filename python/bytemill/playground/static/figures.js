// @ts-check
/** Counts of a text: what is seen, and what a screen reader says once the keys are quiet. */

import { byId, counted, grouped } from "./dom.js";

/** @typedef {import("./wire.js").Tokens} Tokens */

/** Above this many bytes, characters as seen are not counted. */
const SEEN = 20_000;
const QUIET = 1000;

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Shows the counts of a pane.
 * @param {"a" | "b"} side
 * @param {string} name
 * @param {Tokens} tokens
 */
export function figures(side, name, tokens) {
	const size = tokens.bytes.length, characters = codePoints(tokens.bytes);
	byId(`name-${side}`).textContent = name;
	const count = counted(tokens.length, "token"), each = (size / (tokens.length || 1)).toFixed(2);
	byId(`count-${side}`).textContent = count;
	byId(`top-${side}`).dataset.count = `${count} · ${each} bytes each`;
	const seen = size <= SEEN && characters !== size ? asSeen(tokens.bytes) : characters;
	byId(`figures-${side}`).textContent = [
		counted(characters, "character") + (seen === characters ? "" : ` (${grouped(seen)} as seen)`),
		counted(size, "byte"),
		`${each} bytes per token`,
	].join(" · ");
}

/**
 * Returns how many code points some bytes have.
 * @param {Uint8Array} bytes
 */
export function codePoints(bytes) {
	let count = 0;
	for (let i = 0; i < bytes.length; i++) if ((bytes[i] & 0xc0) !== 0x80) count++;
	return count;
}

/** @param {Uint8Array} bytes */
function asSeen(bytes) {
	return [...segmenter.segment(new TextDecoder().decode(bytes))].length;
}

let saying = 0;

/**
 * Says sentences to screen readers: later, so that they do not interrupt the echo of keys.
 * @param {...string} sentences
 */
export function announce(...sentences) {
	clearTimeout(saying);
	saying = setTimeout(() => byId("status").textContent = sentences.filter(Boolean).join("; "), QUIET);
}
