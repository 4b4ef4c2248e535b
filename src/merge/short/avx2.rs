//! Short merges compiled for AVX2, which finds the lowest of eight pairs at once: the only `unsafe` of
//! merging.
#![allow(unsafe_code)]

use super::ShortMerges;
use crate::token::TokenId;
use crate::util::vector::avx2::Avx2;
use crate::vocabulary::pair_table::avx2::get;

/// As [`merge_with_any_tier`](super::merge_with_any_tier).
#[inline]
pub(super) fn merge(_: Avx2, merges: &impl ShortMerges, piece: &[u8], ids: &mut Vec<TokenId>) {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(merges: &impl ShortMerges, piece: &[u8], ids: &mut Vec<TokenId>) {
        let pairs = merges.pairs();
        super::merge_with_any_tier(merges, piece, ids, |left, right| get(pairs, left, right));
    }
    // SAFETY: the first argument proves that the machine has what the function is compiled for.
    unsafe { compiled(merges, piece, ids) }
}
