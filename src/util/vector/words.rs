//! Four numbers of 32 bits, in a register of SSE4.1 or NEON.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{
    uint32x4_t as Register, vaddq_u32 as add, vaddvq_u32, vandq_u32 as and, vceqq_u32 as equal,
    vdupq_n_u32, veorq_u32 as xor, vld1q_u8, vld1q_u32 as load, vmaxq_u32 as max, vminq_u32 as min,
    vorrq_u32 as or, vqtbl1q_u8, vreinterpretq_u8_u32, vshlq_n_u32 as shift_left,
    vshrq_n_u32 as shift_right, vst1q_u8,
};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i as Register, _mm_add_epi32 as add, _mm_and_si128 as and, _mm_cmpeq_epi32 as equal,
    _mm_cvtsi128_si32, _mm_loadu_si128, _mm_max_epu32 as max, _mm_min_epu32 as min,
    _mm_or_si128 as or, _mm_set1_epi32, _mm_shuffle_epi8, _mm_shuffle_epi32,
    _mm_slli_epi32 as shift_left, _mm_srli_epi32 as shift_right, _mm_storeu_si128,
    _mm_xor_si128 as xor,
};

use super::Simd128;

/// Four numbers, and the proof that the machine has the instructions.
#[derive(Clone, Copy)]
pub(crate) struct Words(Simd128, Register);

/// Applies an intrinsic.
macro_rules! proved {
    ($proof:expr, $value:expr) => {
        // SAFETY: a value of `Simd128` proves that the machine has the instructions; pointers are those of 16 bytes.
        Words($proof, unsafe { $value })
    };
}

impl Words {
    /// Loads four numbers.
    #[inline(always)]
    pub(crate) fn load(simd128: Simd128, numbers: [u32; 4]) -> Self {
        #[cfg(target_arch = "x86_64")]
        return proved!(simd128, _mm_loadu_si128(numbers.as_ptr().cast()));
        #[cfg(target_arch = "aarch64")]
        return proved!(simd128, load(numbers.as_ptr()));
    }

    /// Returns the same number four times.
    #[inline(always)]
    pub(crate) fn splat(simd128: Simd128, number: u32) -> Self {
        #[cfg(target_arch = "x86_64")]
        return proved!(simd128, _mm_set1_epi32(number.cast_signed()));
        #[cfg(target_arch = "aarch64")]
        return proved!(simd128, vdupq_n_u32(number));
    }

    /// Returns `self & other`.
    #[inline(always)]
    pub(crate) fn and(self, other: Self) -> Self {
        proved!(self.0, and(self.1, other.1))
    }

    /// Returns `self | other`.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        proved!(self.0, or(self.1, other.1))
    }

    /// Returns `self ^ other`.
    #[inline(always)]
    pub(crate) fn xor(self, other: Self) -> Self {
        proved!(self.0, xor(self.1, other.1))
    }

    /// Returns `self + other`, wrapping around.
    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        proved!(self.0, add(self.1, other.1))
    }

    /// Returns the lesser number of each two.
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        proved!(self.0, min(self.1, other.1))
    }

    /// Returns all bits where `self >= other`, and 0 elsewhere.
    #[inline(always)]
    pub(crate) fn at_least(self, other: Self) -> Self {
        proved!(self.0, equal(max(self.1, other.1), self.1))
    }

    /// Returns `self << BITS`.
    #[inline(always)]
    pub(crate) fn shift_left<const BITS: i32>(self) -> Self {
        proved!(self.0, shift_left::<BITS>(self.1))
    }

    /// Returns `self >> BITS`.
    #[inline(always)]
    pub(crate) fn shift_right<const BITS: i32>(self) -> Self {
        proved!(self.0, shift_right::<BITS>(self.1))
    }

    /// Returns the sum of the four numbers.
    #[inline(always)]
    pub(crate) fn sum(self) -> u32 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a value of `Simd128` proves that the machine has the instructions.
        return unsafe {
            let pairs = add(self.1, _mm_shuffle_epi32::<0b_00_00_11_10>(self.1));
            let all = add(pairs, _mm_shuffle_epi32::<0b_00_00_00_01>(pairs));
            _mm_cvtsi128_si32(all).cast_unsigned()
        };
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        return unsafe { vaddvq_u32(self.1) };
    }

    /// Returns the bytes of the numbers at `indices`, and 0 for an index of 128.
    #[inline(always)]
    pub(crate) fn bytes_at(self, indices: &[u8; 16]) -> [u8; 16] {
        let mut bytes = [0; 16];
        // SAFETY: a value of `Simd128` proves that the machine has the instructions; the pointers are those of 16 bytes.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            let indices = _mm_loadu_si128(indices.as_ptr().cast());
            _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm_shuffle_epi8(self.1, indices));
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            let indices = vld1q_u8(indices.as_ptr());
            vst1q_u8(
                bytes.as_mut_ptr(),
                vqtbl1q_u8(vreinterpretq_u8_u32(self.1), indices),
            );
        }
        bytes
    }
}
