// @ts-check
/** Figures of the tokens of a text. */

import { isPartial, shown } from "./bytes.js";
import { byId, counted, el, grouped } from "./dom.js";

/** @typedef {import("./wire.js").Tokens} Tokens */

/** Longer tokens than this share a bar. */
const LONGEST = 12;
const REPEATED = 12;

/**
 * Counts what is shown.
 * @param {Tokens} tokens
 */
function counts(tokens) {
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
		this.facts = el("dl", { class: "facts" });
		this.bars = el("div", { class: "lengths", role: "img" });
		this.repeated = el("p", { class: "repeated" });
		panel.append(
			this.facts,
			el("div", {}, el("h3", {}, "Bytes per token"), this.bars),
			el("div", {}, el("h3", {}, "Repeated tokens"), this.repeated),
		);
	}

	/** @param {import("./pane.js").Pane} pane */
	show({ tokens, colours }) {
		const { length } = tokens, found = counts(tokens);
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
			const token = el("span", { class: `t c${colours[first]}`, title: `ID ${tokens.ids[first]}` });
			token.append(...shown(tokens.bytes, tokens.starts[first], tokens.ends[first]));
			return [el("span", {}, token, el("small", {}, ` ×${grouped(count)}`)), " "];
		}));
		if (!found.repeated.length) this.repeated.textContent = "none";
	}
}

// Counts of a text: what is seen, and what a screen reader says once the keys are quiet.

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
