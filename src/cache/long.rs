//! Longer pieces → their ids: a bucket of slots by hash, then one record of ids and bytes.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::budget::Share;
use crate::token::TokenId;
use crate::util::hash::GOLDEN_RATIO;
use crate::util::memory;

/// Slots in a bucket.
const SLOTS: usize = 8;

/// One cache line of slots: the upper half of a piece's hash, and in the lower half the index of its record
/// plus one. 0 marks an empty slot.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct HashBucket([u64; SLOTS]);

/// Pieces by hash. Grows with what is stored and is emptied when it is full.
#[derive(Debug)]
pub(super) struct LongPieces {
    buckets: Vec<HashBucket>,
    /// Number of slots in use.
    filled: usize,
    /// Records: the numbers of ids and of bytes in one word, the ids, the bytes in little-endian words.
    records: Vec<u32>,
    /// The part of the budget that each of both takes.
    bucket_share: Share,
    record_share: Share,
}

const MIN_BUCKETS: usize = 1 << 7;

/// Bits of a length; the number of ids is above it.
const LENGTH_BITS: u32 = 16;

impl LongPieces {
    /// Creates an empty table, which will take memory of the budget of `share`.
    pub(super) fn new(share: Share) -> Self {
        Self {
            buckets: Vec::new(),
            filled: 0,
            records: Vec::new(),
            record_share: share.another(),
            bucket_share: share,
        }
    }

    /// Number of bytes it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<HashBucket>() * self.buckets.capacity() + 4 * self.records.capacity()
    }

    /// Number of bytes that it has taken of the budget.
    pub(super) fn taken(&self) -> usize {
        self.bucket_share.bytes() + self.record_share.bytes()
    }

    /// The bucket of a hash; `None` if there are no buckets yet.
    #[inline]
    fn bucket(&self, hash: u64) -> Option<&HashBucket> {
        self.buckets.get(self.bucket_index(hash))
    }

    #[inline]
    fn bucket_index(&self, hash: u64) -> usize {
        (hash >> 32) as usize & self.buckets.len().wrapping_sub(1)
    }

    /// Prefetches the bucket of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.bucket(hash) {
            memory::prefetch(bucket);
        }
    }

    /// Prefetches the first three cache lines of the record that a hash refers to, if any; most are no
    /// longer.
    pub(super) fn prefetch_record(&self, hash: u64) {
        const WORDS_PER_LINE: usize = 64 / size_of::<u32>();
        if let Some(start) = self.find(hash) {
            let record = &self.records[start..];
            for word in record.iter().step_by(WORDS_PER_LINE).take(3) {
                memory::prefetch(word);
            }
        }
    }

    /// The start of the record that a hash refers to.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn find(&self, hash: u64) -> Option<usize> {
        let same = |slot: &&u64| **slot >> 32 == hash >> 32 && **slot != 0;
        let &slot = self.bucket(hash)?.0.iter().find(same)?;
        Some(slot as u32 as usize - 1)
    }

    /// The ids of a piece and its hash.
    pub(super) fn get(&self, hash: u64, piece: &[u8]) -> Option<&[TokenId]> {
        let (&lengths, record) = self.records[self.find(hash)?..]
            .split_first()
            .expect("a slot refers to a record");
        let (ids, bytes) = record.split_at((lengths >> LENGTH_BITS) as usize);
        if lengths as usize & ((1 << LENGTH_BITS) - 1) != piece.len() {
            return None;
        }
        let bytes = &bytes[..piece.len().div_ceil(4)];
        let (words, rest) = piece.as_chunks::<4>();
        let same = words
            .iter()
            .zip(bytes)
            .all(|(word, &stored)| u32::from_le_bytes(*word) == stored);
        let same = same && (rest.is_empty() || bytes.last() == Some(&last_word(rest)));
        same.then_some(ids)
    }

    /// Stores the ids of a piece, unless memory is short; drops all others if it would take more than `max_memory` bytes
    /// otherwise, or more than the budget has.
    pub(super) fn insert(&mut self, piece: &[u8], ids: &[TokenId], max_memory: usize) {
        let hash = hash(piece);
        let words = 1 + ids.len() + piece.len().div_ceil(4);
        let (Ok(length), Ok(count)) = (u16::try_from(piece.len()), u16::try_from(ids.len())) else {
            return;
        };
        let size = |buckets: usize, words: usize| size_of::<HashBucket>() * buckets + 8 * words;
        // Vectors double, so that 8 bytes a word of 4 are an upper bound.
        if size(self.buckets.len(), self.records.len() + words) > max_memory {
            *self = Self::new(self.bucket_share.another());
        }
        if self.filled >= SLOTS / 2 * self.buckets.len() {
            let larger = (2 * self.buckets.len()).max(MIN_BUCKETS);
            if size(larger, self.records.len()) <= max_memory || self.buckets.is_empty() {
                self.grow(larger);
            }
        }
        if self.buckets.is_empty() {
            return;
        }
        if !self.record_share.reserve(&mut self.records, words) {
            if words > self.records.capacity() {
                return;
            }
            self.records.clear();
            self.buckets.fill(HashBucket::default());
            self.filled = 0;
        }
        let Ok(start) = u32::try_from(self.records.len() + 1) else {
            return;
        };
        self.records
            .push(u32::from(length) | u32::from(count) << LENGTH_BITS);
        self.records.extend_from_slice(ids);
        let (words, rest) = piece.as_chunks::<4>();
        self.records
            .extend(words.iter().map(|word| u32::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.records.push(last_word(rest));
        }
        self.add((hash >> 32 << 32) | u64::from(start));
    }

    /// Moves to more buckets, unless memory or the budget is short.
    fn grow(&mut self, buckets: usize) {
        if !self.bucket_share.resize(size_of::<HashBucket>() * buckets) {
            return;
        }
        let Ok(mut empty) = memory::try_vec_with_capacity(buckets) else {
            let before = size_of::<HashBucket>() * self.buckets.capacity();
            self.bucket_share.resize(before);
            return;
        };
        empty.resize(buckets, HashBucket::default());
        let before = std::mem::replace(&mut self.buckets, empty);
        self.filled = 0;
        for slot in before.iter().flat_map(|bucket| bucket.0) {
            if slot != 0 {
                self.add(slot);
            }
        }
    }

    /// Adds an entry to its bucket, or overwrites one there if that is full.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn add(&mut self, entry: u64) {
        let bucket = self.bucket_index(entry);
        let start = (entry as u32) as usize;
        let slots = &mut self.buckets[bucket].0;
        let empty = slots.iter_mut().find(|slot| **slot == 0);
        self.filled += usize::from(empty.is_some());
        match empty {
            Some(slot) => *slot = entry,
            None => slots[start % SLOTS] = entry,
        }
    }
}

/// The bytes after the last whole word, padded with 0.
fn last_word(rest: &[u8]) -> u32 {
    rest.iter()
        .rev()
        .fold(0, |word, &byte| (word << 8) | u32::from(byte))
}

/// The hash of a piece, whose upper half selects its bucket.
pub(super) fn hash(piece: &[u8]) -> u64 {
    let hash = FxBuildHasher.hash_one(piece);
    // The hasher works in `usize`: with 32 bits, the upper half would be 0 for all pieces.
    if cfg!(target_pointer_width = "64") {
        hash
    } else {
        hash.wrapping_mul(GOLDEN_RATIO)
    }
}
