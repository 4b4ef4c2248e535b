//! The executable definition of encoding, for tests of the fast engines; nothing else uses it. The definition
//! of training is [`crate::train::reference`].

use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Returns the ids of one piece: the whole piece if it is a token. Otherwise starts from single bytes and
/// merges the adjacent symbols whose bytes together are the token of lowest rank, leftmost first, until no
/// two adjacent symbols are a token.
///
/// # Complexity
/// O(n²) look-ups for n bytes.
pub fn encode_piece(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<TokenId> {
    if let Some(id) = vocabulary.token(piece) {
        return vec![id];
    }
    // The offsets between symbols, with both ends.
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
        .map(|symbol| {
            vocabulary
                .token(&piece[symbol[0]..symbol[1]])
                .expect("every symbol is a token")
        })
        .collect()
}
