//! Counting all pairs of the corpus at once: how often each occurs, at how many occurrences.

use std::collections::HashMap;

use crate::token::Pair;
use crate::util::hash::SeededState;

/// The counts of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairStats {
    /// How often it occurs, weighted by the counts of its pieces.
    pub(super) count: u64,
    /// Number of its occurrences in the corpus.
    pub(super) occurrences: u32,
    /// Index in a pool where its next occurrence goes, or [`NOT_KEPT`].
    pub(super) next: u32,
}

/// The occurrences of the pair are not kept.
pub(super) const NOT_KEPT: u32 = u32::MAX;

impl Default for PairStats {
    fn default() -> Self {
        Self {
            count: 0,
            occurrences: 0,
            next: NOT_KEPT,
        }
    }
}

/// Stats by pair.
pub(super) trait PairCounter: Default {
    /// Returns the stats of a pair, inserting them if there are none.
    fn stats(&mut self, pair: Pair) -> &mut PairStats;

    /// Iterates over all pairs that occur.
    fn iter_mut(&mut self) -> impl Iterator<Item = (Pair, &mut PairStats)>;
}

/// Stats of pairs of at most 256 tokens, such as those of bytes, in an array of all such pairs, so nothing is
/// hashed.
#[derive(Debug)]
pub(super) struct BytePairCounter(Vec<PairStats>);

impl Default for BytePairCounter {
    fn default() -> Self {
        Self(vec![PairStats::default(); 1 << 16])
    }
}

impl PairCounter for BytePairCounter {
    #[inline]
    fn stats(&mut self, pair: Pair) -> &mut PairStats {
        debug_assert!(pair.left < 256 && pair.right < 256, "{pair:?}");
        // The masks spare the bounds check.
        &mut self.0[((pair.left & 0xFF) << 8 | (pair.right & 0xFF)) as usize]
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = (Pair, &mut PairStats)> {
        let pairs = (0..256).flat_map(|left| (0..256).map(move |right| Pair::new(left, right)));
        pairs
            .zip(&mut self.0)
            .filter(|(_, stats)| stats.occurrences > 0)
    }
}

/// Stats of any pairs.
#[derive(Debug, Default)]
pub(super) struct HashPairCounter(HashMap<Pair, PairStats, SeededState>);

impl PairCounter for HashPairCounter {
    #[inline]
    fn stats(&mut self, pair: Pair) -> &mut PairStats {
        self.0.entry(pair).or_default()
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = (Pair, &mut PairStats)> {
        self.0.iter_mut().map(|(pair, stats)| (*pair, stats))
    }
}
