//! Locating and looking up by AVX2. The safe twin of both is [`Plain`](super::Plain).
#![allow(unsafe_code)]

mod hash;
mod probe;

use std::arch::x86_64::{__m128i, _mm_and_si128, _mm_extract_epi64, _mm_loadu_si128};

pub(super) use hash::{locate_beyond, prefetch};

use super::key::LONGEST_WHOLE;
use crate::util::tier::Tier;

/// Not a byte of the text, but NUL.
const NUL: u8 = 0x80;

/// From byte `16 - n` on: a mask of `n` bytes.
const FIRST_BYTES: [u8; 32] = {
    let mut mask = [0; 32];
    let mut byte = 0;
    while byte < 16 {
        mask[byte] = 0xFF;
        byte += 1;
    }
    mask
};

/// Proof that the machine has what this tier is compiled for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// If the machine has it.
    pub(crate) fn detect() -> Option<Self> {
        Tier::Avx2.available().then_some(Self(()))
    }
}

/// The two halves of the key of a piece of more than 16 bytes, if it is not too long.
#[inline]
#[target_feature(enable = "avx2")]
fn whole_key(bytes: &[u8; LONGEST_WHOLE], length: usize) -> Option<(__m128i, __m128i)> {
    let mask = FIRST_BYTES.get(LONGEST_WHOLE.checked_sub(length)?..)?;
    let mask: &[u8; 16] = mask.first_chunk()?;
    let (first, second) = bytes.split_at(16);
    // SAFETY: each reads 16 bytes that are there.
    let (first, second, mask) = unsafe {
        (
            load(first.as_ptr().cast()),
            load(second.as_ptr().cast()),
            load(mask.as_ptr().cast()),
        )
    };
    Some((first, _mm_and_si128(second, mask)))
}

/// The two numbers of a half of a key.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers(half: __m128i) -> [u64; 2] {
    [
        _mm_extract_epi64::<0>(half).cast_unsigned(),
        _mm_extract_epi64::<1>(half).cast_unsigned(),
    ]
}

/// 16 bytes as they are.
///
/// # Safety
/// They must be there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const __m128i) -> __m128i {
    // SAFETY: the caller's.
    unsafe { _mm_loadu_si128(from) }
}
