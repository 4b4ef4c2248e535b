//! A priority queue of pairs for the [queue](super::queue) engine: the lowest rank first, from left to right.
//!
//! ```text
//! waiting: buckets of entries, by the leading bits of their rank, unordered: lists through one array
//! batch:   what was in the lowest bucket, in order
//! early:   entries that belong to the batch or before it but came later
//! ```
//!
//! A merge mostly makes pairs of higher rank than its own. So a new entry is mostly appended to a bucket that waits,
//! and a bucket is put into order when its turn comes: short, in the nearest cache, and in order already where all
//! entries are of one rank. What comes too late for that, of any vocabulary, goes through a binary heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::token::TokenId;

/// Each doubling of the rank has this many buckets, as a power of two.
const STEP_BITS: u32 = 2;
const BUCKETS: usize = 32 << STEP_BITS;

/// A larger bucket is not sorted, which takes milliseconds without a look at the checkpoint, but goes through the heap.
const LONGEST_SORT: usize = 1 << 17;

/// From so many entries on, a bucket is large; one in so many is many.
const LARGE: usize = 32;
const MANY: usize = 16;

/// No further entry in a bucket.
const END: usize = usize::MAX;

struct Waiting {
    entry: u64,
    /// The next of the same bucket.
    next: usize,
}

pub(super) struct Buckets {
    /// The entries of all buckets, which are linked lists: an array for each costs pieces of 100 bytes half their speed.
    waiting: Vec<Waiting>,
    first: [usize; BUCKETS],
    /// Bit `b` is set if bucket `b` is not empty.
    occupied: u128,
    /// Entries from here on wait for their turn.
    limit: u64,
    /// In order; entries before `taken` are gone.
    batch: Vec<u64>,
    taken: usize,
    early: BinaryHeap<Reverse<u64>>,
}

impl Buckets {
    pub(super) fn new() -> Self {
        Self {
            waiting: Vec::new(),
            first: [END; BUCKETS],
            occupied: 0,
            limit: 0,
            batch: Vec::new(),
            taken: 0,
            early: BinaryHeap::new(),
        }
    }

    /// Forgets all entries, but keeps the room.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.first = [END; BUCKETS];
        self.occupied = 0;
        self.limit = 0;
        self.batch.clear();
        self.taken = 0;
        self.early.clear();
    }

    /// Adds the pair of this rank at this place. Amortised O(log n) at most, O(1) into a waiting bucket.
    #[inline]
    pub(super) fn push(&mut self, rank: TokenId, place: u32) {
        let entry = (u64::from(rank) << 32) | u64::from(place);
        if entry < self.limit {
            self.early.push(Reverse(entry));
            return;
        }
        let number = bucket_of(rank) % BUCKETS;
        let next = mem::replace(&mut self.first[number], self.waiting.len());
        self.waiting.push(Waiting { entry, next });
        self.occupied |= 1 << number;
    }

    /// Takes the lowest rank, and of these the leftmost place.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, asked during very long buckets.
    #[inline]
    pub(super) fn pop(
        &mut self,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<(TokenId, u32)>, Interrupted> {
        loop {
            let next = self.batch.get(self.taken).copied();
            if !self.early.is_empty()
                && let Some(Reverse(early)) = self.early.peek().copied()
                && next.is_none_or(|next| early < next)
            {
                self.early.pop();
                return Ok(Some(rank_and_place(early)));
            }
            if let Some(entry) = next {
                self.taken += 1;
                return Ok(Some(rank_and_place(entry)));
            }
            if self.occupied == 0 {
                self.limit = 0;
                return Ok(None);
            }
            self.open_bucket(checkpoint)?;
        }
    }

    /// What is taken after so many others, unless they make pairs that come before it.
    #[inline]
    pub(super) fn coming(&self, others: usize) -> Option<(TokenId, u32)> {
        let entry = self.batch.get(self.taken + others)?;
        Some(rank_and_place(*entry))
    }

    /// Makes the lowest bucket the batch. Of a large one only the lowest rank, if it has many entries: so it is in runs,
    /// whose merges are just about to make pairs of the next ranks.
    fn open_bucket(&mut self, checkpoint: &dyn Checkpoint) -> Result<(), Interrupted> {
        let lowest = self.occupied.trailing_zeros() as usize % BUCKETS;
        let (mut rank, mut same, mut count) = (u64::MAX, 0, 0);
        let mut place = self.first[lowest];
        while let Some(waiting) = self.waiting.get(place) {
            let other = waiting.entry >> 32;
            same = if other < rank { 0 } else { same } + usize::from(other <= rank);
            rank = rank.min(other);
            count += 1;
            place = waiting.next;
        }
        self.limit = if count >= LARGE && same >= count / MANY {
            (rank + 1) << 32
        } else {
            first_of(lowest + 1)
        };
        self.batch.clear();
        self.taken = 0;
        place = mem::replace(&mut self.first[lowest], END);
        while let Some(waiting) = self.waiting.get_mut(place) {
            let next = waiting.next;
            if waiting.entry < self.limit {
                self.batch.push(waiting.entry);
            } else {
                waiting.next = self.first[lowest];
                self.first[lowest] = place;
            }
            place = next;
        }
        if self.first[lowest] == END {
            self.occupied &= self.occupied - 1;
        }
        if self.batch.len() > LONGEST_SORT && !self.batch.is_sorted_by(|a, b| a > b) {
            for entries in self.batch.chunks(LONGEST_SORT) {
                checkpoint::pass(checkpoint)?;
                self.early.extend(entries.iter().copied().map(Reverse));
            }
            self.batch.clear();
        } else {
            self.batch.sort_unstable();
        }
        Ok(())
    }
}

/// The bucket of a rank: higher ranks are never in lower buckets.
#[inline]
fn bucket_of(rank: TokenId) -> usize {
    let number = u64::from(rank) + 1;
    let octave = number.ilog2();
    #[expect(clippy::cast_possible_truncation, reason = "a few bits are kept")]
    let step = ((number << STEP_BITS) >> octave) as usize & ((1 << STEP_BITS) - 1);
    ((octave as usize) << STEP_BITS) | step
}

/// What all entries from bucket `number` on reach and none before does.
fn first_of(number: usize) -> u64 {
    let (octave, step) = (number >> STEP_BITS, number & ((1 << STEP_BITS) - 1));
    let first = (((1 << STEP_BITS) | step as u64) << octave).div_ceil(1 << STEP_BITS);
    (first - 1) << 32
}

/// The two halves of an entry.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves are 32 bits each"
)]
fn rank_and_place(entry: u64) -> (TokenId, u32) {
    ((entry >> 32) as u32, entry as u32)
}
