//! Which of two pairs comes first.

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
    /// Of all tokens, if anybody asks for them: there may be gigabytes, where a long text without splitting is repeated.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    keeps_bytes: bool,
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
            keeps_bytes: true,
        }
    }

    /// Nobody but the rule asks for bytes from now on.
    pub(super) fn forget_bytes(&mut self) {
        if self.rule != TieBreak::GreatestBytes {
            self.keeps_bytes = false;
            (self.bytes, self.ends) = (Vec::new(), Vec::new());
        }
    }

    /// The next token.
    pub(super) fn push(&mut self, pair: Pair) {
        if !self.keeps_bytes {
            return;
        }
        for part in [pair.left, pair.right] {
            let range = self.range(part);
            self.bytes.extend_from_within(range);
        }
        self.ends.push(self.bytes.len());
    }

    fn range(&self, token: TokenId) -> std::ops::Range<usize> {
        let end = |token: usize| self.ends.get(token).copied().unwrap_or(0);
        let token = token as usize;
        token.checked_sub(1).map_or(0, end)..end(token)
    }

    /// The bytes of a token; none once they are forgotten.
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

    /// Whether a number tells all equally frequent pairs apart.
    pub(super) fn are_numbers(&self) -> bool {
        self.rule != TieBreak::GreatestBytes
    }

    /// Whether a pair of a new token comes after all equally frequent ones that the pair before comes after; for what
    /// that means, see [`round`](super::round).
    pub(super) fn let_new_pairs_wait(&self) -> bool {
        self.rule != TieBreak::GreatestBytes
    }

    /// How two candidates are ordered, the one that comes first being less.
    #[inline]
    pub(super) fn order(&self, first: &Candidate, second: &Candidate) -> Ordering {
        let order = second.count.cmp(&first.count);
        let order = order.then(first.tie.cmp(&second.tie));
        if order == Ordering::Equal && !self.are_numbers() {
            return self.order_of_bytes(first, second);
        }
        order
    }

    /// Whether `first` comes before `second`.
    #[inline]
    pub(super) fn precedes(&self, first: &Candidate, second: &Candidate) -> bool {
        self.order(first, second) == Ordering::Less
    }

    #[cold]
    fn order_of_bytes(&self, first: &Candidate, second: &Candidate) -> Ordering {
        let bytes = |pair: Pair| (self.bytes(pair.left), self.bytes(pair.right));
        bytes(second.pair).cmp(&bytes(first.pair))
    }
}
