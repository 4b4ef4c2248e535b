// @ts-check
/** Light, dark, or as the system is. */

const ORDER = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

/** @param {HTMLButtonElement} button */
export function themes(button) {
	let current = "system";
	try {
		current = localStorage.getItem("theme") ?? current;
	} catch {
		// The browser keeps nothing: then nothing is kept.
	}
	const apply = () => {
		if (current === "system") delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = current;
		button.textContent = SIGNS[/** @type {keyof typeof SIGNS} */ (current)] ?? "◐";
		button.setAttribute("aria-label", `Theme: ${current === "system" ? "as the system" : current}`);
	};
	button.addEventListener("click", () => {
		current = ORDER[(ORDER.indexOf(current) + 1) % ORDER.length];
		try {
			localStorage.setItem("theme", current);
		} catch {
			// As above.
		}
		apply();
	});
	apply();
}
