//! One merge: the pair becomes a token at all of its places in a part of the corpus.

use std::ops::Deref;

use super::corpus::Place;
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
    /// How many tokens there are then.
    pub(super) fn tokens(self) -> usize {
        self.token as usize + 1
    }

    /// Asks for the memory of the first of the places in each of some parts to be brought near.
    pub(super) fn prefetch(self, parts: &[impl Deref<Target = Part>], places: &[&[Place]]) {
        let [left, right] = self.lengths;
        for (part, places) in parts.iter().zip(places) {
            for &place in places.iter().take(AHEAD) {
                part.prefetch(place, left + right);
            }
        }
    }

    /// Replaces the pair at all `places` of a part where it still is, and notes what stands beside it.
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
            for (number, &place) in stretch.iter().enumerate() {
                if let Some(&later) = stretch.get(number + AHEAD) {
                    part.prefetch(later, length);
                }
                let Some(around) = part.replace(place, pair, lengths, token) else {
                    continue;
                };
                if let Some((start, before)) = around.before {
                    sides.left.add(before, token, start, around.count);
                    // What was after the occurrence before is this one.
                    if before == token {
                        sides.right.merge(pair.left, token, around.count);
                    }
                }
                if let Some(after) = around.after {
                    sides.right.add(after, token, place, around.count);
                }
            }
        }
        Ok(())
    }
}
