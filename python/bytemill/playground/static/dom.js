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
