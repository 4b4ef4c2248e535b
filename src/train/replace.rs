//! One merge: the pair becomes a token at all of its places, by several threads where there are many.
//!
//! Each thread has some of the pieces to itself, so that nothing is shared but what nobody changes.

use std::panic;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::corpus::{Corpus, Part, Place};
use super::neighbours::Sides;
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::token::{Pair, TokenId};

/// Places looked at between two checkpoints.
const STRETCH: usize = 1 << 16;

/// For fewer places a thread is not worth starting: they take it a millisecond or so.
const WORTH_A_THREAD: usize = 1 << 13;

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
    /// Replaces the pair at all `places` where it still is, on at most `threads` threads, which work with one of the
    /// `sides` each. What stands beside it is found in the first of these then.
    pub(super) fn apply(
        self,
        corpus: &mut Corpus,
        places: &[Place],
        threads: usize,
        sides: &mut Vec<Sides>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        let threads = threads.min(places.len() / WORTH_A_THREAD).max(1);
        let parts = corpus.parts(places, threads);
        sides.resize_with(sides.len().max(parts.len()), Sides::default);
        let tokens = self.token as usize + 1;
        let jobs = parts.into_iter().zip(sides.iter_mut());
        let used = jobs.len();
        let jobs = Mutex::new(jobs);
        let work = |((part, places), sides): ((Part<'_>, &[Place]), &mut Sides)| {
            sides.clear(tokens);
            self.apply_to(part, places, sides, checkpoint)
        };
        let work_on = || {
            loop {
                let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                match job {
                    Some(job) => work(job)?,
                    None => return Ok(()),
                }
            }
        };
        if used == 1 {
            return work_on();
        }
        thread::scope(|scope| {
            // If the system allows no more threads, the others do the work of those.
            let others = (1..used).map(|_| thread::Builder::new().spawn_scoped(scope, work_on));
            let others: Vec<_> = others.filter_map(Result::ok).collect();
            others.into_iter().fold(work_on(), |result, other| {
                let other = other
                    .join()
                    .unwrap_or_else(|panic| panic::resume_unwind(panic));
                result.and(other)
            })
        })?;
        if let Some((first, later)) = sides[..used].split_first_mut() {
            for later in later {
                first.append(later);
            }
        }
        Ok(())
    }

    /// As [`apply`](Self::apply), for one part of the corpus and the places in it.
    fn apply_to(
        self,
        mut part: Part<'_>,
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
