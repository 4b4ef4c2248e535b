// @ts-check
/** Texts that show something, each with a line that says what. */

/**
 * `counts` are the tokens by gpt2, cl100k_base and o200k_base, which the tests check.
 * @typedef {{name: string, text: string, why: string, counts: [number, number, number], encoding?: string, compare?: string, special?: string}} Preset
 */

/** @type {Preset[]} */
export const PRESETS = [
	{
		name: "Python indentation",
		text: "        print",
		counts: [8, 2, 2],
		encoding: "gpt2",
		compare: "cl100k_base",
		why: "GPT-2 spends a token on each blank; later patterns take them together.",
	},
	{
		name: "Digits",
		text: "127 + 677 = 804\n1275 + 6773 = 8041",
		counts: [16, 18, 18],
		encoding: "gpt2",
		compare: "o200k_base",
		why: "GPT-2 cuts numbers anywhere; later encodings in groups of three from the left.",
	},
	{
		name: "Korean",
		text: "만나서 반가워요. 저는 OpenAI에서 개발한 대규모 언어 모델인 ChatGPT입니다.",
		counts: [79, 36, 25],
		encoding: "cl100k_base",
		compare: "o200k_base",
		why: "What an encoding was trained on decides how many tokens a language takes.",
	},
	{
		name: "Hindi",
		text: "नमस्ते, आप कैसे हैं?",
		counts: [32, 20, 9],
		encoding: "cl100k_base",
		compare: "o200k_base",
		why: "Older encodings cut Devanagari into parts of characters.",
	},
	{
		name: "Arabic",
		text: "مرحبا بالعالم",
		counts: [12, 10, 4],
		encoding: "o200k_base",
		compare: "cl100k_base",
		why: "Written from right to left; tokens stand in the order of their ids.",
	},
	{
		name: "SolidGoldMagikarp",
		text: " SolidGoldMagikarp",
		counts: [1, 5, 5],
		encoding: "gpt2",
		why: "A single token of gpt2, 43453, for a name that texts hardly ever contain. Without the blank it is two.",
	},
	{
		name: "Trailing space",
		text: "Here is a tagline for an ice cream shop: ",
		counts: [12, 12, 11],
		encoding: "o200k_base",
		why: "The blank at the end is a token of its own, which rarely stands there in texts.",
	},
	{
		name: ".DefaultCellStyle",
		text: ".DefaultCellStyle",
		counts: [4, 1, 3],
		encoding: "gpt2",
		compare: "cl100k_base",
		why: "A single token of cl100k_base, 98518; the two encodings have no cut in common.",
	},
	{
		name: "Special tokens",
		text: "<|endoftext|>",
		counts: [7, 7, 7],
		encoding: "gpt2",
		why: "Seven tokens as text, one where special tokens are allowed: try the switch.",
	},
	{
		name: "Capital letters",
		text: "Egg.\nI have an Egg.\negg.\nEGG.",
		counts: [16, 13, 12],
		encoding: "gpt2",
		why: "The same word has other ids by its case and by what stands before it.",
	},
	{
		name: "Letters",
		text: "strawberry",
		counts: [3, 3, 3],
		encoding: "o200k_base",
		why: "Models see three tokens, not ten letters: why counting letters is hard.",
	},
	{
		name: "JSON",
		text: '{"name": "a", "id": 1}',
		counts: [11, 12, 12],
		encoding: "o200k_base",
		why: "Formats cost: the same as YAML takes 9 tokens.",
	},
	{ name: "YAML", text: "name: a\nid: 1\n", counts: [8, 9, 9], encoding: "o200k_base", why: "The same as JSON takes 12 tokens." },
	{
		name: "A family",
		text: "👩‍👩‍👧‍👦",
		counts: [14, 18, 11],
		encoding: "o200k_base",
		why: "One character as seen, seven code points, 25 bytes: most tokens are parts of characters.",
	},
	{
		name: "Two kinds of é",
		text: "é e\u0301",
		counts: [4, 3, 3],
		encoding: "o200k_base",
		why: "One code point, and a letter with a mark: what looks equal is not.",
	},
];
