// @ts-check
/** The curve of training: tokens of the text over merges. */

import { grouped } from "./dom.js";

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
export function curve(values) {
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
