// @ts-check
/** Light, dark, or as the system is. */

import { keep, kept } from "./dom.js";

const ORDER = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

/** @param {HTMLButtonElement} button */
export function themes(button) {
	let current = kept("theme") || "system";
	const apply = () => {
		document.documentElement.dataset.theme = current;
		button.textContent = SIGNS[/** @type {keyof typeof SIGNS} */ (current)] ?? "◐";
		button.setAttribute("aria-label", `Theme: ${current === "system" ? "as the system" : current}`);
	};
	button.addEventListener("click", () => {
		current = ORDER[(ORDER.indexOf(current) + 1) % ORDER.length];
		keep("theme", current);
		apply();
	});
	apply();
}
