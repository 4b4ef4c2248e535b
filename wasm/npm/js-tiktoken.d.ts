/** Loads encodings; `getEncoding` and `encodingForModel` return these afterwards. */
export function init(names: string[]): Promise<void>;
export function getEncoding(name: string): Tiktoken;
export function getEncodingNameForModel(model: string): string;
export function encodingForModel(model: string): Tiktoken;

export class Tiktoken {
	private constructor();
	encode(text: string, allowedSpecial?: string[] | "all", disallowedSpecial?: string[] | "all"): number[];
	decode(tokens: number[]): string;
}
