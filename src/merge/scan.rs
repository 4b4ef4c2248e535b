//! Merging short pieces: look at every pair, merge the best, look again.
//!
//! ```text
//! parts = byte tokens in a linked list, each with the rank of the pair it starts
//! while some pair merges:
//!     merge the first pair of lowest rank, unlink its right part, look up the two pairs beside it
//! ```
//!
//! O(n²) with a tiny constant: a few short arrays on the stack. Closing the gap after each merge instead of linking was
//! slower (two calls of `memmove` a merge).

use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// Longer pieces are left to the queue, whose cost does not grow with the square of their length.
pub const LONGEST: usize = 64;

/// Most pieces have at most this many bytes; for them the arrays are small enough to be set up in no time.
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
fn entry(rank: TokenId, place: usize) -> u64 {
    (u64::from(rank) << 8) | place as u64
}

const NO_ENTRY: u64 = u64::MAX;

/// As [`merge`], for at most `N` bytes, `N` being at most 128.
#[expect(
    clippy::cast_possible_truncation,
    reason = "places are below 256, ranks have 32 bits"
)]
fn merge_within<const N: usize>(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) {
    let piece = &piece[..piece.len().min(N)];
    let count = piece.len();
    let mut parts = [0; N];
    let mut entries = [NO_ENTRY; N];
    // The place after the last is `count`; the place before the first is its own.
    let mut next = [0_u8; N];
    let mut previous = [0_u8; N];
    for (place, &byte) in piece.iter().enumerate() {
        parts[place] = vocabulary.byte_token(byte);
        next[place] = (place + 1) as u8;
        previous[place] = place.saturating_sub(1) as u8;
        if let Some(&second) = piece.get(place + 1) {
            let rank = vocabulary.merged_bytes(byte, second);
            if rank != NO_TOKEN {
                entries[place] = entry(rank, place);
            }
        }
    }

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
            let rank = vocabulary.merged(rank, parts[after % N]);
            if rank != NO_TOKEN {
                entries[place] = entry(rank, place);
            }
        }
        let before = usize::from(previous[place]) % N;
        if before < place {
            let rank = vocabulary.merged(parts[before], rank);
            entries[before] = if rank == NO_TOKEN {
                NO_ENTRY
            } else {
                entry(rank, before)
            };
        }
    }

    let mut place = 0;
    while place < count {
        ids.push(parts[place % N]);
        place = usize::from(next[place % N]);
    }
}
