//! Characters to UTF-8 by AVX-512. The safe twin is what [`super::store`] does besides.
//!
//! ```text
//! for 32 characters: one byte each if all are ASCII; else, for 16 at once:
//!     each as the bytes it would have at each length, of which its number chooses
//!     the bytes that are there, one after the other
//! ```
//!
//! So the time does not depend on which characters stand side by side.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpge_epu32_mask, _mm512_loadu_si512,
    _mm512_mask_blend_epi32, _mm512_maskz_compress_epi8, _mm512_min_epu32,
    _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_storeu_si512, _mm512_test_epi8_mask,
};

use super::{Bytes, Character, TOO_LARGE, is_ascii, low_byte, store_each};
use crate::util::tier::Tier;

/// Characters that are looked at together.
const GROUP: usize = 32;

/// Characters that are stored together.
const HALF: usize = GROUP / 2;

/// As [`super::store`]; `None`, and nothing done, on a machine without AVX-512.
pub(super) fn store<C: Character>(chunk: &[C], bytes: &mut Bytes) -> Option<usize> {
    Tier::Avx512.available().then(|| {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { store_groups(chunk, bytes) }
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn store_groups<C: Character>(chunk: &[C], bytes: &mut Bytes) -> usize {
    let mut length = 0;
    let (groups, rest) = chunk.as_chunks::<GROUP>();
    for group in groups {
        if is_ascii(group)
            && let Some(place) = bytes[length..].first_chunk_mut()
        {
            *place = group.map(low_byte);
            length += GROUP;
            continue;
        }
        let (halves, _) = group.as_chunks::<HALF>();
        for half in halves {
            if let Some(place) = bytes[length..].first_chunk_mut() {
                length += store_half(half, place);
            }
        }
    }
    length + store_each(rest, &mut bytes[length..])
}

/// Stores the bytes of some characters, and others behind them; answers how many count.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn store_half<C: Character>(half: &[C; HALF], place: &mut [u8; 4 * HALF]) -> usize {
    let numbers = half.map(Character::number);
    // SAFETY: reads the 64 bytes that are there.
    let numbers = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
    // What is too large stays no UTF-8.
    let numbers = _mm512_min_epu32(numbers, of_each(TOO_LARGE));
    let two = sixes(numbers, [6, 0, 0, 0], 0x0000_3F3F, 0x0000_80C0);
    let three = sixes(numbers, [12, 6, 0, 0], 0x003F_3F3F, 0x0080_80E0);
    let four = sixes(numbers, [18, 12, 6, 0], 0x3F3F_3F3F, 0x8080_80F0);
    let from = |least, shorter, longer| {
        let longer_ones = _mm512_cmpge_epu32_mask(numbers, of_each(least));
        _mm512_mask_blend_epi32(longer_ones, shorter, longer)
    };
    let words = from(0x80, numbers, two);
    let words = from(0x800, words, three);
    let words = from(0x1_0000, words, four);
    // No byte but the first of NUL is 0.
    let there = _mm512_test_epi8_mask(words, words) | 0x1111_1111_1111_1111;
    let bytes = _mm512_maskz_compress_epi8(there, words);
    // SAFETY: writes the 64 bytes that are there.
    unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), bytes) };
    there.count_ones() as usize
}

/// Each number's bits from such places on, a byte each, of which those of `kept` stay, and `marks` besides.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn sixes(numbers: __m512i, places: [u8; 4], kept: u32, marks: u32) -> __m512i {
    // Two numbers are shifted as one of 64 bits.
    let [low, high] = [0, 32].map(|half| u32::from_le_bytes(places.map(|place| place + half)));
    let places = _mm512_set1_epi64((u64::from(low) | u64::from(high) << 32).cast_signed());
    let bits = _mm512_multishift_epi64_epi8(places, numbers);
    _mm512_or_si512(_mm512_and_si512(bits, of_each(kept)), of_each(marks))
}

/// The same number in each place.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn of_each(number: u32) -> __m512i {
    _mm512_set1_epi32(number.cast_signed())
}
