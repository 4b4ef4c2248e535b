//! Which pair comes next.
//!
//! What is known of a candidate may be out of date: the pair may have become rarer since, never more frequent. So the
//! first candidate whose count is still true is the best, and no count that is taken is above one that was taken before.
//!
//! ```text
//! often    a heap
//! rarer    a list for each count; when its turn has come it is sorted, part by part, and taken from its end
//! late     what is added while its own list is being taken: into the heap
//! ```
//!
//! Most candidates wait in lists, and most of these are never taken, so never ordered. With one heap for all of them,
//! whose steps wait for memory, 100,000 merges took 0.80 instead of 0.71 s. To ask for the memory of pairs and places
//! that come next changed nothing.

use std::cmp::Ordering;

use super::ties::{Candidate, Ties};
use crate::token::Pair;

/// Candidates that occur so often or more go to the heap.
const OFTEN: u64 = 1 << 12;

/// Candidates.
#[derive(Debug)]
pub(super) struct Queue {
    heap: Heap,
    /// By count, up to the one whose list is being taken.
    lists: Vec<Vec<Listed>>,
    /// What is left of that.
    taken: List,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            heap: Heap::default(),
            lists: (0..OFTEN).map(|_| Vec::new()).collect(),
            taken: List::default(),
        }
    }
}

impl Queue {
    /// Adds a candidate.
    pub(super) fn push(&mut self, candidate: Candidate, ties: &Ties) {
        let Candidate { count, tie, pair } = candidate;
        let list = usize::try_from(count).ok();
        match list.and_then(|count| self.lists.get_mut(count)) {
            Some(list) => list.push(Listed { tie, pair }),
            None => self.heap.push(candidate, ties),
        }
    }

    /// Takes the best candidate away.
    pub(super) fn pop(&mut self, ties: &Ties) -> Option<Candidate> {
        while self.taken.candidates.is_empty() && self.heap.0.is_empty() {
            self.taken = List {
                candidates: self.lists.pop()?,
                places: Vec::new(),
                count: self.lists.len() as u64,
            };
        }
        match (self.taken.last(ties), self.heap.0.first()) {
            (Some(listed), Some(late)) if ties.precedes(late, &listed) => self.heap.pop(ties),
            (Some(listed), _) => {
                self.taken.candidates.pop();
                Some(listed)
            }
            (None, _) => self.heap.pop(ties),
        }
    }
}

/// A candidate whose count is that of its list.
#[derive(Clone, Copy, Debug)]
struct Listed {
    tie: u64,
    pair: Pair,
}

impl Listed {
    fn candidate(self, count: u64) -> Candidate {
        let Self { tie, pair } = self;
        Candidate { count, tie, pair }
    }
}

/// Candidates that are taken from the end, the best first. No more of them is sorted than is about to be taken: the last
/// list is seldom taken to its end, and nothing waits for a list of millions.
#[derive(Debug, Default)]
struct List {
    candidates: Vec<Listed>,
    /// From each of these places on, all candidates come before those in front of it; from the last one on, they are
    /// sorted.
    places: Vec<usize>,
    /// How often each of them occurs.
    count: u64,
}

impl List {
    /// So many are sorted at once, or fewer.
    const SORTED: usize = 1 << 12;

    /// The best candidate, which is the last one.
    #[inline]
    fn last(&mut self, ties: &Ties) -> Option<Candidate> {
        let end = self.candidates.len();
        if self.places.last().is_none_or(|&place| place >= end) {
            if ties.are_numbers() {
                self.sort_end(|first, second| second.tie.cmp(&first.tie));
            } else {
                let count = self.count;
                self.sort_end(|first, second| {
                    ties.order(&second.candidate(count), &first.candidate(count))
                });
            }
        }
        let last = self.candidates.last()?;
        Some(last.candidate(self.count))
    }

    fn sort_end(&mut self, best_last: impl Fn(&Listed, &Listed) -> Ordering + Copy) {
        let end = self.candidates.len();
        while self.places.pop_if(|place| *place >= end).is_some() {}
        let mut start = self.places.last().copied().unwrap_or(0);
        while end - start > Self::SORTED {
            let half = (end - start) / 2;
            self.candidates[start..].select_nth_unstable_by(half, best_last);
            start += half;
            self.places.push(start);
        }
        self.candidates[start..].sort_unstable_by(best_last);
        self.places.push(start);
    }
}

/// Candidates. Each has four below it, none of which precedes it: half as many steps as with two, and a step's four
/// lie side by side.
#[derive(Debug, Default)]
struct Heap(Vec<Candidate>);

const BRANCHES: usize = 4;

impl Heap {
    fn push(&mut self, candidate: Candidate, ties: &Ties) {
        self.0.push(candidate);
        self.up(self.0.len() - 1, ties);
    }

    fn pop(&mut self, ties: &Ties) -> Option<Candidate> {
        let last = self.0.pop()?;
        let Some(top) = self.0.first_mut() else {
            return Some(last);
        };
        let best = std::mem::replace(top, last);
        self.down(0, ties);
        Some(best)
    }

    fn up(&mut self, mut place: usize, ties: &Ties) {
        while place > 0 {
            let above = (place - 1) / BRANCHES;
            if !ties.precedes(&self.0[place], &self.0[above]) {
                break;
            }
            self.0.swap(place, above);
            place = above;
        }
    }

    fn down(&mut self, mut place: usize, ties: &Ties) {
        loop {
            let first = BRANCHES * place + 1;
            let below = first..self.0.len().min(first + BRANCHES);
            let best = below.reduce(|best, other| {
                if ties.precedes(&self.0[other], &self.0[best]) {
                    other
                } else {
                    best
                }
            });
            match best {
                Some(best) if ties.precedes(&self.0[best], &self.0[place]) => {
                    self.0.swap(place, best);
                    place = best;
                }
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{OFTEN, Queue};
    use crate::token::Pair;
    use crate::train::ties::{Candidate, Ties};
    use crate::train::{Initial, TieBreak};

    /// Candidates come by count, then by tie, whatever is added in between, and lists that are longer than what is
    /// sorted at once are no exception.
    #[test]
    fn candidates_come_in_order() {
        let ties = Ties::new(TieBreak::SmallestPair, &Initial::default());
        let mut queue = Queue::default();
        let mut expected = BTreeSet::new();
        let mut random = 1_u32;
        let mut number = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        let push = |queue: &mut Queue, expected: &mut BTreeSet<_>, count, pair: Pair| {
            let tie = pair.key();
            if expected.insert((u64::MAX - count, tie)) {
                queue.push(Candidate { count, tie, pair }, &ties);
            }
        };
        for _ in 0..60_000 {
            let count = [1, 2, 7, OFTEN - 1, OFTEN, 1 << 40][number(6) as usize];
            push(
                &mut queue,
                &mut expected,
                count,
                Pair::new(number(1 << 20), number(1 << 20)),
            );
        }
        let mut taken = 0;
        while let Some(candidate) = queue.pop(&ties) {
            let best = expected.pop_first();
            assert_eq!(best, Some((u64::MAX - candidate.count, candidate.tie)));
            taken += 1;
            // None that is added is more frequent than the last that was taken.
            if taken % 3 == 0 && taken < 60_000 {
                let count = candidate.count - u64::from(number(2)).min(candidate.count - 1);
                push(
                    &mut queue,
                    &mut expected,
                    count,
                    Pair::new(number(1 << 20), number(1 << 20)),
                );
            }
        }
        assert!(expected.is_empty());
        assert!(taken > 70_000);
    }
}
