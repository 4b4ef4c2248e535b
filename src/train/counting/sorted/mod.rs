//! Counts in the order of their pieces, and their merge.
//!
//! ```text
//! a map, or rows in memory ─► cursors           (in_memory)
//! sorted tables of other processes ─► a run     (tables, runs)
//! 32 runs of a level ─► one of the next level   (runs)
//! several cursors ─► one piece after another    (here)
//! ```
//!
//! Merging sorted counts is the reduce step of counting on several machines: each sorts what it counted, and
//! equal pieces meet in the merge, whose memory does not depend on their number.

mod in_memory;
mod runs;

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

pub(super) use self::in_memory::{SortBuffer, for_each_of_map};
pub use self::runs::NextTable;
pub(super) use self::runs::{RunStore, SortedRun};
use super::Counted;
use super::key::MAX_KEY_LEN;
use crate::checkpoint;
use crate::error::TrainError;
use crate::util::memory::Growable;

/// Pieces merged between two checkpoints; a long piece counts as several.
const CHECK_INTERVAL: usize = 1 << 14;

/// The sort key of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// Their bytes.
    Bytes,
    /// The position of their first occurrence.
    First,
    /// Their count, greatest first, then the position of their first occurrence.
    Count,
}

impl SortOrder {
    /// Returns a number that orders as this order does; pieces with the same number are ordered by their
    /// bytes.
    pub(super) fn sort_key(self, piece: &[u8], counted: Counted) -> u128 {
        match self {
            Self::Bytes => prefix(piece),
            Self::First => u128::from(counted.first),
            Self::Count => u128::from(!counted.count) << 64 | u128::from(counted.first),
        }
    }
}

/// Returns the first bytes of a piece as a number with the same order.
fn prefix(piece: &[u8]) -> u128 {
    let mut bytes = [0; MAX_KEY_LEN];
    let length = piece.len().min(MAX_KEY_LEN);
    bytes[..length].copy_from_slice(&piece[..length]);
    u128::from_be_bytes(bytes)
}

/// A source of sorted pieces.
pub(super) trait PieceCursor {
    /// The [`SortOrder::sort_key`] of the current piece.
    fn sort_key(&self) -> u128;

    /// The current piece.
    fn piece(&self) -> &[u8];

    /// The count of the current piece.
    fn counted(&self) -> Counted;

    /// Advances to the next piece, initially to the first one. Returns false at the end.
    fn advance(&mut self) -> Result<bool, TrainError>;
}

/// Calls `visit(piece, counted)` for the pieces of all cursors, in order; equal pieces are visited once, with
/// the sum of their counts. The caller ensures that the sum of all counts fits 64 bits.
///
/// # Complexity
/// O(n log k) for n pieces of k cursors.
pub(super) fn kway_merge(
    cursors: Vec<impl PieceCursor>,
    mut visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut heap = BinaryHeap::new();
    heap.with_room(cursors.len());
    for mut cursor in cursors {
        if cursor.advance()? {
            heap.push(MinFirst(Box::new(cursor)));
        }
    }
    let mut piece = Vec::new();
    let mut counted = Counted::NONE;
    let mut unchecked = 0;
    while let Some(mut least) = heap.peek_mut() {
        let cursor = &mut least.0;
        let next = cursor.counted();
        if counted.count > 0 && cursor.piece() == piece {
            counted.count = counted
                .count
                .checked_add(next.count)
                .ok_or(TrainError::TooManyOccurrences)?;
            counted.first = counted.first.min(next.first);
        } else {
            if counted.count > 0 {
                visit(&piece, counted)?;
            }
            piece.clear();
            let next_piece = cursor.piece();
            piece
                .with_room(next_piece.len())
                .extend_from_slice(next_piece);
            counted = next;
        }
        if !cursor.advance()? {
            PeekMut::pop(least);
        }
        unchecked += 1 + piece.len() / MAX_KEY_LEN;
        if unchecked >= CHECK_INTERVAL {
            unchecked = 0;
            checkpoint::pass()?;
        }
    }
    if counted.count > 0 {
        visit(&piece, counted)?;
    }
    Ok(())
}

/// A cursor in reverse order, because [`BinaryHeap`] pops the greatest. Boxed, so that sifting moves a
/// pointer.
struct MinFirst<C>(Box<C>);

impl<C: PieceCursor> Ord for MinFirst<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = other.0.sort_key().cmp(&self.0.sort_key());
        by_key.then_with(|| other.0.piece().cmp(self.0.piece()))
    }
}

impl<C: PieceCursor> PartialOrd for MinFirst<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C: PieceCursor> PartialEq for MinFirst<C> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<C: PieceCursor> Eq for MinFirst<C> {}
