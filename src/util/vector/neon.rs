//! NEON: 64 bytes in four registers.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "whatever is generic over vectors is compiled into its caller"
)]

use std::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, vandq_u8, vceqq_u8, vcgeq_u8, vcltq_u8, vcltzq_s8, vdupq_n_u8,
    vgetq_lane_u64, vld1q_u8, vorrq_u8, vpaddq_u8, vqtbl1q_u8, vqtbl4q_u8, vreinterpretq_s8_u8,
    vreinterpretq_u64_u8, vsubq_u8,
};

use super::Vector;
use super::simd128::{Simd128, each};
use crate::util::block::BLOCK_LEN;

/// In each half of a register: one bit for each byte.
const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Vector for Simd128 {
    type Bytes = [uint8x16_t; 4];
    /// `0xFF` for true and 0 for false in each byte.
    type Mask = [uint8x16_t; 4];

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK_LEN]) -> Self::Bytes {
        let (quarters, []) = bytes.as_chunks::<16>() else {
            unreachable!("64 bytes are four quarters")
        };
        // The pointers are those of 16 bytes each.
        each!(|n| vld1q_u8(quarters[n].as_ptr()))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Self::Bytes {
        // SAFETY: a value of `Simd128` proves that the machine has NEON.
        [unsafe { vdupq_n_u8(byte) }; 4]
    }

    #[inline(always)]
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        each!(|n| vandq_u8(a[n], b[n]))
    }

    #[inline(always)]
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        each!(|n| vorrq_u8(a[n], b[n]))
    }

    #[inline(always)]
    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        each!(|n| vceqq_u8(a[n], b[n]))
    }

    #[inline(always)]
    fn at_least(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        each!(|n| vcgeq_u8(a[n], b[n]))
    }

    #[inline(always)]
    fn in_range<const FIRST: u8, const COUNT: u8>(self, a: Self::Bytes) -> Self::Mask {
        let (first, count) = (self.splat(FIRST), self.splat(COUNT));
        each!(|n| vcltq_u8(vsubq_u8(a[n], first[n]), count[n]))
    }

    #[inline(always)]
    fn look_up_16(self, table: &[u8; 16], indices: Self::Bytes) -> Self::Bytes {
        let lowest = self.and(indices, self.splat(0xF));
        // The 16 bytes are those of the table.
        each!(|n| vqtbl1q_u8(vld1q_u8(table.as_ptr()), lowest[n]))
    }

    #[inline(always)]
    fn look_up_64(self, table: &[u8; 64], indices: Self::Bytes) -> Self::Bytes {
        let [a, b, c, d] = self.load(table);
        let table = uint8x16x4_t(a, b, c, d);
        let lowest = self.and(indices, self.splat(0x3F));
        each!(|n| vqtbl4q_u8(table, lowest[n]))
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
        // SAFETY: a value of `Simd128` proves that the machine has NEON, and the 16 bytes are those of the array.
        unsafe {
            let bits = vld1q_u8(BITS.as_ptr());
            let [a, b, c, d] = mask.map(|quarter| vandq_u8(quarter, bits));
            // Each addition of neighbours halves the bytes that a bit of each is spread over, from eight to one.
            let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            let sums = vpaddq_u8(sums, sums);
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(sums))
        }
    }

    #[inline(always)]
    fn highest_bits(self, bytes: Self::Bytes) -> u64 {
        self.bits(each!(|n| vcltzq_s8(vreinterpretq_s8_u8(bytes[n]))))
    }
}
