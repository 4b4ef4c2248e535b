//! WebAssembly: a key, and the words of a bucket, in two registers of 16 bytes.

use std::arch::wasm32::{
    i32x4_shuffle, u8x16, u8x16_all_true, u8x16_min, u8x16_swizzle, u32x4_extend_high_u16x8,
    u32x4_extend_low_u16x8, u32x4_shr, u32x4_splat, u32x4_sub, u64x2_bitmask, u64x2_eq, v128,
    v128_and, v128_load, v128_store,
};
use std::mem::MaybeUninit;

use super::Registers;
use super::half::{Half, ZERO};
use crate::cache::bucket::ALL_WORDS;
use crate::cache::packed_ids::THREE_LIMIT;
use crate::token::TokenId;
use crate::util::block::Block;
use crate::util::vector::Simd128;

// SAFETY: a value of `Simd128` proves that this is WebAssembly with SIMD.
unsafe impl Registers for Simd128 {
    type Key = [v128; 2];

    #[inline(always)]
    fn has_nul(self, block: &Block) -> bool {
        let (quarters, _) = block.as_chunks::<16>();
        // SAFETY: each load reads an array of 16 bytes.
        let [a, b, c, d] = unsafe {
            [
                v128_load(quarters[0].as_ptr().cast()),
                v128_load(quarters[1].as_ptr().cast()),
                v128_load(quarters[2].as_ptr().cast()),
                v128_load(quarters[3].as_ptr().cast()),
            ]
        };
        !u8x16_all_true(u8x16_min(u8x16_min(a, b), u8x16_min(c, d)))
    }

    #[inline(always)]
    fn key(self, [first, second]: [Half<Self>; 2]) -> Self::Key {
        [first.1, second.1]
    }

    #[inline(always)]
    fn equal_words(self, words: &[u64; 4], [first, second]: Self::Key) -> usize {
        let words: *const v128 = words.as_ptr().cast();
        // SAFETY: each load reads 16 of the 32 bytes of the words.
        let (low, high) = unsafe { (v128_load(words), v128_load(words.add(1))) };
        let low = u64x2_bitmask(u64x2_eq(low, first));
        let high = u64x2_bitmask(u64x2_eq(high, second));
        usize::from(low | high << 2) & ALL_WORDS
    }

    #[inline(always)]
    fn store_ids<const FOUR: bool>(self, packed: Half<Self>, room: &mut [MaybeUninit<TokenId>; 8]) {
        const Z: u8 = ZERO;
        let (low, high) = if FOUR {
            let one = u32x4_splat(1);
            let low = u32x4_extend_low_u16x8(packed.1);
            let high = u32x4_extend_high_u16x8(packed.1);
            (u32x4_sub(low, one), u32x4_sub(high, one))
        } else {
            // The bits of an id begin in the first of its three bytes, or four bits later.
            let low = u8x16(0, 1, 2, Z, 2, 3, 4, Z, 5, 6, 7, Z, 8, 9, 10, Z);
            let high = u8x16(10, 11, 12, Z, 13, 14, 15, Z, Z, Z, Z, Z, Z, Z, Z, Z);
            let low = u8x16_swizzle(packed.1, low);
            let high = u8x16_swizzle(packed.1, high);
            let low = i32x4_shuffle::<0, 5, 2, 3>(low, u32x4_shr(low, 4));
            let high = i32x4_shuffle::<4, 1, 2, 3>(high, u32x4_shr(high, 4));
            let mask = u32x4_splat(THREE_LIMIT - 1);
            (v128_and(low, mask), v128_and(high, mask))
        };
        let room: *mut v128 = room.as_mut_ptr().cast();
        // SAFETY: each store writes 16 of the 32 bytes of the room.
        unsafe {
            v128_store(room, low);
            v128_store(room.add(1), high);
        }
    }
}
