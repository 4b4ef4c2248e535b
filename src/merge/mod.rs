//! Exact BPE of one piece.
//!
//! The definition ([`crate::reference::encode_piece`]): a piece that is a token is that token. Otherwise
//! start from byte tokens and repeatedly merge the adjacent pair of lowest rank, leftmost first, until no
//! adjacent pair merges.
//!
//! Two engines compute it: [`short`] for pieces of up to 128 bytes, and [`queue`] for longer ones, which
//! [`long`] divides into windows.

mod buckets;
pub mod derive;
#[doc(hidden)]
pub mod long;
#[doc(hidden)]
pub mod queue;
#[doc(hidden)]
pub mod short;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint, passed during long pieces;
/// [`EncodeError::PieceTooLong`].
///
/// # Complexity
/// As [`long::merge`]: O(n) for n bytes with published vocabularies.
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

/// As [`encode_piece`], without the look-up of the whole piece as a token.
///
/// # Errors
/// As [`encode_piece`].
pub fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    if short::merge(vocabulary, piece, ids) {
        return Ok(());
    }
    long::merge(vocabulary, piece, long::WINDOW_LEN, ids, checkpoint)
}
