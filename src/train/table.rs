//! Pieces → how often they occur, and where first.
//!
//! A piece of at most 16 bytes is its own key, in slots of half a cache line; longer ones are found by a hash, their
//! bytes kept in an arena. Pieces come in batches, so that all slots of a batch are asked for before the first is looked
//! into.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;

use super::key::{self, LONGEST_WHOLE};
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::error::TrainError;
use crate::memory;
use crate::secret::{self, Secret};

/// A short piece. No piece occurs 0 times: that is an empty slot.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct Slot {
    pub(super) key: u128,
    pub(super) count: u64,
    first: u64,
}

impl Slot {
    pub(super) fn counted(&self) -> Counted {
        Counted {
            count: self.count,
            first: self.first,
        }
    }
}

/// A long piece, or a short one that has a byte 0xFF, which fills keys up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    start: usize,
    length: usize,
    count: u64,
    first: u64,
}

impl Record {
    /// Where its bytes are in the arena.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }

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

/// Counted pieces. The caller sees to it that all counts together are below 2^64.
#[derive(Clone, Debug)]
pub(super) struct Table {
    slots: Vec<Slot>,
    /// Shifts a mixed key down to the number of a slot.
    shift: u32,
    /// What keys are mixed with.
    secret: [u64; 2],
    filled: usize,
    long: HashTable<Record>,
    arena: Vec<u8>,
}

const FEWEST_LOG2: u32 = 10;

/// Slots that lie together and are looked at together, as a power of two: some cache lines.
const BLOCK_LOG2: u32 = 3;

/// Slots looked at between two checkpoints.
const STRETCH: usize = 1 << 16;

/// Pieces whose memory is asked for at once.
const BATCH: usize = 64;

impl Default for Table {
    fn default() -> Self {
        Self::with_slots(FEWEST_LOG2)
    }
}

fn empty_slots(log2: u32) -> Vec<Slot> {
    let mut slots = memory::vec_with_capacity(1 << log2);
    slots.resize(1 << log2, Slot::default());
    slots
}

impl Table {
    /// An empty table of 2^`log2` slots.
    fn with_slots(log2: u32) -> Self {
        Self {
            slots: empty_slots(log2),
            shift: 64 - log2,
            secret: *secret::NUMBERS,
            filled: 0,
            long: HashTable::new(),
            arena: Vec::new(),
        }
    }

    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.filled + self.long.len()
    }

    /// How many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Slot>() * self.slots.capacity()
            + (size_of::<Record>() + 1) * self.long.capacity()
            + self.arena.capacity()
    }

    /// How many bytes its long pieces have.
    pub(super) fn long_bytes(&self) -> usize {
        self.arena.len()
    }

    /// The most bytes it takes while so many more pieces are added that have so many bytes in all.
    pub(super) fn memory_with(&self, pieces: usize, bytes: usize) -> usize {
        // While a part grows, it is there as it was and as it will be.
        let grown = |has: usize, needs: usize| {
            if needs <= has {
                has
            } else {
                has + needs.max(2 * has)
            }
        };
        let slots = self.slots_for(pieces);
        let long = self.long.len() + pieces.min(bytes / LONGEST_WHOLE + 1);
        size_of::<Slot>() * grown(self.slots.len(), slots)
            + (size_of::<Record>() + 1) * grown(self.long.capacity(), long)
            + grown(self.arena.capacity(), self.arena.len() + bytes)
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

    /// Slots, many of which are empty, the longer pieces, and their bytes.
    pub(super) fn into_parts(self) -> (Vec<Slot>, HashTable<Record>, Vec<u8>) {
        (self.slots, self.long, self.arena)
    }

    /// The table of these, no piece being there twice.
    pub(super) fn from_parts(slots: &[Slot], records: &[Record], arena: Vec<u8>) -> Self {
        // All at once, for they may be in the order that they lay in.
        let mut table = Self::default();
        let wanted = table.slots_for(slots.len());
        table = Self::with_slots(wanted.ilog2());
        for slot in slots.iter().filter(|slot| slot.count > 0) {
            table.make_room(1);
            table.add_short(slot.key, table.slot(slot.key), slot.counted());
        }
        for record in records {
            let hash = |record: &Record| Secret.hash_one(&arena[record.range()]);
            table.long.insert_unique(hash(record), *record, hash);
        }
        table.arena = arena;
        table
    }

    /// Counts `pieces` of a text, each once. The text starts at place `base`. It is UTF-8: no byte is 0xFF.
    pub(super) fn add_pieces(&mut self, text: &[u8], pieces: &[Range<usize>], base: u64) {
        let mut keys = [(0, 0); BATCH];
        for batch in pieces.chunks(BATCH) {
            self.make_room(batch.len());
            for (place, piece) in keys.iter_mut().zip(batch) {
                let length = piece.end - piece.start;
                if length <= LONGEST_WHOLE {
                    let key = key::whole(text, piece.start, length);
                    let slot = self.slot(key);
                    memory::prefetch(&self.slots[slot]);
                    *place = (key, slot);
                }
            }
            for (&(key, slot), piece) in keys.iter().zip(batch) {
                let first = base + piece.start as u64;
                let counted = Counted { count: 1, first };
                if piece.end - piece.start <= LONGEST_WHOLE {
                    self.add_short(key, slot, counted);
                } else {
                    self.add_long(&text[piece.clone()], counted);
                }
            }
        }
    }

    /// Counts a piece of any bytes.
    pub(super) fn add(&mut self, piece: &[u8], counted: Counted) {
        if counted.count == 0 {
            return;
        }
        if piece.len() <= LONGEST_WHOLE && !piece.contains(&0xFF) {
            self.make_room(1);
            let key = key::whole(piece, 0, piece.len());
            self.add_short(key, self.slot(key), counted);
        } else {
            self.add_long(piece, counted);
        }
    }

    /// Counts what `other` has counted, its places being `later` than here.
    pub(super) fn merge(
        &mut self,
        other: &Self,
        later: u64,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), Interrupted> {
        for (number, slots) in other.blocks().enumerate() {
            if number % (STRETCH >> BLOCK_LOG2) == 0 {
                checkpoint::pass(checkpoint)?;
            }
            for slot in slots.iter().filter(|slot| slot.count > 0) {
                self.make_room(1);
                let counted = slot.counted().later(later);
                self.add_short(slot.key, self.slot(slot.key), counted);
            }
        }
        for record in &other.long {
            let counted = record.counted().later(later);
            self.add_long(&other.arena[record.range()], counted);
        }
        Ok(())
    }

    /// All slots, block by block, in an order whose every beginning has blocks from everywhere: by their numbers, the bits
    /// reversed. In the order that they lie in, the first pieces would crowd at the beginning of a smaller table that they
    /// are added to, each walking over those before: a million took a minute.
    fn blocks(&self) -> impl Iterator<Item = &[Slot]> {
        let blocks_log2 = self.slots.len().ilog2() - BLOCK_LOG2;
        (0..1_usize << blocks_log2).map(move |number| {
            let block = number.reverse_bits() >> (usize::BITS - blocks_log2);
            &self.slots[block << BLOCK_LOG2..(block + 1) << BLOCK_LOG2]
        })
    }

    /// `visit(piece, counted)` for every piece, in no particular order, until it fails.
    pub(super) fn for_each(
        &self,
        checkpoint: &dyn Checkpoint,
        mut visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        for (number, slots) in self.blocks().enumerate() {
            if number % (STRETCH >> BLOCK_LOG2) == 0 {
                checkpoint::pass(checkpoint)?;
            }
            for slot in slots.iter().filter(|slot| slot.count > 0) {
                let (bytes, length) = key::piece(slot.key);
                visit(&bytes[..length], slot.counted())?;
            }
        }
        for (number, record) in self.long.iter().enumerate() {
            if number % STRETCH == 0 {
                checkpoint::pass(checkpoint)?;
            }
            visit(&self.arena[record.range()], record.counted())?;
        }
        Ok(())
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "shifted down to the number of a slot"
    )]
    fn slot(&self, key: u128) -> usize {
        (secret::mix(key, self.secret) >> self.shift) as usize
    }

    #[inline]
    fn add_short(&mut self, key: u128, mut slot: usize, counted: Counted) {
        let mask = self.slots.len() - 1;
        loop {
            let there = &mut self.slots[slot & mask];
            if there.key == key && there.count > 0 {
                there.count += counted.count;
                there.first = there.first.min(counted.first);
                return;
            }
            if there.count == 0 {
                *there = Slot {
                    key,
                    count: counted.count,
                    first: counted.first,
                };
                self.filled += 1;
                return;
            }
            slot += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn add_long(&mut self, piece: &[u8], counted: Counted) {
        let hash = Secret.hash_one(piece);
        let arena = &mut self.arena;
        let bytes = |record: &Record| &arena[record.range()];
        if let Some(record) = self.long.find_mut(hash, |record| bytes(record) == piece) {
            record.count += counted.count;
            record.first = record.first.min(counted.first);
            return;
        }
        let record = Record {
            start: arena.len(),
            length: piece.len(),
            count: counted.count,
            first: counted.first,
        };
        arena.extend_from_slice(piece);
        let bytes = |record: &Record| &arena[record.range()];
        self.long
            .insert_unique(hash, record, |record| Secret.hash_one(bytes(record)));
    }

    /// Makes room for so many more short pieces, keeping a third of the slots empty.
    #[inline]
    fn make_room(&mut self, more: usize) {
        if 3 * (self.filled + more) > 2 * self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let larger = empty_slots(65 - self.shift);
        let smaller = std::mem::replace(&mut self.slots, larger);
        self.shift -= 1;
        let mask = self.slots.len() - 1;
        for before in smaller.iter().filter(|slot| slot.count > 0) {
            let mut slot = self.slot(before.key);
            while self.slots[slot & mask].count > 0 {
                slot += 1;
            }
            self.slots[slot & mask] = *before;
        }
    }
}
