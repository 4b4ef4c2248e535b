//! Counting all pairs of a corpus at once: how often each occurs, at how many places, and where its places go.

use std::collections::HashMap;

use crate::token::Pair;
use crate::util::hash::Secret;

/// What is counted of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// How often it occurs.
    pub(super) count: u64,
    /// At how many places.
    pub(super) places: u32,
    /// Where in a pool its next place goes, or [`NOWHERE`].
    pub(super) next: u32,
}

/// The places of a pair are not wanted.
pub(super) const NOWHERE: u32 = u32::MAX;

impl Default for Row {
    fn default() -> Self {
        Self {
            count: 0,
            places: 0,
            next: NOWHERE,
        }
    }
}

/// Rows by pair.
pub(super) trait Tally: Default {
    /// The row of a pair, which is made if there is none.
    fn row(&mut self, pair: Pair) -> &mut Row;

    /// All rows that were made.
    fn rows(&mut self) -> impl Iterator<Item = (Pair, &mut Row)>;
}

/// Rows of pairs of byte tokens: one for each, so nothing is hashed.
#[derive(Debug)]
pub(super) struct BytePairs(Vec<Row>);

impl Default for BytePairs {
    fn default() -> Self {
        Self(vec![Row::default(); 1 << 16])
    }
}

impl Tally for BytePairs {
    #[inline]
    fn row(&mut self, pair: Pair) -> &mut Row {
        &mut self.0[((pair.left & 0xFF) << 8 | (pair.right & 0xFF)) as usize]
    }

    fn rows(&mut self) -> impl Iterator<Item = (Pair, &mut Row)> {
        let pairs = (0..256).flat_map(|left| (0..256).map(move |right| Pair::new(left, right)));
        pairs.zip(&mut self.0).filter(|(_, row)| row.places > 0)
    }
}

/// Rows of any pairs.
#[derive(Debug, Default)]
pub(super) struct AnyPairs(HashMap<Pair, Row, Secret>);

impl Tally for AnyPairs {
    #[inline]
    fn row(&mut self, pair: Pair) -> &mut Row {
        self.0.entry(pair).or_default()
    }

    fn rows(&mut self) -> impl Iterator<Item = (Pair, &mut Row)> {
        self.0.iter_mut().map(|(pair, row)| (*pair, row))
    }
}
