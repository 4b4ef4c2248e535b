//! Operations on 64 bytes at a time, in which a hot loop is written once for all instruction sets.
//!
//! An instruction set is a zero-sized type whose only constructor, `detect`, succeeds on a machine that has
//! it: a value of the type proves that its instructions may be executed, so its operations are safe
//! functions. They are compiled to those instructions where they are inlined into a function with
//! `#[target_feature]`: whatever is generic over [`Vector`] is `#[inline(always)]` as well, and has no
//! closures, which need not be inlined.
//!
//! `build.rs` sets `cfg(vectors)` for targets that have such a type: x86-64, aarch64, and WebAssembly if it is compiled with
//! `simd128`.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod portable;
#[cfg(vectors)]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod sse;
#[cfg(all(vectors, target_arch = "wasm32"))]
mod wasm;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod words;

#[cfg(vectors)]
pub(crate) use simd128::Simd128;

use crate::util::block::BLOCK_LEN;

/// Returns the value of an expression from the function that it stands in, for a tier with vectors on a machine that has
/// it, with the proof of that. What stands behind is for other tiers and machines.
macro_rules! dispatch {
    ($tier:expr, |$proof:ident| $value:expr) => {
        $crate::util::vector::dispatch!($tier, |$proof| $value, avx512: $value)
    };
    ($tier:expr, |$proof:ident| $value:expr, avx512: $by_avx512:expr) => {
        #[cfg(target_arch = "x86_64")]
        {
            use $crate::util::vector::{avx2::Avx2, avx512::Avx512};

            if $tier == $crate::util::tier::Tier::Avx512
                && let Some($proof) = Avx512::detect()
            {
                return $by_avx512;
            }
            if $tier.has_avx2()
                && let Some($proof) = Avx2::detect()
            {
                return $value;
            }
        }
        #[cfg(vectors)]
        if $tier == $crate::util::tier::Tier::Simd128
            && let Some($proof) = $crate::util::vector::Simd128::detect()
        {
            return $value;
        }
    };
}
pub(crate) use dispatch;

/// Passes tiers with vectors to a macro, each as its proof and its target features: those but AVX-512 with `128..=256`.
#[cfg(vectors)]
macro_rules! for_each_tier {
    ($compile:ident, 128..=256) => {
        #[cfg(target_arch = "aarch64")]
        $compile!($crate::util::vector::Simd128, "neon");
        #[cfg(target_arch = "wasm32")]
        $compile!($crate::util::vector::Simd128, "simd128");
        #[cfg(target_arch = "x86_64")]
        $compile!($crate::util::vector::Simd128, "ssse3,sse4.1,popcnt");
        #[cfg(target_arch = "x86_64")]
        $compile!(
            $crate::util::vector::avx2::Avx2,
            "avx2,bmi1,bmi2,lzcnt,popcnt"
        );
    };
    ($compile:ident, 128..=512) => {
        $crate::util::vector::for_each_tier!($compile, 128..=256);
        #[cfg(target_arch = "x86_64")]
        $compile!(
            $crate::util::vector::avx512::Avx512,
            "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
        );
    };
}
#[cfg(vectors)]
pub(crate) use for_each_tier;

/// An instruction set with vectors of bytes.
pub(crate) trait Vector: Copy {
    /// 64 bytes, in as many registers as they take.
    type Bytes: Copy;

    /// A truth value for each byte.
    type Mask: Copy;

    /// Loads 64 bytes.
    fn load(self, bytes: &[u8; BLOCK_LEN]) -> Self::Bytes;

    /// Returns the same byte 64 times.
    fn splat(self, byte: u8) -> Self::Bytes;

    /// Returns `a & b`.
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Returns `a | b`.
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;

    /// Returns `a == b`.
    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask;

    /// Returns `a >= b`, of unsigned bytes.
    fn at_least(self, a: Self::Bytes, b: Self::Bytes) -> Self::Mask;

    /// Returns `FIRST <= a && a - FIRST < COUNT`, of unsigned bytes.
    fn in_range<const FIRST: u8, const COUNT: u8>(self, a: Self::Bytes) -> Self::Mask;

    /// Looks up each of `indices`, all below 128, by its lowest four bits.
    fn look_up_16(self, table: &[u8; 16], indices: Self::Bytes) -> Self::Bytes;

    /// Looks up each of `indices` by its lowest six bits.
    fn look_up_64(self, table: &[u8; 64], indices: Self::Bytes) -> Self::Bytes;

    /// Returns where both masks are true.
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;

    /// Returns where either mask is true.
    fn either(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;

    /// Returns the bytes where `mask` is true, and 0 elsewhere.
    fn keep(self, mask: Self::Mask, bytes: Self::Bytes) -> Self::Bytes;

    /// Returns a mask as a number: bit `i` is the truth value of byte `i`.
    fn bits(self, mask: Self::Mask) -> u64;

    /// Returns the highest bit of each byte: bit `i` is that of byte `i`.
    fn highest_bits(self, bytes: Self::Bytes) -> u64;
}
