// @ts-check
/** Puts the page together. */

import { Details } from "./details.js";
import { EDITABLE, hasCarriageReturns, hideDocument, showDocument } from "./documents.js";
import { byId, counted, el, grouped, openBelow } from "./dom.js";
import { Ids } from "./ids.js";
import { DIFFERS, Pane, STARTS_PIECE } from "./pane.js";
import { list, pick } from "./picker.js";
import { PRESETS } from "./presets.js";
import { Session } from "./session.js";
import { tabs } from "./tabs.js";
import { themes } from "./theme.js";
import { transport } from "./transport.js";
import { showTree } from "./tree.js";
import { differences, NOTHING } from "./wire.js";

/** @typedef {import("./wire.js").Tokens} Tokens */

const text = byId("text");
const message = byId("message");
const panes = { a: new Pane(byId("a"), "a"), b: new Pane(byId("b"), "b") };
const session = new Session(show, complain);
const details = new Details((pane) => pane === panes.b ? session.compare ?? "" : session.encoding, explain);
const ids = new Ids(() => session.encoding, (decoded) => {
	if (opened) closeDocument();
	text.value = decoded;
	session.update(decoded);
});
const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
/** @type {Uint8Array | null} */
let opened = null;
let cuts = new Uint32Array();

details.watch(panes.a, () => outlineCaret(-1));
details.watch(panes.b, () => outlineCaret(-1));

/**
 * @param {Tokens[]} found
 * @param {number} began
 */
async function show(found, began) {
	const [one, two] = found;
	const first = two ? differences(one, two) : { marks: new Uint8Array(one.length), count: 0 };
	const second = two ? differences(two, one) : { marks: new Uint8Array(), count: 0 };
	addPieces(one, first.marks);
	const shift = one.length !== panes.a.tokens.length;
	panes.a.show(one, first.marks);
	panes.b.show(two ?? NOTHING, second.marks);
	ids.show(one);
	figures("a", session.encoding, one);
	if (two && session.compare) figures("b", session.compare, two);
	byId("card-a").classList.toggle("is-empty", one.length === 0);
	byId("columns").classList.toggle("two", Boolean(two));
	byId("card-b").hidden = !two;
	if (details.pinned && shift) details.clear();
	const differing = two
		? `${counted(first.count, "token")} of ${session.encoding} and ${second.count} of ${session.compare} are cut elsewhere`
		: "";
	announce(
		`${counted(one.length, "token")}, ${counted(codePoints(one.bytes), "character")}, ${counted(one.bytes.length, "byte")}`,
		differing,
	);
	const took = one.microseconds < 1000 ? `${one.microseconds} µs` : `${(one.microseconds / 1000).toFixed(1)} ms`;
	byId("foot").textContent = differing ? `${differing} (marked ◤) · encoded in ${took}` : `encoded in ${took}`;
	if (byId("show-pieces").checked) await pieces();
	requestAnimationFrame(() => requestAnimationFrame(() => performance.measure("colour", { start: began, end: performance.now() })));
}

/**
 * @param {"a" | "b"} side
 * @param {string} name
 * @param {Tokens} tokens
 */
function figures(side, name, tokens) {
	const size = tokens.bytes.length, characters = codePoints(tokens.bytes);
	byId(`name-${side}`).textContent = name;
	byId(`count-${side}`).textContent = counted(tokens.length, "token");
	const seen = size <= 20_000 && characters !== size ? asSeen(tokens.bytes) : characters;
	byId(`figures-${side}`).textContent = [
		counted(characters, "character") + (seen === characters ? "" : ` (${grouped(seen)} as seen)`),
		counted(size, "byte"),
		`${tokens.length ? (size / tokens.length).toFixed(2) : "0.00"} bytes per token`,
	].join(" · ");
}

/** @param {Uint8Array} bytes */
function codePoints(bytes) {
	let count = 0;
	for (let i = 0; i < bytes.length; i++) if ((bytes[i] & 0xc0) !== 0x80) count++;
	return count;
}

/** @param {Uint8Array} bytes */
function asSeen(bytes) {
	return [...segmenter.segment(new TextDecoder().decode(bytes))].length;
}

let saying = 0;
/** @param {...string} sentences */
function announce(...sentences) {
	clearTimeout(saying);
	saying = setTimeout(() => byId("status").textContent = sentences.filter(Boolean).join("; "), 1000);
}

/** @param {Error | null} error */
function complain(error) {
	message.hidden = !error;
	byId("columns").classList.toggle("stale", Boolean(error));
	message.classList.remove("note");
	message.textContent = error?.message ?? "";
	const { place, token } = /** @type {import("./transport.js").Refused} */ (error ?? {});
	if (place !== undefined && token) {
		const from = [...text.value].slice(0, place).join("").length;
		message.append(el("button", {
			class: "plain small",
			onclick: () => {
				text.focus();
				text.setSelectionRange(from, from + token.length);
			},
		}, "Show"));
	}
}

/** @param {string} note */
function remark(note) {
	complain(new Error(note));
	message.classList.add("note");
	byId("columns").classList.remove("stale");
}

/**
 * Replaces the text such that the browser can undo it.
 * @param {string} replacement
 */
function replaceText(replacement) {
	if (opened) closeDocument();
	const focused = /** @type {HTMLElement | null} */ (document.activeElement);
	text.focus();
	text.select();
	if (!document.execCommand(replacement ? "insertText" : "delete", false, replacement) && text.value !== replacement) {
		text.value = replacement;
	}
	if (focused && focused !== text && focused !== document.body) focused.focus();
	session.update(text.value);
}

/**
 * @param {Uint8Array} bytes
 * @param {string} name
 */
function openDocument(bytes, name) {
	opened = bytes;
	showDocument(bytes, name, () => {
		closeDocument();
		session.update("");
	});
	session.update(bytes);
}

function closeDocument() {
	opened = null;
	hideDocument();
	text.value = "";
}

text.addEventListener("input", () => session.update(text.value));
text.addEventListener("paste", (/** @type {ClipboardEvent} */ event) => {
	const pasted = event.clipboardData?.getData("text/plain") ?? "";
	if (pasted.length + text.value.length > EDITABLE) {
		event.preventDefault();
		const whole = text.value.slice(0, text.selectionStart) + pasted + text.value.slice(text.selectionEnd);
		openDocument(new TextEncoder().encode(whole), "Pasted text");
	} else if (hasCarriageReturns(pasted)) {
		setTimeout(() =>
			remark("The pasted text ended its lines with CR LF, which a text area turns into LF. Drop it as a file to see the tokens of CR LF.")
		);
	}
});

/** @param {number} index */
function outlineCaret(index) {
	if (index !== panes.a.active) panes.a.activate(index < 0 ? panes.a.active : index);
}

/** Outlines the token in front of the caret. */
function followCaret() {
	if (document.activeElement !== text || opened || details.pinned || text.selectionStart !== text.selectionEnd) return;
	const offset = new TextEncoder().encode(text.value.slice(0, text.selectionStart)).length;
	panes.a.activate(offset ? panes.a.tokens.at(offset - 1) : -1);
}
text.addEventListener("keyup", followCaret);
text.addEventListener("click", followCaret);

// Two panes, one place in the text.
for (const [one, other] of [[panes.a, panes.b], [panes.b, panes.a]]) {
	one.element.addEventListener("scroll", () => {
		if (session.compare && one.element.matches(":hover, :focus")) other.scrollToByte(one.top());
	}, { passive: true });
}

for (const radio of document.querySelectorAll("[name=special]")) {
	radio.addEventListener("change", () => {
		session.special = /** @type {HTMLInputElement} */ (radio).value;
		session.refresh();
	});
}

/** @param {string | null} name */
function setEncoding(name) {
	session.encoding = name ?? session.encoding;
	byId("encoding").lastElementChild.textContent = session.encoding;
	details.clear();
}

/** @param {string | null} name */
function setCompare(name) {
	session.compare = name;
	byId("compare").lastElementChild.textContent = name ?? "none";
	details.clear();
}

byId("encoding").addEventListener("click", () =>
	pick(byId("encoding"), session.encoding, {
		none: false,
		open: () => byId("file").click(),
		choose: (name) => {
			setEncoding(name);
			session.refresh();
		},
	}));
byId("compare").addEventListener("click", () =>
	pick(byId("compare"), session.compare, {
		none: true,
		open: () => byId("file").click(),
		choose: (name) => {
			setCompare(name);
			session.refresh();
		},
	}));

/** @param {File} file */
async function openTokenizer(file) {
	remark(`Reading ${file.name} …`);
	try {
		const answer = await transport.load(file, "");
		list((await transport.encodings()).encodings);
		setEncoding(answer.name);
		session.refresh();
	} catch (error) {
		complain(/** @type {Error} */ (error));
	}
}
byId("file").addEventListener("change", () => {
	const [file] = byId("file").files;
	if (file) openTokenizer(file);
	byId("file").value = "";
});

const TOKENIZERS = /\.(json|model|tiktoken|bpe|bytemill|gguf|vocab)$/i;
document.addEventListener("dragover", (event) => {
	event.preventDefault();
	byId("writing").classList.add("over");
});
document.addEventListener("dragleave", () => byId("writing").classList.remove("over"));
document.addEventListener("drop", async (event) => {
	event.preventDefault();
	byId("writing").classList.remove("over");
	const file = event.dataTransfer?.files[0];
	if (!file) return;
	if (TOKENIZERS.test(file.name)) await openTokenizer(file);
	else openDocument(new Uint8Array(await file.arrayBuffer()), file.name);
});

/**
 * Marks the tokens with which a piece starts.
 * @param {Tokens} tokens
 * @param {Uint8Array} marks
 */
function addPieces(tokens, marks) {
	let at = 0, next = 0;
	for (const size of cuts) {
		while (next < tokens.length && tokens.starts[next] < at) next++;
		if (at && tokens.starts[next] === at) marks[next] |= STARTS_PIECE;
		at += size;
	}
}

async function pieces() {
	const on = byId("show-pieces").checked;
	document.body.classList.toggle("show-pieces", on);
	try {
		cuts = on ? await transport.pieces(session.encoding, session.bytes) : new Uint32Array();
	} catch (error) {
		cuts = new Uint32Array();
		remark(/** @type {Error} */ (error).message);
	}
	const marks = panes.a.marks.map((mark) => mark & DIFFERS);
	addPieces(panes.a.tokens, marks);
	panes.a.marks = marks;
	panes.a.mark();
}
byId("show-pieces").addEventListener("change", pieces);
byId("show-ids").addEventListener("change", () => {
	document.body.classList.toggle("show-ids", byId("show-ids").checked);
	panes.a.fill();
	panes.b.fill();
});

/**
 * @param {string} encoding
 * @param {number} index
 * @param {Pane} pane
 */
function explain(encoding, index, pane) {
	showTree(encoding, pane.tokens, index);
}

byId("examples").addEventListener("click", () => {
	const presets = byId("presets");
	presets.replaceChildren(...PRESETS.map((preset) =>
		el(
			"button",
			{
				class: "item",
				onclick: () => {
					presets.hidePopover();
					if (preset.encoding) setEncoding(preset.encoding);
					setCompare(preset.compare ?? null);
					replaceText(preset.text);
					byId("text-note").textContent = preset.why;
				},
			},
			el("b", {}, preset.name),
			el("small", {}, preset.why),
		)
	));
	openBelow(presets, byId("examples"));
	presets.querySelector("button")?.focus();
});
text.addEventListener("input", () => {
	if (!opened) byId("text-note").textContent = "";
});

async function start() {
	themes(byId("theme"));
	const [state, listed] = await Promise.all([transport.start(), transport.encodings()]);
	list(listed.encodings);
	tabs(listed.patterns, () => session.encoding);
	setEncoding(state.encoding);
	setCompare(state.compare);
	const bytes = new TextEncoder().encode(state.text);
	if (bytes.length > EDITABLE || hasCarriageReturns(state.text)) openDocument(bytes, "The text");
	else {
		text.value = state.text;
		session.update(state.text);
	}
}
start().catch(complain);
