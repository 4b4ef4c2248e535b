// @ts-check
/** A vocabulary: its first tokens, or those that a search finds. */

import { shown, unhex } from "./bytes.js";
import { counted, el } from "./dom.js";
import { transport } from "./transport.js";

/**
 * @param {HTMLElement} view
 * @param {() => string} encoding
 * @param {(button: HTMLElement) => void} choose
 */
export function vocabulary(view, encoding, choose) {
	const name = el("span");
	/** @type {HTMLElement} */
	const button = el(
		"button",
		{ class: "choice", "aria-haspopup": "dialog", onclick: () => choose(button) },
		el("small", {}, "Encoding"),
		name,
	);
	const input = el("input", {
		type: "search",
		class: "field",
		placeholder: "Text, 0x2074, #256-300",
		"aria-label": "Search the vocabulary",
	});
	const count = el("p", { class: "faint", role: "status" });
	const table = el("div", { class: "card hits" });
	let newest = 0, timer = 0;
	const search = async () => {
		const mine = ++newest, chosen = encoding(), { value } = input;
		name.textContent = chosen;
		try {
			const answer = await transport.search(chosen, value);
			if (mine !== newest) return;
			const more = answer.count > answer.hits.length ? `, the first ${answer.hits.length} of them` : "";
			count.textContent = answer.count
				? `${counted(answer.count, "token")}${value ? more : ", the first longer than a byte"}`
				: `No token of ${chosen} contains “${value}”.`;
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
	addEventListener("encoding", search);
	view.append(el("div", { class: "toolbar" }, button, input), count, table);
	search();
	input.focus();
}
