//! The tokens of a word whose scores have the greatest sum: Viterbi's algorithm over the bytes of the word.
//!
//! Sums are made from the left, and rounded as the original rounds them: of equal ones the first counts, and near ones are
//! told apart by their rounding.

use super::{Placed, Scored};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::util::memory::{self, Growable};
use crate::vocabulary::unigram::{Origin, Unigram};

/// Shorter pieces, as nearly all words are, have their sums on the stack.
pub(super) const SHORT: usize = 64;

/// Characters between two passes of the checkpoint: a millisecond.
const CHECK_INTERVAL: usize = 1 << 14;

/// A sum of scores.
trait Sum: Copy + PartialOrd {
    const ZERO: Self;
    /// A place whose sum has a greater magnitude starts at zero again, and with it all sums behind it.
    const LARGEST: Self;

    /// Adds a score.
    fn plus(self, score: f64) -> Self;

    fn minus(self, other: Self) -> Self;

    /// Returns a sum that was kept as a double.
    fn of(kept: f64) -> Self;

    fn kept(self) -> f64;
}

impl Sum for f64 {
    const ZERO: Self = 0.0;
    const LARGEST: Self = Self::INFINITY;

    #[inline]
    fn plus(self, score: f64) -> Self {
        score + self
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }

    fn of(kept: f64) -> Self {
        kept
    }

    fn kept(self) -> f64 {
        self
    }
}

impl Sum for f32 {
    const ZERO: Self = 0.0;
    const LARGEST: Self = 100_000.0;

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "scores of models are f32")]
    fn plus(self, score: f64) -> Self {
        score as Self + self
    }

    fn minus(self, other: Self) -> Self {
        self - other
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "it was one of single precision"
    )]
    fn of(kept: f64) -> Self {
        kept as Self
    }

    fn kept(self) -> f64 {
        self.into()
    }
}

/// The end of a token on a path through a piece.
#[derive(Clone, Copy, Debug)]
struct End<S> {
    /// The greatest sum of scores up to here.
    sum: S,
    /// Where the last token of that sum starts; [`NOWHERE`] if no token ends here.
    start: u32,
    /// The token, or [`NO_TOKEN`] if it is an unknown character.
    id: TokenId,
}

/// No place in a piece.
const NOWHERE: u32 = u32::MAX;

impl<S: Sum> End<S> {
    const NONE: Self = Self {
        sum: S::ZERO,
        start: NOWHERE,
        id: NO_TOKEN,
    };

    /// Takes a token if its sum is the greatest so far, and returns whether it is.
    #[inline]
    fn offer(&mut self, sum: S, start: u32, id: TokenId) -> bool {
        let is_best = self.start == NOWHERE || sum > self.sum;
        if is_best {
            *self = Self { sum, start, id };
        }
        is_best
    }
}

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// As [`encode_piece`](super::encode_piece); [`EncodeError::NoUnknown`].
///
/// # Complexity
/// O(n) for n bytes, times the length of the longest token.
pub(super) fn encode(
    unigram: &Unigram,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    encode_after(unigram, 0.0, piece, ids).map(|_| ())
}

/// As [`encode`], behind text with a sum of scores. Returns the sum at the end.
///
/// # Errors
/// As [`encode`].
pub(super) fn encode_after(
    unigram: &Unigram,
    sum: f64,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<f64, EncodeError> {
    on_best_path(unigram, sum, piece, |id, _| ids.with_room(1).push(id))
}

/// Returns the sum of scores at the end of `piece`, behind text with another one.
///
/// # Errors
/// As [`encode`].
pub(super) fn sum_behind(unigram: &Unigram, sum: f64, piece: &[u8]) -> Result<f64, EncodeError> {
    on_best_path(unigram, sum, piece, |_, _| ())
}

/// Appends the ids of `piece` to `placed`, each with its span in the piece. The tokens of the bytes of unknown text all have
/// the span of that.
///
/// # Errors
/// As [`encode`].
pub(super) fn placed(
    unigram: &Unigram,
    piece: &[u8],
    placed: &mut Vec<Placed>,
) -> Result<(), EncodeError> {
    on_best_path(unigram, 0.0, piece, |id, (start, end)| {
        let span = start..end;
        placed.with_room(1).push(Placed { id, span });
    })
    .map(|_| ())
}

/// Returns the tokens that may stand on a path through `piece`.
pub(super) fn scored(unigram: &Unigram, piece: &[u8]) -> Vec<Scored> {
    let (mut all, mut start) = (Vec::new(), 0);
    while start < piece.len() {
        start += unigram.candidates(&piece[start..], |length, id, score| {
            let span = start..start + length;
            let id = (id != NO_TOKEN).then_some(id);
            all.with_room(1).push(Scored { span, id, score });
        });
    }
    all
}

/// Passes the tokens of `piece` behind text with a sum of scores to `each`, from left to right, with their starts and ends.
/// Returns the sum at the end.
fn on_best_path(
    unigram: &Unigram,
    sum: f64,
    piece: &[u8],
    each: impl FnMut(TokenId, (usize, usize)),
) -> Result<f64, EncodeError> {
    match unigram.origin() {
        Origin::Tokenizers => on_best_path_of::<f64>(unigram, sum, piece, each),
        Origin::SentencePiece => on_best_path_of::<f32>(unigram, sum, piece, each),
    }
}

fn on_best_path_of<S: Sum>(
    unigram: &Unigram,
    sum: f64,
    piece: &[u8],
    each: impl FnMut(TokenId, (usize, usize)),
) -> Result<f64, EncodeError> {
    if piece.len() < SHORT {
        let mut ends = [End::<S>::NONE; SHORT];
        ends[0].sum = S::of(sum);
        return with_ends(unigram, piece, &mut ends[..=piece.len()], each);
    }
    if u32::try_from(piece.len()).is_err() {
        return Err(EncodeError::PieceTooLong(piece.len()));
    }
    let mut ends = memory::try_vec_with_capacity(piece.len() + 1)?;
    ends.resize(piece.len() + 1, End::<S>::NONE);
    ends[0].sum = S::of(sum);
    with_ends(unigram, piece, &mut ends, each)
}

fn with_ends<S: Sum>(
    unigram: &Unigram,
    piece: &[u8],
    ends: &mut [End<S>],
    mut each: impl FnMut(TokenId, (usize, usize)),
) -> Result<f64, EncodeError> {
    fill(unigram, piece, ends)?;
    let sum = ends[piece.len()].sum.kept();
    // Turns the path around: each start gets the end of its token.
    let (mut end, mut id, mut next) = (piece.len(), NO_TOKEN, NOWHERE);
    loop {
        let here = ends[end];
        (ends[end].start, ends[end].id) = (next, id);
        if end == 0 {
            break;
        }
        (next, end, id) = (offset(end), here.start as usize, here.id);
    }
    let is_unknown = |id| id == NO_TOKEN || unigram.is_unknown(id);
    let mut start = 0;
    while start < piece.len() {
        let (mut end, id) = (ends[start].start as usize, ends[start].id);
        if !is_unknown(id) {
            each(id, (start, end));
            start = end;
            continue;
        }
        let mut known = None;
        if unigram.origin() == Origin::Tokenizers {
            while end < piece.len() && is_unknown(ends[end].id) {
                end = ends[end].start as usize;
            }
            known = unigram.token(&piece[start..end]);
        }
        let text = &piece[start..end];
        if let Some(id) = known {
            each(id, (start, end));
        } else if let Some(tokens) = unigram.spelling().and_then(|spelling| spelling.of(text)) {
            tokens.for_each(|id| each(id, (start, end)));
        } else {
            each(unigram.unknown()?, (start, end));
        }
        start = end;
    }
    Ok(sum)
}

/// Returns a sum with scores added to it, one after the other; `None` if one of these sums is nearer than `reach` to where
/// sums start again.
pub(super) fn add(
    origin: Origin,
    sum: f64,
    scores: impl Iterator<Item = f64>,
    reach: f64,
) -> Option<f64> {
    fn of<S: Sum>(sum: f64, mut scores: impl Iterator<Item = f64>, reach: f64) -> Option<f64> {
        let most = S::LARGEST.kept() - reach;
        let far = |sum: S| (sum.kept().abs() <= most).then_some(sum);
        let sum = scores.try_fold(S::of(sum), |sum, score| Some(far(sum)?.plus(score)));
        far(sum?).map(S::kept)
    }
    match origin {
        Origin::Tokenizers => of::<f64>(sum, scores, reach),
        Origin::SentencePiece => of::<f32>(sum, scores, reach),
    }
}

/// Finds the token of the greatest sum at each end.
fn fill<S: Sum>(unigram: &Unigram, piece: &[u8], ends: &mut [End<S>]) -> Result<(), EncodeError> {
    let (mut start, mut count, mut furthest) = (0, 0, 0);
    while start < piece.len() {
        count += 1;
        if count % CHECK_INTERVAL == 0 {
            checkpoint::pass()?;
        }
        let mut before = ends[start].sum;
        if before > S::LARGEST || before < S::ZERO.minus(S::LARGEST) {
            for end in &mut ends[start..=furthest.max(start)] {
                if end.start != NOWHERE {
                    end.sum = end.sum.minus(before);
                }
            }
            before = S::ZERO;
        }
        let mut is_unknown = false;
        let character = unigram.candidates(&piece[start..], |length, id, score| {
            furthest = furthest.max(start + length);
            let is_best = ends[start + length].offer(before.plus(score), offset(start), id);
            is_unknown |= is_best && id == NO_TOKEN;
        });
        if is_unknown && unigram.origin() == Origin::Tokenizers {
            unigram.unknown()?;
        }
        start += character;
    }
    Ok(())
}

/// A place in a piece, which has fewer than 4 GiB.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "checked for each piece")]
fn offset(place: usize) -> u32 {
    place as u32
}
