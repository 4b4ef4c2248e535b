//! The policy: which pairs may be merged, and in which order.

use std::fmt::Debug;

use super::batch::Merge;
use super::partition::MAX_TOKENS;
use super::tie_break::TieBreaker;
use crate::error::TrainError;
use crate::token::{Pair, TokenId};

/// Which merges may be made, apart from counts and lengths.
pub(in crate::train) trait Restriction: Debug + Send + Sync {
    /// Returns whether a pair may be merged.
    fn allows(&self, pair: Pair) -> bool;

    /// Makes a pair the next token.
    fn push(&mut self, pair: Pair);

    /// Returns whether the predecessor of each pair that is allowed was allowed, too, in the sense of
    /// [`batch`](super::batch).
    fn allows_predecessors(&self) -> bool;
}

/// The tokens so far, and what decides about the next.
#[derive(Debug)]
pub(in crate::train) struct MergePolicy {
    pub(super) ties: TieBreaker,
    /// Length of each token in cells.
    pub(super) lengths: Vec<u32>,
    /// Pairs that occur less often are not indexed; 0 if none was indexed yet.
    pub(super) min_count: u64,
    /// Most cells of a token.
    max_token_len: u32,
    restriction: Option<Box<dyn Restriction>>,
}

impl MergePolicy {
    /// The policy for initial tokens of some `lengths`, with tokens of a length of at most `max_token_len`.
    pub(in crate::train) fn new(
        ties: TieBreaker,
        lengths: Vec<u32>,
        max_token_len: Option<usize>,
        restriction: Option<Box<dyn Restriction>>,
    ) -> Self {
        let max_token_len = u32::try_from(max_token_len.unwrap_or(usize::MAX));
        Self {
            ties,
            lengths,
            min_count: 0,
            max_token_len: max_token_len.unwrap_or(u32::MAX),
            restriction,
        }
    }

    /// Returns whether a pair with this count may be merged.
    pub(super) fn allows(&self, pair: Pair, count: u64) -> bool {
        let lengths = self.lengths_of(pair);
        count >= self.min_count
            && lengths[0].saturating_add(lengths[1]) <= self.max_token_len
            && self
                .restriction
                .as_ref()
                .is_none_or(|restriction| restriction.allows(pair))
    }

    /// Returns whether a [batch](super::batch) may have several merges.
    pub(super) fn allows_batches(&self) -> bool {
        let restriction = self.restriction.as_ref();
        self.ties.orders_new_pairs_last()
            && restriction.is_none_or(|restriction| restriction.allows_predecessors())
    }

    /// Makes a pair the next token.
    ///
    /// # Errors
    /// [`TrainError::TooLarge`] if there are too many tokens.
    pub(super) fn push(&mut self, pair: Pair) -> Result<Merge, TrainError> {
        let token = TokenId::try_from(self.lengths.len()).ok();
        let token = token.filter(|&token| token < MAX_TOKENS);
        let token = token.ok_or(TrainError::TooLarge)?;
        let lengths = self.lengths_of(pair);
        self.ties.push(pair);
        if let Some(restriction) = &mut self.restriction {
            restriction.push(pair);
        }
        self.lengths.push(lengths[0] + lengths[1]);
        Ok(Merge {
            pair,
            lengths,
            token,
        })
    }

    fn lengths_of(&self, pair: Pair) -> [u32; 2] {
        [pair.left, pair.right].map(|part| self.lengths[part as usize])
    }
}
