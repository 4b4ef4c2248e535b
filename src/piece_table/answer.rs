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

    /// The ids packed, if there are not too many and none is too large.
    #[inline]
    pub(super) fn pack(self, ids: &[TokenId]) -> Option<Answer> {
        let mut answer = Answer::default();
        if ids.is_empty() || ids.len() > self.most(answer.len()) {
            return None;
        }
        let (bits, limit, more) = match self {
            Self::Three => (BITS_OF_THREE, LIMIT_OF_THREE, 0),
            Self::Four => (BITS_OF_FOUR, LIMIT_OF_FOUR, 1),
        };
        for (number, ids) in answer.iter_mut().zip(ids.chunks(self.most(1))) {
            for &id in ids.iter().rev() {
                if id >= limit {
                    return None;
                }
                *number = *number << bits | u64::from(id + more);
            }
        }
        if self == Self::Three {
            answer[0] |= (ids.len() as u64) << COUNT_BIT;
        }
        Some(answer)
    }

    /// The ids, and how many of them count.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "16 or 20 bits each")]
    pub(super) fn unpack(self, answer: &Answer) -> ([TokenId; ROOM], usize) {
        let mut ids = [0; ROOM];
        match self {
            Self::Three => {
                for (ids, number) in ids.chunks_mut(3).zip(answer) {
                    let bits = (0..).step_by(BITS_OF_THREE as usize);
                    for (id, bit) in ids.iter_mut().zip(bits) {
                        *id = (number >> bit) as TokenId & (LIMIT_OF_THREE - 1);
                    }
                }
                (ids, (answer[0] >> COUNT_BIT) as usize)
            }
            Self::Four => {
                let mut count = 0;
                for (ids, number) in ids.chunks_mut(4).zip(answer) {
                    let bits = (0..).step_by(BITS_OF_FOUR as usize);
                    for (id, bit) in ids.iter_mut().zip(bits) {
                        let more = (number >> bit) as TokenId & LIMIT_OF_FOUR;
                        *id = more.wrapping_sub(1);
                        count += usize::from(more != 0);
                    }
                }
                (ids, count)
            }
        }
    }

    /// Appends the ids of an answer.
    #[inline]
    pub(super) fn append(self, answer: &Answer, ids: &mut Vec<TokenId>) {
        let (unpacked, count) = self.unpack(answer);
        ids.extend_from_slice(unpacked.get(..count).unwrap_or_default());
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
