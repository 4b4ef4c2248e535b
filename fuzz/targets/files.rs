//! Files `tokenizer.json` of a few components, drawn at random, and what they mean: the steps one after the other.

use std::collections::HashMap;
use std::sync::LazyLock;

use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::encode::tokenizer_json::{self, FileEncoder};
use bytemill::error::DecodeError;
use bytemill::huggingface::TokenizerFile;
use bytemill::token::TokenId;
use bytemill::vocabulary::byte_alphabet;
use fancy_regex::Regex;
use serde_json::{Value, json};
use unicode_normalization_alignments::UnicodeNormalization;

use crate::input::{Input, floor_char_boundary};

/// Longer texts take the definition too long.
const LONGEST: usize = 300;

const MARK: &str = "\u{2581}";

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
pub(crate) const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

pub(crate) const CJK: &str = "[一-龥぀-ゟ゠-ヿ]+";
const DEEPSEEK: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"##,
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// Patterns that cut one after the other; what they do not match is a piece as well. Native where they are those of open
/// models.
static CHAINS: LazyLock<[Vec<(&str, Regex)>; 7]> = LazyLock::new(|| {
    let compiled = |pattern| (pattern, Regex::new(pattern).expect("a pattern"));
    [
        &[QWEN2][..],
        &[GPT2],
        &[r"\p{N}{1,3}", GPT2],
        &[r"\p{L}+", r"[\r\n]"],
        &[],
        &[r"\p{N}{1,3}", CJK, DEEPSEEK],
        &[CJK, QWEN2],
    ]
    .map(|patterns| patterns.iter().copied().map(compiled).collect())
});

#[derive(Clone, Copy, PartialEq)]
enum Normalizer {
    Nothing,
    Nfc,
    /// A mark before a text, and marks for spaces.
    Marks,
}

#[expect(clippy::struct_excessive_bools, reason = "options that a file has")]
pub(crate) struct File {
    normalizer: Normalizer,
    chain: &'static [(&'static str, Regex)],
    is_byte_level: bool,
    ids: HashMap<String, TokenId>,
    /// The texts of tokens, in the order of ids.
    texts: Vec<String>,
    merges: Vec<(String, String)>,
    unknown: Option<String>,
    fuses: bool,
    falls_back: bool,
    whole_pieces: bool,
    /// Added tokens, and whether they are special; their ids follow those of the tokens.
    added: Vec<(String, bool)>,
}

impl File {
    /// Draws a file that has some texts as added tokens.
    pub(crate) fn draw(input: &mut Input, added: &[String]) -> Self {
        let kind = input.byte();
        let is_byte_level = kind & 1 == 0;
        let letters: Vec<String> = if is_byte_level {
            let all = byte_alphabet::CHARACTERS.iter().map(char::to_string);
            // One in four lacks bytes, whose texts are left out.
            all.filter(|letter| kind & 6 != 0 || !"aĠ©\u{120}ä".contains(letter.as_str()))
                .collect()
        } else {
            let known = ["a", "b", "s", "'", MARK, "é", "一", "e", "\u{301}", "1"];
            known[..=input.below(known.len())]
                .iter()
                .map(ToString::to_string)
                .collect()
        };
        let mut texts = letters;
        let unknown = (kind & 8 != 0).then(|| "<unk>".to_owned());
        texts.extend(unknown.clone());
        let falls_back = kind & 16 != 0 && !is_byte_level;
        if falls_back {
            // Some lack bytes here too.
            let first = input.pick(&[0, 0, 0, 0xC4]);
            texts.extend((first..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")));
        }
        let mut merges: Vec<(String, String)> = Vec::new();
        let common: Vec<String> = ["a", "b", "Ġ", "s", "'", "é", "ä", "¸", "Ģ", MARK, "一"]
            .iter()
            .filter(|text| texts.iter().any(|known| known == *text))
            .map(ToString::to_string)
            .collect();
        let mut parts = if common.is_empty() {
            texts[..1].to_vec()
        } else {
            common
        };
        for _ in 0..input.below(48) {
            let [left, right] = [(); 2].map(|()| parts[input.below(parts.len().min(256))].clone());
            let made = format!("{left}{right}");
            if made.len() > 30 {
                continue;
            }
            if !texts.contains(&made) {
                texts.push(made.clone());
                parts.push(made);
            }
            let place = input.below(merges.len().min(255) + 1);
            let place = if kind & 32 == 0 { merges.len() } else { place };
            merges.insert(place, (left, right));
        }
        let added = added
            .iter()
            .filter(|text| !texts.contains(text))
            .map(|text| (text.clone(), input.below(3) != 0))
            .collect();
        let normalizers = if is_byte_level {
            [Normalizer::Nothing, Normalizer::Nfc]
        } else {
            [Normalizer::Nothing, Normalizer::Marks]
        };
        Self {
            normalizer: input.pick(&normalizers),
            chain: &CHAINS[if is_byte_level {
                input.below(CHAINS.len())
            } else {
                4
            }],
            is_byte_level,
            ids: texts.iter().cloned().zip(0..).collect(),
            texts,
            merges,
            unknown,
            fuses: kind & 64 != 0,
            falls_back,
            whole_pieces: kind & 128 != 0,
            added,
        }
    }

    /// The encoder of the file, which finds its special tokens where they are allowed.
    pub(crate) fn encoder(&self) -> Encoder {
        let contents = serde_json::to_vec(&self.json()).expect("JSON");
        let file = TokenizerFile::read(&contents).expect("a file");
        let special = SpecialTokens::new(tokenizer_json::special_tokens(&file));
        FileEncoder::new(&file, special.expect("special tokens"))
            .expect("an encoder")
            .encoder
    }

    fn json(&self) -> Value {
        let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
        let splits = self.chain.iter().map(|(pattern, _)| {
            json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false})
        });
        let steps: Vec<Value> = splits.chain([byte_level.clone()]).collect();
        let replace = json!({"type": "Replace", "pattern": {"String": " "}, "content": MARK});
        let back = json!({"type": "Replace", "pattern": {"String": MARK}, "content": " "});
        let added = self.added().map(|(text, special, id)| {
            json!({"id": id, "content": text, "special": special, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false})
        });
        let merges: Vec<Value> = self
            .merges
            .iter()
            .map(|(left, right)| json!([left, right]))
            .collect();
        json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": added.collect::<Vec<_>>(),
            "normalizer": match self.normalizer {
                Normalizer::Nothing => Value::Null,
                Normalizer::Nfc => json!({"type": "NFC"}),
                Normalizer::Marks => json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARK}, replace]}),
            },
            "pre_tokenizer": if self.is_byte_level {
                json!({"type": "Sequence", "pretokenizers": steps})
            } else {
                Value::Null
            },
            "post_processor": null,
            "decoder": if self.is_byte_level {
                byte_level
            } else {
                json!({"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}]})
            },
            "model": {
                "type": "BPE",
                "dropout": null,
                "unk_token": self.unknown,
                "continuing_subword_prefix": null,
                "end_of_word_suffix": null,
                "fuse_unk": self.fuses,
                "byte_fallback": self.falls_back,
                "ignore_merges": self.whole_pieces,
                "vocab": self.ids,
                "merges": merges,
            },
        })
    }

    /// The added tokens, each with whether it is special and its id.
    fn added(&self) -> impl Iterator<Item = (&str, bool, TokenId)> {
        let first = TokenId::try_from(self.texts.len()).expect("few tokens");
        let added = self.added.iter().zip(first..);
        added.map(|((text, special), id)| (text.as_str(), *special, id))
    }

    /// The ids of a text; with special tokens, or with their texts as any other.
    fn encode(&self, text: &str, with_special: bool) -> Vec<TokenId> {
        let (mut ids, mut gap, mut at) = (Vec::new(), 0, 0);
        while at < text.len() {
            let here = self
                .added()
                .filter(|(token, ..)| text[at..].starts_with(token));
            let Some((token, special, id)) = here.max_by_key(|(token, ..)| token.len()) else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            // What is skipped is not searched again.
            if !special || with_special {
                self.encode_gap(&text[gap..at], &mut ids);
                ids.push(id);
                gap = at + token.len();
            }
            at += token.len();
        }
        self.encode_gap(&text[gap..], &mut ids);
        ids
    }

    /// The ids of a text between added tokens.
    fn encode_gap(&self, text: &str, ids: &mut Vec<TokenId>) {
        let text = match self.normalizer {
            Normalizer::Nothing => text.to_owned(),
            Normalizer::Nfc => text.nfc().map(|(c, _)| c).collect(),
            Normalizer::Marks if text.is_empty() => String::new(),
            Normalizer::Marks => format!("{MARK}{text}").replace(' ', MARK),
        };
        let mut pieces = vec![text.as_str()];
        for (_, regex) in self.chain {
            pieces = pieces
                .into_iter()
                .flat_map(|piece| isolated(regex, piece))
                .collect();
        }
        for piece in pieces {
            if self.is_byte_level {
                let letters = piece
                    .bytes()
                    .map(|byte| byte_alphabet::CHARACTERS[usize::from(byte)]);
                self.encode_piece(&letters.collect::<String>(), ids);
            } else {
                self.encode_piece(piece, ids);
            }
        }
    }

    /// The ids of a piece, as the model sees it.
    fn encode_piece(&self, piece: &str, ids: &mut Vec<TokenId>) {
        if self.whole_pieces
            && let Some(id) = self.ids.get(piece)
        {
            ids.push(*id);
            return;
        }
        let mut symbols: Vec<TokenId> = Vec::new();
        let mut pending: Option<TokenId> = None;
        for character in piece.chars() {
            let text = character.to_string();
            if let Some(&id) = self.ids.get(&text) {
                symbols.extend(pending.take());
                symbols.push(id);
                continue;
            }
            let bytes = text
                .bytes()
                .map(|byte| self.ids.get(&format!("<0x{byte:02X}>")).copied());
            if self.falls_back
                && let Some(bytes) = bytes.collect::<Option<Vec<_>>>()
            {
                // A pending unknown token comes after them.
                symbols.extend(bytes);
            } else if let Some(unknown) = &self.unknown {
                symbols.extend(pending.filter(|_| !self.fuses));
                pending = Some(self.ids[unknown]);
            }
        }
        symbols.extend(pending);
        let text = |id: TokenId| self.texts[id as usize].as_str();
        loop {
            // Of a pair that is listed twice, the later rank holds.
            let rank = |pair: &[TokenId]| {
                self.merges
                    .iter()
                    .rposition(|(left, right)| left == text(pair[0]) && right == text(pair[1]))
            };
            let found = symbols.windows(2).enumerate();
            let found = found.filter_map(|(at, pair)| Some((rank(pair)?, at)));
            let Some((_, at)) = found.min() else { break };
            let right = symbols.remove(at + 1);
            symbols[at] = self.ids[&format!("{}{}", text(symbols[at]), text(right))];
        }
        ids.extend(symbols);
    }

    /// The number of ids.
    pub(crate) fn size(&self) -> usize {
        self.texts.len() + self.added.len()
    }

    /// The bytes of ids, or of their text where bytes are not joined.
    pub(crate) fn decode(&self, ids: &[TokenId]) -> Vec<u8> {
        let added: Vec<&str> = self.added().map(|(text, ..)| text).collect();
        let texts = ids.iter().map(|&id| {
            let text = self.texts.get(id as usize).map(String::as_str);
            text.unwrap_or_else(|| added[id as usize - self.texts.len()])
        });
        if self.is_byte_level {
            let bytes = texts.flat_map(|text| {
                let bytes: Option<Vec<u8>> = text.chars().map(byte_alphabet::byte_of).collect();
                bytes.unwrap_or_else(|| text.as_bytes().to_vec())
            });
            return bytes.collect();
        }
        let (mut out, mut run) = (String::new(), Vec::new());
        for text in texts {
            if let Some(byte) = byte_of(text) {
                run.push(byte);
            } else {
                out += &text_of(&mut run);
                out += &text.replace(MARK, " ");
            }
        }
        out += &text_of(&mut run);
        out.into_bytes()
    }

    /// Compares what the encoder makes of texts, new ones and known ones, with the definition.
    pub(crate) fn assert_encodes(&self, encoder: &Encoder, texts: &[String]) {
        for text in texts.iter().chain(texts) {
            let text = &text[..floor_char_boundary(text, LONGEST)];
            for (allowed, with_special) in [(Allowed::Nothing, false), (Allowed::All, true)] {
                let expected = self.encode(text, with_special);
                let mut ids = vec![7];
                encoder.encode(text, &allowed, &mut ids).expect("ids");
                assert_eq!(ids[1..], expected, "{text:?} in {}", self.json());
                assert_eq!(
                    decoded(encoder, &expected),
                    Ok(self.decode(&expected)),
                    "{expected:?} in {}",
                    self.json()
                );
            }
            let ordinary = self.encode(text, false);
            let mut ids = Vec::new();
            encoder
                .encode_bytes(text.as_bytes(), &mut ids)
                .expect("ids");
            assert_eq!(ids, ordinary, "{text:?} in {}", self.json());
            let count = encoder.count(text, &Allowed::Nothing).expect("a count");
            assert_eq!(count, ordinary.len(), "{text:?} in {}", self.json());
        }
    }
}

/// The bytes that an encoder makes of ids, or of their text where it does not join bytes.
pub(crate) fn decoded(encoder: &Encoder, ids: &[TokenId]) -> Result<Vec<u8>, DecodeError> {
    match encoder.decode_text(ids) {
        Some(text) => text.map(String::into_bytes),
        None => encoder.decode(ids),
    }
}

/// The byte that a token such as `<0x41>` stands for.
fn byte_of(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok())?
}

/// The text of a run of bytes, which is taken: a character for each if they are not UTF-8 as a whole.
fn text_of(run: &mut Vec<u8>) -> String {
    let bytes = std::mem::take(run);
    String::from_utf8(bytes).unwrap_or_else(|error| "\u{FFFD}".repeat(error.as_bytes().len()))
}

/// The matches of a pattern in a piece, and what stands between them.
fn isolated<'t>(regex: &Regex, piece: &'t str) -> Vec<&'t str> {
    let (mut parts, mut last) = (Vec::new(), 0);
    for found in regex.find_iter(piece) {
        let found = found.expect("a match");
        parts.push(&piece[last..found.start()]);
        parts.push(found.as_str());
        last = found.end();
    }
    parts.push(&piece[last..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Texts against the definition of a file with a few added tokens.
pub(crate) fn run(mut input: Input) {
    let tokens = ["<|a|>", "ab", " '", "é", "\u{301}", "  "];
    let tokens: Vec<String> = (0..input.below(3))
        .map(|_| input.pick(&tokens).to_owned())
        .collect();
    let tokens: Vec<String> = tokens
        .iter()
        .enumerate()
        .filter(|(at, token)| !tokens[..*at].contains(token))
        .map(|(_, token)| token.clone())
        .collect();
    let file = File::draw(&mut input, &tokens);
    let encoder = file.encoder();
    let repeat = input.pick(&[1, 1, 1, 1, 3, 17]);
    let texts: Vec<String> = input
        .texts()
        .iter()
        .map(|text| text.repeat(repeat))
        .collect();
    file.assert_encodes(&encoder, &texts);
}
