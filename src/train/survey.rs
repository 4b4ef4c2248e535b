//! Looking through the whole corpus: which pairs occur often enough, how often, and where.
//!
//! Each thread looks through its part twice: to count, and, when the places of all pairs have their rows in the pool, to
//! fill them in.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::merges::Trainer;
use super::pair_index::PairIndex;
use super::rules::Rules;
use super::shard;
use super::tally::{AnyPairs, BytePairs, NOWHERE, Tally};
use crate::checkpoint::Checkpoint;
use crate::error::TrainError;
use crate::token::TokenId;
use crate::util::memory::{self, LargeVec};
use crate::util::parallel;

impl Trainer<'_> {
    /// Looks through the whole corpus for pairs that occur at least `least` times, and fills the queue, which is empty.
    pub(super) fn look_through(
        &mut self,
        least: u64,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        self.work.rules_to_change().least = least;
        let rules = self.work.rules();
        if rules.lengths.len() == 256 {
            self.index_by::<BytePairs>(&rules, |_| 1, checkpoint)
        } else {
            let length = |token: TokenId| rules.lengths[token as usize];
            self.index_by::<AnyPairs>(&rules, length, checkpoint)
        }
    }

    /// As [`look_through`](Self::look_through), for tokens of the `length` that is told.
    fn index_by<T: Tally + Send>(
        &mut self,
        rules: &Rules,
        length: impl Fn(TokenId) -> u32 + Sync,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        let corpus = self.work.corpus;
        let mut shards = self.work.shards_to_change();
        for shard in &mut shards.0 {
            shard.index = PairIndex::default();
        }
        let parts: Vec<usize> = (0..corpus.parts()).collect();
        let mut tallies = parallel::map(&parts, parts.len(), checkpoint, |&part| {
            let mut tally = T::default();
            let part = corpus.part(part);
            part.for_each_pair(&length, checkpoint, |_, pair, count| {
                let row = tally.row(pair);
                row.count += count;
                row.places += 1;
            })?;
            Ok::<_, TrainError>(Mutex::new(tally))
        })?;
        let mut all = T::default();
        for tally in &mut tallies {
            for (pair, row) in owned(tally).rows() {
                let sum = all.row(pair);
                sum.count += row.count;
                sum.places += row.places;
            }
        }
        // The places of a pair in one part follow those in the part before.
        for (pair, row) in all.rows() {
            if rules.may_merge(pair, row.count) {
                let index = &mut shards.of(pair).index;
                row.next = index.insert(pair, row.count, row.places)?;
                let mut next = row.next;
                for tally in &mut tallies {
                    let of_part = owned(tally).row(pair);
                    of_part.next = next;
                    next += of_part.places;
                }
            }
        }
        let pools = shards.0.iter().map(|shard| {
            let places = shard.index.pool_length();
            let mut pool: LargeVec<AtomicU32> = memory::large_vec(places + places / 2);
            pool.resize_with(places, AtomicU32::default);
            pool
        });
        let pools: Vec<_> = pools.collect();
        parallel::map(&parts, parts.len(), checkpoint, |&number| {
            let mut tally = tallies[number]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let part = corpus.part(number);
            part.for_each_pair(&length, checkpoint, |place, pair, _| {
                let row = tally.row(pair);
                if row.next != NOWHERE {
                    let pool = &pools[shard::number(pair, pools.len())];
                    pool[row.next as usize].store(place, Ordering::Relaxed);
                    row.next += 1;
                }
            })?;
            Ok::<_, TrainError>(())
        })?;
        for (shard, pool) in shards.0.iter_mut().zip(pools) {
            shard.index.set_pool(memory::no_longer_shared(pool));
        }
        for (pair, row) in all.rows().filter(|(_, row)| row.next != NOWHERE) {
            self.push(pair, row.count, rules, &mut shards);
        }
        Ok(())
    }
}

/// What is in a lock that nobody else has.
fn owned<T>(lock: &mut Mutex<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}
