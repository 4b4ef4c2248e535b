//! A hash table of pairs, with linear probing.

use super::offset::Offset;
use crate::token::Pair;
use crate::util::hash::FibonacciHash;
use crate::util::memory::{self, LargeVec};

/// How often and where a pair occurs.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairStats<O> {
    /// How often it occurs, weighted by the counts of its pieces.
    pub(super) count: u64,
    /// Number of its occurrences in the corpus.
    pub(super) occurrences: O,
    /// Index in a pool of its first or next occurrence, or [`Offset::NONE`] if its occurrences are not kept.
    pub(super) next: O,
}

impl<O: Offset> Default for PairStats<O> {
    fn default() -> Self {
        Self {
            count: 0,
            occurrences: O::default(),
            next: O::NONE,
        }
    }
}

/// The entry of a pair.
#[derive(Clone, Copy, Debug)]
struct Entry<O> {
    /// [`Pair::key`], or [`EMPTY`].
    key: u64,
    stats: PairStats<O>,
}

/// The key of an empty entry; no pair has it, as there is no token 2^32 - 1.
const EMPTY: u64 = u64::MAX;

const MIN_ENTRIES_LOG2: u32 = 8;

/// Stats by pair.
#[derive(Debug)]
pub(super) struct PairTable<O> {
    entries: LargeVec<Entry<O>>,
    spread: FibonacciHash,
    /// Shifts a hash down to the index of an entry.
    shift: u32,
    filled: usize,
}

impl<O: Offset> Default for PairTable<O> {
    fn default() -> Self {
        Self {
            entries: empty_entries(MIN_ENTRIES_LOG2),
            spread: FibonacciHash::default(),
            shift: 64 - MIN_ENTRIES_LOG2,
            filled: 0,
        }
    }
}

fn empty_entries<O: Offset>(log2: u32) -> LargeVec<Entry<O>> {
    let empty = Entry {
        key: EMPTY,
        stats: PairStats::default(),
    };
    let mut entries = memory::large_vec(1 << log2);
    entries.resize(1 << log2, empty);
    entries
}

impl<O: Offset> PairTable<O> {
    /// The stats at an index that was [found](Self::find).
    #[inline]
    pub(super) fn at(&self, index: usize) -> &PairStats<O> {
        &self.entries[index].stats
    }

    /// As [`at`](Self::at).
    #[inline]
    pub(super) fn at_mut(&mut self, index: usize) -> &mut PairStats<O> {
        &mut self.entries[index].stats
    }

    /// Returns the stats of a pair, inserting them if there are none.
    #[inline]
    pub(super) fn stats(&mut self, pair: Pair) -> &mut PairStats<O> {
        let index = match self.find(pair) {
            Some(index) => index,
            None => self.insert(pair),
        };
        &mut self.entries[index].stats
    }

    /// Iterates over all pairs.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (Pair, &mut PairStats<O>)> {
        let entries = self.entries.iter_mut().filter(|entry| entry.key != EMPTY);
        entries.map(|entry| (Pair::from_key(entry.key), &mut entry.stats))
    }

    /// Prefetches the entry of a pair.
    #[inline]
    pub(super) fn prefetch(&self, pair: Pair) {
        memory::prefetch(&self.entries[self.home(pair.key())]);
    }

    fn home(&self, key: u64) -> usize {
        self.spread.slot(key, self.shift)
    }

    /// Returns the index of a pair, valid until pairs are inserted or deleted.
    #[inline]
    pub(super) fn find(&self, pair: Pair) -> Option<usize> {
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

    /// Inserts a pair that is not there.
    fn insert(&mut self, pair: Pair) -> usize {
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
        self.entries[index] = Entry {
            key: pair.key(),
            stats: PairStats::default(),
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
    pub(super) fn delete(&mut self, index: usize) {
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
