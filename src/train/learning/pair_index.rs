//! The pair index: how often each pair occurs, and where.
//!
//! A pair gets all of its occurrences at once: when the corpus is indexed, or with the merge that makes one
//! of its tokens. After that it only loses some. So the occurrences of all pairs are in one pool, those of a
//! pair adjacent and sorted, and are never removed one by one: a visitor of an occurrence checks that the
//! pair is still there.

use std::ops::Range;

use super::offset::Offset;
use super::pair_table::{PairStats, PairTable};
use crate::token::Pair;
use crate::util::hash::FibonacciHash;
use crate::util::memory::{self, Growable, LargeVec};

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

/// The pairs of a shard that may still be merged, and the pool.
#[derive(Debug)]
pub(super) struct PairIndex<O> {
    /// Where the occurrences of a pair begin in the pool is its `next`.
    table: PairTable<O>,
    pool: LargeVec<O>,
    /// Index in the pool where the occurrences of the next pair start.
    end: usize,
    /// The pairs in the order of their occurrences in the pool. Some are no longer in the index.
    order: Vec<Pair>,
    /// Number of occurrences in the pool that belong to pairs in the index.
    live: usize,
}

impl<O: Offset> Default for PairIndex<O> {
    fn default() -> Self {
        Self {
            table: PairTable::default(),
            pool: memory::large_vec(0),
            end: 0,
            order: Vec::new(),
            live: 0,
        }
    }
}

impl<O: Offset> PairIndex<O> {
    /// Returns the count of a pair, if it is in the index.
    pub(super) fn count(&self, pair: Pair) -> Option<u64> {
        let index = self.table.find(pair)?;
        Some(self.table.at(index).count)
    }

    /// Adds a pair that is not in the index. Returns the index in the [pool](Self::pool) where the caller
    /// writes its occurrences, or `None` if offsets do not suffice for a pool that holds these, too.
    pub(super) fn insert(&mut self, pair: Pair, count: u64, occurrences: O) -> Option<O> {
        let end = self.end + occurrences.get();
        if !O::suffices(end) {
            return None;
        }
        let start = O::new(self.end);
        self.end = end;
        self.live += occurrences.get();
        self.order.with_room(1).push(pair);
        *self.table.stats(pair) = PairStats {
            count,
            occurrences,
            next: start,
        };
        Some(start)
    }

    /// The occurrences of all pairs, with space for those of the pairs that were inserted last.
    pub(super) fn pool(&mut self) -> &mut [O] {
        let more = self.end.saturating_sub(self.pool.len());
        self.pool.with_room(more).resize(self.end, O::default());
        &mut self.pool
    }

    /// Length of the pool, the occurrences of removed pairs included.
    pub(super) fn pool_length(&self) -> usize {
        self.end
    }

    /// Sets the occurrences of all pairs.
    pub(super) fn set_pool(&mut self, pool: LargeVec<O>) {
        assert_eq!(pool.len(), self.end, "the pool has space for each pair");
        self.pool = pool;
    }

    /// A range of the pool.
    pub(super) fn occurrences(&self, range: Range<usize>) -> &[O] {
        &self.pool[range]
    }

    /// Decreases the count of a pair, if it is in the index. Below `min_count` the pair is dropped.
    pub(super) fn decrease(&mut self, pair: Pair, by: u64, min_count: u64) {
        if let Some(index) = self.table.find(pair) {
            let entry = self.table.at_mut(index);
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
        self.table.prefetch(pair);
    }

    /// Removes a pair and returns the range of its occurrences in the pool.
    pub(super) fn remove(&mut self, pair: Pair) -> Range<usize> {
        let index = self.table.find(pair);
        let index = index.expect("only an indexed pair is merged");
        let PairStats {
            next, occurrences, ..
        } = *self.table.at(index);
        self.delete(index);
        next.get()..next.get() + occurrences.get()
    }

    /// Returns the first occurrence of a pair that still `holds`, and drops those before it; `None` if the
    /// pair is not in the index.
    pub(super) fn first(&mut self, pair: Pair, holds: impl Fn(O) -> bool) -> Option<O> {
        let index = self.table.find(pair)?;
        let entry = self.table.at_mut(index);
        loop {
            assert!(
                entry.occurrences > O::default(),
                "a pair with a count occurs"
            );
            let occurrence = self.pool[entry.next.get()];
            if holds(occurrence) {
                return Some(occurrence);
            }
            entry.next += O::from(1);
            entry.occurrences -= O::from(1);
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
        let (mut kept, mut to) = (0, O::default());
        for next in 0..self.order.len() {
            if let Some(&later) = self.order.get(next + PREFETCH_AHEAD) {
                self.prefetch(later);
            }
            let pair = self.order[next];
            let Some(index) = self.table.find(pair) else {
                continue;
            };
            let entry = self.table.at_mut(index);
            let start = entry.next.get();
            let range = start..start + entry.occurrences.get();
            entry.next = to;
            to += entry.occurrences;
            self.pool.copy_within(range, entry.next.get());
            self.order[kept] = pair;
            kept += 1;
        }
        self.order.truncate(kept);
        self.end = to.get();
        self.pool.truncate(self.end);
    }

    /// Removes an entry.
    fn delete(&mut self, index: usize) {
        self.live -= self.table.at(index).occurrences.get();
        self.table.delete(index);
    }
}
