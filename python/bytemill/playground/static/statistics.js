// @ts-check
/** Figures of the tokens of a text, and what they cost at the reader's own price: none is built in. */

import { isPartial, shown } from "./bytes.js";
import { codePoints } from "./figures.js";
import { el, grouped, keep, kept } from "./dom.js";

/** @typedef {import("./wire.js").Tokens} Tokens */
/** @typedef {{name: string, label: string, input: HTMLInputElement, output: HTMLElement}} Price */

/** Longer tokens than this share a bar. */
const LONGEST = 12;
const REPEATED = 12;

/**
 * Counts what is shown.
 * @param {Tokens} tokens
 */
export function counts(tokens) {
	const { length, ids, starts, ends, bytes } = tokens;
	const lengths = new Array(LONGEST + 1).fill(0);
	/** @type {Map<number, {count: number, first: number}>} */
	const byToken = new Map();
	let partial = 0, longest = 0, lines = 1;
	for (let i = 0; i < length; i++) {
		const size = ends[i] - starts[i];
		lengths[Math.min(size, LONGEST)]++;
		longest = Math.max(longest, size);
		if (isPartial(bytes, starts[i], ends[i])) partial++;
		const known = byToken.get(ids[i]);
		if (known) known.count++;
		else byToken.set(ids[i], { count: 1, first: i });
	}
	for (let i = 0; i < bytes.length - 1; i++) if (bytes[i] === 10) lines++;
	const repeated = [...byToken.values()].filter(({ count }) => count > 1).sort((a, b) => b.count - a.count).slice(0, REPEATED);
	return { lengths, longest, partial, lines, different: byToken.size, repeated };
}

export class Statistics {
	/** @param {HTMLElement} panel */
	constructor(panel) {
		this.tokens = 0;
		this.facts = el("dl", { class: "facts" });
		this.bars = el("div", { class: "lengths", role: "img" });
		this.repeated = el("p", { class: "repeated" });
		/** @type {Price[]} */
		this.prices = [["in", "input"], ["out", "output"]].map(([name, label]) => {
			const input = el("input", {
				type: "number",
				min: 0,
				step: "any",
				class: "price",
				"aria-label": `Price of a million tokens of ${label}`,
				oninput: () => this.pay(),
			});
			input.value = kept(`price-${name}`);
			return { name, label, input, output: el("b") };
		});
		const prices = this.prices.map(({ label, input, output }) => el("label", {}, label, input, output));
		panel.append(
			this.facts,
			el("div", {}, el("h3", {}, "Bytes per token"), this.bars),
			el("div", {}, el("h3", {}, "Repeated tokens"), this.repeated),
			el("div", { class: "prices" }, el("h3", {}, "Your price for a million tokens"), ...prices),
		);
	}

	/** @param {import("./pane.js").Pane} pane */
	show({ tokens, colours }) {
		const { length } = tokens, found = counts(tokens);
		this.tokens = length;
		/** @param {number} count */
		const share = (count) => `${grouped(count)}${count ? ` (${(100 * count / length).toFixed(1)} %)` : ""}`;
		const facts = {
			"different tokens": share(found.different),
			"parts of characters": share(found.partial),
			"special tokens": share(tokens.special.size),
			"longest token": `${grouped(found.longest)} bytes`,
			"tokens per line": (length / found.lines).toFixed(1),
			"characters per token": length ? (codePoints(tokens.bytes) / length).toFixed(2) : "0",
		};
		this.facts.replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
		const most = Math.max(1, ...found.lengths);
		this.bars.setAttribute("aria-label", found.lengths.map((count, size) => `${size} bytes: ${count}`).slice(1).join(", "));
		this.bars.replaceChildren(
			...found.lengths.slice(1).map((count, i) => {
				const bar = el("i", { title: `${grouped(count)} tokens` });
				bar.style.height = `${Math.ceil(48 * count / most)}px`;
				return el("span", {}, bar, el("small", {}, i + 1 === LONGEST ? `${LONGEST}+` : String(i + 1)));
			}),
		);
		this.repeated.replaceChildren(...found.repeated.flatMap(({ count, first }) => {
			const token = el("span", { class: `t c${colours[first]}`, title: `id ${tokens.ids[first]}` });
			token.append(...shown(tokens.bytes, tokens.starts[first], tokens.ends[first]));
			return [el("span", {}, token, el("small", {}, ` ×${grouped(count)}`)), " "];
		}));
		if (!found.repeated.length) this.repeated.textContent = "none";
		this.pay();
	}

	pay() {
		for (const { name, input, output } of this.prices) {
			const cost = this.tokens * Number(input.value) / 1e6;
			output.textContent = input.value ? `= ${cost.toLocaleString("en-US", { maximumSignificantDigits: 4 })}` : "";
			keep(`price-${name}`, input.value);
		}
	}
}
