//! Sixteen bytes in a register of SSE4.1, NEON or WebAssembly: a short key, half of a long one, or the packed ids of two
//! words.

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{
    uint8x16_t as Register, vandq_u8 as and, vceqzq_u16, vget_lane_u64, vgetq_lane_u64, vld1q_u8,
    vmovn_u16, vqtbl1q_u8 as shuffle, vreinterpret_u64_u8, vreinterpretq_u16_u8,
    vreinterpretq_u64_u8, vst1q_u8,
};
#[cfg(target_arch = "wasm32")]
use std::arch::wasm32::{
    u8x16_bitmask, u8x16_swizzle as shuffle, u16x8_eq, u16x8_splat, u64x2_extract_lane,
    v128 as Register, v128_and as and, v128_load, v128_store,
};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i as Register, _mm_and_si128 as and, _mm_cmpeq_epi16, _mm_extract_epi64, _mm_loadu_si128,
    _mm_movemask_epi8, _mm_setzero_si128, _mm_shuffle_epi8 as shuffle, _mm_storeu_si128,
};

use bytemuck::NoUninit;

use super::Registers;

/// Sixteen bytes, and the proof that the machine has the instructions.
#[derive(Clone, Copy)]
pub(in crate::cache) struct Half<R>(R, pub(super) Register);

/// In [`Half::shuffle`]: no byte, but 0.
pub(super) const ZERO: u8 = 0x80;

/// The end of one word that is packed by four, and of two, in bits of which each id has as many as [`Half::count_four`]
/// says. A table, as the loop has no register left to shift in.
const ENDS: [u64; 2] = if cfg!(target_arch = "aarch64") {
    [1 << 32, 0]
} else {
    [1 << 8, 1 << 16]
};

impl<R: Registers> Half<R> {
    /// Loads numbers of 16 bytes together.
    #[inline(always)]
    pub(super) fn of<T: NoUninit, const N: usize>(proof: R, numbers: &[T; N]) -> Self {
        const { assert!(size_of::<[T; N]>() == 16) }
        // SAFETY: reads the 16 bytes of the array.
        unsafe { Self::load(proof, numbers.as_ptr().cast()) }
    }

    /// Loads 16 bytes of any alignment.
    ///
    /// # Safety
    /// `from` must be valid for reading 16 bytes.
    #[inline(always)]
    pub(super) unsafe fn load(proof: R, from: *const u8) -> Self {
        // SAFETY: the caller guarantees that 16 bytes can be read.
        #[cfg(target_arch = "x86_64")]
        return Self(proof, unsafe { _mm_loadu_si128(from.cast()) });
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        return Self(proof, unsafe { vld1q_u8(from) });
        // SAFETY: as above.
        #[cfg(target_arch = "wasm32")]
        return Self(proof, unsafe { v128_load(from.cast()) });
    }

    /// Stores the bytes.
    #[inline(always)]
    pub(super) fn store(self, to: &mut [u64; 2]) {
        // SAFETY: writes the 16 bytes of both words.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            _mm_storeu_si128(to.as_mut_ptr().cast(), self.1);
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            vst1q_u8(to.as_mut_ptr().cast(), self.1);
        }
        // SAFETY: as above.
        #[cfg(target_arch = "wasm32")]
        unsafe {
            v128_store(to.as_mut_ptr().cast(), self.1);
        }
    }

    /// Returns the bytes at `indices`, and 0 for [`ZERO`].
    #[inline(always)]
    pub(super) fn shuffle(self, indices: Self) -> Self {
        // SAFETY: `R` proves that the machine has the instruction.
        Self(self.0, unsafe { shuffle(self.1, indices.1) })
    }

    /// Returns `self & other`.
    #[inline(always)]
    pub(super) fn and(self, other: Self) -> Self {
        // SAFETY: `R` proves that the machine has the instruction.
        Self(self.0, unsafe { and(self.1, other.1) })
    }

    /// Returns both words.
    #[inline(always)]
    pub(super) fn words(self) -> [u64; 2] {
        // SAFETY: `R` proves that the machine has the instructions.
        #[cfg(target_arch = "x86_64")]
        return unsafe {
            [
                _mm_extract_epi64::<0>(self.1).cast_unsigned(),
                _mm_extract_epi64::<1>(self.1).cast_unsigned(),
            ]
        };
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        return unsafe {
            let words = vreinterpretq_u64_u8(self.1);
            [vgetq_lane_u64::<0>(words), vgetq_lane_u64::<1>(words)]
        };
        #[cfg(target_arch = "wasm32")]
        return [
            u64x2_extract_lane::<0>(self.1),
            u64x2_extract_lane::<1>(self.1),
        ];
    }

    /// Returns the number of ids that are packed by four: of both words if `two` is 1, of the first if it is 0.
    #[inline(always)]
    pub(super) fn count_four(self, two: usize) -> usize {
        // SAFETY: `R` proves that the machine has the instructions.
        #[cfg(target_arch = "x86_64")]
        let (none, bits) = unsafe {
            let none = _mm_cmpeq_epi16(self.1, _mm_setzero_si128());
            (u64::from(_mm_movemask_epi8(none).cast_unsigned()), 2)
        };
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        let (none, bits) = unsafe {
            let none = vmovn_u16(vceqzq_u16(vreinterpretq_u16_u8(self.1)));
            (vget_lane_u64::<0>(vreinterpret_u64_u8(none)), 8)
        };
        #[cfg(target_arch = "wasm32")]
        let (none, bits) = {
            let none = u16x8_eq(self.1, u16x8_splat(0));
            (u64::from(u8x16_bitmask(none)), 2)
        };
        (none | ENDS[two & 1]).trailing_zeros() as usize / bits
    }
}
