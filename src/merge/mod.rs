//! Exact BPE of one piece: which ids does this byte string become?
//!
//! The definition ([`crate::naive::encode_piece`]): a piece that is a token is that token. Otherwise start from byte
//! tokens and repeatedly merge the adjacent pair of lowest rank, leftmost first, until no adjacent pair merges.
//!
//! Two engines compute it: [`scan`] for short pieces, [`queue`] for long ones.

pub mod queue;
pub mod scan;

use crate::checkpoint::{Checkpoint, RunToEnd};
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint, asked during long pieces; [`EncodeError::PieceTooLong`].
///
/// # Complexity
/// O(n log n) for n bytes.
#[inline]
pub fn encode_piece(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    match vocabulary.token_beside_merges(piece) {
        Some(id) => {
            ids.push(id);
            Ok(())
        }
        None => merge(vocabulary, piece, ids, checkpoint),
    }
}

/// As [`encode_piece`] without the look-up of the whole piece: what the merges alone make of it.
///
/// # Errors
/// As [`encode_piece`].
pub fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    if scan::merge(vocabulary, piece, ids) {
        return Ok(());
    }
    queue::merge(vocabulary, piece, ids, checkpoint)
}

/// What the merges of rank below `limit` make of `piece`: how a token comes apart under lower ranks.
///
/// # Errors
/// [`EncodeError::PieceTooLong`].
pub(crate) fn merge_below(
    vocabulary: &Vocabulary,
    piece: &[u8],
    limit: TokenId,
) -> Result<Vec<TokenId>, EncodeError> {
    let mut ids = Vec::new();
    queue::merge_with(vocabulary, piece, &mut ids, &RunToEnd, |left, right| {
        Some(vocabulary.merged(left, right))
            .filter(|&rank| rank < limit)
            .unwrap_or(NO_TOKEN)
    })?;
    Ok(ids)
}
