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
//!
//! A **character** of three bytes x, y, z that is a token of rank r is bound in the same way, if its bytes by themselves
//! become it, and if every merge that joins x or what starts with x to something before it, and every merge that joins z
//! or what ends with z to something after it, has a higher rank than r. Up to its turn there are only x, y, z, xy and yz
//! that could be joined to something, so the ranks of these are what counts: parts of at most two bytes. A bound pair never
//! overlaps a bound character without lying inside of it: the rank of the pair would have to be above r, as it joins the
//! character to what is beside it, and below that of the character's own merges, as it is bound.

use crate::token::{NO_TOKEN, TokenId};
use crate::util::memory::{self, LargeVec};
use crate::vocabulary::sections::{Image, Sections};

/// Bits of a rank in the table; the highest number stands for none.
const RANK_BITS: u32 = 20;
const NONE: u64 = (1 << RANK_BITS) - 1;

/// Three ranks in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ranks(u64);

impl Ranks {
    const NONE: Self = Self(NONE | NONE << RANK_BITS | NONE << (2 * RANK_BITS));

    #[inline]
    fn get(self, number: u32) -> u64 {
        (self.0 >> (number * RANK_BITS)) & NONE
    }

    fn lower(&mut self, number: u32, rank: u64) {
        if rank < self.get(number) {
            self.0 &= !(NONE << (number * RANK_BITS));
            self.0 |= rank << (number * RANK_BITS);
        }
    }
}

/// Two neighbouring bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adjacency {
    /// Of the pair; of what ends with the first and the second alone; of the first alone and what starts with the second.
    pair: Ranks,
    /// Of what ends with the first and at most two bytes from the second on; of at most two bytes up to the first and
    /// what starts with the second; of any merge that joins the two.
    around: Ranks,
}

impl Adjacency {
    const NEVER: Self = Self {
        pair: Ranks::NONE,
        around: Ranks::NONE,
    };

    /// The token that the two bytes make, or [`NO_TOKEN`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "20 bits")]
    pub(crate) fn token(self) -> TokenId {
        match self.pair.get(0) {
            NONE => NO_TOKEN,
            rank => rank as TokenId,
        }
    }

    /// Whether any merge joins a part that ends with the first byte and one that starts with the second.
    #[inline]
    pub(crate) fn joined(self) -> bool {
        self.around.get(2) != NONE
    }

    /// Whether these two bytes are bound to merge, given the adjacencies before and after.
    #[inline]
    pub(crate) fn bound(self, before: Self, after: Self) -> bool {
        let rank = self.pair.get(0);
        rank < before.pair.get(1) && rank < after.pair.get(2)
    }

    /// Stands for the end of a piece: nothing beyond it takes a byte away.
    pub(crate) const END: Self = Self::NEVER;
}

/// All 65,536 of them.
#[derive(Clone, Debug)]
pub(crate) struct Adjacencies {
    table: LargeVec<Adjacency>,
    /// The tokens that the bytes of a character of three bytes become by themselves.
    characters: Vec<TokenId>,
    /// Whether every merged token ranks higher than its parts of more than one byte.
    parts_first: bool,
    /// Whether all ranks fit.
    fits: bool,
}

impl Adjacencies {
    /// Without merges.
    pub(crate) fn new() -> Self {
        let mut table = memory::large_vec(1 << 16);
        table.resize(1 << 16, Adjacency::NEVER);
        Self {
            table,
            characters: vec![NO_TOKEN; 1 << 16],
            parts_first: true,
            fits: true,
        }
    }

    /// Those of an image.
    pub(crate) fn of_image(sections: &mut Sections<'_>) -> Option<Self> {
        let mut adjacencies = Self::new();
        let (places, ranks) = (sections.next::<u32>()?, sections.next::<[u64; 2]>()?);
        if places.len() != ranks.len() {
            return None;
        }
        for (&place, &[pair, around]) in places.iter().zip(ranks) {
            let adjacency = adjacencies.table.get_mut(place as usize)?;
            (adjacency.pair, adjacency.around) = (Ranks(pair), Ranks(around));
        }
        for &[place, token] in sections.next::<[u32; 2]>()? {
            *adjacencies.characters.get_mut(place as usize)? = token;
        }
        Some(adjacencies)
    }

    /// What an image holds of them: of those that are usable, the bytes and characters that any merge joins.
    pub(crate) fn put_into(&self, image: &mut Image) {
        assert!(self.usable(), "parts rank before what they become");
        let joined = || (0..).zip(&self.table).filter(|(_, it)| it.joined());
        let places: Vec<u32> = joined().map(|(place, _)| place).collect();
        let ranks = joined().map(|(_, it)| [it.pair.0, it.around.0]);
        image.add(&places);
        image.add(&ranks.collect::<Vec<_>>());
        let characters = (0..).zip(&self.characters);
        let characters = characters.filter(|(_, token)| **token != NO_TOKEN);
        let characters = characters.map(|(place, &token)| [place, token]);
        image.add(&characters.collect::<Vec<[u32; 2]>>());
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
        adjacency.around.lower(2, rank);
        // Most merges are of longer parts, which matter to nothing else.
        if left.0.len() > 2 && right.0.len() > 2 {
            return;
        }
        if left.0.len() == 1 && right.0.len() == 1 {
            adjacency.pair.lower(0, rank);
        }
        if right.0.len() == 1 {
            adjacency.pair.lower(1, rank);
        }
        if left.0.len() == 1 {
            adjacency.pair.lower(2, rank);
        }
        if right.0.len() <= 2 {
            adjacency.around.lower(0, rank);
        }
        if left.0.len() <= 2 {
            adjacency.around.lower(1, rank);
        }
        if left.0.len() + right.0.len() == 3 {
            self.insert_character(left, right, token);
        }
    }

    /// As [`insert`](Self::insert), for three bytes. Merges come in the order of their ranks, so that those of the two
    /// pairs are known, unless they rank higher than this one and never have their turn.
    fn insert_character(
        &mut self,
        left: (&[u8], TokenId),
        right: (&[u8], TokenId),
        token: TokenId,
    ) {
        let ((&[x, y], &[z]) | (&[x], &[y, z])) = (left.0, right.0) else {
            return;
        };
        let Some(place) = character([x, y, z]) else {
            return;
        };
        let (first, second) = (self.of(x, y).token(), self.of(y, z).token());
        let (made, other, part) = if left.0.len() == 2 {
            (first, second, left.1)
        } else {
            (second, first, right.1)
        };
        // `NO_TOKEN` is above all others.
        if made == part && made < other && self.characters[place] == NO_TOKEN {
            self.characters[place] = token;
        }
    }

    /// The token of the character that `rest` starts with, if that has three bytes that are bound to become it; `before`
    /// is the adjacency of the byte before and its first.
    #[inline]
    pub(crate) fn character(&self, before: Adjacency, rest: &[u8]) -> Option<TokenId> {
        let (&[x, y, z], after) = rest.split_first_chunk()?;
        if x < 0xE0 {
            return None;
        }
        let token = *self.characters.get(character([x, y, z])?)?;
        let after = match after.first() {
            Some(&next) => self.of(z, next),
            None => Adjacency::END,
        };
        let rank = u64::from(token);
        (rank < before.around.get(0) && rank < after.around.get(1)).then_some(token)
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
            + size_of::<TokenId>() * self.characters.capacity()
    }
}

/// The number of a character of three bytes in UTF-8.
#[inline]
fn character(bytes: [u8; 3]) -> Option<usize> {
    let [x, y, z] = bytes.map(usize::from);
    let well_formed = x >> 4 == 0xE && y >> 6 == 0b10 && z >> 6 == 0b10;
    well_formed.then_some((x & 0xF) << 12 | (y & 0x3F) << 6 | (z & 0x3F))
}
