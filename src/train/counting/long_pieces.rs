//! Counts of the pieces that have no key: a hash table over an arena of bytes.
//!
//! The cache of an encoding has a table of its own for long pieces (`cache::long`), which forgets pieces and
//! bounds their ids and bytes to 16 bits; counts must be exact for pieces of any length.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;

use super::Counted;
use crate::util::hash::SeededState;
use crate::util::memory::{self, Growable};

/// A counted piece, whose bytes are in the arena.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongPiece {
    start: usize,
    length: usize,
    /// Hash of its bytes, kept because reading them again would miss the cache.
    hash: u64,
    counted: Counted,
}

impl LongPiece {
    /// Range of its bytes in the arena.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }

    /// Its count.
    pub(super) fn counted(&self) -> Counted {
        self.counted
    }
}

/// Counted pieces of any bytes.
#[derive(Debug, Default)]
pub(super) struct LongPieceMap {
    table: HashTable<LongPiece>,
    arena: Vec<u8>,
}

/// A copy; unwinds with [`OutOfMemory`](crate::error::OutOfMemory).
impl Clone for LongPieceMap {
    fn clone(&self) -> Self {
        let pieces = memory::collect(self.table.iter().copied());
        Self::from_parts(&pieces, memory::copied(&self.arena))
    }
}

impl LongPieceMap {
    /// Number of pieces.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        (size_of::<LongPiece>() + 1) * self.table.capacity() + self.arena.capacity()
    }

    /// Counts a piece.
    #[inline(never)]
    pub(super) fn add(&mut self, piece: &[u8], counted: Counted) {
        let hash = SeededState.hash_one(piece);
        let arena = &mut self.arena;
        let same = |entry: &LongPiece| entry.hash == hash && &arena[entry.range()] == piece;
        if let Some(entry) = self.table.find_mut(hash, same) {
            entry.counted.absorb(counted);
            return;
        }
        let entry = LongPiece {
            start: arena.len(),
            length: piece.len(),
            hash,
            counted,
        };
        arena.with_room(piece.len());
        memory::reserve_entry(&mut self.table, |entry| entry.hash);
        arena.extend_from_slice(piece);
        self.table.insert_unique(hash, entry, |entry| entry.hash);
    }

    /// Calls `visit` with each piece and its count, which is 0 from then on.
    pub(super) fn drain(&mut self, mut visit: impl FnMut(&[u8], Counted)) {
        for entry in self
            .table
            .iter_mut()
            .filter(|entry| entry.counted.count > 0)
        {
            visit(&self.arena[entry.range()], entry.counted);
            entry.counted.count = 0;
        }
    }

    /// Iterates over all pieces with their counts, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Counted)> {
        let piece = |entry: &LongPiece| (&self.arena[entry.range()], entry.counted);
        self.table.iter().map(piece)
    }

    /// Takes the map apart into its pieces and their bytes.
    pub(super) fn into_parts(self) -> (Vec<LongPiece>, Vec<u8>) {
        (memory::collect(self.table), self.arena)
    }

    /// Puts the parts together again.
    pub(super) fn from_parts(pieces: &[LongPiece], arena: Vec<u8>) -> Self {
        let mut table = memory::hash_table(pieces.len());
        for piece in pieces {
            table.insert_unique(piece.hash, *piece, |piece| piece.hash);
        }
        Self { table, arena }
    }
}
