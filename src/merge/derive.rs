//! The merge list of a vocabulary of which only the ranks are known.

use super::queue::{self, Below};
use crate::checkpoint::RunToEnd;
use crate::error::VocabularyError;
use crate::token::{Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// Returns, for each token of more than one byte in the order of ids, the two parts that the merges of lower rank leave of it.
///
/// # Errors
/// [`VocabularyError::NotTwoParts`] for a token that does not come apart in exactly two.
///
/// # Complexity
/// O(total bytes) merges.
pub fn merges_of(vocabulary: &Vocabulary) -> Result<Vec<(TokenId, Pair)>, VocabularyError> {
    let mut merges = Vec::with_capacity(vocabulary.len().saturating_sub(256));
    let mut parts = Vec::new();
    for (offsets, id) in vocabulary.places() {
        let token = &vocabulary.all_bytes()[offsets];
        if token.len() == 1 {
            continue;
        }
        parts.clear();
        let below = Below {
            vocabulary,
            limit: id,
        };
        queue::merge_with(&below, token, &mut parts, &RunToEnd)
            .map_err(|_| VocabularyError::TooLarge)?;
        let [left, right] = parts[..] else {
            return Err(VocabularyError::NotTwoParts {
                token: token.to_vec(),
                parts: parts.len(),
            });
        };
        merges.push((id, Pair::new(left, right)));
    }
    Ok(merges)
}
