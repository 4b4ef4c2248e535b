//! Words → ids by random vocabularies of tokens with scores, against the definition.

use bytemill::encode::Encoder;
use bytemill::encode::pipeline::{Marks, Normalization, Pipeline, Prefix};
use bytemill::encode::special::{Allowed, SpecialTokens};
use bytemill::normalize::chain::Chain;
use bytemill::reference::encode_scores;
use bytemill::split::Splitter;
use bytemill::split::adjacent::Adjacency;
use bytemill::token::TokenId;
use bytemill::util::tier::Tier;
use bytemill::vocabulary::unigram::{Origin, PENALTY, ScoreList};
use bytemill::vocabulary::{ListedToken, Vocabulary};

use crate::input::Input;
use crate::words::compare;

/// Parts of tokens and of texts.
const PARTS: [&str; 12] = [
    "-", "--", "a", "b", "ab", "é", "e", " ", "丁", "\u{301}", "😀", "x",
];

/// Scores that tie, and scores whose sums depend on rounding.
const SCORES: [f64; 10] = [-1.0, -2.0, -0.1, -0.2, -0.3, 0.0, 5.0, 30.0, -3.3, -2.7];

pub(crate) fn run(mut input: Input) {
    let origin = input.pick(&[Origin::Tokenizers, Origin::SentencePiece]);
    let is_joined = origin == Origin::Tokenizers;
    // SentencePiece's scores are of single precision.
    let round: fn(f64) -> f64 = if is_joined {
        |sum| sum
    } else {
        |sum| f64::from(single(sum))
    };
    let mut texts: Vec<String> = vec!["<unk>".to_owned()];
    for _ in 0..input.below(40) {
        let text: String = (0..=input.below(4)).map(|_| input.pick(&PARTS)).collect();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let scores: Vec<f64> = texts.iter().map(|_| round(input.pick(&SCORES))).collect();
    let tokens: Vec<(&str, TokenId, f64)> = (0..)
        .zip(texts.iter().zip(&scores))
        .map(|(id, (text, score))| (&**text, id, *score))
        .collect();
    let listed: Vec<ListedToken<'_>> = tokens
        .iter()
        .map(|(text, id, _)| ListedToken {
            id: *id,
            bytes: text.as_bytes().into(),
            is_found: *id != 0,
        })
        .collect();
    let unknown_score = round(scores.iter().copied().fold(f64::INFINITY, f64::min) - PENALTY);
    let list = ScoreList {
        texts: tokens
            .iter()
            .map(|(text, id, _)| (text.as_bytes(), *id))
            .collect(),
        scores: scores.clone(),
        unknown: Some(0),
        unknown_score,
        spelling: None,
        origin,
    };
    let vocabulary = Vocabulary::from_score_list(&listed, list).expect("a vocabulary");
    let mut whole = String::new();
    for part in input.parts() {
        let word: String = part
            .iter()
            .map(|&byte| PARTS[usize::from(byte) % 12])
            .collect();
        if word.is_empty() {
            continue;
        }
        let expected = encode_scores(&tokens, (0, unknown_score), is_joined, round, &word);
        compare(&vocabulary, &word, &expected);
        whole += &word;
    }
    // The definition is quadratic.
    if !is_joined && matches!(whole.len(), 1..=400) {
        let expected = encode_scores(&tokens, (0, unknown_score), is_joined, round, &whole);
        compare_by_chunks(vocabulary, &texts[1..], &whole, &expected);
    }
}

/// Compares the ids of a text by chunks with the definition's, of chunks that are not cached and of those that are.
fn compare_by_chunks(vocabulary: Vocabulary, found: &[String], text: &str, expected: &[TokenId]) {
    let adjacency = Adjacency::of(found.iter().map(String::as_str));
    let pipeline = Pipeline {
        added: None,
        symbols: Vec::new(),
        normalization: Normalization::Chain(Chain::default()),
        prefix: Prefix::Nothing,
        marks: Marks::Nothing,
        fused: None,
        splitter: Splitter::Adjacent(adjacency.into(), Tier::current()),
    };
    let special = SpecialTokens::default();
    let encoder = Encoder::with_pipeline(vocabulary.into(), special, pipeline).expect("an encoder");
    for _ in 0..2 {
        let mut ids = Vec::new();
        encoder
            .encode_ordinary(text, &mut ids)
            .expect("there is an unknown token");
        assert_eq!(ids, expected, "{text:?}");
        let count = encoder.count(text, &Allowed::Nothing);
        assert_eq!(count.ok(), Some(expected.len()), "{text:?}");
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded as a sum of single precision is"
)]
fn single(sum: f64) -> f32 {
    sum as f32
}
