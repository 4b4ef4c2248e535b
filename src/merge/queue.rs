//! Merging long pieces in O(n log n): a priority queue of pairs over a linked list of parts.
//!
//! ```text
//! queue = every pair that merges, by (rank, place)
//! while the queue holds a pair:
//!     take the first; skip it if the part there is gone or starts another pair by now
//!     merge it, unlink the right part, look up the two pairs beside it and queue them
//! ```
//!
//! Each merge removes a part and queues at most two pairs, so at most 3n entries pass through the queue. Entries of
//! pairs that have changed are not searched for: they are recognised when they come up, because the part's current
//! rank differs. An entry whose rank still agrees is never out of date: same place, same rank, same merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// No part before or after.
const END: u32 = u32::MAX;

/// Merges between two looks at the checkpoint: some milliseconds.
const MERGES_PER_CHECK: u32 = 1 << 14;

struct Part {
    id: TokenId,
    /// The rank of the pair that this part starts, [`NO_TOKEN`] if it starts none or is merged away.
    rank: TokenId,
    previous: u32,
    next: u32,
}

/// Appends what the merges make of `piece` to `ids`.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint; [`EncodeError::PieceTooLong`] from 4 GiB on.
///
/// # Complexity
/// O(n log n) time, 24 n bytes of working memory for n bytes.
pub fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    merge_with(vocabulary, piece, ids, checkpoint, |left, right| {
        vocabulary.merged(left, right)
    })
}

/// As [`merge`], for the pairs that `merged` merges.
pub(super) fn merge_with(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
    merged: impl Fn(TokenId, TokenId) -> TokenId,
) -> Result<(), EncodeError> {
    let count = u32::try_from(piece.len())
        .ok()
        .filter(|&count| count < END)
        .ok_or(EncodeError::PieceTooLong(piece.len()))?;
    if count == 0 {
        return Ok(());
    }
    let mut parts: Vec<Part> = Vec::with_capacity(piece.len());
    // Filled one by one, at O(1) each on average, not all at once: that would be seconds without a look at the
    // checkpoint.
    let mut queue = BinaryHeap::new();
    for (place, &byte) in (0..count).zip(piece) {
        let id = vocabulary.byte_token(byte);
        if let Some(left) = parts.last_mut() {
            left.next = place;
            left.rank = merged(left.id, id);
            if left.rank != NO_TOKEN {
                queue.push(Reverse(entry(left.rank, place - 1)));
            }
        }
        parts.push(Part {
            id,
            rank: NO_TOKEN,
            previous: place.checked_sub(1).unwrap_or(END),
            next: END,
        });
        if place % MERGES_PER_CHECK == MERGES_PER_CHECK - 1 {
            checkpoint::pass(checkpoint)?;
        }
    }

    let mut until_check = MERGES_PER_CHECK;
    while let Some(Reverse(entry)) = queue.pop() {
        let (rank, place) = rank_and_place(entry);
        if parts[place as usize].rank != rank {
            continue;
        }
        until_check -= 1;
        if until_check == 0 {
            checkpoint::pass(checkpoint)?;
            until_check = MERGES_PER_CHECK;
        }
        let gone = parts[place as usize].next;
        let next = parts[gone as usize].next;
        parts[gone as usize].rank = NO_TOKEN;
        parts[place as usize].id = rank;
        parts[place as usize].next = next;
        if next != END {
            parts[next as usize].previous = place;
        }
        let previous = parts[place as usize].previous;
        for left in [previous, place] {
            if left != END {
                renew(&merged, &mut parts, &mut queue, left);
            }
        }
    }

    let mut place = 0;
    while place != END {
        let part = &parts[place as usize];
        ids.push(part.id);
        place = part.next;
    }
    Ok(())
}

/// Looks up the pair that the part at `place` starts now, and queues it if it merges.
#[inline]
fn renew(
    merged: &impl Fn(TokenId, TokenId) -> TokenId,
    parts: &mut [Part],
    queue: &mut BinaryHeap<Reverse<u64>>,
    place: u32,
) {
    let Part {
        id,
        rank: before,
        next,
        ..
    } = parts[place as usize];
    let rank = if next == END {
        NO_TOKEN
    } else {
        merged(id, parts[next as usize].id)
    };
    parts[place as usize].rank = rank;
    // The same rank as before is in the queue already.
    if rank != NO_TOKEN && rank != before {
        queue.push(Reverse(entry(rank, place)));
    }
}

/// Rank and place as one number that orders by rank, then from left to right.
fn entry(rank: TokenId, place: u32) -> u64 {
    (u64::from(rank) << 32) | u64::from(place)
}

/// The two halves of an [`entry`].
#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves are 32 bits each"
)]
fn rank_and_place(entry: u64) -> (TokenId, u32) {
    ((entry >> 32) as u32, entry as u32)
}
