//! Token ids and pairs: the two numbers everything else is made of.

/// The number of a token. In the published encodings a merged token's id is also its rank: lower merges first.
pub type TokenId = u32;

/// No token has this id: it marks "no merge here" in the merge engines, and sorts after every rank.
pub const NO_TOKEN: TokenId = TokenId::MAX;

/// Two adjacent tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The token that comes first in the text.
    pub left: TokenId,
    /// The token right after it.
    pub right: TokenId,
}

impl Pair {
    /// The pair of `left` and `right`.
    pub fn new(left: TokenId, right: TokenId) -> Self {
        Self { left, right }
    }

    /// The pair as one number, which orders as the pair does.
    pub(crate) fn key(self) -> u64 {
        (u64::from(self.left) << 32) | u64::from(self.right)
    }
}
