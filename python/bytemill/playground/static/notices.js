// @ts-check
/** The line above the panes: what went wrong, or what the reader should know. */

import { byId, small } from "./dom.js";

/** @typedef {[string, () => void]} Action what a button says and does */

const message = byId("message");

/**
 * Says what went wrong; nothing without an error.
 * @param {Error | null} error
 * @param {...Action} actions
 */
export function complain(error, ...actions) {
	draw(error?.message ?? "", actions);
	message.classList.remove("note");
}

/**
 * Says something that is no error.
 * @param {string} note
 * @param {...Action} actions
 */
export function remark(note, ...actions) {
	draw(note, actions);
	message.classList.add("note");
}

/**
 * @param {string} words
 * @param {Action[]} actions
 */
function draw(words, actions) {
	message.hidden = !words;
	message.replaceChildren(words, ...actions.map(([name, onclick]) => small(name, onclick)));
}
