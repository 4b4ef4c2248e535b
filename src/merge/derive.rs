//! Deriving the merge list of a vocabulary from its ranks.

use super::below::{self, Below};
use crate::checkpoint::RunToEnd;
use crate::error::VocabularyError;
use crate::token::{Pair, TokenId};
use crate::util::join::join;
use crate::util::memory::{self, Growable};
use crate::vocabulary::Vocabulary;
use crate::vocabulary::byte_merges::ByteMerges;

/// The two tokens that the merges of lower rank make of each token.
#[derive(Debug, Default)]
pub struct Derived {
    /// The tokens of which they make two, in the order of ids.
    pub merges: Vec<(TokenId, Pair)>,
    /// Those of more than one byte of which they do not, with the number of parts that they make.
    pub others: Vec<(TokenId, usize)>,
}

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
    let Derived {
        merges: derived,
        others,
    } = derive(vocabulary, merges)?;
    match others.first() {
        None => Ok(derived),
        Some(&(id, parts)) => Err(VocabularyError::NotTwoParts {
            token: vocabulary.bytes(id).expect("it is a token").to_vec(),
            parts,
        }),
    }
}

/// As [`merges_of`], with the tokens of which the merges of lower rank do not make two told apart. On two threads.
///
/// # Errors
/// [`VocabularyError::TooLarge`] for a token that is too long.
///
/// # Complexity
/// As [`merges_of`].
pub(crate) fn derive(
    vocabulary: &Vocabulary,
    merges: &ByteMerges,
) -> Result<Derived, VocabularyError> {
    let half = vocabulary.len() / 2;
    let part = |start: usize, count: usize| {
        let mut derived = Derived::default();
        let mut parts = Vec::new();
        for (span, id) in vocabulary.spans().skip(start).take(count) {
            let token = &vocabulary.all_bytes()[span];
            if token.len() == 1 {
                continue;
            }
            let below = Below { merges, limit: id };
            parts.clear();
            below::merge(&below, token, &mut parts, &RunToEnd)
                .map_err(|_| VocabularyError::TooLarge)?;
            match parts[..] {
                [left, right] => derived
                    .merges
                    .with_room(1)
                    .push((id, Pair::new(left, right))),
                _ => derived.others.with_room(1).push((id, parts.len())),
            }
        }
        Ok::<Derived, VocabularyError>(derived)
    };
    let (first, second) = join(|| part(0, half), || part(half, vocabulary.len() - half));
    let (mut derived, second) = (first?, second?);
    memory::extend(&mut derived.merges, second.merges);
    memory::extend(&mut derived.others, second.others);
    Ok(derived)
}
