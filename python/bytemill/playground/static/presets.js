// @ts-check
/** Texts that show something, each with a line that says what. */

/** @typedef {{name: string, text: string, why: string, encoding?: string, compare?: string, special?: string}} Preset */

/** @type {Preset[]} */
export const PRESETS = [
	{
		name: "Python indentation",
		text: "        print",
		encoding: "gpt2",
		compare: "cl100k_base",
		why: "GPT-2 spends a token on each space; later patterns group them.",
	},
	{
		name: "Digits",
		text: "127 + 677 = 804\n1275 + 6773 = 8041",
		encoding: "gpt2",
		compare: "o200k_base",
		why: "GPT-2 cuts numbers anywhere; later encodings in groups of three from the left.",
	},
	{
		name: "Korean",
		text: "만나서 반가워요. 저는 OpenAI에서 개발한 대규모 언어 모델인 ChatGPT입니다.",
		encoding: "cl100k_base",
		compare: "o200k_base",
		why: "What an encoding was trained on decides how many tokens a language takes.",
	},
	{
		name: "Hindi",
		text: "नमस्ते, आप कैसे हैं?",
		encoding: "cl100k_base",
		compare: "o200k_base",
		why: "Older encodings cut Devanagari into parts of characters.",
	},
	{
		name: "Arabic",
		text: "مرحبا بالعالم",
		encoding: "o200k_base",
		compare: "cl100k_base",
		why: "Written from right to left; tokens are in the order of their IDs.",
	},
	{
		name: "SolidGoldMagikarp",
		text: " SolidGoldMagikarp",
		encoding: "gpt2",
		why: "A single token of gpt2, 43453, for a name that is rare in text. Without the space it is two.",
	},
	{
		name: "Trailing space",
		text: "Here is a tagline for an ice cream shop: ",
		encoding: "o200k_base",
		why: "The space at the end is a token of its own, which is rare at the end of a text.",
	},
	{
		name: ".DefaultCellStyle",
		text: ".DefaultCellStyle",
		encoding: "gpt2",
		compare: "cl100k_base",
		why: "A single token of cl100k_base, 98518; the two encodings have no cut in common.",
	},
	{
		name: "Special tokens",
		text: "<|endoftext|>",
		encoding: "gpt2",
		why: "Seven tokens as text, one where special tokens are allowed: try the switch.",
	},
	{
		name: "Capital letters",
		text: "Egg.\nI have an Egg.\negg.\nEGG.",
		encoding: "gpt2",
		why: "The IDs of a word depend on its case and on what precedes it.",
	},
	{
		name: "Letters",
		text: "strawberry",
		encoding: "o200k_base",
		why: "Models see three tokens, not ten letters: why counting letters is hard.",
	},
	{
		name: "JSON",
		text: '{"name": "a", "id": 1}',
		encoding: "o200k_base",
		why: "Formats cost: the same in YAML takes 9 tokens.",
	},
	{ name: "YAML", text: "name: a\nid: 1\n", encoding: "o200k_base", why: "The same in JSON takes 12 tokens." },
	{
		name: "A family",
		text: "👩‍👩‍👧‍👦",
		encoding: "o200k_base",
		why: "One character as seen, seven code points, 25 bytes: most tokens are parts of characters.",
	},
	{
		name: "Two kinds of é",
		text: "é e\u0301",
		encoding: "o200k_base",
		why: "One code point, and a letter with a mark: what looks equal is not.",
	},
];
