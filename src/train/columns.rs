//! Pieces end to end in one array.

use super::ordered::{self, Cursor, Order};
use super::table::Counted;
use crate::checkpoint::{self, Checkpoint};
use crate::error::TrainError;

/// Rows sorted between two checkpoints.
const STRETCH: usize = 1 << 16;

/// Pieces one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The bytes of all pieces, end to end.
    pub bytes: Vec<u8>,
    /// Where each of them ends.
    pub ends: Vec<usize>,
    /// How often each of them occurs.
    pub counts: Vec<u64>,
}

impl Columns {
    /// Room for so many pieces that have so many bytes in all.
    pub(super) fn with_capacity(pieces: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(pieces),
            counts: Vec::with_capacity(pieces),
        }
    }

    /// Adds a piece.
    pub(super) fn push(&mut self, piece: &[u8], count: u64) {
        self.bytes.extend_from_slice(piece);
        self.ends.push(self.bytes.len());
        self.counts.push(count);
    }

    /// The pieces with their counts.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.ends
            .iter()
            .zip(&self.counts)
            .map(move |(&end, &count)| {
                let piece = &self.bytes[start..end];
                start = end;
                (piece, count)
            })
    }
}

/// Pieces, how often they occur and where, to be put in the order of either.
#[derive(Debug, Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    counted: Counted,
    start: usize,
    length: usize,
}

impl Rows {
    /// Adds a piece.
    pub(super) fn push(&mut self, piece: &[u8], counted: Counted) {
        self.rows.push(Row {
            counted,
            start: self.bytes.len(),
            length: piece.len(),
        });
        self.bytes.extend_from_slice(piece);
    }

    /// `visit(piece, counted)` for the first pieces in an order, `most` of them or some more, until it fails.
    pub(super) fn in_order(
        &mut self,
        order: Order,
        most: usize,
        checkpoint: &dyn Checkpoint,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        for stretch in self.rows.chunks_mut(STRETCH) {
            checkpoint::pass(checkpoint)?;
            stretch.sort_unstable_by_key(|row| order.number(&[], row.counted));
        }
        let cursors = self.rows.chunks(STRETCH).map(|rows| Stretch {
            bytes: &self.bytes,
            order,
            rows: &rows[..most.min(rows.len())],
            at: None,
        });
        ordered::merge(cursors.collect(), checkpoint, visit)
    }

    /// Leaves no pieces.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }

    /// How many bytes they take.
    pub(super) fn memory(&self) -> usize {
        size_of::<Row>() * self.rows.len() + self.bytes.len()
    }
}

/// Walks over rows that are in order.
#[derive(Debug)]
struct Stretch<'a> {
    bytes: &'a [u8],
    order: Order,
    /// Those still to come.
    rows: &'a [Row],
    at: Option<&'a Row>,
}

impl Cursor for Stretch<'_> {
    fn number(&self) -> u128 {
        self.order.number(self.piece(), self.counted())
    }

    fn piece(&self) -> &[u8] {
        self.at
            .map_or(&[], |row| &self.bytes[row.start..row.start + row.length])
    }

    fn counted(&self) -> Counted {
        self.at
            .map_or(Counted { count: 0, first: 0 }, |row| row.counted)
    }

    fn advance(&mut self) -> Result<bool, TrainError> {
        self.at = self.rows.split_off_first();
        Ok(self.at.is_some())
    }
}
