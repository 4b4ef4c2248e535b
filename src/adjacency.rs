//! What may happen between two neighbouring bytes: which token they make, and what may come before that.
//!
//! Merging a short piece from its bytes up spends half of its steps on pairs that are bound to merge whatever else
//! happens. A pair of bytes with rank r is **bound** to merge if every merge that takes the first byte away to the left,
//! and every merge that takes the second away to the right, has a higher rank than r. Both bytes are then still there
//! when the turn of rank r comes. Merging it at once leads to the same end, provided that a merged token ranks higher
//! than its parts ([`Adjacencies::parts_first`]): until the turn of r has come, neither the pair nor the token made of it
//! takes part in another merge, so all merges of lower rank are the same and in the same order. Two bound pairs never
//! overlap: each would have to rank lower than the other.
//!
//! So for each two bytes this table holds the token they make, the lowest rank of all merges of *something that ends with
//! the first* with the second alone, the lowest rank of the first alone with *something that starts with the second*,
//! and whether any merge joins these two bytes at all.

use crate::token::{NO_TOKEN, TokenId};

/// Bits of a rank in the table; the highest number stands for none.
const RANK_BITS: u32 = 20;
const NONE: u64 = (1 << RANK_BITS) - 1;

/// Two neighbouring bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adjacency(u64);

impl Adjacency {
    const NEVER: Self = Self(NONE | NONE << RANK_BITS | NONE << (2 * RANK_BITS));
    const JOINED: u64 = 1 << (3 * RANK_BITS);

    #[inline]
    fn rank(self, number: u32) -> u64 {
        (self.0 >> (number * RANK_BITS)) & NONE
    }

    fn lower(&mut self, number: u32, rank: u64) {
        if rank < self.rank(number) {
            self.0 &= !(NONE << (number * RANK_BITS));
            self.0 |= rank << (number * RANK_BITS);
        }
    }

    /// The token that the two bytes make, or [`NO_TOKEN`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "20 bits")]
    pub(crate) fn token(self) -> TokenId {
        match self.rank(0) {
            NONE => NO_TOKEN,
            rank => rank as TokenId,
        }
    }

    /// Whether any merge joins a part that ends with the first byte and one that starts with the second.
    #[inline]
    pub(crate) fn joined(self) -> bool {
        self.0 & Self::JOINED != 0
    }

    /// Whether these two bytes are bound to merge, given the adjacencies before and after.
    #[inline]
    pub(crate) fn bound(self, before: Self, after: Self) -> bool {
        let rank = self.rank(0);
        rank < before.rank(1) && rank < after.rank(2)
    }

    /// Stands for the end of a piece: nothing beyond it takes a byte away.
    pub(crate) const END: Self = Self::NEVER;
}

/// All 65,536 of them.
#[derive(Clone, Debug)]
pub(crate) struct Adjacencies {
    table: Vec<Adjacency>,
    /// Whether every merged token ranks higher than its parts of more than one byte.
    parts_first: bool,
    /// Whether all ranks fit.
    fits: bool,
}

impl Adjacencies {
    /// Without merges.
    pub(crate) fn new() -> Self {
        Self {
            table: vec![Adjacency::NEVER; 1 << 16],
            parts_first: true,
            fits: true,
        }
    }

    /// Adds the merge of two parts, given as bytes and ids, into `token`.
    pub(crate) fn insert(
        &mut self,
        left: (&[u8], TokenId),
        right: (&[u8], TokenId),
        token: TokenId,
    ) {
        let rank = u64::from(token);
        self.fits &= rank < NONE;
        let later = |(bytes, id): (&[u8], TokenId)| bytes.len() > 1 && id >= token;
        self.parts_first &= !later(left) && !later(right);
        let (Some(&first), Some(&second)) = (left.0.last(), right.0.first()) else {
            return;
        };
        let adjacency = &mut self.table[usize::from(first) << 8 | usize::from(second)];
        adjacency.0 |= Adjacency::JOINED;
        if left.0.len() == 1 && right.0.len() == 1 {
            adjacency.lower(0, rank);
        }
        if right.0.len() == 1 {
            adjacency.lower(1, rank);
        }
        if left.0.len() == 1 {
            adjacency.lower(2, rank);
        }
    }

    /// Whether pairs that are bound to merge may be merged at once.
    pub(crate) fn usable(&self) -> bool {
        self.parts_first && self.fits
    }

    /// The adjacency of two bytes. Only if [`usable`](Self::usable).
    #[inline]
    pub(crate) fn of(&self, first: u8, second: u8) -> Adjacency {
        self.table
            .get(usize::from(first) << 8 | usize::from(second))
            .copied()
            .unwrap_or(Adjacency::NEVER)
    }

    /// How many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Adjacency>() * self.table.capacity()
    }
}
