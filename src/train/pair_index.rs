//! Pairs → how often they occur, and where.
//!
//! A pair gets all of its places at once: when the corpus is first looked through, or when the merge that makes one of
//! its tokens is done. From then on it only ever loses some. So places lie in one pool, each pair's in a row and in
//! order, and are not taken out: who visits a place looks whether the pair is still there.

use std::ops::Range;

use super::corpus::Place;
use crate::error::TrainError;
use crate::token::Pair;
use crate::util::hash::Spread;
use crate::util::memory::{self, LargeVec};

/// What is known of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// [`EMPTY`] if there is none.
    key: u64,
    /// How often it occurs.
    pub(super) count: u64,
    /// Where in the pool its places are.
    start: u32,
    places: u32,
}

/// No pair has this key: there is no token 2^32 - 1.
const EMPTY: u64 = u64::MAX;

const FEWEST_LOG2: u32 = 8;

/// How many pairs ahead memory is asked for.
const AHEAD: usize = 16;

/// Gaps of fewer places are not worth closing. Tests have no more.
const FEW: usize = if cfg!(test) { 1 << 4 } else { 1 << 16 };

/// All pairs that may still be merged.
#[derive(Debug)]
pub(super) struct PairIndex {
    entries: LargeVec<Entry>,
    spread: Spread,
    /// Shifts a mixed key down to the number of an entry.
    shift: u32,
    filled: usize,
    pool: LargeVec<Place>,
    /// Where the places of the next pair start.
    end: usize,
    /// The pairs in the order of their places in the pool. Some are not in the index any more.
    order: Vec<Pair>,
    /// Places in the pool that belong to pairs of the index.
    live: usize,
}

impl Default for PairIndex {
    fn default() -> Self {
        Self {
            entries: empty_entries(FEWEST_LOG2),
            spread: Spread::default(),
            shift: 64 - FEWEST_LOG2,
            filled: 0,
            pool: memory::large_vec(0),
            end: 0,
            order: Vec::new(),
            live: 0,
        }
    }
}

fn empty_entries(log2: u32) -> LargeVec<Entry> {
    let empty = Entry {
        key: EMPTY,
        count: 0,
        start: 0,
        places: 0,
    };
    let mut entries = memory::large_vec(1 << log2);
    entries.resize(1 << log2, empty);
    entries
}

impl PairIndex {
    /// How often a pair occurs, if it is in the index.
    pub(super) fn count(&self, pair: Pair) -> Option<u64> {
        self.find(pair).map(|at| self.entries[at].count)
    }

    /// Adds a pair that is not in the index, with room for so many places in the [pool](Self::pool): where they start.
    pub(super) fn insert(
        &mut self,
        pair: Pair,
        count: u64,
        places: u32,
    ) -> Result<u32, TrainError> {
        let end = self.end + places as usize;
        u32::try_from(end).map_err(|_| TrainError::TooLarge)?;
        let start = u32::try_from(self.end).map_err(|_| TrainError::TooLarge)?;
        self.end = end;
        self.live += places as usize;
        self.order.push(pair);
        let at = self.find_or_insert(pair);
        self.entries[at] = Entry {
            key: pair.key(),
            count,
            start,
            places,
        };
        Ok(start)
    }

    /// The places of all pairs, with room for those that were added last.
    pub(super) fn pool(&mut self) -> &mut [Place] {
        self.pool.resize(self.end, 0);
        &mut self.pool
    }

    /// How many places all pairs have, those included that were taken out.
    pub(super) fn pool_length(&self) -> usize {
        self.end
    }

    /// Gives the places of all pairs.
    pub(super) fn set_pool(&mut self, pool: LargeVec<Place>) {
        self.pool = pool;
    }

    /// Some of the places in the pool.
    pub(super) fn places(&self, range: Range<usize>) -> &[Place] {
        &self.pool[range]
    }

    /// A pair, if it is in the index, occurs so many times less. Below `least` it is dropped.
    pub(super) fn decrease(&mut self, pair: Pair, by: u64, least: u64) {
        if let Some(at) = self.find(pair) {
            let entry = &mut self.entries[at];
            entry.count -= by;
            if entry.count < least {
                self.delete(at);
            }
        }
    }

    /// Asks for the memory of a pair to be brought near.
    #[inline]
    pub(super) fn prefetch(&self, pair: Pair) {
        memory::prefetch(&self.entries[self.home(pair.key())]);
    }

    /// Takes a pair out: where its places are in the pool.
    pub(super) fn remove(&mut self, pair: Pair) -> Range<usize> {
        match self.find(pair) {
            Some(at) => {
                let Entry { start, places, .. } = self.entries[at];
                self.delete(at);
                start as usize..start as usize + places as usize
            }
            None => 0..0,
        }
    }

    /// The first place of a pair where it `holds`; those before are dropped.
    pub(super) fn first(&mut self, pair: Pair, holds: impl Fn(Place) -> bool) -> Place {
        let Some(at) = self.find(pair) else {
            return Place::MAX;
        };
        let entry = &mut self.entries[at];
        while entry.places > 0 {
            let place = self.pool[entry.start as usize];
            if holds(place) {
                return place;
            }
            entry.start += 1;
            entry.places -= 1;
            self.live -= 1;
        }
        Place::MAX
    }

    /// Closes the gaps in the pool if they take a third of it.
    ///
    /// To sort the entries by where their places start took a tenth of the time of all merges.
    pub(super) fn close_gaps(&mut self) {
        if self.end < self.live + self.live / 2 + FEW {
            return;
        }
        let (mut kept, mut to) = (0, 0);
        for number in 0..self.order.len() {
            if let Some(&later) = self.order.get(number + AHEAD) {
                self.prefetch(later);
            }
            let pair = self.order[number];
            let Some(at) = self.find(pair) else {
                continue;
            };
            let entry = &mut self.entries[at];
            let places = entry.start as usize..entry.start as usize + entry.places as usize;
            entry.start = to;
            to += entry.places;
            self.pool.copy_within(places, entry.start as usize);
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
        let mut at = self.home(key);
        loop {
            let there = self.entries[at & mask].key;
            if there == key {
                return Some(at & mask);
            }
            if there == EMPTY {
                return None;
            }
            at += 1;
        }
    }

    fn free_entry(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = self.home(key);
        while self.entries[at & mask].key != EMPTY {
            at += 1;
        }
        at & mask
    }

    fn find_or_insert(&mut self, pair: Pair) -> usize {
        if let Some(at) = self.find(pair) {
            return at;
        }
        if 3 * (self.filled + 1) > 2 * self.entries.len() {
            self.shift -= 1;
            self.lay_out();
        }
        self.filled += 1;
        let mut at = self.free_entry(pair.key());
        let walked = at.wrapping_sub(self.home(pair.key())) & (self.entries.len() - 1);
        if let Some(spread) = self.spread.after_walk(walked) {
            self.spread = spread;
            self.lay_out();
            at = self.free_entry(pair.key());
        }
        self.entries[at] = Entry {
            key: pair.key(),
            count: 0,
            start: 0,
            places: 0,
        };
        at
    }

    /// Moves all pairs to where they are by the present shift and spread.
    fn lay_out(&mut self) {
        let empty = empty_entries(64 - self.shift);
        let before = std::mem::replace(&mut self.entries, empty);
        for entry in before.iter().filter(|entry| entry.key != EMPTY) {
            let at = self.free_entry(entry.key);
            self.entries[at] = *entry;
        }
    }

    /// Empties an entry and moves those after it that would not be found any more.
    fn delete(&mut self, at: usize) {
        self.live -= self.entries[at].places as usize;
        self.filled -= 1;
        let mask = self.entries.len() - 1;
        let (mut gap, mut next) = (at, at);
        loop {
            self.entries[gap].key = EMPTY;
            loop {
                next = (next + 1) & mask;
                let key = self.entries[next].key;
                if key == EMPTY {
                    return;
                }
                // Whether its home is not between the gap, exclusive, and its place.
                if next.wrapping_sub(self.home(key)) & mask >= next.wrapping_sub(gap) & mask {
                    break;
                }
            }
            self.entries[gap] = self.entries[next];
            gap = next;
        }
    }
}
