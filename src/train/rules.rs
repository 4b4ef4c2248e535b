//! What decides about pairs: which of them may be merged, and which comes first.

use std::collections::HashSet;

use super::part::MOST_TOKENS;
use super::replace::Merge;
use super::start::Start;
use super::ties::Ties;
use crate::error::TrainError;
use crate::token::{Pair, TokenId};

/// All tokens so far, and the rules for the next.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) ties: Ties,
    /// The bytes of each token.
    pub(super) lengths: Vec<u32>,
    /// Rarer pairs are not looked for.
    pub(super) least: u64,
    /// The most bytes in a token.
    longest: u32,
    /// Initial tokens that no merge may make again, because their own bytes do not become them.
    taken: HashSet<Vec<u8>>,
}

impl Rules {
    /// Those for a start, with tokens of so many bytes at most.
    pub(super) fn new(start: Start, longest: Option<usize>) -> Self {
        let longest = u32::try_from(longest.unwrap_or(usize::MAX));
        Self {
            ties: start.ties,
            lengths: start.lengths,
            least: 0,
            longest: longest.unwrap_or(u32::MAX),
            taken: start.taken,
        }
    }

    /// Whether a pair that occurs so often may be merged.
    pub(super) fn may_merge(&self, pair: Pair, count: u64) -> bool {
        let lengths = self.lengths_of(pair);
        let bytes = || [self.ties.bytes(pair.left), self.ties.bytes(pair.right)].concat();
        count >= self.least
            && lengths[0].saturating_add(lengths[1]) <= self.longest
            && (self.taken.is_empty() || !self.taken.contains(&bytes()))
    }

    /// Whether a [round](super::round) may have several merges.
    pub(super) fn allow_rounds(&self) -> bool {
        self.taken.is_empty() && self.ties.let_new_pairs_wait()
    }

    /// Makes a pair the next token.
    pub(super) fn push(&mut self, pair: Pair) -> Result<Merge, TrainError> {
        let token = TokenId::try_from(self.lengths.len()).ok();
        let token = token.filter(|&token| token < MOST_TOKENS);
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
