//! Merging by a priority queue of pairs over a linked list of symbols.
//!
//! ```text
//! queue = every pair that merges, by (rank, index of its left symbol)
//! while the queue is not empty:
//!     prefetch the look-ups of a later merge
//!     pop a pair; skip it if its left symbol is merged away or starts another pair by now
//!     merge it, unlink the right symbol, look up the two pairs beside it and queue them
//! ```
//!
//! Each merge removes a symbol and queues at most two pairs, so at most 3n entries pass through the queue.
//! Entries of pairs that have changed are not searched for: they are recognised when they are popped, because
//! the symbol's current rank differs. The bytes of the pair that starts at an index only grow, and each rank
//! has bytes of its own: so no entry is queued twice, and an entry whose rank agrees is never out of date.
//!
//! The pair table does not fit into L2. Merges that are pending in order are known before they are made, and
//! so are their look-ups, unless a neighbour changes. Prefetching them made 1 MB of random letters 151 -> 92
//! ms (o200k), two, three or six merges before alike.

use super::buckets::Buckets;
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::vocabulary::Vocabulary;

/// The index of no symbol: beyond any piece.
const END: u32 = u32::MAX;

/// Symbols initialised, or merges made, between two passes of the checkpoint: a millisecond.
const CHECK_INTERVAL: u32 = 1 << 14;

/// The look-ups of a merge are prefetched this many merges before it.
const PREFETCH_DISTANCE: usize = 4;

/// The merges to make: which token two tokens merge into, or [`NO_TOKEN`].
pub(super) trait Merges {
    /// Returns the token of a single byte.
    fn byte_token(&self, byte: u8) -> TokenId;

    /// Returns the token that two bytes merge into.
    fn of_bytes(&self, first: u8, second: u8) -> TokenId;

    /// Returns the token that two tokens merge into.
    fn of_tokens(&self, left: TokenId, right: TokenId) -> TokenId;

    /// Prefetches what [`of_tokens`](Self::of_tokens) reads.
    fn prefetch(&self, left: TokenId, right: TokenId);
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
    fn prefetch(&self, left: TokenId, right: TokenId) {
        self.pairs().prefetch(left, right);
    }
}

/// The merges with a rank below a limit.
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

    fn prefetch(&self, left: TokenId, right: TokenId) {
        self.vocabulary.pairs().prefetch(left, right);
    }
}

/// Merges `piece` and appends its ids to `ids`.
///
/// # Errors
/// [`EncodeError::Interrupted`] from the checkpoint; [`EncodeError::PieceTooLong`] from 4 GiB on.
///
/// # Complexity
/// O(n log n) time for n bytes. 16 n bytes of working memory, and 24 for each entry of the queue: 40 n to 90
/// n.
pub fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    merge_with(vocabulary, piece, ids, checkpoint)
}

/// As [`merge`], with any `merges`.
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

/// A token and the offset where it starts.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) id: TokenId,
}

#[derive(Clone, Copy)]
struct Symbol {
    id: TokenId,
    /// The rank of the pair that this symbol starts; [`NO_TOKEN`] if it starts none or is merged away.
    rank: TokenId,
    previous: u32,
    next: u32,
}

/// The working memory of the engine, reused from one window to the next.
pub(super) struct Queue {
    /// Indexed by the offset where a symbol starts.
    symbols: Vec<Symbol>,
    pairs: Buckets,
    until_check: u32,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            symbols: Vec::new(),
            pairs: Buckets::new(),
            until_check: CHECK_INTERVAL,
        }
    }

    /// Makes all merges in `piece`; [`tokens`](Self::tokens) returns the result.
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
        self.symbols.clear();
        self.pairs.clear();
        let mut index = 0;
        // In chunks: a very long piece would take seconds without a pass of the checkpoint.
        for bytes in piece.chunks(CHECK_INTERVAL as usize) {
            checkpoint::pass(checkpoint)?;
            let seconds = piece[index as usize..].iter().skip(1);
            let symbols = bytes.iter().zip(seconds).map(|(&byte, &second)| {
                let rank = merges.of_bytes(byte, second);
                if rank != NO_TOKEN {
                    self.pairs.push(rank, index);
                }
                let previous = index.checked_sub(1).unwrap_or(END);
                index += 1;
                Symbol {
                    id: merges.byte_token(byte),
                    rank,
                    previous,
                    next: index,
                }
            });
            self.symbols.extend(symbols);
        }
        self.symbols.extend(piece.last().map(|&byte| Symbol {
            id: merges.byte_token(byte),
            rank: NO_TOKEN,
            previous: index.checked_sub(1).unwrap_or(END),
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
        while let Some((rank, index)) = self.pairs.pop(checkpoint)? {
            self.prefetch_coming(merges);
            let Self { symbols, pairs, .. } = self;
            let Symbol {
                rank: current,
                previous,
                next: gone,
                ..
            } = symbols[index as usize];
            if current != rank {
                continue;
            }
            let right = &mut symbols[gone as usize];
            right.rank = NO_TOKEN;
            let next = right.next;
            let mut after = NO_TOKEN;
            if let Some(symbol) = symbols.get_mut(next as usize) {
                symbol.previous = index;
                after = merges.of_tokens(rank, symbol.id);
                // In a run, the next symbol is merged next, and this pair is looked up again.
                if after != NO_TOKEN && !(symbol.rank == rank && after > rank) {
                    pairs.push(after, index);
                }
            }
            let symbol = &mut symbols[index as usize];
            symbol.id = rank;
            symbol.rank = after;
            symbol.next = next;
            if let Some(symbol) = symbols.get_mut(previous as usize) {
                let before = merges.of_tokens(symbol.id, rank);
                if before != NO_TOKEN {
                    pairs.push(before, previous);
                }
                symbol.rank = before;
            }
            self.until_check -= 1;
            if self.until_check == 0 {
                checkpoint::pass(checkpoint)?;
                self.until_check = CHECK_INTERVAL;
            }
        }
        Ok(())
    }

    /// Prefetches the look-ups of a later merge, as far as they are known.
    #[inline]
    fn prefetch_coming(&self, merges: &impl Merges) {
        let symbol = |index: u32| self.symbols.get(index as usize);
        if let Some((rank, index)) = self.pairs.coming(PREFETCH_DISTANCE)
            && let Some(coming) = symbol(index)
            && coming.rank == rank
        {
            if let Some(after) = symbol(coming.next).and_then(|right| symbol(right.next)) {
                merges.prefetch(rank, after.id);
            }
            if let Some(before) = symbol(coming.previous) {
                merges.prefetch(before.id, rank);
            }
        }
    }

    /// Returns the tokens, from left to right.
    pub(super) fn tokens(&self) -> impl Iterator<Item = Token> {
        let mut index = 0;
        std::iter::from_fn(move || {
            let symbol = self.symbols.get(index)?;
            let token = Token {
                start: index,
                id: symbol.id,
            };
            index = symbol.next as usize;
            Some(token)
        })
    }
}
