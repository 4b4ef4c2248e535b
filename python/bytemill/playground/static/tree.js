// @ts-check
/** How a piece becomes tokens: its bytes below, each merge above the two parts that it joins. */

import { decoder, unhex, visible } from "./bytes.js";
import { byId, el } from "./dom.js";
import { transport } from "./transport.js";
import { stageButton } from "./way.js";

/** @typedef {{bytes: Uint8Array, left?: Node_, right?: Node_, step: number, rank?: number, start: number, end: number}} Node_ */
/** @typedef {{index: number, rank: number, others: [number, number][]}} Step */

const AROUND = 48;

/** How a model makes tokens. @type {Record<string, string>} */
const TITLES = { merges: "Merges", words: "Longest tokens", scores: "Scores" };

/**
 * Shows the merges of the piece that holds a token.
 * @param {string} encoding
 * @param {import("./wire.js").Tokens} tokens
 * @param {number} index
 */
export async function showTree(encoding, tokens, index) {
	const card = byId("tree");
	card.hidden = false;
	const close = el("button", { class: "plain small close", "aria-label": "Close", onclick: () => card.hidden = true }, "×");
	const title = el("h2", {}, TITLES.merges);
	const head = el(
		"div",
		{ class: "head" },
		title,
		el("span", { class: "faint" }, encoding),
		stageButton("merges", "definition"),
		el("span", { class: "gap" }),
		close,
	);
	card.replaceChildren(head);
	try {
		const all = await transport.pieces({ e: encoding }, tokens.bytes);
		let start = 0, size = 0;
		for (const each of all) {
			if (start + each > tokens.starts[index]) {
				size = each;
				break;
			}
			start += each;
		}
		const piece = tokens.bytes.subarray(start, start + size);
		const answer = await transport.explain(encoding, decoder.decode(piece));
		const [found] = answer.pieces;
		if (!found) throw new Error(`This piece has ${size} bytes: merges are shown of at most 64.`);
		card.append(tree(found));
	} catch (error) {
		const text = decoder.decode(
			tokens.bytes.subarray(tokens.starts[index], Math.min(tokens.bytes.length, tokens.ends[index] + AROUND)),
		);
		try {
			const answer = await transport.explain(encoding, text.split(/(?<=\S)\s/u)[0]);
			if (answer.ranks) throw error;
			title.textContent = TITLES[answer.kind];
			card.append(...answer.pieces.map(rows));
		} catch {
			card.append(el("p", { class: "pad" }, /** @type {Error} */ (error).message));
		}
	}
	card.scrollIntoView({ block: "nearest" });
}

/** @typedef {{start: number, bytes: string, id: number | null, score: number}} Candidate */

/**
 * Returns the steps of a piece that is made without ranks, and the tokens with scores that it could have.
 * @param {{bytes: string, rows: string[][], ids: number[], candidates: Candidate[]}} piece
 */
function rows(piece) {
	const last = piece.rows[piece.rows.length - 1];
	return el(
		"div",
		{ class: "pad rows" },
		...piece.rows.map((row) => el("div", {}, ...row.map((part, i) => el("span", { class: `t c${i % 6}` }, visible(unhex(part)) || "∅")))),
		el("p", { class: "faint" }, "IDs ", el("code", {}, piece.ids.join(" "))),
		...(piece.candidates.length ? candidates(piece, last) : []),
	);
}

/**
 * Returns the table of candidates and what stands above it: those that the piece becomes have the highest sum of scores.
 * @param {{candidates: Candidate[]}} piece
 * @param {string[]} chosen the tokens that the piece becomes
 */
function candidates(piece, chosen) {
	const ends = new Set();
	chosen.reduce((start, part) => {
		ends.add(`${start} ${part}`);
		return start + part.length / 2;
	}, 0);
	const isChosen = (/** @type {Candidate} */ each) => ends.has(`${each.start} ${each.bytes}`);
	const sum = piece.candidates.filter(isChosen).reduce((sum, each) => sum + each.score, 0);
	const head = el("p", { class: "faint" }, `Tokens to choose from, by where they start. The highest sum of scores is ${sum.toFixed(2)}.`);
	const table = el(
		"table",
		{ class: "candidates" },
		el("tr", {}, ...["token", "id", "score"].map((name) => el("th", { scope: "col" }, name))),
		...piece.candidates.map((each) =>
			el(
				"tr",
				isChosen(each) ? { class: "chosen" } : {},
				el("td", {}, el("span", { class: isChosen(each) ? "t c0" : "t" }, visible(unhex(each.bytes)))),
				el("td", {}, each.id === null ? "unknown" : String(each.id)),
				el("td", {}, each.score.toFixed(2)),
			)
		),
	);
	return [head, table];
}

/**
 * Builds the tree with a slider for the steps.
 * @param {{bytes: string, steps: Step[], whole: boolean, ids: number[]}} trace
 */
export function tree(trace) {
	const bytes = unhex(trace.bytes);
	const view = el("div", { class: "pad" });
	const stage = el("div", { class: "stage" });
	const note = el("p", { class: "faint" });
	const last = trace.steps.length + (trace.whole ? 1 : 0);
	const slider = el("input", { type: "range", min: 0, max: last, value: last, "aria-label": "Step" });
	const draw = () => {
		const step = Number(slider.value);
		const roots = grown(bytes, trace.steps.slice(0, step));
		const whole = trace.whole && step === last;
		stage.replaceChildren(
			...(whole
				? [leafRow({ bytes, start: 0, end: bytes.length, step, rank: trace.ids[0], left: undefined, right: undefined }, bytes)]
				: roots.map((root) => drawn(root))),
		);
		note.textContent = whole
			? "The piece is a token: it is taken whole, although merges would not make it."
			: step === 0
			? "Single bytes, before the first merge."
			: sentence(trace.steps[step - 1], grown(bytes, trace.steps.slice(0, step - 1)), step, last);
	};
	slider.addEventListener("input", draw);
	view.append(el("div", { class: "steps" }, slider, note), stage, el("p", { class: "faint" }, "IDs ", el("code", {}, trace.ids.join(" "))));
	draw();
	return view;
}

/**
 * @param {Step} step
 * @param {Node_[]} parts before it
 * @param {number} number
 * @param {number} last
 */
function sentence({ index, rank, others }, parts, number, last) {
	/** @param {number} i */
	const pair = (i) => `“${visible(Uint8Array.of(...parts[i].bytes, ...parts[i + 1].bytes))}”`;
	const lost = others.sort((a, b) => a[1] - b[1]).slice(0, 4).map(([i, higher]) => `${pair(i)} ${higher}`);
	const also = lost.length ? `Possible too, with higher ranks: ${lost.join(", ")}.` : "No other merge was possible.";
	return `Step ${number} of ${last}: ${pair(index)} has rank ${rank}, the lowest. ${also}`;
}

/**
 * Returns the parts after some steps.
 * @param {Uint8Array} bytes
 * @param {Step[]} steps
 */
function grown(bytes, steps) {
	/** @type {Node_[]} */
	const parts = Array.from(bytes, (_, i) => ({ bytes: bytes.subarray(i, i + 1), step: 0, start: i, end: i + 1 }));
	steps.forEach(({ index, rank }, i) => {
		const [left, right] = [parts[index], parts[index + 1]];
		parts.splice(index, 2, {
			bytes: bytes.subarray(left.start, right.end),
			left,
			right,
			step: i + 1,
			rank,
			start: left.start,
			end: right.end,
		});
	});
	return parts;
}

/**
 * @param {Node_} node
 * @returns {HTMLElement}
 */
function drawn(node) {
	const label = el("span", {
		class: `t c${node.start % 6}`,
		title: node.rank === undefined ? "a byte" : `rank ${node.rank}, merge ${node.step}`,
	}, visible(node.bytes));
	if (!node.left || !node.right) return el("div", { class: "node" }, label);
	return el(
		"div",
		{ class: "node" },
		label,
		el("small", {}, String(node.rank)),
		el("div", { class: "children" }, drawn(node.left), drawn(node.right)),
	);
}

/**
 * @param {Node_} node
 * @param {Uint8Array} bytes
 */
function leafRow(node, bytes) {
	return el(
		"div",
		{ class: "node" },
		el("span", { class: "t c0" }, visible(node.bytes)),
		el("small", {}, String(node.rank)),
		el(
			"div",
			{ class: "children" },
			...Array.from(bytes, (_, i) => el("div", { class: "node" }, el("span", { class: `t c${i % 6}` }, visible(bytes.subarray(i, i + 1))))),
		),
	);
}
