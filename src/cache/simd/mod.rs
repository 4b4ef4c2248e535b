//! Both steps of probing in registers, written once for all tiers that have them. The safe twin of both is
//! [`Scalar`](super::Scalar).
//!
//! What a tier does by instructions of its own is in [`Registers`]; [`hash`] and [`probe`] are generic over it, and
//! [`tiers`] compiles them for each tier.
#![allow(unsafe_code)]
#![expect(
    clippy::inline_always,
    reason = "compiled into the caller, which has the target features"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod half;
mod hash;
#[cfg(target_arch = "aarch64")]
mod neon;
mod probe;
#[cfg(target_arch = "x86_64")]
mod sse;
mod tiers;
#[cfg(target_arch = "wasm32")]
mod wasm;

use std::mem::MaybeUninit;

use half::Half;

use super::PieceCache;
use super::bucket::BucketView;
use super::packed_ids::MAX_IDS;
use super::probe::{BlockProbes, CacheView, Hashed, Probe, ProbeSlice};
use crate::token::TokenId;
use crate::util::block::{Block, Spans};

/// Memory for the ids of any piece.
type Room = [MaybeUninit<TokenId>; MAX_IDS];

/// The operations of a tier on keys and packed ids in its registers.
///
/// # Safety
/// A value proves that the machine has what [`Half`] needs: SSSE3 and SSE4.1, or NEON, or SIMD in WebAssembly.
pub(super) unsafe trait Registers: Copy {
    /// A key, or a short one twice, as a bucket has words.
    type Key: Copy;

    /// Returns whether a block has NULs, which pad keys.
    fn has_nul(self, block: &Block) -> bool;

    /// Returns a key of two halves: a short one is both of them.
    fn key(self, halves: [Half<Self>; 2]) -> Self::Key;

    /// Returns the words of a bucket that equal those of the key, a bit each.
    fn equal_words(self, words: &[u64; 4], key: Self::Key) -> usize;

    /// Stores the ids of two words: eight, of which the first six are ids if they are packed by three.
    fn store_ids<const FOUR: bool>(self, packed: Half<Self>, room: &mut [MaybeUninit<TokenId>; 8]);
}

/// The functions that are compiled for a tier. All but the first are called, not inlined.
///
/// # Safety
/// Each may be called on any value, which proves that the machine has what it is compiled for.
pub(super) trait Compiled: Registers {
    /// As [`hash::hash_block`].
    unsafe fn hash_block<const GAPS: bool>(
        self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
        probes: BlockProbes<'_>,
    ) -> Hashed;

    /// As [`hash::hash_long`].
    unsafe fn hash_long(
        self,
        cache: &PieceCache,
        rest: &[u8],
        offset: usize,
        length: usize,
    ) -> Probe;

    /// As [`probe::probe_short_keys`].
    unsafe fn probe_short_keys<const KEEP: bool, const FOUR: bool>(
        self,
        view: &BucketView<'_>,
        probes: ProbeSlice<'_>,
        room: &mut [MaybeUninit<TokenId>],
    ) -> (usize, usize, bool);

    /// As [`probe::probe_long_key`].
    unsafe fn probe_long_key<const FOUR: bool>(
        self,
        cache: &CacheView<'_>,
        text: &[u8],
        probe: &Probe,
        room: &mut Room,
    ) -> Option<usize>;
}
