//! What threads work on together, round by round: the merges in each part of the corpus, then what they change in each
//! shard of the pairs.
//!
//! ```text
//! first thread      the merges of the next round
//! each thread       makes them in its part of the corpus, and notes what stands beside them
//! each thread       of the pairs of its shard: those that have become rarer, those that are new and where
//! ```
//!
//! Nothing is written to by two threads in one step, so a lock is never waited for.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::corpus::{Corpus, Place};
use super::neighbours::Sides;
use super::round::Round;
use super::rules::Rules;
use super::shard::{self, Shard};
use crate::checkpoint::Checkpoint;
use crate::error::TrainError;
use crate::memory;
use crate::token::Pair;

/// How many merges ahead the places of a merge are asked for, and so many cache lines of them.
const LISTS_AHEAD: usize = 4;
const LIST_LINES: usize = 8;

/// What a thread does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Makes the merges in its part.
    Merge,
    /// Keeps account of the pairs of its shard.
    Note,
}

/// The work on a corpus.
#[derive(Debug)]
pub(super) struct Work<'c> {
    pub(super) corpus: &'c Corpus,
    rules: RwLock<Rules>,
    round: RwLock<Round>,
    /// What stands beside the merges of the round in each part.
    sides: Vec<RwLock<Sides>>,
    shards: Vec<RwLock<Shard>>,
}

impl<'c> Work<'c> {
    /// Nothing is known of pairs yet.
    pub(super) fn new(corpus: &'c Corpus, rules: Rules) -> Self {
        // Without rounds of many merges, hardly ever is there so much to note that it is worth being shared.
        let shards = if rules.allow_rounds() {
            corpus.parts()
        } else {
            1
        };
        Self {
            corpus,
            rules: RwLock::new(rules),
            round: RwLock::default(),
            sides: (0..corpus.parts())
                .map(|_| RwLock::new(Sides::new(shards)))
                .collect(),
            shards: (0..shards)
                .map(|number| RwLock::new(Shard::new(number)))
                .collect(),
        }
    }

    /// How many threads may do a step at once.
    pub(super) fn threads(&self, step: Step) -> usize {
        match step {
            Step::Merge => self.sides.len(),
            Step::Note => self.shards.len(),
        }
    }

    pub(super) fn rules(&self) -> RwLockReadGuard<'_, Rules> {
        read(&self.rules)
    }

    pub(super) fn rules_to_change(&self) -> RwLockWriteGuard<'_, Rules> {
        write(&self.rules)
    }

    pub(super) fn round(&self) -> RwLockReadGuard<'_, Round> {
        read(&self.round)
    }

    pub(super) fn round_to_change(&self) -> RwLockWriteGuard<'_, Round> {
        write(&self.round)
    }

    /// All shards, which nobody else has as long.
    pub(super) fn shards_to_change(&self) -> Shards<'_> {
        Shards(self.shards.iter().map(write).collect())
    }

    /// Does a step for the part or the shard of that number.
    pub(super) fn step(
        &self,
        step: Step,
        number: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        match step {
            Step::Merge => self.merge(number, checkpoint),
            Step::Note => self.note(number, checkpoint),
        }
    }

    fn merge(&self, number: usize, checkpoint: &dyn Checkpoint) -> Result<(), TrainError> {
        let round = self.round();
        let shards: Vec<_> = self.shards.iter().map(read).collect();
        let mut part = self.corpus.part(number);
        let mut sides = write(&self.sides[number]);
        let last = round.merges.last();
        sides.clear(last.map_or(0, |(merge, _)| merge.tokens()));
        let lists: Vec<&[Place]> = round
            .merges
            .iter()
            .map(|(_, places)| shards[places.shard].index.places(places.range.clone()))
            .collect();
        let mut coming = lists.iter().map(|list| self.corpus.share(number, list));
        let mut next = coming.next().unwrap_or_default();
        if let Some((first, _)) = round.merges.first() {
            first.prefetch(&part, next);
        }
        for (number, (merge, _)) in round.merges.iter().enumerate() {
            if let Some(list) = lists.get(number + LISTS_AHEAD) {
                memory::prefetch_lines(list, LIST_LINES);
            }
            let places = next;
            if let Some((second, _)) = round.merges.get(number + 1) {
                next = coming.next().unwrap_or_default();
                second.prefetch(&part, next);
            }
            merge.apply_to(&mut part, places, &mut sides, checkpoint)?;
            sides.end(*merge);
        }
        Ok(())
    }

    fn note(&self, number: usize, checkpoint: &dyn Checkpoint) -> Result<(), TrainError> {
        let (round, rules) = (self.round(), self.rules());
        let sides: Vec<_> = self.sides.iter().map(read).collect();
        let sides: Vec<_> = sides.iter().map(|sides| &**sides).collect();
        write(&self.shards[number]).note(&round, &sides, &rules, checkpoint)
    }
}

/// All shards.
pub(super) struct Shards<'w>(pub(super) Vec<RwLockWriteGuard<'w, Shard>>);

impl Shards<'_> {
    /// The number of the shard of a pair.
    pub(super) fn number(&self, pair: Pair) -> usize {
        shard::number(pair, self.0.len())
    }

    /// The shard of a pair.
    pub(super) fn of(&mut self, pair: Pair) -> &mut Shard {
        let number = self.number(pair);
        &mut self.0[number]
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
