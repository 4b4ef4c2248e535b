//! Both steps compiled with the instructions of each tier.

use std::mem::MaybeUninit;

use super::super::PieceCache;
use super::super::bucket::BucketView;
use super::super::probe::{BlockProbes, CacheView, Hashed, Probe, ProbeSlice};
use super::{Compiled, Room, hash, probe};
use crate::token::TokenId;
use crate::util::block::{Block, Spans};
use crate::util::vector::for_each_tier;

/// Compiles both steps of a tier with its target features.
macro_rules! compile {
    ($tier:ty, $features:literal) => {
        impl Compiled for $tier {
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn hash_block<const GAPS: bool>(
                self,
                cache: &PieceCache,
                block: &Block,
                offset: usize,
                spans: Spans<GAPS>,
                probes: BlockProbes<'_>,
            ) -> Hashed {
                hash::hash_block(self, cache, block, offset, spans, probes)
            }

            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn hash_long(
                self,
                cache: &PieceCache,
                rest: &[u8],
                offset: usize,
                length: usize,
            ) -> Probe {
                hash::hash_long(self, cache, rest, offset, length)
            }

            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn probe_short_keys<const KEEP: bool, const FOUR: bool>(
                self,
                view: &BucketView<'_>,
                probes: ProbeSlice<'_>,
                room: &mut [MaybeUninit<TokenId>],
            ) -> (usize, usize, bool) {
                probe::probe_short_keys::<_, KEEP, FOUR>(self, view, probes, room)
            }

            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn probe_long_key<const FOUR: bool>(
                self,
                cache: &CacheView<'_>,
                text: &[u8],
                probe: &Probe,
                room: &mut Room,
            ) -> Option<usize> {
                probe::probe_long_key::<_, FOUR>(self, cache, text, probe, room)
            }
        }
    };
}

for_each_tier!(compile, 128..=256);
