//! The first step of probing with AVX-512: keys, buckets and prefetches of eight pieces at once. The safe
//! twin is [`Scalar`].
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

use super::PieceCache;
use super::key::{MAX_ONE_WORD_LEN, MAX_SHORT_LEN, MULTIPLIER, ROTATION};
use super::probe::{BlockProbes, HashBlock, Hashed, Probing};
use super::scalar::Scalar;
use super::simd::Compiled;
use crate::util::block::{BLOCK_LEN, Block, Spans};
use crate::util::vector::avx2::Avx2;
pub(super) use crate::util::vector::avx512::Avx512;

/// Pieces that are hashed at once.
const PIECES: usize = 8;

/// Keys in a register, of 16 bytes each.
const LANES: u8 = 4;

/// 0, 1, 2 …
const INDICES: [u8; 64] = bytes_by(64, 0);

/// 0–15 four times: the bytes of a key of two words.
const TWO_WORDS: [u8; 64] = bytes_by(16, 0);

/// 0–7 eight times: the bytes of a key of one word, which is repeated.
const ONE_WORD: [u8; 64] = bytes_by(8, 0);

/// 0 in the first lane, 1 in the second …
const LANE_INDICES: [u8; 64] = bytes_by(64, 4);

/// The truth table of `a & !b | c`.
const AND_NOT_OR: i32 = 0b1011_1010;

/// The indices of 64 bytes modulo `divisor`, shifted down.
const fn bytes_by(divisor: u8, shift: u32) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut index = 0;
    while index < 64 {
        bytes[index as usize] = (index % divisor) >> shift;
        index += 1;
    }
    bytes
}

impl Probing for Avx512 {
    type Prober = Avx2;

    fn prober(self) -> Avx2 {
        self.into()
    }
}

impl HashBlock for Avx512 {
    #[inline]
    fn hash_block<const GAPS: bool>(
        &self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
        probes: BlockProbes<'_>,
    ) -> Hashed {
        // SAFETY: `self` proves that the machine has what the function is compiled for.
        unsafe { hash_block(*self, cache, block, offset, spans, probes) }
    }
}

/// As [`HashBlock::hash_block`]: the starts and lengths of pieces, a byte each; from these the keys, from
/// these the buckets.
///
/// One piece after the other, as with AVX2, took an eighth to a fifth longer for all of encoding, where
/// buckets are near; four at once, instead of eight, a few hundredths. To keep blocks and hash their pieces
/// later, all at once, made no difference.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "below 64"
)]
fn hash_block<const GAPS: bool>(
    tier: Avx512,
    cache: &PieceCache,
    block: &Block,
    offset: usize,
    spans: Spans<GAPS>,
    mut probes: BlockProbes<'_>,
) -> Hashed {
    let bytes = load(block);
    if _mm512_testn_epi8_mask(bytes, bytes) != 0 {
        // Keys are padded with NULs.
        return Scalar.hash_block(cache, block, offset, spans, probes);
    }
    let count = spans.ends().count_ones();
    let starts = _mm512_maskz_compress_epi8(spans.starts(), load(&INDICES));
    let lengths = _mm512_maskz_compress_epi8(spans.ends(), load(&INDICES));
    let lengths = _mm512_sub_epi8(lengths, starts);
    // What follows the last piece looks long. Long pieces get an empty key here, and the first bucket.
    let short = _mm512_cmple_epu8_mask(lengths, all(MAX_SHORT_LEN as u8));
    let long = _bzhi_u64(!short, count);
    let lengths = _mm512_maskz_mov_epi8(short, lengths);
    // 1 for pieces with a key of two words.
    let two = _mm512_cmpgt_epu8_mask(lengths, all(MAX_ONE_WORD_LEN as u8));
    let two = bytes_of(_mm512_maskz_mov_epi8(two, all(1)));
    let view = cache.short_keys.view();
    let shift = _mm_cvtsi32_si128(cache.short_keys.shift as i32 - 1);
    let key = |lane_indices| {
        let start = _mm512_permutexvar_epi8(lane_indices, starts);
        let length = _mm512_permutexvar_epi8(lane_indices, lengths);
        let two = _mm512_cmpgt_epu8_mask(length, all(MAX_ONE_WORD_LEN as u8));
        let byte = _mm512_mask_blend_epi8(two, load(&ONE_WORD), load(&TWO_WORDS));
        let inside = _mm512_cmplt_epu8_mask(byte, length);
        _mm512_maskz_permutexvar_epi8(inside, _mm512_add_epi8(start, byte), bytes)
    };
    let count = count as usize;
    let mut lane_indices = load(&LANE_INDICES);
    let (words, _) = probes.words.as_chunks_mut::<PIECES>();
    let (buckets, _) = probes.buckets.as_chunks_mut::<PIECES>();
    let (two, _) = two.as_chunks::<PIECES>();
    let eights = words.iter_mut().zip(buckets).zip(two);
    for ((words, buckets), two) in eights.take(count.div_ceil(PIECES)) {
        let first = key(lane_indices);
        lane_indices = _mm512_add_epi8(lane_indices, all(LANES));
        let second = key(lane_indices);
        lane_indices = _mm512_add_epi8(lane_indices, all(LANES));
        // As `key::hash_short` does, of pieces 0, 4, 1, 5, 2, 6, 3 and 7.
        let low = _mm512_unpacklo_epi64(first, second);
        let high = _mm512_unpackhi_epi64(first, second);
        let hash = _mm512_xor_si512(low, _mm512_rol_epi64::<ROTATION>(high));
        let hash = _mm512_mullo_epi64(hash, _mm512_set1_epi64(MULTIPLIER.cast_signed()));
        // Twice the index among the buckets of a width, and a lowest bit that is replaced.
        let doubled = _mm512_srl_epi64(hash, shift);
        let in_order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
        let doubled = _mm512_castsi512_si256(_mm512_permutexvar_epi32(in_order, doubled));
        // SAFETY: reads eight bytes of an array of eight; writes eight keys of 16 bytes, and eight indices of
        // 4 bytes, to arrays of eight.
        unsafe {
            let two = _mm256_cvtepu8_epi32(_mm_loadl_epi64(two.as_ptr().cast()));
            let index = _mm256_ternarylogic_epi32::<AND_NOT_OR>(doubled, _mm256_set1_epi32(1), two);
            let words: *mut __m512i = words.as_mut_ptr().cast();
            _mm512_storeu_si512(words, first);
            _mm512_storeu_si512(words.add(1), second);
            _mm256_storeu_si256(buckets.as_mut_ptr().cast(), index);
        }
        for index in buckets {
            view.prefetch_bucket(*index as usize);
        }
    }
    let has_hash =
        long != 0 && hash_long_pieces(tier.into(), cache, block, offset, spans, long, &mut probes);
    Hashed { count, has_hash }
}

/// Writes the probes of the pieces of a block that have more than 16 bytes, those where `long` has bits.
/// Returns whether one has a hash.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn hash_long_pieces<const GAPS: bool>(
    tier: Avx2,
    cache: &PieceCache,
    block: &Block,
    offset: usize,
    spans: Spans<GAPS>,
    mut long: u64,
    probes: &mut BlockProbes<'_>,
) -> bool {
    let mut has_hash = false;
    while long != 0 {
        let index = long.trailing_zeros();
        long &= long - 1;
        // Where the piece with that index starts and ends.
        let start = nth_bit(spans.starts(), index);
        let end = nth_bit(spans.ends(), index);
        // SAFETY: `tier` proves that the machine has what the function is compiled for.
        let probe = unsafe { tier.hash_long(cache, &block[start..], offset + start, end - start) };
        has_hash |= probe.hash().is_some();
        probes.set(index as usize, probe);
    }
    has_hash
}

/// The position of the bit with an index among those that are set, from the lowest on.
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn nth_bit(bits: u64, index: u32) -> usize {
    _pdep_u64(1 << index, bits).trailing_zeros() as usize
}

/// Loads the first 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load<const COUNT: usize>(bytes: &[u8; COUNT]) -> __m512i {
    const { assert!(COUNT >= BLOCK_LEN) }
    // SAFETY: reads 64 bytes of an array of at least as many.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The 64 bytes of a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bytes_of(register: __m512i) -> [u8; BLOCK_LEN] {
    let mut bytes = [0; BLOCK_LEN];
    // SAFETY: writes an array of 64 bytes.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) };
    bytes
}

/// A register of 64 equal bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn all(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}
