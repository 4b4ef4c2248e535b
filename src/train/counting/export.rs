//! Counts as columns.

use crate::util::memory::{self, Growable};

/// Pieces with their counts: the bytes of all pieces in one array, as Arrow lays out strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountTable {
    /// The bytes of all pieces, concatenated.
    pub bytes: Vec<u8>,
    /// The end offset of each piece.
    pub ends: Vec<usize>,
    /// The count of each piece.
    pub counts: Vec<u64>,
}

impl CountTable {
    /// An empty table with room for `pieces` pieces of `bytes` bytes in total.
    pub(super) fn with_capacity(pieces: usize, bytes: usize) -> Self {
        Self {
            bytes: memory::vec_with_capacity(bytes),
            ends: memory::vec_with_capacity(pieces),
            counts: memory::vec_with_capacity(pieces),
        }
    }

    /// Appends a piece.
    pub fn push(&mut self, piece: &[u8], count: u64) {
        let bytes = self.bytes.with_room(piece.len());
        bytes.extend_from_slice(piece);
        self.ends.with_room(1).push(bytes.len());
        self.counts.with_room(1).push(count);
    }

    /// Iterates over the pieces with their counts.
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
