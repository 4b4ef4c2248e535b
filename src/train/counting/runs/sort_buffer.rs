//! Pieces in memory, to be sorted by any order.

use super::super::counted::Counted;
use super::kway_merge::{PieceCursor, SortOrder, kway_merge};
use crate::checkpoint::{self, Checkpoint};
use crate::error::TrainError;
use crate::util::memory::{self, Growable};

/// Rows that are sorted between two checkpoints.
const CHUNK: usize = 1 << 16;

/// Pieces with their counts: chunks of rows are sorted one by one, then merged, so that sorting can be
/// interrupted.
#[derive(Debug, Default)]
pub(crate) struct SortBuffer {
    bytes: Vec<u8>,
    rows: Vec<SortRow>,
}

#[derive(Debug)]
struct SortRow {
    counted: Counted,
    start: usize,
    length: usize,
}

impl SortBuffer {
    /// Appends a piece.
    pub(crate) fn push(&mut self, piece: &[u8], counted: Counted) {
        self.rows.with_room(1).push(SortRow {
            counted,
            start: self.bytes.len(),
            length: piece.len(),
        });
        self.bytes.with_room(piece.len()).extend_from_slice(piece);
    }

    /// Calls `visit(piece, counted)` for at least the first `most` pieces of an order, if there are as many,
    /// until it fails.
    pub(crate) fn for_each_sorted(
        &mut self,
        order: SortOrder,
        most: usize,
        checkpoint: &dyn Checkpoint,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        debug_assert!(order != SortOrder::Bytes, "rows are sorted by their counts");
        for chunk in self.rows.chunks_mut(CHUNK) {
            checkpoint::pass(checkpoint)?;
            chunk.sort_unstable_by_key(|row| order.sort_key(&[], row.counted));
        }
        let cursors = self.rows.chunks(CHUNK).map(|rows| RowCursor {
            bytes: &self.bytes,
            order,
            rest: &rows[..most.min(rows.len())],
            current: None,
        });
        kway_merge(memory::collect(cursors), checkpoint, visit)
    }

    /// Removes all pieces and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<SortRow>() * self.rows.len() + self.bytes.len()
    }
}

/// Reads sorted rows.
#[derive(Debug)]
struct RowCursor<'a> {
    bytes: &'a [u8],
    order: SortOrder,
    rest: &'a [SortRow],
    current: Option<&'a SortRow>,
}

impl RowCursor<'_> {
    fn row(&self) -> &SortRow {
        self.current.expect("a cursor is read after it advanced")
    }
}

impl PieceCursor for RowCursor<'_> {
    fn sort_key(&self) -> u128 {
        self.order.sort_key(self.piece(), self.counted())
    }

    fn piece(&self) -> &[u8] {
        let row = self.row();
        &self.bytes[row.start..row.start + row.length]
    }

    fn counted(&self) -> Counted {
        self.row().counted
    }

    fn advance(&mut self) -> Result<bool, TrainError> {
        self.current = self.rest.split_off_first();
        Ok(self.current.is_some())
    }
}
