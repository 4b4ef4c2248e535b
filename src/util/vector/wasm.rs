//! WebAssembly: 64 bytes in four registers. A module has SIMD or not: what is compiled with it needs no detection.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "whatever is generic over vectors is compiled into its caller"
)]

use std::arch::wasm32::{
    u8x16_bitmask, u8x16_eq, u8x16_ge, u8x16_lt, u8x16_splat, u8x16_sub, u8x16_swizzle, v128,
    v128_and, v128_load, v128_or,
};

use super::Vector;
use super::simd128::{Simd128, each};
use crate::util::block::BLOCK_LEN;

/// Loads 16 bytes.
#[inline(always)]
fn load(bytes: &[u8; 16]) -> v128 {
    // SAFETY: reads the 16 bytes of the array; they may have any alignment.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

impl Vector for Simd128 {
    type Bytes = [v128; 4];
    /// `0xFF` for true and 0 for false in each byte.
    type Mask = [v128; 4];

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK_LEN]) -> Self::Bytes {
        let (quarters, []) = bytes.as_chunks::<16>() else {
            unreachable!("64 bytes are four quarters")
        };
        each!(|n| load(&quarters[n]))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Self::Bytes {
        [u8x16_splat(byte); 4]
    }

    #[inline(always)]
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        each!(|n| v128_and(a[n], b[n]))
    }

    #[inline(always)]
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        each!(|n| v128_or(a[n], b[n]))
    }

    #[inline(always)]
    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        each!(|n| u8x16_eq(a[n], b[n]))
    }

    #[inline(always)]
    fn at_least(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        each!(|n| u8x16_ge(a[n], b[n]))
    }

    #[inline(always)]
    fn in_range<const FIRST: u8, const COUNT: u8>(self, a: Self::Bytes) -> Self::Mask {
        let (first, count) = (u8x16_splat(FIRST), u8x16_splat(COUNT));
        each!(|n| u8x16_lt(u8x16_sub(a[n], first), count))
    }

    #[inline(always)]
    fn look_up_16(self, table: &[u8; 16], indices: Self::Bytes) -> Self::Bytes {
        let (table, lowest) = (load(table), self.and(indices, self.splat(0xF)));
        each!(|n| u8x16_swizzle(table, lowest[n]))
    }

    #[inline(always)]
    fn look_up_64(self, table: &[u8; 64], indices: Self::Bytes) -> Self::Bytes {
        let [a, b, c, d] = self.load(table);
        let lowest = self.and(indices, self.splat(0x3F));
        // An index that is none of a quarter's, as the difference is 16 or more or wraps around, gives 0.
        let quarter = |indices: v128, start: u8| u8x16_sub(indices, u8x16_splat(start));
        each!(|n| v128_or(
            v128_or(
                u8x16_swizzle(a, lowest[n]),
                u8x16_swizzle(b, quarter(lowest[n], 16))
            ),
            v128_or(
                u8x16_swizzle(c, quarter(lowest[n], 32)),
                u8x16_swizzle(d, quarter(lowest[n], 48))
            )
        ))
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
        let [a, b, c, d] = each!(|n| u64::from(u8x16_bitmask(bytes[n])));
        a | b << 16 | c << 32 | d << 48
    }
}
