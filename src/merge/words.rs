//! The longest tokens of a word, from left to right.

use super::Placed;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::vocabulary::words::Words;

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// As [`encode_piece`](super::encode_piece); [`EncodeError::NoUnknown`].
pub(super) fn encode(
    words: &Words,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    let before = ids.len();
    if !words.split(piece, |id, _| ids.with_room(1).push(id))? {
        ids.truncate(before);
        ids.with_room(1).push(words.unknown()?);
    }
    Ok(())
}

/// Appends the ids of `piece` to `placed`, each with its span in the piece.
///
/// # Errors
/// As [`encode`].
pub(super) fn placed(
    words: &Words,
    piece: &[u8],
    placed: &mut Vec<Placed>,
) -> Result<(), EncodeError> {
    let before = placed.len();
    let is_known = words.split(piece, |id, (start, end)| {
        let span = start..end;
        placed.with_room(1).push(Placed { id, span });
    })?;
    if !is_known {
        placed.truncate(before);
        let span = 0..piece.len();
        placed.with_room(1).push(Placed {
            id: words.unknown()?,
            span,
        });
    }
    Ok(())
}
