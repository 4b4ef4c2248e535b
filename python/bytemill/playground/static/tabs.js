// @ts-check
/** Tabs: one of a list is open, and the arrow keys walk. */

import { byId } from "./dom.js";

/**
 * @param {HTMLElement} list
 * @param {(name: string) => void} opened takes what follows `tab-` in the id of the tab
 */
export function tabs(list, opened) {
	/** @type {HTMLElement[]} */
	const all = [...list.querySelectorAll("[role=tab]")].map((each) => /** @type {HTMLElement} */ (each));
	/** @param {HTMLElement} tab */
	const open = (tab) => {
		for (const each of all) {
			each.setAttribute("aria-selected", String(each === tab));
			each.tabIndex = each === tab ? 0 : -1;
			byId(each.getAttribute("aria-controls") ?? "").hidden = each !== tab;
		}
		opened(tab.id.slice("tab-".length));
	};
	for (const [i, tab] of all.entries()) {
		tab.addEventListener("click", () => open(tab));
		tab.addEventListener("keydown", (event) => {
			const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
			if (!step) return;
			const next = all[(i + step + all.length) % all.length];
			next.focus();
			open(next);
		});
	}
}
