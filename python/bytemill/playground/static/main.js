// @ts-check
/** Puts the page together. */

import { Details } from "./details.js";
import { byId, complain, counted, el, openBelow, remark, tabs, themes } from "./dom.js";
import { files } from "./files.js";
import { Find } from "./find.js";
import { Ids } from "./ids.js";
import { Pane, STARTS_PART, STARTS_PIECE } from "./pane.js";
import { list, listedAs, pick } from "./picker.js";
import { PRESETS } from "./presets.js";
import { Session } from "./session.js";
import { announce, codePoints, figures, Statistics } from "./statistics.js";
import { transport, Unreachable } from "./transport.js";
import { way } from "./way.js";
import { differences, NOTHING } from "./wire.js";
import { Writing } from "./writing.js";

/** @typedef {import("./wire.js").Tokens} Tokens */

const panes = { a: new Pane(byId("a"), "a"), b: new Pane(byId("b"), "b") };
const both = [panes.a, panes.b];
const session = new Session(show, trouble, slow);
const writing = new Writing((bytes) => session.update(bytes));
const details = new Details((pane) => pane === panes.b ? session.compare ?? "" : session.encoding, {
	explain: async (encoding, index, pane) => (await import("./tree.js")).showTree(encoding, pane.tokens, index),
	find: (id) => find.search(`#${id}`),
	select: ({ bytes, starts, ends }, index) => writing.selectBytes(bytes, starts[index], ends[index]),
});
const ids = new Ids(() => session.encoding, (decoded) => writing.show(decoded, "Decoded text"));
const statistics = new Statistics(byId("panel-statistics"));
const find = new Find(panes.a, (index) => {
	panes.a.activate(index, true);
	details.show(panes.a, index);
});

for (const pane of both) details.watch(pane);

/** Above a change of this many bytes, counts are painted a frame before tokens. */
const LARGE = 20_000;
/** @type {Tokens[]} */
let newest;

/**
 * @param {Tokens[]} found
 * @param {number} began
 */
async function show(found, began) {
	const [one, two] = newest = found;
	const { encoding, compare } = session;
	figures("a", encoding, one);
	if (two && compare) figures("b", compare, two);
	if (Math.abs(one.bytes.length - panes.a.tokens.bytes.length) > LARGE) {
		busy(true);
		await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		if (newest !== found) return;
	}
	const first = two ? differences(one, two) : { marks: new Uint8Array(one.length), count: 0 };
	const second = two ? differences(two, one) : { marks: new Uint8Array(), count: 0 };
	const shift = one.length !== panes.a.tokens.length;
	panes.a.show(one, first.marks);
	panes.b.show(two ?? NOTHING, second.marks);
	busy(false);
	if (find.input.value) find.update();
	ids.show(one);
	byId("card-a").classList.toggle("is-empty", one.length === 0);
	byId("columns").classList.toggle("two", Boolean(two));
	byId("card-b").hidden = byId("side").hidden = !two;
	if (details.pinned && shift) details.clear();
	if (!byId("panel-statistics").hidden) statistics.show(panes.a);
	const differing = two ? `${counted(first.count, "token")} of ${encoding} and ${second.count} of ${compare} are cut elsewhere` : "";
	announce(
		`${counted(one.length, "token")}, ${counted(codePoints(one.bytes), "character")}, ${counted(one.bytes.length, "byte")}`,
		differing,
	);
	const took = one.microseconds < 1000 ? `${one.microseconds} µs` : `${(one.microseconds / 1000).toFixed(1)} ms`;
	byId("foot").textContent = differing ? `${differing} (marked ◤) · encoded in ${took}` : `encoded in ${took}`;
	drawWay(0);
	await Promise.all([pieces(), parts()]);
	requestAnimationFrame(() => requestAnimationFrame(() => performance.measure("colour", { start: began })));
}

/** @param {boolean} is whether the tokens shown are older than the counts above them */
function busy(is) {
	for (const { element } of both) element.ariaBusy = String(is);
}

/** @param {number} count of pieces */
function drawWay(count) {
	const { tokens } = panes.a;
	byId("way").hidden = !listedAs(session.encoding)?.ranks;
	way({
		text: codePoints(tokens.bytes),
		special: tokens.special.size,
		pieces: count,
		bytes: tokens.bytes.length,
		ids: tokens.length,
	});
}

/**
 * Says what is wrong with the text, above the last good view.
 * @param {Error | null} error
 */
function trouble(error) {
	/** @type {import("./dom.js").Action[]} */
	const actions = [];
	const { place, token } = /** @type {import("./transport.js").Refused} */ (error ?? {});
	if (place !== undefined && token) actions.push(["Show", () => writing.select(place, token)]);
	if (error instanceof Unreachable) actions.push(["Try again", () => session.refresh()]);
	complain(error, ...actions);
	byId("columns").classList.toggle("stale", Boolean(error));
}

function slow() {
	const names = [session.encoding, session.compare].filter((name) => name && listedAs(name)?.file);
	remark(names.length ? `Waiting for the pattern of ${names.join(" and ")} …` : "Waiting for the tokens …");
}
// Without timers: the page asks again when somebody comes back to it.
for (const event of ["online", "focus"]) addEventListener(event, () => session.lost && session.refresh());

/** Outlines the token in front of the caret. */
function followCaret() {
	const offset = writing.offset();
	if (document.activeElement === writing.input && !details.pinned) panes.a.activate(offset ? panes.a.tokens.at(offset - 1) : -1);
}
writing.input.addEventListener("keyup", followCaret);
writing.input.addEventListener("click", followCaret);

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
for (const radio of document.querySelectorAll("[name=side]")) {
	radio.addEventListener("change", () => {
		byId("columns").dataset.side = /** @type {HTMLInputElement} */ (radio).value;
		for (const pane of both) pane.fill();
	});
}

/** @param {string | null} name */
function setEncoding(name) {
	session.encoding = name ?? session.encoding;
	byId("encoding").lastElementChild.textContent = byId("side-a").textContent = session.encoding;
	details.clear();
	dispatchEvent(new Event("encoding"));
}

/** @param {string | null} name */
function setCompare(name) {
	session.compare = name;
	byId("compare").lastElementChild.textContent = byId("side-b").textContent = name ?? "none";
	if (!name) delete byId("top-b").dataset.count;
	details.clear();
}

/**
 * Lets the reader choose the encoding, or with `none` the one to compare with.
 * @param {HTMLElement} button
 * @param {boolean} [none]
 */
function choose(button, none = false) {
	pick(button, none ? session.compare : session.encoding, {
		none,
		open: () => byId("file").click(),
		choose: (name) => {
			(none ? setCompare : setEncoding)(name);
			session.refresh();
		},
	});
}
byId("encoding").addEventListener("click", () => choose(byId("encoding")));
byId("compare").addEventListener("click", () => choose(byId("compare"), true));
files((name) => {
	setEncoding(name);
	session.refresh();
}, (bytes, name) => writing.open(bytes, name));

/**
 * Returns the tokens at which stretches of bytes begin, the first stretch left out.
 * @param {Uint32Array} sizes
 * @param {boolean} exact whether only tokens count that begin there
 */
function begun(sizes, exact) {
	const { tokens } = panes.a;
	const found = [];
	let at = 0;
	for (const size of sizes) {
		const index = tokens.at(at);
		if (at && (!exact || tokens.starts[index] === at)) found.push(index);
		at += size;
	}
	return found;
}

async function pieces() {
	const on = byId("show-pieces").checked;
	document.body.classList.toggle("show-pieces", on);
	if (!on) return;
	const { sequence, bytes, encoding } = session;
	try {
		const sizes = await transport.pieces({ e: encoding }, bytes);
		if (sequence !== session.sequence) return;
		panes.a.flag(STARTS_PIECE, begun(sizes, true));
		drawWay(sizes.length);
	} catch (error) {
		panes.a.flag(STARTS_PIECE, []);
		remark(/** @type {Error} */ (error).message);
	}
}
byId("show-pieces").addEventListener("change", pieces);

async function parts() {
	const limit = Number(byId("limit").value), note = byId("limit-note");
	const { sequence, bytes, encoding } = session;
	if (!(limit >= 1)) {
		if (panes.a.parts.size) panes.a.flag(STARTS_PART, []);
		panes.a.parts.clear();
		note.textContent = "";
		return;
	}
	try {
		const sizes = await transport.parts(encoding, Math.floor(limit), bytes);
		if (sequence !== session.sequence) return;
		const starts = begun(sizes, false);
		panes.a.parts = new Map(starts.map((index, i) => [index, i + 2]));
		panes.a.flag(STARTS_PART, starts);
		note.textContent = counted(sizes.length, "part");
	} catch (error) {
		note.textContent = /** @type {Error} */ (error).message;
	}
}
byId("limit").addEventListener("input", parts);

for (
	const [id, set] of /** @type {[string, (pane: Pane, on: boolean) => void][]} */ ([
		["show-ids", (_, on) => document.body.classList.toggle("show-ids", on)],
		["alike", (pane, on) => pane.alike = on],
		["written", (pane, on) => pane.written = on],
	])
) {
	byId(id).addEventListener("change", () => {
		for (const pane of both) {
			set(pane, byId(id).checked);
			pane.redraw();
		}
	});
}

byId("more").addEventListener("click", () => openBelow(byId("options"), byId("more")));
byId("share").addEventListener("click", async () => {
	const { share } = await import("./share.js");
	const { encoding, compare, special, bytes } = session;
	const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
	share(byId("share"), { text, encoding, compare, special }, Boolean(listedAs(encoding)?.file), bytes);
});
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
					writing.replace(preset.text);
					writing.note.textContent = preset.why;
				},
			},
			el("b", {}, preset.name),
			el("small", {}, preset.why),
		)
	));
	openBelow(presets, byId("examples"));
	presets.querySelector("button")?.focus();
});

/** Takes what a link holds, and the link out of the address. */
async function takeLink() {
	const state = location.hash ? await (await import("./share.js")).unpacked(location.hash) : null;
	if (!state) return null;
	history.replaceState(null, "", location.pathname);
	for (const name of [state.encoding, state.compare]) {
		if (name && !listedAs(name)) remark(`The link was made with ${name}, which is not open here.`);
	}
	setEncoding(listedAs(state.encoding) ? state.encoding : null);
	setCompare(state.compare && listedAs(state.compare) ? state.compare : null);
	const rule =
		/** @type {HTMLInputElement | undefined} */ ([...document.getElementsByName("special")].find((radio) =>
			/** @type {HTMLInputElement} */ (radio).value === state.special
		));
	if (rule) {
		rule.checked = true;
		session.special = rule.value;
	}
	writing.show(state.text, "The text");
	return state;
}
addEventListener("hashchange", takeLink);

async function start() {
	themes(byId("theme"));
	const [state, listed] = await Promise.all([transport.start(), transport.encodings()]);
	list(listed.encodings);
	const made = new Set();
	tabs(byId("tabs"), async (name) => {
		if (made.has(name)) return;
		made.add(name);
		if (name === "training") (await import("./training.js")).training(byId("view-training"), listed.patterns);
		if (name === "vocabulary") {
			(await import("./vocabulary.js")).vocabulary(byId("view-vocabulary"), () => session.encoding, choose);
		}
		if (name === "chat") (await import("./chat.js")).chat(byId("view-chat"));
	});
	tabs(byId("below"), (name) => name === "statistics" && statistics.show(panes.a));
	setEncoding(state.encoding);
	setCompare(state.compare);
	if (!await takeLink()) writing.show(state.text, "The text");
}
start().catch(complain);
