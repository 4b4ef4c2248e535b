//! Short pieces of characters.

use super::{HIGHEST_RANK, ShortMerges, Symbols};
use crate::token::TokenId;
use crate::vocabulary::characters::CharacterMerges;
use crate::vocabulary::pair_table::PairTable;

impl ShortMerges for CharacterMerges {
    #[inline]
    fn fits(&self) -> bool {
        self.ranks() <= HIGHEST_RANK
    }

    #[inline]
    fn pairs(&self) -> &PairTable {
        self.pairs()
    }

    #[inline(always)]
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        mut piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) {
        while !piece.is_empty() {
            let (symbol, length) = self.first(piece);
            symbols.push(symbol, |left, right| self.rank(look_up(left, right)));
            piece = &piece[length..];
        }
    }

    #[inline(always)]
    fn rank(&self, made: TokenId) -> TokenId {
        self.rank(made)
    }

    #[inline(always)]
    fn made(&self, rank: TokenId, look_up: impl FnOnce() -> TokenId) -> TokenId {
        self.made(rank, look_up)
    }
}
