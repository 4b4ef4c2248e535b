// @ts-check
/** Elements without markup: whatever comes from a text stays text. */

/**
 * Makes an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>} [properties] `class`, `on…` listeners, and attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, properties = {}, ...children) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (name.startsWith("on")) {
			made.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
		} else if (value === true) {
			made.setAttribute(name, "");
		} else if (value !== false && value !== undefined && value !== null) {
			made.setAttribute(name, String(value));
		}
	}
	made.append(...children);
	return made;
}

/**
 * Makes a small button.
 * @param {string} name
 * @param {() => void} onclick
 */
export function small(name, onclick) {
	return el("button", { class: "plain small", onclick }, name);
}

/**
 * Returns the element with an id.
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
	const found = document.getElementById(id);
	if (!found) throw new Error(`no element ${id}`);
	return found;
}

/**
 * Returns a number with separators of thousands.
 * @param {number} value
 */
export function grouped(value) {
	return value.toLocaleString("en-US");
}

/**
 * Returns a number and a noun: "1 token", "2 tokens".
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
	return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Returns what the browser keeps under a name; an empty text if it keeps nothing.
 * @param {string} name
 */
export function kept(name) {
	try {
		return localStorage.getItem(name) ?? "";
	} catch {
		return "";
	}
}

/**
 * Lets the browser keep a text, if it keeps any.
 * @param {string} name
 * @param {string} value
 */
export function keep(name, value) {
	try {
		localStorage.setItem(name, value);
	} catch {
		// As where nobody has chosen.
	}
}

/**
 * Shows a popover at its button, inside of the window: below it, or above where there is more room.
 * @param {HTMLElement} popover
 * @param {HTMLElement} button
 */
export function openBelow(popover, button) {
	popover.showPopover();
	const from = button.getBoundingClientRect();
	const left = Math.min(from.left, innerWidth - popover.offsetWidth - 24);
	popover.style.left = `${Math.max(8, left)}px`;
	const below = innerHeight - from.bottom - 18;
	const above = below < 200 && from.top > below;
	popover.style.maxHeight = `${Math.max(160, above ? from.top - 18 : below)}px`;
	popover.style.top = above ? `${Math.max(8, from.top - popover.offsetHeight - 6)}px` : `${from.bottom + 6}px`;
}

// The line above the panes: what went wrong, or what the reader should know.

/** @typedef {[string, () => void]} Action what a button says and does */

const message = byId("message");

/**
 * Says what went wrong; nothing without an error.
 * @param {Error | null} error
 * @param {...Action} actions
 */
export function complain(error, ...actions) {
	draw(error?.message ?? "", actions);
	message.classList.remove("note");
}

/**
 * Says something that is no error.
 * @param {string} note
 * @param {...Action} actions
 */
export function remark(note, ...actions) {
	draw(note, actions);
	message.classList.add("note");
}

/**
 * @param {string} words
 * @param {Action[]} actions
 */
function draw(words, actions) {
	message.hidden = !words;
	message.replaceChildren(words, ...actions.map(([name, onclick]) => small(name, onclick)));
}

// Light, dark, or as the system is.

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

// Tabs: one of a list is open, and the arrow keys walk.

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
