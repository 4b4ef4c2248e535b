//! Pair → the token it becomes: the one question that merging asks.
//!
//! A pair and its token fit into one 64-bit number where ids are small, as they nearly always are: 20 bits for each
//! part, 24 for the token. Such pairs lie in an open-addressing table of these numbers, at most half full, so that
//! a look-up reads one cache line, seldom two. Pairs of larger ids go to an ordinary hash map.

use std::collections::HashMap;

use crate::memory;
use crate::secret::{Secret, Spread};
use crate::token::{NO_TOKEN, Pair, TokenId};

const PART_BITS: u32 = 20;
const TOKEN_BITS: u32 = 24;
/// In a slot, a token's number is its id plus one: 0 marks an empty slot.
const LARGEST_TOKEN: TokenId = (1 << TOKEN_BITS) - 2;

/// An immutable map from pairs to merged tokens once built.
#[derive(Clone, Debug)]
pub struct PairTable {
    slots: Vec<u64>,
    spread: Spread,
    shift: u32,
    filled: usize,
    large: HashMap<u64, TokenId, Secret>,
}

impl PairTable {
    /// An empty table with room for `merges` pairs.
    pub fn with_capacity(merges: usize) -> Self {
        let slots = (2 * merges).next_power_of_two().max(16);
        let shift = 64 - slots.ilog2();
        let mut empty = memory::vec_with_capacity(slots);
        empty.resize(slots, 0);
        Self {
            slots: empty,
            spread: Spread::default(),
            shift,
            filled: 0,
            large: HashMap::default(),
        }
    }

    /// The pair as a number above the token bits, if its parts are small.
    #[inline]
    fn small(left: TokenId, right: TokenId) -> Option<u64> {
        let fits = (left | right) >> PART_BITS == 0;
        fits.then(|| ((u64::from(left) << PART_BITS) | u64::from(right)) << TOKEN_BITS)
    }

    /// Where the search for a pair starts.
    #[inline]
    fn slot(&self, pair: u64) -> usize {
        self.spread.slot(pair, self.shift)
    }

    /// The table of `merges`.
    pub(crate) fn of(merges: &[(TokenId, Pair)]) -> Self {
        /// So many at once, so that one does not wait for the memory of another.
        const BATCH: usize = 128;
        let mut table = Self::with_capacity(merges.len());
        for batch in merges.chunks(BATCH) {
            for (_, pair) in batch {
                if let Some(small) = Self::small(pair.left, pair.right)
                    && let Some(slot) = table.slots.get(table.slot(small))
                {
                    memory::prefetch(slot);
                }
            }
            for &(token, pair) in batch {
                table.insert(pair, token);
            }
        }
        table
    }

    /// Records that `pair` becomes `token`; of two tokens for one pair the lower rank stays.
    pub fn insert(&mut self, pair: Pair, token: TokenId) {
        let Some(small) = Self::small(pair.left, pair.right).filter(|_| token <= LARGEST_TOKEN)
        else {
            let kept = self.large.entry(pair.key()).or_insert(token);
            *kept = token.min(*kept);
            return;
        };
        if 2 * (self.filled + 1) > self.slots.len() {
            self.grow();
        }
        let entry = small | u64::from(token + 1);
        let mask = self.slots.len() - 1;
        let mut slot = self.slot(small);
        let start = slot;
        loop {
            let there = self.slots[slot];
            if there == 0 {
                self.slots[slot] = entry;
                self.filled += 1;
                let walked = slot.wrapping_sub(start) & mask;
                if let Some(spread) = self.spread.after_walk(walked) {
                    self.lay_out(self.slots.len() / 2, spread);
                }
                return;
            }
            if there >> TOKEN_BITS == small >> TOKEN_BITS {
                self.slots[slot] = there.min(entry);
                return;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        self.lay_out(self.slots.len(), self.spread);
    }

    /// Moves all pairs to where they are if they are spread in another way, or there is room for more merges.
    fn lay_out(&mut self, merges: usize, spread: Spread) {
        let mut moved = Self::with_capacity(merges);
        moved.spread = spread;
        for entry in self.slots.iter().filter(|&&entry| entry != 0) {
            let mut slot = moved.slot(entry >> TOKEN_BITS << TOKEN_BITS);
            while moved.slots[slot] != 0 {
                slot = (slot + 1) & (moved.slots.len() - 1);
            }
            moved.slots[slot] = *entry;
        }
        self.slots = moved.slots;
        self.spread = spread;
        self.shift = moved.shift;
    }

    /// The token that `left` and `right` merge into, or [`NO_TOKEN`]. O(1).
    #[inline]
    pub fn get(&self, left: TokenId, right: TokenId) -> TokenId {
        if let Some(small) = Self::small(left, right) {
            let mask = self.slots.len() - 1;
            let mut slot = self.slot(small);
            loop {
                // The mask keeps the slot inside; the check costs nothing beside the load.
                let there = self.slots.get(slot).copied().unwrap_or(0);
                if there ^ small < 1 << TOKEN_BITS && there != 0 {
                    let token = (there & ((1 << TOKEN_BITS) - 1)) as TokenId;
                    return token - 1;
                }
                if there == 0 {
                    break;
                }
                slot = (slot + 1) & mask;
            }
        }
        if self.large.is_empty() {
            return NO_TOKEN;
        }
        self.large
            .get(&Pair::new(left, right).key())
            .copied()
            .unwrap_or(NO_TOKEN)
    }

    /// How many pairs merge.
    pub fn len(&self) -> usize {
        self.filled + self.large.len()
    }

    /// True if nothing merges.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        8 * self.slots.len() + 16 * self.large.capacity()
    }
}
