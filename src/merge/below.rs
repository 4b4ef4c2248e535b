//! The merges with a rank below a limit, for both engines.

use super::queue::{self, LongMerges, Start};
use super::short::{self, ShortMerges, Symbols};
use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::byte_merges::ByteMerges;
use crate::vocabulary::pair_table::PairTable;

/// The merges with a rank below a limit.
pub(super) struct Below<'a> {
    pub(super) merges: &'a ByteMerges,
    pub(super) limit: TokenId,
}

impl Below<'_> {
    #[inline]
    fn limited(&self, rank: TokenId) -> TokenId {
        if rank < self.limit { rank } else { NO_TOKEN }
    }
}

impl LongMerges for Below<'_> {
    fn start(&self, rest: &[u8]) -> Start {
        let start = LongMerges::start(self.merges, rest);
        Start {
            rank: self.limited(start.rank),
            ..start
        }
    }

    fn rank(&self, left: TokenId, right: TokenId) -> TokenId {
        self.limited(LongMerges::rank(self.merges, left, right))
    }

    fn made(&self, rank: TokenId, left: TokenId, right: TokenId) -> TokenId {
        LongMerges::made(self.merges, rank, left, right)
    }

    fn prefetch(&self, left: TokenId, right: TokenId) {
        LongMerges::prefetch(self.merges, left, right);
    }

    fn boundary(&self, bytes: &[u8], end: usize) -> usize {
        LongMerges::boundary(self.merges, bytes, end)
    }
}

impl ShortMerges for Below<'_> {
    #[inline]
    fn fits(&self) -> bool {
        ShortMerges::fits(self.merges)
    }

    #[inline]
    fn pairs(&self) -> &PairTable {
        self.merges.pairs()
    }

    /// Without forced merges, whose ranks may be above the limit.
    #[inline]
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) {
        for &byte in piece {
            let rank = |left, right| self.limited(look_up(left, right));
            symbols.push(self.merges.byte_token(byte), rank);
        }
    }

    #[inline]
    fn rank(&self, made: TokenId) -> TokenId {
        self.limited(made)
    }

    #[inline]
    fn made(&self, rank: TokenId, _: impl FnOnce() -> TokenId) -> TokenId {
        rank
    }
}

/// Appends the ids of `piece` to `ids`.
///
/// # Errors
/// As [`queue::merge`].
pub(super) fn merge(
    merges: &Below<'_>,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    if short::merge(merges, piece, ids) {
        return Ok(());
    }
    queue::merge(merges, piece, ids, checkpoint)
}
