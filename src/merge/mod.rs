//! Exact BPE of one piece.
//!
//! The definition ([`crate::reference::encode_piece`]): a piece that is a token is that token. Otherwise
//! start from byte tokens and repeatedly merge the adjacent pair of lowest rank, leftmost first, until no
//! adjacent pair merges.
//!
//! Two engines compute it: [`short`] for pieces of up to 128 bytes, and [`queue`] for longer ones, which
//! [`long`] divides into windows.

mod apart;
mod buckets;
mod characters;
pub mod derive;
mod listed;
#[doc(hidden)]
pub mod long;
#[doc(hidden)]
pub mod queue;
#[doc(hidden)]
pub mod short;

use std::ops::Range;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::vocabulary::byte_merges::ByteMerges;
use crate::vocabulary::characters::CharacterMerges;
use crate::vocabulary::listed::ListedMerges;
use crate::vocabulary::{Merges, Vocabulary};
pub use queue::Token;

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
    if let Merges::Bytes(merges) = vocabulary.merges()
        && !merges.tokens_merge()
        && let Some(id) = vocabulary.token(piece)
    {
        ids.push(id);
        return Ok(());
    }
    if let Merges::Listed(merges) = vocabulary.merges()
        && merges.looks_up_whole_pieces()
        && let Some(id) = vocabulary.token(piece)
    {
        ids.push(id);
        return Ok(());
    }
    merge(vocabulary, piece, ids, checkpoint)
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
    match vocabulary.merges() {
        Merges::Bytes(merges) => merge_bytes(merges, piece, ids, checkpoint),
        Merges::Characters(merges) => merge_characters(merges, piece, ids, checkpoint),
        Merges::Listed(merges) => listed::merge(merges, piece, ids, checkpoint),
    }
}

fn merge_bytes(
    merges: &ByteMerges,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    if short::merge(merges, piece, ids) {
        return Ok(());
    }
    long::merge(merges, piece, long::WINDOW_LEN, ids, checkpoint)
}

fn merge_characters(
    merges: &CharacterMerges,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let before = ids.len();
    if !short::merge(merges, piece, ids) {
        long::merge(merges, piece, long::WINDOW_LEN, ids, checkpoint)?;
    }
    merges.symbols_to_ids(ids, before);
    Ok(())
}

/// Appends the tokens of `piece` to `tokens`, where merges are listed: each starts behind the bytes that those before it
/// stand for. Returns where the last one ends.
///
/// # Errors
/// As [`encode_piece`].
///
/// # Complexity
/// O(n log n) for n bytes.
pub fn listed_tokens(
    vocabulary: &Vocabulary,
    merges: &ListedMerges,
    piece: &[u8],
    tokens: &mut Vec<Token>,
    checkpoint: &dyn Checkpoint,
) -> Result<usize, EncodeError> {
    if merges.looks_up_whole_pieces()
        && let Some(id) = vocabulary.token(piece)
    {
        tokens.push(Token { start: 0, id });
        return Ok(piece.len());
    }
    listed::tokens(merges, piece, tokens, checkpoint)
}

/// An id with the bytes of a piece that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) id: TokenId,
    /// Empty for a byte that stands for nothing more than the one before it.
    pub(crate) span: Range<usize>,
}

/// Appends the ids of `piece` with their spans in it to `placed`.
///
/// # Errors
/// As [`encode_piece`].
///
/// # Complexity
/// O(n log n) for n bytes.
pub(crate) fn placed(
    vocabulary: &Vocabulary,
    piece: &[u8],
    placed: &mut Vec<Placed>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let mut tokens = Vec::new();
    let end = match vocabulary.merges() {
        Merges::Bytes(_) => {
            let (mut ids, mut end) = (Vec::new(), 0);
            encode_piece(vocabulary, piece, &mut ids, checkpoint)?;
            for id in ids {
                tokens.push(Token { start: end, id });
                end += vocabulary.bytes(id).expect("merges make tokens").len();
            }
            end
        }
        Merges::Listed(merges) => {
            listed_tokens(vocabulary, merges, piece, &mut tokens, checkpoint)?
        }
        Merges::Characters(_) => unreachable!("a model's own rules place its tokens"),
    };
    let ends = tokens.iter().skip(1).map(|token| token.start).chain([end]);
    placed.extend(tokens.iter().zip(ends).map(|(token, end)| Placed {
        id: token.id,
        span: token.start..end,
    }));
    Ok(())
}

/// Appends the symbols of `text`, a whole text or one of its pieces, to `tokens`.
///
/// # Errors
/// As [`encode_piece`].
///
/// # Complexity
/// O(n log n) for n bytes.
pub(crate) fn symbols(
    merges: &CharacterMerges,
    text: &[u8],
    tokens: &mut Vec<Token>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    if merges.takes_apart() {
        return apart::merge(merges, text, tokens, checkpoint);
    }
    let mut queue = queue::Queue::new();
    queue.merge(merges, text, checkpoint)?;
    tokens.extend(queue.tokens());
    Ok(())
}
