//! AVX2: a key and all words of a bucket in one register of 32 bytes.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_castsi256_pd,
    _mm256_cmpeq_epi8, _mm256_cmpeq_epi64, _mm256_cvtepu16_epi32, _mm256_loadu_si256,
    _mm256_min_epu8, _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_set_m128i, _mm256_set1_epi32,
    _mm256_setr_epi8, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_srlv_epi32, _mm256_storeu_si256,
};
use std::mem::MaybeUninit;

use super::Registers;
use super::half::{Half, ZERO};
use crate::cache::packed_ids::THREE_LIMIT;
use crate::token::TokenId;
use crate::util::block::Block;
use crate::util::vector::avx2::Avx2;

// SAFETY: a machine with AVX2 has SSSE3 and SSE4.1.
unsafe impl Registers for Avx2 {
    type Key = __m256i;

    #[inline(always)]
    fn has_nul(self, block: &Block) -> bool {
        let (halves, _) = block.as_chunks::<32>();
        // SAFETY: `self` proves that the machine has AVX2; each load reads an array of 32 bytes.
        unsafe {
            let low = _mm256_loadu_si256(halves[0].as_ptr().cast());
            let high = _mm256_loadu_si256(halves[1].as_ptr().cast());
            let nul = _mm256_cmpeq_epi8(_mm256_min_epu8(low, high), _mm256_setzero_si256());
            _mm256_movemask_epi8(nul) != 0
        }
    }

    #[inline(always)]
    fn key(self, [first, second]: [Half<Self>; 2]) -> Self::Key {
        // SAFETY: `self` proves that the machine has AVX2.
        unsafe { _mm256_set_m128i(second.1, first.1) }
    }

    #[inline(always)]
    fn equal_words(self, words: &[u64; 4], key: Self::Key) -> usize {
        // SAFETY: `self` proves that the machine has AVX2; the load reads the 32 bytes of the words.
        let equal = unsafe {
            let words = _mm256_loadu_si256(words.as_ptr().cast());
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(words, key)))
        };
        equal.cast_unsigned() as usize
    }

    #[inline(always)]
    fn store_ids<const FOUR: bool>(self, packed: Half<Self>, room: &mut [MaybeUninit<TokenId>; 8]) {
        const Z: i8 = ZERO.cast_signed();
        // SAFETY: `self` proves that the machine has AVX2; the store writes the 32 bytes of the room.
        unsafe {
            let ids = if FOUR {
                _mm256_add_epi32(_mm256_cvtepu16_epi32(packed.1), _mm256_set1_epi32(-1))
            } else {
                // The bits of an id begin in the first of its three bytes, or four bits later.
                let bytes = _mm256_setr_epi8(
                    0, 1, 2, Z, 2, 3, 4, Z, 5, 6, 7, Z, 8, 9, 10, Z, //
                    10, 11, 12, Z, 13, 14, 15, Z, Z, Z, Z, Z, Z, Z, Z, Z,
                );
                let ids = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(packed.1), bytes);
                let ids = _mm256_srlv_epi32(ids, _mm256_setr_epi32(0, 4, 0, 0, 4, 0, 0, 0));
                _mm256_and_si256(ids, _mm256_set1_epi32((THREE_LIMIT - 1).cast_signed()))
            };
            _mm256_storeu_si256(room.as_mut_ptr().cast(), ids);
        }
    }
}
