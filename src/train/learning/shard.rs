//! A shard of the pairs: those whose counts and occurrences one thread updates.

use super::batch::MergeBatch;
use super::deltas::{PairDeltas, Side};
use super::offset::Offset;
use super::pair_index::PairIndex;
use super::policy::MergePolicy;
use crate::checkpoint::{self, Interrupted};
use crate::token::{Pair, TokenId};
use crate::util::memory::Growable;

/// Occurrences written between two checkpoints.
const CHECK_INTERVAL: usize = 1 << 16;

/// How many pairs ahead entries of the index are prefetched.
const PREFETCH_AHEAD: usize = 16;

/// A pair with the token of a merge.
#[derive(Clone, Copy, Debug)]
struct NewPair<O> {
    pair: Pair,
    count: u64,
    occurrences: O,
    /// Index in the pool where its next occurrence goes, or [`Offset::NONE`] if its occurrences are not kept.
    next: O,
}

/// Pairs, how often they occur, and where.
#[derive(Debug)]
pub(super) struct PairShard<O> {
    number: usize,
    pub(super) index: PairIndex<O>,
    /// Whether offsets do not suffice for the occurrences of all pairs. The shard is of no use then.
    pub(super) is_exhausted: bool,
    /// The pairs that the last batch added to the index, with their counts.
    pub(super) new_candidates: Vec<(Pair, u64)>,
    /// The pairs that the batch formed, those that may not be merged included.
    new_pairs: Vec<NewPair<O>>,
    /// For all neighbors, by merge, side and partition, the index in `new_pairs` of the pair that they form.
    pair_of_neighbor: Vec<u32>,
    /// For each token, the index in `new_pairs` of the pair that it forms on the current side of the current
    /// merge, plus one; 0 if there is none.
    pair_of_token: Vec<u32>,
}

impl<O: Offset> PairShard<O> {
    /// A shard without pairs.
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            index: PairIndex::default(),
            is_exhausted: false,
            new_candidates: Vec::new(),
            new_pairs: Vec::new(),
            pair_of_neighbor: Vec::new(),
            pair_of_token: Vec::new(),
        }
    }

    /// Updates the index after a batch, given its deltas in each partition of the corpus.
    pub(super) fn update_counts(
        &mut self,
        batch: &MergeBatch,
        deltas: &[&PairDeltas<O>],
        policy: &MergePolicy,
    ) -> Result<(), Interrupted> {
        self.sum_new_pairs(batch, deltas);
        for new in self.new_pairs.iter().take(PREFETCH_AHEAD) {
            self.index.prefetch(new.pair);
        }
        for next in 0..self.new_pairs.len() {
            if let Some(later) = self.new_pairs.get(next + PREFETCH_AHEAD)
                && later.count >= policy.min_count
            {
                self.index.prefetch(later.pair);
            }
            let new = &mut self.new_pairs[next];
            if policy.allows(new.pair, new.count) {
                let start = self.index.insert(new.pair, new.count, new.occurrences);
                let Some(start) = start else {
                    self.is_exhausted = true;
                    return Ok(());
                };
                new.next = start;
                self.new_candidates.with_room(1).push((new.pair, new.count));
            }
        }
        self.write_occurrences(batch, deltas)?;
        // After all inserts: a later merge may take occurrences from a pair that an earlier one has formed.
        for deltas in deltas {
            let decrements = deltas.decrements(self.number);
            for (pair, _) in decrements.iter().take(PREFETCH_AHEAD) {
                self.index.prefetch(*pair);
            }
            for (next, &(pair, count)) in decrements.iter().enumerate() {
                if let Some(&(later, _)) = decrements.get(next + PREFETCH_AHEAD) {
                    self.index.prefetch(later);
                }
                self.index.decrease(pair, count, policy.min_count);
            }
        }
        self.index.close_gaps();
        Ok(())
    }

    /// Sums up each new pair over all partitions.
    fn sum_new_pairs(&mut self, batch: &MergeBatch, deltas: &[&PairDeltas<O>]) {
        let shard = self.number;
        self.new_pairs.clear();
        self.pair_of_neighbor.clear();
        for (index, (merge, _)) in batch.merges.iter().enumerate() {
            for side in Side::BOTH {
                let first = self.new_pairs.len();
                for found in deltas
                    .iter()
                    .map(|deltas| deltas.neighbors(side, index, shard))
                {
                    for neighbor in found.neighbors {
                        let new = self.find_or_insert_new(
                            side,
                            merge.token,
                            neighbor.token,
                            deltas.len(),
                        );
                        let pair = &mut self.new_pairs[new as usize];
                        pair.count += neighbor.count - neighbor.merged;
                        pair.occurrences += neighbor.occurrences;
                        self.pair_of_neighbor.with_room(1).push(new);
                    }
                }
                if deltas.len() > 1 {
                    for new in &self.new_pairs[first..] {
                        let neighbor = new.pair.left ^ new.pair.right ^ merge.token;
                        self.pair_of_token[neighbor as usize] = 0;
                    }
                }
            }
        }
    }

    /// Returns the index in `new_pairs` of the pair of `token` and its neighbor on a side, and inserts it if
    /// it is new.
    #[inline]
    fn find_or_insert_new(
        &mut self,
        side: Side,
        token: TokenId,
        neighbor: TokenId,
        partitions: usize,
    ) -> u32 {
        // In one partition, each neighbor is found once.
        if partitions > 1 {
            if self.pair_of_token.len() <= neighbor as usize {
                let length = neighbor as usize + 1;
                let length = length.next_power_of_two();
                let more = length - self.pair_of_token.len();
                self.pair_of_token.with_room(more).resize(length, 0);
            }
            if let Some(index) = self.pair_of_token[neighbor as usize].checked_sub(1) {
                return index;
            }
        }
        self.new_pairs.with_room(1).push(NewPair {
            pair: side.pair(token, neighbor),
            count: 0,
            occurrences: O::default(),
            next: O::NONE,
        });
        let number = u32::try_from(self.new_pairs.len());
        let number = number.expect("there are two for each token or occurrence at most");
        if partitions > 1 {
            self.pair_of_token[neighbor as usize] = number;
        }
        number - 1
    }

    /// Writes the occurrences of new pairs to the pool.
    fn write_occurrences(
        &mut self,
        batch: &MergeBatch,
        deltas: &[&PairDeltas<O>],
    ) -> Result<(), Interrupted> {
        let shard = self.number;
        let pool = self.index.pool();
        let mut pair_of_neighbor = &self.pair_of_neighbor[..];
        for merge in 0..batch.merges.len() {
            for side in Side::BOTH {
                for found in deltas
                    .iter()
                    .map(|deltas| deltas.neighbors(side, merge, shard))
                {
                    let pairs;
                    (pairs, pair_of_neighbor) = pair_of_neighbor.split_at(found.neighbors.len());
                    for chunk in found.occurrences.chunks(CHECK_INTERVAL) {
                        if found.occurrences.len() > CHECK_INTERVAL {
                            checkpoint::pass()?;
                        }
                        for &(neighbor, occurrence) in chunk {
                            let new = &mut self.new_pairs[pairs[neighbor as usize] as usize];
                            if new.next != O::NONE {
                                pool[new.next.get()] = occurrence;
                                new.next += O::from(1);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
