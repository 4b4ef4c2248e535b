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
//! the symbol's current rank differs. An entry whose rank agrees is the pair that merges next, even if an earlier
//! pair of the same index queued it: tokens of characters may share a rank, so that an index may be queued twice
//! with the same.
//!
//! The pair table does not fit into L2. Merges that are pending in order are known before they are made, and
//! so are their look-ups, unless a neighbour changes. Prefetching them made 1 MB of random letters 151 -> 92
//! ms (o200k), two, three or six merges before alike.

use super::buckets::Buckets;
use crate::checkpoint::{self, Interrupted};
use crate::error::EncodeError;
use crate::token::{NO_TOKEN, TokenId};
use crate::util::memory::{self, Growable};
use crate::vocabulary::byte_merges::ByteMerges;

/// The index of no symbol: beyond any piece.
const END: u32 = u32::MAX;

/// Symbols initialised, or merges made, between two passes of the checkpoint: a millisecond.
const CHECK_INTERVAL: u32 = 1 << 14;

/// The look-ups of a merge are prefetched this many merges before it.
const PREFETCH_DISTANCE: usize = 4;

/// The merges to make. A pair has the **rank** of the symbol that it merges into, or [`NO_TOKEN`].
pub trait LongMerges {
    /// Returns the symbol that `rest`, which is not empty, begins with.
    fn start(&self, rest: &[u8]) -> Start;

    /// Returns the rank of two symbols.
    fn rank(&self, left: TokenId, right: TokenId) -> TokenId;

    /// Returns what two symbols, of this rank, merge into.
    fn made(&self, rank: TokenId, left: TokenId, right: TokenId) -> TokenId;

    /// Returns what two symbols of this rank most likely merge into.
    #[inline]
    fn likely(&self, rank: TokenId) -> TokenId {
        rank
    }

    /// Prefetches what [`rank`](Self::rank) reads.
    fn prefetch(&self, left: TokenId, right: TokenId);

    /// Returns the last offset in `bytes` at which a symbol ends, no later than `end`.
    fn boundary(&self, bytes: &[u8], end: usize) -> usize;
}

/// The first symbol of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub(super) id: TokenId,
    /// Number of its bytes.
    pub(super) length: usize,
    /// The rank of its pair with the next symbol.
    pub(super) rank: TokenId,
}

impl LongMerges for ByteMerges {
    #[inline]
    fn start(&self, rest: &[u8]) -> Start {
        let rank = match *rest {
            [first, second, ..] => self.merged_bytes(first, second),
            _ => NO_TOKEN,
        };
        Start {
            id: self.byte_token(rest[0]),
            length: 1,
            rank,
        }
    }

    #[inline]
    fn rank(&self, left: TokenId, right: TokenId) -> TokenId {
        self.merged(left, right)
    }

    #[inline]
    fn made(&self, rank: TokenId, _: TokenId, _: TokenId) -> TokenId {
        rank
    }

    #[inline]
    fn prefetch(&self, left: TokenId, right: TokenId) {
        self.pairs().prefetch(left, right);
    }

    fn boundary(&self, _: &[u8], end: usize) -> usize {
        end
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
    merges: &impl LongMerges,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
) -> Result<(), EncodeError> {
    let mut queue = Queue::new();
    queue.merge(merges, piece)?;
    memory::extend(ids, queue.tokens().map(|token| token.id));
    Ok(())
}

/// A token and the offset where it starts.
#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) id: TokenId,
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
        merges: &impl LongMerges,
        piece: &[u8],
    ) -> Result<(), EncodeError> {
        if piece.len() >= END as usize {
            return Err(EncodeError::PieceTooLong(piece.len()));
        }
        self.symbols.clear();
        self.pairs.clear();
        let (mut offset, mut previous) = (0, END);
        let mut next_check = 0;
        while offset < piece.len() {
            // A very long piece would take seconds without a pass of the checkpoint.
            if offset >= next_check {
                checkpoint::pass()?;
                next_check = offset + CHECK_INTERVAL as usize;
            }
            let Start { id, length, rank } = merges.start(&piece[offset..]);
            #[expect(clippy::cast_possible_truncation, reason = "as checked above")]
            let (index, next) = (offset as u32, (offset + length) as u32);
            if rank != NO_TOKEN {
                self.pairs.push(rank, index);
            }
            let symbol = Symbol {
                id,
                rank,
                previous,
                next,
            };
            self.symbols.with_room(length).push(symbol);
            // Nothing refers to the bytes inside of a symbol.
            self.symbols.extend((1..length).map(|_| symbol));
            (offset, previous) = (offset + length, index);
        }
        self.merge_all(merges)?;
        Ok(())
    }

    fn merge_all(&mut self, merges: &impl LongMerges) -> Result<(), Interrupted> {
        while let Some((rank, index)) = self.pairs.pop()? {
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
            let left = symbols[index as usize].id;
            let right = &mut symbols[gone as usize];
            right.rank = NO_TOKEN;
            let next = right.next;
            let made = merges.made(rank, left, right.id);
            let mut after = NO_TOKEN;
            if let Some(symbol) = symbols.get_mut(next as usize) {
                symbol.previous = index;
                after = merges.rank(made, symbol.id);
                // In a run, the next symbol is merged next, and this pair is looked up again.
                if after != NO_TOKEN && !(symbol.rank == rank && after > rank) {
                    pairs.push(after, index);
                }
            }
            let symbol = &mut symbols[index as usize];
            symbol.id = made;
            symbol.rank = after;
            symbol.next = next;
            if let Some(symbol) = symbols.get_mut(previous as usize) {
                let before = merges.rank(symbol.id, made);
                if before != NO_TOKEN {
                    pairs.push(before, previous);
                }
                symbol.rank = before;
            }
            self.until_check -= 1;
            if self.until_check == 0 {
                checkpoint::pass()?;
                self.until_check = CHECK_INTERVAL;
            }
        }
        Ok(())
    }

    /// Prefetches the look-ups of a later merge, as far as they are known.
    #[inline]
    fn prefetch_coming(&self, merges: &impl LongMerges) {
        let symbol = |index: u32| self.symbols.get(index as usize);
        if let Some((rank, index)) = self.pairs.coming(PREFETCH_DISTANCE)
            && let Some(coming) = symbol(index)
            && coming.rank == rank
        {
            let made = merges.likely(rank);
            if let Some(after) = symbol(coming.next).and_then(|right| symbol(right.next)) {
                merges.prefetch(made, after.id);
            }
            if let Some(before) = symbol(coming.previous) {
                merges.prefetch(before.id, made);
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
