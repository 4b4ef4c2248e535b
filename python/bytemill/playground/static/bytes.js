// @ts-check
/** Bytes of tokens as signs that can be seen: the same as in the terminal. */

export const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
export const encoder = new TextEncoder();

const EMOJI = String.raw`\p{ExtPict}[\ufe0f\u{1f3fb}-\u{1f3ff}]*`;
// Others, separators, the property Default_Ignorable_Code_Point, and two symbols that are blank.
const HIDDEN = String.raw`[\p{C}\p{Z}\p{DI}\u2800\u{1d159}]`;
const PARTS = new RegExp(`(${EMOJI}(?:\u200d${EMOJI})+)|(${HIDDEN})`, "gu");
const MARK = /^\p{M}/u;
// A text as it is written keeps its spaces, line breaks and joiners.
const LAID_OUT = /[\x20\n\t\u200c\u200d]/;

/** @type {Record<string, string>} */
const SIGNS = { " ": "·", "\n": "⏎", "\t": "→" };

/**
 * A part of a token: a text, and whether it stands for something that cannot be seen.
 * @typedef {{text: string, sign: boolean}} Part
 */

/**
 * Returns how many bytes a character takes that starts here; 0 if there is no whole one.
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} end
 */
function characterSize(bytes, at, end) {
	const first = bytes[at];
	if (first < 0x80) return 1;
	const size = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc2 && first < 0xe0 ? 2 : 0;
	if (!size || at + size > end) return 0;
	for (let i = 1; i < size; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0;
	const second = bytes[at + 1];
	if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f)) return 0;
	if ((first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) return 0;
	return size;
}

/**
 * Returns whether some bytes are not whole characters.
 * @param {Uint8Array} bytes
 * @param {number} start
 * @param {number} end
 */
export function isPartial(bytes, start, end) {
	for (let at = start; at < end;) {
		const size = characterSize(bytes, at, end);
		if (!size) return true;
		at += size;
	}
	return false;
}

/**
 * Returns bytes as hexadecimal digits with spaces.
 * @param {Uint8Array} bytes
 */
export function hex(bytes) {
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/**
 * Returns the bytes of hexadecimal digits.
 * @param {string} digits
 */
export function unhex(digits) {
	return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/**
 * Returns the parts of a token.
 * @param {Uint8Array} bytes
 * @param {number} start
 * @param {number} end
 * @returns {Part[]}
 */
function partsOf(bytes, start = 0, end = bytes.length) {
	/** @type {Part[]} */
	const parts = [];
	let at = start;
	while (at < end) {
		let whole = at;
		for (let size; whole < end && (size = characterSize(bytes, whole, end)); whole += size);
		if (whole > at) addText(parts, decoder.decode(bytes.subarray(at, whole)));
		let broken = whole;
		while (broken < end && !characterSize(bytes, broken, end)) broken++;
		if (broken > whole) parts.push({ text: `‹${hex(bytes.subarray(whole, broken))}›`, sign: true });
		at = broken;
	}
	if (parts.length && !parts[0].sign && MARK.test(parts[0].text)) parts[0].text = "◌" + parts[0].text;
	return parts;
}

/**
 * @param {Part[]} parts
 * @param {string} text
 */
function addText(parts, text) {
	let from = 0;
	for (const found of text.matchAll(PARTS)) {
		if (found[1]) continue;
		if (found.index > from) parts.push({ text: text.slice(from, found.index), sign: false });
		const last = parts[parts.length - 1];
		const sign = SIGNS[found[2]] ?? escaped(found[2]);
		if (last?.sign) last.text += sign;
		else parts.push({ text: sign, sign: true });
		from = found.index + found[2].length;
	}
	if (from < text.length) parts.push({ text: text.slice(from), sign: false });
}

/** @param {string} character */
function escaped(character) {
	if (character === "\r") return "\\r";
	const digits = (character.codePointAt(0) ?? 0).toString(16), { length } = digits;
	return `\\${length <= 2 ? "x" : length <= 4 ? "u" : "U"}${digits.padStart(length <= 2 ? 2 : length <= 4 ? 4 : 8, "0")}`;
}

/**
 * Returns bytes as one string of what can be seen.
 * @param {Uint8Array} bytes
 */
export function visible(bytes) {
	return partsOf(bytes).map((part) => part.text).join("");
}

/**
 * Returns nodes that show bytes, signs fainter than text.
 * @param {Uint8Array} bytes
 * @param {number} [start]
 * @param {number} [end]
 * @returns {(Node | string)[]}
 */
export function shown(bytes, start = 0, end = bytes.length) {
	return partsOf(bytes, start, end).map((part) => {
		if (!part.sign) return part.text;
		const sign = document.createElement("i");
		sign.textContent = part.text;
		return sign;
	});
}

/**
 * Returns bytes as the text that they are, except for what has no glyph and lays nothing out.
 * @param {Uint8Array} bytes
 */
export function written(bytes) {
	return decoder.decode(bytes).replace(PARTS, (found, joined) => joined || LAID_OUT.test(found) ? found : escaped(found));
}

/**
 * Returns the ends of the characters that people see in a stretch of bytes, as offsets.
 * @param {Uint8Array} bytes
 * @param {number} start
 * @param {number} end
 * @returns {Set<number>}
 */
export function characterEnds(bytes, start, end) {
	const text = decoder.decode(bytes.subarray(start, end));
	const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
	const ends = new Set([start]);
	let at = start;
	for (const { segment } of segmenter.segment(text)) {
		at += encoder.encode(segment).length;
		ends.add(at);
	}
	return ends;
}
