//! The first step: keys, buckets and prefetches, one piece after the other.

use super::super::PieceCache;
use super::super::key::{self, MAX_KEY_LEN};
use super::super::probe::{BlockProbes, HashBlock, Hashed, Probe, Probing};
use super::super::scalar::Scalar;
use super::half::{Half, ZERO};
use super::{Compiled, Registers};
use crate::util::block::{Block, Spans};

/// The bytes of a piece that make up its short key, by its length: twice for a key of one word.
const KEY_BYTES: [[u8; 16]; 17] = {
    let mut bytes = [[ZERO; 16]; 17];
    let mut length = 1;
    while length <= 16 {
        let mut byte = 0;
        while byte < length {
            #[expect(clippy::cast_possible_truncation, reason = "below 16")]
            let index = byte as u8;
            bytes[length][byte] = index;
            if length <= 8 {
                bytes[length][byte + 8] = index;
            }
            byte += 1;
        }
        length += 1;
    }
    bytes
};

/// From byte `16 - n` on: a mask of `n` bytes.
const FIRST_BYTES: [u8; 32] = {
    let mut mask = [0; 32];
    let mut byte = 0;
    while byte < 16 {
        mask[byte] = 0xFF;
        byte += 1;
    }
    mask
};

impl<R: Compiled> Probing for R {
    type Prober = Self;

    fn prober(self) -> Self {
        self
    }
}

impl<R: Compiled> HashBlock for R {
    #[inline]
    fn hash_block<const GAPS: bool>(
        &self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
        probes: BlockProbes<'_>,
    ) -> Hashed {
        // SAFETY: `self` proves that the machine has what the function is compiled for.
        unsafe { Compiled::hash_block(*self, cache, block, offset, spans, probes) }
    }
}

/// As [`HashBlock::hash_block`].
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a bucket index"
)]
pub(super) fn hash_block<R: Compiled, const GAPS: bool>(
    tier: R,
    cache: &PieceCache,
    block: &Block,
    offset: usize,
    mut spans: Spans<GAPS>,
    probes: BlockProbes<'_>,
) -> Hashed {
    if tier.has_nul(block) {
        return Scalar.hash_block(cache, block, offset, spans, probes);
    }
    let count = spans.count();
    let (mut last_end, mut has_hash) = (0, false);
    // Cut to their number here, or each piece compares its index with it and with that of all.
    let (words_to, buckets) = (&mut probes.words[..count], &mut probes.buckets[..count]);
    for (to, bucket) in words_to.iter_mut().zip(buckets) {
        let (start, end) = spans.take(last_end);
        // No check of overflow: a piece ends behind its start.
        let length = end.wrapping_sub(start);
        if let Some(key_bytes) = KEY_BYTES.get(length) {
            // SAFETY: there are `count` spans, so `start` is 0 or the index of a bit, below `BLOCK_LEN`. A block has
            // 31 bytes more.
            let bytes = unsafe { Half::load(tier, block.as_ptr().add(start)) };
            let key = bytes.shuffle(Half::of(tier, key_bytes));
            key.store(to);
            // 1 for a key of two words.
            let two = (length + 7) >> 4;
            let index = 2 * (key::hash_short(key.words()) >> cache.short_keys.shift) as usize + two;
            *bucket = index as u32;
            cache.short_keys.view().prefetch_bucket(index);
        } else {
            // SAFETY: `tier` proves that the machine has what the function is compiled for.
            let probe = unsafe { tier.hash_long(cache, &block[start..], offset + start, length) };
            has_hash |= probe.hash().is_some();
            (*to, *bucket) = (probe.words, probe.bucket);
        }
        last_end = end;
    }
    Hashed { count, has_hash }
}

/// The probe of a piece of more than 16 bytes: the first `length` of `rest`, at `offset` of the text.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a bucket index"
)]
pub(super) fn hash_long<R: Registers>(
    tier: R,
    cache: &PieceCache,
    rest: &[u8],
    offset: usize,
    length: usize,
) -> Probe {
    let key = match rest.first_chunk() {
        Some(bytes) => long_key(tier, bytes, length),
        None => None,
    };
    let Some([first, second]) = key else {
        return cache.view().probe_by_hash(&rest[..length], offset);
    };
    let ([a, b], [c, d]) = (first.words(), second.words());
    let index = (key::hash_long([a, b, c, d]) >> cache.long_keys.shift) as usize;
    cache.long_keys.view().prefetch_bucket(index);
    Probe {
        words: [0, Probe::pack_span(offset, length)],
        bucket: index as u32 | Probe::LONG_KEY_FLAG,
    }
}

/// The two halves of the key of a piece of more than 16 bytes, the first `length` of `bytes`; `None` if it is too long.
#[inline(always)]
pub(super) fn long_key<R: Registers>(
    tier: R,
    bytes: &[u8; MAX_KEY_LEN],
    length: usize,
) -> Option<[Half<R>; 2]> {
    let mask = FIRST_BYTES.get(MAX_KEY_LEN.checked_sub(length)?..)?;
    let mask = Half::of(tier, mask.first_chunk::<16>()?);
    let [first, second] = bytes.as_chunks::<16>().0 else {
        return None;
    };
    Some([Half::of(tier, first), Half::of(tier, second).and(mask)])
}
