// @ts-check
/** Texts that a text area cannot edit smoothly: their bytes go to the server as they are, and are not edited. */

import { byId, el, grouped } from "./dom.js";

/** A text area takes 0.1 s for each key in a megabyte; up to this many bytes it is quick. */
export const EDITABLE = 300_000;
const EXCERPT = 6000;

/**
 * Shows the beginning of a document in place of the text.
 * @param {Uint8Array} bytes
 * @param {string} name
 * @param {() => void} close
 */
export function showDocument(bytes, name, close) {
	const text = byId("text"), note = byId("text-note");
	text.readOnly = true;
	text.value = `${new TextDecoder().decode(bytes.subarray(0, EXCERPT))}\n…`;
	note.replaceChildren(
		`${name}, ${grouped(bytes.length)} bytes, as a document: read only `,
		el("button", { class: "plain small", onclick: close }, "close"),
	);
}

/** Lets the text be edited again. */
export function hideDocument() {
	byId("text").readOnly = false;
	byId("text-note").replaceChildren();
}

/**
 * Returns how a text ends its lines, where a text area would change it.
 * @param {string} text
 */
export function hasCarriageReturns(text) {
	return text.includes("\r");
}
