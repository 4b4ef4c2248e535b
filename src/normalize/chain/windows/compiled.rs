//! Windows classified with SSE4.1 or NEON, AVX2 and AVX-512: the only `unsafe` of normalization. The safe twin is
//! [`classify`](super::classify) with [`Portable`](crate::util::vector::portable::Portable).
#![allow(unsafe_code)]

use super::{Group, Others, Window};
use crate::util::tier::Tier;
use crate::util::vector::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::util::vector::{avx2::Avx2, avx512::Avx512};

/// Compiles the classification with the target features of an instruction set.
macro_rules! compile {
    ($name:ident, $tier:ty, $features:literal) => {
        #[target_feature(enable = $features)]
        fn $name(tier: $tier, window: &Window, begin: [u8; 2], group: &Group) -> Option<Others> {
            super::classify(tier, window, begin, group)
        }
    };
}

#[cfg(target_arch = "aarch64")]
compile!(by_simd128, Simd128, "neon");
#[cfg(target_arch = "x86_64")]
compile!(by_simd128, Simd128, "ssse3,sse4.1,popcnt");
#[cfg(target_arch = "x86_64")]
compile!(by_avx2, Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");
#[cfg(target_arch = "x86_64")]
compile!(
    by_avx512,
    Avx512,
    "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
);

/// As [`classify`](super::classify), with the instructions of a tier; `None` for those without vectors.
pub(super) fn classify(
    tier: Tier,
    window: &Window,
    begin: [u8; 2],
    group: &Group,
) -> Option<Others> {
    #[cfg(target_arch = "x86_64")]
    {
        if tier == Tier::Avx512
            && let Some(avx512) = Avx512::detect()
        {
            // SAFETY: a value of `Avx512` proves that the machine has what the function is compiled for.
            return unsafe { by_avx512(avx512, window, begin, group) };
        }
        if tier.has_avx2()
            && let Some(avx2) = Avx2::detect()
        {
            // SAFETY: as above, of `Avx2`.
            return unsafe { by_avx2(avx2, window, begin, group) };
        }
    }
    if tier == Tier::Simd128
        && let Some(simd128) = Simd128::detect()
    {
        // SAFETY: as above, of `Simd128`.
        return unsafe { by_simd128(simd128, window, begin, group) };
    }
    None
}
