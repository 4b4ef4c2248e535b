//! The state that threads share, and the two steps of a batch: merging in each partition of the corpus, then
//! updating each shard of the pairs.
//!
//! ```text
//! main thread      chooses the next batch of merges
//! each thread      applies it to its partition, and collects the deltas
//! each thread      updates its shard of the pairs by the deltas
//! ```
//!
//! In one step, no two threads write to the same lock, so no thread waits for one.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::batch::MergeBatch;
use super::corpus::Corpus;
use super::deltas::{PairDeltas, apply_merge, prefetch_first};
use super::offset::Offset;
use super::pair_index::shard_of;
use super::policy::MergePolicy;
use super::shard::PairShard;
use crate::checkpoint::Interrupted;
use crate::token::Pair;
use crate::util::memory;

/// How many cache lines of the occurrences of each merge are prefetched.
const PREFETCH_LINES: usize = 8;

/// A step of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Applies the merges to a partition.
    Merge,
    /// Updates a shard.
    UpdateCounts,
}

/// The state of training.
#[derive(Debug)]
pub(super) struct TrainingState<'c, O> {
    pub(super) corpus: &'c Corpus,
    policy: RwLock<MergePolicy>,
    batch: RwLock<MergeBatch>,
    /// The changes of the batch in each partition.
    deltas: Vec<RwLock<PairDeltas<O>>>,
    shards: Vec<RwLock<PairShard<O>>>,
}

impl<'c, O: Offset> TrainingState<'c, O> {
    /// A state in which no pair is indexed.
    pub(super) fn new(corpus: &'c Corpus, policy: MergePolicy) -> Self {
        // With one merge in a batch, updates are hardly ever worth sharing.
        let shards = if policy.allows_batches() {
            corpus.partitions()
        } else {
            1
        };
        Self {
            corpus,
            policy: RwLock::new(policy),
            batch: RwLock::default(),
            deltas: (0..corpus.partitions())
                .map(|_| RwLock::new(PairDeltas::new(shards)))
                .collect(),
            shards: (0..shards)
                .map(|number| RwLock::new(PairShard::new(number)))
                .collect(),
        }
    }

    /// Number of tasks of a step, which may run in parallel: one for each partition or shard, or one for all
    /// partitions if the batch is small.
    pub(super) fn tasks(&self, step: Step) -> usize {
        match step {
            Step::Merge => self.deltas_of(&self.batch()),
            Step::UpdateCounts => self.shards.len(),
        }
    }

    /// How many of the deltas a batch uses.
    fn deltas_of(&self, batch: &MergeBatch) -> usize {
        if batch.is_shared() {
            self.corpus.partitions()
        } else {
            1
        }
    }

    pub(super) fn policy(&self) -> RwLockReadGuard<'_, MergePolicy> {
        read(&self.policy)
    }

    pub(super) fn into_policy(self) -> MergePolicy {
        self.policy
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn policy_mut(&self) -> RwLockWriteGuard<'_, MergePolicy> {
        write(&self.policy)
    }

    pub(super) fn batch(&self) -> RwLockReadGuard<'_, MergeBatch> {
        read(&self.batch)
    }

    pub(super) fn batch_mut(&self) -> RwLockWriteGuard<'_, MergeBatch> {
        write(&self.batch)
    }

    /// Locks all shards.
    pub(super) fn shards_mut(&self) -> LockedShards<'_, O> {
        LockedShards(self.shards.iter().map(write).collect())
    }

    /// Runs a task of a step.
    pub(super) fn run(&self, step: Step, task: usize) -> Result<(), Interrupted> {
        match step {
            Step::Merge => self.merge(task),
            Step::UpdateCounts => self.update_counts(task),
        }
    }

    fn merge(&self, task: usize) -> Result<(), Interrupted> {
        let batch = self.batch();
        let shards: Vec<_> = self.shards.iter().map(read).collect();
        let range = if batch.is_shared() {
            task..task + 1
        } else {
            0..self.corpus.partitions()
        };
        let partitions = range.clone().map(|index| self.corpus.partition(index));
        let mut partitions: Vec<_> = partitions.collect();
        let mut deltas = write(&self.deltas[task]);
        let tokens = batch.merges.last().map(|(merge, _)| merge.tokens());
        deltas.clear(tokens.unwrap_or(0));
        let lists = batch.merges.iter().map(|(merge, occurrences)| {
            let owner = shard_of(merge.pair, shards.len());
            let list = shards[owner].index.occurrences(occurrences.clone());
            // The occurrences of the partition start about here.
            let start = list.len() * range.start / self.corpus.partitions();
            memory::prefetch_lines(&list[start..], PREFETCH_LINES);
            list
        });
        let lists: Vec<&[O]> = lists.collect();
        // By merge, then by partition.
        let by_partition = lists.iter().flat_map(|list| {
            let in_partition = move |partition| self.corpus.occurrences_in(partition, list);
            range.clone().map(in_partition)
        });
        let by_partition: Vec<&[O]> = by_partition.collect();
        let by_merge: Vec<&[&[O]]> = by_partition.chunks(partitions.len()).collect();
        for (index, (merge, _)) in batch.merges.iter().enumerate() {
            if index == 0 {
                prefetch_first(*merge, &partitions, by_merge[0]);
            }
            if let Some((next, _)) = batch.merges.get(index + 1) {
                prefetch_first(*next, &partitions, by_merge[index + 1]);
            }
            for (partition, occurrences) in partitions.iter_mut().zip(by_merge[index]) {
                apply_merge(*merge, partition, occurrences, &mut deltas)?;
            }
            deltas.end(*merge);
        }
        Ok(())
    }

    fn update_counts(&self, shard: usize) -> Result<(), Interrupted> {
        let (batch, policy) = (self.batch(), self.policy());
        let deltas = self.deltas.iter().take(self.deltas_of(&batch)).map(read);
        let deltas: Vec<_> = deltas.collect();
        let deltas: Vec<_> = deltas.iter().map(|deltas| &**deltas).collect();
        write(&self.shards[shard]).update_counts(&batch, &deltas, &policy)
    }
}

/// All shards, locked.
pub(super) struct LockedShards<'s, O>(pub(super) Vec<RwLockWriteGuard<'s, PairShard<O>>>);

impl<O: Offset> LockedShards<'_, O> {
    /// The shard of a pair.
    pub(super) fn of(&mut self, pair: Pair) -> &mut PairShard<O> {
        let shard = shard_of(pair, self.0.len());
        &mut self.0[shard]
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
