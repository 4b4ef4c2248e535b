// @ts-check
/** The ids of the text, and the way back: ids that are typed or pasted become text. */

import { byId, counted, grouped } from "./dom.js";
import { Refused, transport } from "./transport.js";
import { NOTHING } from "./wire.js";

/** More ids than these are not listed; copying takes all of them. */
const MOST = 4000;
const FORMS = {
	python: (/** @type {string[]} */ ids) => `[${ids.join(", ")}]`,
	json: (/** @type {string[]} */ ids) => `[${ids.join(",")}]`,
	spaces: (/** @type {string[]} */ ids) => ids.join(" "),
};

export class Ids {
	/**
	 * @param {() => string} encoding
	 * @param {(text: string) => void} decoded
	 */
	constructor(encoding, decoded) {
		this.input = byId("ids");
		this.note = byId("ids-note");
		this.encoding = encoding;
		this.decoded = decoded;
		/** @type {import("./wire.js").Tokens} */
		this.tokens = NOTHING;
		/** @type {Uint32Array | null} the ids that the reader wrote */
		this.written = null;
		this.problem = "";
		this.input.addEventListener("input", () => this.read());
		this.input.addEventListener("blur", () => {
			if (this.written && !this.problem) this.written = null;
			this.draw();
		});
		for (const button of document.querySelectorAll("[data-copy]")) {
			button.addEventListener("click", () => this.copy(/** @type {HTMLElement} */ (button)));
		}
	}

	/** @param {import("./wire.js").Tokens} tokens */
	show(tokens) {
		this.tokens = tokens;
		this.draw();
	}

	draw() {
		if (this.written) {
			const same = this.written.length === this.tokens.length && this.written.every((id, i) => id === this.tokens.ids[i]);
			this.note.textContent = this.problem ||
				(same ? "" : `This text encodes to other IDs: ${counted(this.tokens.length, "token")} instead of ${this.written.length}.`);
			if (document.activeElement === this.input) return;
		} else {
			this.note.textContent = this.tokens.length > MOST ? `the first ${grouped(MOST)} of ${grouped(this.tokens.length)}` : "";
		}
		if (document.activeElement !== this.input) {
			const listed = this.tokens.ids.subarray(0, MOST).join(" ");
			// Its layout takes longer than the tokens.
			if (listed !== this.input.value) this.input.value = listed;
			this.input.readOnly = this.tokens.length > MOST;
			this.written = null;
			this.problem = "";
		}
	}

	async read() {
		const found = this.input.value.match(/[^\s,;[\]()]+/g) ?? [];
		const wrong = found.find((/** @type {string} */ each) => !/^\d{1,10}$/.test(each) || Number(each) > 0xffffffff);
		const ids = Uint32Array.from(
			found.filter((/** @type {string} */ each) => /^\d{1,10}$/.test(each) && Number(each) <= 0xffffffff),
			Number,
		);
		this.written = ids;
		try {
			const answer = await transport.decode(this.encoding(), ids);
			if (this.written !== ids) return;
			this.problem = wrong
				? `“${wrong.slice(0, 24)}” is no token ID.`
				: answer.unknown.length
				? `No token of ${this.encoding()} has the ID ${answer.unknown[0]}; the highest is ${answer.highest}.`
				: "";
			this.decoded(answer.text);
		} catch (error) {
			if (!(error instanceof Refused)) throw error;
			this.problem = error.message;
		}
		this.draw();
	}

	/** @param {HTMLElement} button */
	async copy(button) {
		const form = FORMS[/** @type {keyof typeof FORMS} */ (button.dataset.copy)];
		await navigator.clipboard.writeText(form(Array.from(this.tokens.ids, String)));
		const name = button.textContent;
		button.textContent = "copied";
		setTimeout(() => button.textContent = name, 1200);
	}
}
