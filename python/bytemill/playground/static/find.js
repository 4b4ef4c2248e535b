// @ts-check
/** Find in tokens, by text or by id: the browser's own search does not see what has no elements. */

import { byId, grouped } from "./dom.js";
import { FOUND } from "./pane.js";

/** @typedef {import("./wire.js").Tokens} Tokens */

const MOST = 10_000;
const encoder = new TextEncoder();

export class Find {
	/**
	 * @param {import("./pane.js").Pane} pane
	 * @param {(index: number) => void} go
	 */
	constructor(pane, go) {
		this.pane = pane;
		this.go = go;
		this.input = byId("find");
		this.output = byId("found");
		/** @type {[number, number][]} first and last token of each */
		this.hits = [];
		this.at = -1;
		this.input.addEventListener("input", () => {
			this.at = -1;
			this.update();
			if (this.hits.length) this.step(1);
		});
		this.input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
			if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
			else if (event.key === "Escape") this.search("");
			else return;
			event.preventDefault();
		});
	}

	/**
	 * Finds something else.
	 * @param {string} wanted
	 */
	search(wanted) {
		this.input.value = wanted;
		this.input.dispatchEvent(new Event("input"));
	}

	/** Finds in other tokens what was looked for. */
	update() {
		const { pane } = this, wanted = this.input.value;
		this.hits = wanted ? found(pane.tokens, wanted) : [];
		this.at = Math.min(this.at, this.hits.length - 1);
		pane.flag(FOUND, this.hits.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i)));
		this.draw();
	}

	/** @param {number} by */
	step(by) {
		const { length } = this.hits;
		if (!length) return;
		this.at = (this.at + by + length) % length;
		this.go(this.hits[this.at][0]);
		this.draw();
	}

	draw() {
		const { length } = this.hits;
		const all = length === MOST ? `${grouped(MOST)} or more` : grouped(length);
		this.output.textContent = !this.input.value ? "" : length ? `${grouped(this.at + 1)} of ${all}` : "not found";
	}
}

/**
 * Returns the first and last token of each place of a text, or each token `#id`.
 * @param {Tokens} tokens
 * @param {string} wanted
 */
export function found(tokens, wanted) {
	/** @type {[number, number][]} */
	const hits = [];
	const id = /^#(\d{1,10})$/.exec(wanted)?.[1];
	if (id !== undefined) {
		for (let i = 0; i < tokens.length && hits.length < MOST; i++) if (tokens.ids[i] === Number(id)) hits.push([i, i]);
		return hits;
	}
	const part = encoder.encode(wanted), { bytes } = tokens;
	for (let at = 0; hits.length < MOST && (at = bytes.indexOf(part[0], at)) >= 0; at++) {
		let same = 1;
		while (same < part.length && bytes[at + same] === part[same]) same++;
		if (same === part.length) {
			hits.push([tokens.at(at), tokens.at(at + same - 1)]);
			at += same - 1;
		}
	}
	return hits;
}
