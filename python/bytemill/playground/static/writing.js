// @ts-check
/**
 * The text: typed or pasted into a text area, or a document. A text area turns every line end into LF and is slow
 * with large texts; a document goes to the server as it is, and is read only.
 */

import { decoder, encoder } from "./bytes.js";
import { byId, grouped, remark, small } from "./dom.js";

/** A text area takes 0.1 s for each key in a megabyte, and as long for a paste of 200 KB: up to this many bytes it is quick. */
const EDITABLE = 200_000;
const EXCERPT = 6000;

export class Writing {
	/** @param {(bytes: Uint8Array) => void} changed */
	constructor(changed) {
		this.changed = changed;
		this.input = byId("text");
		this.note = byId("text-note");
		this.lineEnds = byId("crlf");
		/** @type {Uint8Array | null} */
		this.opened = null;
		this.input.addEventListener("input", () => {
			if (this.opened) return;
			this.note.textContent = "";
			this.update();
		});
		this.input.addEventListener("paste", (/** @type {ClipboardEvent} */ event) => this.paste(event));
		this.lineEnds.addEventListener("change", () => this.send());
	}

	/** The text as it is sent. */
	get text() {
		return this.ended(this.input.value);
	}

	/**
	 * Returns a text with the line ends that are sent. Some versions of Chromium leave CR LF in a text area.
	 * @param {string} text
	 */
	ended(text) {
		return text.replace(/\r\n?/g, "\n").replaceAll("\n", this.lineEnds.checked ? "\r\n" : "\n");
	}

	/** @param {string} [text] what the text area holds, or is about to hold */
	send(text = this.text) {
		this.sent = text;
		this.changed(this.opened ?? encoder.encode(text));
	}

	/** Sends the text, if it is not what was sent last. */
	update() {
		if (this.text !== this.sent) this.send();
	}

	/**
	 * Shows a text, as a document where a text area would be slow or change it.
	 * @param {string} text
	 * @param {string} name
	 */
	show(text, name) {
		const bytes = encoder.encode(text);
		if (bytes.length > EDITABLE || text.includes("\r")) this.open(bytes, name);
		else {
			this.close();
			this.input.value = text;
			this.send();
		}
	}

	/**
	 * Replaces the text such that the browser can undo it.
	 * @param {string} replacement
	 */
	replace(replacement) {
		this.close();
		const focused = /** @type {HTMLElement | null} */ (document.activeElement);
		this.input.focus();
		this.input.select();
		if (!document.execCommand(replacement ? "insertText" : "delete", false, replacement) && this.input.value !== replacement) {
			this.input.value = replacement;
		}
		if (focused && focused !== this.input && focused !== document.body) focused.focus();
		this.send();
	}

	/**
	 * Opens a document.
	 * @param {Uint8Array} bytes
	 * @param {string} name
	 */
	open(bytes, name) {
		this.opened = bytes;
		this.input.readOnly = true;
		this.input.value = `${decoder.decode(bytes.subarray(0, EXCERPT))}${bytes.length > EXCERPT ? "\n…" : ""}`;
		const close = () => {
			this.close();
			this.send();
		};
		this.note.replaceChildren(
			`${name}, ${grouped(bytes.length)} bytes, as a document: read only `,
			small("close", close),
		);
		this.send();
	}

	/** Lets the text be edited again, without the document. */
	close() {
		if (!this.opened) return;
		this.opened = null;
		this.input.readOnly = false;
		this.input.value = "";
		this.note.replaceChildren();
	}

	/** Returns how many bytes are before the caret; 0 where there is none. */
	offset() {
		const { selectionStart, selectionEnd, value } = this.input;
		if (document.activeElement !== this.input || this.opened || selectionStart !== selectionEnd) return 0;
		return encoder.encode(this.ended(value.slice(0, selectionStart))).length;
	}

	/**
	 * Selects characters of the text.
	 * @param {number} place the number of code points before them
	 * @param {string} found
	 */
	select(place, found) {
		const before = [...this.text].slice(0, place).join("").replaceAll("\r\n", "\n").length;
		this.selectRange(before, before + found.length);
	}

	/**
	 * Selects bytes of the text: the characters of which they are a part.
	 * @param {Uint8Array} bytes of the whole text
	 * @param {number} start
	 * @param {number} end
	 */
	selectBytes(bytes, start, end) {
		while (start && (bytes[start] & 0xc0) === 0x80) start--;
		while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end++;
		/** @param {number} offset */
		const place = (offset) => decoder.decode(bytes.subarray(0, offset)).replaceAll("\r\n", "\n").length;
		this.selectRange(place(start), place(end));
	}

	/**
	 * Selects a range of the text with every line end as LF.
	 * @param {number} start
	 * @param {number} end
	 */
	selectRange(start, end) {
		/** @param {number} offset */
		const place = (offset) => {
			for (let at = -1; (at = this.input.value.indexOf("\r\n", at + 1)) !== -1 && at < offset;) offset++;
			return offset;
		};
		this.input.focus();
		this.input.setSelectionRange(place(start), place(end));
	}

	/** @param {ClipboardEvent} event */
	paste(event) {
		const pasted = event.clipboardData?.getData("text/plain");
		if (!pasted) return;
		const { value, selectionStart, selectionEnd } = this.input;
		// A document is read only: another text takes its place.
		const [before, behind] = this.opened ? ["", ""] : [value.slice(0, selectionStart), value.slice(selectionEnd)];
		const text = before + pasted + behind;
		if (this.opened || text.length > EDITABLE) {
			event.preventDefault();
			this.show(text, "Pasted text");
			return;
		}
		// Before the browser inserts the text, which takes it 50 ms for 100 KB: the answer is there when it has.
		this.send(this.ended(text));
		setTimeout(() => this.update());
		if (pasted.includes("\r") && !this.lineEnds.checked) {
			// After the answer to this text, which takes remarks away.
			setTimeout(() =>
				remark("The pasted text has CR LF line ends; a text area makes them LF: other tokens.", [
					"Send CR LF",
					() => this.lineEnds.click(),
				]), 300);
		}
	}
}
