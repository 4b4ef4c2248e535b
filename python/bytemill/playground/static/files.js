// @ts-check
/** Files that the reader chooses or drops: tokenizers, and texts as documents. */

import { byId, complain, el, openBelow, remark } from "./dom.js";
import { list } from "./picker.js";
import { Refused, transport } from "./transport.js";

const TOKENIZERS = /\.(json|model|tiktoken|bpe|bytemill|gguf|vocab)$/i;

/**
 * @param {(name: string) => void} loaded
 * @param {(bytes: Uint8Array, name: string) => void} dropped
 */
export function files(loaded, dropped) {
	const input = byId("file");
	/** @param {File} file */
	const show = async (file) => dropped(new Uint8Array(await file.arrayBuffer()), file.name);
	/**
	 * @param {File} file
	 * @param {string} [pattern]
	 */
	const open = async (file, pattern = "") => {
		remark(`Reading ${file.name} …`);
		try {
			const answer = await transport.load(file, pattern);
			list((await transport.encodings()).encodings);
			loaded(answer.name);
		} catch (error) {
			// A file of data may have the suffix of a tokenizer.
			complain(/** @type {Error} */ (error), ["show as text", () => show(file)]);
			if (error instanceof Refused && error.patterns) choosePattern(file, error.patterns, (chosen) => open(file, chosen));
		}
	};
	input.addEventListener("change", () => {
		const [file] = input.files;
		if (file) open(file);
		input.value = "";
	});
	const card = byId("writing");
	document.addEventListener("dragover", (event) => {
		event.preventDefault();
		card.classList.add("over");
	});
	document.addEventListener("dragleave", () => card.classList.remove("over"));
	document.addEventListener("drop", (event) => {
		event.preventDefault();
		card.classList.remove("over");
		const file = event.dataTransfer?.files[0];
		if (!file) return;
		(TOKENIZERS.test(file.name) ? open : show)(file);
	});
}

/**
 * Asks for the pattern of a file that has none.
 * @param {File} file
 * @param {string[]} patterns
 * @param {(pattern: string) => void} chosen
 */
function choosePattern(file, patterns, chosen) {
	const popover = byId("dialog");
	const select = el("select", { id: "pattern" }, ...patterns.map((name) => el("option", { value: name }, name)));
	select.value = "cl100k";
	const go = () => {
		popover.hidePopover();
		chosen(select.value);
	};
	popover.setAttribute("aria-label", "Choose a pattern");
	popover.replaceChildren(
		el("b", { class: "pad" }, file.name),
		el("p", { class: "pad faint" }, "This file has tokens and no pattern: choose how texts are cut into pieces."),
		el("div", { class: "pad toolbar" }, select, el("button", { class: "plain primary", onclick: go }, "Open")),
	);
	openBelow(popover, byId("encoding"));
	select.focus();
}
