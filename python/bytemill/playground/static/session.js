// @ts-check
/** What is shown, and the one request at a time that keeps tokens in step with the text. */

import { transport, Unreachable } from "./transport.js";

/** Above this size, requests wait until the keys are quiet. */
const LARGE = 256 * 1024;
const QUIET = 120;
/** After this time the page says for whom it waits: patterns of strangers may be slow. */
const LONG = 1000;

export class Session {
	/**
	 * @param {(tokens: import("./wire.js").Tokens[], began: number) => void} show
	 * @param {(error: Error | null) => void} complain
	 * @param {() => void} wait is called while an answer takes long
	 */
	constructor(show, complain, wait) {
		this.wait = wait;
		this.show = show;
		this.complain = complain;
		this.encoding = "o200k_base";
		/** @type {string | null} */
		this.compare = null;
		this.special = "text";
		/** @type {Uint8Array} */
		this.bytes = new Uint8Array();
		this.sequence = 0;
		/** Whether the server did not answer the last request. */
		this.lost = false;
		this.running = false;
		this.again = false;
		this.began = 0;
		this.lasted = 0;
		this.timer = 0;
	}

	/**
	 * Takes another text and shows its tokens.
	 * @param {Uint8Array} bytes
	 */
	update(bytes) {
		this.bytes = bytes;
		this.refresh();
	}

	/** Asks for the tokens of the text as it is now; the newest request wins. */
	refresh() {
		this.began = performance.now();
		this.sequence++;
		clearTimeout(this.timer);
		if (this.bytes.length > LARGE) this.timer = setTimeout(() => this.send(), Math.max(QUIET, 2 * this.lasted));
		else this.send();
	}

	async send() {
		if (this.running) {
			this.again = true;
			return;
		}
		this.running = true;
		const { sequence, bytes, began, encoding, compare, special } = this;
		const start = performance.now();
		const late = setTimeout(() => this.wait(), LONG);
		try {
			const answer = await transport.encode(bytes, { e: encoding, b: compare, special, seq: sequence });
			this.lasted = performance.now() - start;
			this.lost = false;
			// While keys follow each other, what is shown lags by one answer; the last of them is always shown. An answer
			// by encodings that are no longer chosen would stand below the name of others.
			const chosen = encoding === this.encoding && compare === this.compare && special === this.special;
			if (answer.sequence === sequence && chosen) {
				this.complain(null);
				this.show(answer.tokens, began);
			}
		} catch (error) {
			this.lost = error instanceof Unreachable;
			if (sequence === this.sequence || this.lost) this.complain(/** @type {Error} */ (error));
		} finally {
			clearTimeout(late);
			this.running = false;
			if (this.again) {
				this.again = false;
				this.send();
			}
		}
	}
}
