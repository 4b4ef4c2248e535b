//! The ids of a piece, packed: three or four to a number of 64 bits, as a vocabulary's ids allow.
//!
//! | packing | bits | of the first number | of each further number |
//! |---|---|---|---|
//! | three | 0–19, 20–39, 40–59 | ids 0, 1, 2 | the next three ids |
//! | | 60–63 | how many ids there are in all | 0 |
//! | four | 0–15, 16–31, 32–47, 48–63 | ids 0, 1, 2, 3, each plus one, and then 0 | the next four ids |
//!
//! Four are for small vocabularies, which have the most ids a piece: in text of many languages, a quarter of the pieces had
//! more ids of GPT-2's than three a number where the key belongs, and one in thirteen has more than four.

use crate::token::TokenId;
use crate::vocabulary::Vocabulary;

/// The numbers of an answer, as many as the key has; the others are 0.
pub(super) type Answer = [u64; 4];

/// The most ids that an answer holds, and room for those that are stored, eight at a time, however many count.
pub(super) const ROOM: usize = 16;

/// Ids from here on are not packed by three.
pub(super) const LIMIT_OF_THREE: TokenId = 1 << BITS_OF_THREE;

/// Ids from here on are not packed by four.
const LIMIT_OF_FOUR: TokenId = (1 << BITS_OF_FOUR) - 1;

/// The bits of an id.
const BITS_OF_THREE: u32 = 20;
const BITS_OF_FOUR: u32 = 16;

/// Where the count is if there are three.
pub(super) const COUNT_BIT: u32 = 60;

/// How many ids there are in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Three,
    Four,
}

impl Packing {
    /// The one that holds more, of those that hold all ids of a vocabulary.
    pub(super) fn of(vocabulary: &Vocabulary) -> Self {
        if vocabulary.highest_id() < LIMIT_OF_FOUR {
            Self::Four
        } else {
            Self::Three
        }
    }

    /// The most ids of an answer of so many numbers.
    #[inline]
    pub(super) fn most(self, numbers: usize) -> usize {
        numbers
            * match self {
                Self::Three => 3,
                Self::Four => 4,
            }
    }

    /// The bits of an id, the id from which on none is packed, and what is added to each.
    #[inline]
    fn format(self) -> (u32, TokenId, TokenId) {
        match self {
            Self::Three => (BITS_OF_THREE, LIMIT_OF_THREE, 0),
            Self::Four => (BITS_OF_FOUR, LIMIT_OF_FOUR, 1),
        }
    }

    /// The ids packed, if there are not too many and none is too large.
    #[inline]
    pub(super) fn pack(self, ids: &[TokenId]) -> Option<Answer> {
        let mut answer = Answer::default();
        if ids.is_empty() || ids.len() > self.most(answer.len()) {
            return None;
        }
        let (bits, limit, added) = self.format();
        for (number, ids) in answer.iter_mut().zip(ids.chunks(self.most(1))) {
            for &id in ids.iter().rev() {
                if id >= limit {
                    return None;
                }
                *number = *number << bits | u64::from(id + added);
            }
        }
        if self == Self::Three {
            answer[0] |= (ids.len() as u64) << COUNT_BIT;
        }
        Some(answer)
    }

    /// Appends the ids of an answer.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "16 or 20 bits each")]
    pub(super) fn append(self, answer: &Answer, ids: &mut Vec<TokenId>) {
        let (bits, _, added) = self.format();
        let packed = answer.iter().flat_map(|number| {
            let places = (0..).step_by(bits as usize).take(self.most(1));
            places.map(move |place| (number >> place) as TokenId & ((1 << bits) - 1))
        });
        match self {
            Self::Three => ids.extend(packed.take((answer[0] >> COUNT_BIT) as usize)),
            Self::Four => ids.extend(packed.take_while(|&id| id != 0).map(|id| id - added)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LIMIT_OF_FOUR, LIMIT_OF_THREE, Packing};
    use crate::token::TokenId;

    #[test]
    fn what_was_packed_comes_out_again() {
        for (packing, limit) in [
            (Packing::Three, LIMIT_OF_THREE),
            (Packing::Four, LIMIT_OF_FOUR),
        ] {
            let most = packing.most(4);
            for ids in [(0..limit).rev().collect::<Vec<TokenId>>(), vec![0; most]] {
                for length in 1..=most {
                    let ids = &ids[..length];
                    let mut unpacked = Vec::new();
                    packing.append(&packing.pack(ids).unwrap_or_default(), &mut unpacked);
                    assert_eq!(unpacked, ids);
                    // No more numbers than are asked for.
                    let numbers = packing.pack(ids).unwrap_or_default();
                    let used = numbers.iter().skip(length.div_ceil(packing.most(1)));
                    assert_eq!(used.sum::<u64>(), 0);
                }
            }
            assert_eq!(packing.pack(&[]), None);
            assert_eq!(packing.pack(&vec![1; most + 1]), None);
            assert_eq!(packing.pack(&[1, limit]), None);
        }
    }
}
