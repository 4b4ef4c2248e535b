//! Runs that grow at their end, by small vocabularies in which a change may reach far, against each text encoded whole.

use std::sync::Arc;

use bytemill::encode::Encoder;
use bytemill::encode::session::Session;
use bytemill::encode::special::{Policy, SpecialTokens};
use bytemill::split::Splitter;
use bytemill::token::{Pair, TokenId};

use crate::input::{Input, floor_char_boundary};
use crate::models::PATTERNS;
use crate::pieces::Definition;
use crate::support::listed_bytes;

/// Symbols of which a run has two or three, and one that ends it now and then.
const SYMBOLS: [&str; 12] = [
    "a", "b", " ", "A", "中", "\u{301}", "\t", "\n", "l", "e", "'", "1",
];

/// Longer texts are encoded whole too often.
const LONGEST: usize = 2_000;

pub(crate) fn run(mut input: Input) {
    let encoder = Arc::new(if input.below(3) == 0 {
        Definition::draw(&mut input).encoder(SpecialTokens::default())
    } else {
        listed(&mut input)
    });
    let symbols: Vec<&str> = (0..=input.below(3)).map(|_| input.pick(&SYMBOLS)).collect();
    let size = input.pick(&[1, 4, 30, 200]);
    let mut session = Session::with_segments_of(size, Arc::clone(&encoder), Policy::ORDINARY);
    let (mut text, mut ids) = (String::new(), Vec::new());
    for part in input.parts() {
        let [op, repeat, rest @ ..] = part else {
            continue;
        };
        let letters = rest.iter().map(|&byte| match usize::from(byte) {
            byte @ 240.. => SYMBOLS[byte % SYMBOLS.len()],
            byte => symbols[byte % symbols.len()],
        });
        let new = letters.collect::<String>().repeat(usize::from(repeat % 8));
        // Near the end, or anywhere.
        let back = match op % 4 {
            0 | 1 => 0,
            2 => usize::from(op / 4).min(text.len()),
            _ => text.len() * usize::from(op / 4) / 64,
        };
        let start = floor_char_boundary(&text, text.len() - back.min(text.len()));
        let end = if op & 128 == 0 { start } else { text.len() };
        if text.len() + new.len() > LONGEST {
            continue;
        }
        text.replace_range(start..end, &new);
        let update = session
            .edit(start..end, &new)
            .expect("text without special tokens");
        ids.splice(update.start..update.stop, update.ids);
        let mut expected = Vec::new();
        encoder.encode_ordinary(&text, &mut expected).expect("ids");
        assert_eq!(ids, expected, "{text:?}");
        assert_eq!(session.text(), text);
    }
}

/// Draws merges of few letters in any order.
fn listed(input: &mut Input) -> Encoder {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    for _ in 0..input.below(40) {
        let mut part = || match input.byte() {
            byte @ 0..160 => {
                let symbols = SYMBOLS[usize::from(byte) % 6].as_bytes();
                TokenId::from(symbols[usize::from(byte) % symbols.len()])
            }
            byte => {
                let index = 256 + usize::from(byte) % (tokens.len() - 255);
                TokenId::try_from(index.min(tokens.len() - 1)).expect("few tokens")
            }
        };
        let (left, right) = (part(), part());
        let token = [left, right]
            .map(|id| tokens[id as usize].as_slice())
            .concat();
        if token.len() < 60 && !tokens.contains(&token) {
            let id = TokenId::try_from(tokens.len()).expect("few tokens");
            merges.push((id, Pair::new(left, right)));
            tokens.push(token);
        }
    }
    for index in 1..merges.len() {
        merges.swap(index, input.below(index + 1));
    }
    let vocabulary = listed_bytes(&tokens, merges).expect("a vocabulary");
    let pattern = &PATTERNS[input.below(PATTERNS.len())];
    let splitter = Splitter::new(&pattern.source).expect("a splitter");
    Encoder::new(Arc::new(vocabulary), SpecialTokens::default(), splitter)
}
