//! Texts and bytes → ids → text by SentencePiece models of random pieces, against the definition.

use std::collections::HashMap;

use bytemill::encode::Encoder;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::normalize::{Flags, MARK};
use bytemill::sentencepiece::{Draft, DraftPiece, Kind, Value};
use bytemill::token::TokenId;

use crate::input::Input;
use crate::normalize::{self, Rules};

/// Longer texts take the definition too long.
const LONGEST: usize = 300;

/// As deep as the original looks into unused pieces.
const DEEPEST: usize = 100;

const LETTERS: [&str; 10] = [
    "a", "b", "\u{2581}", "\u{2581}", "c", "é", "一", "😀", "1", " ",
];

/// The unknown piece's id and surface.
const UNKNOWN: (TokenId, &str) = (0, " ? ");

/// A model, and what its texts and ids mean.
pub(crate) struct Definition {
    pieces: Vec<(String, f32, Kind)>,
    ids: HashMap<String, TokenId>,
    flags: Flags,
    rules: Rules,
    has_bytes: bool,
}

type Halves = HashMap<String, (String, String)>;

pub(crate) fn run(mut input: Input) {
    let definition = Definition::draw(&mut input);
    let encoder = definition.encoder(SpecialTokens::default());
    let repeat = input.pick(&[1, 1, 1, 3, 40]);
    let raw = input.below(3) == 0;
    let mut ids = Vec::new();
    for part in input.parts() {
        let mut text = if raw {
            part.to_vec()
        } else {
            let letters = part
                .iter()
                .map(|&byte| LETTERS[usize::from(byte) % LETTERS.len()]);
            letters.flat_map(str::bytes).collect()
        };
        text = text.repeat(repeat);
        text.truncate(LONGEST);
        let expected = definition.encode(&text);
        // Twice: the pieces are new, then known.
        for _ in 0..2 {
            ids.clear();
            encoder.encode_bytes(&text, &mut ids).expect("ids");
            assert_eq!(ids, expected, "{text:?}");
        }
        if let Ok(text) = std::str::from_utf8(&text) {
            assert_eq!(
                encoder.count(text, &Allowed::Nothing).ok(),
                Some(expected.len())
            );
        }
        let size = definition.size();
        let others = part.iter().map(|&byte| usize::from(byte) * 37 % size);
        let others = others
            .map(|id| TokenId::try_from(id).expect("an id"))
            .collect();
        for ids in [expected, others] {
            assert_eq!(encoder.decode(&ids), Ok(definition.decode(&ids)), "{ids:?}");
        }
    }
}

impl Definition {
    /// Pieces of few letters; some are unused, user-defined, of equal scores, or without their letters.
    pub(crate) fn draw(input: &mut Input) -> Self {
        let flags = normalize::flags(input);
        let rules = normalize::rules(input);
        let has_bytes = input.below(2) == 0;
        let mut pieces = vec![
            ("<unk>".to_owned(), 0.0, Kind::Unknown),
            ("<s>".to_owned(), 0.0, Kind::Control),
        ];
        if has_bytes {
            pieces.extend((0..=u8::MAX).map(|byte| (format!("<0x{byte:02X}>"), 0.0, Kind::Byte)));
        }
        let kinds = input.pick(&[
            [Kind::Normal; 4],
            [Kind::Normal, Kind::Normal, Kind::Unused, Kind::Unused],
            [Kind::Normal, Kind::Normal, Kind::Normal, Kind::UserDefined],
            [Kind::Normal, Kind::Unused, Kind::UserDefined, Kind::Normal],
        ]);
        let block = f32::from(input.pick(&[1_u8, 1, 3, 100]));
        for number in 0..input.below(40) {
            let earlier = pieces[input.below(pieces.len().min(256))].0.clone();
            let is_grown = input.below(2) == 0 && !earlier.starts_with('<');
            let letters: String = (0..=input.below(4)).map(|_| input.pick(&LETTERS)).collect();
            let text = if is_grown {
                earlier + &letters
            } else {
                letters
            };
            if pieces.iter().all(|(other, ..)| *other != text) {
                let score = -(f32::from(u8::try_from(number).expect("small")) / block).floor();
                pieces.push((text, score, input.pick(&kinds)));
            }
        }
        let ids = (0..)
            .zip(&pieces)
            .map(|(id, (text, ..))| (text.clone(), id))
            .collect();
        Self {
            pieces,
            ids,
            flags,
            rules,
            has_bytes,
        }
    }

    /// The encoder of the model, with special tokens beside it.
    pub(crate) fn encoder(&self, special: SpecialTokens) -> Encoder {
        let model = self.draft().build().expect("a model");
        Encoder::of_model(&model, special).expect("an encoder")
    }

    /// The number of ids.
    pub(crate) fn size(&self) -> usize {
        self.pieces.len()
    }

    fn draft(&self) -> Draft {
        let mut draft = Draft::default();
        let pieces = self.pieces.iter();
        draft.pieces = pieces
            .map(|(text, score, kind)| DraftPiece::new(text, *score, *kind))
            .collect();
        let Flags {
            add_dummy_prefix,
            remove_extra_whitespaces,
            escape_whitespaces,
            treat_whitespace_as_suffix,
        } = self.flags;
        let trainer = [
            ("model_type", Value::Integer(2)),
            ("byte_fallback", Value::Bool(self.has_bytes)),
            (
                "treat_whitespace_as_suffix",
                Value::Bool(treat_whitespace_as_suffix),
            ),
            ("unk_surface", Value::Bytes(UNKNOWN.1.into())),
        ];
        for (name, value) in trainer {
            draft.trainer.set(name, vec![value]).expect("an option");
        }
        let normalizer = [
            ("add_dummy_prefix", Value::Bool(add_dummy_prefix)),
            (
                "remove_extra_whitespaces",
                Value::Bool(remove_extra_whitespaces),
            ),
            ("escape_whitespaces", Value::Bool(escape_whitespaces)),
            (
                "precompiled_charsmap",
                Value::Bytes(normalize::charsmap(&self.rules)),
            ),
        ];
        for (name, value) in normalizer {
            draft.normalizer.set(name, vec![value]).expect("an option");
        }
        draft
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let pieces = self.pieces.iter().filter(move |piece| piece.2 == kind);
        pieces.map(|piece| piece.0.as_str())
    }

    fn score(&self, text: &str) -> Option<f32> {
        let (_, score, kind) = &self.pieces[*self.ids.get(text)? as usize];
        matches!(kind, Kind::Normal | Kind::UserDefined | Kind::Unused).then_some(*score)
    }

    /// The ids of a text.
    pub(crate) fn encode(&self, text: &[u8]) -> Vec<TokenId> {
        let symbols: Vec<&[u8]> = self.of_kind(Kind::UserDefined).map(str::as_bytes).collect();
        let (text, _) = normalize::normalize(text, self.flags, &self.rules, &symbols, MARK);
        let text = String::from_utf8(text).expect("normalized text is UTF-8");
        let mut halves = Halves::new();
        let (mut ids, mut is_unknown) = (Vec::new(), false);
        for symbol in self.merged(&text, &mut halves) {
            self.unfold(&symbol, &halves, 0, &mut |id, text| {
                let was_unknown = is_unknown;
                is_unknown = id == UNKNOWN.0;
                if !is_unknown {
                    ids.push(id);
                } else if self.has_bytes {
                    ids.extend(
                        text.bytes()
                            .map(|byte| self.ids[&format!("<0x{byte:02X}>")]),
                    );
                } else if !was_unknown {
                    ids.push(id);
                }
            });
        }
        ids
    }

    /// The symbols of a text after all merges, and which halves a piece had when they met last.
    fn merged(&self, text: &str, halves: &mut Halves) -> Vec<String> {
        let mut symbols: Vec<(String, bool)> = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let symbol = self
                .of_kind(Kind::UserDefined)
                .filter(|symbol| rest.starts_with(symbol));
            let symbol = symbol.max_by_key(|symbol| symbol.len());
            let length = symbol.map_or(first.len_utf8(), str::len);
            symbols.push((rest[..length].to_owned(), symbol.is_some()));
            rest = &rest[length..];
        }
        let candidate = |symbols: &[(String, bool)], at: usize| {
            let [(left, false), (right, false)] = symbols.get(at..at + 2)? else {
                return None;
            };
            self.score(&format!("{left}{right}"))
        };
        let mut record = |symbols: &[(String, bool)], at: usize| {
            if candidate(symbols, at).is_some() {
                let (left, right) = (symbols[at].0.clone(), symbols[at + 1].0.clone());
                halves.insert(format!("{left}{right}"), (left, right));
            }
        };
        (0..symbols.len()).for_each(|at| record(&symbols, at));
        loop {
            let found = (0..symbols.len()).filter_map(|at| Some((candidate(&symbols, at)?, at)));
            let best =
                found.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
            let Some((_, at)) = best else {
                return symbols.into_iter().map(|symbol| symbol.0).collect();
            };
            let right = symbols.remove(at + 1).0;
            symbols[at].0.push_str(&right);
            (at.saturating_sub(1)..=at).for_each(|at| record(&symbols, at));
        }
    }

    fn unfold(
        &self,
        text: &str,
        halves: &Halves,
        depth: usize,
        emit: &mut impl FnMut(TokenId, &str),
    ) {
        let id = self.ids.get(text).copied().unwrap_or(UNKNOWN.0);
        match (self.pieces[id as usize].2, halves.get(text)) {
            (Kind::Normal | Kind::UserDefined, _) => emit(id, text),
            (Kind::Unused, _) if depth > DEEPEST => emit(id, text),
            (Kind::Unused, Some((left, right))) => {
                self.unfold(left, halves, depth + 1, emit);
                self.unfold(right, halves, depth + 1, emit);
            }
            _ => emit(UNKNOWN.0, text),
        }
    }

    /// The bytes of ids, those that are no character included.
    pub(crate) fn decode(&self, ids: &[TokenId]) -> Vec<u8> {
        let mut out: Vec<u8> = Vec::new();
        let mut at_start = self.flags.add_dummy_prefix || self.flags.remove_extra_whitespaces;
        for &id in ids {
            let (text, _, kind) = &self.pieces[id as usize];
            match kind {
                Kind::Byte => out.push(u8::from_str_radix(&text[3..5], 16).expect("a byte")),
                Kind::Control => end_run_of_bytes(&mut out),
                Kind::Unknown => out.extend(UNKNOWN.1.bytes()),
                Kind::Normal | Kind::UserDefined | Kind::Unused => {
                    at_start &= out.is_empty();
                    let mut shown = text.as_str();
                    if let Some(rest) = text.strip_prefix('\u{2581}').filter(|_| at_start) {
                        shown = rest;
                        at_start = self.flags.remove_extra_whitespaces;
                    }
                    out.extend(shown.replace('\u{2581}', " ").bytes());
                }
            }
        }
        out
    }
}

/// Replaces each byte of a character that lacks its end: what follows does not complete it.
fn end_run_of_bytes(out: &mut Vec<u8>) {
    let mut rest = out.as_slice();
    let mut incomplete = 0;
    while let Err(error) = std::str::from_utf8(rest) {
        let valid = error.valid_up_to();
        if error.error_len().is_none() {
            incomplete = rest.len() - valid;
        }
        rest = &rest[valid + error.error_len().unwrap_or(incomplete)..];
    }
    out.truncate(out.len() - incomplete);
    out.extend("\u{FFFD}".repeat(incomplete).bytes());
}
