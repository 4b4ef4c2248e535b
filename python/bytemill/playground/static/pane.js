// @ts-check
/**
 * A pane of tokens. The text is cut into blocks; only those near the view have elements, the others reserve their
 * height. After an edit, blocks before and behind it keep their elements and colours.
 */

import { characterEnds, isPartial, shown, visible, written } from "./bytes.js";
import { el } from "./dom.js";
import { byIds, common, cuts, isWhole, lineBreaks, recoloured } from "./painting.js";
import { NOTHING } from "./wire.js";

/** @typedef {import("./wire.js").Tokens} Tokens */
/** @typedef {{key: number, start: number, end: number, element: HTMLElement, filled: boolean}} Block */

const LINE = 31;
const MOST_SHARING = 32;

/** What marks of a token say, as bits. */
const DIFFERS = 1;
export const STARTS_PIECE = 2;
export const FOUND = 4;
export const STARTS_PART = 8;
const CLASSES = /** @type {const} */ ([[DIFFERS, "differs"], [STARTS_PIECE, "piece"], [FOUND, "found"], [STARTS_PART, "part"]]);

let nextKey = 0;

export class Pane {
	/**
	 * @param {HTMLElement} element the listbox, which scrolls
	 * @param {string} name
	 */
	constructor(element, name) {
		this.element = element;
		this.name = name;
		/** @type {Tokens} */
		this.tokens = NOTHING;
		this.colours = new Uint8Array();
		/** @type {Uint8Array} */
		this.marks = new Uint8Array();
		/** @type {Block[]} */
		this.blocks = [];
		this.active = -1;
		/** Whether equal tokens have equal colours, and whether the text is shown whole. */
		this.alike = false;
		this.written = false;
		/** @type {Map<number, number>} the number of a part by its first token */
		this.parts = new Map();
		let frame = 0;
		const soon = () => {
			cancelAnimationFrame(frame);
			frame = requestAnimationFrame(() => this.fill());
		};
		element.addEventListener("scroll", soon, { passive: true });
		new ResizeObserver(soon).observe(element);
	}

	/**
	 * Shows other tokens.
	 * @param {Tokens} tokens
	 * @param {Uint8Array} marks
	 */
	show(tokens, marks) {
		const old = this.tokens;
		this.parts.clear();
		let [before, behind] = old.gaps || tokens.gaps ? [0, 0] : common(old, tokens);
		// Nothing between two tokens of one colour: the second is painted again.
		const joined = before + behind === tokens.length && before > 0 && behind > 0;
		if (joined && this.colours[before - 1] === this.colours[old.length - behind]) behind--;
		this.colours = this.alike ? byIds(tokens.ids) : recoloured(this.colours, tokens.length, before, behind);
		this.tokens = tokens;
		this.marks = marks;
		this.rebuild(old.length, before, behind);
		if (this.active >= tokens.length) this.active = -1;
		this.mark();
		this.fill();
	}

	/** Draws everything again, with other settings. */
	redraw() {
		const { tokens } = this;
		this.colours = this.alike ? byIds(tokens.ids) : recoloured(this.colours, tokens.length, 0, 0);
		this.element.classList.toggle("written", this.written);
		for (const block of this.blocks) if (block.filled) this.fillBlock(block);
		this.fill();
	}

	/**
	 * Gives some tokens a mark, and takes it from all others.
	 * @param {number} mark
	 * @param {Iterable<number>} indices
	 */
	flag(mark, indices) {
		const { marks } = this;
		for (let i = 0; i < marks.length; i++) marks[i] &= ~mark;
		for (const index of indices) marks[index] |= mark;
		this.mark();
	}

	/**
	 * @param {number} oldLength
	 * @param {number} before
	 * @param {number} behind
	 */
	rebuild(oldLength, before, behind) {
		const { tokens, blocks } = this;
		const shift = tokens.length - oldLength;
		const head = blocks.filter((block) => block.end <= before);
		// A block that ended with the text, rather than with a line, goes on.
		while (head.length && !isWhole(tokens, head[head.length - 1].start, head[head.length - 1].end)) head.pop();
		const first = head.length ? head[head.length - 1].end : 0;
		const tail = blocks.slice(head.length).filter((block) => block.start >= oldLength - behind && block.start + shift >= first);
		let found, last;
		do {
			last = tail.length ? tail[0].start + shift : tokens.length;
			found = cuts(tokens, first, last);
		} while (found.length && !isWhole(tokens, found[found.length - 1][0], last) && tail.shift());
		for (const block of blocks.slice(head.length, blocks.length - tail.length)) block.element.remove();
		for (const block of tail) {
			block.start += shift;
			block.end += shift;
		}
		const made = found.map(([start, end]) => this.block(start, end));
		const elements = made.map((block) => block.element);
		if (tail.length) tail[0].element.before(...elements);
		else this.element.append(...elements);
		this.blocks = [...head, ...made, ...tail];
	}

	/**
	 * @param {number} start
	 * @param {number} end
	 * @returns {Block}
	 */
	block(start, end) {
		const element = el("div", { class: "block" });
		const width = Math.max(160, this.element.clientWidth - 40);
		const { starts, ends } = this.tokens;
		// Near the truth, so that the blocks in view are found at once: each round lays the page out.
		let rows = 0, line = 0;
		for (let i = start; i < end; i++) {
			line += (ends[i] - starts[i] + 1) * 9;
			const breaks = lineBreaks(this.tokens, i);
			if (i < end - 1 && !breaks) continue;
			rows += Math.ceil(line / width) + (breaks > 1 ? 1 : 0);
			line = 0;
		}
		element.style.height = `${rows * LINE}px`;
		return { key: nextKey++, start, end, element, filled: false };
	}

	/** Gives elements to the blocks near the view, and takes them from the others. */
	fill() {
		const { blocks } = this, { scrollTop, clientHeight, scrollHeight } = this.element;
		const above = scrollTop - clientHeight / 2, below = scrollTop + clientHeight * 1.5;
		let low = 0, high = blocks.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			const { offsetTop, offsetHeight } = blocks[middle].element;
			if (offsetTop + offsetHeight < above) low = middle + 1;
			else high = middle;
		}
		/** @type {Set<Block>} */
		const wanted = new Set();
		let size;
		do {
			size = wanted.size;
			// All places before anything is filled: to ask for one after that lays the page out again.
			for (; low < blocks.length && wanted.size < 7 && blocks[low].element.offsetTop <= below; low++) {
				wanted.add(blocks[low]);
			}
			for (const block of wanted) if (!block.filled) this.fillBlock(block);
		} while (wanted.size > size);
		const gone = blocks.filter((block) => block.filled && !wanted.has(block));
		const heights = gone.map(({ element }) => element.offsetHeight);
		gone.forEach((block, i) => {
			block.element.style.height = `${heights[i]}px`;
			block.element.replaceChildren();
			block.filled = false;
		});
		// Whoever was at the end stays there, although heights were estimates.
		if (scrollTop && scrollTop + clientHeight > scrollHeight - 2) this.element.scrollTop = 1e9;
	}

	/** @param {Block} block */
	fillBlock(block) {
		const { tokens } = this;
		const nodes = [];
		const from = tokens.starts[block.start], to = tokens.ends[block.end - 1];
		let ascii = true;
		for (let i = from; i < to && ascii; i++) ascii = tokens.bytes[i] < 0x80;
		const borders = ascii ? null : characterEnds(tokens.bytes, from, to);
		for (let i = block.start; i < block.end;) {
			let end = i + 1;
			if (borders) {
				while (end < block.end && !borders.has(tokens.ends[end - 1]) && !tokens.special.has(end)) end++;
				if (end - i > MOST_SHARING) end = i + 1;
			}
			const made = [];
			for (let k = i; k < end; k++) made.push(this.token(k, block));
			if (this.written) {
				// The first token has the text of all that share a character: joined scripts stay joined.
				for (const each of made) each.textContent = "";
				made[0].textContent = written(tokens.bytes.subarray(tokens.starts[i], tokens.ends[end - 1]));
				nodes.push(...made);
				i = end;
				continue;
			}
			if (end - i > 1) {
				const character = visible(tokens.bytes.subarray(tokens.starts[i], tokens.ends[end - 1]));
				nodes.push(el("span", { class: "shared" }, el("span", { class: "character", "aria-hidden": "true" }, character), ...made));
			} else {
				nodes.push(made[0]);
			}
			const breaks = lineBreaks(tokens, end - 1);
			for (let k = 0; k < Math.min(breaks, 2); k++) nodes.push(el("br"));
			i = end;
		}
		block.element.replaceChildren(...nodes);
		block.element.classList.toggle("goes-on", block.end < tokens.length && !lineBreaks(tokens, block.end - 1));
		block.element.style.height = "auto";
		block.filled = true;
		this.markBlock(block);
	}

	/**
	 * @param {number} index
	 * @param {Block} block
	 */
	token(index, block) {
		const { tokens } = this;
		const start = tokens.starts[index], end = tokens.ends[index];
		const made = document.createElement("span");
		const special = tokens.special.has(index);
		made.className = `t c${this.colours[index]}${special ? " special" : ""}${isPartial(tokens.bytes, start, end) ? " partial" : ""}`;
		made.id = `${this.name}-${block.key}-${index - block.start}`;
		made.setAttribute("role", "option");
		made.dataset.id = String(tokens.ids[index]);
		if (end > start) made.append(...shown(tokens.bytes, start, end));
		else made.append("∅");
		return made;
	}

	/** Draws marks again, where blocks kept their elements. */
	mark() {
		for (const block of this.blocks) if (block.filled) this.markBlock(block);
	}

	/** @param {Block} block */
	markBlock(block) {
		const elements = block.element.getElementsByClassName("t");
		for (let i = 0; i < elements.length; i++) {
			const index = block.start + i, marks = this.marks[index] ?? 0;
			for (const [mark, name] of CLASSES) elements[i].classList.toggle(name, (marks & mark) !== 0);
			if (marks & STARTS_PART) elements[i].setAttribute("data-part", String(this.parts.get(index)));
			elements[i].classList.toggle("active", index === this.active);
		}
	}

	/**
	 * Returns the block of a token.
	 * @param {number} index
	 */
	blockOf(index) {
		return this.blocks.find((block) => block.start <= index && index < block.end);
	}

	/**
	 * Returns the element of a token, if it has one.
	 * @param {number} index
	 * @returns {HTMLElement | null}
	 */
	elementOf(index) {
		const block = this.blockOf(index);
		return block?.filled ? /** @type {HTMLElement} */ (block.element.getElementsByClassName("t")[index - block.start]) : null;
	}

	/**
	 * Returns the index of the token of an element; -1 if it is none.
	 * @param {EventTarget | null} target
	 */
	indexOf(target) {
		const element = target instanceof Element ? target.closest(".t") : null;
		if (!element) return -1;
		const [, key, offset] = element.id.split("-");
		const block = this.blocks.find((each) => each.key === Number(key));
		return block ? block.start + Number(offset) : -1;
	}

	/**
	 * Makes a token the active one, which a screen reader reads.
	 * @param {number} index -1 for none
	 * @param {boolean} [scroll]
	 */
	activate(index, scroll = false) {
		this.elementOf(this.active)?.classList.remove("active");
		this.active = index;
		this.element.removeAttribute("aria-activedescendant");
		if (index < 0) return;
		if (scroll) this.reveal(index);
		const element = this.elementOf(index);
		if (!element) return;
		element.classList.add("active");
		element.setAttribute("aria-label", this.label(index));
		element.setAttribute("aria-selected", "true");
		element.setAttribute("aria-posinset", String(index + 1));
		element.setAttribute("aria-setsize", String(this.tokens.length));
		this.element.setAttribute("aria-activedescendant", element.id);
	}

	/**
	 * Scrolls to a token.
	 * @param {number} index
	 */
	reveal(index) {
		const block = this.blockOf(index);
		if (!block) return;
		if (!block.filled) {
			this.element.scrollTop = block.element.offsetTop;
			this.fill();
			if (!block.filled) this.fillBlock(block);
		}
		this.elementOf(index)?.scrollIntoView({ block: "nearest" });
	}

	/** @param {number} index */
	label(index) {
		const names = visible(this.tokens.value(index)).replaceAll("·", "blank ").replaceAll("⏎", "line break ").replaceAll("→", "tab ");
		return `token ${index + 1} of ${this.tokens.length}, ${names.trim() || "nothing"}, id ${this.tokens.ids[index]}`;
	}

	/** Returns the byte at the top of the view. */
	top() {
		const { scrollTop } = this.element;
		const block = this.blocks.find(({ element }) => element.offsetTop + element.offsetHeight > scrollTop);
		if (!block) return 0;
		const { offsetTop, offsetHeight } = block.element;
		const from = this.tokens.starts[block.start], to = this.tokens.ends[block.end - 1];
		return from + (to - from) * Math.max(0, (scrollTop - offsetTop) / Math.max(1, offsetHeight));
	}

	/**
	 * Scrolls so that a byte is at the top.
	 * @param {number} offset
	 */
	scrollToByte(offset) {
		const block = this.blockOf(Math.max(0, this.tokens.at(offset)));
		if (!block) return;
		const from = this.tokens.starts[block.start], to = this.tokens.ends[block.end - 1];
		const { offsetTop, offsetHeight } = block.element;
		this.element.scrollTop = offsetTop + offsetHeight * (offset - from) / Math.max(1, to - from);
	}
}
