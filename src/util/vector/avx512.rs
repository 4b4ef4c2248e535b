//! AVX-512: 64 bytes in one register, masks in one of their own.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask,
    _mm512_cmpge_epu8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512, _mm512_maskz_mov_epi8,
    _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_shuffle_epi8, _mm512_sub_epi8,
};

use super::Vector;
use crate::util::block::BLOCK_LEN;
use crate::util::tier::Tier;

/// Proof that the machine has AVX-512 F, BW, DQ, VL, VBMI and VBMI2 besides AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Returns the proof if the machine has them.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        Tier::Avx512.available().then_some(Self(()))
    }
}

/// Applies an intrinsic.
macro_rules! proved {
    ($value:expr) => {
        // SAFETY: a value of `Avx512` proves that the machine has the instruction; pointers are those of arrays as long
        // as the instruction reads.
        unsafe { $value }
    };
}

impl Vector for Avx512 {
    type Bytes = __m512i;
    type Mask = u64;

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK_LEN]) -> Self::Bytes {
        proved!(_mm512_loadu_si512(bytes.as_ptr().cast()))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Self::Bytes {
        proved!(_mm512_set1_epi8(byte.cast_signed()))
    }

    #[inline(always)]
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        proved!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        proved!(_mm512_or_si512(a, b))
    }

    #[inline(always)]
    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        proved!(_mm512_cmpeq_epi8_mask(a, b))
    }

    #[inline(always)]
    fn at_least(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        proved!(_mm512_cmpge_epu8_mask(a, b))
    }

    #[inline(always)]
    fn in_range<const FIRST: u8, const COUNT: u8>(self, a: Self::Bytes) -> Self::Mask {
        let shifted = proved!(_mm512_sub_epi8(a, self.splat(FIRST)));
        proved!(_mm512_cmplt_epu8_mask(shifted, self.splat(COUNT)))
    }

    #[inline(always)]
    fn look_up_16(self, table: &[u8; 16], indices: Self::Bytes) -> Self::Bytes {
        proved!({
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            _mm512_shuffle_epi8(table, indices)
        })
    }

    #[inline(always)]
    fn look_up_64(self, table: &[u8; 64], indices: Self::Bytes) -> Self::Bytes {
        // Of each index, the instruction reads the lowest six bits.
        proved!(_mm512_permutexvar_epi8(indices, self.load(table)))
    }

    #[inline(always)]
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a & b
    }

    #[inline(always)]
    fn either(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a | b
    }

    #[inline(always)]
    fn keep(self, mask: Self::Mask, bytes: Self::Bytes) -> Self::Bytes {
        proved!(_mm512_maskz_mov_epi8(mask, bytes))
    }

    #[inline(always)]
    fn bits(self, mask: Self::Mask) -> u64 {
        mask
    }

    #[inline(always)]
    fn highest_bits(self, bytes: Self::Bytes) -> u64 {
        proved!(_mm512_movepi8_mask(bytes))
    }
}
