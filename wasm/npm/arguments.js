// @ts-check
/** Checks of arguments. */

/** @param {unknown} text */
export function checked(text) {
	if (typeof text !== "string") throw new TypeError(`expected a string, got ${text === null ? "null" : typeof text}`);
	return text;
}

/**
 * @param {string} what
 * @param {number} value
 */
export function whole(what, value) {
	if (!Number.isInteger(value) || value < 0 || value > 0xFFFFFFFF) {
		throw new RangeError(`expected ${what} of 0 to 4294967295, a whole number, got ${value}`);
	}
	return value;
}
