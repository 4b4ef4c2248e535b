//! The common part of SSE4.1, NEON and WebAssembly: the proof that the machine has one of them, and 64 bytes as four
//! registers.

use crate::util::tier::Tier;

/// Proof that the machine has SSSE3, SSE4.1 and POPCNT, or NEON, or is WebAssembly with SIMD.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd128(());

impl Simd128 {
    /// Returns the proof if the machine has them.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        Tier::Simd128.available().then_some(Self(()))
    }
}

/// Evaluates an expression for each of the four registers.
macro_rules! each {
    (|$n:ident| $value:expr) => {
        // SAFETY: a value of `Simd128` proves that the machine has the instructions.
        unsafe {
            [
                {
                    let $n = 0;
                    $value
                },
                {
                    let $n = 1;
                    $value
                },
                {
                    let $n = 2;
                    $value
                },
                {
                    let $n = 3;
                    $value
                },
            ]
        }
    };
}
pub(super) use each;
