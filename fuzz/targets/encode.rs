//! Texts and bytes → ids, against the definition: all tiers, full and small tables, texts that come again.

use std::sync::Arc;

use bytemill::encode::Encoder;
use bytemill::encode::special::Allowed;
use bytemill::merge::{self, long, short};
use bytemill::token::TokenId;
use bytemill::vocabulary::Vocabulary;
use fancy_regex::Regex;

use crate::files;
use crate::input::{Input, floor_char_boundary};
use crate::models::{self, PATTERNS, PUBLISHED, WARM};
use crate::oracle;
use crate::pieces;
use crate::support::{Random, byte_merges};

/// Longer texts only slow the reference down.
const LONGEST: usize = 800;

pub(crate) fn run(mut input: Input) {
    match input.below(8) {
        0 => return files::run(input),
        1 => return pieces::run(input),
        _ => (),
    }
    let kind = input.byte();
    let published = usize::from(kind >> 5) % PUBLISHED.len();
    let limit = input.pick(&[64 << 20, 1 << 16, 1 << 14, 0]);
    let pieces = input.pick(&[0, 0, 0, 0, 0, 0, 50, 300]);
    let mut before = input.random();
    let warm = kind & 16 == 0;
    let fresh;
    let (vocabulary, pattern, encoders) = match kind & 31 {
        0..16 => {
            let (vocabulary, pattern) = &PUBLISHED[published];
            (
                Arc::clone(vocabulary),
                &PATTERNS[*pattern],
                &WARM[published],
            )
        }
        // Tables of published vocabularies take long to begin.
        16 => {
            let (vocabulary, pattern) = &PUBLISHED[published];
            let pattern = &PATTERNS[*pattern];
            fresh = models::encoders(vocabulary, pattern, limit.min(1 << 16));
            (Arc::clone(vocabulary), pattern, &fresh)
        }
        _ => {
            let pattern = &PATTERNS[input.below(PATTERNS.len())];
            let vocabulary = models::small(&mut input);
            fresh = models::encoders(&vocabulary, pattern, limit);
            (vocabulary, pattern, &fresh)
        }
    };
    if !warm {
        fill(&vocabulary, &pattern.regex, encoders, &mut before, pieces);
    }
    let repeat = input.pick(&[1, 1, 1, 1, 1, 1, 2, 17]);
    let raw = input.below(2) == 0;
    if raw {
        for bytes in input.parts() {
            let mut bytes = bytes.repeat(repeat);
            bytes.truncate(LONGEST);
            let wrong = [&bytes, &[0xFF][..], &bytes].concat();
            engines(&vocabulary, &bytes);
            for bytes in [bytes, wrong] {
                if let Some(expected) = oracle::bytes(&vocabulary, &pattern.regex, &bytes) {
                    for encoder in encoders {
                        let mut ids = vec![7];
                        encoder.encode_bytes(&bytes, &mut ids).expect("ids");
                        assert_eq!(ids[1..], expected, "{:?}: {bytes:?}", encoder.splitter());
                    }
                }
            }
        }
    } else {
        let mut texts = input.texts();
        for text in &mut texts {
            *text = text.repeat(repeat);
            text.truncate(floor_char_boundary(text, LONGEST));
        }
        // Once more, now that all pieces have been seen.
        for text in texts.iter().chain(&texts) {
            let expected = oracle::text(&vocabulary, &pattern.regex, text).expect("pieces");
            for encoder in encoders {
                assert_encodes(encoder, text, &expected);
            }
        }
    }
}

fn assert_encodes(encoder: &Encoder, text: &str, expected: &[TokenId]) {
    let mut ids = vec![7];
    encoder.encode_ordinary(text, &mut ids).expect("ids");
    assert_eq!(ids[1..], *expected, "{:?}: {text:?}", encoder.splitter());
    let count = encoder.count(text, &Allowed::Nothing).expect("a count");
    assert_eq!(count, expected.len(), "{:?}: {text:?}", encoder.splitter());
    if encoder.splitter().is_native() {
        let bytes = encoder.decode(expected).expect("bytes");
        assert_eq!(bytes, text.as_bytes());
    }
}

/// Encodes many different pieces, so that the cache grows and evicts entries.
fn fill(
    vocabulary: &Vocabulary,
    regex: &Regex,
    encoders: &[Encoder],
    random: &mut Random,
    pieces: usize,
) {
    let text: String = (0..pieces)
        .map(|_| {
            let length = random.within(1..40);
            let letters = (0..length).map(|_| *random.pick(&['a', 'b', 's', 'é', '一', '1', '\'']));
            letters.chain([' ']).collect::<String>()
        })
        .collect();
    let pieces = oracle::pieces(regex, &text).expect("pieces");
    let mut expected = Vec::new();
    for piece in pieces {
        merge::encode_piece(vocabulary, piece.as_bytes(), &mut expected).expect("ids");
    }
    for encoder in encoders {
        assert_encodes(encoder, &text, &expected);
    }
}

/// Encodes bytes as one piece, by each engine and in windows of several lengths.
fn engines(vocabulary: &Vocabulary, piece: &[u8]) {
    let mut expected = Vec::new();
    merge::queue::merge(byte_merges(vocabulary), piece, &mut expected).expect("ids");
    let mut ids = Vec::new();
    if short::merge(byte_merges(vocabulary), piece, &mut ids) {
        assert_eq!(ids, expected, "scan: {piece:?}");
    }
    for length in [1, 7, 64, long::WINDOW_LEN] {
        let mut ids = Vec::new();
        long::merge(byte_merges(vocabulary), piece, length, &mut ids).expect("ids");
        assert_eq!(ids, expected, "windows of {length}: {piece:?}");
    }
    if piece.len() <= 120 && vocabulary.token(piece).is_none() {
        assert_eq!(
            expected,
            bytemill::reference::encode_piece(vocabulary, piece),
            "{piece:?}"
        );
    }
}
