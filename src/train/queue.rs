//! Which pair comes next: a heap of candidates, best first.
//!
//! What it knows of a pair may be out of date: the pair may have become rarer since, never more frequent. So the first
//! candidate whose count is still true is the best.

use std::cmp::Ordering;

use super::{FIRST_MERGE, Initial, TieBreak, huggingface_order};
use crate::token::{Pair, TokenId};

/// A pair that may be merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// How often it occurs.
    pub(super) count: u64,
    /// Of equal counts, the smallest comes first.
    pub(super) tie: u64,
    pub(super) pair: Pair,
}

/// The bytes of all tokens so far, and the order of equally frequent pairs.
#[derive(Debug)]
pub(super) struct Ties {
    rule: TieBreak,
    numbers: [u32; 256],
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Ties {
    /// Only byte tokens.
    pub(super) fn new(rule: TieBreak, initial: &Initial) -> Self {
        let order = huggingface_order();
        let numbers = initial
            .bytes
            .map(|byte| u32::from(order[usize::from(byte)]));
        Self {
            rule,
            numbers,
            bytes: initial.bytes.to_vec(),
            ends: (1..=initial.bytes.len()).collect(),
        }
    }

    /// The next token.
    pub(super) fn push(&mut self, pair: Pair) {
        for part in [pair.left, pair.right] {
            let range = self.range(part);
            self.bytes.extend_from_within(range);
        }
        self.ends.push(self.bytes.len());
    }

    fn range(&self, token: TokenId) -> std::ops::Range<usize> {
        let token = token as usize;
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[token]
    }

    /// The bytes of a token.
    pub(super) fn bytes(&self, token: TokenId) -> &[u8] {
        &self.bytes[self.range(token)]
    }

    /// What to order equally frequent pairs by; `first` is where the pair occurs first.
    pub(super) fn tie(&self, pair: Pair, first: u32) -> u64 {
        match self.rule {
            TieBreak::SmallestPair => pair.key(),
            TieBreak::HuggingFace => {
                let number = |token: TokenId| {
                    if token < FIRST_MERGE {
                        self.numbers[token as usize]
                    } else {
                        token
                    }
                };
                Pair::new(number(pair.left), number(pair.right)).key()
            }
            // The start of the left token, greatest first. Where that is the same, all bytes are looked at.
            TieBreak::GreatestBytes => {
                let mut start = [0; 8];
                for (to, from) in start.iter_mut().zip(self.bytes(pair.left)) {
                    *to = *from;
                }
                !u64::from_be_bytes(start)
            }
            TieBreak::FirstSeen => u64::from(first),
        }
    }

    /// Whether the order of equally frequent pairs changes as they become rarer.
    pub(super) fn moves(&self) -> bool {
        self.rule == TieBreak::FirstSeen
    }

    /// Whether `first` comes before `second`.
    #[inline]
    fn precedes(&self, first: &Candidate, second: &Candidate) -> bool {
        if first.count != second.count {
            return first.count > second.count;
        }
        match first.tie.cmp(&second.tie) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.rule == TieBreak::GreatestBytes && self.greater(first, second),
        }
    }

    #[cold]
    fn greater(&self, first: &Candidate, second: &Candidate) -> bool {
        let bytes = |pair: Pair| (self.bytes(pair.left), self.bytes(pair.right));
        bytes(first.pair) > bytes(second.pair)
    }
}

/// Candidates. Each has four below it, none of which precedes it: half as many steps as with two, and a step's four
/// lie side by side.
#[derive(Debug, Default)]
pub(super) struct Queue(Vec<Candidate>);

const BRANCHES: usize = 4;

impl Queue {
    /// Adds a candidate.
    pub(super) fn push(&mut self, candidate: Candidate, ties: &Ties) {
        self.0.push(candidate);
        self.up(self.0.len() - 1, ties);
    }

    /// The best candidate.
    pub(super) fn peek(&self) -> Option<&Candidate> {
        self.0.first()
    }

    /// Takes the best candidate away.
    pub(super) fn pop(&mut self, ties: &Ties) {
        if let Some(last) = self.0.pop() {
            self.replace(last, ties);
        }
    }

    /// Puts another candidate in place of the best.
    pub(super) fn replace(&mut self, candidate: Candidate, ties: &Ties) {
        if let Some(top) = self.0.first_mut() {
            *top = candidate;
            self.down(0, ties);
        }
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
