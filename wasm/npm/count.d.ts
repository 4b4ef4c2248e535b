export { encodingNameForModel, encodingNames, init, InternalError } from "./index.js";

/** Returns an encoding by its name, such as "o200k_base". */
export function getEncoding(name: string): Promise<Counter>;

/** Returns the encoding of a model, such as "gpt-4o". */
export function encodingForModel(model: string): Promise<Counter>;

/** An encoding that counts. Special tokens are ordinary text. */
export class Counter {
	private constructor();
	readonly name: string;
	/** Returns the number of token IDs of a text. */
	count(text: string): number;
	/** Returns the number of token IDs, or null if there are more than a limit, which stops early. */
	countUpTo(text: string, limit: number): number | null;
}
