//! Look-up of a pair compiled for AVX2. The safe twin is [`PairTable::get`].
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi128_si64, _mm_or_si128, _mm_unpackhi_epi64, _mm256_and_si256,
    _mm256_castsi256_si128, _mm256_cmpeq_epi64, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_srli_epi64, _mm256_xor_si256,
};

use super::{Bucket, OVERFLOWN, PairTable, SLOTS, TOKEN_BITS};
use crate::token::TokenId;

/// As [`PairTable::get`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(crate) fn get(table: &PairTable, left: TokenId, right: TokenId) -> TokenId {
    table.get_by(left, right, |bucket, pair| find(bucket, pair))
}

/// As [`Bucket::find`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn find(bucket: &Bucket, pair: u64) -> u64 {
    let (halves, _) = bucket.0.as_chunks::<{ SLOTS / 2 }>();
    let pair = _mm256_set1_epi64x(pair.cast_signed());
    let tokens = _mm256_or_si256(tokens(&halves[0], pair), tokens(&halves[1], pair));
    let tokens: __m128i = _mm_or_si128(
        _mm256_castsi256_si128(tokens),
        _mm256_extracti128_si256::<1>(tokens),
    );
    let token = _mm_or_si128(tokens, _mm_unpackhi_epi64(tokens, tokens));
    _mm_cvtsi128_si64(token).cast_unsigned() & !OVERFLOWN
}

/// Returns the number of the token in the slot that has the pair, 0 in the others.
#[inline]
#[target_feature(enable = "avx2")]
fn tokens(slots: &[u64; SLOTS / 2], pair: __m256i) -> __m256i {
    // SAFETY: reads the 32 bytes of `slots`.
    let slots = unsafe { _mm256_loadu_si256(slots.as_ptr().cast()) };
    let token = _mm256_xor_si256(slots, pair);
    let above = _mm256_srli_epi64::<{ TOKEN_BITS.cast_signed() }>(token);
    _mm256_and_si256(token, _mm256_cmpeq_epi64(above, _mm256_setzero_si256()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::{LARGEST_TOKEN, PART_BITS, PairTable};
    use crate::token::{NO_TOKEN, Pair, TokenId};
    use crate::util::tier::Tier;

    /// Random pairs and tokens, some of which do not fit into slots: every tier agrees with a hash map.
    #[test]
    fn agrees_with_a_map() {
        let mut state = 7_u64;
        let mut random = |below: u32| {
            state = state
                .wrapping_mul(0x5851_F42D_4C95_7F2D)
                .wrapping_add(0x1405_7B7E_F767_814F);
            (state >> 33) as u32 % below
        };
        for merges in [0, 1, 3, 40, 3000, 100_000] {
            let limits = [3, 700, 1 << PART_BITS, u32::MAX];
            let mut part = || {
                let limit = limits[[1, 1, 1, 2, 2, 0, 3][random(7) as usize]];
                random(limit)
            };
            let pairs: Vec<Pair> = (0..merges).map(|_| Pair::new(part(), part())).collect();
            let mut table = PairTable::with_capacity(merges / 3);
            let mut map: HashMap<(TokenId, TokenId), TokenId> = HashMap::new();
            for pair in &pairs {
                let most = [1000, LARGEST_TOKEN, NO_TOKEN][random(3) as usize];
                let token = random(most);
                table.insert(*pair, token);
                let kept = map.entry((pair.left, pair.right)).or_insert(token);
                *kept = token.min(*kept);
            }
            for pair in pairs {
                for (left, right) in [
                    (pair.left, pair.right),
                    (pair.right, pair.left),
                    (0, pair.left),
                ] {
                    let expected = map.get(&(left, right)).copied().unwrap_or(NO_TOKEN);
                    assert_eq!(table.get(left, right), expected, "{left} {right}");
                    if Tier::Avx2.available() {
                        // SAFETY: the machine has what the function is compiled for.
                        let here = unsafe { super::get(&table, left, right) };
                        assert_eq!(here, expected, "{left} {right}");
                    }
                }
            }
        }
    }
}
