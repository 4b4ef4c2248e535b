//! Merges that begin with bytes: the token of each byte, the merge of each pair.

use crate::token::TokenId;
use crate::vocabulary::byte_pairs::BytePairTable;
use crate::vocabulary::pair_table::PairTable;
use crate::vocabulary::sections::Image;

/// The merges of a vocabulary in which every byte is a token.
#[derive(Debug)]
pub struct ByteMerges {
    byte_tokens: [TokenId; 256],
    pairs: PairTable,
    byte_pairs: BytePairTable,
    highest: TokenId,
    /// A bit for each length in bytes, modulo 64, of a token that merging its own bytes may not yield.
    pub(super) unmade: u64,
}

impl ByteMerges {
    pub(super) fn new(
        byte_tokens: &[TokenId; 256],
        pairs: PairTable,
        byte_pairs: BytePairTable,
        highest: TokenId,
    ) -> Self {
        Self {
            byte_tokens: *byte_tokens,
            pairs,
            byte_pairs,
            highest,
            unmade: u64::MAX,
        }
    }

    /// Writes the tables into an image.
    pub(super) fn put_into(&self, image: &mut Image) {
        self.pairs.put_into(image);
        self.byte_pairs.put_into(image);
    }

    /// The token of a single byte.
    #[inline]
    pub fn byte_token(&self, byte: u8) -> TokenId {
        self.byte_tokens[usize::from(byte)]
    }

    /// Returns the token that a pair merges into, or [`NO_TOKEN`](crate::token::NO_TOKEN).
    #[inline]
    pub fn merged(&self, left: TokenId, right: TokenId) -> TokenId {
        self.pairs.get(left, right)
    }

    /// Returns the token that two bytes merge into, or [`NO_TOKEN`](crate::token::NO_TOKEN).
    #[inline]
    pub(crate) fn merged_bytes(&self, first: u8, second: u8) -> TokenId {
        match self.byte_pairs() {
            Some(byte_pairs) => byte_pairs.of(first, second).rank(),
            None => self.merged(self.byte_token(first), self.byte_token(second)),
        }
    }

    /// Returns the table of forced merges, if they may be made first.
    #[inline]
    pub(crate) fn byte_pairs(&self) -> Option<&BytePairTable> {
        Some(&self.byte_pairs).filter(|byte_pairs| byte_pairs.usable())
    }

    /// The table of pairs that merge.
    pub(crate) fn pairs(&self) -> &PairTable {
        &self.pairs
    }

    /// The highest id of a token.
    #[inline]
    pub(crate) fn highest(&self) -> TokenId {
        self.highest
    }

    /// Returns whether there may be a token of this length that merging its own bytes does not yield.
    #[inline]
    pub(crate) fn may_be_unmade(&self, length: usize) -> bool {
        self.unmade >> (length % 64) & 1 != 0
    }

    /// Returns whether merging its own bytes is known to yield each token.
    pub(crate) fn makes_all(&self) -> bool {
        self.unmade == 0
    }

    /// Number of bytes that the tables occupy.
    pub(super) fn memory(&self) -> usize {
        self.pairs.memory() + self.byte_pairs.memory()
    }
}
