//! AVX2: 64 bytes in two registers.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_max_epu8, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_sub_epi8,
};

use super::Vector;
use super::avx512::Avx512;
use crate::util::block::BLOCK_LEN;
use crate::util::tier::Tier;

/// Proof that the machine has AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Returns the proof if the machine has them.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        Tier::Avx2.available().then_some(Self(()))
    }
}

impl From<Avx512> for Avx2 {
    /// A machine with AVX-512 has AVX2.
    fn from(_: Avx512) -> Self {
        Self(())
    }
}

/// Applies an intrinsic to both registers.
macro_rules! both {
    ($intrinsic:ident, $a:expr) => {
        both!(|half| $intrinsic($a[half]))
    };
    ($intrinsic:ident, $a:expr, $b:expr) => {
        both!(|half| $intrinsic($a[half], $b[half]))
    };
    (|$half:ident| $value:expr) => {
        // SAFETY: a value of `Avx2` proves that the machine has AVX2.
        unsafe {
            [
                {
                    let $half = 0;
                    $value
                },
                {
                    let $half = 1;
                    $value
                },
            ]
        }
    };
}

impl Vector for Avx2 {
    type Bytes = [__m256i; 2];
    /// `0xFF` for true and 0 for false in each byte.
    type Mask = [__m256i; 2];

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK_LEN]) -> Self::Bytes {
        let (halves, []) = bytes.as_chunks::<32>() else {
            unreachable!("64 bytes are two halves")
        };
        // The pointers are those of 32 bytes each.
        both!(|half| _mm256_loadu_si256(halves[half].as_ptr().cast()))
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> Self::Bytes {
        // SAFETY: a value of `Avx2` proves that the machine has AVX2.
        [unsafe { _mm256_set1_epi8(byte.cast_signed()) }; 2]
    }

    #[inline(always)]
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        both!(_mm256_and_si256, a, b)
    }

    #[inline(always)]
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes {
        both!(_mm256_or_si256, a, b)
    }

    #[inline(always)]
    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        both!(_mm256_cmpeq_epi8, a, b)
    }

    #[inline(always)]
    fn at_least(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask {
        self.equal(both!(_mm256_max_epu8, a, b), a)
    }

    #[inline(always)]
    fn in_range<const FIRST: u8, const COUNT: u8>(self, a: Self::Bytes) -> Self::Mask {
        // Shifted so that the range starts at the least signed number, one signed comparison decides.
        let shifted = both!(_mm256_sub_epi8, a, self.splat(FIRST.wrapping_sub(0x80)));
        let end = self.splat(COUNT.wrapping_add(0x80));
        both!(_mm256_cmpgt_epi8, end, shifted)
    }

    #[inline(always)]
    fn look_up_16(self, table: &[u8; 16], indices: Self::Bytes) -> Self::Bytes {
        // SAFETY: as above, and the 16 bytes are those of the table.
        let table = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) };
        both!(|half| _mm256_shuffle_epi8(table, indices[half]))
    }

    #[inline(always)]
    fn look_up_64(self, table: &[u8; 64], indices: Self::Bytes) -> Self::Bytes {
        let (quarters, _) = table.as_chunks::<16>();
        let lowest = self.and(indices, self.splat(0xF));
        let a = self.look_up_16(&quarters[0], lowest);
        let b = self.look_up_16(&quarters[1], lowest);
        let c = self.look_up_16(&quarters[2], lowest);
        let d = self.look_up_16(&quarters[3], lowest);
        // A blend chooses by the top bit of each byte: bits 4 and 5 are shifted there.
        let fourth = both!(|half| _mm256_slli_epi16::<3>(indices[half]));
        let fifth = both!(|half| _mm256_slli_epi16::<2>(indices[half]));
        both!(|half| {
            let low = _mm256_blendv_epi8(a[half], b[half], fourth[half]);
            let high = _mm256_blendv_epi8(c[half], d[half], fourth[half]);
            _mm256_blendv_epi8(low, high, fifth[half])
        })
    }

    #[inline(always)]
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        self.and(a, b)
    }

    #[inline(always)]
    fn either(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        self.or(a, b)
    }

    #[inline(always)]
    fn keep(self, mask: Self::Mask, bytes: Self::Bytes) -> Self::Bytes {
        self.and(mask, bytes)
    }

    #[inline(always)]
    fn bits(self, mask: Self::Mask) -> u64 {
        self.highest_bits(mask)
    }

    #[inline(always)]
    fn highest_bits(self, bytes: Self::Bytes) -> u64 {
        let [low, high] = both!(highest_bits, bytes);
        low | high << 32
    }
}

/// Returns the highest bit of each of 32 bytes.
///
/// In assembly, because the compiler takes the intrinsic apart, byte by byte, where its result is used in
/// another basic block.
#[inline]
#[target_feature(enable = "avx2")]
fn highest_bits(bytes: __m256i) -> u64 {
    let bits: u64;
    // SAFETY: reads one register and writes another, whose upper half it clears.
    unsafe {
        asm!("vpmovmskb {bits:e}, {bytes}", bits = lateout(reg) bits, bytes = in(ymm_reg) bytes,
            options(pure, nomem, nostack, preserves_flags));
    }
    bits
}
