// @ts-check
/** Search in a vocabulary. */

import { shown, unhex } from "./bytes.js";
import { counted, el } from "./dom.js";
import { transport } from "./transport.js";

/**
 * @param {HTMLElement} view
 * @param {() => string} encoding
 */
export function vocabulary(view, encoding) {
	const input = el("input", {
		type: "search",
		class: "field",
		placeholder: "Text, 0x bytes, #id or #id-id",
		"aria-label": "Search the vocabulary",
	});
	const count = el("p", { class: "faint", role: "status" });
	const table = el("div", { class: "card hits" });
	let newest = 0, timer = 0;
	const search = async () => {
		const mine = ++newest;
		if (!input.value) {
			table.replaceChildren();
			count.textContent = `Tokens of ${encoding()} that contain a text.`;
			return;
		}
		try {
			const answer = await transport.search(encoding(), input.value);
			if (mine !== newest) return;
			count.textContent = answer.count
				? `${counted(answer.count, "token")} of ${encoding()}${
					answer.count > answer.hits.length ? `, the first ${answer.hits.length} of them` : ""
				}`
				: `No token of ${encoding()} contains “${input.value}”.`;
			table.replaceChildren(
				...answer.hits.map((/** @type {{id: number, bytes: string, special: boolean}} */ hit, /** @type {number} */ i) =>
					el(
						"div",
						{ class: "hit" },
						el("code", {}, String(hit.id)),
						el("span", { class: `t c${i % 6}${hit.special ? " special" : ""}` }, ...shown(unhex(hit.bytes))),
						el("code", { class: "faint" }, hit.bytes.replace(/../g, "$& ").trim()),
					)
				),
			);
		} catch (error) {
			count.textContent = /** @type {Error} */ (error).message;
		}
	};
	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(search, 150);
	});
	view.append(input, count, table);
	search();
	input.focus();
}
