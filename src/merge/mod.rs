//! Exact BPE of one piece: which ids does this byte string become?
//!
//! The definition ([`crate::reference::encode_piece`]): a piece that is a token is that token. Otherwise start from byte
//! tokens and repeatedly merge the adjacent pair of lowest rank, leftmost first, until no adjacent pair merges.
//!
//! Two engines compute it: [`scan`] for short pieces, [`queue`] for longer ones, very long ones in [`windows`].

#[cfg(target_arch = "x86_64")]
mod avx2;
mod buckets;
pub mod derive;
pub mod queue;
pub mod scan;
pub mod windows;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint, asked during long pieces; [`EncodeError::PieceTooLong`].
///
/// # Complexity
/// As [`windows::merge`]: O(n) for n bytes with published vocabularies.
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
    windows::merge(vocabulary, piece, windows::LENGTH, ids, checkpoint)
}
