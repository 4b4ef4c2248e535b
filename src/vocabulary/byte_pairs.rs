//! Forced merges: pairs of bytes, and characters of three bytes, that merge whatever stands around them.
//!
//! Merging a short piece from its bytes up spends half of its steps on pairs that merge in any context. The
//! merge of two bytes with rank r is **forced** if every merge of the first byte with something on its left,
//! and every merge of the second byte with something on its right, has a higher rank than r. Both bytes are
//! then still unmerged when rank r is the lowest. Merging them first gives the same result, provided that
//! every merged token has a higher rank than its parts ([`BytePairTable::parts_first`]): until rank r is the
//! lowest, neither the pair nor its token takes part in another merge, so all merges of lower rank are the
//! same, in the same order. Two forced pairs never overlap: each would have to rank lower than the other.
//!
//! So the table holds for every two bytes the token that they become, the lowest rank of all merges of *a
//! token that ends with the first* and the second alone, the lowest rank of the first alone and *a token that
//! starts with the second*, and whether any merge joins a token that ends with the first to one that starts
//! with the second.
//!
//! A **character** of three bytes x, y, z that is a token of rank r is forced in the same way, if its bytes
//! alone merge into it, and if every merge of x, or of a token that starts with x, with something on its
//! left, and every merge of z, or of a token that ends with z, with something on its right, has a higher rank
//! than r. Before rank r is the lowest, only x, y, z, xy and yz can take part in such a merge, so only the
//! ranks of parts of at most two bytes count. A forced pair overlaps a forced character only if it lies
//! inside it: otherwise the rank of the pair would have to be above r, because it joins the character to its
//! neighbour, and below that of the character's own merges, because it is forced.

use crate::token::{NO_TOKEN, TokenId};
use crate::util::memory::{self, LargeVec};
use crate::vocabulary::sections::{Image, Sections};

/// Bits of a rank in the table. The highest value means no rank.
const RANK_BITS: u32 = 20;
const NONE: u64 = (1 << RANK_BITS) - 1;

/// Three ranks, packed.
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

/// The merges of two adjacent bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BytePair {
    /// The rank of the pair, and the lowest ranks: of a token that ends with the first and the second alone;
    /// of the first alone and a token that starts with the second.
    pair: Ranks,
    /// The lowest ranks: of a token that ends with the first and at most two bytes from the second on; of at
    /// most two bytes up to the first and a token that starts with the second; of any merge that joins the
    /// two.
    around: Ranks,
}

impl BytePair {
    const NEVER: Self = Self {
        pair: Ranks::NONE,
        around: Ranks::NONE,
    };

    /// The token that the two bytes merge into, or [`NO_TOKEN`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "20 bits")]
    pub(crate) fn token(self) -> TokenId {
        match self.pair.get(0) {
            NONE => NO_TOKEN,
            rank => rank as TokenId,
        }
    }

    /// Whether any merge joins a token that ends with the first byte and one that starts with the second.
    #[inline]
    pub(crate) fn any_merge(self) -> bool {
        self.around.get(2) != NONE
    }

    /// Whether the merge of the two bytes is forced between the byte pairs `before` and `after`, which
    /// overlap it.
    #[inline]
    pub(crate) fn is_forced(self, before: Self, after: Self) -> bool {
        let rank = self.pair.get(0);
        rank < before.pair.get(1) && rank < after.pair.get(2)
    }

    /// Stands for the end of a piece: nothing beyond it merges with a byte.
    pub(crate) const END: Self = Self::NEVER;
}

/// All 65,536 byte pairs, and the characters of three bytes.
#[derive(Clone, Debug)]
pub(crate) struct BytePairTable {
    table: LargeVec<BytePair>,
    /// The tokens that the bytes of each character of three bytes alone merge into.
    characters: Vec<TokenId>,
    /// Whether every merged token has a higher rank than its parts of more than one byte.
    parts_first: bool,
    /// Whether all ranks fit into [`RANK_BITS`].
    fits: bool,
}

impl BytePairTable {
    /// Returns a table without merges.
    pub(crate) fn new() -> Self {
        let mut table = memory::large_vec(1 << 16);
        table.resize(1 << 16, BytePair::NEVER);
        Self {
            table,
            characters: memory::filled(NO_TOKEN, 1 << 16),
            parts_first: true,
            fits: true,
        }
    }

    /// Reads the table of an image.
    pub(crate) fn of_image(sections: &mut Sections<'_>) -> Option<Self> {
        let mut byte_pairs = Self::new();
        let (indices, ranks) = (sections.next::<u32>()?, sections.next::<[u64; 2]>()?);
        if indices.len() != ranks.len() {
            return None;
        }
        for (&index, &[pair, around]) in indices.iter().zip(ranks) {
            let byte_pair = byte_pairs.table.get_mut(index as usize)?;
            (byte_pair.pair, byte_pair.around) = (Ranks(pair), Ranks(around));
        }
        for &[index, token] in sections.next::<[u32; 2]>()? {
            *byte_pairs.characters.get_mut(index as usize)? = token;
        }
        Some(byte_pairs)
    }

    /// Writes the table into an image: the byte pairs with any merge, and the characters that are tokens.
    pub(crate) fn put_into(&self, image: &mut Image) {
        assert!(self.usable(), "only a usable table has an image");
        let merged = || (0..).zip(&self.table).filter(|(_, it)| it.any_merge());
        let indices: Vec<u32> = merged().map(|(index, _)| index).collect();
        let ranks = merged().map(|(_, it)| [it.pair.0, it.around.0]);
        image.add(&indices);
        image.add(&ranks.collect::<Vec<_>>());
        let characters = (0..).zip(&self.characters);
        let characters = characters.filter(|(_, token)| **token != NO_TOKEN);
        let characters = characters.map(|(index, &token)| [index, token]);
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
        let first = *left.0.last().expect("no token is empty");
        let second = *right.0.first().expect("no token is empty");
        let byte_pair = &mut self.table[usize::from(first) << 8 | usize::from(second)];
        byte_pair.around.lower(2, rank);
        // Most merges are of longer parts, which no other rank depends on.
        if left.0.len() > 2 && right.0.len() > 2 {
            return;
        }
        if left.0.len() == 1 && right.0.len() == 1 {
            byte_pair.pair.lower(0, rank);
        }
        if right.0.len() == 1 {
            byte_pair.pair.lower(1, rank);
        }
        if left.0.len() == 1 {
            byte_pair.pair.lower(2, rank);
        }
        if right.0.len() <= 2 {
            byte_pair.around.lower(0, rank);
        }
        if left.0.len() <= 2 {
            byte_pair.around.lower(1, rank);
        }
        if left.0.len() + right.0.len() == 3 {
            self.insert_character(left, right, token);
        }
    }

    /// As [`insert`](Self::insert), for a token of three bytes. Merges are inserted in the order of their
    /// ranks, so those of its two pairs are known, unless they rank higher than this merge and are never made
    /// before it.
    fn insert_character(
        &mut self,
        left: (&[u8], TokenId),
        right: (&[u8], TokenId),
        token: TokenId,
    ) {
        let ((&[x, y], &[z]) | (&[x], &[y, z])) = (left.0, right.0) else {
            return;
        };
        let Some(index) = character([x, y, z]) else {
            return;
        };
        let (first, second) = (self.of(x, y).token(), self.of(y, z).token());
        let (merged, other, part) = if left.0.len() == 2 {
            (first, second, left.1)
        } else {
            (second, first, right.1)
        };
        // `NO_TOKEN` is above all others.
        if merged == part && merged < other && self.characters[index] == NO_TOKEN {
            self.characters[index] = token;
        }
    }

    /// Returns the token of the character that `rest` starts with, if it has three bytes whose merges into it
    /// are forced. `before` is the byte pair of the byte before `rest` and its first.
    #[inline]
    pub(crate) fn character(&self, before: BytePair, rest: &[u8]) -> Option<TokenId> {
        let (&[x, y, z], after) = rest.split_first_chunk()?;
        if x < 0xE0 {
            return None;
        }
        let token = self.characters[character([x, y, z])?];
        let after = match after.first() {
            Some(&next) => self.of(z, next),
            None => BytePair::END,
        };
        let rank = u64::from(token);
        (rank < before.around.get(0) && rank < after.around.get(1)).then_some(token)
    }

    /// Whether forced merges may be made first.
    pub(crate) fn usable(&self) -> bool {
        self.parts_first && self.fits
    }

    /// Returns the byte pair of two bytes. Only meaningful if the table is [`usable`](Self::usable).
    #[inline]
    pub(crate) fn of(&self, first: u8, second: u8) -> BytePair {
        self.table[usize::from(first) << 8 | usize::from(second)]
    }

    /// Number of bytes that the table occupies.
    pub(crate) fn memory(&self) -> usize {
        size_of::<BytePair>() * self.table.capacity()
            + size_of::<TokenId>() * self.characters.capacity()
    }
}

/// Returns the index of a character of three bytes in UTF-8.
#[inline]
fn character(bytes: [u8; 3]) -> Option<usize> {
    let [x, y, z] = bytes.map(usize::from);
    let well_formed = x >> 4 == 0xE && y >> 6 == 0b10 && z >> 6 == 0b10;
    well_formed.then_some((x & 0xF) << 12 | (y & 0x3F) << 6 | (z & 0x3F))
}
