//! One merge: the pair becomes a token at all of its places, by several threads where there are many.
//!
//! Each thread has some of the pieces to itself, so that nothing is shared but what nobody changes.

use super::corpus::{Corpus, Place};
use super::helpers::{self, Helpers};
use super::neighbours::Sides;
use super::part::Part;
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::token::{Pair, TokenId};

/// Places looked at between two checkpoints.
const STRETCH: usize = 1 << 16;

/// How many places ahead memory is asked for.
const AHEAD: usize = 16;

/// What becomes of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    pub(super) pair: Pair,
    /// The bytes of its two tokens.
    pub(super) lengths: [u32; 2],
    /// What it becomes.
    pub(super) token: TokenId,
}

impl Merge {
    /// Replaces the pair at all `places` where it still is, with `sides` for each part. What stands beside it is found in
    /// the first of these then.
    pub(super) fn apply(
        self,
        corpus: &Corpus,
        places: &[Place],
        helpers: &Helpers,
        sides: &mut [Sides],
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        let Some((first, others)) = sides.split_first_mut() else {
            return Ok(());
        };
        first.clear(self.tokens());
        let mut is_shared = false;
        if places.len() >= helpers::WORTH_HANDING_OVER {
            for (part, sides) in (1..).zip(others.iter_mut()) {
                is_shared |= helpers.offer(part, self, corpus.share(part, places), sides);
            }
        }
        if !is_shared {
            // In the order of the places, so that what is noted is, too.
            let mut rest = places;
            for part in 0..corpus.parts() {
                let share;
                (share, rest) = corpus.split_after(part, rest);
                self.apply_to(&mut corpus.part(part), share, first, checkpoint)?;
            }
            return Ok(());
        }
        let share = corpus.share(0, places);
        self.apply_to(&mut corpus.part(0), share, first, checkpoint)?;
        for (part, sides) in (1..).zip(others) {
            if !helpers.take_back(part, sides, checkpoint)? {
                let share = corpus.share(part, places);
                sides.clear(self.tokens());
                self.apply_to(&mut corpus.part(part), share, sides, checkpoint)?;
            }
            first.append(sides);
        }
        Ok(())
    }

    /// How many tokens there are then.
    pub(super) fn tokens(self) -> usize {
        self.token as usize + 1
    }

    /// As [`apply`](Self::apply), for one part of the corpus and the places in it.
    pub(super) fn apply_to(
        self,
        part: &mut Part,
        places: &[Place],
        sides: &mut Sides,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        let Self {
            pair,
            lengths,
            token,
        } = self;
        let length = lengths[0] + lengths[1];
        for stretch in places.chunks(STRETCH) {
            if places.len() > STRETCH {
                checkpoint::pass(checkpoint)?;
            }
            for &first in stretch.iter().take(AHEAD) {
                part.prefetch(first, length);
            }
            for (number, &place) in stretch.iter().enumerate() {
                if let Some(&later) = stretch.get(number + AHEAD) {
                    part.prefetch(later, length);
                }
                let Some(around) = part.replace(place, pair, lengths, token) else {
                    continue;
                };
                if let Some((start, before)) = around.before {
                    sides.left.add(before, start, around.count);
                    // What was after the occurrence before is this one.
                    if before == token {
                        sides.right.merge(pair.left, around.count);
                    }
                }
                if let Some(after) = around.after {
                    sides.right.add(after, place, around.count);
                }
            }
        }
        Ok(())
    }
}
