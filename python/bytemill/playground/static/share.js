// @ts-check
/** What is shown, as a link, a command, a program, or a page. A link has its state behind `#`, never the secret. */

import { byId, el, openBelow } from "./dom.js";
import { transport } from "./transport.js";

/** @typedef {{text: string, encoding: string, compare: string | null, special: string}} State */

/** The most characters of the state in a link, which browsers and mail programs take. */
const MOST = 8192;
const MARK = "#v1=";

/**
 * Packs a state for a link.
 * @param {State} state
 */
async function packed(state) {
	const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
	const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
	const digits = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
	return digits.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Returns the state of a link; `null` if it has none that can be read.
 * @param {string} hash what stands behind the address, with its `#`
 * @returns {Promise<State | null>}
 */
export async function unpacked(hash) {
	const digits = hash.slice(MARK.length);
	if (!hash.startsWith(MARK) || digits.length > MOST) return null;
	try {
		const bytes = Uint8Array.from(atob(digits.replaceAll("-", "+").replaceAll("_", "/")), (digit) => digit.charCodeAt(0));
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
		const state = JSON.parse(await new Response(stream).text());
		return typeof state.text === "string" && typeof state.encoding === "string" ? state : null;
	} catch {
		return null;
	}
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns the command that shows the same tokens in a terminal.
 * @param {State} state
 */
function asCommand({ text, encoding, special }) {
	const rule = special === "text" ? "" : ` --special ${special}`;
	const command = `bytemill inspect -e ${quoted(encoding)}${rule}`;
	return text === "-" ? `printf %s - | ${command} -` : `${command} -- ${quoted(text)}`;
}

const RULES = { text: ", disallowed_special=()", allow: ', allowed_special="all"', error: "" };

/**
 * Returns a program that gives the same ids.
 * @param {State} state
 * @param {boolean} file whether the encoding was opened from a file
 */
function asPython({ text, encoding, special }, file) {
	const opened = file
		? `bytemill.Encoding.from_file("FILE")  # ${JSON.stringify(encoding)}`
		: `bytemill.get_encoding(${JSON.stringify(encoding)})`;
	const rule = RULES[/** @type {keyof typeof RULES} */ (special)];
	return `import bytemill\n\nencoding = ${opened}\nids = encoding.encode(${JSON.stringify(text)}${rule})\n`;
}

/**
 * Shows what there is to share.
 * @param {HTMLElement} button
 * @param {State} state
 * @param {boolean} file
 * @param {Uint8Array} bytes the text as it was sent
 */
export function share(button, state, file, bytes) {
	const popover = byId("dialog");
	const done = el("p", { class: "pad faint", role: "status" });
	/** @param {string} text */
	const copy = async (text) => {
		await navigator.clipboard.writeText(text);
		done.textContent = "Copied.";
	};
	const link = async () => {
		const digits = await packed(state);
		if (digits.length > MOST) done.textContent = "The text is too long for a link.";
		else {
			await copy(transport.link + MARK + digits);
			done.textContent = transport.copied;
		}
	};
	const save = async () => {
		try {
			const contents = await transport.page(state.encoding, state.special, bytes);
			const url = URL.createObjectURL(new Blob([contents], { type: "text/html" }));
			el("a", { href: url, download: "tokens.html" }).click();
			URL.revokeObjectURL(url);
			done.textContent = "Saved.";
		} catch (error) {
			done.textContent = /** @type {Error} */ (error).message;
		}
	};
	/** @type {[string, string, () => void][]} */
	const items = [
		["Copy link", "Text and encodings, for another playground", link],
		["Copy as command", "The same in a terminal", () => copy(asCommand(state))],
		["Copy as Python", "The same IDs in a program", () => copy(asPython(state, file))],
		["Save page", "Tokens as a file of their own, without scripts", save],
	];
	popover.setAttribute("aria-label", "Share");
	popover.replaceChildren(
		...items.map(([name, about, onclick]) => el("button", { class: "item", onclick }, el("b", {}, name), el("small", {}, about))),
		done,
	);
	openBelow(popover, button);
	popover.querySelector("button")?.focus();
}
