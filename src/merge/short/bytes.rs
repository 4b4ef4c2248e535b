//! Short pieces of bytes: forced merges are made at once.

use super::{HIGHEST_RANK, ShortMerges, Symbols};
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::byte_merges::ByteMerges;
use crate::vocabulary::byte_pairs::{BytePair, BytePairTable};
use crate::vocabulary::pair_table::PairTable;

impl ShortMerges for ByteMerges {
    #[inline]
    fn fits(&self) -> bool {
        self.highest() <= HIGHEST_RANK
    }

    #[inline]
    fn pairs(&self) -> &PairTable {
        self.pairs()
    }

    #[inline(always)]
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) {
        match self.byte_pairs() {
            Some(byte_pairs) => {
                let byte_token = |byte| self.byte_token(byte);
                symbols.put_bytes(self, byte_token, byte_pairs, piece, look_up);
            }
            None => {
                for &byte in piece {
                    symbols.push(self.byte_token(byte), look_up);
                }
            }
        }
    }

    #[inline(always)]
    fn rank(&self, made: TokenId) -> TokenId {
        made
    }

    #[inline(always)]
    fn made(&self, rank: TokenId, _: impl FnOnce() -> TokenId) -> TokenId {
        rank
    }
}

impl<const N: usize> Symbols<N> {
    /// Adds the symbols of `piece` after its forced merges.
    #[inline(always)]
    pub(super) fn put_bytes(
        &mut self,
        merges: &impl ShortMerges,
        byte_token: impl Fn(u8) -> TokenId,
        byte_pairs: &BytePairTable,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId,
    ) {
        let made = |rank| merges.made(rank, || unreachable!("no two pairs of bytes share a rank"));
        let first_two = |bytes: &[u8]| match *bytes {
            [first, second, ..] => byte_pairs.of(first, second),
            _ => BytePair::END,
        };
        let mut before = BytePair::END;
        let mut here = first_two(piece);
        let mut byte_before = false;
        let mut rest = piece;
        while let [first, following @ ..] = rest {
            let rank_after = |left, right| {
                if before.any_merge() {
                    look_up(left, right)
                } else {
                    NO_TOKEN
                }
            };
            if let Some(rank) = byte_pairs.character(before, rest) {
                self.push(made(rank), rank_after);
                let last = &following[1..];
                before = first_two(last);
                rest = &last[1..];
                here = first_two(rest);
                byte_before = false;
                continue;
            }
            let after = first_two(following);
            if here.is_forced(before, after) {
                self.push(made(here.rank()), rank_after);
                before = after;
                rest = &following[1..];
                here = first_two(rest);
                byte_before = false;
            } else {
                let byte = byte_token(*first);
                if byte_before {
                    self.push(byte, |_, _| before.rank());
                } else {
                    self.push(byte, rank_after);
                }
                before = here;
                here = after;
                rest = following;
                byte_before = true;
            }
        }
    }
}
