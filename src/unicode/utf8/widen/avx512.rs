//! UTF-8 to characters with AVX-512. The safe twin is the loop in [`super::widen_with`].
//!
//! ```text
//! 64 bytes at a time: one character each if all are ASCII; else
//!     compress the offsets where characters start; for 16 of them at a time:
//!         gather four bytes from each; mask the bits that belong to the character, by its first byte
//!         join the bits, and shift out those after the character
//! ```
//!
//! So the time does not depend on which characters are adjacent.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_and_si512, _mm512_cmplt_epi8_mask, _mm512_loadu_si512,
    _mm512_madd_epi16, _mm512_maddubs_epi16, _mm512_maskz_compress_epi8, _mm512_movepi8_mask,
    _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi8, _mm512_srli_epi32,
    _mm512_srlv_epi32, _mm512_storeu_si512,
};
use std::mem::MaybeUninit;

use super::Character;
use crate::unicode::utf8::avx512::broadcast;
use crate::util::tier::Tier;

/// Bytes read together.
const BLOCK: usize = 64;

/// Characters stored together.
const QUARTER: usize = BLOCK / 4;

/// Offsets where a character starts that lies within the block as a whole.
const COMPLETE: u64 = u64::MAX >> 3;

/// 0, 1, 2, ...
const IOTA: [u8; BLOCK] = {
    let mut numbers = [0; BLOCK];
    let mut number = 0;
    while number < BLOCK {
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        let byte = number as u8;
        numbers[number] = byte;
        number += 1;
    }
    numbers
};

/// 0 four times, 1 four times, ...
const FOUR_TIMES: [u8; BLOCK] = {
    let mut numbers = IOTA;
    let mut number = 0;
    while number < BLOCK {
        numbers[number] /= 4;
        number += 1;
    }
    numbers
};

/// By the upper half of a first byte: mask of the bits of four bytes that belong to the character.
const BITS: [u32; 16] = by_upper_half([0x7F, 0x3F1F, 0x003F_3F0F, 0x3F3F_3F07]);

/// By the same: number of bits after those of the character.
const FOLLOWING: [u32; 16] = by_upper_half([18, 12, 6, 0]);

/// Builds a table from the entries for characters of one to four bytes; no first byte has 8 to 11 as its
/// upper half.
const fn by_upper_half([one, two, three, four]: [u32; 4]) -> [u32; 16] {
    let mut table = [one; 16];
    (table[12], table[13], table[14], table[15]) = (two, two, three, four);
    table
}

/// Stores all characters but the last ones; returns the number of bytes read and of characters. Both are 0 on
/// a machine without AVX-512.
pub(super) fn widen<C: Character>(text: &[u8], dest: &mut [MaybeUninit<C>]) -> (usize, usize) {
    if !Tier::Avx512.available() {
        return (0, 0);
    }
    // SAFETY: the tier is available, so that the machine has the target features of the function.
    unsafe { widen_blocks(text, dest) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt,bmi1")]
fn widen_blocks<C: Character>(text: &[u8], dest: &mut [MaybeUninit<C>]) -> (usize, usize) {
    let iota = load(&IOTA);
    let (mut read, mut stored) = (0, 0);
    while let Some(block) = text[read..].first_chunk::<BLOCK>()
        && let Some(dest) = dest[stored..].first_chunk_mut::<BLOCK>()
    {
        let bytes = load(block);
        if _mm512_movepi8_mask(bytes) == 0 {
            for (slot, &byte) in dest.iter_mut().zip(block) {
                slot.write(C::truncated(byte.into()));
            }
            read += BLOCK;
            stored += BLOCK;
            continue;
        }
        // As signed numbers, continuation bytes are the least.
        let starts = !_mm512_cmplt_epi8_mask(bytes, all(0xC0));
        let complete = starts & COMPLETE;
        let count = complete.count_ones() as usize;
        let mut offsets = _mm512_maskz_compress_epi8(complete, iota);
        let (quarters, _) = dest.as_chunks_mut::<QUARTER>();
        let mut left = count;
        for quarter in quarters {
            for (slot, number) in quarter.iter_mut().zip(first_sixteen(bytes, offsets)) {
                slot.write(C::truncated(number));
            }
            if left <= QUARTER {
                break;
            }
            left -= QUARTER;
            offsets = _mm512_permutexvar_epi8(_mm512_add_epi8(iota, all(16)), offsets);
        }
        let next = starts & !COMPLETE;
        read += if next == 0 {
            BLOCK
        } else {
            next.trailing_zeros() as usize
        };
        stored += count;
    }
    (read, stored)
}

/// Returns the characters of a block that start at the first sixteen of `offsets`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn first_sixteen(block: __m512i, offsets: __m512i) -> [u32; QUARTER] {
    let offsets = _mm512_permutexvar_epi8(load(&FOUR_TIMES), offsets);
    let offsets = _mm512_add_epi8(offsets, broadcast(0x0302_0100));
    let bytes = _mm512_permutexvar_epi8(offsets, block);
    let kind = _mm512_and_si512(_mm512_srli_epi32::<4>(bytes), broadcast(0xF));
    let bits = _mm512_and_si512(bytes, _mm512_permutexvar_epi32(kind, table(&BITS)));
    // Joins pairs of six bits to twelve, then pairs of twelve.
    let pairs = _mm512_maddubs_epi16(bits, broadcast(0x0140_0140));
    let numbers = _mm512_madd_epi16(pairs, broadcast(0x0001_1000));
    let numbers = _mm512_srlv_epi32(numbers, _mm512_permutexvar_epi32(kind, table(&FOLLOWING)));
    let mut stored = [0; QUARTER];
    // SAFETY: writes 64 bytes, the size of `stored`.
    unsafe { _mm512_storeu_si512(stored.as_mut_ptr().cast(), numbers) };
    stored
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; BLOCK]) -> __m512i {
    // SAFETY: reads 64 bytes, the size of `bytes`.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn table(numbers: &[u32; 16]) -> __m512i {
    // SAFETY: reads 64 bytes, the size of `numbers`.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// Returns a vector of the same byte in each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn all(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}
