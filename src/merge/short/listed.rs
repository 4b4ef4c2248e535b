//! Short pieces, by a list of merges.

use super::{HIGHEST_RANK, ShortMerges, Symbols};
use crate::token::TokenId;
use crate::vocabulary::listed::{Alphabet, ListedMerges};
use crate::vocabulary::pair_table::PairTable;

impl ShortMerges for ListedMerges {
    #[inline]
    fn fits(&self) -> bool {
        self.ranks() <= HIGHEST_RANK as usize
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
        if let Alphabet::Bytes(tokens) = self.alphabet() {
            let byte_token = |byte| tokens[usize::from(byte)];
            match self.byte_pairs() {
                Some(byte_pairs) => {
                    symbols.put_bytes(self, byte_token, byte_pairs, piece, look_up);
                }
                None => {
                    for &byte in piece {
                        symbols.push(byte_token(byte), look_up);
                    }
                }
            }
            return;
        }
        while !piece.is_empty() {
            let (symbol, length) = self.first(piece);
            symbols.push(symbol, look_up);
            piece = &piece[length..];
        }
    }

    #[inline(always)]
    fn rank(&self, rank: TokenId) -> TokenId {
        rank
    }

    #[inline(always)]
    fn likely(&self, rank: TokenId) -> TokenId {
        self.made(rank)
    }

    #[inline(always)]
    fn made(&self, rank: TokenId, _: impl FnOnce() -> TokenId) -> TokenId {
        self.made(rank)
    }
}
