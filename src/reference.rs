//! The definition of encoding, executable and slow. Every fast engine is tested against it; nothing else uses it. That
//! of training is [`crate::train::reference`].

use crate::token::{NO_TOKEN, TokenId};
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
