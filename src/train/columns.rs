//! Pieces end to end in one array.

use super::table::Counted;

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

/// Pieces and their places, to be put in the order of these.
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

    /// Puts the pieces in the order of their places.
    pub(super) fn sort(&mut self) {
        self.rows.sort_unstable_by_key(|row| row.counted.first);
    }

    /// The pieces in the order they are in.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Counted)> {
        let piece = |row: &Row| &self.bytes[row.start..row.start + row.length];
        self.rows.iter().map(move |row| (piece(row), row.counted))
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
