//! Learning: the best pairs are merged at all of their occurrences until there are enough merges.
//!
//! ```text
//! counted pieces ──► an array of tokens for each thread    (initial, corpus, partition)
//! pairs ───────────► how often and where                   (index_corpus, pair_index)
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

mod batch;
mod corpus;
mod deltas;
mod index_corpus;
mod initial;
mod offset;
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
pub(super) use self::offset::Offset;
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
use crate::checkpoint::{self, Interrupted};
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
/// for each occurrence of a pair that may still be merged: 8 if there are about 4 billion occurrences or more.
pub fn learn_merges(
    counts: &mut PieceCounts,
    merges: usize,
    options: &Options,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Learned, TrainError> {
    let partitions = Corpus::partitions_for(counts, options.threads)?;
    let (corpus, policy) = prepare(counts, options, partitions)?;
    let least = options.min_frequency;
    learn_in::<u32>(&corpus, policy, merges, least, progress)
}

/// Returns the corpus of counted pieces, in some partitions, and the policy of the options.
fn prepare(
    counts: &mut PieceCounts,
    options: &Options,
    partitions: usize,
) -> Result<(Corpus, MergePolicy), TrainError> {
    let initial = InitialState::new(options)?;
    let corpus = Corpus::new(
        counts,
        initial.ties.depends_on_occurrences(),
        partitions,
        || initial.new_push(),
    )?;
    let policy = MergePolicy::new(
        initial.ties,
        initial.lengths,
        options.max_token_length,
        initial.restriction,
    );
    Ok((corpus, policy))
}

/// Learns the first `merges` merges of a corpus by a policy, fewer if no pair is left that
/// occurs `min_frequency` times. Otherwise as [`learn_merges`].
///
/// Offsets are of type `O` as long as it suffices: the index may need longer pools than the corpus has cells, as it
/// keeps occurrences that a pair has lost. It is then built again, from the corpus as merged so far, which changes no
/// merge.
pub(super) fn learn_in<O: Offset>(
    corpus: &Corpus,
    policy: MergePolicy,
    merges: usize,
    min_frequency: u64,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Learned, TrainError> {
    let mut learned = Learned::default();
    let goal = Goal {
        merges,
        min_count: min_frequency.max(1),
    };
    let rest = if O::suffices(corpus.end()) {
        learn_by_offsets::<O>(corpus, policy, goal, &mut learned, progress)?
    } else {
        Some(policy)
    };
    if let Some(policy) = rest {
        let rest = learn_by_offsets::<usize>(corpus, policy, goal, &mut learned, progress)?;
        assert!(rest.is_none(), "no pool is longer than the memory");
    }
    Ok(learned)
}

/// Which merges are learned.
#[derive(Clone, Copy, Debug)]
struct Goal {
    /// How many at most.
    merges: usize,
    /// The least count of a pair.
    min_count: u64,
}

/// Learns merges with offsets of type `O`, which suffices for all cells, after those that are `learned`. Returns the
/// policy for the rest of them if the type no longer suffices for all occurrences.
fn learn_by_offsets<O: Offset>(
    corpus: &Corpus,
    policy: MergePolicy,
    goal: Goal,
    learned: &mut Learned,
    progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
) -> Result<Option<MergePolicy>, TrainError> {
    let state = TrainingState::<O>::new(corpus, policy);
    let workers = WorkerPool::new(&state);
    let is_done = checkpoint::inherit(|inherited| {
        thread::scope(|scope| {
            let _guard = workers.start(scope, &state, inherited);
            let mut trainer = Trainer {
                state: &state,
                workers: &workers,
                queue: CandidateQueue::default(),
            };
            trainer.learn(goal, learned, progress)
        })
    })?;
    Ok((!is_done).then(|| state.into_policy()))
}

/// The main thread of training.
struct Trainer<'a, O> {
    state: &'a TrainingState<'a, O>,
    workers: &'a WorkerPool,
    queue: CandidateQueue,
}

impl<O: Offset> Trainer<'_, O> {
    /// Learns merges after those that are `learned`. Returns false if offsets no longer suffice for the rest.
    ///
    /// Only pairs that are likely to be merged are indexed: those with at least the expected count of the
    /// last merge. When none of them is left, the corpus is indexed again, with an eighth of that count.
    fn learn(
        &mut self,
        goal: Goal,
        learned: &mut Learned,
        progress: &mut dyn FnMut(usize) -> Result<(), Interrupted>,
    ) -> Result<bool, TrainError> {
        let Goal { merges, min_count } = goal;
        let mut indexed_count = match self.state.policy().min_count {
            0 => min_count.max(self.state.corpus.expected_min_count(merges)),
            indexed_before => indexed_before,
        };
        self.index(indexed_count)?;
        let mut visited = 0;
        while learned.len() < merges {
            let before = learned.len();
            self.choose_batch(merges, learned)?;
            visited += self.state.batch().occurrences;
            if learned.len() == before {
                if indexed_count == min_count {
                    break;
                }
                indexed_count = min_count.max(indexed_count / 8);
                self.index(indexed_count)?;
                continue;
            }
            for step in [Step::Merge, Step::UpdateCounts] {
                self.workers.run(step, self.state)?;
            }
            if self.is_exhausted() {
                return Ok(learned.len() >= merges);
            }
            self.push_new_candidates();
            if visited >= CHECK_INTERVAL || before / 1024 != learned.len() / 1024 {
                visited = 0;
                checkpoint::pass()?;
                progress(learned.len())?;
            }
        }
        Ok(true)
    }

    /// Returns whether offsets no longer suffice.
    fn is_exhausted(&self) -> bool {
        let shards = self.state.shards_mut();
        shards.0.iter().any(|shard| shard.is_exhausted)
    }

    /// Indexes all pairs of the corpus with a count of at least `min_count`, and makes them candidates.
    fn index(&mut self, min_count: u64) -> Result<(), Interrupted> {
        self.queue = CandidateQueue::default();
        self.state.policy_mut().min_count = min_count;
        let policy = self.state.policy();
        let mut shards = self.state.shards_mut();
        // Frees the memory of the old indexes first.
        for shard in &mut shards.0 {
            shard.index = PairIndex::default();
        }
        let indexed = index_corpus(self.state.corpus, &policy, shards.0.len())?;
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
        shards: &mut LockedShards<'_, O>,
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
        shards: &mut LockedShards<'_, O>,
    ) {
        let first = if policy.ties.depends_on_occurrences() {
            let (corpus, length) = (self.state.corpus, policy.lengths[pair.left as usize]);
            let holds = |occurrence: O| corpus.holds(occurrence.get(), pair, length);
            match shards.of(pair).index.first(pair, holds) {
                Some(first) => first.get() as u64,
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
    use super::{Offset, learn_in, prepare};
    use crate::error::TrainError;
    use crate::train::counting::PieceCounts;
    use crate::train::{Learned, Options, TieBreak, reference};

    pub(super) type Pieces = Vec<(Vec<u8>, u64)>;

    /// Random pieces, each occurring up to `often` times.
    pub(super) fn pieces(number: usize, symbols: u32, often: u32, seed: u32) -> Pieces {
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
        counts.add_pieces(borrowed(pieces).into_iter())?;
        learned_with::<u32>(&mut counts, merges, options, partitions)
    }

    /// Learns with offsets of a type.
    pub(super) fn learned_with<O: Offset>(
        counts: &mut PieceCounts,
        merges: usize,
        options: &Options,
        partitions: usize,
    ) -> Result<Learned, TrainError> {
        let (corpus, policy) = prepare(counts, options, partitions)?;
        let least = options.min_frequency;
        learn_in::<O>(&corpus, policy, merges, least, &mut |_| Ok(()))
    }

    pub(super) fn borrowed(pieces: &Pieces) -> Vec<(&[u8], u64)> {
        let pieces = pieces.iter();
        pieces.map(|(piece, count)| (&piece[..], *count)).collect()
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
            let defined = reference::train(&borrowed(&few), 60, &options);
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
            for tie_break in TieBreak::ALL {
                let options = Options {
                    tie_break,
                    max_token_length: (seed % 5 == 0).then_some(5),
                    ..Options::default()
                };
                let defined = reference::train(&borrowed(&pieces), 200, &options);
                for partitions in 1..=2 {
                    let here = learned(&pieces, 200, &options, partitions)?;
                    assert_eq!(Some(here), defined, "{seed} {}", tie_break.name());
                }
            }
        }
        Ok(())
    }
}
