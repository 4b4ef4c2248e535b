//! Splitting compiled for AVX2: the only `unsafe` of splitting. The safe twin is
//! [`Scalar`](crate::split::masks::Scalar).
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

use super::Sink;
use crate::split::masks::{Classify, Masks};
use crate::split::pattern::Family;
use crate::split::vector;
use crate::util::block::Block;
use crate::util::vector::avx2::Avx2;

/// As [`split_blocks`](super::split_blocks), compiled for AVX2.
pub(super) fn split_into<S: Sink>(
    avx2: Avx2,
    family: Family,
    text: &[u8],
    offset: &mut usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn compiled<S: Sink>(
        avx2: Avx2,
        family: Family,
        text: &[u8],
        offset: &mut usize,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        super::split_blocks(family, text, offset, sink, avx2)
    }
    // SAFETY: `avx2` proves that the machine has what the function is compiled for.
    unsafe { compiled(avx2, family, text, offset, sink) }
}

impl Classify for Avx2 {
    #[inline(always)]
    fn ascii(self, block: &Block) -> Masks {
        vector::ascii(self, block)
    }

    #[inline(always)]
    fn add_non_ascii(self, masks: Masks, block: &Block) -> Masks {
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn compiled(avx2: Avx2, masks: Masks, block: &Block) -> Masks {
            vector::add_non_ascii(avx2, masks, block)
        }
        // SAFETY: `self` proves that the machine has what the function is compiled for.
        unsafe { compiled(self, masks, block) }
    }
}
