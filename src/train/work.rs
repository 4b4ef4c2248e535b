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
use crate::token::Pair;
use crate::util::memory;

/// So many cache lines of the places of each merge are asked for.
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

    /// How many shares a step of the round has: parts or shards, or all parts in one.
    pub(super) fn shares(&self, step: Step) -> usize {
        match step {
            Step::Merge => self.sides_of(&self.round()),
            Step::Note => self.shards.len(),
        }
    }

    /// How many sides what stands beside the merges of a round is noted in.
    fn sides_of(&self, round: &Round) -> usize {
        if round.is_shared() {
            self.corpus.parts()
        } else {
            1
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

    /// Does a share of a step, by its number.
    pub(super) fn step(
        &self,
        step: Step,
        share: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), TrainError> {
        match step {
            Step::Merge => self.merge(share, checkpoint),
            Step::Note => self.note(share, checkpoint),
        }
    }

    fn merge(&self, share: usize, checkpoint: &dyn Checkpoint) -> Result<(), TrainError> {
        let round = self.round();
        let shards: Vec<_> = self.shards.iter().map(read).collect();
        let numbers = if round.is_shared() {
            share..share + 1
        } else {
            0..self.corpus.parts()
        };
        let mut parts: Vec<_> = numbers.clone().map(|part| self.corpus.part(part)).collect();
        let mut sides = write(&self.sides[share]);
        let tokens = round.merges.last().map(|(merge, _)| merge.tokens());
        sides.clear(tokens.unwrap_or(0));
        let lists = round.merges.iter().map(|(merge, places)| {
            let owner = shard::number(merge.pair, shards.len());
            let list = shards[owner].index.places(places.clone());
            // Most likely it is in this part from here on.
            let start = list.len() * numbers.start / self.corpus.parts();
            memory::prefetch_lines(&list[start..], LIST_LINES);
            list
        });
        let lists: Vec<&[Place]> = lists.collect();
        // For each merge, the places in each part.
        let stretches = lists.iter().flat_map(|list| {
            let in_part = move |part| self.corpus.share(part, list);
            numbers.clone().map(in_part)
        });
        let stretches: Vec<&[Place]> = stretches.collect();
        let mut coming = stretches.chunks(parts.len());
        let mut next = coming.next();
        if let (Some((first, _)), Some(places)) = (round.merges.first(), next) {
            first.prefetch(&parts, places);
        }
        let mut later = round.merges.iter().skip(1);
        for (merge, _) in &round.merges {
            let places = next.unwrap_or_default();
            next = coming.next();
            if let (Some((later, _)), Some(places)) = (later.next(), next) {
                later.prefetch(&parts, places);
            }
            for (part, places) in parts.iter_mut().zip(places) {
                merge.apply_to(part, places, &mut sides, checkpoint)?;
            }
            sides.end(*merge);
        }
        Ok(())
    }

    fn note(&self, shard: usize, checkpoint: &dyn Checkpoint) -> Result<(), TrainError> {
        let (round, rules) = (self.round(), self.rules());
        let sides = self.sides.iter().take(self.sides_of(&round)).map(read);
        let sides: Vec<_> = sides.collect();
        let sides: Vec<_> = sides.iter().map(|sides| &**sides).collect();
        write(&self.shards[shard]).note(&round, &sides, &rules, checkpoint)
    }
}

/// All shards.
pub(super) struct Shards<'w>(pub(super) Vec<RwLockWriteGuard<'w, Shard>>);

impl Shards<'_> {
    /// The shard of a pair.
    pub(super) fn of(&mut self, pair: Pair) -> &mut Shard {
        let number = shard::number(pair, self.0.len());
        &mut self.0[number]
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
