//! Deriving the merge list of a vocabulary from its ranks.

use super::queue::{self, Below};
use crate::checkpoint::RunToEnd;
use crate::error::VocabularyError;
use crate::token::{Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// Returns for each token of more than one byte, in the order of ids, the two tokens that the merges of lower
/// rank make of it.
///
/// # Errors
/// [`VocabularyError::NotTwoParts`] for a token of which they do not make exactly two;
/// [`VocabularyError::CharactersMerge`].
///
/// # Complexity
/// O(total bytes) merges.
pub fn merges_of(vocabulary: &Vocabulary) -> Result<Vec<(TokenId, Pair)>, VocabularyError> {
    let merges = vocabulary
        .byte_merges()
        .ok_or(VocabularyError::CharactersMerge)?;
    let mut derived = Vec::with_capacity(vocabulary.len().saturating_sub(256));
    let mut parts = Vec::new();
    for (span, id) in vocabulary.spans() {
        let token = &vocabulary.all_bytes()[span];
        if token.len() == 1 {
            continue;
        }
        parts.clear();
        let below = Below { merges, limit: id };
        queue::merge(&below, token, &mut parts, &RunToEnd)
            .map_err(|_| VocabularyError::TooLarge)?;
        let [left, right] = parts[..] else {
            return Err(VocabularyError::NotTwoParts {
                token: token.to_vec(),
                parts: parts.len(),
            });
        };
        derived.push((id, Pair::new(left, right)));
    }
    Ok(derived)
}
