//! What stands beside the occurrences of the pairs that are merged in a round: which tokens, how often, where. It is sorted
//! by the shards of the pairs that are rarer or new by that.

use super::corpus::Place;
use super::replace::Merge;
use super::shard;
use crate::token::{Pair, TokenId};

/// A token on one side of a pair that is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    pub(super) token: TokenId,
    /// At how many places it stands there.
    pub(super) places: u32,
    /// How often.
    pub(super) count: u64,
    /// How often it then turned out to be the start of the next occurrence.
    pub(super) merged: u64,
}

/// All tokens on one side of each merge of a round that form new pairs of one shard.
#[derive(Debug, Default)]
struct List {
    /// For all merges, one after the other.
    found: Vec<Neighbour>,
    /// The pairs that they form with the merged token: whose, by its number among those of the merge, and where.
    places: Vec<(u32, Place)>,
    /// Where what was found for each merge that is done ends.
    ends: Vec<End>,
}

/// An end in both parts of a list.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    found: usize,
    places: usize,
}

impl List {
    fn clear(&mut self) {
        self.found.clear();
        self.places.clear();
        self.ends.clear();
    }

    /// Where what is found for the merge that is being made starts.
    #[inline]
    fn start(&self) -> End {
        self.ends.last().copied().unwrap_or_default()
    }
}

/// What was found for one merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) neighbours: &'a [Neighbour],
    /// Whose, by its number among them, and where.
    pub(super) places: &'a [(u32, Place)],
}

/// All tokens on one side of each merge of a round.
#[derive(Debug)]
pub(super) struct Neighbours {
    /// The number of each token among those found for the merge that is being made, plus one; 0 if it is not.
    numbers: Vec<u32>,
    /// By shard.
    lists: Vec<List>,
}

impl Neighbours {
    fn new(shards: usize) -> Self {
        Self {
            numbers: Vec::new(),
            lists: (0..shards).map(|_| List::default()).collect(),
        }
    }

    /// Nothing found, of so many tokens.
    fn clear(&mut self, tokens: usize) {
        self.lists.iter_mut().for_each(List::clear);
        if self.numbers.len() < tokens {
            self.numbers.resize(tokens.next_power_of_two(), 0);
        }
    }

    /// The merge that is being made is done: `visit(token, count)` for each token that was found.
    fn end(&mut self, mut visit: impl FnMut(TokenId, u64)) {
        for list in &mut self.lists {
            for neighbour in &list.found[list.start().found..] {
                self.numbers[neighbour.token as usize] = 0;
                visit(neighbour.token, neighbour.count);
            }
            list.ends.push(End {
                found: list.found.len(),
                places: list.places.len(),
            });
        }
    }

    fn of(&self, merge: usize, shard: usize) -> Found<'_> {
        let list = &self.lists[shard];
        let before = merge.checked_sub(1).map(|before| list.ends[before]);
        let (start, end) = (before.unwrap_or_default(), list.ends[merge]);
        Found {
            neighbours: &list.found[start.found..end.found],
            places: &list.places[start.places..end.places],
        }
    }

    /// `token` stands beside an occurrence of what is `merged` in a piece that occurs `count` times; the pair of both
    /// starts at `place`.
    #[inline]
    pub(super) fn add(&mut self, token: TokenId, merged: TokenId, place: Place, count: u64) {
        let list = list(&mut self.lists, token, merged);
        let start = list.start().found;
        let number = &mut self.numbers[token as usize];
        if *number == 0 {
            list.found.push(Neighbour {
                token,
                places: 0,
                count: 0,
                merged: 0,
            });
            // No more than there are tokens.
            *number = u32::try_from(list.found.len() - start).unwrap_or(u32::MAX);
        }
        let number = *number - 1;
        let neighbour = &mut list.found[start + number as usize];
        neighbour.count += count;
        neighbour.places += 1;
        list.places.push((number, place));
    }

    /// `token` was added for an occurrence, and has been merged itself since.
    pub(super) fn merge(&mut self, token: TokenId, merged: TokenId, count: u64) {
        let list = list(&mut self.lists, token, merged);
        let start = list.start().found;
        if let Some(number) = self.numbers[token as usize].checked_sub(1) {
            list.found[start + number as usize].merged += count;
        }
    }
}

/// Of the lists for each shard, that for the pair of two tokens.
#[inline]
fn list(lists: &mut [List], token: TokenId, merged: TokenId) -> &mut List {
    let shard = shard::number(Pair::new(token, merged), lists.len());
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

    /// The pair of `token` and what stands on this side of it.
    #[inline]
    pub(super) fn pair(self, token: TokenId, other: TokenId) -> Pair {
        match self {
            Self::Left => Pair::new(other, token),
            Self::Right => Pair::new(token, other),
        }
    }
}

/// Both sides of each merge of a round.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) left: Neighbours,
    pub(super) right: Neighbours,
    /// The pairs of each shard that are rarer, and how much.
    rarer: Vec<Vec<(Pair, u64)>>,
}

impl Sides {
    /// For pairs in so many shards.
    pub(super) fn new(shards: usize) -> Self {
        Self {
            left: Neighbours::new(shards),
            right: Neighbours::new(shards),
            rarer: vec![Vec::new(); shards],
        }
    }

    /// Nothing found, of so many tokens.
    pub(super) fn clear(&mut self, tokens: usize) {
        self.left.clear(tokens);
        self.right.clear(tokens);
        self.rarer.iter_mut().for_each(Vec::clear);
    }

    /// A merge is done.
    pub(super) fn end(&mut self, merge: Merge) {
        let Merge { pair, token, .. } = merge;
        let Self { left, right, rarer } = self;
        let shards = rarer.len();
        let mut note = |side: Side, beside, other, count| {
            if other != token {
                let pair = side.pair(beside, other);
                rarer[shard::number(pair, shards)].push((pair, count));
            }
        };
        left.end(|other, count| note(Side::Left, pair.left, other, count));
        right.end(|other, count| note(Side::Right, pair.right, other, count));
    }

    /// What was found on a side of a merge of the round, by its number, and belongs to a shard.
    pub(super) fn found(&self, side: Side, merge: usize, shard: usize) -> Found<'_> {
        let neighbours = match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        };
        neighbours.of(merge, shard)
    }

    /// The pairs of a shard that are rarer, and how much.
    pub(super) fn rarer(&self, shard: usize) -> &[(Pair, u64)] {
        &self.rarer[shard]
    }
}
