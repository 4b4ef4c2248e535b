// @ts-check
/** Tokens as the server packs them; the layout is described in wire.py. */

const LONG = 255;

/** The tokens of a text. Token i is `bytes[starts[i]..ends[i]]`. */
export class Tokens {
	/**
	 * @param {Uint8Array} bytes
	 * @param {Uint32Array} ids
	 * @param {Uint32Array} starts
	 * @param {Uint32Array} ends
	 * @param {Set<number>} special indices of special tokens
	 * @param {number} gaps how often text was left out
	 * @param {number} microseconds
	 */
	constructor(bytes, ids, starts, ends, special, gaps, microseconds) {
		this.bytes = bytes;
		this.ids = ids;
		this.starts = starts;
		this.ends = ends;
		this.special = special;
		this.gaps = gaps;
		this.microseconds = microseconds;
	}

	get length() {
		return this.ids.length;
	}

	/** @param {number} index */
	value(index) {
		return this.bytes.subarray(this.starts[index], this.ends[index]);
	}

	/**
	 * Returns the index of the token that holds a byte; -1 without tokens.
	 * @param {number} offset
	 */
	at(offset) {
		let low = 0, high = this.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.starts[middle] <= offset) low = middle + 1;
			else high = middle;
		}
		return low - 1;
	}
}

export const NOTHING = new Tokens(
	new Uint8Array(),
	new Uint32Array(),
	new Uint32Array(),
	new Uint32Array(),
	new Set(),
	0,
	0,
);

/**
 * Reads all blocks of an answer.
 * @param {ArrayBuffer} buffer
 * @param {Uint8Array} bytes the text that was sent
 * @returns {{sequence: number, tokens: Tokens[]}}
 */
export function unpack(buffer, bytes) {
	const found = [];
	let offset = 0, sequence = 0;
	while (offset < buffer.byteLength) {
		const magic = new Uint8Array(buffer, offset, 4);
		if (String.fromCharCode(...magic) !== "BMT1") throw new Error("Another version runs: reload the page.");
		const [seq, count, size, specials, longs, gapCount, microseconds] = new Uint32Array(buffer, offset + 4, 7);
		if (size !== bytes.length) throw new Error("An answer to another text.");
		sequence = seq;
		offset += 32;
		const ids = new Uint32Array(buffer, offset, count);
		const special = new Uint32Array(buffer, offset += 4 * count, specials);
		const long = new Uint32Array(buffer, offset += 4 * specials, 2 * longs);
		const gaps = new Uint32Array(buffer, offset += 8 * longs, 2 * gapCount);
		const lengths = new Uint8Array(buffer, offset += 8 * gapCount, count);
		offset += count + (4 - count % 4) % 4;
		const starts = new Uint32Array(count), ends = new Uint32Array(count);
		let at = 0, nextLong = 0, nextGap = 0;
		for (let i = 0; i < count; i++) {
			if (gaps[nextGap] === i && nextGap < gaps.length) {
				at += gaps[nextGap + 1];
				nextGap += 2;
			}
			starts[i] = at;
			at += lengths[i] === LONG ? long[(nextLong += 2) - 1] : lengths[i];
			ends[i] = at;
		}
		found.push(new Tokens(bytes, ids, starts, ends, new Set(special), gapCount, microseconds));
	}
	return { sequence, tokens: found };
}

/**
 * Marks the tokens of one text whose span is no token of the other.
 * @param {Tokens} one
 * @param {Tokens} other
 * @returns {{marks: Uint8Array, count: number}}
 */
export function differences(one, other) {
	const marks = new Uint8Array(one.length);
	let count = 0;
	for (let i = 0, j = 0; i < one.length; i++) {
		while (j < other.length && other.starts[j] < one.starts[i]) j++;
		if (j >= other.length || other.starts[j] !== one.starts[i] || other.ends[j] !== one.ends[i]) {
			marks[i] = 1;
			count++;
		}
	}
	return { marks, count };
}
