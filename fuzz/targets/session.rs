//! Texts that change and texts that arrive in parts, and a cache of what they begin with, against encoding each whole.

use std::sync::Arc;

use bytemill::encode::Encoder;
use bytemill::encode::prefix_cache::PrefixCache;
use bytemill::encode::session::Session;
use bytemill::encode::special::{Policy, SpecialTokens};
use bytemill::encode::stream::StreamEncoder;
use bytemill::error::EncodeError;
use bytemill::split::Splitter;
use bytemill::token::TokenId;

use crate::files::File;
use crate::input::{Input, floor_char_boundary};
use crate::models::{PATTERNS, small};
use crate::pieces::Definition;
use crate::support::SYMBOLS;

/// Special tokens, disallowed strings, and parts of texts: pieces that go on, tokens that nest.
const PARTS: [&str; 16] = [
    "<|a|>", "<|", "|>", "a", "b", "ab", "A", "é", "中", "\u{301}", " ", "\n", "1", ".", "'", "s",
];

pub(crate) fn run(mut input: Input) {
    let tokens: Vec<String> = (0..input.below(4))
        .map(|_| (0..=input.below(3)).map(|_| input.pick(&PARTS)).collect())
        .collect();
    let encoder = Arc::new(draw(&mut input, &tokens));
    let special = encoder.special_tokens();
    let chosen = |mask: u8| {
        let chosen = (0..)
            .zip(&tokens)
            .filter(move |(index, _)| mask >> index & 1 == 1);
        chosen.map(|(_, token)| token.clone()).collect::<Vec<_>>()
    };
    let (allowed, disallowed) = (chosen(input.byte()), chosen(input.byte()));
    let policy = Policy {
        allowed: special.allow(allowed.iter().map(String::as_str)),
        disallowed: special.disallow(disallowed).expect("few strings"),
    };
    let size = input.pick(&[1, 4, 30, 1024]);
    let way = input.below(2);
    let mut session = Session::with_segments_of(size, Arc::clone(&encoder), policy.clone());
    let mut stream = StreamEncoder::new(Arc::clone(&encoder), policy.clone());
    let cache = PrefixCache::new(3_000, 0)
        .with_segments_of(size)
        .with_equal_hashes();
    let (mut text, mut ids) = (String::new(), Vec::new());
    let (mut taken, mut emitted) = (String::new(), Vec::new());
    for part in input.parts() {
        let [op, first, second, rest @ ..] = part else {
            continue;
        };
        let new = spelled(way, rest);
        let place = |byte: u8| floor_char_boundary(&text, text.len() * usize::from(byte) / 255);
        let (first, second) = (place(*first), place(*second));
        let range = match op % 6 {
            0..3 => text.len()..text.len(),
            3 => first..first,
            4 => first.min(second)..first.max(second),
            _ => first..text.len(),
        };
        let mut changed = text.clone();
        changed.replace_range(range.clone(), &new);
        let expected = whole(&encoder, &policy, &changed);
        let before = session.clone();
        let answer = if op & 128 == 0 {
            session.edit(range, &new)
        } else {
            session.update(&changed)
        };
        match (expected, answer) {
            (Ok(expected), Ok(update)) => {
                ids.splice(update.start..update.stop, update.ids);
                assert_eq!(ids, expected, "{changed:?} from {text:?}");
                text = changed;
                let mut cached = Vec::new();
                let done = cache.encode(&encoder, &text, &policy.allowed, &mut cached);
                assert_eq!((done.is_ok(), &cached), (true, &ids), "{text:?}");
            }
            (Err(expected), Err(error)) => assert_eq!(error.to_string(), expected.to_string()),
            (expected, answer) => panic!("{changed:?}: {answer:?}, expected {expected:?}"),
        }
        assert_eq!(session.text(), text);
        // A copy from before has not changed.
        let mut old = Vec::new();
        before.push_ids(0..before.count(), &mut old);
        let expected = whole(&encoder, &policy, &before.text());
        assert_eq!(expected.ok(), Some(old), "{:?}", before.text());

        if stream.push(&new, &mut emitted).is_ok() {
            taken += &new;
        }
    }
    // Ids that are appended stay, whatever stands around them.
    let all = ids.repeat(2);
    session.append_ids(&ids).expect("they have tokens");
    if session.append(&text).is_ok() {
        let mut pinned = Vec::new();
        session.push_ids(0..all.len().min(session.count()), &mut pinned);
        assert_eq!(pinned, all, "{text:?}");
    }
    match (whole(&encoder, &policy, &taken), stream.flush(&mut emitted)) {
        (Ok(expected), Ok(())) => assert_eq!(emitted, expected, "{taken:?}"),
        (Err(expected), Err(error)) => assert_eq!(error.to_string(), expected.to_string()),
        (expected, answer) => panic!("{taken:?}: {answer:?}, expected {expected:?}"),
    }
}

fn draw(input: &mut Input, tokens: &[String]) -> Encoder {
    let mut special: Vec<(String, TokenId)> = Vec::new();
    for (token, id) in tokens.iter().zip(300_000..) {
        special.push((token.clone(), id));
    }
    match input.below(4) {
        0 => File::draw(input, tokens).encoder(),
        1 => Definition::draw(input).encoder(SpecialTokens::new(special).expect("tokens")),
        _ => {
            let vocabulary = small(input);
            let pattern = &PATTERNS[input.below(PATTERNS.len())];
            let splitter = Splitter::new(&pattern.source).expect("a splitter");
            Encoder::new(
                vocabulary,
                SpecialTokens::new(special).expect("tokens"),
                splitter,
            )
        }
    }
}

fn spelled(way: usize, bytes: &[u8]) -> String {
    let symbols: &[&str] = if way == 0 { &PARTS } else { &SYMBOLS };
    let bytes = bytes.iter().take(60);
    bytes
        .map(|&byte| symbols[usize::from(byte) % symbols.len()])
        .collect()
}

fn whole(encoder: &Encoder, policy: &Policy, text: &str) -> Result<Vec<TokenId>, EncodeError> {
    encoder.special_tokens().refuse(text, &policy.disallowed)?;
    let mut ids = Vec::new();
    encoder.encode(text, &policy.allowed, &mut ids)?;
    Ok(ids)
}
