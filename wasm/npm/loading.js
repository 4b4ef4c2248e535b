// @ts-check
/** The files of this package: modules and vocabularies, each read once, when it is first needed. */

import { ENCODINGS, MODEL_PREFIXES, MODELS, TABLES } from "./data.js";
import { Library } from "./engine.js";
import { sha256 } from "./sha256.js";

/** Names of the encodings. */
export const encodingNames = Object.keys(ENCODINGS);

/** @param {string} name */
async function read(name) {
	const url = new URL(name, import.meta.url);
	if (url.protocol !== "file:") {
		const response = await fetch(url);
		if (!response.ok) throw new Error(`${url} could not be loaded: status ${response.status}`);
		return new Uint8Array(await response.arrayBuffer());
	}
	const { readFile } = await import("node:fs/promises");
	return new Uint8Array(await readFile(url));
}

/**
 * Keeps what a function promises for each name; what fails is asked for again.
 * @template T
 * @param {(name: string) => Promise<T>} make
 */
export function once(make) {
	/** @type {Map<string, Promise<T>>} */
	const made = new Map();
	/** @param {string} name */
	const get = (name) => {
		let found = made.get(name);
		if (!found) {
			found = make(name);
			made.set(name, found);
			found.catch(() => made.delete(name));
		}
		return found;
	};
	return Object.assign(get, { forget: (/** @type {string} */ name) => made.delete(name) });
}

const table = once(async (name) => {
	const contents = await read(`${name}.merges`);
	if (await sha256(contents) !== TABLES[name]) throw new Error(`${name}.merges is not the file of this version`);
	return contents;
});

/**
 * Returns a function that loads a module once. Without an argument it is read from beside this file; where compiling bytes is
 * forbidden, as on edge workers, give it the module that was imported.
 * @param {string} file
 */
export function loaderOf(file) {
	/** @type {Promise<Library> | undefined} */
	let library;
	/** @param {WebAssembly.Module} [module] */
	return (module) => {
		const compiled = module
			? () => Promise.resolve(module)
			: () => read(file).then((bytes) => WebAssembly.compile(/** @type {BufferSource} */ (bytes)));
		library ??= compiled().then((each) => new Library(each));
		library.catch(() => library = undefined);
		return library;
	};
}

/**
 * Opens an encoding by its name, such as "o200k_base".
 * @param {() => Promise<Library>} init
 * @param {string} name
 */
export async function open(init, name) {
	if (!Object.hasOwn(ENCODINGS, name)) {
		throw new RangeError(`expected the name of an encoding, one of ${encodingNames.join(", ")}, got "${name}"`);
	}
	const [library, first, second] = await Promise.all([init(), ...ENCODINGS[name].map(table)]);
	return library.open("open_published", name, first, second ?? new Uint8Array());
}

/**
 * Returns the name of the encoding of a model, such as "gpt-4o".
 * @param {string} model
 */
export function encodingNameForModel(model) {
	if (Object.hasOwn(MODELS, model)) return MODELS[model];
	const prefix = Object.keys(MODEL_PREFIXES).find((each) => model.startsWith(each));
	if (prefix === undefined) throw new RangeError(`no encoding is known for the model "${model}": call getEncoding with its name`);
	return MODEL_PREFIXES[prefix];
}
