//! Both steps of probing with AVX2. The safe twin of both is [`Scalar`](super::Scalar).
#![allow(unsafe_code)]

mod hash;
mod probe;

use std::arch::x86_64::{__m128i, _mm_and_si128, _mm_extract_epi64, _mm_loadu_si128};

pub(super) use hash::{prefetch, probe_long};

use super::key::MAX_KEY_LEN;
pub(super) use crate::util::vector::avx2::Avx2;

/// In a shuffle: no byte of the source, but 0.
const ZERO: u8 = 0x80;

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

/// The two halves of the key of a piece of more than 16 bytes; `None` if it is too long.
#[inline]
#[target_feature(enable = "avx2")]
fn long_key(bytes: &[u8; MAX_KEY_LEN], length: usize) -> Option<(__m128i, __m128i)> {
    let mask = FIRST_BYTES.get(MAX_KEY_LEN.checked_sub(length)?..)?;
    let mask: &[u8; 16] = mask.first_chunk()?;
    let (first, second) = bytes.split_at(16);
    // SAFETY: each reads 16 bytes of an array or slice of 16.
    let (first, second, mask) = unsafe {
        (
            load(first.as_ptr().cast()),
            load(second.as_ptr().cast()),
            load(mask.as_ptr().cast()),
        )
    };
    Some((first, _mm_and_si128(second, mask)))
}

/// The two words of half a key.
#[inline]
#[target_feature(enable = "avx2")]
fn words(half: __m128i) -> [u64; 2] {
    [
        _mm_extract_epi64::<0>(half).cast_unsigned(),
        _mm_extract_epi64::<1>(half).cast_unsigned(),
    ]
}

/// Loads 16 bytes of any alignment.
///
/// # Safety
/// `from` must be valid for reading 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const __m128i) -> __m128i {
    // SAFETY: the caller guarantees that 16 bytes can be read.
    unsafe { _mm_loadu_si128(from) }
}
