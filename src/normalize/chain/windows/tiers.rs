//! Windows classified with SSE4.1 or NEON, AVX2 and AVX-512: the only `unsafe` of normalization. The safe twin is
//! [`classify`](super::classify) with [`Portable`](crate::util::vector::portable::Portable).
#![allow(unsafe_code)]

use super::{Group, Others, Window};
use crate::util::tier::Tier;
use crate::util::vector::{dispatch, for_each_tier};

/// A tier for which the classification is compiled.
trait Classify {
    fn classify(self, window: &Window, begin: [u8; 2], group: &Group) -> Option<Others>;
}

/// Compiles the classification with the target features of a tier.
macro_rules! compile {
    ($tier:ty, $features:literal) => {
        impl Classify for $tier {
            fn classify(self, window: &Window, begin: [u8; 2], group: &Group) -> Option<Others> {
                #[target_feature(enable = $features)]
                fn compiled(
                    tier: $tier,
                    window: &Window,
                    begin: [u8; 2],
                    group: &Group,
                ) -> Option<Others> {
                    super::classify(tier, window, begin, group)
                }
                // SAFETY: `self` proves that the machine has what the function is compiled for.
                unsafe { compiled(self, window, begin, group) }
            }
        }
    };
}

for_each_tier!(compile, 128..=512);

/// As [`classify`](super::classify), with the instructions of a tier; `None` for those without vectors.
pub(super) fn classify(
    tier: Tier,
    window: &Window,
    begin: [u8; 2],
    group: &Group,
) -> Option<Others> {
    dispatch!(tier, |proof| proof.classify(window, begin, group));
    None
}
