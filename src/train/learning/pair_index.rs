//! The pair index: how often each pair occurs, and where.
//!
//! A pair gets all of its occurrences at once: when the corpus is indexed, or with the merge that makes one
//! of its tokens. After that it only loses some. So the occurrences of all pairs are in one pool, those of a
//! pair adjacent and sorted, and are never removed one by one: a visitor of an occurrence checks that the
//! pair is still there.

use std::ops::Range;

use super::corpus::Occurrence;
use crate::error::TrainError;
use crate::token::Pair;
use crate::util::hash::FibonacciHash;
use crate::util::memory::{self, LargeVec};

/// The entry of a pair.
#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    /// [`Pair::key`], or [`EMPTY`].
    key: u64,
    count: u64,
    /// Index in the pool of its first occurrence.
    start: u32,
    /// Number of occurrences in the pool.
    occurrences: u32,
}

/// The key of an empty entry; no pair has it, as there is no token 2^32 - 1.
const EMPTY: u64 = u64::MAX;

const MIN_ENTRIES_LOG2: u32 = 8;

/// How many pairs ahead entries are prefetched.
const PREFETCH_AHEAD: usize = 16;

/// Gaps of fewer occurrences are not worth closing; small in tests, whose pools are small.
const MIN_GAPS: usize = if cfg!(test) { 1 << 4 } else { 1 << 16 };

/// Returns which of `shards` shards owns a pair. A pair and its reverse have the same one.
#[inline]
pub(super) fn shard_of(pair: Pair, shards: usize) -> usize {
    // The upper half of the hash, scaled to the number of shards.
    let hash = FibonacciHash::default().slot(u64::from(pair.left ^ pair.right), u32::BITS);
    ((hash as u64 * shards as u64) >> u32::BITS) as usize
}

/// The pairs of a shard that may still be merged: a hash table with linear probing, and the pool.
#[derive(Debug)]
pub(super) struct PairIndex {
    entries: LargeVec<IndexEntry>,
    spread: FibonacciHash,
    /// Shifts a hash down to the index of an entry.
    shift: u32,
    filled: usize,
    pool: LargeVec<Occurrence>,
    /// Index in the pool where the occurrences of the next pair start.
    end: usize,
    /// The pairs in the order of their occurrences in the pool. Some are no longer in the index.
    order: Vec<Pair>,
    /// Number of occurrences in the pool that belong to pairs in the index.
    live: usize,
}

impl Default for PairIndex {
    fn default() -> Self {
        Self {
            entries: empty_entries(MIN_ENTRIES_LOG2),
            spread: FibonacciHash::default(),
            shift: 64 - MIN_ENTRIES_LOG2,
            filled: 0,
            pool: memory::large_vec(0),
            end: 0,
            order: Vec::new(),
            live: 0,
        }
    }
}

fn empty_entries(log2: u32) -> LargeVec<IndexEntry> {
    let empty = IndexEntry {
        key: EMPTY,
        count: 0,
        start: 0,
        occurrences: 0,
    };
    let mut entries = memory::large_vec(1 << log2);
    entries.resize(1 << log2, empty);
    entries
}

impl PairIndex {
    /// Returns the count of a pair, if it is in the index.
    pub(super) fn count(&self, pair: Pair) -> Option<u64> {
        self.find(pair).map(|index| self.entries[index].count)
    }

    /// Adds a pair that is not in the index. Returns the index in the [pool](Self::pool) where the caller
    /// writes its occurrences.
    pub(super) fn insert(
        &mut self,
        pair: Pair,
        count: u64,
        occurrences: u32,
    ) -> Result<u32, TrainError> {
        let end = self.end + occurrences as usize;
        u32::try_from(end).map_err(|_| TrainError::TooLarge)?;
        let start = u32::try_from(self.end).map_err(|_| TrainError::TooLarge)?;
        self.end = end;
        self.live += occurrences as usize;
        self.order.push(pair);
        let index = self.find_or_insert(pair);
        self.entries[index] = IndexEntry {
            key: pair.key(),
            count,
            start,
            occurrences,
        };
        Ok(start)
    }

    /// The occurrences of all pairs, with space for those of the pairs that were inserted last.
    pub(super) fn pool(&mut self) -> &mut [Occurrence] {
        self.pool.resize(self.end, 0);
        &mut self.pool
    }

    /// Length of the pool, the occurrences of removed pairs included.
    pub(super) fn pool_length(&self) -> usize {
        self.end
    }

    /// Sets the occurrences of all pairs.
    pub(super) fn set_pool(&mut self, pool: LargeVec<Occurrence>) {
        assert_eq!(pool.len(), self.end, "the pool has space for each pair");
        self.pool = pool;
    }

    /// A range of the pool.
    pub(super) fn occurrences(&self, range: Range<usize>) -> &[Occurrence] {
        &self.pool[range]
    }

    /// Decreases the count of a pair, if it is in the index. Below `min_count` the pair is dropped.
    pub(super) fn decrease(&mut self, pair: Pair, by: u64, min_count: u64) {
        if let Some(index) = self.find(pair) {
            let entry = &mut self.entries[index];
            entry.count = entry
                .count
                .checked_sub(by)
                .expect("a pair loses no more than its count");
            if entry.count < min_count {
                self.delete(index);
            }
        }
    }

    /// Prefetches the entry of a pair.
    #[inline]
    pub(super) fn prefetch(&self, pair: Pair) {
        memory::prefetch(&self.entries[self.home(pair.key())]);
    }

    /// Removes a pair and returns the range of its occurrences in the pool.
    pub(super) fn remove(&mut self, pair: Pair) -> Range<usize> {
        let index = self.find(pair).expect("only an indexed pair is merged");
        let IndexEntry {
            start, occurrences, ..
        } = self.entries[index];
        self.delete(index);
        start as usize..start as usize + occurrences as usize
    }

    /// Returns the first occurrence of a pair that still `holds`, and drops those before it; `None` if the
    /// pair is not in the index.
    pub(super) fn first(
        &mut self,
        pair: Pair,
        holds: impl Fn(Occurrence) -> bool,
    ) -> Option<Occurrence> {
        let index = self.find(pair)?;
        let entry = &mut self.entries[index];
        loop {
            assert!(entry.occurrences > 0, "a pair with a count occurs");
            let occurrence = self.pool[entry.start as usize];
            if holds(occurrence) {
                return Some(occurrence);
            }
            entry.start += 1;
            entry.occurrences -= 1;
            self.live -= 1;
        }
    }

    /// Closes the gaps in the pool if they take a third of it.
    ///
    /// Sorting the entries by where their occurrences start, instead of keeping `order`, took a tenth of the
    /// time of all merges.
    pub(super) fn close_gaps(&mut self) {
        if self.end < self.live + self.live / 2 + MIN_GAPS {
            return;
        }
        let (mut kept, mut to) = (0, 0);
        for next in 0..self.order.len() {
            if let Some(&later) = self.order.get(next + PREFETCH_AHEAD) {
                self.prefetch(later);
            }
            let pair = self.order[next];
            let Some(index) = self.find(pair) else {
                continue;
            };
            let entry = &mut self.entries[index];
            let start = entry.start as usize;
            let range = start..start + entry.occurrences as usize;
            entry.start = to;
            to += entry.occurrences;
            self.pool.copy_within(range, entry.start as usize);
            self.order[kept] = pair;
            kept += 1;
        }
        self.order.truncate(kept);
        self.end = to as usize;
        self.pool.truncate(self.end);
    }

    fn home(&self, key: u64) -> usize {
        self.spread.slot(key, self.shift)
    }

    #[inline]
    fn find(&self, pair: Pair) -> Option<usize> {
        let key = pair.key();
        let mask = self.entries.len() - 1;
        let mut index = self.home(key);
        loop {
            let found = self.entries[index & mask].key;
            if found == key {
                return Some(index & mask);
            }
            if found == EMPTY {
                return None;
            }
            index += 1;
        }
    }

    fn free_entry(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut index = self.home(key);
        while self.entries[index & mask].key != EMPTY {
            index += 1;
        }
        index & mask
    }

    fn find_or_insert(&mut self, pair: Pair) -> usize {
        if let Some(index) = self.find(pair) {
            return index;
        }
        if 3 * (self.filled + 1) > 2 * self.entries.len() {
            self.shift -= 1;
            self.rehash();
        }
        self.filled += 1;
        let mut index = self.free_entry(pair.key());
        let walked = index.wrapping_sub(self.home(pair.key())) & (self.entries.len() - 1);
        if let Some(spread) = self.spread.after_walk(walked) {
            self.spread = spread;
            self.rehash();
            index = self.free_entry(pair.key());
        }
        self.entries[index] = IndexEntry {
            key: pair.key(),
            count: 0,
            start: 0,
            occurrences: 0,
        };
        index
    }

    /// Moves all pairs to their entries under the current shift and spread.
    fn rehash(&mut self) {
        let empty = empty_entries(64 - self.shift);
        let before = std::mem::replace(&mut self.entries, empty);
        for entry in before.iter().filter(|entry| entry.key != EMPTY) {
            let index = self.free_entry(entry.key);
            self.entries[index] = *entry;
        }
    }

    /// Empties an entry, and moves up those after it that would no longer be found (backward-shift deletion).
    fn delete(&mut self, index: usize) {
        self.live -= self.entries[index].occurrences as usize;
        self.filled -= 1;
        let mask = self.entries.len() - 1;
        let (mut gap, mut next) = (index, index);
        loop {
            self.entries[gap].key = EMPTY;
            loop {
                next = (next + 1) & mask;
                let key = self.entries[next].key;
                if key == EMPTY {
                    return;
                }
                // Whether its home is not after the gap and up to its index.
                if next.wrapping_sub(self.home(key)) & mask >= next.wrapping_sub(gap) & mask {
                    break;
                }
            }
            self.entries[gap] = self.entries[next];
            gap = next;
        }
    }
}
