//! Pieces → how often they occur, and where first.
//!
//! A piece of at most 16 bytes is its own key, in slots of half a cache line. Pieces come in batches, so that all slots of
//! a batch are asked for before the first is looked into.

use super::key::{self, LONGEST_WHOLE};
use super::long::{LongPieces, grown};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::util::hash;
use crate::util::memory::{self, LargeVec, Zeros};

/// A short piece. An empty slot has the key 0 and the count 0, and no piece has either.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct Slot {
    pub(super) key: u128,
    pub(super) count: u64,
    first: u64,
}

#[expect(unsafe_code, reason = "a fresh table is not touched")]
// SAFETY: it consists of numbers.
unsafe impl Zeros for Slot {}

impl Slot {
    pub(super) fn counted(&self) -> Counted {
        Counted {
            count: self.count,
            first: self.first,
        }
    }
}

/// A piece as it was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// How often it occurs.
    pub(super) count: u64,
    /// Its first place among all pieces.
    pub(super) first: u64,
}

impl Counted {
    /// The same, so much later.
    pub(super) fn later(self, later: u64) -> Self {
        Self {
            first: self.first + later,
            ..self
        }
    }
}

/// A short piece on its way into a table: its slot was asked for, and the mixed key is not worked out again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spot {
    key: u128,
    mixed: u64,
    first: u64,
}

/// Counted pieces. The caller sees to it that all counts together are below 2^64.
#[derive(Clone, Debug)]
pub(super) struct Table {
    slots: LargeVec<Slot>,
    /// Shifts a mixed key down to the number of a slot.
    shift: u32,
    /// What keys are mixed with.
    secret: [u64; 2],
    filled: usize,
    /// Those that are longer, or have a byte 0xFF, which no key has.
    long: LongPieces,
}

const FEWEST_LOG2: u32 = 10;

/// The most slots that a table starts with: 4 MiB. To grow up to that costs as much fresh memory again, most of a
/// millisecond for each MiB of it on some machines.
const MOST_AT_FIRST_LOG2: u32 = 17;

/// Bytes of text for each slot that a table starts with. English has a piece that was not there before for each 55 of
/// its first million bytes, and fewer later.
const BYTES_A_SLOT: usize = 64;

/// Slots that lie together and are looked at together, as a power of two: some cache lines.
const BLOCK_LOG2: u32 = 3;

/// Blocks whose pieces go to another table together, so that its slots are asked for first.
const BLOCKS: usize = 16;

/// Slots looked at between two checkpoints.
const STRETCH: usize = 1 << 16;

impl Default for Table {
    fn default() -> Self {
        Self::with_slots(FEWEST_LOG2)
    }
}

impl Table {
    /// An empty table for the pieces of a text of so many bytes.
    pub(super) fn for_text(bytes: usize) -> Self {
        let log2 = (bytes / BYTES_A_SLOT).next_power_of_two().ilog2();
        Self::with_slots(log2.clamp(FEWEST_LOG2, MOST_AT_FIRST_LOG2))
    }

    /// An empty table of 2^`log2` slots.
    fn with_slots(log2: u32) -> Self {
        Self {
            slots: memory::zeros(1 << log2),
            shift: 64 - log2,
            secret: *hash::NUMBERS,
            filled: 0,
            long: LongPieces::default(),
        }
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.filled + self.long.len()
    }

    /// How many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Slot>() * self.slots.capacity() + self.long.memory()
    }

    /// How many bytes its long pieces have.
    pub(super) fn long_bytes(&self) -> usize {
        self.long.bytes()
    }

    /// The most bytes it takes while so many more pieces are added that have so many bytes in all.
    pub(super) fn memory_with(&self, pieces: usize, bytes: usize) -> usize {
        let long = pieces.min(bytes / LONGEST_WHOLE + 1);
        size_of::<Slot>() * grown(self.slots.len(), self.slots_for(pieces))
            + self.long.memory_with(long, bytes)
    }

    /// An empty table in place of one that has no room for so many more pieces within so many bytes.
    pub(super) fn emptied(slots: usize, limit: usize) -> Self {
        // A part is left for long pieces.
        let most = limit / 4 * 3 / size_of::<Slot>();
        let log2 = slots.min(most).checked_ilog2().unwrap_or_default();
        Self::with_slots(log2.max(FEWEST_LOG2))
    }

    /// How many slots there are if so many more short pieces are added.
    pub(super) fn slots_for(&self, more: usize) -> usize {
        let least = (3 * (self.filled + more)).div_ceil(2);
        self.slots.len().max(least.next_power_of_two())
    }

    /// Slots, many of which are empty, and the longer pieces.
    pub(super) fn into_parts(self) -> (LargeVec<Slot>, LongPieces) {
        (self.slots, self.long)
    }

    /// The table of these, no piece being there twice.
    pub(super) fn from_parts(slots: &[Slot], long: LongPieces) -> Self {
        // All at once, for they may be in the order that they lay in.
        let mut table = Self::default();
        let wanted = table.slots_for(slots.len());
        table = Self::with_slots(wanted.ilog2());
        for slot in slots.iter().filter(|slot| slot.count > 0) {
            table.make_room(1);
            table.add_short(slot.key, table.mixed(slot.key), slot.counted());
        }
        table.long = long;
        table
    }

    /// What asking for slots needs, borrowed once for many.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View {
            slots: &self.slots,
            shift: self.shift,
            secret: self.secret,
        }
    }

    /// Counts short pieces, each once, in order: what is there already was before them all.
    pub(super) fn count(&mut self, spots: &[Spot]) {
        self.make_room(spots.len());
        let shift = self.shift;
        for spot in spots {
            match self.slots.get_mut(slot(spot.mixed, shift)) {
                Some(there) if there.key == spot.key => {
                    debug_assert!(there.first < spot.first, "pieces come in order");
                    there.count += 1;
                }
                Some(there) if there.key == 0 => {
                    *there = Slot {
                        key: spot.key,
                        count: 1,
                        first: spot.first,
                    };
                    self.filled += 1;
                }
                _ => self.count_elsewhere(spot),
            }
        }
    }

    /// Counts a piece that is not in its first slot.
    #[inline(never)]
    fn count_elsewhere(&mut self, spot: &Spot) {
        let first = spot.first;
        self.add_short(spot.key, spot.mixed, Counted { count: 1, first });
    }

    /// Counts a piece of any bytes.
    pub(super) fn add(&mut self, piece: &[u8], counted: Counted) {
        if counted.count == 0 {
            return;
        }
        match key::of_piece(piece, &(0..piece.len())) {
            Some(key) if !piece.contains(&0xFF) => {
                self.make_room(1);
                self.add_short(key, self.mixed(key), counted);
            }
            _ => self.add_long(piece, counted),
        }
    }

    /// Counts what `other` has counted, its places being `later` than here.
    pub(super) fn merge(
        &mut self,
        other: &Self,
        later: u64,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        let blocks = other.slots.len() >> BLOCK_LOG2;
        for start in (0..blocks).step_by(BLOCKS) {
            if start % (STRETCH >> BLOCK_LOG2) == 0 {
                checkpoint::pass(checkpoint)?;
            }
            let numbers = start..blocks.min(start + BLOCKS);
            let slots = numbers.flat_map(|number| other.block(number));
            let slots = slots.filter(|slot| slot.count > 0);
            for slot in slots.clone() {
                self.view().ask_for(self.mixed(slot.key));
            }
            for slot in slots {
                self.make_room(1);
                let counted = slot.counted().later(later);
                self.add_short(slot.key, self.mixed(slot.key), counted);
            }
        }
        for (piece, counted) in other.long.iter() {
            self.add_long(piece, counted.later(later));
        }
        Ok(())
    }

    /// The blocks of all slots, in an order whose every beginning has blocks from everywhere: by their numbers, the bits
    /// reversed. In the order that they lie in, the first pieces would crowd at the beginning of a smaller table that they
    /// are added to, each walking over those before: a million took a minute.
    fn block(&self, number: usize) -> &[Slot] {
        let blocks_log2 = self.slots.len().ilog2() - BLOCK_LOG2;
        let block = number.reverse_bits() >> (usize::BITS - blocks_log2);
        &self.slots[block << BLOCK_LOG2..(block + 1) << BLOCK_LOG2]
    }

    /// `visit(piece, counted)` for every piece, in no particular order, until it fails.
    pub(super) fn for_each(
        &self,
        checkpoint: &dyn Checkpoint,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        self.for_each_of(0, 1, checkpoint, visit)
    }

    /// As [`for_each`](Self::for_each), for one of `shares` shares of the pieces. Each has as many short and as many long
    /// ones as the others, about.
    pub(super) fn for_each_of(
        &self,
        share: usize,
        shares: usize,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let blocks = self.slots.len() >> BLOCK_LOG2;
        for number in blocks * share / shares..blocks * (share + 1) / shares {
            if number % (STRETCH >> BLOCK_LOG2) == 0 {
                checkpoint::pass(checkpoint)?;
            }
            for slot in self.block(number).iter().filter(|slot| slot.count > 0) {
                let (bytes, length) = key::piece(slot.key);
                visit(&bytes[..length], slot.counted())?;
            }
        }
        let long = self.long.iter().skip(share).step_by(shares);
        for (number, (piece, counted)) in long.enumerate() {
            if number % STRETCH == 0 {
                checkpoint::pass(checkpoint)?;
            }
            visit(piece, counted)?;
        }
        Ok(())
    }

    #[inline]
    fn mixed(&self, key: u128) -> u64 {
        hash::mix(key, self.secret)
    }

    /// Counts a short piece. There is an empty slot.
    #[inline]
    fn add_short(&mut self, key: u128, mixed: u64, counted: Counted) {
        let mask = self.slots.len() - 1;
        let own = slot(mixed, self.shift);
        let mut slot = own;
        while self.slots[slot].key != key && self.slots[slot].key != 0 {
            slot = (slot + 1) & mask;
        }
        let there = &mut self.slots[slot];
        if there.key == 0 {
            self.filled += 1;
            *there = Slot {
                key,
                count: counted.count,
                first: counted.first,
            };
            return;
        }
        there.count += counted.count;
        there.first = there.first.min(counted.first);
        // Frequent pieces are found at once then, which the processor foresees. What they take the place of is found as well:
        // no slot in between is empty.
        if there.count > self.slots[own].count {
            self.slots.swap(own, slot);
        }
    }

    /// Counts a piece that is no short one.
    pub(super) fn add_long(&mut self, piece: &[u8], counted: Counted) {
        self.long.add(piece, counted);
    }

    /// Makes room for so many more short pieces, keeping a third of the slots empty.
    #[inline]
    fn make_room(&mut self, more: usize) {
        while 3 * (self.filled + more) > 2 * self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let larger = memory::zeros(2 * self.slots.len());
        let smaller = std::mem::replace(&mut self.slots, larger);
        self.shift -= 1;
        let mask = self.slots.len() - 1;
        for before in smaller.iter().filter(|slot| slot.count > 0) {
            let mut slot = slot(self.mixed(before.key), self.shift);
            while self.slots[slot & mask].count > 0 {
                slot += 1;
            }
            self.slots[slot & mask] = *before;
        }
    }
}

/// What is asked for where there is no slot.
static NOWHERE: Slot = Slot {
    key: 0,
    count: 0,
    first: 0,
};

/// [`Table::view`].
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    slots: &'a [Slot],
    shift: u32,
    secret: [u64; 2],
}

impl View<'_> {
    /// Where a short piece goes, whose slot is asked for.
    #[inline]
    pub(super) fn spot(&self, key: u128, first: u64) -> Spot {
        let mixed = hash::mix(key, self.secret);
        self.ask_for(mixed);
        Spot { key, mixed, first }
    }

    /// Asks for the slot of a mixed key to be brought near.
    #[inline]
    fn ask_for(&self, mixed: u64) {
        // Asking only where there is a slot came with moves of many registers: 15 instructions a piece.
        let slot = self.slots.get(slot(mixed, self.shift));
        memory::prefetch(slot.unwrap_or(&NOWHERE));
    }
}

/// The number of a slot.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to the number of a slot"
)]
fn slot(mixed: u64, shift: u32) -> usize {
    (mixed >> shift) as usize
}
