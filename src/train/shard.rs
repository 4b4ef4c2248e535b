//! Some of the pairs: those that one thread keeps account of.

use super::neighbours::{Side, Sides};
use super::pair_index::PairIndex;
use super::round::Round;
use super::rules::Rules;
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::token::{Pair, TokenId};

/// Places filled in between two checkpoints.
const STRETCH: usize = 1 << 16;

/// How many pairs ahead memory is asked for.
const AHEAD: usize = 16;

/// The number of the shard that a pair is in, of so many. That of a pair turned round is the same.
#[inline]
pub(super) fn number(pair: Pair, shards: usize) -> usize {
    let spread = (pair.left ^ pair.right).wrapping_mul(0x9E37_79B1);
    ((u64::from(spread) * shards as u64) >> u32::BITS) as usize
}

/// A pair with the token of a merge.
#[derive(Clone, Copy, Debug)]
struct New {
    pair: Pair,
    count: u64,
    places: u32,
    /// Where in the pool its next place goes, or [`NOWHERE`].
    next: u32,
}

/// The places of a pair are not kept.
const NOWHERE: u32 = u32::MAX;

/// Pairs, how often they occur, and where.
#[derive(Debug)]
pub(super) struct Shard {
    number: usize,
    pub(super) index: PairIndex,
    /// Pairs that the last round has added to the index, and how often they occurred when they were made.
    pub(super) fresh: Vec<(Pair, u64)>,
    /// All pairs of this shard that the round has made.
    new: Vec<New>,
    /// For all neighbours, merge by merge, side by side, part by part: the number of the pair among `new`.
    numbers: Vec<u32>,
    /// The number of the pair that each token forms on the side that is looked at, plus one; 0 if there is none.
    known: Vec<u32>,
}

impl Shard {
    /// Without pairs.
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            index: PairIndex::default(),
            fresh: Vec::new(),
            new: Vec::new(),
            numbers: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Keeps account of a round that is made: `sides` are what was found in each part of the corpus.
    pub(super) fn note(
        &mut self,
        round: &Round,
        sides: &[&Sides],
        rules: &Rules,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        self.sum_up(round, sides);
        for new in self.new.iter().take(AHEAD) {
            self.index.prefetch(new.pair);
        }
        for number in 0..self.new.len() {
            if let Some(later) = self.new.get(number + AHEAD)
                && later.count >= rules.least
            {
                self.index.prefetch(later.pair);
            }
            let new = &mut self.new[number];
            if rules.may_merge(new.pair, new.count) {
                new.next = self.index.insert(new.pair, new.count, new.places)?;
                self.fresh.push((new.pair, new.count));
            }
        }
        self.fill_in(round, sides, checkpoint)?;
        // After all inserts: a later merge may take occurrences from a pair that an earlier one has made.
        for sides in sides {
            let rarer = sides.rarer(self.number);
            for (pair, _) in rarer.iter().take(AHEAD) {
                self.index.prefetch(*pair);
            }
            for (number, &(pair, count)) in rarer.iter().enumerate() {
                if let Some(&(later, _)) = rarer.get(number + AHEAD) {
                    self.index.prefetch(later);
                }
                self.index.decrease(pair, count, rules.least);
            }
        }
        self.index.close_gaps();
        Ok(())
    }

    /// Sums up what was found of each new pair in all parts.
    fn sum_up(&mut self, round: &Round, sides: &[&Sides]) {
        let shard = self.number;
        self.new.clear();
        self.numbers.clear();
        for (made, (merge, _)) in round.merges.iter().enumerate() {
            for side in Side::BOTH {
                let first = self.new.len();
                for found in sides.iter().map(|sides| sides.found(side, made, shard)) {
                    for neighbour in found.neighbours {
                        let number =
                            self.number_of(side, merge.token, neighbour.token, sides.len());
                        let new = &mut self.new[number as usize];
                        new.count += neighbour.count - neighbour.merged;
                        new.places += neighbour.places;
                        self.numbers.push(number);
                    }
                }
                if sides.len() > 1 {
                    for new in &self.new[first..] {
                        let other = new.pair.left ^ new.pair.right ^ merge.token;
                        self.known[other as usize] = 0;
                    }
                }
            }
        }
    }

    /// The number among `new` of the pair that a token forms.
    #[inline]
    fn number_of(&mut self, side: Side, token: TokenId, other: TokenId, parts: usize) -> u32 {
        // In one part, nothing is found twice.
        if parts > 1 {
            if self.known.len() <= other as usize {
                let length = other as usize + 1;
                self.known.resize(length.next_power_of_two(), 0);
            }
            if let Some(number) = self.known[other as usize].checked_sub(1) {
                return number;
            }
        }
        self.new.push(New {
            pair: side.pair(token, other),
            count: 0,
            places: 0,
            next: NOWHERE,
        });
        // No more than two for each place.
        let number = u32::try_from(self.new.len()).unwrap_or(NOWHERE);
        if parts > 1 {
            self.known[other as usize] = number;
        }
        number - 1
    }

    /// Puts the places of new pairs into the pool.
    fn fill_in(
        &mut self,
        round: &Round,
        sides: &[&Sides],
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        let shard = self.number;
        let pool = self.index.pool();
        let mut numbers = &self.numbers[..];
        for merge in 0..round.merges.len() {
            for side in Side::BOTH {
                for found in sides.iter().map(|sides| sides.found(side, merge, shard)) {
                    let these;
                    (these, numbers) = numbers.split_at(found.neighbours.len());
                    for stretch in found.places.chunks(STRETCH) {
                        if found.places.len() > STRETCH {
                            checkpoint::pass(checkpoint)?;
                        }
                        for &(neighbour, place) in stretch {
                            let new = &mut self.new[these[neighbour as usize] as usize];
                            if new.next != NOWHERE {
                                pool[new.next as usize] = place;
                                new.next += 1;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
