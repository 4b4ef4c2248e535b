//! The bytes of all tokens.

use std::ops::Range;

use crate::token::{Pair, TokenId};
use crate::util::memory::Growable;

/// The bytes of all tokens, concatenated, and the end of each. Kept only by those who need them: they may take
/// gigabytes where a long text without splitting repeats itself.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenBytes {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl TokenBytes {
    /// The bytes of the first tokens, in order.
    pub(super) fn new<T: AsRef<[u8]>>(tokens: impl IntoIterator<Item = T>) -> Self {
        let mut all = Self::default();
        for token in tokens {
            let token = token.as_ref();
            all.bytes.with_room(token.len()).extend_from_slice(token);
            all.ends.push(all.bytes.len());
        }
        all
    }

    /// Makes a pair the next token.
    pub(super) fn push(&mut self, pair: Pair) {
        for part in [pair.left, pair.right] {
            let range = self.range(part);
            self.bytes.with_room(range.len()).extend_from_within(range);
        }
        self.ends.push(self.bytes.len());
    }

    /// The bytes of a token.
    pub(super) fn of(&self, token: TokenId) -> &[u8] {
        &self.bytes[self.range(token)]
    }

    fn range(&self, token: TokenId) -> Range<usize> {
        let token = token as usize;
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[token]
    }
}
