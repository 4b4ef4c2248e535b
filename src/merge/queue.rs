//! Merging by a priority queue of pairs over a linked list of parts.
//!
//! ```text
//! queue = every pair that merges, by (rank, place)
//! while the queue holds a pair:
//!     ask for the memory that one of the next will need
//!     take the first; skip it if the part there is gone or starts another pair by now
//!     merge it, unlink the right part, look up the two pairs beside it and queue them
//! ```
//!
//! Each merge removes a part and queues at most two pairs, so at most 3n entries pass through the queue. Entries of
//! pairs that have changed are not searched for: they are recognised when they come up, because the part's current
//! rank differs. The bytes of the pair at a place only grow, and each rank has bytes of its own: so no entry is queued
//! twice, and one whose rank agrees is never out of date.
//!
//! The table of pairs is in no near cache. Merges that wait in order are known before they are made, and so is what they
//! will look up, unless a neighbour changes: 1 MB of random letters 151 -> 92 ms (o200k), asked for two, three or six merges
//! before alike.

use super::buckets::Buckets;
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// No part before or after.
const END: u32 = u32::MAX;

/// Parts filled in and merges made between two looks at the checkpoint: a millisecond.
const STEPS_PER_CHECK: u32 = 1 << 14;

/// So many merges before it is made, the memory that a merge needs is asked for.
const AHEAD: usize = 4;

/// What merges with what, and into which rank; [`NO_TOKEN`] is no merge.
pub(super) trait Merges {
    /// The token of a single byte.
    fn byte_token(&self, byte: u8) -> TokenId;

    /// What the tokens of two bytes merge into.
    fn of_bytes(&self, first: u8, second: u8) -> TokenId;

    /// What two tokens merge into.
    fn of_tokens(&self, left: TokenId, right: TokenId) -> TokenId;

    /// Asks for what [`of_tokens`](Self::of_tokens) looks at to be brought near.
    fn ask_for(&self, left: TokenId, right: TokenId);
}

impl Merges for Vocabulary {
    fn byte_token(&self, byte: u8) -> TokenId {
        self.byte_token(byte)
    }

    #[inline]
    fn of_bytes(&self, first: u8, second: u8) -> TokenId {
        self.merged_bytes(first, second)
    }

    #[inline]
    fn of_tokens(&self, left: TokenId, right: TokenId) -> TokenId {
        self.merged(left, right)
    }

    #[inline]
    fn ask_for(&self, left: TokenId, right: TokenId) {
        self.pairs().prefetch(left, right);
    }
}

/// The merges of lower rank than a limit.
pub(super) struct Below<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) limit: TokenId,
}

impl Below<'_> {
    fn limited(&self, rank: TokenId) -> TokenId {
        if rank < self.limit { rank } else { NO_TOKEN }
    }
}

impl Merges for Below<'_> {
    fn byte_token(&self, byte: u8) -> TokenId {
        self.vocabulary.byte_token(byte)
    }

    fn of_bytes(&self, first: u8, second: u8) -> TokenId {
        self.limited(self.vocabulary.merged_bytes(first, second))
    }

    fn of_tokens(&self, left: TokenId, right: TokenId) -> TokenId {
        self.limited(self.vocabulary.merged(left, right))
    }

    fn ask_for(&self, left: TokenId, right: TokenId) {
        self.vocabulary.pairs().prefetch(left, right);
    }
}

/// Appends what the merges make of `piece` to `ids`.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint; [`EncodeError::PieceTooLong`] from 4 GiB on.
///
/// # Complexity
/// O(n log n) time, for n bytes 16 n bytes of working memory, and 24 for each entry that the queue takes: 40 n to 90 n.
pub fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    merge_with(vocabulary, piece, ids, checkpoint)
}

/// As [`merge`], by any `merges`.
pub(super) fn merge_with(
    merges: &impl Merges,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let mut queue = Queue::new();
    queue.merge(merges, piece, checkpoint)?;
    ids.extend(queue.tokens().map(|token| token.id));
    Ok(())
}

/// A token and the byte it starts at.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) id: TokenId,
}

#[derive(Clone, Copy)]
struct Part {
    id: TokenId,
    /// The rank of the pair that this part starts, [`NO_TOKEN`] if it starts none or is merged away.
    rank: TokenId,
    previous: u32,
    next: u32,
}

/// The working memory of the engine, for one stretch of bytes after the other.
pub(super) struct Queue {
    /// By the byte that they start at.
    parts: Vec<Part>,
    pairs: Buckets,
    until_check: u32,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            parts: Vec::new(),
            pairs: Buckets::new(),
            until_check: STEPS_PER_CHECK,
        }
    }

    /// Makes all merges in `piece`; [`tokens`](Self::tokens) are what is left.
    ///
    /// # Errors
    /// As [`merge`](self::merge).
    pub(super) fn merge(
        &mut self,
        merges: &impl Merges,
        piece: &[u8],
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        if piece.len() >= END as usize {
            return Err(EncodeError::PieceTooLong(piece.len()));
        }
        self.parts.clear();
        self.pairs.clear();
        let mut place = 0;
        // Stretch by stretch, not all at once: that would be seconds without a look at the checkpoint.
        for bytes in piece.chunks(STEPS_PER_CHECK as usize) {
            checkpoint::pass(checkpoint)?;
            let seconds = piece[place as usize..].iter().skip(1);
            let parts = bytes.iter().zip(seconds).map(|(&byte, &second)| {
                let rank = merges.of_bytes(byte, second);
                if rank != NO_TOKEN {
                    self.pairs.push(rank, place);
                }
                let previous = place.checked_sub(1).unwrap_or(END);
                place += 1;
                Part {
                    id: merges.byte_token(byte),
                    rank,
                    previous,
                    next: place,
                }
            });
            self.parts.extend(parts);
        }
        self.parts.extend(piece.last().map(|&byte| Part {
            id: merges.byte_token(byte),
            rank: NO_TOKEN,
            previous: place.checked_sub(1).unwrap_or(END),
            next: END,
        }));
        self.merge_all(merges, checkpoint)?;
        Ok(())
    }

    fn merge_all(
        &mut self,
        merges: &impl Merges,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        while let Some((rank, place)) = self.pairs.pop(checkpoint)? {
            self.ask_for_coming(merges);
            let Self { parts, pairs, .. } = self;
            let Part {
                rank: current,
                previous,
                next: gone,
                ..
            } = parts[place as usize];
            if current != rank {
                continue;
            }
            let right = &mut parts[gone as usize];
            right.rank = NO_TOKEN;
            let next = right.next;
            let mut after = NO_TOKEN;
            if let Some(part) = parts.get_mut(next as usize) {
                part.previous = place;
                after = merges.of_tokens(rank, part.id);
                // In a run, the next part is merged next, and this pair looked up again.
                if after != NO_TOKEN && !(part.rank == rank && after > rank) {
                    pairs.push(after, place);
                }
            }
            let part = &mut parts[place as usize];
            part.id = rank;
            part.rank = after;
            part.next = next;
            if let Some(part) = parts.get_mut(previous as usize) {
                let before = merges.of_tokens(part.id, rank);
                if before != NO_TOKEN {
                    pairs.push(before, previous);
                }
                part.rank = before;
            }
            self.until_check -= 1;
            if self.until_check == 0 {
                checkpoint::pass(checkpoint)?;
                self.until_check = STEPS_PER_CHECK;
            }
        }
        Ok(())
    }

    /// Asks for the pairs that a merge that comes soon will look up, as things are.
    #[inline]
    fn ask_for_coming(&self, merges: &impl Merges) {
        let part = |place: u32| self.parts.get(place as usize);
        if let Some((rank, place)) = self.pairs.coming(AHEAD)
            && let Some(coming) = part(place)
            && coming.rank == rank
        {
            if let Some(after) = part(coming.next).and_then(|right| part(right.next)) {
                merges.ask_for(rank, after.id);
            }
            if let Some(before) = part(coming.previous) {
                merges.ask_for(before.id, rank);
            }
        }
    }

    /// The tokens that are left, from left to right.
    pub(super) fn tokens(&self) -> impl Iterator<Item = Token> {
        let mut place = 0;
        std::iter::from_fn(move || {
            let part = self.parts.get(place)?;
            let token = Token {
                start: place,
                id: part.id,
            };
            place = part.next as usize;
            Some(token)
        })
    }
}
