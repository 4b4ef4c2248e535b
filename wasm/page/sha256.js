// @ts-check
/** SHA-256 of what is loaded. */

const PRIMES = [2];
for (let number = 3; PRIMES.length < 64; number += 2) if (PRIMES.every((prime) => number % prime)) PRIMES.push(number);

/** @param {number} root the first 32 bits of its fraction */
const fraction = (root) => (root - Math.floor(root)) * 2 ** 32 >>> 0;
const CONSTANTS = Uint32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/**
 * @param {number} word
 * @param {number} by
 */
const rotated = (word, by) => word >>> by | word << 32 - by;

/** @param {number[]} numbers @param {number} digits of each */
const hex = (numbers, digits) => numbers.map((number) => number.toString(16).padStart(digits, "0")).join("");

/**
 * Returns the hash of bytes in hexadecimal digits.
 * @param {Uint8Array} bytes
 */
export async function sha256(bytes) {
	// The browser is faster. Pages that come from another machine without TLS do not have it.
	if (!globalThis.crypto?.subtle) return sha256InScript(bytes);
	return hex([...new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {Uint8Array<ArrayBuffer>} */ (bytes)))], 2);
}

/**
 * Returns the same without the browser.
 * @param {Uint8Array} bytes
 */
export function sha256InScript(bytes) {
	const size = Math.ceil((bytes.length + 9) / 64) * 64;
	const padded = new Uint8Array(size);
	padded.set(bytes);
	padded[bytes.length] = 0x80;
	const view = new DataView(padded.buffer);
	view.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29));
	view.setUint32(size - 4, bytes.length << 3);
	const state = START.slice(), words = new Uint32Array(64);
	for (let start = 0; start < size; start += 64) {
		for (let i = 0; i < 16; i++) words[i] = view.getUint32(start + 4 * i);
		for (let i = 16; i < 64; i++) {
			const a = words[i - 15], b = words[i - 2];
			words[i] = words[i - 16] + words[i - 7] + (rotated(a, 7) ^ rotated(a, 18) ^ a >>> 3) + (rotated(b, 17) ^ rotated(b, 19) ^ b >>> 10);
		}
		let [a, b, c, d, e, f, g, h] = state;
		for (let i = 0; i < 64; i++) {
			const one = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (e & f ^ ~e & g) + CONSTANTS[i] + words[i] | 0;
			const two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
			[h, g, f, e, d, c, b, a] = [g, f, e, d + one | 0, c, b, a, one + two | 0];
		}
		[a, b, c, d, e, f, g, h].forEach((word, i) => state[i] += word);
	}
	return hex([...state], 8);
}
