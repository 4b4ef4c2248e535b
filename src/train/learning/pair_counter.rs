//! Counting all pairs of the corpus at once: how often each occurs, at how many occurrences.

use super::offset::Offset;
use super::pair_table::{PairStats, PairTable};
use crate::token::Pair;
use crate::util::memory;

/// Stats by pair.
pub(super) trait PairCounter<O>: Default {
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
pub(super) struct BytePairCounter<O>(Vec<PairStats<O>>);

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
