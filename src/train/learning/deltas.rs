//! The changes of a batch of merges: the neighbors of the merged pairs, with the pairs that they lose and the
//! pairs that they form, by the shards that own these pairs.
//!
//! They come of applying each merge: its pair becomes a token at all of its occurrences in a partition.

use std::ops::Deref;

use super::batch::Merge;
use super::offset::Offset;
use super::pair_index::shard_of;
use super::partition::CorpusPartition;
use crate::checkpoint::{self, Interrupted};
use crate::token::{Pair, TokenId};
use crate::util::memory::Growable;

/// A token on one side of a pair that is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbor<O> {
    pub(super) token: TokenId,
    /// Number of occurrences of the pair that it is beside.
    pub(super) occurrences: O,
    /// The same, weighted by the counts of the pieces.
    pub(super) count: u64,
    /// The part of `count` where it turned out to begin the next occurrence of the pair, so became another
    /// token.
    pub(super) merged: u64,
}

/// The neighbors on one side of each merge of a batch whose new pairs belong to one shard.
#[derive(Debug)]
struct NeighborList<O> {
    /// Those of all merges, concatenated.
    neighbors: Vec<Neighbor<O>>,
    /// The occurrences of the new pairs: the index of the neighbor among those of its merge, and where the
    /// pair begins.
    occurrences: Vec<(u32, O)>,
    /// For each merge that is done, where its neighbors and occurrences end.
    ends: Vec<ListEnd>,
}

/// An end in both arrays of a list.
#[derive(Clone, Copy, Debug, Default)]
struct ListEnd {
    neighbors: usize,
    occurrences: usize,
}

impl<O> NeighborList<O> {
    fn new() -> Self {
        Self {
            neighbors: Vec::new(),
            occurrences: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.neighbors.clear();
        self.occurrences.clear();
        self.ends.clear();
    }

    /// Where the merge that is being applied starts.
    #[inline]
    fn start(&self) -> ListEnd {
        self.ends.last().copied().unwrap_or_default()
    }
}

/// The neighbors on one side of one merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbors<'a, O> {
    pub(super) neighbors: &'a [Neighbor<O>],
    /// The index of the neighbor, and where its new pair begins.
    pub(super) occurrences: &'a [(u32, O)],
}

/// The neighbors on one side of each merge of a batch.
#[derive(Debug)]
pub(super) struct SideNeighbors<O> {
    /// For each token, its index among the neighbors of the merge that is being applied, plus one; 0 if it is
    /// none.
    indices: Vec<u32>,
    /// By shard.
    lists: Vec<NeighborList<O>>,
}

impl<O: Offset> SideNeighbors<O> {
    fn new(shards: usize) -> Self {
        Self {
            indices: Vec::new(),
            lists: (0..shards).map(|_| NeighborList::new()).collect(),
        }
    }

    /// Empties it, for `tokens` tokens.
    fn clear(&mut self, tokens: usize) {
        self.lists.iter_mut().for_each(NeighborList::clear);
        if self.indices.len() < tokens {
            let tokens = tokens.next_power_of_two();
            let more = tokens - self.indices.len();
            self.indices.with_room(more).resize(tokens, 0);
        }
    }

    /// Ends the merge that is being applied. Calls `visit(token, count)` for each of its neighbors.
    fn end(&mut self, mut visit: impl FnMut(TokenId, u64)) {
        for list in &mut self.lists {
            for neighbor in &list.neighbors[list.start().neighbors..] {
                self.indices[neighbor.token as usize] = 0;
                visit(neighbor.token, neighbor.count);
            }
            list.ends.with_room(1).push(ListEnd {
                neighbors: list.neighbors.len(),
                occurrences: list.occurrences.len(),
            });
        }
    }

    fn of(&self, merge: usize, shard: usize) -> Neighbors<'_, O> {
        let list = &self.lists[shard];
        let before = merge.checked_sub(1).map(|before| list.ends[before]);
        let (start, end) = (before.unwrap_or_default(), list.ends[merge]);
        Neighbors {
            neighbors: &list.neighbors[start.neighbors..end.neighbors],
            occurrences: &list.occurrences[start.occurrences..end.occurrences],
        }
    }

    /// Adds `token` beside an occurrence of the pair that became `merged`, in a piece with `count`. The new
    /// pair of both begins at `occurrence`.
    #[inline]
    pub(super) fn add(&mut self, token: TokenId, merged: TokenId, occurrence: O, count: u64) {
        let list = list_of(&mut self.lists, token, merged);
        let start = list.start().neighbors;
        let index = &mut self.indices[token as usize];
        if *index == 0 {
            list.neighbors.with_room(1).push(Neighbor {
                token,
                occurrences: O::default(),
                count: 0,
                merged: 0,
            });
            let number = list.neighbors.len() - start;
            *index = u32::try_from(number).expect("there are fewer neighbors than tokens");
        }
        let index = *index - 1;
        let neighbor = &mut list.neighbors[start + index as usize];
        neighbor.count += count;
        neighbor.occurrences += O::from(1);
        list.occurrences.with_room(1).push((index, occurrence));
    }

    /// Notes that `token`, added beside an occurrence before, has been merged itself since.
    pub(super) fn mark_merged(&mut self, token: TokenId, merged: TokenId, count: u64) {
        let list = list_of(&mut self.lists, token, merged);
        let start = list.start().neighbors;
        let index = self.indices[token as usize]
            .checked_sub(1)
            .expect("the token was added after the occurrence before");
        list.neighbors[start + index as usize].merged += count;
    }
}

/// The list of the shard that owns the pair of two tokens, in either order.
#[inline]
fn list_of<O>(
    lists: &mut [NeighborList<O>],
    token: TokenId,
    merged: TokenId,
) -> &mut NeighborList<O> {
    let shard = shard_of(Pair::new(token, merged), lists.len());
    &mut lists[shard]
}

/// A side of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The pair of `token` and its neighbor on this side.
    #[inline]
    pub(super) fn pair(self, token: TokenId, neighbor: TokenId) -> Pair {
        match self {
            Self::Left => Pair::new(neighbor, token),
            Self::Right => Pair::new(token, neighbor),
        }
    }
}

/// The changes of a batch of merges in a part of the corpus.
#[derive(Debug)]
pub(super) struct PairDeltas<O> {
    pub(super) left: SideNeighbors<O>,
    pub(super) right: SideNeighbors<O>,
    /// For each shard, its pairs that lose occurrences, and by how much their counts decrease.
    decrements: Vec<Vec<(Pair, u64)>>,
}

impl<O: Offset> PairDeltas<O> {
    /// No changes, for pairs in `shards` shards.
    pub(super) fn new(shards: usize) -> Self {
        Self {
            left: SideNeighbors::new(shards),
            right: SideNeighbors::new(shards),
            decrements: vec![Vec::new(); shards],
        }
    }

    /// Empties it, for `tokens` tokens.
    pub(super) fn clear(&mut self, tokens: usize) {
        self.left.clear(tokens);
        self.right.clear(tokens);
        self.decrements.iter_mut().for_each(Vec::clear);
    }

    /// Ends a merge.
    pub(super) fn end(&mut self, merge: Merge) {
        let Merge { pair, token, .. } = merge;
        let Self {
            left,
            right,
            decrements,
        } = self;
        let shards = decrements.len();
        let mut decrement = |side: Side, merged, neighbor, count| {
            // Beside the new token was an occurrence of the pair itself, which is no longer indexed.
            if neighbor != token {
                let pair = side.pair(merged, neighbor);
                decrements[shard_of(pair, shards)]
                    .with_room(1)
                    .push((pair, count));
            }
        };
        left.end(|neighbor, count| decrement(Side::Left, pair.left, neighbor, count));
        right.end(|neighbor, count| decrement(Side::Right, pair.right, neighbor, count));
    }

    /// The neighbors on a side of a merge, given by its index in the batch, that form pairs of a shard.
    pub(super) fn neighbors(&self, side: Side, merge: usize, shard: usize) -> Neighbors<'_, O> {
        let neighbors = match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        };
        neighbors.of(merge, shard)
    }

    /// The pairs of a shard that lose occurrences, and by how much their counts decrease.
    pub(super) fn decrements(&self, shard: usize) -> &[(Pair, u64)] {
        &self.decrements[shard]
    }
}

/// Occurrences visited between two checkpoints.
const CHECK_INTERVAL: usize = 1 << 16;

/// How many occurrences ahead cells are prefetched.
const PREFETCH_AHEAD: usize = 16;

/// Prefetches the first occurrences of a merge in each of some partitions.
pub(super) fn prefetch_first(
    merge: Merge,
    partitions: &[impl Deref<Target = CorpusPartition>],
    occurrences: &[&[impl Offset]],
) {
    let [left, right] = merge.lengths;
    for (partition, occurrences) in partitions.iter().zip(occurrences) {
        for &occurrence in occurrences.iter().take(PREFETCH_AHEAD) {
            partition.prefetch(occurrence.get(), left + right);
        }
    }
}

/// Replaces the pair at those `occurrences` of a partition where it still is, and adds its neighbors to
/// `deltas`.
pub(super) fn apply_merge<O: Offset>(
    merge: Merge,
    partition: &mut CorpusPartition,
    occurrences: &[O],
    deltas: &mut PairDeltas<O>,
) -> Result<(), Interrupted> {
    let Merge {
        pair,
        lengths,
        token,
    } = merge;
    let length = lengths[0] + lengths[1];
    for chunk in occurrences.chunks(CHECK_INTERVAL) {
        if occurrences.len() > CHECK_INTERVAL {
            checkpoint::pass()?;
        }
        for (next, &occurrence) in chunk.iter().enumerate() {
            if let Some(&later) = chunk.get(next + PREFETCH_AHEAD) {
                partition.prefetch(later.get(), length);
            }
            let Some(context) = partition.replace(occurrence.get(), pair, lengths, token) else {
                continue;
            };
            if let Some((start, before)) = context.before {
                let start = O::new(start);
                deltas.left.add(before, token, start, context.count);
                // This occurrence begins with what was the right neighbor of the occurrence before.
                if before == token {
                    deltas.right.mark_merged(pair.left, token, context.count);
                }
            }
            if let Some(after) = context.after {
                deltas.right.add(after, token, occurrence, context.count);
            }
        }
    }
    Ok(())
}
