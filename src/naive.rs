//! The definitions, executable and slow. Every fast engine is tested against these; nothing else uses them.

use std::collections::BTreeMap;

use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// BPE of one piece: the whole piece if it is a token; otherwise, from single bytes on, merge the adjacent parts whose
/// bytes together are the token of lowest rank, leftmost first, until no two adjacent parts are a token.
///
/// # Complexity
/// O(n²) look-ups for n bytes.
pub fn encode_piece(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    if let Some(id) = vocabulary.token(piece) {
        return vec![id];
    }
    // The cuts between parts, with both ends.
    let mut cuts: Vec<usize> = (0..=piece.len()).collect();
    loop {
        let best = (2..cuts.len())
            .filter_map(|right| {
                vocabulary
                    .token(&piece[cuts[right - 2]..cuts[right]])
                    .map(|rank| (rank, right - 1))
            })
            .min();
        match best {
            Some((_, cut)) => cuts.remove(cut),
            None => break,
        };
    }
    cuts.windows(2)
        .map(|part| {
            vocabulary
                .token(&piece[part[0]..part[1]])
                .unwrap_or(NO_TOKEN)
        })
        .collect()
}

/// BPE training on counted pieces: byte `b` is token `b`; then, until there are `vocabulary_size` tokens or no pair is
/// left, the pair with the highest count becomes the next token and is merged everywhere, left to right.
///
/// A piece counts as often as it occurs; pairs are counted in overlapping windows (`aaa` holds the pair `aa` twice,
/// though only one merge fits); of equal counts the smallest pair of ids wins.
///
/// # Complexity
/// O(merges × total bytes).
pub fn train(pieces: &[(&[u8], u64)], vocabulary_size: usize) -> Vec<Pair> {
    let mut words: Vec<(Vec<TokenId>, u64)> = pieces
        .iter()
        .map(|(piece, count)| {
            (
                piece.iter().map(|&byte| TokenId::from(byte)).collect(),
                *count,
            )
        })
        .collect();
    let mut merges = Vec::new();
    for token in (256..).take(vocabulary_size.saturating_sub(256)) {
        let mut counts: BTreeMap<Pair, u64> = BTreeMap::new();
        for (word, count) in &words {
            for pair in word.windows(2) {
                *counts.entry(Pair::new(pair[0], pair[1])).or_default() += count;
            }
        }
        // Pairs come in increasing order and a later one must count more, so the smallest of equals stays.
        let mut best: Option<(Pair, u64)> = None;
        for (pair, count) in counts {
            if count > best.map_or(0, |(_, most)| most) {
                best = Some((pair, count));
            }
        }
        let Some((pair, _)) = best else { break };
        for (word, _) in &mut words {
            *word = merge_pair(word, pair, token);
        }
        merges.push(pair);
    }
    merges
}

/// `word` with each occurrence of `pair` replaced by `token`, from left to right, without overlap.
fn merge_pair(word: &[TokenId], pair: Pair, token: TokenId) -> Vec<TokenId> {
    let mut merged = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        if *first == pair.left && tail.first() == Some(&pair.right) {
            merged.push(token);
            rest = &tail[1..];
        } else {
            merged.push(*first);
            rest = tail;
        }
    }
    merged
}
