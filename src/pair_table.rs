//! Pair → the token it becomes: the one question that merging asks.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use crate::token::{NO_TOKEN, Pair, TokenId};

/// An immutable map from pairs to merged tokens once built.
#[derive(Clone, Debug, Default)]
pub struct PairTable {
    merged: HashMap<u64, TokenId, FxBuildHasher>,
}

impl PairTable {
    /// An empty table with room for `merges` pairs.
    pub fn with_capacity(merges: usize) -> Self {
        Self {
            merged: HashMap::with_capacity_and_hasher(merges, FxBuildHasher),
        }
    }

    /// Records that `pair` becomes `token`; of two tokens for one pair the lower rank stays.
    pub fn insert(&mut self, pair: Pair, token: TokenId) {
        match self.merged.entry(pair.key()) {
            Entry::Occupied(mut entry) => {
                if token < *entry.get() {
                    entry.insert(token);
                }
            }
            Entry::Vacant(entry) => {
                entry.insert(token);
            }
        }
    }

    /// The token that `left` and `right` merge into, or [`NO_TOKEN`]. O(1).
    #[inline]
    pub fn get(&self, left: TokenId, right: TokenId) -> TokenId {
        self.merged
            .get(&Pair::new(left, right).key())
            .copied()
            .unwrap_or(NO_TOKEN)
    }

    /// How many pairs merge.
    pub fn len(&self) -> usize {
        self.merged.len()
    }

    /// True if nothing merges.
    pub fn is_empty(&self) -> bool {
        self.merged.is_empty()
    }
}
