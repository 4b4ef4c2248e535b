//! Pieces in order, from many places: equal ones become one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::key::LONGEST_WHOLE;
use super::table::Counted;
use crate::checkpoint::{self, Checkpoint};
use crate::error::TrainError;

/// Pieces merged between two checkpoints.
const STRETCH: usize = 1 << 14;

/// What pieces are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Their bytes.
    Bytes,
    /// Where they occur first.
    Place,
    /// How often they occur, most often first; of equals, where they occur first.
    Count,
}

impl Order {
    /// A number in this order; pieces of the same number are ordered by their bytes.
    pub(super) fn number(self, piece: &[u8], counted: Counted) -> u128 {
        match self {
            Self::Bytes => beginning(piece),
            Self::Place => u128::from(counted.first),
            Self::Count => u128::from(!counted.count) << 64 | u128::from(counted.first),
        }
    }
}

/// The first bytes of a piece as a number that is ordered as they are.
fn beginning(piece: &[u8]) -> u128 {
    let mut bytes = [0; LONGEST_WHOLE];
    let length = piece.len().min(LONGEST_WHOLE);
    bytes[..length].copy_from_slice(&piece[..length]);
    u128::from_be_bytes(bytes)
}

/// Walks over pieces in order.
pub(super) trait Cursor {
    /// The [`Order::number`] of the piece it is at.
    fn number(&self) -> u128;

    /// The piece.
    fn piece(&self) -> &[u8];

    /// How often it occurs, and where first.
    fn counted(&self) -> Counted;

    /// Goes to the next piece, before the first one too; false if there is none.
    fn advance(&mut self) -> Result<bool, TrainError>;
}

/// `visit(piece, counted)` for the pieces of all cursors, in order; those that are equal are one, counted together. The
/// caller sees to it that all counts together are below 2^64.
///
/// # Complexity
/// O(n log k) for n pieces of k cursors.
pub(super) fn merge(
    cursors: Vec<impl Cursor>,
    checkpoint: &dyn Checkpoint,
    mut visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut heap = BinaryHeap::with_capacity(cursors.len());
    for mut cursor in cursors {
        if cursor.advance()? {
            heap.push(Least(Box::new(cursor)));
        }
    }
    let mut piece = Vec::new();
    let mut counted = Counted { count: 0, first: 0 };
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
            piece.extend_from_slice(cursor.piece());
            counted = next;
        }
        if !cursor.advance()? {
            PeekMut::pop(least);
        }
        unchecked += 1 + piece.len() / LONGEST_WHOLE;
        if unchecked >= STRETCH {
            unchecked = 0;
            checkpoint::pass(checkpoint)?;
        }
    }
    if counted.count > 0 {
        visit(&piece, counted)?;
    }
    Ok(())
}

/// A cursor that is the greater, the less its piece is, as a heap gives the greatest. Boxed, so that it is quickly moved.
struct Least<C>(Box<C>);

impl<C: Cursor> Ord for Least<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_number = other.0.number().cmp(&self.0.number());
        by_number.then_with(|| other.0.piece().cmp(self.0.piece()))
    }
}

impl<C: Cursor> PartialOrd for Least<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C: Cursor> PartialEq for Least<C> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<C: Cursor> Eq for Least<C> {}
