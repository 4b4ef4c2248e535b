//! Merges of characters for the [queue](super::queue) engine.

use super::queue::{LongMerges, Start};
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::characters::CharacterMerges;

impl LongMerges for CharacterMerges {
    #[inline]
    fn start(&self, rest: &[u8]) -> Start {
        let (id, length) = self.first(rest);
        let rank = match &rest[length..] {
            [] => NO_TOKEN,
            after => LongMerges::rank(self, id, self.first(after).0),
        };
        Start { id, length, rank }
    }

    #[inline]
    fn rank(&self, left: TokenId, right: TokenId) -> TokenId {
        self.rank(self.pairs().get(left, right))
    }

    #[inline]
    fn made(&self, rank: TokenId, left: TokenId, right: TokenId) -> TokenId {
        self.made(rank, || self.pairs().get(left, right))
    }

    #[inline]
    fn prefetch(&self, left: TokenId, right: TokenId) {
        self.pairs().prefetch(left, right);
    }

    fn boundary(&self, bytes: &[u8], end: usize) -> usize {
        character_boundary(bytes, end)
    }
}

/// Returns the last offset in `bytes` at which a character ends, no later than `end`.
pub(super) fn character_boundary(bytes: &[u8], end: usize) -> usize {
    let is_inside = |offset: &usize| bytes.get(*offset).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character of four bytes has three of these; where there are more, they are no character.
    (end.saturating_sub(3).max(1)..=end)
        .rev()
        .find(|offset| !is_inside(offset))
        .unwrap_or(end)
}
