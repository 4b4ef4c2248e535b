//! Merging short pieces: look at every pair, merge the best, look again.
//!
//! ```text
//! parts = byte tokens, each with the rank of the pair it starts
//! while some pair merges:
//!     merge the first pair of lowest rank, close the gap, look up the two pairs beside it
//! ```
//!
//! O(n²) with a tiny constant: two short arrays, no links, no allocation beyond the output.

use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// Appends what the merges make of `piece` to `ids`.
#[inline]
pub fn merge(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) {
    merge_with(
        piece,
        ids,
        |byte| vocabulary.byte_token(byte),
        |left, right| vocabulary.merged(left, right),
    );
}

/// As [`merge`], for any byte tokens and merges. Works on the end of `ids` in place.
pub(super) fn merge_with(
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    byte_token: impl Fn(u8) -> TokenId,
    merged: impl Fn(TokenId, TokenId) -> TokenId,
) {
    let start = ids.len();
    ids.extend(piece.iter().map(|&byte| byte_token(byte)));
    let parts = &mut ids[start..];
    let mut live = parts.len();

    // ranks[i] is the rank of the pair (i, i + 1); the last part starts no pair.
    let mut on_stack = [NO_TOKEN; super::LONGEST_SCAN];
    let mut on_heap;
    let ranks: &mut [TokenId] = if live <= on_stack.len() {
        &mut on_stack[..live]
    } else {
        on_heap = vec![NO_TOKEN; live];
        &mut on_heap
    };
    for (rank, pair) in ranks.iter_mut().zip(parts.windows(2)) {
        *rank = merged(pair[0], pair[1]);
    }

    while live > 1 {
        let (mut lowest, mut at) = (NO_TOKEN, 0);
        for (index, &rank) in ranks[..live - 1].iter().enumerate() {
            if rank < lowest {
                (lowest, at) = (rank, index);
            }
        }
        if lowest == NO_TOKEN {
            break;
        }
        parts.copy_within(at + 2..live, at + 1);
        ranks.copy_within(at + 2..live, at + 1);
        live -= 1;
        parts[at] = lowest;
        ranks[at] = if at + 1 < live {
            merged(lowest, parts[at + 1])
        } else {
            NO_TOKEN
        };
        if at > 0 {
            ranks[at - 1] = merged(parts[at - 1], lowest);
        }
    }
    ids.truncate(start + live);
}
