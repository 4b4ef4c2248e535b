// @ts-check
/** Training, merge by merge: the merges of a short text are learned once and replayed here, so going back is exact. */

import { encoder, hex, unhex, visible } from "./bytes.js";
import { counted, el, grouped } from "./dom.js";
import { transport } from "./transport.js";
import { stageButton } from "./way.js";

/** @typedef {{pair: [number, number], count: number, ties: number, others: [number, number, number][], tokens: number}} Merge */
/** @typedef {{bytes: number, pieces: [string, number][], merges: Merge[]}} Trace */

const SAMPLE = "the lowest of the low, slower and slowest; ".repeat(100);
const SHOWN = 60;
/** The vocabulary in which merges are looked up. */
const KNOWN = "cl100k_base";
const RULES = {
	first_seen: "the pair that occurs first in the text",
	smallest_pair: "the pair with the smaller IDs",
};

/**
 * @param {HTMLElement} view
 * @param {string[]} patterns
 */
export function training(view, patterns) {
	const text = el("textarea", { "aria-label": "Text to learn from", spellcheck: "false" });
	text.value = SAMPLE;
	const pattern = el("select", { "aria-label": "Pattern" }, ...patterns.map((name) => el("option", { value: name }, name)));
	pattern.value = "cl100k";
	const rule = el(
		"select",
		{ "aria-label": "Ties" },
		el("option", { value: "smallest_pair" }, "smallest pair"),
		el("option", { value: "first_seen" }, "first seen"),
	);
	const merges = el("input", { type: "number", min: 1, max: 512, value: 40, "aria-label": "Merges" });
	const go = el("button", { class: "plain primary", onclick: learn }, "Train");
	const problem = el("p", { class: "message", role: "alert", hidden: true });
	const stage = el("div", { class: "learned" });
	view.append(
		el(
			"div",
			{ class: "toolbar form" },
			el("label", {}, el("small", {}, "Pattern"), pattern),
			el("label", {}, el("small", {}, "When counts tie, merge"), rule),
			el("label", {}, el("small", {}, "Merges"), merges),
			go,
		),
		problem,
		el("section", { class: "card source" }, el("div", { class: "head" }, el("h2", {}, "Learn from")), text),
		stage,
	);
	for (const each of [pattern, rule, merges]) each.addEventListener("change", learn);

	async function learn() {
		problem.hidden = true;
		try {
			/** @type {Trace} */
			const trace = await transport.train({
				text: text.value,
				merges: Number(merges.value),
				pattern: pattern.value,
				tie_break: rule.value,
			});
			stage.replaceChildren(replay(trace, pattern.value, /** @type {keyof typeof RULES} */ (rule.value)));
		} catch (error) {
			problem.textContent = /** @type {Error} */ (error).message;
			problem.hidden = false;
		}
	}
	learn();
}

/**
 * @param {Trace} trace
 * @param {string} pattern
 * @param {keyof typeof RULES} rule
 */
function replay(trace, pattern, rule) {
	const vocabulary = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
	for (const { pair } of trace.merges) {
		vocabulary.push(Uint8Array.of(...vocabulary[pair[0]], ...vocabulary[pair[1]]));
	}
	/** @param {number} id */
	const name = (id) => visible(vocabulary[id]);
	const total = trace.merges.length;
	const slider = el("input", { type: "range", min: 0, max: total, value: total, "aria-label": "Merges so far" });
	const play = el("button", { class: "plain", onclick: toggle }, "Play");
	const where = el("strong", { class: "where" });
	const said = el("p", { role: "status" });
	const pieces = el("div", { class: "pieces" });
	const bars = el("div", { class: "bars" });
	const list = el(
		"ol",
		{ class: "merges", start: 1 },
		...trace.merges.map((merge, i) =>
			el(
				"li",
				{},
				el(
					"button",
					{ class: "item", onclick: () => go(i + 1) },
					el("code", {}, `${name(merge.pair[0])} + ${name(merge.pair[1])}`),
					el("small", {}, `${256 + i} · ${grouped(merge.count)}×${merge.ties > 1 ? ` · ${merge.ties} tied` : ""}`),
				),
			)
		),
	);
	const trial = el("input", {
		type: "text",
		class: "field",
		value: "the slowest lows",
		"aria-label": "Encode with the vocabulary of this step",
	});
	const result = el("div", { class: "trial" });
	const tokensLeft = curve([trace.bytes, ...trace.merges.map((merge) => merge.tokens)]);
	const elsewhere = el("span", { class: "faint" });
	/** @type {(number | null)[]} */
	let known = [];
	transport.known(KNOWN, vocabulary.slice(256).map((value) => hex(value).replaceAll(" ", ""))).then((answer) => {
		known = answer.ids;
		draw();
	});
	let timer = 0;

	/** @param {number} step */
	function go(step) {
		slider.value = String(Math.min(total, Math.max(0, step)));
		draw();
	}
	function toggle() {
		if (timer) stop();
		else {
			if (Number(slider.value) === total) go(0);
			play.textContent = "Pause";
			// It stops at the end, and where another view is opened.
			const next = () => Number(slider.value) < total && view.offsetParent ? go(Number(slider.value) + 1) : stop();
			timer = setInterval(next, 700);
		}
	}
	function stop() {
		clearInterval(timer);
		timer = 0;
		play.textContent = "Play";
	}

	/**
	 * @param {Uint8Array} bytes
	 * @param {number} step
	 */
	function merged(bytes, step) {
		let ids = Array.from(bytes);
		for (let i = 0; i < step; i++) ids = joined(ids, trace.merges[i].pair, 256 + i);
		return ids;
	}
	/**
	 * @param {number[]} ids
	 * @param {number} newest
	 */
	const drawn = (ids, newest) =>
		ids.map((id) => el("span", { class: `t c${id % 6}${id === newest ? " active" : ""}`, title: `id ${id}` }, name(id)));

	function draw() {
		const step = Number(slider.value), last = step ? 255 + step : -1;
		const merge = trace.merges[step - 1];
		where.textContent = step ? `Merge ${step} of ${total}` : "Single bytes";
		said.textContent = merge ? sentence(merge, step) : `Before the first merge every byte is a token: ${counted(trace.bytes, "token")}.`;
		pieces.replaceChildren(
			...trace.pieces.slice(0, SHOWN).map(([digits, count]) =>
				el("span", { class: "piece-of" }, ...drawn(merged(unhex(digits), step), last), el("small", {}, `×${grouped(count)}`))
			),
		);
		if (trace.pieces.length > SHOWN) pieces.append(el("small", {}, `and ${grouped(trace.pieces.length - SHOWN)} more pieces`));
		const rows = merge ? [[...merge.pair, merge.count], ...merge.others] : [];
		bars.replaceChildren(...rows.map(([left, right, count], i) => {
			const bar = el("span", { class: i ? "bar" : "bar won" });
			bar.style.width = `${Math.max(1, 100 * count / rows[0][2])}%`;
			return el(
				"div",
				{ class: "row" },
				el("code", {}, `${name(left)} + ${name(right)}`),
				el("span", { class: "track" }, bar),
				el("small", {}, grouped(count)),
			);
		}));
		tokensLeft.mark(step);
		const rank = known[step - 1];
		elsewhere.textContent = !step || !known.length
			? ""
			: rank === null
			? `In ${KNOWN}, “${name(255 + step)}” is not a token.`
			: `In ${KNOWN}, “${name(255 + step)}” has rank ${rank}.`;
		const items = list.querySelectorAll("button");
		for (const [i, item] of items.entries()) item.setAttribute("aria-current", String(i === step - 1));
		if (step) list.scrollTop = Math.max(0, items[step - 1].offsetTop - list.clientHeight / 2);
		encode();
	}

	/**
	 * @param {Merge} merge
	 * @param {number} step
	 */
	function sentence(merge, step) {
		const made = `“${name(merge.pair[0])}” + “${name(merge.pair[1])}” occurs ${counted(merge.count, "time")} and becomes token ${
			255 + step
		}. `;
		const tie = merge.ties > 1 ? `${merge.ties} pairs occur as often; the rule takes ${RULES[rule]}. ` : "No other pair occurs as often. ";
		return `${made}${tie}The text has ${counted(merge.tokens, "token")} now.`;
	}

	let newest = 0;
	async function encode() {
		const bytes = encoder.encode(trial.value), mine = ++newest, ids = [];
		let at = 0;
		const sizes = await transport.pieces({ pattern }, bytes);
		if (mine !== newest) return;
		for (const size of sizes) ids.push(...merged(bytes.subarray(at, at += size), Number(slider.value)));
		result.replaceChildren(...drawn(ids, -1), el("small", {}, counted(ids.length, "token")));
	}

	trial.addEventListener("input", encode);
	slider.addEventListener("input", draw);
	const view = el(
		"div",
		{ class: "replay" },
		el(
			"section",
			{ class: "card main" },
			el(
				"div",
				{ class: "controls" },
				play,
				el("button", { class: "plain", "aria-label": "Back", onclick: () => go(Number(slider.value) - 1) }, "←"),
				el("button", { class: "plain", "aria-label": "Forward", onclick: () => go(Number(slider.value) + 1) }, "→"),
				slider,
				where,
			),
			said,
			elsewhere,
			bars,
			el("h2", {}, "Tokens of the text"),
			tokensLeft.element,
			el("h2", {}, "Pieces of the text"),
			pieces,
			el("h2", {}, "Try it"),
			trial,
			result,
			el("p", { class: "faint" }, "The steps are those of ", stageButton("training", "train_steps in bytemill/reference.py"), "."),
		),
		el("section", { class: "card side" }, el("div", { class: "head" }, el("h2", {}, "Merges")), list),
	);
	view.addEventListener("keydown", (event) => {
		if (/** @type {HTMLElement} */ (event.target).matches("input, textarea, select")) return;
		/** @type {Record<string, number>} */
		const steps = { ArrowLeft: Number(slider.value) - 1, ArrowRight: Number(slider.value) + 1, Home: 0, End: total };
		if (event.key === " " && !/** @type {HTMLElement} */ (event.target).matches("button")) toggle();
		else if (event.key in steps) go(steps[event.key]);
		else return;
		event.preventDefault();
	});
	draw();
	return view;
}

/**
 * Replaces a pair by a new id, from left to right.
 * @param {number[]} ids
 * @param {[number, number]} pair
 * @param {number} id
 */
function joined(ids, [left, right], id) {
	const found = [];
	for (let i = 0; i < ids.length; i++) {
		if (ids[i] === left && ids[i + 1] === right) {
			found.push(id);
			i++;
		} else found.push(ids[i]);
	}
	return found;
}

// The curve of training: tokens of the text over merges.

const WIDTH = 600, HEIGHT = 90;

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 */
function svg(tag, attributes, ...children) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
	made.append(...children);
	return made;
}

/**
 * Draws a curve.
 * @param {number[]} values the first is that before any merge
 * @returns {{element: Element, mark: (step: number) => void}} the picture, and what moves its mark
 */
function curve(values) {
	const [most] = values;
	/** @param {number} step */
	const x = (step) => 4 + (WIDTH - 8) * step / Math.max(1, values.length - 1);
	/** @param {number} step */
	const y = (step) => 6 + (HEIGHT - 12) * (1 - values[step] / Math.max(1, most));
	const dot = svg("circle", { r: 5, class: "dot" });
	const line = svg("polyline", { points: values.map((_, step) => `${x(step).toFixed(1)},${y(step).toFixed(1)}`).join(" ") });
	const label = `Tokens of the text: ${grouped(most)} before the first merge, ${grouped(values[values.length - 1])} after the last`;
	const element = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img", "aria-label": label }, line, dot);
	return {
		element,
		mark(step) {
			dot.setAttribute("cx", String(x(step)));
			dot.setAttribute("cy", String(y(step)));
		},
	};
}
