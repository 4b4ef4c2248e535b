//! Merging short pieces: look at every pair, merge the best, look again.
//!
//! ```text
//! parts = bytes, pairs of bytes that are bound to merge merged already, in a linked list, each with the rank of the pair
//!         it starts
//! while some pair merges:
//!     merge the first pair of lowest rank, unlink its right part, look up the two pairs beside it
//! ```
//!
//! O(n²) with a tiny constant: a few short arrays on the stack. Closing the gap after each merge instead of linking was
//! slower (two calls of `memmove` a merge).

use crate::adjacency::Adjacency;
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// Longer pieces are left to the queue, whose cost does not grow with the square of their length.
pub const LONGEST: usize = 64;

/// Most pieces have at most this many parts; for them the arrays are small enough to be set up in no time.
const FEW: usize = 16;

/// Appends what the merges make of `piece` to `ids`; false, and nothing done, if it has more than [`LONGEST`] bytes.
#[inline]
#[must_use]
pub fn merge(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
    if piece.len() <= FEW {
        merge_within::<FEW>(vocabulary, piece, ids);
    } else if piece.len() <= LONGEST {
        merge_within::<LONGEST>(vocabulary, piece, ids);
    }
    piece.len() <= LONGEST
}

/// A pair's rank and its place as one number that orders by rank, then from left to right.
#[inline]
fn entry(rank: TokenId, place: usize) -> u64 {
    if rank == NO_TOKEN {
        NO_ENTRY
    } else {
        (u64::from(rank) << 8) | place as u64
    }
}

const NO_ENTRY: u64 = u64::MAX;

/// The parts of a piece, and for each the rank of the pair it starts.
struct Parts<const N: usize> {
    count: usize,
    ids: [TokenId; N],
    entries: [u64; N],
}

impl<const N: usize> Parts<N> {
    /// Byte tokens, and pairs of bytes that are bound to merge.
    #[inline]
    fn new(vocabulary: &Vocabulary, piece: &[u8]) -> Self {
        let mut parts = Self {
            count: 0,
            ids: [0; N],
            entries: [NO_ENTRY; N],
        };
        let Some(adjacencies) = vocabulary.adjacencies() else {
            parts.count = piece.len();
            for (place, &byte) in piece.iter().enumerate() {
                parts.ids[place % N] = vocabulary.byte_token(byte);
            }
            for place in 1..parts.count {
                let rank = vocabulary.merged(parts.ids[(place - 1) % N], parts.ids[place % N]);
                parts.entries[(place - 1) % N] = entry(rank, place - 1);
            }
            return parts;
        };
        let mut before = Adjacency::END;
        let mut here = match piece {
            [first, second, ..] => adjacencies.of(*first, *second),
            _ => Adjacency::END,
        };
        let mut single_before = false;
        let mut rest = piece;
        while let [first, following @ ..] = rest {
            let after = match following {
                [second, third, ..] => adjacencies.of(*second, *third),
                _ => Adjacency::END,
            };
            let place = parts.count % N;
            let bound = here.bound(before, after);
            let id = if bound {
                here.token()
            } else {
                vocabulary.byte_token(*first)
            };
            parts.ids[place] = id;
            if before.joined()
                && let Some(left) = parts.count.checked_sub(1)
            {
                let rank = if single_before && !bound {
                    before.token()
                } else {
                    vocabulary.merged(parts.ids[left % N], id)
                };
                parts.entries[left % N] = entry(rank, left);
            }
            parts.count += 1;
            single_before = !bound;
            if bound {
                before = after;
                rest = following.get(1..).unwrap_or_default();
                here = match rest {
                    [first, second, ..] => adjacencies.of(*first, *second),
                    _ => Adjacency::END,
                };
            } else {
                before = here;
                here = after;
                rest = following;
            }
        }
        parts
    }
}

/// As [`merge`], for at most `N` bytes, `N` being at most 128.
#[expect(
    clippy::cast_possible_truncation,
    reason = "places are below 256, ranks have 32 bits"
)]
fn merge_within<const N: usize>(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) {
    let Parts {
        count,
        ids: mut parts,
        mut entries,
    } = Parts::<N>::new(vocabulary, &piece[..piece.len().min(N)]);
    // The place after the last is `count`; the place before the first is its own.
    let mut next: [u8; N] = std::array::from_fn(|place| (place + 1) as u8);
    let mut previous: [u8; N] = std::array::from_fn(|place| place.saturating_sub(1) as u8);

    loop {
        let lowest = entries[..count]
            .iter()
            .fold(NO_ENTRY, |lowest, &entry| lowest.min(entry));
        if lowest == NO_ENTRY {
            break;
        }
        let place = (lowest & 0xFF) as usize % N;
        let rank = (lowest >> 8) as TokenId;
        let gone = usize::from(next[place]) % N;
        let after = usize::from(next[gone]);
        entries[gone] = NO_ENTRY;
        parts[place] = rank;
        next[place] = after as u8;
        entries[place] = NO_ENTRY;
        if after < count {
            previous[after % N] = place as u8;
            entries[place] = entry(vocabulary.merged(rank, parts[after % N]), place);
        }
        let before = usize::from(previous[place]) % N;
        if before < place {
            entries[before] = entry(vocabulary.merged(parts[before], rank), before);
        }
    }

    let mut place = 0;
    while place < count {
        ids.push(parts[place % N]);
        place = usize::from(next[place % N]);
    }
}
