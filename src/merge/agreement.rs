//! When merging by a list of pairs and merging by rank agree.
//!
//! By **rank**, two adjacent symbols merge if their joined bytes are a token, the lowest id first. By a **list**, they
//! merge if their pair is in the list, the earliest pair first. Both give the same ids for every text if
//!
//! 1. of each token of more than one byte, the merges of lower ranks make exactly two tokens;
//! 2. the list has the pair of these two for each token, in the order of the ids.
//!
//! Proof: take any text during its encoding, where two adjacent symbols spell a token T. No merge has crossed their outer
//! ends, so the merges between these ends were those of T's bytes alone. While ranks below T's are left, either the two
//! symbols are T's pair of condition 1 or they do not occur; later they cannot occur either, because the pair would have
//! been merged in T's turn. So no other pair for T ever occurs: it does not matter which others the list has, and where.
//!
//! So condition 1 may be checked with the pairs of the list alone: by induction over the ids, these merge the bytes of T
//! with the tokens below T as ranks do.
//!
//! Some vocabularies have tokens that no merges make: they stand for a piece only where the piece is exactly the token. If
//! merging such a token with all the others leaves three symbols or more, two adjacent symbols never spell it, and the proof
//! holds for the other tokens; the library that reads the list has to look up whole pieces first then.

use std::collections::BTreeSet;

use super::listed::{self, Below};
use crate::error::VocabularyError;
use crate::token::{Pair, TokenId};
use crate::util::join::join;
use crate::util::memory::{self, Growable};
use crate::vocabulary::Vocabulary;
use crate::vocabulary::byte_merges::ByteMerges;

/// Returns the vocabulary whose merges by rank give the same ids as those of a list, if that is certain.
///
/// `tokens` are different and in the order of ids, all their parts among them. `listed` is the list, each pair with the token
/// that it makes. With `whole_pieces`, a piece that is a token is that token, whatever the list.
///
/// # Complexity
/// O(total bytes) merges, again for each round of tokens that are made of others that no merges make.
pub(crate) fn by_rank<'a>(
    tokens: impl Iterator<Item = (TokenId, &'a [u8])> + Clone,
    listed: &[(TokenId, Pair)],
    whole_pieces: bool,
) -> Option<Vocabulary> {
    agreeing(tokens, listed, whole_pieces).ok()
}

/// As [`by_rank`]; otherwise a token that no merges make and that is made of two others all the same, if that is why.
fn agreeing<'a>(
    tokens: impl Iterator<Item = (TokenId, &'a [u8])> + Clone,
    listed: &[(TokenId, Pair)],
    whole_pieces: bool,
) -> Result<Vocabulary, Option<TokenId>> {
    let mut pairs = in_order_of_made(listed);
    let mut vocabulary = Vocabulary::from_pairs(tokens, &pairs).map_err(|_| None)?;
    if vocabulary.byte_merges().ok_or(None)?.pairs().len() < pairs.len() {
        // A pair is there twice.
        return Err(None);
    }
    let mut whole: BTreeSet<TokenId> = BTreeSet::new();
    let merges = loop {
        let merges_by_rank = vocabulary.byte_merges().ok_or(None)?;
        let Derived { mut merges, others } =
            derive(&vocabulary, merges_by_rank).map_err(|_| None)?;
        if !(others.is_empty() || whole_pieces) {
            return Err(None);
        }
        let known = whole.len();
        whole.extend(others.into_iter().map(|(id, _)| id));
        if whole.len() == known {
            merges.retain(|(made, _)| !whole.contains(made));
            break merges;
        }
        // Without these, others may be made of other pairs.
        pairs.retain(|(made, _)| !whole.contains(made));
        vocabulary = vocabulary.with_pairs(&pairs).map_err(|_| None)?;
    };
    if !is_in_order(listed, &merges) {
        return Err(None);
    }
    if merges.len() < pairs.len() {
        vocabulary = vocabulary.with_pairs(&merges).map_err(|_| None)?;
    }
    let unmade = |id: &TokenId| vocabulary.bytes(*id).unwrap_or_default();
    let stands_alone = |id: &TokenId| {
        let mut ids = Vec::new();
        super::merge(&vocabulary, unmade(id), &mut ids).is_ok() && ids.len() > 2
    };
    if let Some(&id) = whole.iter().find(|id| !stands_alone(id)) {
        return Err(Some(id));
    }
    let lengths = memory::collect(whole.iter().map(|id| unmade(id).len()));
    Ok(vocabulary.with_unmade(lengths))
}

/// Returns a shortest list of merges that gives the same ids as merging by rank, if there is one: the pair of each token
/// that merges make, in the order of ids. Whole pieces have to be looked up first.
///
/// # Complexity
/// O(total bytes) merges, some times over.
pub fn listed(vocabulary: &Vocabulary) -> Option<Vec<(TokenId, Pair)>> {
    let derived = derive(vocabulary, vocabulary.byte_merges()?).ok()?;
    listed_among(vocabulary, &derived.merges).ok()
}

/// As [`listed`](fn@listed), of whichever pairs the tokens can be made of.
///
/// # Errors
/// [`VocabularyError::MadeOfHigher`] if there is no such list; [`VocabularyError::CharactersMerge`].
///
/// # Complexity
/// As [`listed`](fn@listed).
pub fn listed_or_refused(vocabulary: &Vocabulary) -> Result<Vec<(TokenId, Pair)>, VocabularyError> {
    if vocabulary.byte_merges().is_none() {
        return Err(VocabularyError::CharactersMerge);
    }
    if let Some(merges) = listed(vocabulary) {
        return Ok(merges);
    }
    // Without tokens that no merges make, others may be made of other pairs.
    listed_among(vocabulary, &vocabulary.every_split()).map_err(|id| {
        let id = id.unwrap_or_else(|| vocabulary.highest_id());
        let token = vocabulary.bytes(id).unwrap_or_default().to_vec();
        VocabularyError::MadeOfHigher { token, id }
    })
}

/// Returns a shortest list among these merges; otherwise as [`agreeing`].
fn listed_among(
    vocabulary: &Vocabulary,
    merges: &[(TokenId, Pair)],
) -> Result<Vec<(TokenId, Pair)>, Option<TokenId>> {
    let spans = vocabulary.spans();
    let tokens = memory::collect(spans.map(|(span, id)| (id, &vocabulary.all_bytes()[span])));
    let by_list = agreeing(tokens.iter().copied(), merges, true)?;
    let derived = derive(&by_list, by_list.byte_merges().ok_or(None)?);
    derived.map(|derived| derived.merges).map_err(|_| None)
}

/// Returns listed merges in the order of what they make, those of one token in the order of the list.
fn in_order_of_made(listed: &[(TokenId, Pair)]) -> Vec<(TokenId, Pair)> {
    let made = listed
        .iter()
        .enumerate()
        .map(|(index, (made, _))| (*made, index));
    let mut order = memory::collect(made);
    order.sort_unstable();
    memory::collect(order.into_iter().map(|(_, index)| listed[index]))
}

/// Returns whether a list has all `merges`, in their order.
fn is_in_order(listed: &[(TokenId, Pair)], merges: &[(TokenId, Pair)]) -> bool {
    let mut listed = listed.iter();
    merges.iter().all(|merge| listed.any(|it| it == merge))
}

// Deriving the merge list of a vocabulary from its ranks.

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
            listed::merge_below(&below, token, &mut parts)
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
