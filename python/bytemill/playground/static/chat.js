// @ts-check
/** A chat as tokens. What a message contains is ordinary text, so that a special token in it ends nothing. */

import { counted, el, grouped } from "./dom.js";
import { Pane } from "./pane.js";
import { transport } from "./transport.js";
import { Tokens } from "./wire.js";

const FORMATS = { harmony: "Harmony: o200k_harmony", chatml: "ChatML: cl100k_base, IDs assumed" };
const ASSUMED = "The special tokens of ChatML, 100264 to 100266, are not published: these IDs are what other tools assume.";
const ROLES = ["system", "developer", "user", "assistant", "tool"];
const EXAMPLE = [["system", "You answer briefly."], ["user", "What ends here? <|end|>"]];

/** @param {HTMLElement} view */
export function chat(view) {
	const format = el(
		"select",
		{ "aria-label": "Format", onchange: ask },
		...Object.entries(FORMATS).map(([value, name]) => el("option", { value }, name)),
	);
	const parsed = el("input", { type: "checkbox", id: "parsed", onchange: ask });
	const answer = el("input", { type: "checkbox", id: "answering", onchange: ask });
	const list = el("div", { class: "messages" });
	const note = el("p", { class: "faint" });
	const problem = el("p", { class: "message", role: "alert", hidden: true });
	const name = el("h2", { id: "name-c" });
	const count = el("strong", { id: "count-c" });
	const figure = el("span", { class: "faint" });
	const tokens = el("div", { class: "tokens", id: "c", role: "listbox", tabindex: 0, dir: "ltr", "aria-labelledby": "name-c" });

	/**
	 * @param {string} role
	 * @param {string} content
	 */
	function add(role, content) {
		const text = el("textarea", { "aria-label": "Content", spellcheck: "false", rows: 2, oninput: ask });
		text.value = content;
		const roles = el("select", { "aria-label": "Role", onchange: ask }, ...ROLES.map((each) => el("option", { value: each }, each)));
		roles.value = role;
		const row = el(
			"div",
			{ class: "said" },
			roles,
			text,
			el("button", {
				class: "plain small",
				"aria-label": "Remove this message",
				onclick: () => {
					row.remove();
					ask();
				},
			}, "×"),
		);
		list.append(row);
		return text;
	}

	let newest = 0;
	async function ask() {
		const mine = ++newest;
		const messages = [...list.children].map((row) => [row.querySelector("select")?.value, row.querySelector("textarea")?.value]);
		note.textContent = format.value === "chatml" ? ASSUMED : "";
		try {
			const found = await transport.chat({
				format: format.value,
				messages,
				answering: answer.checked ? "assistant" : null,
				parsed: parsed.checked,
			});
			if (mine !== newest) return;
			problem.hidden = true;
			const ends = Uint32Array.from(found.lengths), starts = new Uint32Array(ends.length);
			for (let i = 1; i < ends.length; i++) ends[i] += starts[i] = ends[i - 1];
			const made = new Tokens(
				new TextEncoder().encode(found.text),
				Uint32Array.from(found.ids),
				starts,
				ends,
				new Set(found.special),
				0,
				0,
			);
			name.textContent = found.encoding;
			count.textContent = counted(made.length, "token");
			figure.textContent = `${grouped(found.as_text)} if all of it were ordinary text`;
			pane.show(made, new Uint8Array(made.length));
		} catch (error) {
			problem.textContent = /** @type {Error} */ (error).message;
			problem.hidden = false;
		}
	}

	view.append(
		el(
			"div",
			{ class: "toolbar form" },
			el("label", {}, el("small", {}, "Format"), format),
			el("label", { class: "check" }, answer, el("span", {}, "ask for an answer")),
			el("label", { class: "check" }, parsed, el("span", {}, "parse special tokens in messages")),
		),
		problem,
		el(
			"div",
			{ class: "two-cards" },
			el(
				"section",
				{ class: "card" },
				el("div", { class: "head" }, el("h2", {}, "Messages")),
				list,
				el("div", { class: "pad" }, el("button", { class: "plain", onclick: () => add("user", "").focus() }, "Add a message")),
			),
			el("section", { class: "card show-ids" }, el("div", { class: "head" }, name, count, figure), tokens),
		),
		note,
	);
	const pane = new Pane(tokens, "c");
	for (const [role, content] of EXAMPLE) add(role, content);
	ask();
}
