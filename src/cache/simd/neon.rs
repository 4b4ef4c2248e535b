//! NEON: a key, and the words of a bucket, in two registers of 16 bytes.

use std::arch::aarch64::{
    uint8x16_t, vaddvq_u32, vandq_u32, vceqq_u64, vdupq_n_u16, vdupq_n_u32, vget_low_u16,
    vld1q_s32, vld1q_u8, vld1q_u32, vld1q_u64, vminq_u8, vminvq_u8, vqtbl1q_u8,
    vreinterpretq_u16_u8, vreinterpretq_u32_u8, vreinterpretq_u32_u64, vreinterpretq_u64_u8,
    vshlq_u32, vst1q_u32, vsubl_high_u16, vsubl_u16, vuzp1q_u32,
};
use std::mem::MaybeUninit;

use super::Registers;
use super::half::{Half, ZERO};
use crate::cache::bucket::ALL_WORDS;
use crate::cache::packed_ids::THREE_LIMIT;
use crate::token::TokenId;
use crate::util::block::Block;
use crate::util::vector::Simd128;

// SAFETY: a value of `Simd128` proves that the machine has NEON.
unsafe impl Registers for Simd128 {
    type Key = [uint8x16_t; 2];

    #[inline(always)]
    fn has_nul(self, block: &Block) -> bool {
        let (quarters, _) = block.as_chunks::<16>();
        // SAFETY: `self` proves that the machine has NEON; each load reads an array of 16 bytes.
        unsafe {
            let a = vld1q_u8(quarters[0].as_ptr());
            let b = vld1q_u8(quarters[1].as_ptr());
            let c = vld1q_u8(quarters[2].as_ptr());
            let d = vld1q_u8(quarters[3].as_ptr());
            vminvq_u8(vminq_u8(vminq_u8(a, b), vminq_u8(c, d))) == 0
        }
    }

    #[inline(always)]
    fn key(self, [first, second]: [Half<Self>; 2]) -> Self::Key {
        [first.1, second.1]
    }

    #[inline(always)]
    fn equal_words(self, words: &[u64; 4], [first, second]: Self::Key) -> usize {
        const BITS: [u32; 4] = [1, 2, 4, 8];
        // SAFETY: `self` proves that the machine has NEON; each load reads 16 bytes of an array that has them.
        let equal = unsafe {
            let low = vceqq_u64(vld1q_u64(words.as_ptr()), vreinterpretq_u64_u8(first));
            let high = vld1q_u64(words.as_ptr().add(2));
            let high = vceqq_u64(high, vreinterpretq_u64_u8(second));
            // A word is 32 bits now, all alike.
            let equal = vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
            vaddvq_u32(vandq_u32(equal, vld1q_u32(BITS.as_ptr())))
        };
        // The compiler knows now that it is below 16, and checks no bounds: a fiftieth of the instructions of a replay.
        equal as usize & ALL_WORDS
    }

    #[inline(always)]
    fn store_ids<const FOUR: bool>(self, packed: Half<Self>, room: &mut [MaybeUninit<TokenId>; 8]) {
        const Z: u8 = ZERO;
        // SAFETY: `self` proves that the machine has NEON; each load reads an array of 16 bytes, each store writes 16
        // of the 32 bytes of the room.
        unsafe {
            let (low, high) = if FOUR {
                let (ids, one) = (vreinterpretq_u16_u8(packed.1), vdupq_n_u16(1));
                let low = vsubl_u16(vget_low_u16(ids), vget_low_u16(one));
                (low, vsubl_high_u16(ids, one))
            } else {
                // The bits of an id begin in the first of its three bytes, or four bits later.
                const LOW: [u8; 16] = [0, 1, 2, Z, 2, 3, 4, Z, 5, 6, 7, Z, 8, 9, 10, Z];
                const HIGH: [u8; 16] = [10, 11, 12, Z, 13, 14, 15, Z, Z, Z, Z, Z, Z, Z, Z, Z];
                let low = vreinterpretq_u32_u8(vqtbl1q_u8(packed.1, vld1q_u8(LOW.as_ptr())));
                let high = vreinterpretq_u32_u8(vqtbl1q_u8(packed.1, vld1q_u8(HIGH.as_ptr())));
                // To the left by less than nothing is to the right.
                let low = vshlq_u32(low, vld1q_s32([0, -4, 0, 0].as_ptr()));
                let high = vshlq_u32(high, vld1q_s32([-4, 0, 0, 0].as_ptr()));
                let mask = vdupq_n_u32(THREE_LIMIT - 1);
                (vandq_u32(low, mask), vandq_u32(high, mask))
            };
            let room: *mut TokenId = room.as_mut_ptr().cast();
            vst1q_u32(room, low);
            vst1q_u32(room.add(4), high);
        }
    }
}
