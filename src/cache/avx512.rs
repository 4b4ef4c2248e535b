//! Locating pieces by AVX-512, eight at once. The safe twin is [`Plain`].
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _bzhi_u64, _mm_cvtsi32_si128, _mm_loadl_epi64, _mm256_cvtepu8_epi32,
    _mm256_set1_epi32, _mm256_storeu_si256, _mm256_ternarylogic_epi32, _mm512_add_epi8,
    _mm512_castsi512_si256, _mm512_cmpgt_epu8_mask, _mm512_cmple_epu8_mask, _mm512_cmplt_epu8_mask,
    _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_maskz_compress_epi8, _mm512_maskz_mov_epi8,
    _mm512_maskz_permutexvar_epi8, _mm512_mullo_epi64, _mm512_permutexvar_epi8,
    _mm512_permutexvar_epi32, _mm512_rol_epi64, _mm512_set1_epi8, _mm512_set1_epi64,
    _mm512_setr_epi32, _mm512_srl_epi64, _mm512_storeu_si512, _mm512_sub_epi8,
    _mm512_testn_epi8_mask, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64, _mm512_xor_si512,
    _pdep_u64,
};

use super::avx2;
use super::bucket::View;
use super::key::{LONGEST_SHORT, LONGEST_WIDE, MIXER, ROTATION};
use super::probe::{BlockSpots, Locate, Located, Plain};
use crate::util::block::{BLOCK_LEN, Block};
use crate::util::tier::Tier;

/// Pieces that are located at once.
const PIECES: usize = 8;

/// Keys in a register, 16 bytes each.
const LANES: u8 = 4;

/// 0, 1, 2 …
const NUMBERS: [u8; 64] = bytes_by(64, 0);

/// 0–15 four times: the bytes of a wide key.
const OF_WIDE: [u8; 64] = bytes_by(16, 0);

/// 0–7 eight times: the bytes of a short key, which stands there twice.
const OF_SHORT: [u8; 64] = bytes_by(8, 0);

/// 0 in the first lane, 1 in the second …
const OF_LANE: [u8; 64] = bytes_by(64, 4);

/// `a & !b | c`, as a table of all cases.
const AND_NOT_OR: i32 = 0b1011_1010;

/// What remains of the numbers of 64 bytes after division, shifted down.
const fn bytes_by(divisor: u8, shift: u32) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut number = 0;
    while number < 64 {
        bytes[number as usize] = (number % divisor) >> shift;
        number += 1;
    }
    bytes
}

/// Proof that the machine has what this tier is compiled for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// If the machine has it.
    pub(crate) fn detect() -> Option<Self> {
        Tier::Avx512.available().then_some(Self(()))
    }
}

impl Locate for Avx512 {
    #[inline]
    fn locate(
        &self,
        view: &View<'_>,
        window: &Block,
        place: usize,
        ends: u64,
        spots: BlockSpots<'_>,
    ) -> Located {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { locate(view, window, place, ends, spots) }
    }
}

/// As [`Locate::locate`]: where pieces start and how long they are, a byte each; of these the keys, of these the lines.
///
/// One piece after the other, as by AVX2, took an eighth to a fifth longer for all of encoding, where lines are near; four at
/// once, instead of eight, a few hundredths. To keep windows and locate their pieces later, all at once, made no difference.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "below 64"
)]
fn locate(
    view: &View<'_>,
    window: &Block,
    place: usize,
    ends: u64,
    mut spots: BlockSpots<'_>,
) -> Located {
    let bytes = load(window);
    if _mm512_testn_epi8_mask(bytes, bytes) != 0 {
        // NULs fill keys up.
        return Plain.locate(view, window, place, ends, spots);
    }
    let count = ends.count_ones();
    let starts = _mm512_maskz_compress_epi8(ends | 1, load(&NUMBERS));
    let lengths = _mm512_maskz_compress_epi8(ends, load(&NUMBERS));
    let lengths = _mm512_sub_epi8(lengths, starts);
    // What is behind the last piece looks long. The keys of long ones are empty here, and their line the first.
    let short = _mm512_cmple_epu8_mask(lengths, all(LONGEST_WIDE as u8));
    let long = _bzhi_u64(!short, count);
    let lengths = _mm512_maskz_mov_epi8(short, lengths);
    // 1 where a piece belongs to a wide line.
    let wide = _mm512_cmpgt_epu8_mask(lengths, all(LONGEST_SHORT as u8));
    let wide = bytes_of(_mm512_maskz_mov_epi8(wide, all(1)));
    let shift = _mm_cvtsi32_si128(view.near.shift as i32 - 1);
    let key = |of_lane| {
        let start = _mm512_permutexvar_epi8(of_lane, starts);
        let length = _mm512_permutexvar_epi8(of_lane, lengths);
        let wide = _mm512_cmpgt_epu8_mask(length, all(LONGEST_SHORT as u8));
        let byte = _mm512_mask_blend_epi8(wide, load(&OF_SHORT), load(&OF_WIDE));
        let inside = _mm512_cmplt_epu8_mask(byte, length);
        _mm512_maskz_permutexvar_epi8(inside, _mm512_add_epi8(start, byte), bytes)
    };
    let count = count as usize;
    let mut of_lane = load(&OF_LANE);
    let (numbers, _) = spots.numbers.as_chunks_mut::<PIECES>();
    let (lines, _) = spots.lines.as_chunks_mut::<PIECES>();
    let (wide, _) = wide.as_chunks::<PIECES>();
    let places = numbers.iter_mut().zip(lines).zip(wide);
    for ((numbers, lines), wide) in places.take(count.div_ceil(PIECES)) {
        let first = key(of_lane);
        of_lane = _mm512_add_epi8(of_lane, all(LANES));
        let second = key(of_lane);
        of_lane = _mm512_add_epi8(of_lane, all(LANES));
        // As `key::mix` does, of pieces 0, 4, 1, 5, 2, 6, 3 and 7.
        let low = _mm512_unpacklo_epi64(first, second);
        let high = _mm512_unpackhi_epi64(first, second);
        let mixed = _mm512_xor_si512(low, _mm512_rol_epi64::<ROTATION>(high));
        let mixed = _mm512_mullo_epi64(mixed, _mm512_set1_epi64(MIXER.cast_signed()));
        // Twice the number among the lines of a width, and a bit that goes.
        let doubled = _mm512_srl_epi64(mixed, shift);
        let in_order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
        let doubled = _mm512_castsi512_si256(_mm512_permutexvar_epi32(in_order, doubled));
        // SAFETY: the first reads the eight bytes that are there; the others write both keys of eight pieces, and eight lines.
        unsafe {
            let wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(wide.as_ptr().cast()));
            let number =
                _mm256_ternarylogic_epi32::<AND_NOT_OR>(doubled, _mm256_set1_epi32(1), wide);
            let numbers: *mut __m512i = numbers.as_mut_ptr().cast();
            _mm512_storeu_si512(numbers, first);
            _mm512_storeu_si512(numbers.add(1), second);
            _mm256_storeu_si256(lines.as_mut_ptr().cast(), number);
        }
        for line in lines {
            avx2::prefetch(view.near.all, *line as usize);
        }
    }
    let hashed = long != 0 && locate_long(view, window, place, ends, long, &mut spots);
    Located { count, hashed }
}

/// Locates those pieces of a window that have more than 16 bytes, of which `long` has the numbers. Answers whether one
/// has a hash.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn locate_long(
    view: &View<'_>,
    window: &Block,
    place: usize,
    ends: u64,
    mut long: u64,
    spots: &mut BlockSpots<'_>,
) -> bool {
    let mut hashed = false;
    while long != 0 {
        let number = long.trailing_zeros();
        long &= long - 1;
        // Where the bit with that number begins and ends.
        let start = nth_bit(ends | 1, number);
        let end = nth_bit(ends, number);
        let rest = window.get(start..).unwrap_or_default();
        let spot = avx2::locate_beyond(view, rest, place + start, end - start);
        hashed |= spot.hash().is_some();
        spots.set(number as usize, spot);
    }
    hashed
}

/// The place of the bit with a number, counted from the lowest.
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn nth_bit(bits: u64, number: u32) -> usize {
    _pdep_u64(1 << number, bits).trailing_zeros() as usize
}

/// The first 64 bytes as they are; there may be more.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load<const COUNT: usize>(bytes: &[u8; COUNT]) -> __m512i {
    const { assert!(COUNT >= BLOCK_LEN) }
    // SAFETY: reads 64 bytes, which are there.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The 64 bytes of a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bytes_of(register: __m512i) -> [u8; BLOCK_LEN] {
    let mut bytes = [0; BLOCK_LEN];
    // SAFETY: writes the 64 bytes that are there.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) };
    bytes
}

/// 64 times the same byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn all(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}
