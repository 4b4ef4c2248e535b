//! The queue of candidates, best first.
//!
//! The count of a queued candidate may be outdated: the pair may occur less often by now, never more often.
//! So the first candidate whose count is still true is the best, and no count that is popped exceeds one that
//! was popped before.
//!
//! ```text
//! counts from MIN_HEAP_COUNT on   a heap
//! smaller counts                  a list for each count; when its turn comes it is sorted, chunk by chunk,
//!                                 and popped from its end
//! late candidates                 those pushed while the list of their count is being popped: into the heap
//! ```
//!
//! Most candidates are in lists, and most of these are never popped, so never sorted. With one heap for all
//! of them, whose steps miss the cache, 100,000 merges took 0.80 instead of 0.71 s. Prefetching the memory of
//! the pairs and occurrences that come next changed nothing.

use std::cmp::Ordering;

use super::tie_break::{Candidate, TieBreaker};
use crate::token::Pair;
use crate::util::memory::Growable;

/// Candidates with at least this count go to the heap.
const MIN_HEAP_COUNT: u64 = 1 << 12;

/// The candidates that may be merged.
#[derive(Debug)]
pub(super) struct CandidateQueue {
    heap: CandidateHeap,
    /// Candidates by count, below the count of `current`.
    lists: Vec<Vec<QueuedCandidate>>,
    /// The rest of the list that is being popped.
    current: LazySortedList,
}

impl Default for CandidateQueue {
    fn default() -> Self {
        Self {
            heap: CandidateHeap::default(),
            lists: (0..MIN_HEAP_COUNT).map(|_| Vec::new()).collect(),
            current: LazySortedList::default(),
        }
    }
}

impl CandidateQueue {
    /// Adds a candidate.
    pub(super) fn push(&mut self, candidate: Candidate, ties: &TieBreaker) {
        let Candidate {
            count,
            tie_key,
            pair,
        } = candidate;
        let list = usize::try_from(count).ok();
        match list.and_then(|count| self.lists.get_mut(count)) {
            Some(list) => list.with_room(1).push(QueuedCandidate { tie_key, pair }),
            None => self.heap.push(candidate, ties),
        }
    }

    /// Removes and returns the best candidate.
    pub(super) fn pop(&mut self, ties: &TieBreaker) -> Option<Candidate> {
        while self.current.candidates.is_empty() && self.heap.0.is_empty() {
            self.current = LazySortedList {
                candidates: self.lists.pop()?,
                chunk_starts: Vec::new(),
                count: self.lists.len() as u64,
            };
        }
        match (self.current.last(ties), self.heap.0.first()) {
            (Some(listed), Some(late)) if ties.precedes(late, &listed) => self.heap.pop(ties),
            (Some(listed), _) => {
                self.current.candidates.pop();
                Some(listed)
            }
            (None, _) => self.heap.pop(ties),
        }
    }
}

/// A candidate in the list of its count.
#[derive(Clone, Copy, Debug)]
struct QueuedCandidate {
    tie_key: u64,
    pair: Pair,
}

impl QueuedCandidate {
    fn with_count(self, count: u64) -> Candidate {
        let Self { tie_key, pair } = self;
        Candidate {
            count,
            tie_key,
            pair,
        }
    }
}

/// Candidates of one count, popped from the end, where the best are. Only the chunk that is popped next is
/// sorted: the last list is seldom popped to its beginning, and sorting a list of millions would take long
/// without a checkpoint.
#[derive(Debug, Default)]
struct LazySortedList {
    candidates: Vec<QueuedCandidate>,
    /// Ascending indices: all candidates from each of them on precede those before it. From the last one on,
    /// candidates are sorted.
    chunk_starts: Vec<usize>,
    /// The count of each of them.
    count: u64,
}

impl LazySortedList {
    /// Most candidates that are sorted at once.
    const MAX_CHUNK: usize = 1 << 12;

    /// The best candidate, which is the last one.
    #[inline]
    fn last(&mut self, ties: &TieBreaker) -> Option<Candidate> {
        let end = self.candidates.len();
        if self.chunk_starts.last().is_none_or(|&start| start >= end) {
            if ties.keys_are_unique() {
                self.sort_end(|first, second| second.tie_key.cmp(&first.tie_key));
            } else {
                let count = self.count;
                self.sort_end(|first, second| {
                    ties.order(&second.with_count(count), &first.with_count(count))
                });
            }
        }
        let last = self.candidates.last()?;
        Some(last.with_count(self.count))
    }

    fn sort_end(
        &mut self,
        best_last: impl Fn(&QueuedCandidate, &QueuedCandidate) -> Ordering + Copy,
    ) {
        let end = self.candidates.len();
        while self.chunk_starts.pop_if(|start| *start >= end).is_some() {}
        let mut start = self.chunk_starts.last().copied().unwrap_or(0);
        while end - start > Self::MAX_CHUNK {
            let half = (end - start) / 2;
            self.candidates[start..].select_nth_unstable_by(half, best_last);
            start += half;
            self.chunk_starts.push(start);
        }
        self.candidates[start..].sort_unstable_by(best_last);
        self.chunk_starts.push(start);
    }
}

/// A 4-ary heap: half as many levels as a binary one, and the four children of a node are adjacent in memory.
#[derive(Debug, Default)]
struct CandidateHeap(Vec<Candidate>);

const ARITY: usize = 4;

impl CandidateHeap {
    fn push(&mut self, candidate: Candidate, ties: &TieBreaker) {
        self.0.with_room(1).push(candidate);
        self.sift_up(self.0.len() - 1, ties);
    }

    fn pop(&mut self, ties: &TieBreaker) -> Option<Candidate> {
        let last = self.0.pop()?;
        let Some(top) = self.0.first_mut() else {
            return Some(last);
        };
        let best = std::mem::replace(top, last);
        self.sift_down(0, ties);
        Some(best)
    }

    fn sift_up(&mut self, mut index: usize, ties: &TieBreaker) {
        while index > 0 {
            let parent = (index - 1) / ARITY;
            if !ties.precedes(&self.0[index], &self.0[parent]) {
                break;
            }
            self.0.swap(index, parent);
            index = parent;
        }
    }

    fn sift_down(&mut self, mut index: usize, ties: &TieBreaker) {
        loop {
            let first = ARITY * index + 1;
            let children = first..self.0.len().min(first + ARITY);
            let best = children.reduce(|best, other| {
                if ties.precedes(&self.0[other], &self.0[best]) {
                    other
                } else {
                    best
                }
            });
            match best {
                Some(best) if ties.precedes(&self.0[best], &self.0[index]) => {
                    self.0.swap(index, best);
                    index = best;
                }
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CandidateQueue, MIN_HEAP_COUNT};
    use crate::token::Pair;
    use crate::train::learning::tie_break::{Candidate, TieBreaker};
    use crate::train::{Initial, TieBreak};

    /// Also with candidates that are pushed in between, and with lists longer than a sorted chunk.
    #[test]
    fn candidates_are_popped_by_count_then_by_tie_key() {
        let ties = TieBreaker::new(TieBreak::SmallestPair, &Initial::default());
        let mut queue = CandidateQueue::default();
        let mut expected = BTreeSet::new();
        let mut random = 1_u32;
        let mut number = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        let push = |queue: &mut CandidateQueue, expected: &mut BTreeSet<_>, count, pair: Pair| {
            let tie_key = pair.key();
            if expected.insert((u64::MAX - count, tie_key)) {
                queue.push(
                    Candidate {
                        count,
                        tie_key,
                        pair,
                    },
                    &ties,
                );
            }
        };
        for _ in 0..60_000 {
            let count = [1, 2, 7, MIN_HEAP_COUNT - 1, MIN_HEAP_COUNT, 1 << 40][number(6) as usize];
            push(
                &mut queue,
                &mut expected,
                count,
                Pair::new(number(1 << 20), number(1 << 20)),
            );
        }
        let mut popped = 0;
        while let Some(candidate) = queue.pop(&ties) {
            let best = expected.pop_first();
            assert_eq!(best, Some((u64::MAX - candidate.count, candidate.tie_key)));
            popped += 1;
            // No candidate that is pushed is more frequent than the last one popped.
            if popped % 3 == 0 && popped < 60_000 {
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
        assert!(popped > 70_000);
    }
}
