//! The classes of 64 bytes by AVX2. The safe twin is [`super::masks`].
#![allow(unsafe_code)]

mod high;

pub(super) use high::CASELESS;
pub(crate) use high::with_high;

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_sub_epi8,
};

use super::masks::Masks;
use super::native::{self, Sink};
use super::pattern::Family;
use crate::util::block::Block;
use crate::util::tier::Tier;

/// As [`native::by_blocks`], compiled for AVX2; `None`, and nothing done, on a machine without it.
pub(super) fn by_blocks<S: Sink>(
    family: Family,
    text: &[u8],
    place: &mut usize,
    sink: &mut S,
) -> Option<Result<(), S::Error>> {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
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
    Tier::Avx2.available().then(|| {
        // SAFETY: the machine has what the function is compiled for.
        unsafe { windows(family, text, place, sink) }
    })
}

/// As [`super::masks::ascii`].
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn ascii(window: &Block) -> Masks {
    let (halves, _) = window.as_chunks::<32>();
    let [low, high] = [load(&halves[0]), load(&halves[1])];
    Masks {
        upper: mask(range::<b'A', 26>(low), range::<b'A', 26>(high)),
        lower: mask(range::<b'a', 26>(low), range::<b'a', 26>(high)),
        number: mask(range::<b'0', 10>(low), range::<b'0', 10>(high)),
        blank: mask(
            _mm256_or_si256(equal::<b'\t'>(low), range::<0x0B, 2>(low)),
            _mm256_or_si256(equal::<b'\t'>(high), range::<0x0B, 2>(high)),
        ),
        newline: mask(
            _mm256_or_si256(equal::<b'\n'>(low), equal::<b'\r'>(low)),
            _mm256_or_si256(equal::<b'\n'>(high), equal::<b'\r'>(high)),
        ),
        space: mask(equal::<b' '>(low), equal::<b' '>(high)),
        apostrophe: mask(equal::<b'\''>(low), equal::<b'\''>(high)),
        slash: mask(equal::<b'/'>(low), equal::<b'/'>(high)),
        high: mask(low, high),
        continuation: mask(range::<0x80, 64>(low), range::<0x80, 64>(high)),
        ..Masks::default()
    }
}

/// 32 bytes as they are.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: reads the 32 bytes that are there.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Bytes from `FIRST` on, `COUNT` of them.
#[inline]
#[target_feature(enable = "avx2")]
fn range<const FIRST: u8, const COUNT: i8>(bytes: __m256i) -> __m256i {
    // Moved so that the range starts at the smallest signed number, one comparison tells.
    let moved = _mm256_sub_epi8(
        bytes,
        _mm256_set1_epi8(FIRST.wrapping_sub(0x80).cast_signed()),
    );
    _mm256_cmpgt_epi8(_mm256_set1_epi8(i8::MIN + COUNT), moved)
}

/// Bytes equal to `BYTE`.
#[inline]
#[target_feature(enable = "avx2")]
fn equal<const BYTE: u8>(bytes: __m256i) -> __m256i {
    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(BYTE.cast_signed()))
}

/// The highest bit of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(low: __m256i, high: __m256i) -> u64 {
    highest_bits(low) | highest_bits(high) << 32
}

/// The highest bit of each of 32 bytes.
///
/// Written out, as the compiler takes the intrinsic apart where its result is used in another block, byte by byte.
#[inline]
#[target_feature(enable = "avx2")]
fn highest_bits(bytes: __m256i) -> u64 {
    let bits: u64;
    // SAFETY: reads one register and writes another, which it clears above the lowest half.
    unsafe {
        asm!("vpmovmskb {bits:e}, {bytes}", bits = lateout(reg) bits, bytes = in(ymm_reg) bytes,
            options(pure, nomem, nostack, preserves_flags));
    }
    bits
}
