//! Exactly the tokens that one piece becomes, by each model.
//!
//! BPE by its definition ([`crate::reference::encode_piece`]): a piece that is a token is that token. Otherwise
//! start from byte tokens and repeatedly merge the adjacent pair of lowest rank, leftmost first, until no
//! adjacent pair merges. Two engines compute it: [`short`] for pieces of up to 128 bytes, and [`queue`] for longer
//! ones, which [`long`] divides into windows.
//!
//! Words and their parts: the longest tokens from left to right. Tokens with scores: those of the greatest sum.

pub mod agreement;
mod apart;
mod buckets;
mod listed;
#[doc(hidden)]
pub mod long;
#[doc(hidden)]
pub mod queue;
#[doc(hidden)]
pub mod short;
pub(crate) mod sums;
mod unigram;
mod words;

use std::ops::Range;

use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::vocabulary::byte_merges::ByteMerges;
use crate::vocabulary::{Model, Vocabulary};

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
) -> Result<(), EncodeError> {
    if let Model::Bytes(merges) = vocabulary.model()
        && merges.may_be_unmade(piece.len())
        && let Some(id) = vocabulary.token(piece)
    {
        ids.with_room(1).push(id);
        return Ok(());
    }
    if let Some(id) = vocabulary.whole_piece(piece) {
        ids.with_room(1).push(id);
        return Ok(());
    }
    merge(vocabulary, piece, ids)
}

/// As [`encode_piece`], without the look-up of the whole piece as a token.
///
/// # Errors
/// As [`encode_piece`].
pub fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    match vocabulary.model() {
        Model::Bytes(merges) => merge_bytes(merges, piece, ids),
        Model::Listed(merges) => listed::merge(merges, piece, ids),
        Model::Words(words) => words::encode(words, piece, ids),
        Model::Unigram(unigram) => unigram::encode(unigram, piece, ids),
    }
}

fn merge_bytes(
    merges: &ByteMerges,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    if short::merge(merges, piece, ids) {
        return Ok(());
    }
    long::merge(merges, piece, long::WINDOW_LEN, ids)
}

/// An id with the bytes of a piece that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The id.
    pub id: TokenId,
    /// Where they are.
    pub span: Range<usize>,
}

/// A token that a piece contains, and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Where it is.
    pub span: Range<usize>,
    /// The id; none if it is an unknown character.
    pub id: Option<TokenId>,
    /// The score.
    pub score: f64,
}

/// Returns the tokens with scores that `piece` contains, from left to right, the shortest first; none by other models.
///
/// # Complexity
/// O(n) for n bytes, times the length of the longest token.
pub fn scored(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<Scored> {
    match vocabulary.model() {
        Model::Unigram(unigram) => unigram::scored(unigram, piece),
        Model::Bytes(_) | Model::Listed(_) | Model::Words(_) => Vec::new(),
    }
}

/// Appends the ids of `piece` with their spans in it to `placed`.
///
/// # Errors
/// As [`encode_piece`].
///
/// # Complexity
/// O(n log n) for n bytes.
pub fn placed(
    vocabulary: &Vocabulary,
    piece: &[u8],
    placed: &mut Vec<Placed>,
) -> Result<(), EncodeError> {
    match vocabulary.model() {
        Model::Bytes(_) => {
            let (mut ids, mut start) = (Vec::new(), 0);
            encode_piece(vocabulary, piece, &mut ids)?;
            placed
                .with_room(ids.len())
                .extend(ids.into_iter().map(|id| {
                    let token = vocabulary.bytes(id).expect("merges make tokens");
                    let span = start..start + token.len();
                    start = span.end;
                    Placed { id, span }
                }));
        }
        Model::Words(words) => words::placed(words, piece, placed)?,
        Model::Unigram(unigram) => unigram::placed(unigram, piece, placed)?,
        Model::Listed(merges) => match vocabulary.whole_piece(piece) {
            Some(id) => placed.push(Placed {
                id,
                span: 0..piece.len(),
            }),
            None => listed::placed(merges, piece, placed)?,
        },
    }
    Ok(())
}
