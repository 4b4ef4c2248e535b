//! Indexing the whole corpus: which pairs occur often enough, how often, and where.
//!
//! Each thread reads its partition twice: to count, and, once the occurrences of each pair have their space
//! in the pool, to write them there.

use std::sync::{Mutex, PoisonError};

use super::corpus::Corpus;
use super::offset::Offset;
use super::pair_index::{PairIndex, shard_of};
use super::pair_table::{PairStats, PairTable};
use super::partition::CorpusPartition;
use super::policy::MergePolicy;
use crate::checkpoint::Interrupted;
use crate::token::{Pair, TokenId};
use crate::util::memory::{self, AtomicInteger, Growable, LargeVec};
use crate::util::parallel;

/// How many pairs ahead stats are prefetched.
const PREFETCH_AHEAD: usize = 32;

/// All pairs that a policy allows.
pub(super) struct IndexedCorpus<O> {
    /// The index of each shard.
    pub(super) indexes: Vec<PairIndex<O>>,
    /// The pairs with their counts.
    pub(super) pairs: Vec<(Pair, u64)>,
}

/// Indexes the pairs of a corpus that `policy` allows, in `shards` shards. Offsets suffice for all cells of the
/// corpus.
///
/// # Errors
/// [`Interrupted`].
pub(super) fn index_corpus<O: Offset>(
    corpus: &Corpus,
    policy: &MergePolicy,
    shards: usize,
) -> Result<IndexedCorpus<O>, Interrupted> {
    if policy.lengths.len() <= 256 && policy.lengths.iter().all(|&length| length == 1) {
        index_with::<O, BytePairCounter<O>>(corpus, policy, |_| 1, shards)
    } else {
        let length = |token: TokenId| policy.lengths[token as usize];
        index_with::<O, PairTable<O>>(corpus, policy, length, shards)
    }
}

/// As [`index_corpus`], with a counter and with the `length` of each token.
fn index_with<O: Offset, C: PairCounter<O> + Send>(
    corpus: &Corpus,
    policy: &MergePolicy,
    length: impl Fn(TokenId) -> u32 + Sync,
    shards: usize,
) -> Result<IndexedCorpus<O>, Interrupted> {
    let mut indexes: Vec<PairIndex<O>> = (0..shards).map(|_| PairIndex::default()).collect();
    let partitions: Vec<usize> = (0..corpus.partitions()).collect();
    let mut counters = parallel::map(&partitions, partitions.len(), |&partition| {
        let mut counter = C::default();
        let partition = corpus.partition(partition);
        for_each_pair(&partition, &length, &mut counter, |stats, found| {
            stats.count += found.count;
            stats.occurrences += O::from(1);
        })?;
        Ok::<_, Interrupted>(Mutex::new(counter))
    })?;
    let mut total = C::default();
    for counter in &mut counters {
        for (pair, stats) in unlocked(counter).iter_mut() {
            let sum = total.stats(pair);
            sum.count += stats.count;
            sum.occurrences += stats.occurrences;
        }
    }
    let mut pairs = Vec::new();
    for (pair, stats) in total.iter_mut() {
        if policy.allows(pair, stats.count) {
            pairs.with_room(1).push((pair, stats.count));
            let index = &mut indexes[shard_of(pair, shards)];
            let start = index.insert(pair, stats.count, stats.occurrences);
            let mut next = start.expect("each occurrence is a cell of its own");
            // The occurrences in one partition follow those in the one before, so all are sorted.
            for counter in &mut counters {
                let in_partition = unlocked(counter).stats(pair);
                in_partition.next = next;
                next += in_partition.occurrences;
            }
        }
    }
    let pools = indexes.iter().map(|index| {
        let length = index.pool_length();
        let mut pool: LargeVec<O::Atomic> = memory::large_vec(length + length / 2);
        pool.resize_with(length, O::Atomic::default);
        pool
    });
    let pools: Vec<_> = pools.collect();
    parallel::map(&partitions, partitions.len(), |&partition| {
        let counter = counters[partition].lock();
        let mut counter = counter.unwrap_or_else(PoisonError::into_inner);
        let partition = corpus.partition(partition);
        for_each_pair(&partition, &length, &mut *counter, |stats, found| {
            if stats.next != O::NONE {
                let pool = &pools[shard_of(found.pair, shards)];
                pool[stats.next.get()].store(O::new(found.occurrence));
                stats.next += O::from(1);
            }
        })?;
        Ok::<_, Interrupted>(())
    })?;
    for (index, pool) in indexes.iter_mut().zip(pools) {
        index.set_pool(memory::into_integers(pool));
    }
    Ok(IndexedCorpus { indexes, pairs })
}

/// A pair of adjacent tokens.
#[derive(Clone, Copy)]
struct FoundPair {
    occurrence: usize,
    pair: Pair,
    count: u64,
}

/// Calls `visit` with each pair of a partition, in order, and with its stats in a counter. These are prefetched: with
/// the pairs of a large alphabet, of Chinese for example, nearly all time was waiting for them.
fn for_each_pair<O: Offset, C: PairCounter<O>>(
    partition: &CorpusPartition,
    length: impl Fn(TokenId) -> u32,
    counter: &mut C,
    mut visit: impl FnMut(&mut PairStats<O>, FoundPair),
) -> Result<(), Interrupted> {
    let mut ahead: [Option<FoundPair>; PREFETCH_AHEAD] = [None; PREFETCH_AHEAD];
    let mut next = 0;
    partition.for_each_pair(length, |occurrence, pair, count| {
        let found = FoundPair {
            occurrence,
            pair,
            count,
        };
        if !C::PREFETCHES {
            visit(counter.stats(pair), found);
            return;
        }
        counter.prefetch(pair);
        if let Some(before) = ahead[next].replace(found) {
            visit(counter.stats(before.pair), before);
        }
        next = (next + 1) % PREFETCH_AHEAD;
    })?;
    ahead.rotate_left(next);
    for found in ahead.into_iter().flatten() {
        visit(counter.stats(found.pair), found);
    }
    Ok(())
}

/// The contents of a lock that no other thread can reach.
fn unlocked<T>(lock: &mut Mutex<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Stats by pair.
trait PairCounter<O>: Default {
    /// Whether stats may be far away in memory.
    const PREFETCHES: bool;

    /// Returns the stats of a pair, inserting them if there are none.
    fn stats(&mut self, pair: Pair) -> &mut PairStats<O>;

    /// Prefetches the stats of a pair.
    fn prefetch(&self, pair: Pair);

    /// Iterates over all pairs that occur.
    fn iter_mut(&mut self) -> impl Iterator<Item = (Pair, &mut PairStats<O>)>
    where
        O: 'static;
}

/// Stats of pairs of at most 256 tokens, such as those of bytes, in an array of all such pairs, so nothing is
/// hashed.
#[derive(Debug)]
struct BytePairCounter<O>(Vec<PairStats<O>>);

impl<O: Offset> Default for BytePairCounter<O> {
    fn default() -> Self {
        Self(memory::filled(PairStats::default(), 1 << 16))
    }
}

impl<O: Offset> PairCounter<O> for BytePairCounter<O> {
    const PREFETCHES: bool = false;

    #[inline]
    fn stats(&mut self, pair: Pair) -> &mut PairStats<O> {
        debug_assert!(pair.left < 256 && pair.right < 256, "{pair:?}");
        // The masks spare the bounds check.
        &mut self.0[((pair.left & 0xFF) << 8 | (pair.right & 0xFF)) as usize]
    }

    #[inline]
    fn prefetch(&self, _: Pair) {}

    fn iter_mut(&mut self) -> impl Iterator<Item = (Pair, &mut PairStats<O>)> {
        let pairs = (0..256).flat_map(|left| (0..256).map(move |right| Pair::new(left, right)));
        pairs
            .zip(&mut self.0)
            .filter(|(_, stats)| stats.occurrences > O::default())
    }
}

impl<O: Offset> PairCounter<O> for PairTable<O> {
    const PREFETCHES: bool = true;

    #[inline]
    fn stats(&mut self, pair: Pair) -> &mut PairStats<O> {
        self.stats(pair)
    }

    #[inline]
    fn prefetch(&self, pair: Pair) {
        self.prefetch(pair);
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = (Pair, &mut PairStats<O>)> {
        self.iter_mut()
    }
}
