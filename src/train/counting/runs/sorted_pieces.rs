//! The pieces of a map, sorted in its own memory.

use std::slice;

use super::super::counted::Counted;
use super::super::key;
use super::super::long_pieces::{LongPiece, LongPieceMap};
use super::super::piece_map::{PieceMap, PieceSlot};
use super::kway_merge::{PieceCursor, SortOrder};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::util::memory::{self, LargeVec};

/// Pieces that are sorted between two checkpoints: about 20 ms of work.
const CHUNK: usize = 1 << 16;

/// A map taken apart.
#[derive(Debug)]
pub(super) struct SortedPieces {
    /// Sorted chunk by chunk, as are `long`.
    slots: LargeVec<PieceSlot>,
    long: Vec<LongPiece>,
    arena: Vec<u8>,
}

impl SortedPieces {
    /// Takes a map apart. The pieces are in no order yet.
    pub(super) fn new(map: PieceMap) -> Self {
        let (mut slots, long) = map.into_parts();
        slots.retain(|slot| !slot.is_empty());
        let (long, arena) = long.into_parts();
        Self { slots, long, arena }
    }

    /// Makes the map again.
    pub(super) fn into_map(self) -> PieceMap {
        let long = LongPieceMap::from_parts(&self.long, self.arena);
        PieceMap::from_parts(&self.slots, long)
    }

    /// Sorts each chunk by bytes.
    pub(super) fn sort(&mut self, checkpoint: &dyn Checkpoint) -> Result<(), Interrupted> {
        for chunk in self.slots.chunks_mut(CHUNK) {
            checkpoint::pass(checkpoint)?;
            chunk.sort_unstable_by_key(|slot| key::sort_key(slot.key));
        }
        let bytes = |piece: &LongPiece| &self.arena[piece.range()];
        for chunk in self.long.chunks_mut(CHUNK) {
            checkpoint::pass(checkpoint)?;
            chunk.sort_unstable_by(|left, right| bytes(left).cmp(bytes(right)));
        }
        Ok(())
    }

    /// Returns a cursor for each sorted chunk.
    pub(super) fn cursors(&self) -> Vec<ChunkCursor<'_>> {
        let slots = self.slots.chunks(CHUNK);
        let slots = slots.map(|slots| Chunk::Short(slots.iter()));
        let long = self.long.chunks(CHUNK);
        let long = long.map(|pieces| Chunk::Long(pieces.iter(), &self.arena));
        let cursor = |chunk| ChunkCursor {
            chunk,
            sort_key: 0,
            short: [0; key::MAX_KEY_LEN],
            piece: Piece::Short(0),
            counted: Counted::NONE,
        };
        memory::collect(slots.chain(long).map(cursor))
    }
}

/// Reads a sorted chunk.
#[derive(Debug)]
pub(super) struct ChunkCursor<'a> {
    chunk: Chunk<'a>,
    sort_key: u128,
    short: [u8; key::MAX_KEY_LEN],
    piece: Piece<'a>,
    counted: Counted,
}

#[derive(Debug)]
enum Chunk<'a> {
    Short(slice::Iter<'a, PieceSlot>),
    Long(slice::Iter<'a, LongPiece>, &'a [u8]),
}

/// The bytes of the current piece.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    /// The first bytes of `short`.
    Short(usize),
    Long(&'a [u8]),
}

impl PieceCursor for ChunkCursor<'_> {
    fn sort_key(&self) -> u128 {
        self.sort_key
    }

    fn piece(&self) -> &[u8] {
        match self.piece {
            Piece::Short(length) => &self.short[..length],
            Piece::Long(piece) => piece,
        }
    }

    fn counted(&self) -> Counted {
        self.counted
    }

    fn advance(&mut self) -> Result<bool, TrainError> {
        match &mut self.chunk {
            Chunk::Short(slots) => {
                let Some(slot) = slots.next() else {
                    return Ok(false);
                };
                let (bytes, length) = key::decode(slot.key);
                self.short = bytes;
                self.piece = Piece::Short(length);
                self.counted = slot.counted();
            }
            Chunk::Long(pieces, arena) => {
                let Some(piece) = pieces.next() else {
                    return Ok(false);
                };
                self.piece = Piece::Long(&arena[piece.range()]);
                self.counted = piece.counted();
            }
        }
        self.sort_key = SortOrder::Bytes.sort_key(self.piece(), self.counted);
        Ok(true)
    }
}
