//! The classes of 64 bytes by AVX-512. The safe twin is [`super::masks`].
//!
//! A comparison of 64 bytes gives their bits at once, and one instruction looks all last bytes of characters up among 64
//! classes.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask,
    _mm512_cmplt_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512,
    _mm512_mask_cmpeq_epi8_mask, _mm512_mask_cmpge_epu8_mask, _mm512_mask_cmple_epu8_mask,
    _mm512_mask_permutexvar_epi8, _mm512_maskz_mov_epi8, _mm512_movepi8_mask, _mm512_set1_epi8,
    _mm512_shuffle_epi8, _mm512_sub_epi8,
};

use super::avx2::CASELESS;
use super::masks::Masks;
use super::native::{self, Sink};
use super::pattern::Family;
use crate::unicode::classify::{Class, class_of_four, classes_of_prefix, prefix};
use crate::util::block::{BLOCK_LEN, Block};
use crate::util::tier::Tier;

/// Up to this many characters are looked up one by one.
const FEW: u32 = 1;

/// As [`native::by_blocks`], compiled for AVX-512; `None`, and nothing done, on a machine without it.
pub(super) fn by_blocks<S: Sink>(
    family: Family,
    text: &[u8],
    place: &mut usize,
    sink: &mut S,
) -> Option<Result<(), S::Error>> {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi")]
    fn windows<S: Sink>(
        family: Family,
        text: &[u8],
        place: &mut usize,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        native::by_blocks(
            family,
            text,
            place,
            sink,
            |window| ascii(window),
            |masks, window| with_high(masks, window),
        )
    }
    Tier::Avx512.available().then(|| {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { windows(family, text, place, sink) }
    })
}

/// As [`super::masks::ascii`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn ascii(window: &Block) -> Masks {
    let bytes = bytes_from::<0>(window);
    Masks {
        upper: range::<b'A', 26>(bytes),
        lower: range::<b'a', 26>(bytes),
        number: range::<b'0', 10>(bytes),
        blank: equal(bytes, b'\t') | range::<0x0B, 2>(bytes),
        newline: equal(bytes, b'\n') | equal(bytes, b'\r'),
        space: equal(bytes, b' '),
        apostrophe: equal(bytes, b'\''),
        slash: equal(bytes, b'/'),
        high: _mm512_movepi8_mask(bytes),
        // Signed, these are the smallest.
        continuation: _mm512_cmplt_epi8_mask(bytes, all(0xC0)),
        ..Masks::default()
    }
}

/// As [`Masks::with_high`].
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(crate) fn with_high(masks: Masks, window: &Block) -> Masks {
    let mut rest = masks.high & !masks.continuation;
    if rest.count_ones() <= FEW {
        return masks.with_high(window);
    }
    let first = bytes_from::<0>(window);
    let second = bytes_from::<1>(window);
    let third = bytes_from::<2>(window);
    let caseless = caseless(first, second);
    rest &= !caseless;
    // The class of each character, at its first byte; 0 of those that are not looked up.
    let mut found = _mm512_maskz_mov_epi8(caseless, all(Class::Caseless as u8));
    let mut classes = [0_u64; 16];
    while rest != 0 {
        let place = rest.trailing_zeros() as usize;
        let Some(&[a, b, c, d]) = window.get(place..).and_then(<[u8]>::first_chunk) else {
            break;
        };
        if a >= 0xF0 {
            // Too few share a prefix of three bytes.
            classes[class_of_four([a, b, c, d]) as usize & 15] |= 1 << place;
            rest &= rest - 1;
            continue;
        }
        let of_last = load(&classes_of_prefix(prefix(a, b)).map(|class| class as u8));
        let mut same = equal(first, a);
        let mut last = second;
        if a >= 0xE0 {
            same = _mm512_mask_cmpeq_epi8_mask(same, second, all(b));
            last = third;
        }
        // Of each last byte, the lowest six bits choose.
        found = _mm512_mask_permutexvar_epi8(found, same, last, of_last);
        rest &= !same;
    }
    masks.with_firsts(|class| classes[class as usize & 15] | equal(found, class as u8))
}

/// Where characters begin, with these bytes, that the [`CASELESS`] prefixes tell to be caseless.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn caseless(first: __m512i, second: __m512i) -> u64 {
    let of_three = equal(_mm512_and_si512(first, all(0xF0)), 0xE0);
    let lead = _mm512_and_si512(first, all(0xF));
    let [least, most] = CASELESS.map(|of_lead| {
        // SAFETY: reads the 16 bytes that are there.
        let of_lead = unsafe { _mm_loadu_si128(of_lead.as_ptr().cast()) };
        _mm512_shuffle_epi8(_mm512_broadcast_i32x4(of_lead), lead)
    });
    let above = _mm512_mask_cmpge_epu8_mask(of_three, second, least);
    _mm512_mask_cmple_epu8_mask(above, second, most)
}

/// The 64 bytes of a window from byte `FROM` on, one of the first few.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bytes_from<const FROM: usize>(window: &Block) -> __m512i {
    let bytes: Option<&[u8; BLOCK_LEN]> = window.get(FROM..).and_then(<[u8]>::first_chunk);
    bytes.map_or(all(0), |bytes| load(bytes))
}

/// 64 bytes as they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: reads the 64 bytes that are there.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// 64 times the same byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn all(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

/// Where bytes are equal to `byte`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, all(byte))
}

/// Where bytes are from `FIRST` on, `COUNT` of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn range<const FIRST: u8, const COUNT: u8>(bytes: __m512i) -> u64 {
    _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all(FIRST)), all(COUNT))
}
