// @ts-check
/** The way of a text to ids, on one line: each stage opens the lines of the reference that define it. */

import { byId, counted, el, openBelow } from "./dom.js";
import { transport } from "./transport.js";

/** In this order everywhere. */
const STAGES = ["text", "special", "pieces", "bytes", "merges", "ids"];

/**
 * Returns a button that shows the definition of a stage.
 * @param {string} stage
 * @param {...(Node | string)} content
 */
export function stageButton(stage, ...content) {
	const button = el("button", { class: "stage-link", "data-stage": stage, onclick: () => define(button, stage) }, ...content);
	return button;
}

/**
 * Draws the line.
 * @param {{text: number, special: number, pieces: number, bytes: number, ids: number}} sizes `pieces` is 0 where nobody counted
 */
export function way({ text, special, pieces, bytes, ids }) {
	/** @type {Record<string, string>} */
	const shown = {
		text: counted(text, "character"),
		special: `${counted(special, "special token")} cut out`,
		pieces: pieces ? counted(pieces, "piece") : "pieces",
		bytes: counted(bytes, "byte"),
		merges: "merges",
		ids: counted(ids, "ID"),
	};
	byId("way").replaceChildren(...STAGES.map((stage) => stageButton(stage, shown[stage])));
}

/**
 * @param {HTMLElement} button
 * @param {string} stage
 */
async function define(button, stage) {
	const { about, file, start, lines, marked: [first, last] } = await transport.stage(stage);
	const popover = byId("dialog");
	popover.setAttribute("aria-label", `Definition: ${stage}`);
	popover.replaceChildren(
		el("p", { class: "pad" }, about),
		el(
			"pre",
			{ class: "lines", tabindex: 0 },
			...lines.map((/** @type {string} */ line, /** @type {number} */ i) => {
				const number = start + i, mark = first <= number && number <= last;
				return el(mark ? "mark" : "span", {}, el("small", {}, String(number)), line || " ");
			}),
		),
		el("p", { class: "pad faint" }, `${file}, line ${first}`),
	);
	openBelow(popover, button);
	popover.querySelector("mark")?.scrollIntoView({ block: "center" });
}
