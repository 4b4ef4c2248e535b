//! SSE4.1: 64 bytes in four registers.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

use std::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_blendv_epi8, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_loadu_si128,
    _mm_max_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_shuffle_epi8, _mm_slli_epi16,
    _mm_sub_epi8,
};

use super::Vector;
use super::simd128::{Simd128, each};
use crate::util::block::BLOCK_LEN;

impl Vector for Simd128 {
    type Bytes = [__m128i; 4];
    /// `0xFF` for true and 0 for false in each byte.
    type Mask = [__m128i; 4];

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK_LEN]) -> Self::Bytes {
        let (quarters, []) = bytes.as_chunks::<16>() else {
            unreachable!("64 bytes are four quarters")
        };
        // The pointers are those of 16 bytes each.
        each!(|n| _mm_loadu_si128(quarters[n].as_ptr().cast()))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Self::Bytes {
        // SAFETY: a value of `Simd128` proves that the machine has the instructions.
        [unsafe { _mm_set1_epi8(byte.cast_signed()) }; 4]
    }

    #[inline(always)]
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        each!(|n| _mm_and_si128(a[n], b[n]))
    }

    #[inline(always)]
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        each!(|n| _mm_or_si128(a[n], b[n]))
    }

    #[inline(always)]
    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        each!(|n| _mm_cmpeq_epi8(a[n], b[n]))
    }

    #[inline(always)]
    fn at_least(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        each!(|n| _mm_cmpeq_epi8(_mm_max_epu8(a[n], b[n]), a[n]))
    }

    #[inline(always)]
    fn in_range<const FIRST: u8, const COUNT: u8>(self, a: Self::Bytes) -> Self::Mask {
        // Shifted so that the range starts at the least signed number, one signed comparison decides.
        let shift = self.splat(FIRST.wrapping_sub(0x80));
        let end = self.splat(COUNT.wrapping_add(0x80));
        each!(|n| _mm_cmpgt_epi8(end[n], _mm_sub_epi8(a[n], shift[n])))
    }

    #[inline(always)]
    fn look_up_16(self, table: &[u8; 16], indices: Self::Bytes) -> Self::Bytes {
        each!(|n| {
            // The 16 bytes are those of the table.
            let table = _mm_loadu_si128(table.as_ptr().cast());
            _mm_shuffle_epi8(table, indices[n])
        })
    }

    #[inline(always)]
    fn look_up_64(self, table: &[u8; 64], indices: Self::Bytes) -> Self::Bytes {
        let (quarters, _) = table.as_chunks::<16>();
        let lowest = self.and(indices, self.splat(0xF));
        let a = self.look_up_16(&quarters[0], lowest);
        let b = self.look_up_16(&quarters[1], lowest);
        let c = self.look_up_16(&quarters[2], lowest);
        let d = self.look_up_16(&quarters[3], lowest);
        // A blend chooses by the top bit of each byte: bits 4 and 5 are shifted there.
        each!(|n| {
            let fourth = _mm_slli_epi16::<3>(indices[n]);
            let low = _mm_blendv_epi8(a[n], b[n], fourth);
            let high = _mm_blendv_epi8(c[n], d[n], fourth);
            _mm_blendv_epi8(low, high, _mm_slli_epi16::<2>(indices[n]))
        })
    }

    #[inline(always)]
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        self.and(a, b)
    }

    #[inline(always)]
    fn either(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        self.or(a, b)
    }

    #[inline(always)]
    fn keep(self, mask: Self::Mask, bytes: Self::Bytes) -> Self::Bytes {
        self.and(mask, bytes)
    }

    #[inline(always)]
    fn bits(self, mask: Self::Mask) -> u64 {
        self.highest_bits(mask)
    }

    #[inline(always)]
    fn highest_bits(self, bytes: Self::Bytes) -> u64 {
        let [a, b, c, d] = each!(|n| u64::from(_mm_movemask_epi8(bytes[n]).cast_unsigned()));
        a | b << 16 | c << 32 | d << 48
    }
}
