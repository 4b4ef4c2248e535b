//! SSE4.1: a key, and the words of a bucket, in two registers of 16 bytes.

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_blend_epi16, _mm_castsi128_ps, _mm_cmpeq_epi8,
    _mm_cmpeq_epi64, _mm_cvtepu16_epi32, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8,
    _mm_movemask_ps, _mm_packs_epi32, _mm_set1_epi32, _mm_setr_epi8, _mm_setzero_si128,
    _mm_shuffle_epi8, _mm_srli_epi32, _mm_srli_si128, _mm_storeu_si128,
};
use std::mem::MaybeUninit;

use super::Registers;
use super::half::{Half, ZERO};
use crate::cache::packed_ids::THREE_LIMIT;
use crate::token::TokenId;
use crate::util::block::Block;
use crate::util::vector::Simd128;

// SAFETY: a value of `Simd128` proves that the machine has SSSE3 and SSE4.1.
unsafe impl Registers for Simd128 {
    type Key = [__m128i; 2];

    #[inline(always)]
    fn has_nul(self, block: &Block) -> bool {
        let (quarters, _) = block.as_chunks::<16>();
        // SAFETY: `self` proves that the machine has SSE4.1; each load reads an array of 16 bytes.
        unsafe {
            let a = _mm_loadu_si128(quarters[0].as_ptr().cast());
            let b = _mm_loadu_si128(quarters[1].as_ptr().cast());
            let c = _mm_loadu_si128(quarters[2].as_ptr().cast());
            let d = _mm_loadu_si128(quarters[3].as_ptr().cast());
            let least = _mm_min_epu8(_mm_min_epu8(a, b), _mm_min_epu8(c, d));
            _mm_movemask_epi8(_mm_cmpeq_epi8(least, _mm_setzero_si128())) != 0
        }
    }

    #[inline(always)]
    fn key(self, [first, second]: [Half<Self>; 2]) -> Self::Key {
        [first.1, second.1]
    }

    #[inline(always)]
    fn equal_words(self, words: &[u64; 4], [first, second]: Self::Key) -> usize {
        // SAFETY: `self` proves that the machine has SSE4.1; each load reads 16 of the 32 bytes of the words.
        let equal = unsafe {
            let words: *const __m128i = words.as_ptr().cast();
            let low = _mm_cmpeq_epi64(_mm_loadu_si128(words), first);
            let high = _mm_cmpeq_epi64(_mm_loadu_si128(words.add(1)), second);
            // A word is 32 bits now, all alike.
            _mm_movemask_ps(_mm_castsi128_ps(_mm_packs_epi32(low, high)))
        };
        equal.cast_unsigned() as usize
    }

    #[inline(always)]
    fn store_ids<const FOUR: bool>(self, packed: Half<Self>, room: &mut [MaybeUninit<TokenId>; 8]) {
        const Z: i8 = ZERO.cast_signed();
        // SAFETY: `self` proves that the machine has SSE4.1; each store writes 16 of the 32 bytes of the room.
        unsafe {
            let (low, high) = if FOUR {
                let one = _mm_set1_epi32(-1);
                let high = _mm_cvtepu16_epi32(_mm_srli_si128::<8>(packed.1));
                let low = _mm_cvtepu16_epi32(packed.1);
                (_mm_add_epi32(low, one), _mm_add_epi32(high, one))
            } else {
                // The bits of an id begin in the first of its three bytes, or four bits later. A product of each number
                // with 1 or 16, in place of blending, is compiled to more instructions.
                let low = _mm_setr_epi8(0, 1, 2, Z, 2, 3, 4, Z, 5, 6, 7, Z, 8, 9, 10, Z);
                let high = _mm_setr_epi8(10, 11, 12, Z, 13, 14, 15, Z, Z, Z, Z, Z, Z, Z, Z, Z);
                let low = _mm_shuffle_epi8(packed.1, low);
                let high = _mm_shuffle_epi8(packed.1, high);
                let low = _mm_blend_epi16::<0b0000_1100>(low, _mm_srli_epi32::<4>(low));
                let high = _mm_blend_epi16::<0b0000_0011>(high, _mm_srli_epi32::<4>(high));
                let mask = _mm_set1_epi32((THREE_LIMIT - 1).cast_signed());
                (_mm_and_si128(low, mask), _mm_and_si128(high, mask))
            };
            let room: *mut __m128i = room.as_mut_ptr().cast();
            _mm_storeu_si128(room, low);
            _mm_storeu_si128(room.add(1), high);
        }
    }
}
