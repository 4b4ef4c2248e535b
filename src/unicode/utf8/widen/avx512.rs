//! UTF-8 to characters by AVX-512. The safe twin is the loop in [`super::widen_by`].
//!
//! ```text
//! for 64 bytes: one character each if all are ASCII; else
//!     where characters start, a byte each; for 16 of them at once:
//!         the four bytes from there on; of these the bits that belong to the character, by its first byte
//!         all bits in a row; without those of what follows
//! ```
//!
//! So the time does not depend on which characters stand side by side.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_and_si512, _mm512_cmplt_epi8_mask, _mm512_loadu_si512,
    _mm512_madd_epi16, _mm512_maddubs_epi16, _mm512_maskz_compress_epi8, _mm512_movepi8_mask,
    _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi8, _mm512_srli_epi32,
    _mm512_srlv_epi32, _mm512_storeu_si512,
};
use std::mem::MaybeUninit;

use super::Character;
use crate::unicode::utf8::avx512::of_each;
use crate::util::tier::Tier;

/// Bytes that are looked at together.
const WINDOW: usize = 64;

/// Characters that are stored together.
const QUARTER: usize = WINDOW / 4;

/// Where a character can start for all of it to be in the window.
const WHOLE: u64 = u64::MAX >> 3;

/// 0, 1, 2 …
const NUMBERS: [u8; WINDOW] = {
    let mut numbers = [0; WINDOW];
    let mut number = 0;
    while number < WINDOW {
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        let byte = number as u8;
        numbers[number] = byte;
        number += 1;
    }
    numbers
};

/// 0 four times, 1 four times …
const FOUR_TIMES: [u8; WINDOW] = {
    let mut numbers = NUMBERS;
    let mut number = 0;
    while number < WINDOW {
        numbers[number] /= 4;
        number += 1;
    }
    numbers
};

/// By the upper half of a first byte: the bits of four bytes that belong to the character.
const BITS: [u32; 16] = by_upper_half([0x7F, 0x3F1F, 0x003F_3F0F, 0x3F3F_3F07]);

/// By the same: how many bits follow those of the character.
const FOLLOWING: [u32; 16] = by_upper_half([18, 12, 6, 0]);

/// A table of what holds for characters of one to four bytes; no first byte begins with the bits of 8 to 11.
const fn by_upper_half([one, two, three, four]: [u32; 4]) -> [u32; 16] {
    let mut table = [one; 16];
    (table[12], table[13], table[14], table[15]) = (two, two, three, four);
    table
}

/// Stores characters, but for the last ones; answers of how many bytes, and how many. On a machine without AVX-512 none.
pub(super) fn widen<C: Character>(text: &[u8], room: &mut [MaybeUninit<C>]) -> (usize, usize) {
    if !Tier::Avx512.available() {
        return (0, 0);
    }
    // SAFETY: the machine has what the function is compiled for.
    unsafe { widen_windows(text, room) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt,bmi1")]
fn widen_windows<C: Character>(text: &[u8], room: &mut [MaybeUninit<C>]) -> (usize, usize) {
    let numbers = load(&NUMBERS);
    let (mut place, mut stored) = (0, 0);
    while let Some(window) = text.get(place..).and_then(<[u8]>::first_chunk::<WINDOW>)
        && let Some(room) = room.get_mut(stored..)
        && let Some(room) = room.first_chunk_mut::<WINDOW>()
    {
        let bytes = load(window);
        if _mm512_movepi8_mask(bytes) == 0 {
            for (to, &byte) in room.iter_mut().zip(window) {
                to.write(C::truncated(byte.into()));
            }
            place += WINDOW;
            stored += WINDOW;
            continue;
        }
        // As signed numbers, those that go on a character are the least.
        let starts = !_mm512_cmplt_epi8_mask(bytes, all(0xC0));
        let whole = starts & WHOLE;
        let count = whole.count_ones() as usize;
        let mut places = _mm512_maskz_compress_epi8(whole, numbers);
        let (quarters, _) = room.as_chunks_mut::<QUARTER>();
        let mut left = count;
        for quarter in quarters {
            for (to, number) in quarter.iter_mut().zip(first_sixteen(bytes, places)) {
                to.write(C::truncated(number));
            }
            if left <= QUARTER {
                break;
            }
            left -= QUARTER;
            places = _mm512_permutexvar_epi8(_mm512_add_epi8(numbers, all(16)), places);
        }
        let next = starts & !WHOLE;
        place += if next == 0 {
            WINDOW
        } else {
            next.trailing_zeros() as usize
        };
        stored += count;
    }
    (place, stored)
}

/// The characters that start at the first sixteen of some places of a window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn first_sixteen(window: __m512i, places: __m512i) -> [u32; QUARTER] {
    let places = _mm512_permutexvar_epi8(load(&FOUR_TIMES), places);
    let places = _mm512_add_epi8(places, of_each(0x0302_0100));
    let bytes = _mm512_permutexvar_epi8(places, window);
    let kind = _mm512_and_si512(_mm512_srli_epi32::<4>(bytes), of_each(0xF));
    let bits = _mm512_and_si512(bytes, _mm512_permutexvar_epi32(kind, table(&BITS)));
    // Six bits and six, and twelve and twelve.
    let pairs = _mm512_maddubs_epi16(bits, of_each(0x0140_0140));
    let numbers = _mm512_madd_epi16(pairs, of_each(0x0001_1000));
    let numbers = _mm512_srlv_epi32(numbers, _mm512_permutexvar_epi32(kind, table(&FOLLOWING)));
    let mut stored = [0; QUARTER];
    // SAFETY: writes the 64 bytes that are there.
    unsafe { _mm512_storeu_si512(stored.as_mut_ptr().cast(), numbers) };
    stored
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; WINDOW]) -> __m512i {
    // SAFETY: reads the 64 bytes that are there.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn table(numbers: &[u32; 16]) -> __m512i {
    // SAFETY: reads the 64 bytes that are there.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// The same byte in each place.
#[inline]
#[target_feature(enable = "avx512f")]
fn all(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}
