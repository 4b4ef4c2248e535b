//! Words → ids by random vocabularies of tokens with scores, against the definition.

use bytemill::reference::encode_scores;
use bytemill::token::TokenId;
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
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded as a sum of single precision is"
)]
fn single(sum: f64) -> f32 {
    sum as f32
}
