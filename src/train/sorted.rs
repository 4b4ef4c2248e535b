//! The pieces of a table in order, sorted where they are.

use std::slice;

use super::key;
use super::long::{LongPieces, Record};
use super::ordered::{Cursor, Order};
use super::table::{Counted, Slot, Table};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::util::memory::LargeVec;

/// Pieces sorted between two checkpoints: some 20 ms of work.
const STRETCH: usize = 1 << 16;

/// A table taken apart.
#[derive(Debug)]
pub(super) struct Sorted {
    /// Stretches of these are in order, each for itself.
    slots: LargeVec<Slot>,
    records: Vec<Record>,
    arena: Vec<u8>,
}

impl Sorted {
    /// Takes a table apart.
    pub(super) fn new(table: Table) -> Self {
        let (mut slots, long) = table.into_parts();
        slots.retain(|slot| slot.count > 0);
        let (records, arena) = long.into_parts();
        Self {
            slots,
            records,
            arena,
        }
    }

    /// The table again.
    pub(super) fn into_table(self) -> Table {
        let long = LongPieces::from_parts(&self.records, self.arena);
        Table::from_parts(&self.slots, long)
    }

    /// Sorts all stretches.
    pub(super) fn sort(&mut self, checkpoint: &dyn Checkpoint) -> Result<(), Interrupted> {
        for stretch in self.slots.chunks_mut(STRETCH) {
            checkpoint::pass(checkpoint)?;
            stretch.sort_unstable_by_key(|slot| key::ordered(slot.key));
        }
        let bytes = |record: &Record| &self.arena[record.range()];
        for stretch in self.records.chunks_mut(STRETCH) {
            checkpoint::pass(checkpoint)?;
            stretch.sort_unstable_by(|left, right| bytes(left).cmp(bytes(right)));
        }
        Ok(())
    }

    /// A cursor for each stretch.
    pub(super) fn cursors(&self) -> Vec<Stretch<'_>> {
        let slots = self
            .slots
            .chunks(STRETCH)
            .map(|slots| Entries::Short(slots.iter()));
        let records = self.records.chunks(STRETCH);
        let records = records.map(|records| Entries::Long(records.iter(), &self.arena));
        let cursor = |entries| Stretch {
            entries,
            number: 0,
            short: [0; key::LONGEST_WHOLE],
            piece: Piece::Short(0),
            counted: Counted { count: 0, first: 0 },
        };
        slots.chain(records).map(cursor).collect()
    }
}

/// Walks over a stretch.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    entries: Entries<'a>,
    number: u128,
    short: [u8; key::LONGEST_WHOLE],
    piece: Piece<'a>,
    counted: Counted,
}

#[derive(Debug)]
enum Entries<'a> {
    Short(slice::Iter<'a, Slot>),
    Long(slice::Iter<'a, Record>, &'a [u8]),
}

/// Where the bytes of a piece are.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    /// As many of those of the cursor.
    Short(usize),
    Long(&'a [u8]),
}

impl Cursor for Stretch<'_> {
    fn number(&self) -> u128 {
        self.number
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
        match &mut self.entries {
            Entries::Short(slots) => {
                let Some(slot) = slots.next() else {
                    return Ok(false);
                };
                let (bytes, length) = key::piece(slot.key);
                self.short = bytes;
                self.piece = Piece::Short(length);
                self.counted = slot.counted();
            }
            Entries::Long(records, arena) => {
                let Some(record) = records.next() else {
                    return Ok(false);
                };
                self.piece = Piece::Long(&arena[record.range()]);
                self.counted = record.counted();
            }
        }
        self.number = Order::Bytes.number(self.piece(), self.counted);
        Ok(true)
    }
}
