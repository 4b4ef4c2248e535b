// @ts-check
/** The list in which an encoding is chosen by its name, a model that uses it, or a file. */

import { byId, el, grouped, openBelow } from "./dom.js";
import { transport } from "./transport.js";

/** @typedef {{name: string, tokens: number | null, models: string[], file: boolean, ranks: boolean}} Listed */

/** Before the fingerprint of an encoding is asked for, which opens it. */
const WAIT = 150;

/** @type {Listed[]} */
let listed = [];

/** @param {Listed[]} encodings */
export function list(encodings) {
	listed = encodings;
}

/**
 * Returns an encoding of the list.
 * @param {string} name
 */
export function listedAs(name) {
	return listed.find((each) => each.name === name);
}

/**
 * Lets the reader choose an encoding.
 * @param {HTMLElement} button
 * @param {string | null} current
 * @param {{none: boolean, choose: (name: string | null) => void, open: () => void}} options
 */
export function pick(button, current, { none, choose, open }) {
	const picker = byId("picker");
	const options = el("div", { role: "listbox", id: "picker-list", "aria-label": "Encodings" });
	const input = el("input", {
		type: "search",
		placeholder: "Encoding or model",
		"aria-label": "Encoding or model",
		role: "combobox",
		"aria-expanded": "true",
		"aria-controls": "picker-list",
		autocomplete: "off",
	});
	/** @param {string | null} name */
	const chosen = (name) => {
		picker.hidePopover();
		button.focus();
		choose(name);
	};
	const print = el("p", { class: "print faint", role: "status" });
	let active = 0, timer = 0;
	/** @param {string | undefined} name */
	const fingerprint = (name) => {
		clearTimeout(timer);
		print.textContent = name ? `${name}: sha256 …` : "";
		if (!name) return;
		timer = setTimeout(async () => {
			const found = await transport.details(name).catch(() => null);
			if (found && print.textContent === `${name}: sha256 …`) print.textContent = `${name}: sha256 ${found.sha256 ?? "unknown"}`;
		}, WAIT);
	};
	const move = () => {
		for (const [i, option] of [...options.children].entries()) {
			option.setAttribute("aria-selected", String(i === active));
			if (i === active) {
				option.scrollIntoView({ block: "nearest" });
				input.setAttribute("aria-activedescendant", option.id);
				fingerprint(/** @type {HTMLElement} */ (option).dataset.name);
			}
		}
	};
	const draw = () => {
		const wanted = input.value.trim().toLowerCase();
		const rows = listed.map((each) => ({ each, models: matching(each, wanted) }))
			.filter(({ each, models }) => !wanted || each.name.toLowerCase().includes(wanted) || models.length);
		options.replaceChildren(...rows.map(({ each, models }, i) => {
			const about = each.file ? "opened from a file" : models.slice(0, 5).join(", ") + (models.length > 5 ? ", …" : "");
			return el(
				"div",
				{ role: "option", id: `pick-${i}`, "data-name": each.name, onclick: () => chosen(each.name) },
				el("span", { class: "sizes" }, el("b", {}, each.name), el("small", {}, each.tokens ? `${grouped(each.tokens)} tokens` : "")),
				el("small", {}, about),
			);
		}));
		if (none && !wanted) {
			options.prepend(el("div", { role: "option", id: "pick-none", "data-name": "", onclick: () => chosen(null) }, el("b", {}, "none")));
		}
		active = wanted
			? 0
			: Math.max(0, [...options.children].findIndex((option) => /** @type {HTMLElement} */ (option).dataset.name === (current ?? "")));
		move();
	};
	input.addEventListener("input", draw);
	input.addEventListener("keydown", (event) => {
		const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
		if (step) {
			active = Math.min(options.children.length - 1, Math.max(0, active + step));
			move();
		} else if (event.key === "Enter") {
			const option = /** @type {HTMLElement | undefined} */ (options.children[active]);
			if (option) chosen(option.dataset.name || null);
		} else {
			return;
		}
		event.preventDefault();
	});
	const file = el(
		"button",
		{
			class: "item",
			onclick: () => {
				picker.hidePopover();
				open();
			},
		},
		el("b", {}, "Open a tokenizer file…"),
		el("small", {}, "tokenizer.json, .model, .tiktoken, .gguf and others; it stays on this machine"),
	);
	picker.replaceChildren(input, options, print, el("hr"), file);
	openBelow(picker, button);
	draw();
	input.focus();
}

/**
 * Returns the models of an encoding that match, all without a search.
 * @param {Listed} each
 * @param {string} wanted
 */
function matching(each, wanted) {
	return wanted ? each.models.filter((model) => model.toLowerCase().includes(wanted) || fits(model, wanted)) : each.models;
}

/**
 * Returns whether a name belongs to a family such as `gpt-4o-*`.
 * @param {string} model
 * @param {string} name
 */
function fits(model, name) {
	return model.endsWith("*") && name.startsWith(model.slice(0, -1).toLowerCase());
}
