//! The ids of a piece, packed: three to a number of 64 bits.
//!
//! | bits | of the first number | of each further number |
//! |---|---|---|
//! | 0–19, 20–39, 40–59 | ids 0, 1, 2 | the next three ids |
//! | 60–63 | how many ids there are in all | 0 |

use crate::token::TokenId;

/// The most ids that an answer holds.
pub(crate) const MOST_IDS: usize = 12;

/// Room for the ids of an answer, which are stored eight at a time, however many count.
pub(super) const ROOM: usize = MOST_IDS + 2;

/// Ids in one number.
pub(super) const IDS_A_NUMBER: usize = 3;

/// Ids from here on are not packed.
pub(super) const LIMIT: TokenId = 1 << 20;

/// The bits of an id.
const BITS: u32 = 20;

/// Where the count is.
pub(super) const COUNT_BIT: u32 = 60;

/// The numbers of an answer, as many as the key has.
pub(super) type Answer = [u64; MOST_IDS / IDS_A_NUMBER];

/// The ids packed, if there are not too many and none is too large.
#[inline]
pub(super) fn pack(ids: &[TokenId]) -> Option<Answer> {
    let all = ids.iter().fold(0, |all, id| all | id);
    if ids.is_empty() || ids.len() > MOST_IDS || all >= LIMIT {
        return None;
    }
    let mut answer = [0; MOST_IDS / IDS_A_NUMBER];
    for (number, ids) in answer.iter_mut().zip(ids.chunks(IDS_A_NUMBER)) {
        let id = |n: usize| ids.get(n).map_or(0, |&id| u64::from(id));
        *number = id(0) | id(1) << BITS | id(2) << (2 * BITS);
    }
    answer[0] |= (ids.len() as u64) << COUNT_BIT;
    Some(answer)
}

/// How many ids there are, by the first number.
#[inline]
pub(super) fn count(first: u64) -> usize {
    (first >> COUNT_BIT) as usize
}

/// The three ids of a number; those that were not packed are 0.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "20 bits each")]
pub(super) fn unpack(number: u64) -> [TokenId; IDS_A_NUMBER] {
    [0, BITS, 2 * BITS].map(|bit| (number >> bit) as TokenId & (LIMIT - 1))
}

#[cfg(test)]
mod tests {
    use super::{IDS_A_NUMBER, LIMIT, MOST_IDS, count, pack, unpack};

    #[test]
    fn what_was_packed_comes_out_again() {
        for length in 1..=MOST_IDS {
            let ids: Vec<u32> = (1..=LIMIT).rev().take(length).map(|id| id - 1).collect();
            let answer = pack(&ids);
            assert_eq!(answer.map(|answer| count(answer[0])), Some(length));
            let unpacked = answer.unwrap_or_default().map(unpack);
            assert_eq!(unpacked.as_flattened()[..length], ids);
        }
        assert_eq!(MOST_IDS % IDS_A_NUMBER, 0);
        assert_eq!(pack(&[]), None);
        assert_eq!(pack(&[1; MOST_IDS + 1]), None);
        assert_eq!(pack(&[LIMIT]), None);
    }
}
