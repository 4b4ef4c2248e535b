//! The ids of a piece, packed: three or four to a word of 64 bits, as the vocabulary's ids allow.
//!
//! | packing | bits | of the first word | of each further word |
//! |---|---|---|---|
//! | three | 0–19, 20–39, 40–59 | ids 0, 1, 2 | the next three ids |
//! | | 60–63 | number of ids in all words | 0 |
//! | four | 0–15, 16–31, 32–47, 48–63 | ids 0, 1, 2, 3, each plus one; 0 for none | the next four ids |
//!
//! A first word without an id refers to a [record](super::records) of ids that do not fit: its other bits say
//! where that is.

use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::vocabulary::Vocabulary;

/// The words of packed ids: as many as the key has, the others are 0.
pub(super) type PackedIds = [u64; 4];

/// Maximum number of ids in [`PackedIds`]. Room for this many is needed to unpack any, as they are stored
/// eight at a time.
pub(super) const MAX_IDS: usize = 16;

/// Ids from here on are not packed by three.
pub(super) const THREE_LIMIT: TokenId = 1 << THREE_BITS;

/// Ids from here on are not packed by four.
const FOUR_LIMIT: TokenId = (1 << FOUR_BITS) - 1;

/// Bits of an id.
const THREE_BITS: u32 = 20;
const FOUR_BITS: u32 = 16;

/// The lowest bit of the number of ids that are packed by three.
pub(super) const COUNT_BIT: u32 = 60;

/// How many ids are packed into a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Ids below 2^20.
    Three,
    /// Ids below 2^16 - 1. Small vocabularies have the most ids a piece: in text of many languages, a quarter
    /// of the pieces have more than three of GPT-2's ids to a word of the key, and one in thirteen more than
    /// four. So encoding 10 MB of it again, with r50k, took 35.5 ms instead of 43.5.
    Four,
}

impl Packing {
    /// The packing that holds more, of those that hold all ids of a vocabulary.
    pub(super) fn of(vocabulary: &Vocabulary) -> Self {
        if vocabulary.highest_id() < FOUR_LIMIT {
            Self::Four
        } else {
            Self::Three
        }
    }

    /// Maximum number of ids in `words` words.
    #[inline]
    pub(super) fn capacity(self, words: usize) -> usize {
        words
            * match self {
                Self::Three => 3,
                Self::Four => 4,
            }
    }

    /// The bits of an id, the limit of ids, and what is added to each.
    #[inline]
    fn format(self) -> (u32, TokenId, TokenId) {
        match self {
            Self::Three => (THREE_BITS, THREE_LIMIT, 0),
            Self::Four => (FOUR_BITS, FOUR_LIMIT, 1),
        }
    }

    /// Packs ids into as few words as possible; `None` if there are none or too many, or one is too large.
    #[inline]
    pub(super) fn pack(self, ids: &[TokenId]) -> Option<PackedIds> {
        let mut packed = PackedIds::default();
        if ids.is_empty() || ids.len() > self.capacity(packed.len()) {
            return None;
        }
        let (bits, limit, added) = self.format();
        for (word, ids) in packed.iter_mut().zip(ids.chunks(self.capacity(1))) {
            for &id in ids.iter().rev() {
                if id >= limit {
                    return None;
                }
                *word = *word << bits | u64::from(id + added);
            }
        }
        if self == Self::Three {
            packed[0] |= (ids.len() as u64) << COUNT_BIT;
        }
        Some(packed)
    }

    /// Packs a reference to a record.
    #[inline]
    pub(super) fn pack_record(self, record: usize) -> PackedIds {
        [(record as u64) << self.record_shift(), 0, 0, 0]
    }

    /// The record that packed ids refer to, if they do.
    #[inline]
    pub(super) fn record(self, &[first, ..]: &PackedIds) -> Option<usize> {
        let count = match self {
            Self::Three => first >> COUNT_BIT,
            Self::Four => first & u64::from(FOUR_LIMIT),
        };
        #[expect(clippy::cast_possible_truncation, reason = "as it was packed")]
        let record = (first >> self.record_shift()) as usize;
        (count == 0).then_some(record)
    }

    /// Where the bits of a reference begin.
    #[inline]
    fn record_shift(self) -> u32 {
        match self {
            Self::Three => 0,
            Self::Four => FOUR_BITS,
        }
    }

    /// Appends packed ids.
    #[inline]
    pub(super) fn unpack(self, packed: &PackedIds, ids: &mut Vec<TokenId>) {
        let mut unpacked = [0; MAX_IDS];
        let count = self.unpack_into(packed, &mut unpacked);
        ids.with_room(count).extend_from_slice(&unpacked[..count]);
    }

    /// Writes packed ids and returns their number. What follows them in `to` is overwritten.
    #[inline]
    pub(super) fn unpack_into(self, packed: &PackedIds, to: &mut [TokenId; MAX_IDS]) -> usize {
        let &[a, b, c, d] = packed;
        let (low, high) = (self.eight([a, b]), self.eight([c, d]));
        to[..8].copy_from_slice(&low);
        to[self.capacity(2)..][..8].copy_from_slice(&high);
        match self {
            Self::Three => (a >> COUNT_BIT) as usize,
            Self::Four => packed.iter().map(|&word| count_of_four(word)).sum(),
        }
    }

    /// As [`unpack_into`](Self::unpack_into), of one word, or two if `two` is 1.
    #[inline]
    pub(super) fn unpack_short(
        self,
        words: [u64; 2],
        two: usize,
        to: &mut [TokenId; MAX_IDS],
    ) -> usize {
        to[..8].copy_from_slice(&self.eight(words));
        let [a, b] = words;
        match self {
            Self::Three => (a >> COUNT_BIT) as usize,
            Self::Four => count_of_four(a) + two * count_of_four(b),
        }
    }

    /// Returns the ids of two words: six or eight, and what is too much.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "16 or 20 bits each")]
    fn eight(self, [a, b]: [u64; 2]) -> [TokenId; 8] {
        let (bits, _, added) = self.format();
        let id = |word: u64, n: u32| (word >> (n * bits) & ((1 << bits) - 1)) as TokenId;
        match self {
            Self::Three => [
                id(a, 0),
                id(a, 1),
                id(a, 2),
                id(b, 0),
                id(b, 1),
                id(b, 2),
                0,
                0,
            ],
            Self::Four => {
                let ids = [a, b].map(|word| [0, 1, 2, 3].map(|n| id(word, n).wrapping_sub(added)));
                std::array::from_fn(|n| ids[n / 4][n % 4])
            }
        }
    }
}

/// Returns the number of ids in a word of four: those that are not 0, which come first; 0 if it is a reference.
#[inline]
fn count_of_four(word: u64) -> usize {
    let count = 4 - (word.leading_zeros() / FOUR_BITS) as usize;
    count * usize::from(word & u64::from(FOUR_LIMIT) != 0)
}

#[cfg(test)]
mod tests {
    use super::{FOUR_LIMIT, Packing, THREE_LIMIT};
    use crate::token::TokenId;

    #[test]
    fn packed_ids_are_unpacked() {
        for (packing, limit) in [(Packing::Three, THREE_LIMIT), (Packing::Four, FOUR_LIMIT)] {
            let most = packing.capacity(4);
            for ids in [(0..limit).rev().collect::<Vec<TokenId>>(), vec![0; most]] {
                for length in 1..=most {
                    let ids = &ids[..length];
                    let mut unpacked = Vec::new();
                    packing.unpack(&packing.pack(ids).unwrap_or_default(), &mut unpacked);
                    assert_eq!(unpacked, ids);
                    // No more words than the ids need.
                    let words = packing.pack(ids).unwrap_or_default();
                    let used = words.iter().skip(length.div_ceil(packing.capacity(1)));
                    assert_eq!(used.sum::<u64>(), 0);
                }
            }
            assert_eq!(packing.pack(&[]), None);
            assert_eq!(packing.pack(&vec![1; most + 1]), None);
            assert_eq!(packing.pack(&[1, limit]), None);
            assert_eq!(
                packing.record(&packing.pack(&[0]).unwrap_or_default()),
                None
            );
            for record in [0, 1, 0xFFFF, 0x1_0000, 1 << 24] {
                let packed = packing.pack_record(record);
                assert_eq!(packing.record(&packed), Some(record));
                // Its entry has no ids of its own.
                let [first, second, ..] = packed;
                let room = &mut [0; super::MAX_IDS];
                assert_eq!(packing.unpack_into(&packed, room), 0);
                assert_eq!(packing.unpack_short([first, first], 0, room), 0);
                assert_eq!(packing.unpack_short([first, second], 1, room), 0);
            }
        }
    }
}
