// @ts-check
/** What an edit changes: which tokens stay, which colours they have, where blocks of them are cut. */

/** @typedef {import("./wire.js").Tokens} Tokens */

const COLOURS = 6;
const FEWEST = 128;
const MOST = 384;

/**
 * Returns how many tokens are the same at the start and at the end of two texts.
 * @param {Tokens} old
 * @param {Tokens} now
 */
export function common(old, now) {
	const most = Math.min(old.length, now.length);
	const size = Math.min(old.bytes.length, now.bytes.length);
	const shift = now.bytes.length - old.bytes.length;
	let same = 0, tail = 0;
	while (same < size && old.bytes[same] === now.bytes[same]) same++;
	while (tail < size - same && old.bytes[old.bytes.length - 1 - tail] === now.bytes[now.bytes.length - 1 - tail]) tail++;
	let before = 0, behind = 0;
	while (
		before < most && old.ids[before] === now.ids[before] && old.ends[before] === now.ends[before] &&
		now.ends[before] <= same && old.special.has(before) === now.special.has(before)
	) before++;
	while (behind < most - before) {
		const i = old.length - 1 - behind, j = now.length - 1 - behind;
		if (old.ids[i] !== now.ids[j] || old.starts[i] + shift !== now.starts[j] || now.bytes.length - now.starts[j] > tail) break;
		if (old.special.has(i) !== now.special.has(j)) break;
		behind++;
	}
	return [before, behind];
}

/**
 * Returns colours of which no two neighbours have the same, keeping those of the start and the end.
 * @param {Uint8Array} old
 * @param {number} length
 * @param {number} before
 * @param {number} behind
 */
export function recoloured(old, length, before, behind) {
	const colours = new Uint8Array(length);
	colours.set(old.subarray(0, before));
	if (behind) colours.set(old.subarray(old.length - behind), length - behind);
	const last = length - behind;
	for (let i = before; i < last; i++) {
		colours[i] = i ? (colours[i - 1] + 1) % COLOURS : 0;
		if (i === last - 1 && behind && colours[i] === colours[last]) {
			colours[i] = (colours[i] + 1) % COLOURS;
		}
	}
	return colours;
}

/**
 * Returns colours that are equal for equal tokens; neighbours may have the same.
 * @param {Uint32Array} ids
 */
export function byIds(ids) {
	return Uint8Array.from(ids, (id) => (Math.imul(id, 0x9e3779b1) >>> 16) % COLOURS);
}

/**
 * Returns how many line breaks a token has.
 * @param {Tokens} tokens
 * @param {number} index
 */
export function lineBreaks(tokens, index) {
	let count = 0;
	for (let i = tokens.starts[index]; i < tokens.ends[index]; i++) if (tokens.bytes[i] === 10) count++;
	return count;
}

/**
 * Returns whether a block ends where blocks are cut: behind a line break, or because it is long.
 * @param {Tokens} tokens
 * @param {number} start
 * @param {number} end
 */
export function isWhole(tokens, start, end) {
	const size = end - start;
	return (size >= FEWEST && lineBreaks(tokens, end - 1) > 0) || (size >= MOST && (tokens.bytes[tokens.ends[end - 1]] & 0xc0) !== 0x80);
}

/**
 * Cuts tokens into blocks: behind line breaks, never inside of a character.
 * @param {Tokens} tokens
 * @param {number} first
 * @param {number} last
 */
export function cuts(tokens, first, last) {
	/** @type {[number, number][]} */
	const found = [];
	let start = first;
	for (let i = first; i < last; i++) {
		if (isWhole(tokens, start, i + 1)) {
			found.push([start, i + 1]);
			start = i + 1;
		}
	}
	if (start < last) found.push([start, last]);
	return found;
}
