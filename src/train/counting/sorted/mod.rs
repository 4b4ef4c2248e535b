//! Counts in the order of their pieces, and their merge.
//!
//! ```text
//! a map, or rows in memory ─► cursors           (here)
//! sorted tables of other processes ─► a run     (tables, runs)
//! 32 runs of a level ─► one of the next level   (runs)
//! several cursors ─► one piece after another    (here)
//! ```
//!
//! Merging sorted counts is the reduce step of counting on several machines: each sorts what it counted, and
//! equal pieces meet in the merge, whose memory does not depend on their number.
//!
//! Pieces in memory are sorted by their bytes, rows by any other order: chunks one by one, then merged, so that sorting
//! can be interrupted.

mod runs;

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::slice;

pub use self::runs::NextTable;
pub(super) use self::runs::{RunStore, SortedRun};
use super::Counted;
use crate::checkpoint;
use crate::checkpoint::Interrupted;
use crate::error::TrainError;
use crate::train::counting::long_pieces::LongPiece;
use crate::train::counting::piece_map;
use crate::train::counting::piece_map::{MAX_KEY_LEN, PieceMap, PieceSlot};
use crate::util::memory;
use crate::util::memory::{Growable, LargeVec};

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
            chunk.sort_unstable_by_key(|slot| piece_map::sort_key(slot.key));
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
            short: [0; piece_map::MAX_KEY_LEN],
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
    short: [u8; piece_map::MAX_KEY_LEN],
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
                let (bytes, length) = piece_map::decode(slot.key);
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
