//! The instruction set that the hot loops are compiled for: chosen once per process.

use std::sync::OnceLock;

use crate::util::lazy::get_or_init_nonblocking;

/// An instruction set, in ascending order: a machine that has one has all before it. All tiers return the
/// same ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// One character at a time: the definition that the other tiers are tested against.
    Reference,
    /// One block at a time, in portable code.
    Scalar,
    /// One block at a time, in registers of 16 bytes: SSE4.1, NEON, or those of WebAssembly.
    Simd128,
    /// One block at a time, with AVX2.
    Avx2,
    /// The same, with AVX-512 where it gains: classifying blocks, hashing pieces, converting strings to and
    /// from UTF-8. On AMD Zen 4, replays take 9 to 21 % less time than with AVX2, first passes up to 12 %
    /// (`make bench-tiers`).
    Avx512,
}

impl Tier {
    /// All tiers, in ascending order.
    pub const ALL: [Self; 5] = [
        Self::Reference,
        Self::Scalar,
        Self::Simd128,
        Self::Avx2,
        Self::Avx512,
    ];

    /// Its name in the environment variable `BYTEMILL_TIER`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Scalar => "scalar",
            Self::Simd128 => "simd128",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The tier of this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// Returns whether it has the instructions of AVX2.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn has_avx2(self) -> bool {
        matches!(self, Self::Avx2 | Self::Avx512)
    }

    /// Returns whether this machine can run it.
    #[inline]
    pub fn available(self) -> bool {
        self as u8 <= Self::fastest() as u8
    }

    /// The last that this machine can run.
    #[inline]
    fn fastest() -> Self {
        // Cached: detecting each instruction set in each call took as long as splitting some words.
        static FASTEST: OnceLock<Tier> = OnceLock::new();
        *get_or_init_nonblocking(&FASTEST, || {
            match (has_simd128(), has_avx2(), has_avx512()) {
                (true, true, true) => Self::Avx512,
                (true, true, false) => Self::Avx2,
                (true, false, _) => Self::Simd128,
                (false, ..) => Self::Scalar,
            }
        })
    }

    /// The tier that `BYTEMILL_TIER` names, if this machine can run it; otherwise the fastest that it can.
    pub fn current() -> Self {
        static CURRENT: OnceLock<Tier> = OnceLock::new();
        *get_or_init_nonblocking(&CURRENT, || {
            let named = std::env::var("BYTEMILL_TIER").ok();
            named
                .and_then(|name| Self::from_name(&name))
                .filter(|tier| tier.available())
                .unwrap_or_else(Self::fastest)
        })
    }
}

/// Returns whether the machine has what the tier of registers of 16 bytes is compiled for.
#[cfg(target_arch = "x86_64")]
fn has_simd128() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("ssse3") && has!("sse4.1") && has!("popcnt")
}

/// NEON is part of the architecture; WebAssembly has been compiled with SIMD or not.
#[cfg(all(vectors, not(target_arch = "x86_64")))]
fn has_simd128() -> bool {
    true
}

#[cfg(not(any(vectors, target_arch = "x86_64")))]
fn has_simd128() -> bool {
    false
}

/// Returns whether the machine has what the AVX2 tier is compiled for, beyond that.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

/// Returns whether the machine has what the AVX-512 tier is compiled for, beyond AVX2.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512f")
        && has!("avx512bw")
        && has!("avx512dq")
        && has!("avx512vl")
        && has!("avx512vbmi")
        && has!("avx512vbmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::Tier;

    #[test]
    fn names() {
        for tier in Tier::ALL {
            assert_eq!(Tier::from_name(tier.name()), Some(tier));
        }
        assert_eq!(Tier::from_name("Scalar"), None);
        assert_eq!(Tier::from_name(""), None);
    }
}
