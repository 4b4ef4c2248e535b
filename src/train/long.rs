//! Pieces that are found by a hash → how often they occur, and where first.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;

use super::table::Counted;
use crate::util::hash::Secret;

/// A piece as it was counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    start: usize,
    length: usize,
    /// Of its bytes: those of the arena are far away.
    hash: u64,
    counted: Counted,
}

impl Record {
    /// Where its bytes are in the arena.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }

    pub(super) fn counted(&self) -> Counted {
        self.counted
    }
}

/// Counted pieces of any bytes, which are kept in an arena.
#[derive(Clone, Debug, Default)]
pub(super) struct LongPieces {
    records: HashTable<Record>,
    arena: Vec<u8>,
}

impl LongPieces {
    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// How many bytes they have.
    pub(super) fn bytes(&self) -> usize {
        self.arena.len()
    }

    /// How many bytes they take.
    pub(super) fn memory(&self) -> usize {
        (size_of::<Record>() + 1) * self.records.capacity() + self.arena.capacity()
    }

    /// The most bytes they take while so many more are added that have so many bytes in all.
    pub(super) fn memory_with(&self, pieces: usize, bytes: usize) -> usize {
        let records = grown(self.records.capacity(), self.len() + pieces);
        (size_of::<Record>() + 1) * records + grown(self.arena.capacity(), self.bytes() + bytes)
    }

    /// Counts a piece.
    #[inline(never)]
    pub(super) fn add(&mut self, piece: &[u8], counted: Counted) {
        let hash = Secret.hash_one(piece);
        let arena = &mut self.arena;
        let same = |record: &Record| record.hash == hash && &arena[record.range()] == piece;
        if let Some(record) = self.records.find_mut(hash, same) {
            let there = &mut record.counted;
            there.count += counted.count;
            there.first = there.first.min(counted.first);
            return;
        }
        let record = Record {
            start: arena.len(),
            length: piece.len(),
            hash,
            counted,
        };
        arena.extend_from_slice(piece);
        self.records
            .insert_unique(hash, record, |record| record.hash);
    }

    /// All pieces, each with how it was counted.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Counted)> {
        let piece = |record: &Record| (&self.arena[record.range()], record.counted);
        self.records.iter().map(piece)
    }

    /// The pieces, and their bytes.
    pub(super) fn into_parts(self) -> (Vec<Record>, Vec<u8>) {
        (self.records.into_iter().collect(), self.arena)
    }

    /// These again.
    pub(super) fn from_parts(parts: &[Record], arena: Vec<u8>) -> Self {
        let mut records = HashTable::new();
        for record in parts {
            records.insert_unique(record.hash, *record, |record| record.hash);
        }
        Self { records, arena }
    }
}

/// The most room for values there is while room for more is made: the old and the new are there at once.
pub(super) fn grown(has: usize, needs: usize) -> usize {
    if needs <= has {
        has
    } else {
        has + needs.max(2 * has)
    }
}
