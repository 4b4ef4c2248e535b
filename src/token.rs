//! Token ids and pairs.

/// Number of a token. In the published encodings, the id of a merged token is also its rank: lower merges
/// first.
pub type TokenId = u32;

/// The id of no token. The merge engines mark pairs without a merge by it; it sorts after every rank.
pub const NO_TOKEN: TokenId = TokenId::MAX;

/// Two adjacent tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The first token in the text.
    pub left: TokenId,
    /// The token after it.
    pub right: TokenId,
}

impl Pair {
    /// Creates the pair of `left` and `right`.
    pub fn new(left: TokenId, right: TokenId) -> Self {
        Self { left, right }
    }

    /// Returns the pair as one number, in the same order.
    pub(crate) fn key(self) -> u64 {
        (u64::from(self.left) << 32) | u64::from(self.right)
    }

    /// Returns the pair with a key.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub(crate) fn from_key(key: u64) -> Self {
        Self::new((key >> 32) as TokenId, key as TokenId)
    }
}
