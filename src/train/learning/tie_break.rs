//! The order of candidates: by count, then by the tie-breaking rule.

use std::cmp::Ordering;

use crate::token::{Pair, TokenId};
use crate::train::{FIRST_MERGE, Initial, TieBreak, huggingface_order};

/// A pair that may be merged next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// How often it occurs.
    pub(super) count: u64,
    /// Orders candidates of the same count, the smallest first.
    pub(super) tie_key: u64,
    pub(super) pair: Pair,
}

/// Orders candidates of the same count by a rule, with the bytes of all tokens if the rule needs them.
#[derive(Debug)]
pub(super) struct TieBreaker {
    rule: TieBreak,
    /// The index of each byte token in Hugging Face's alphabet.
    byte_order: [u32; 256],
    /// The bytes of all tokens, concatenated, and the end of each. They are kept only if needed: they may
    /// take gigabytes where a long text without splitting repeats itself.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    keeps_bytes: bool,
}

impl TieBreaker {
    /// A tie-breaker that knows the byte tokens.
    pub(super) fn new(rule: TieBreak, initial: &Initial) -> Self {
        let order = huggingface_order();
        let byte_order = initial
            .bytes
            .map(|byte| u32::from(order[usize::from(byte)]));
        Self {
            rule,
            byte_order,
            bytes: initial.bytes.to_vec(),
            ends: (1..=initial.bytes.len()).collect(),
            keeps_bytes: true,
        }
    }

    /// Drops the bytes of tokens unless the rule needs them. After this, [`bytes`](Self::bytes) may panic.
    pub(super) fn forget_bytes(&mut self) {
        if self.rule != TieBreak::GreatestBytes {
            self.keeps_bytes = false;
            (self.bytes, self.ends) = (Vec::new(), Vec::new());
        }
    }

    /// Adds the next token.
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
        let token = token as usize;
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[token]
    }

    /// The bytes of a token, which must be kept.
    pub(super) fn bytes(&self, token: TokenId) -> &[u8] {
        &self.bytes[self.range(token)]
    }

    /// Returns the [`Candidate::tie_key`] of a pair whose first occurrence is `first`.
    pub(super) fn tie_key(&self, pair: Pair, first: u32) -> u64 {
        match self.rule {
            TieBreak::SmallestPair => pair.key(),
            TieBreak::HuggingFace => {
                let number = |token: TokenId| {
                    if token < FIRST_MERGE {
                        self.byte_order[token as usize]
                    } else {
                        token
                    }
                };
                Pair::new(number(pair.left), number(pair.right)).key()
            }
            // The first bytes of the left token, greatest first; `order` compares all bytes where these are
            // equal.
            TieBreak::GreatestBytes => {
                let mut prefix = [0; 8];
                for (to, from) in prefix.iter_mut().zip(self.bytes(pair.left)) {
                    *to = *from;
                }
                !u64::from_be_bytes(prefix)
            }
            TieBreak::FirstSeen => u64::from(first),
        }
    }

    /// Whether the key of a pair changes as the pair loses occurrences.
    pub(super) fn depends_on_occurrences(&self) -> bool {
        self.rule == TieBreak::FirstSeen
    }

    /// Whether different pairs of the same count have different keys.
    pub(super) fn keys_are_unique(&self) -> bool {
        self.rule != TieBreak::GreatestBytes
    }

    /// Whether a pair with a new token comes after each pair of the same count that its predecessor comes
    /// after, in the sense of [`batch`](super::batch).
    pub(super) fn orders_new_pairs_last(&self) -> bool {
        self.rule != TieBreak::GreatestBytes
    }

    /// Compares two candidates; the one that is merged first is less.
    #[inline]
    pub(super) fn order(&self, first: &Candidate, second: &Candidate) -> Ordering {
        let order = second.count.cmp(&first.count);
        let order = order.then(first.tie_key.cmp(&second.tie_key));
        if order == Ordering::Equal && !self.keys_are_unique() {
            return self.order_by_bytes(first, second);
        }
        order
    }

    /// Whether `first` is merged before `second`.
    #[inline]
    pub(super) fn precedes(&self, first: &Candidate, second: &Candidate) -> bool {
        self.order(first, second) == Ordering::Less
    }

    #[cold]
    fn order_by_bytes(&self, first: &Candidate, second: &Candidate) -> Ordering {
        let bytes = |pair: Pair| (self.bytes(pair.left), self.bytes(pair.right));
        bytes(second.pair).cmp(&bytes(first.pair))
    }
}
