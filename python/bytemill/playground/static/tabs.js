// @ts-check
/** The views of the page; those of learners are fetched when they are opened. */

import { byId } from "./dom.js";

/**
 * @param {string[]} patterns
 * @param {() => string} encoding
 */
export function tabs(patterns, encoding) {
	const all = [...byId("tabs").querySelectorAll("[role=tab]")];
	const made = new Set();
	/** @param {HTMLElement} tab */
	const open = async (tab) => {
		for (const each of all) {
			each.setAttribute("aria-selected", String(each === tab));
			each.tabIndex = each === tab ? 0 : -1;
			byId(each.getAttribute("aria-controls")).hidden = each !== tab;
		}
		const name = tab.id.slice(4);
		if (made.has(name)) return;
		made.add(name);
		if (name === "training") (await import("./training.js")).training(byId("view-training"), patterns);
		if (name === "vocabulary") (await import("./vocabulary.js")).vocabulary(byId("view-vocabulary"), encoding);
	};
	for (const [i, tab] of all.entries()) {
		tab.addEventListener("click", () => open(tab));
		tab.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
			const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
			if (!step) return;
			const next = all[(i + step + all.length) % all.length];
			next.focus();
			open(next);
		});
	}
}
