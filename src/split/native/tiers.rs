//! Splitting compiled for SSE4.1 or NEON, AVX2 and AVX-512: the only `unsafe` of splitting. The safe twin is
//! [`Scalar`](crate::split::masks::Scalar).
//!
//! AVX-512 classifies a block in half as many instructions as AVX2.
#![allow(unsafe_code)]

use super::{Rule, Sink};
use crate::split::masks::{Classify, Masks};
use crate::split::{ranges, vector};
use crate::util::block::Block;
use crate::util::vector::for_each_tier;

/// A tier whose loop over blocks is compiled with its instructions.
pub(super) trait SplitInto: Classify {
    /// As [`split_blocks`](super::split_blocks).
    fn split_into<S: Sink>(
        self,
        rule: Rule<'_>,
        text: &[u8],
        offset: &mut usize,
        sink: &mut S,
    ) -> Result<(), S::Error>;
}

/// Compiles classification and splitting of a tier with its target features.
macro_rules! compile {
    ($tier:ty, $features:literal) => {
        impl SplitInto for $tier {
            fn split_into<S: Sink>(
                self,
                rule: Rule<'_>,
                text: &[u8],
                offset: &mut usize,
                sink: &mut S,
            ) -> Result<(), S::Error> {
                #[target_feature(enable = $features)]
                fn compiled<S: Sink>(
                    tier: $tier,
                    rule: Rule<'_>,
                    text: &[u8],
                    offset: &mut usize,
                    sink: &mut S,
                ) -> Result<(), S::Error> {
                    super::split_blocks(rule, text, offset, sink, tier)
                }
                // SAFETY: `self` proves that the machine has what the function is compiled for.
                unsafe { compiled(self, rule, text, offset, sink) }
            }
        }

        impl Classify for $tier {
            #[inline(always)]
            fn ascii(self, block: &Block) -> Masks {
                vector::ascii(self, block)
            }

            #[inline(always)]
            fn add_non_ascii(self, masks: Masks, block: &Block) -> Masks {
                #[inline(never)]
                #[target_feature(enable = $features)]
                fn compiled(tier: $tier, masks: Masks, block: &Block) -> Masks {
                    vector::add_non_ascii(tier, masks, block)
                }
                // SAFETY: `self` proves that the machine has what the function is compiled for.
                unsafe { compiled(self, masks, block) }
            }

            #[inline(always)]
            fn cjk(self, block: &Block) -> u64 {
                ranges::cjk(self, block)
            }

            #[inline(always)]
            fn codes(self, block: &Block, table: &[[u8; 64]; 2], used: u8) -> ([u64; 8], u64, u64) {
                ranges::codes(self, block, table, used)
            }

            #[inline(always)]
            fn graphic(self, block: &Block) -> u64 {
                ranges::graphic(self, block)
            }

            #[inline(always)]
            fn han(self, block: &Block) -> (u64, u64) {
                ranges::han(self, block)
            }
        }
    };
}

for_each_tier!(compile, 128..=512);
