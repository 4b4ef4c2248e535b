//! The scan compiled for AVX2, which finds the best pair eight at a time: the only `unsafe` of merging.
#![allow(unsafe_code)]

use super::short;
use crate::token::TokenId;
use crate::util::tier::Tier;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::pair_table::avx2::get;

/// As [`short::merge_with_any_tier`]; false, and nothing done, on a machine without AVX2.
#[inline]
pub(super) fn merge(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) {
        let pairs = vocabulary.pairs();
        short::merge_with_any_tier(vocabulary, piece, ids, |left, right| {
            get(pairs, left, right)
        });
    }
    let available = Tier::Avx2.available();
    if available {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { compiled(vocabulary, piece, ids) }
    }
    available
}
