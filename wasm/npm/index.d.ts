/** A text contains a special token that is not allowed, with the number of characters before it. */
export class DisallowedSpecialTokenError extends Error {
	token: string;
	start: number;
}

/** A fault of the library. The next call works, on a new instance. */
export class InternalError extends Error {}

/** Names of the encodings. */
export const encodingNames: string[];

/** Loads the module once; give it a module that was imported where compiling bytes is forbidden. */
export function init(module?: WebAssembly.Module): Promise<unknown>;

/** Returns an encoding by its name, such as "o200k_base". */
export function getEncoding(name: string): Promise<Encoding>;

/** Returns the name of the encoding of a model, such as "gpt-4o". */
export function encodingNameForModel(model: string): string;

/** Returns the encoding of a model, such as "gpt-4o". */
export function encodingForModel(model: string): Promise<Encoding>;

/** Opens the contents of a tokenizer.json, a SentencePiece .model, a .bytemill file, or a .tiktoken file with a pattern. */
export function fromFile(contents: Uint8Array, options?: { name?: string; pattern?: string }): Promise<Encoding>;

export interface SpecialOptions {
	/** Special tokens that become their IDs: none by default. */
	allowedSpecial?: "all" | Iterable<string>;
	/** Strings that raise an error: by default all special tokens that are not allowed. */
	disallowedSpecial?: "all" | Iterable<string>;
}

export interface StreamDecoder {
	/** Adds IDs, and returns the text that they complete. */
	push(ids: number | Uint32Array | number[]): string;
	/** Ends the text, and returns what is left of it. */
	flush(): string;
}

/** A tokenizer. */
export class Encoding {
	private constructor();
	readonly name: string;
	/** The ID of each special token. */
	readonly specialTokens: Map<string, number>;
	/** The highest ID. */
	readonly maxTokenId: number;
	/** Returns the token IDs of a text; special tokens in it are an error unless they are allowed, or not disallowed. */
	encode(text: string, options?: SpecialOptions): Uint32Array;
	/** Starts a text that grows, whose token IDs are known after each change: that takes the time of what is new. */
	session(text?: string, options?: SpecialOptions): Session;
	/** Returns the token IDs of a text, in which special tokens are ordinary text. */
	encodeOrdinary(text: string): Uint32Array;
	/** Returns the number of token IDs of a text, in which special tokens are ordinary text. */
	count(text: string): number;
	/** Returns the number of token IDs, or null if there are more than a limit, which stops early. */
	countUpTo(text: string, limit: number): number | null;
	/** Returns the text of token IDs; bytes that are not UTF-8 become U+FFFD. */
	decode(ids: Uint32Array | number[]): string;
	/** Returns the bytes of token IDs. */
	decodeBytes(ids: Uint32Array | number[]): Uint8Array;
	/** Returns a decoder of token IDs that arrive one by one. */
	streamDecoder(): StreamDecoder;
	/** Returns the longest beginning of a text, or its longest end, that has at most `limit` token IDs. */
	truncate(text: string, limit: number, options?: { keep?: "start" | "end" }): string;
	/** Returns the parts of a text that have at most `limit` token IDs each, and repeat the last `overlap` of the part before. */
	split(text: string, limit: number, options?: { overlap?: number }): string[];
	/** Returns token IDs, and where each starts and ends in the text: `text.slice(starts[i], ends[i])`. */
	encodeWithOffsets(text: string): { ids: Uint32Array; starts: Uint32Array; ends: Uint32Array };
	/**
	 * Gives its memory back; the encoding is not usable afterwards. Without this call that happens at a time that the engine
	 * chooses, when the encoding is no longer reachable. Engines with `using` call it at the end of a block.
	 */
	free(): void;
}

/** The change of a session's token IDs: those from `start` to `stop` became `ids`. */
export interface Update {
	start: number;
	stop: number;
	ids: Uint32Array;
}

/** A text that grows or changes, with its token IDs, which are always those of encoding the whole text. */
export class Session {
	private constructor();
	readonly text: string;
	/** The number of token IDs. */
	readonly count: number;
	/** Appends to the text. */
	append(text: string): Update;
	/** Replaces the text; what both begin and end with is not encoded again. */
	update(text: string): Update;
	/** Returns the token IDs. */
	ids(): Uint32Array;
	/** As of an encoding. */
	free(): void;
}
