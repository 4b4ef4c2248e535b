//! A priority queue of pairs for the [queue](super::queue) engine: the lowest rank first, from left to right.
//!
//! ```text
//! pending: buckets of entries, by the leading bits of their rank, unordered: linked lists in one array
//! sorted:  the entries of the lowest bucket, in order
//! early:   entries that belong among the sorted ones or before them, but were pushed later
//! ```
//!
//! A merge mostly creates pairs of higher rank than its own. So a new entry is mostly appended to a pending
//! bucket, and a bucket is sorted when it becomes the lowest: it is short, in L1, and sorted already where all
//! its entries have one rank. Entries that are pushed too late for that go through a binary heap, so that any
//! vocabulary is merged correctly.
//!
//! A `BinaryHeap` alone, with the look-ups of its first entry prefetched, took 1.03 to 1.22 times as long on 1 MB
//! of random letters, and 1.05 to 1.18 times as long on words of 2,000 letters (o200k, cl100k; medians of 7
//! processes each, in turns).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use crate::checkpoint::{self, Interrupted};
use crate::token::TokenId;
use crate::util::memory::Growable;

/// Binary logarithm of the number of buckets for each doubling of the rank.
const STEP_BITS: u32 = 2;
const BUCKETS: usize = 32 << STEP_BITS;

/// Entries of a larger bucket go through the heap: sorting them would take milliseconds without a pass of the
/// checkpoint.
const SORT_LIMIT: usize = 1 << 17;

/// A bucket is large from this many entries on.
const LARGE: usize = 32;

/// One rank has many of a bucket's entries if it has at least one in this many.
const MANY: usize = 16;

/// The index of no entry: beyond any array.
const END: usize = usize::MAX;

struct Pending {
    entry: u64,
    /// The index of the next entry of the same bucket.
    next: usize,
}

pub(super) struct Buckets {
    /// The entries of all buckets, as linked lists: with an array for each, pieces of 100 bytes took twice as
    /// long.
    pending: Vec<Pending>,
    first: [usize; BUCKETS],
    /// Bit `b` is set if bucket `b` is not empty.
    occupied: u128,
    /// Entries from here on are pending.
    limit: u64,
    /// In order. Entries before `taken` are popped.
    sorted: Vec<u64>,
    taken: usize,
    early: BinaryHeap<Reverse<u64>>,
}

impl Buckets {
    pub(super) fn new() -> Self {
        Self {
            pending: Vec::new(),
            first: [END; BUCKETS],
            occupied: 0,
            limit: 0,
            sorted: Vec::new(),
            taken: 0,
            early: BinaryHeap::new(),
        }
    }

    /// Removes all entries, but keeps the capacity.
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.first = [END; BUCKETS];
        self.occupied = 0;
        self.limit = 0;
        self.sorted.clear();
        self.taken = 0;
        self.early.clear();
    }

    /// Adds the pair of this rank whose left symbol has this index. Amortised O(log n), O(1) into a pending
    /// bucket.
    #[inline]
    pub(super) fn push(&mut self, rank: TokenId, index: u32) {
        let entry = (u64::from(rank) << 32) | u64::from(index);
        if entry < self.limit {
            self.early.with_room(1).push(Reverse(entry));
            return;
        }
        let number = bucket_of(rank);
        let next = mem::replace(&mut self.first[number], self.pending.len());
        self.pending.with_room(1).push(Pending { entry, next });
        self.occupied |= 1 << number;
    }

    /// Removes and returns the entry of lowest rank, and of these the leftmost.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during very long buckets.
    #[inline]
    pub(super) fn pop(&mut self) -> Result<Option<(TokenId, u32)>, Interrupted> {
        loop {
            let next = self.sorted.get(self.taken).copied();
            if !self.early.is_empty()
                && let Some(Reverse(early)) = self.early.peek().copied()
                && next.is_none_or(|next| early < next)
            {
                self.early.pop();
                return Ok(Some(rank_and_index(early)));
            }
            if let Some(entry) = next {
                self.taken += 1;
                return Ok(Some(rank_and_index(entry)));
            }
            if self.occupied == 0 {
                self.limit = 0;
                return Ok(None);
            }
            self.open_bucket()?;
        }
    }

    /// Returns the entry that is popped after this many others, unless earlier ones are pushed until then.
    #[inline]
    pub(super) fn coming(&self, others: usize) -> Option<(TokenId, u32)> {
        let entry = self.sorted.get(self.taken + others)?;
        Some(rank_and_index(*entry))
    }

    /// Sorts the entries of the lowest bucket; of a large one only those of its lowest rank, if these are many: it
    /// is so in runs, whose merges soon create pairs of the next ranks.
    fn open_bucket(&mut self) -> Result<(), Interrupted> {
        let lowest = self.occupied.trailing_zeros() as usize;
        let (mut rank, mut same, mut count) = (u64::MAX, 0, 0);
        let mut index = self.first[lowest];
        while let Some(pending) = self.pending.get(index) {
            let other = pending.entry >> 32;
            same = if other < rank { 0 } else { same } + usize::from(other <= rank);
            rank = rank.min(other);
            count += 1;
            index = pending.next;
        }
        self.limit = if count >= LARGE && same >= count / MANY {
            (rank + 1) << 32
        } else {
            first_of(lowest + 1)
        };
        self.sorted.clear();
        self.taken = 0;
        index = mem::replace(&mut self.first[lowest], END);
        while let Some(pending) = self.pending.get_mut(index) {
            let next = pending.next;
            if pending.entry < self.limit {
                self.sorted.with_room(1).push(pending.entry);
            } else {
                pending.next = self.first[lowest];
                self.first[lowest] = index;
            }
            index = next;
        }
        if self.first[lowest] == END {
            self.occupied &= self.occupied - 1;
        }
        if self.sorted.len() > SORT_LIMIT && !self.sorted.is_sorted_by(|a, b| a > b) {
            for entries in self.sorted.chunks(SORT_LIMIT) {
                checkpoint::pass()?;
                let early = self.early.with_room(entries.len());
                early.extend(entries.iter().copied().map(Reverse));
            }
            self.sorted.clear();
        } else {
            self.sorted.sort_unstable();
        }
        Ok(())
    }
}

/// Returns the bucket of a rank: higher ranks are never in lower buckets.
#[inline]
fn bucket_of(rank: TokenId) -> usize {
    let number = u64::from(rank) + 1;
    let octave = number.ilog2();
    #[expect(clippy::cast_possible_truncation, reason = "a few bits are kept")]
    let step = ((number << STEP_BITS) >> octave) as usize & ((1 << STEP_BITS) - 1);
    ((octave as usize) << STEP_BITS) | step
}

/// Returns the lower bound of the entries of bucket `number`, which is above all entries of lower buckets.
fn first_of(number: usize) -> u64 {
    let (octave, step) = (number >> STEP_BITS, number & ((1 << STEP_BITS) - 1));
    let first = (((1 << STEP_BITS) | step as u64) << octave).div_ceil(1 << STEP_BITS);
    (first - 1) << 32
}

/// Returns the two halves of an entry.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves are 32 bits each"
)]
fn rank_and_index(entry: u64) -> (TokenId, u32) {
    ((entry >> 32) as u32, entry as u32)
}
