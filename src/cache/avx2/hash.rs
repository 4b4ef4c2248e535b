//! The first step: keys, buckets and prefetches, one piece after the other.

use std::arch::x86_64::{
    _MM_HINT_T0, _mm_prefetch, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_setzero_si256,
};

use super::super::PieceCache;
use super::super::bucket::Bucket;
use super::super::key;
use super::super::probe::{BlockProbes, HashBlock, Hashed, Probe};
use super::super::scalar::Scalar;
use super::{Avx2, ZERO, load, long_key, words};
use crate::util::block::Block;

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

impl HashBlock for Avx2 {
    #[inline]
    fn hash_block(
        &self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        ends: u64,
        probes: BlockProbes<'_>,
    ) -> Hashed {
        // SAFETY: `self` proves that the machine has what the function is compiled for.
        unsafe { hash_block(cache, block, offset, ends, probes) }
    }
}

/// As [`HashBlock::hash_block`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a bucket index"
)]
fn hash_block(
    cache: &PieceCache,
    block: &Block,
    offset: usize,
    mut ends: u64,
    probes: BlockProbes<'_>,
) -> Hashed {
    if has_nul(block) {
        return Scalar.hash_block(cache, block, offset, ends, probes);
    }
    let count = ends.count_ones() as usize;
    let (mut start, mut has_hash) = (0, false);
    // Cut to their number here, or each piece compares its index with it and with that of all.
    let (words_to, buckets) = (&mut probes.words[..count], &mut probes.buckets[..count]);
    for (to, bucket) in words_to.iter_mut().zip(buckets) {
        let end = ends.trailing_zeros() as usize;
        ends &= ends - 1;
        let length = end.wrapping_sub(start);
        if let Some(key_bytes) = KEY_BYTES.get(length) {
            // SAFETY: `start` is 0 or the index of a bit of `ends`, below `BLOCK_LEN`, and a block has 31
            // bytes more; the other load reads an array of 16 bytes.
            let (bytes, key_bytes) = unsafe {
                let bytes = load(block.as_ptr().add(start).cast());
                (bytes, load(key_bytes.as_ptr().cast()))
            };
            let key = _mm_shuffle_epi8(bytes, key_bytes);
            // SAFETY: writes the 16 bytes of both words.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), key) };
            // 1 for a key of two words.
            let two = (length + 7) >> 4;
            let index = 2 * (key::hash_short(words(key)) >> cache.short_keys.shift) as usize + two;
            *bucket = index as u32;
            prefetch(&cache.short_keys.buckets, index);
        } else {
            let probe = probe_long(cache, &block[start..], offset + start, length);
            has_hash |= probe.hash().is_some();
            (*to, *bucket) = (probe.words, probe.bucket);
        }
        start = end;
    }
    Hashed { count, has_hash }
}

/// The probe of a piece of more than 16 bytes: the first `length` of `rest`, at `offset` of the text.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to a bucket index"
)]
pub(in crate::cache) fn probe_long(
    cache: &PieceCache,
    rest: &[u8],
    offset: usize,
    length: usize,
) -> Probe {
    let key = rest.first_chunk().and_then(|bytes| long_key(bytes, length));
    let Some((first, second)) = key else {
        return cache.view().probe_by_hash(&rest[..length], offset);
    };
    let ([a, b], [c, d]) = (words(first), words(second));
    let index = (key::hash_long([a, b, c, d]) >> cache.long_keys.shift) as usize;
    prefetch(&cache.long_keys.buckets, index);
    Probe {
        words: [0, Probe::pack_span(offset, length)],
        bucket: index as u32 | Probe::LONG_KEY_FLAG,
    }
}

/// Prefetches a bucket.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::cache) fn prefetch(buckets: &[Bucket], index: usize) {
    _mm_prefetch::<_MM_HINT_T0>(buckets.as_ptr().wrapping_add(index).cast());
}

/// True if a block has NULs, which pad keys.
#[inline]
#[target_feature(enable = "avx2")]
fn has_nul(block: &Block) -> bool {
    let (halves, _) = block.as_chunks::<32>();
    // SAFETY: each reads an array of 32 bytes.
    let [low, high] =
        [&halves[0], &halves[1]].map(|half| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) });
    let least = _mm256_min_epu8(low, high);
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(least, _mm256_setzero_si256())) != 0
}
