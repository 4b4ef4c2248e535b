// @ts-check
/** What one token is: shown while the pointer or the keyboard is on it, kept when it is pinned. */

import { hex, shown, unhex, visible } from "./bytes.js";
import { byId, el, grouped, small } from "./dom.js";
import { transport } from "./transport.js";

/** @typedef {import("./pane.js").Pane} Pane */

const WAIT = 70;

export class Details {
	/**
	 * @param {(pane: Pane) => string} encodingOf
	 * @param {{
	 *   explain: (name: string, index: number, pane: Pane) => void,
	 *   find: (id: number) => void,
	 *   select: (tokens: import("./wire.js").Tokens, index: number) => void,
	 * }} actions
	 */
	constructor(encodingOf, { explain, find, select }) {
		this.element = byId("details");
		this.encodingOf = encodingOf;
		this.explain = explain;
		this.find = find;
		this.select = select;
		/** @type {Map<string, Promise<any>>} */
		this.known = new Map();
		this.pinned = false;
		this.timer = 0;
		this.clear();
	}

	clear() {
		this.pinned = false;
		this.shownFor = "";
		clearTimeout(this.timer);
		this.element.replaceChildren(
			el("p", { class: "idle" }, "Point at a token for its bytes and merges. Arrows move, Enter pins, Escape releases."),
		);
	}

	/**
	 * Connects a pane.
	 * @param {Pane} pane
	 */
	watch(pane) {
		const { element } = pane;
		element.addEventListener("pointerover", (event) => {
			const index = pane.indexOf(event.target);
			if (index >= 0 && !this.pinned && event.pointerType === "mouse") this.show(pane, index);
		});
		element.addEventListener("pointerleave", () => {
			if (!this.pinned && pane.active < 0) this.clear();
		});
		element.addEventListener("click", (event) => {
			const index = pane.indexOf(event.target);
			if (index >= 0) this.pin(pane, index);
			else this.release(pane);
		});
		element.addEventListener("keydown", (event) => {
			const { length } = pane.tokens;
			/** @type {Record<string, number>} */
			const steps = {
				ArrowRight: pane.active + 1,
				ArrowDown: pane.active + 1,
				ArrowLeft: pane.active - 1,
				ArrowUp: pane.active - 1,
				Home: 0,
				End: length - 1,
			};
			if (event.key in steps && length) {
				const index = Math.min(length - 1, Math.max(0, steps[event.key]));
				this.pinned = false;
				pane.activate(index, true);
				this.show(pane, index);
			} else if (event.key === "Enter" && pane.active >= 0) {
				this.pin(pane, pane.active);
			} else if (event.key === "Escape") {
				this.release(pane);
			} else {
				return;
			}
			event.preventDefault();
		});
	}

	/**
	 * @param {Pane} pane
	 * @param {number} index
	 */
	pin(pane, index) {
		pane.activate(index);
		this.show(pane, index);
		this.pinned = true;
		this.uncover(pane, index);
	}

	/**
	 * Scrolls a token out from under the details, which lie above the page on a phone.
	 * @param {Pane} pane
	 * @param {number} index
	 */
	uncover(pane, index) {
		const token = pane.elementOf(index);
		if (token) scrollBy(0, Math.max(0, token.getBoundingClientRect().bottom + 8 - this.element.getBoundingClientRect().top));
	}

	/** @param {Pane} pane */
	release(pane) {
		pane.activate(-1);
		this.clear();
	}

	/**
	 * @param {Pane} pane
	 * @param {number} index
	 */
	show(pane, index) {
		const { tokens } = pane;
		const encoding = this.encodingOf(pane), id = tokens.ids[index];
		const bytes = tokens.value(index);
		const facts = el("dl");
		const where = byId("card-b").hidden ? "" : ` in ${encoding}`;
		const token = el("span", { class: `t c${pane.colours[index]}${tokens.special.has(index) ? " special" : ""}` });
		token.append(...(bytes.length ? shown(bytes) : ["∅"]));
		const close = el("button", { class: "plain small close", "aria-label": "Close", onclick: () => this.release(pane) }, "×");
		const place = small("in the text", () => this.select(tokens, index));
		const tree = small("merge tree", () => this.explain(encoding, index, pane));
		const count = pane.name === "a" ? tokens.ids.reduce((sum, each) => sum + Number(each === id), 0) : 0;
		const places = count > 1 ? [small(`all ${grouped(count)} places`, () => this.find(id))] : [];
		this.element.replaceChildren(
			el(
				"div",
				{ class: "first" },
				token,
				el("span", { class: "faint" }, `token ${grouped(index + 1)} of ${grouped(tokens.length)}${where}`),
				el("span", { class: "gap" }),
				...places,
				place,
				tree,
				close,
			),
			facts,
		);
		fact(facts, "ID", mono(String(id)));
		fact(facts, "bytes", mono(bytes.length > 64 ? `${hex(bytes.subarray(0, 64))} …` : hex(bytes) || "none"));
		fact(facts, "place", mono(`bytes ${grouped(tokens.starts[index])} to ${grouped(tokens.ends[index])}`));
		this.shownFor = `${encoding} ${id}`;
		const wanted = this.shownFor;
		clearTimeout(this.timer);
		this.timer = setTimeout(async () => {
			const report = await this.report(encoding, id).catch(() => null);
			if (!report || this.shownFor !== wanted) return;
			fact(facts, "kind", report.kind);
			if (report.score !== undefined) fact(facts, "score", mono(String(report.score)));
			if (report.parts.length) {
				fact(
					facts,
					"merged from",
					mono(
						report.parts.map((/** @type {{id: number, bytes: string}} */ part) => `${visible(unhex(part.bytes))} (${part.id})`).join(" + "),
					),
					true,
				);
			}
			fact(facts, "reached", report.meaning, true);
			this.uncover(pane, index);
		}, this.known.has(this.shownFor) ? 0 : WAIT);
	}

	/**
	 * @param {string} encoding
	 * @param {number} id
	 */
	report(encoding, id) {
		const key = `${encoding} ${id}`;
		const found = this.known.get(key) ?? transport.token(encoding, id);
		if (this.known.size > 2000) this.known.clear();
		this.known.set(key, found);
		found.catch(() => this.known.delete(key));
		return found;
	}
}

/**
 * @param {HTMLElement} list
 * @param {string} name
 * @param {Node | string} value
 * @param {boolean} [wide]
 */
function fact(list, name, value, wide = false) {
	const place = wide ? { class: "wide" } : {};
	list.append(el("dt", place, name), el("dd", place, value));
}

/** @param {string} text */
function mono(text) {
	return el("code", {}, text);
}
