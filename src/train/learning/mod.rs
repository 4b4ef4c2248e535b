//! Learning: the best pairs are merged at all of their occurrences until there are enough merges.
//!
//! ```text
//! counted pieces ──► an array of tokens for each thread    (initial, corpus, partition)
//! pairs ───────────► how often and where                   (index_corpus, pair_counter, pair_index)
//!
//! until there are enough merges:
//!     choose the best candidates whose counts are still true, as long as they do not conflict
//!                                                          (queue, tie_break, policy, batch)
//!     for each of them:                                    (workers, state, apply, deltas)
//!         at each of its occurrences, in order: merge; collect the tokens before and after
//!     for each token collected:                            (shard)
//!         its pair with the old token loses occurrences, its pair with the new one is new
//! ```
//!
//! The work is proportional to the occurrences visited: merging takes the same time in a piece of any length.
//! Each occurrence is visited once for each pair that was ever there.

mod apply;
mod batch;
mod corpus;
mod deltas;
mod index_corpus;
mod initial;
mod pair_counter;
mod pair_index;
mod pair_table;
mod partition;
mod policy;
mod queue;
mod shard;
mod state;
mod tie_break;
mod token_bytes;
mod workers;

use std::thread;

pub(super) use self::corpus::Corpus;
use self::index_corpus::index_corpus;
use self::initial::InitialState;
use self::pair_index::PairIndex;
pub(super) use self::partition::CorpusPartition;
pub(super) use self::policy::{MergePolicy, Restriction};
use self::queue::CandidateQueue;
use self::state::{LockedShards, Step, TrainingState};
use self::tie_break::Candidate;
pub(super) use self::tie_break::TieBreaker;
use self::workers::WorkerPool;
use super::counting::PieceCounts;
use super::{Learned, Options};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::token::Pair;

/// Occurrences visited between two reports of progress.
const CHECK_INTERVAL: usize = 1 << 16;

/// Learns the first `merges` merges of counted pieces, fewer if no pair is left that may be merged. Calls
/// `progress` with the number of merges from time to time; it may interrupt training.
///
/// # Errors
/// [`TrainError`].
///
/// # Complexity
/// O(n log n) for n bytes of unique pieces; memory 4.5 bytes for each of these, some 20 for each piece, and 4
/// for each occurrence of a pair that may still be merged.
pub fn train(
    counts: &mut PieceCounts,
    merges: usize,
    options: &Options,
    checkpoint: &dyn Checkpoint,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Learned, TrainError> {
    let partitions = Corpus::partitions_for(counts, options.threads, checkpoint)?;
    train_in_partitions(counts, merges, options, partitions, checkpoint, progress)
}

/// As [`train`], with a number of partitions and threads.
fn train_in_partitions(
    counts: &mut PieceCounts,
    merges: usize,
    options: &Options,
    partitions: usize,
    checkpoint: &dyn Checkpoint,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Learned, TrainError> {
    let initial = InitialState::new(options, checkpoint)?;
    let in_order = initial.ties.depends_on_occurrences();
    let corpus = Corpus::new(
        counts,
        in_order,
        partitions,
        || initial.new_push(checkpoint),
        checkpoint,
    )?;
    let policy = MergePolicy::new(
        initial.ties,
        initial.lengths,
        options.max_token_length,
        initial.restriction,
    );
    learn(
        &corpus,
        policy,
        merges,
        options.min_frequency,
        checkpoint,
        progress,
    )
}

/// Learns the first `merges` merges of a corpus by a policy, fewer if no pair is left that
/// occurs `min_frequency` times. Otherwise as [`train`].
pub(super) fn learn(
    corpus: &Corpus,
    policy: MergePolicy,
    merges: usize,
    min_frequency: u64,
    checkpoint: &dyn Checkpoint,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Learned, TrainError> {
    let state = TrainingState::new(corpus, policy);
    let workers = WorkerPool::new(&state);
    thread::scope(|scope| {
        let _guard = workers.start(scope, &state, checkpoint);
        let mut trainer = Trainer {
            state: &state,
            workers: &workers,
            queue: CandidateQueue::default(),
        };
        trainer.learn(merges, min_frequency.max(1), checkpoint, progress)
    })
}

/// The main thread of training.
struct Trainer<'a> {
    state: &'a TrainingState<'a>,
    workers: &'a WorkerPool,
    queue: CandidateQueue,
}

impl Trainer<'_> {
    /// Learns merges of pairs with a count of at least `min_count`; otherwise as [`train`].
    ///
    /// Only pairs that are likely to be merged are indexed: those with at least the expected count of the
    /// last merge. When none of them is left, the corpus is indexed again, with an eighth of that count.
    fn learn(
        &mut self,
        merges: usize,
        min_count: u64,
        checkpoint: &dyn Checkpoint,
        progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
    ) -> Result<Learned, TrainError> {
        let mut learned = Learned::default();
        let mut indexed_count = min_count.max(self.state.corpus.expected_min_count(merges));
        self.index(indexed_count, checkpoint)?;
        let mut visited = 0;
        while learned.len() < merges {
            let before = learned.len();
            self.choose_batch(merges, &mut learned)?;
            visited += self.state.batch().occurrences;
            if learned.len() == before {
                if indexed_count == min_count {
                    break;
                }
                indexed_count = min_count.max(indexed_count / 8);
                self.index(indexed_count, checkpoint)?;
                continue;
            }
            for step in [Step::Merge, Step::UpdateCounts] {
                self.workers.run(step, self.state, checkpoint)?;
            }
            self.push_new_candidates();
            if visited >= CHECK_INTERVAL || before / 1024 != learned.len() / 1024 {
                visited = 0;
                checkpoint::pass(checkpoint)?;
                progress(learned.len())?;
            }
        }
        Ok(learned)
    }

    /// Indexes all pairs of the corpus with a count of at least `min_count`, and makes them candidates.
    fn index(&mut self, min_count: u64, checkpoint: &dyn Checkpoint) -> Result<(), TrainError> {
        self.queue = CandidateQueue::default();
        self.state.policy_mut().min_count = min_count;
        let policy = self.state.policy();
        let mut shards = self.state.shards_mut();
        // Frees the memory of the old indexes first.
        for shard in &mut shards.0 {
            shard.index = PairIndex::default();
        }
        let indexed = index_corpus(self.state.corpus, &policy, shards.0.len(), checkpoint)?;
        for (shard, index) in shards.0.iter_mut().zip(indexed.indexes) {
            shard.index = index;
        }
        for (pair, count) in indexed.pairs {
            self.push(pair, count, &policy, &mut shards);
        }
        Ok(())
    }

    /// Chooses the next merges, until at most `merges` are learned, and makes them the batch.
    ///
    /// The count of each is the one that it has when its turn comes, though none of the batch is merged yet:
    /// independent merges take no occurrence away from each other.
    fn choose_batch(&mut self, merges: usize, learned: &mut Learned) -> Result<(), TrainError> {
        let mut policy = self.state.policy_mut();
        let mut batch = self.state.batch_mut();
        let mut shards = self.state.shards_mut();
        batch.clear(policy.lengths.len());
        let most = if policy.allows_batches() {
            merges - learned.len()
        } else {
            1
        };
        while batch.merges.len() < most && !batch.is_full() {
            let Some(candidate) = self.pop_best(&policy, &mut shards) else {
                break;
            };
            let pair = candidate.pair;
            if batch.conflicts_with(pair) {
                self.queue.push(candidate, &policy.ties);
                break;
            }
            let occurrences = shards.of(pair).index.remove(pair);
            batch.push(policy.push(pair)?, occurrences);
            learned.push(pair, candidate.count);
        }
        Ok(())
    }

    /// Pops the candidate that is merged next.
    fn pop_best(
        &mut self,
        policy: &MergePolicy,
        shards: &mut LockedShards<'_>,
    ) -> Option<Candidate> {
        loop {
            let candidate = self.queue.pop(&policy.ties)?;
            let pair = candidate.pair;
            match shards.of(pair).index.count(pair) {
                Some(count) if count == candidate.count => return Some(candidate),
                Some(count) => self.push(pair, count, policy, shards),
                // It has become too rare.
                None => {}
            }
        }
    }

    /// Makes a pair a candidate.
    fn push(
        &mut self,
        pair: Pair,
        count: u64,
        policy: &MergePolicy,
        shards: &mut LockedShards<'_>,
    ) {
        let first = if policy.ties.depends_on_occurrences() {
            let (corpus, length) = (self.state.corpus, policy.lengths[pair.left as usize]);
            let holds = |occurrence| corpus.holds(occurrence, pair, length);
            match shards.of(pair).index.first(pair, holds) {
                Some(first) => first,
                // A later merge of the batch that formed it has made it too rare.
                None => return,
            }
        } else {
            0
        };
        let tie_key = policy.ties.tie_key(pair, first);
        let candidate = Candidate {
            count,
            tie_key,
            pair,
        };
        self.queue.push(candidate, &policy.ties);
    }

    /// Makes the pairs that the last batch formed candidates.
    fn push_new_candidates(&mut self) {
        let policy = self.state.policy();
        let mut shards = self.state.shards_mut();
        for index in 0..shards.0.len() {
            let mut new = std::mem::take(&mut shards.0[index].new_candidates);
            for (pair, count) in new.drain(..) {
                self.push(pair, count, &policy, &mut shards);
            }
            shards.0[index].new_candidates = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::train_in_partitions;
    use crate::checkpoint::RunToEnd;
    use crate::error::TrainError;
    use crate::train::counting::PieceCounts;
    use crate::train::{Learned, Options, TieBreak, reference};

    type Pieces = Vec<(Vec<u8>, u64)>;

    /// Random pieces, each occurring up to `often` times.
    fn pieces(number: usize, symbols: u32, often: u32, seed: u32) -> Pieces {
        let mut random = seed;
        let mut below = |limit: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % limit
        };
        (0..number)
            .map(|_| {
                let length = 2 + below(22);
                let bytes = (0..length).map(|_| b'a' + below(symbols).to_le_bytes()[0]);
                (bytes.collect(), u64::from(1 + below(often)))
            })
            .collect()
    }

    fn learned(
        pieces: &Pieces,
        merges: usize,
        options: &Options,
        partitions: usize,
    ) -> Result<Learned, TrainError> {
        let mut counts = PieceCounts::new();
        let pieces = pieces.iter().map(|(piece, count)| (&piece[..], *count));
        counts.add_pieces(pieces, &RunToEnd)?;
        train_in_partitions(
            &mut counts,
            merges,
            options,
            partitions,
            &RunToEnd,
            &mut |_| Ok(()),
        )
    }

    /// With any number of partitions, and with work for workers: pairs have thousands of occurrences in each.
    #[test]
    fn partitions_change_nothing() -> Result<(), TrainError> {
        let (few, many) = (pieces(300, 3, 9, 1), pieces(60_000, 5, 9, 1));
        for tie_break in TieBreak::ALL {
            let options = Options {
                tie_break,
                ..Options::default()
            };
            let borrowed: Vec<(&[u8], u64)> = few
                .iter()
                .map(|(piece, count)| (&piece[..], *count))
                .collect();
            let defined = reference::train(&borrowed, 60, &options);
            let alone = learned(&many, 400, &options, 1)?;
            assert_eq!(alone.len(), 400);
            for partitions in 1..=5 {
                assert_eq!(Some(learned(&few, 60, &options, partitions)?), defined);
                let together = learned(&many, 400, &options, partitions)?;
                assert_eq!(
                    together,
                    alone,
                    "{} partitions, {}",
                    partitions,
                    tie_break.name()
                );
            }
        }
        Ok(())
    }

    /// With as many ties as possible.
    #[test]
    fn batches_equal_merges_one_after_the_other() -> Result<(), TrainError> {
        for seed in 1..=60 {
            let mut pieces = pieces(4 + seed as usize, 2 + seed % 9, 1 + seed % 2, seed);
            // A repeated byte, whose new pairs may be more frequent than any other.
            pieces.push((vec![b'a'; seed as usize], u64::from(seed)));
            let borrowed: Vec<(&[u8], u64)> = pieces
                .iter()
                .map(|(piece, count)| (&piece[..], *count))
                .collect();
            for tie_break in TieBreak::ALL {
                let options = Options {
                    tie_break,
                    max_token_length: (seed % 5 == 0).then_some(5),
                    ..Options::default()
                };
                let defined = reference::train(&borrowed, 200, &options);
                for partitions in 1..=2 {
                    let here = learned(&pieces, 200, &options, partitions)?;
                    assert_eq!(Some(here), defined, "{seed} {}", tie_break.name());
                }
            }
        }
        Ok(())
    }
}
