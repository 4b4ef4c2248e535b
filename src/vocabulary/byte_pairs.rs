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
//! So the table holds for every two bytes the rank of their merge, the lowest rank of all merges of *a
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
//!
//! The rank of a merge is the token that it makes, or its place in a list. By a list, a token that several pairs
//! make has as many ranks, all of which have to be below those of the merges that it is a part of.

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

/// The parts of a symbol that the table depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    first: u8,
    last: u8,
    /// Number of bytes, [`MANY`](Self::MANY) if there are more.
    length: u8,
}

impl Ends {
    const MANY: u8 = 3;

    /// Those of a symbol of one byte.
    pub(super) fn of_byte(byte: u8) -> Self {
        Self {
            first: byte,
            last: byte,
            length: 1,
        }
    }

    fn of(bytes: &[u8]) -> Self {
        Self {
            first: *bytes.first().expect("no token is empty"),
            last: *bytes.last().expect("no token is empty"),
            length: u8::try_from(bytes.len()).map_or(Self::MANY, |length| length.min(Self::MANY)),
        }
    }

    /// Those of the symbol that two merge into.
    pub(super) fn joined(left: Self, right: Self) -> Self {
        Self {
            first: left.first,
            last: right.last,
            length: (left.length + right.length).min(Self::MANY),
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

    /// The rank of the merge of the two bytes, or [`NO_TOKEN`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "20 bits")]
    pub(crate) fn rank(self) -> TokenId {
        match self.pair.get(0) {
            NONE => NO_TOKEN,
            rank => rank as TokenId,
        }
    }

    /// Returns whether any merge joins a token that ends with the first byte and one that starts with the second.
    #[inline]
    pub(crate) fn any_merge(self) -> bool {
        self.around.get(2) != NONE
    }

    /// Returns whether the merge of the two bytes is forced between the byte pairs `before` and `after`, which
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
    /// The rank of the merge that the bytes of each character of three bytes alone end with.
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
        for &[index, rank] in sections.next::<[u32; 2]>()? {
            *byte_pairs.characters.get_mut(index as usize)? = rank;
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
        let characters = characters.filter(|(_, rank)| **rank != NO_TOKEN);
        let characters = characters.map(|(index, &rank)| [index, rank]);
        image.add(&characters.collect::<Vec<[u32; 2]>>());
    }

    /// Adds the merge of two parts, given as bytes and ids, into `token`. Ids are ranks.
    pub(super) fn insert(
        &mut self,
        left: (&[u8], TokenId),
        right: (&[u8], TokenId),
        token: TokenId,
    ) {
        let later = |(bytes, id): (&[u8], TokenId)| bytes.len() > 1 && id >= token;
        self.parts_first &= !later(left) && !later(right);
        self.insert_ranked(Ends::of(left.0), Ends::of(right.0), token);
    }

    /// As [`insert`](Self::insert), for a merge with a rank above those of all merges that make its parts.
    pub(super) fn insert_ranked(&mut self, left: Ends, right: Ends, place: TokenId) {
        let rank = u64::from(place);
        self.fits &= rank < NONE;
        let byte_pair = &mut self.table[usize::from(left.last) << 8 | usize::from(right.first)];
        byte_pair.around.lower(2, rank);
        // Most merges are of longer parts, which no other rank depends on.
        if left.length > 2 && right.length > 2 {
            return;
        }
        if left.length == 1 && right.length == 1 {
            byte_pair.pair.lower(0, rank);
        }
        if right.length == 1 {
            byte_pair.pair.lower(1, rank);
        }
        if left.length == 1 {
            byte_pair.pair.lower(2, rank);
        }
        if right.length <= 2 {
            byte_pair.around.lower(0, rank);
        }
        if left.length <= 2 {
            byte_pair.around.lower(1, rank);
        }
        if left.length + right.length == 3 {
            self.insert_character(left, right, place);
        }
    }

    /// As [`insert_ranked`](Self::insert_ranked), for a token of three bytes. Merges are inserted in the order of
    /// their ranks, so those of its two pairs are known, unless they rank higher than this merge and are never made
    /// before it.
    fn insert_character(&mut self, left: Ends, right: Ends, rank: TokenId) {
        let [x, y, z] = match (left.length, right.length) {
            (2, 1) => [left.first, left.last, right.first],
            _ => [left.first, right.first, right.last],
        };
        let Some(index) = character([x, y, z]) else {
            return;
        };
        let (first, second) = (self.of(x, y).rank(), self.of(y, z).rank());
        // `NO_TOKEN` is above all others: the lower one makes the part of two bytes.
        let part_is_made = if left.length == 2 {
            first < second
        } else {
            second < first
        };
        if part_is_made && self.characters[index] == NO_TOKEN {
            self.characters[index] = rank;
        }
    }

    /// Returns the rank of the merge that makes the character that `rest` starts with, if it has three bytes whose
    /// merges into it are forced. `before` is the byte pair of the byte before `rest` and its first.
    #[inline]
    pub(crate) fn character(&self, before: BytePair, rest: &[u8]) -> Option<TokenId> {
        let (&[x, y, z], after) = rest.split_first_chunk()?;
        if x < 0xE0 {
            return None;
        }
        let place = self.characters[character([x, y, z])?];
        let after = match after.first() {
            Some(&next) => self.of(z, next),
            None => BytePair::END,
        };
        let rank = u64::from(place);
        (rank < before.around.get(0) && rank < after.around.get(1)).then_some(place)
    }

    /// Returns whether forced merges may be made first.
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
