//! Texts made to be slow or wrong: ids are correct, and time grows about linearly.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemill::builtin::Builtin;
use bytemill::encode::Encoder;
use bytemill::encode::prefix_cache::PrefixCache;
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::error::EncodeError;
use bytemill::merge;
use bytemill::reference;
use bytemill::split::Splitter;
use bytemill::token::{NO_TOKEN, TokenId};
use bytemill::vocabulary::Vocabulary;
use fancy_regex::Regex;

use crate::support::{
    CL100K, MEGABYTE, MONOTONOUS, O200K, PUBLISHED, R50K, TestResult, byte_merges, ranks_with_bytes,
};

fn encoder(builtin: Builtin, pattern: &str) -> Result<Encoder, Box<dyn Error>> {
    let (vocabulary, splitter) = (builtin.vocabulary()?, Splitter::new(pattern)?);
    Ok(Encoder::new(vocabulary, SpecialTokens::default(), splitter))
}

fn encoders() -> Result<[Encoder; 3], Box<dyn Error>> {
    Ok([
        encoder(Builtin::R50k, R50K)?,
        encoder(Builtin::Cl100k, CL100K)?,
        encoder(Builtin::O200k, O200K)?,
    ])
}

fn encode(encoder: &Encoder, text: &str) -> Result<Vec<TokenId>, EncodeError> {
    let mut ids = Vec::new();
    encoder.encode_ordinary(text, &mut ids)?;
    Ok(ids)
}

/// Merges by rounds: all pairs of the lowest rank, from left to right, then the next. As no published token
/// has a part of higher rank, a round creates no pair of its own rank or a lower one, so this equals the
/// definition; where few different pairs merge, it is fast.
fn by_rounds(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    let mut ids: Vec<TokenId> = piece
        .iter()
        .map(|&byte| byte_merges(vocabulary).byte_token(byte))
        .collect();
    loop {
        let ranks = ids
            .windows(2)
            .map(|pair| byte_merges(vocabulary).merged(pair[0], pair[1]));
        let Some(lowest) = ranks.min().filter(|&rank| rank != NO_TOKEN) else {
            return ids;
        };
        let mut merged = Vec::with_capacity(ids.len());
        for id in ids {
            match merged.last_mut() {
                // A symbol that this round merged is not a left part again.
                Some(last)
                    if *last != lowest && byte_merges(vocabulary).merged(*last, id) == lowest =>
                {
                    *last = lowest;
                }
                _ => merged.push(id),
            }
        }
        ids = merged;
    }
}

#[test]
fn long_pieces_are_the_definition_by_rounds() -> TestResult {
    for builtin in Builtin::ALL {
        let vocabulary = builtin.vocabulary()?;
        for (kind, text) in MONOTONOUS {
            // Many different pairs make many rounds.
            let length = if kind == "random letters" {
                8000
            } else {
                50_000
            };
            let text = text(length);
            let mut ids = Vec::new();
            merge::encode_piece(&vocabulary, text.as_bytes(), &mut ids)?;
            assert!(ids == by_rounds(&vocabulary, text.as_bytes()), "{kind}");
        }
    }
    Ok(())
}

#[test]
fn a_megabyte_of_text_comes_back() -> TestResult {
    for (encoder, length) in encoders()?.iter().zip([20_000, 50_000, MEGABYTE]) {
        for (kind, text) in MONOTONOUS {
            let text = text(length);
            let ids = encode(encoder, &text)?;
            assert!(ids.len() <= text.len());
            assert!(encoder.decode(&ids)? == text.as_bytes(), "{kind}");
        }
    }
    Ok(())
}

#[test]
fn small_sizes_are_the_definition() -> TestResult {
    for (encoder, pattern) in encoders()?.iter().zip(PUBLISHED) {
        let regex = Regex::new(pattern)?;
        for (kind, text) in MONOTONOUS {
            for length in (0..80).chain([149, 150, 151, 400]) {
                let text = text(length);
                let mut expected = Vec::new();
                for piece in regex.find_iter(&text) {
                    let piece = piece?.as_str().as_bytes();
                    expected.extend(reference::encode_piece(encoder.vocabulary(), piece));
                }
                assert_eq!(encode(encoder, &text)?, expected, "{kind}, {length}");
            }
        }
    }
    Ok(())
}

/// Asserts that four times the input takes less than nine times as long: O(n log n) takes about five times as
/// long, O(n²) sixteen.
///
/// Other processes only make it slower: so the minimum of some tries counts, and work that takes too long is
/// tried again before the test fails.
fn assert_no_explosion(
    what: &str,
    size: usize,
    text: impl Fn(usize) -> String,
    work: impl Fn(&str) -> TestResult,
) -> TestResult {
    /// Work below this is too short to compare. At these sizes, anything quadratic takes tenths of a second.
    const NOISE: Duration = Duration::from_millis(5);
    const TRIES: usize = 30;
    let texts = [text(size), text(4 * size)];
    let mut least = [Duration::MAX; 2];
    for tried in 1..=TRIES {
        for (text, least) in texts.iter().zip(&mut least) {
            let start = Instant::now();
            work(text)?;
            *least = start.elapsed().min(*least);
        }
        // One fast try of the larger input is enough; a single try of the smaller may be slow.
        let [small, large] = least;
        if tried > 1 && large < 9 * small + NOISE {
            return Ok(());
        }
    }
    let [small, large] = least;
    panic!("{what}: {small:?} for {size} bytes, {large:?} for four times as many");
}

#[test]
fn merging_grows_no_faster_than_n_log_n() -> TestResult {
    let vocabulary = Builtin::O200k.vocabulary()?;
    for (kind, text) in MONOTONOUS {
        assert_no_explosion(kind, 20_000, text, |text| {
            let mut ids = Vec::new();
            merge::encode_piece(&vocabulary, text.as_bytes(), &mut ids)?;
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn splitting_grows_linearly() -> TestResult {
    let hostile = [
        "A", "a", " ", "\n", "\r\n", "\t", "\u{A0}", "1", "'", "'s", "\u{301}", "中", "/", ".",
        " \n", "\n ", " a", "a ", "aA", "Aa", "中A", "A\u{301}", "\u{301}A", "'S'", "'l", "a'",
        "./", ".\n", "\u{85} ", "\u{0}",
    ];
    for pattern in PUBLISHED {
        let splitter = Splitter::new(pattern)?;
        for unit in hostile {
            for end in ["", "b", ".", "\n"] {
                let prepare = |length: usize| unit.repeat(length / unit.len()) + end;
                assert_no_explosion(unit, 20_000, prepare, |text| {
                    let mut pieces = splitter.pieces(text);
                    let mut chunk = Vec::new();
                    while pieces.next_chunk(&mut chunk)? {}
                    Ok(())
                })?;
            }
        }
    }
    Ok(())
}

/// Texts full of beginnings of special tokens, and of special tokens that are not allowed.
#[test]
fn finding_special_tokens_grows_linearly() -> TestResult {
    let mut tokens: Vec<String> = (1..60).map(|length| "a".repeat(length)).collect();
    tokens.extend(["<|endoftext|>", "<|", "<|<|<|<|!", "ab", "中文"].map(str::to_owned));
    let long = "a".repeat(500) + "b";
    tokens.push(long.clone());
    let numbered = tokens.iter().cloned().zip(0..).collect();
    let special = SpecialTokens::new(numbered)?;
    let allowed = special.allow([long.as_str()]);
    for unit in ["a", "<|", "<", "<|endoftext|", "<|endoftext|>", "中", "ab"] {
        let prepare = |length: usize| unit.repeat(length / unit.len());
        assert_no_explosion(unit, 10_000, prepare, |text| {
            assert_eq!(special.find(text, 0, &allowed), None);
            Ok(())
        })?;
    }
    Ok(())
}

fn o200k() -> Result<Arc<Encoder>, Box<dyn Error>> {
    let vocabulary = Builtin::O200k.vocabulary()?;
    let splitter = Splitter::new(O200K)?;
    Ok(Encoder::new(vocabulary, SpecialTokens::default(), splitter).into())
}

/// Requests of the same instructions with a date in them, and of the same end.
#[test]
fn a_cache_of_texts_that_differ_in_the_middle_grows_linearly() -> TestResult {
    let encoder = o200k()?;
    let instructions = "Answer by what is said below. ".repeat(10);
    let documents = "some words and more of them. ".repeat(30);
    let prepare = |length: usize| "x".repeat(length);
    assert_no_explosion("requests", 1_500, prepare, |text| {
        let cache = PrefixCache::new(1 << 30, 0).with_segments_of(1_000);
        for number in 0..text.len() {
            let request = format!("{instructions}Today is {number:06}. {documents}");
            cache.encode(&encoder, &request, &Allowed::Nothing, &mut Vec::new())?;
        }
        let stats = cache.stats().expect("it is free");
        assert_eq!(stats.entries, text.len());
        Ok(())
    })
}

/// Each segment of a text can be removed only behind the one after it.
#[test]
fn removing_a_long_text_from_a_cache_grows_linearly() -> TestResult {
    let encoder = o200k()?;
    let prepare = |length: usize| "some words ".repeat(length / 11);
    assert_no_explosion("segments", 80_000, prepare, |text| {
        let cache = PrefixCache::new(1_000, 0).with_segments_of(16);
        cache.encode(&encoder, text, &Allowed::Nothing, &mut Vec::new())?;
        assert!(cache.stats().expect("it is free").bytes <= 1_000);
        Ok(())
    })
}

/// Tokens that share all prefixes, and one as long as a text: building and merging stay cheap.
#[test]
fn vocabularies_of_long_tokens() -> TestResult {
    let runs = (2..300).chain([MEGABYTE]).map(|length| vec![b'a'; length]);
    let mut ranks = ranks_with_bytes();
    ranks.extend(runs.zip(256..));
    let longest = ranks.len() - 1;
    let start = Instant::now();
    let vocabulary = Vocabulary::from_ranks(ranks)?;
    // Trying every cut of the longest would take minutes.
    assert!(start.elapsed() < Duration::from_secs(5));
    for length in [2, 3, 299, 300, 301, 1000] {
        let piece = vec![b'a'; length];
        let mut ids = Vec::new();
        merge::encode_piece(&vocabulary, &piece, &mut ids)?;
        assert_eq!(
            ids,
            reference::encode_piece(&vocabulary, &piece),
            "{length}"
        );
    }
    let mut ids = Vec::new();
    merge::encode_piece(&vocabulary, &vec![b'a'; MEGABYTE], &mut ids)?;
    assert_eq!(ids, [TokenId::try_from(longest)?]);
    Ok(())
}
