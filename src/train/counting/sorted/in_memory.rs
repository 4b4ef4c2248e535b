//! Pieces in memory, sorted: those of a map by their bytes, or rows by any other order.
//!
//! Chunks are sorted one by one, then merged, so that sorting can be interrupted.

use std::slice;

use super::super::Counted;
use super::super::key;
use super::super::long_pieces::LongPiece;
use super::super::piece_map::{PieceMap, PieceSlot};
use super::{PieceCursor, SortOrder, kway_merge};
use crate::checkpoint::{self, Interrupted};
use crate::error::TrainError;
use crate::util::memory::{self, Growable, LargeVec};

/// Pieces or rows that are sorted between two checkpoints: about 20 ms of work.
const CHUNK: usize = 1 << 16;

/// Calls `visit(piece, counted)` for each piece of a map, sorted by bytes. A copy is sorted: where memory ends, the map
/// still has its pieces.
pub(in crate::train::counting) fn for_each_of_map(
    map: &PieceMap,
    visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
) -> Result<(), TrainError> {
    let mut sorted = SortedPieces::new(map.clone());
    sorted.sort()?;
    kway_merge(sorted.cursors(), visit)
}

/// A map taken apart.
#[derive(Debug)]
struct SortedPieces {
    /// Sorted chunk by chunk, as are `long`.
    slots: LargeVec<PieceSlot>,
    long: Vec<LongPiece>,
    arena: Vec<u8>,
}

impl SortedPieces {
    /// Takes a map apart. The pieces are in no order yet.
    fn new(map: PieceMap) -> Self {
        let (mut slots, long) = map.into_parts();
        slots.retain(|slot| !slot.is_empty());
        let (long, arena) = long.into_parts();
        Self { slots, long, arena }
    }

    /// Sorts each chunk by bytes.
    fn sort(&mut self) -> Result<(), Interrupted> {
        for chunk in self.slots.chunks_mut(CHUNK) {
            checkpoint::pass()?;
            chunk.sort_unstable_by_key(|slot| key::sort_key(slot.key));
        }
        let bytes = |piece: &LongPiece| &self.arena[piece.range()];
        for chunk in self.long.chunks_mut(CHUNK) {
            checkpoint::pass()?;
            chunk.sort_unstable_by(|left, right| bytes(left).cmp(bytes(right)));
        }
        Ok(())
    }

    /// Returns a cursor for each sorted chunk.
    fn cursors(&self) -> Vec<ChunkCursor<'_>> {
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
struct ChunkCursor<'a> {
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

/// Pieces with their counts, to be sorted by any order but that of their bytes.
#[derive(Debug, Default)]
pub(in crate::train::counting) struct SortBuffer {
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
    pub(in crate::train::counting) fn push(&mut self, piece: &[u8], counted: Counted) {
        self.rows.with_room(1).push(SortRow {
            counted,
            start: self.bytes.len(),
            length: piece.len(),
        });
        self.bytes.with_room(piece.len()).extend_from_slice(piece);
    }

    /// Calls `visit(piece, counted)` for at least the first `most` pieces of an order, if there are as many,
    /// until it fails.
    pub(in crate::train::counting) fn for_each_sorted(
        &mut self,
        order: SortOrder,
        most: usize,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        debug_assert!(order != SortOrder::Bytes, "rows are sorted by their counts");
        for chunk in self.rows.chunks_mut(CHUNK) {
            checkpoint::pass()?;
            chunk.sort_unstable_by_key(|row| order.sort_key(&[], row.counted));
        }
        let cursors = self.rows.chunks(CHUNK).map(|rows| RowCursor {
            bytes: &self.bytes,
            order,
            rest: &rows[..most.min(rows.len())],
            current: None,
        });
        kway_merge(memory::collect(cursors), visit)
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
