//! The policy: which pairs may be merged, and in which order.

use std::collections::HashSet;

use super::batch::Merge;
use super::initial::InitialState;
use super::partition::MAX_TOKENS;
use super::tie_break::TieBreaker;
use crate::error::TrainError;
use crate::token::{Pair, TokenId};
use crate::util::hash::SeededState;

/// The tokens so far, and what decides about the next.
#[derive(Debug)]
pub(super) struct MergePolicy {
    pub(super) ties: TieBreaker,
    /// Length of each token in bytes.
    pub(super) lengths: Vec<u32>,
    /// Pairs that occur less often are not indexed.
    pub(super) min_count: u64,
    /// Most bytes in a token.
    max_token_len: u32,
    /// The bytes of initial tokens that no merge may make again, because merging these bytes makes other
    /// tokens.
    reserved: HashSet<Vec<u8>, SeededState>,
}

impl MergePolicy {
    /// The policy for an initial state, with tokens of at most `max_token_len` bytes.
    pub(super) fn new(initial: InitialState, max_token_len: Option<usize>) -> Self {
        let max_token_len = u32::try_from(max_token_len.unwrap_or(usize::MAX));
        Self {
            ties: initial.ties,
            lengths: initial.lengths,
            min_count: 0,
            max_token_len: max_token_len.unwrap_or(u32::MAX),
            reserved: initial.reserved,
        }
    }

    /// Whether a pair with this count may be merged.
    pub(super) fn allows(&self, pair: Pair, count: u64) -> bool {
        let lengths = self.lengths_of(pair);
        let bytes = || [self.ties.bytes(pair.left), self.ties.bytes(pair.right)].concat();
        count >= self.min_count
            && lengths[0].saturating_add(lengths[1]) <= self.max_token_len
            && (self.reserved.is_empty() || !self.reserved.contains(&bytes()))
    }

    /// Whether a [batch](super::batch) may have several merges.
    pub(super) fn allows_batches(&self) -> bool {
        self.reserved.is_empty() && self.ties.orders_new_pairs_last()
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
