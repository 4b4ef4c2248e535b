//! Counts by piece: a hash table with linear probing.
//!
//! A piece of at most 16 bytes is its own key, in a slot of half a cache line. Pieces come in batches, and
//! the slots of a batch are prefetched before the first of them is read.

use std::ops::Range;

use bytemuck::Zeroable;

use super::Counted;
use super::key::{self, PieceKey};
use super::long_pieces::LongPieceMap;
use crate::checkpoint::{self, Interrupted};
use crate::error::TrainError;
use crate::util::hash;
use crate::util::memory::{self, LargeVec};

/// A short piece and its count. An empty slot has the key 0 and the count 0; no piece has either.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct PieceSlot {
    pub(super) key: PieceKey,
    count: u64,
    first: u64,
}

#[expect(unsafe_code, reason = "a fresh map is not touched")]
// SAFETY: all fields are integers, of which zeros are values.
unsafe impl Zeroable for PieceSlot {}

impl PieceSlot {
    fn new(key: PieceKey, counted: Counted) -> Self {
        Self {
            key,
            count: counted.count,
            first: counted.first,
        }
    }

    /// Returns whether no piece is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The count of its piece.
    pub(super) fn counted(&self) -> Counted {
        Counted {
            count: self.count,
            first: self.first,
        }
    }
}

/// An occurrence of a short piece that is about to be counted: hashed, and its slot prefetched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountProbe {
    key: PieceKey,
    hash: u64,
    first: u64,
}

/// Counts by piece. The caller ensures that the sum of all counts fits 64 bits.
#[derive(Debug)]
pub(crate) struct PieceMap {
    slots: LargeVec<PieceSlot>,
    /// Shifts a hash down to the index of a slot.
    shift: u32,
    /// Seed of the hash.
    seed: [u64; 2],
    /// Number of slots in use.
    filled: usize,
    /// The pieces without a key: longer ones, and those with a byte 0xFF.
    long: LongPieceMap,
    /// The sum of all counts, at any time.
    total: u64,
}

const MIN_SLOTS_LOG2: u32 = 10;

/// Most slots of a new map, 4 MiB. Growing up to that size costs as much fresh memory again, most of a
/// millisecond for each MiB of it on some machines.
const MAX_INITIAL_SLOTS_LOG2: u32 = 17;

/// Bytes of text for each slot of a new map. English has a new piece for each 55 of its first million bytes,
/// and fewer later.
const BYTES_PER_SLOT: usize = 64;

/// Slots that are visited together, a few cache lines, as a power of two.
const BLOCK_LOG2: u32 = 3;

/// Blocks whose pieces are merged into another map as one batch, so that its slots are prefetched.
const BLOCKS_PER_BATCH: usize = 16;

/// Slots visited between two checkpoints.
const CHECK_INTERVAL: usize = 1 << 16;

impl Default for PieceMap {
    fn default() -> Self {
        Self::with_slots(MIN_SLOTS_LOG2)
    }
}

/// A copy; unwinds with [`OutOfMemory`](crate::error::OutOfMemory).
impl Clone for PieceMap {
    fn clone(&self) -> Self {
        let mut slots = memory::large_vec(self.slots.len());
        slots.extend_from_slice(&self.slots);
        Self {
            slots,
            long: self.long.clone(),
            ..*self
        }
    }
}

impl PieceMap {
    /// An empty map for the pieces of a text of `bytes` bytes.
    pub(super) fn for_text(bytes: usize) -> Self {
        let log2 = (bytes / BYTES_PER_SLOT).next_power_of_two().ilog2();
        Self::with_slots(log2.clamp(MIN_SLOTS_LOG2, MAX_INITIAL_SLOTS_LOG2))
    }

    /// An empty map of 2^`log2` slots.
    fn with_slots(log2: u32) -> Self {
        Self {
            slots: memory::zeros(1 << log2),
            shift: 64 - log2,
            seed: hash::seeds(),
            filled: 0,
            long: LongPieceMap::default(),
            total: 0,
        }
    }

    /// Number of pieces.
    pub(super) fn len(&self) -> usize {
        self.filled + self.long.len()
    }

    /// The sum of all counts.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<PieceSlot>() * self.slots.capacity() + self.long.memory()
    }

    /// Takes the map apart into its slots, many of them empty, and the pieces without a key.
    pub(super) fn into_parts(self) -> (LargeVec<PieceSlot>, LongPieceMap) {
        (self.slots, self.long)
    }

    /// The fields that hashing and prefetching need, in registers for a whole block.
    #[inline]
    pub(super) fn view(&self) -> PieceMapView<'_> {
        PieceMapView {
            slots: &self.slots,
            shift: self.shift,
            seed: self.seed,
        }
    }

    /// Counts one occurrence for each probe. Positions ascend, and follow those counted before.
    pub(super) fn count(&mut self, probes: &[CountProbe]) {
        self.reserve(probes.len());
        // Nothing fails from here on.
        self.total += probes.len() as u64;
        let shift = self.shift;
        for probe in probes {
            match self.slots.get_mut(home(probe.hash, shift)) {
                Some(slot) if slot.key == probe.key => {
                    debug_assert!(slot.first < probe.first, "positions ascend");
                    // See `Counted::absorb`.
                    slot.count = slot.count.wrapping_add(1);
                }
                Some(slot) if slot.key == 0 => {
                    *slot = PieceSlot {
                        key: probe.key,
                        count: 1,
                        first: probe.first,
                    };
                    self.filled += 1;
                }
                _ => self.count_displaced(probe),
            }
        }
    }

    /// Counts an occurrence of a piece that is not in its home slot.
    #[inline(never)]
    fn count_displaced(&mut self, probe: &CountProbe) {
        let first = probe.first;
        self.add_short(probe.key, probe.hash, Counted { count: 1, first });
    }

    /// Adds to the count of a piece of any bytes.
    pub(super) fn add(&mut self, piece: &[u8], counted: Counted) {
        if counted.count == 0 {
            return;
        }
        match key::of_piece(piece, &(0..piece.len())) {
            Some(key) if !piece.contains(&0xFF) => {
                self.reserve(1);
                self.total += counted.count;
                self.add_short(key, self.hash(key), counted);
            }
            _ => self.add_long(piece, counted),
        }
    }

    /// Adds to the count of a piece without a key.
    pub(super) fn add_long(&mut self, piece: &[u8], counted: Counted) {
        self.long.add(piece, counted);
        self.total += counted.count;
    }

    /// Adds all counts of `other`, whose positions are shifted by `shift`.
    pub(super) fn merge(&mut self, other: &Self, shift: u64) -> Result<(), Interrupted> {
        let blocks = other.slots.len() >> BLOCK_LOG2;
        for start in (0..blocks).step_by(BLOCKS_PER_BATCH) {
            if start % (CHECK_INTERVAL >> BLOCK_LOG2) == 0 {
                checkpoint::pass()?;
            }
            let batch = start..blocks.min(start + BLOCKS_PER_BATCH);
            let slots = batch.flat_map(|index| other.block(index));
            let slots = slots.filter(|slot| !slot.is_empty());
            for slot in slots.clone() {
                self.view().prefetch(self.hash(slot.key));
            }
            for slot in slots {
                self.reserve(1);
                let counted = slot.counted().shifted(shift);
                self.total += counted.count;
                self.add_short(slot.key, self.hash(slot.key), counted);
            }
        }
        for (piece, counted) in other.long.iter() {
            self.add_long(piece, counted.shifted(shift));
        }
        Ok(())
    }

    /// Moves all counts of `other` here. Those that were moved are 0 there, so that each is in one map at any time.
    pub(super) fn take_from(&mut self, other: &mut Self) {
        let blocks = other.slots.len() >> BLOCK_LOG2;
        for start in (0..blocks).step_by(BLOCKS_PER_BATCH) {
            let batch = start..blocks.min(start + BLOCKS_PER_BATCH);
            for index in batch.clone() {
                for slot in other.block(index).iter().filter(|slot| slot.count > 0) {
                    self.view().prefetch(self.hash(slot.key));
                }
            }
            for index in batch {
                let block = other.block_range(index);
                for slot in other.slots[block].iter_mut().filter(|slot| slot.count > 0) {
                    self.reserve(1);
                    self.total += slot.count;
                    other.total -= slot.count;
                    self.add_short(slot.key, self.hash(slot.key), slot.counted());
                    slot.count = 0;
                }
            }
        }
        let Self { long, total, .. } = other;
        long.drain(|piece, counted| {
            self.add_long(piece, counted);
            *total -= counted.count;
        });
    }

    /// The blocks of all slots, in bit-reversed order, so that every prefix of it has blocks from everywhere.
    /// In memory order, the first pieces would cluster at the beginning of a smaller map that they are added
    /// to, each probing past those before: a million pieces took a minute.
    fn block_range(&self, index: usize) -> Range<usize> {
        let blocks_log2 = self.slots.len().ilog2() - BLOCK_LOG2;
        let block = index.reverse_bits() >> (usize::BITS - blocks_log2);
        block << BLOCK_LOG2..(block + 1) << BLOCK_LOG2
    }

    fn block(&self, index: usize) -> &[PieceSlot] {
        &self.slots[self.block_range(index)]
    }

    /// Calls `visit(piece, counted)` for every piece, in no particular order, until it fails.
    pub(super) fn for_each(
        &self,
        visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        self.for_each_in_part(0, 1, visit)
    }

    /// As [`for_each`](Self::for_each), for one of `parts` parts of the pieces. Each part has about as many
    /// short and as many long pieces as any other.
    pub(crate) fn for_each_in_part(
        &self,
        part: usize,
        parts: usize,
        mut visit: impl FnMut(&[u8], Counted) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let blocks = self.slots.len() >> BLOCK_LOG2;
        for index in blocks * part / parts..blocks * (part + 1) / parts {
            if index % (CHECK_INTERVAL >> BLOCK_LOG2) == 0 {
                checkpoint::pass()?;
            }
            for slot in self.block(index).iter().filter(|slot| !slot.is_empty()) {
                let (bytes, length) = key::decode(slot.key);
                visit(&bytes[..length], slot.counted())?;
            }
        }
        let long = self.long.iter().skip(part).step_by(parts);
        for (index, (piece, counted)) in long.enumerate() {
            if index % CHECK_INTERVAL == 0 {
                checkpoint::pass()?;
            }
            visit(piece, counted)?;
        }
        Ok(())
    }

    #[inline]
    fn hash(&self, key: PieceKey) -> u64 {
        hash::hash_u128(key, self.seed)
    }

    /// Adds to the count of a short piece. The caller has [reserved](Self::reserve) a slot, and adds to the total.
    #[inline]
    fn add_short(&mut self, key: PieceKey, hash: u64, counted: Counted) {
        let mask = self.slots.len() - 1;
        let home = home(hash, self.shift);
        let mut index = home;
        while self.slots[index].key != key && self.slots[index].key != 0 {
            index = (index + 1) & mask;
        }
        let slot = &mut self.slots[index];
        if slot.key == 0 {
            self.filled += 1;
            *slot = PieceSlot::new(key, counted);
            return;
        }
        slot.count = slot.count.wrapping_add(counted.count);
        slot.first = slot.first.min(counted.first);
        // A frequent piece moves to its home slot, where the first probe finds it: a branch that is
        // predicted. The piece it displaces is still found, as no slot in between is empty.
        if slot.count > self.slots[home].count {
            self.slots.swap(home, index);
        }
    }

    /// Grows until `more` short pieces leave a third of the slots empty.
    #[inline]
    fn reserve(&mut self, more: usize) {
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
        for slot in smaller.iter().filter(|slot| !slot.is_empty()) {
            let mut index = home(self.hash(slot.key), self.shift);
            while !self.slots[index & mask].is_empty() {
                index += 1;
            }
            self.slots[index & mask] = *slot;
        }
    }
}

/// The slot that is prefetched if an index is out of range.
static NO_SLOT: PieceSlot = PieceSlot {
    key: 0,
    count: 0,
    first: 0,
};

/// The result of [`PieceMap::view`].
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceMapView<'a> {
    slots: &'a [PieceSlot],
    shift: u32,
    seed: [u64; 2],
}

impl PieceMapView<'_> {
    /// Hashes a key and prefetches its slot.
    #[inline]
    pub(super) fn probe(&self, key: PieceKey, first: u64) -> CountProbe {
        let hash = hash::hash_u128(key, self.seed);
        self.prefetch(hash);
        CountProbe { key, hash, first }
    }

    /// Prefetches the home slot of a hash.
    #[inline]
    fn prefetch(&self, hash: u64) {
        // `shift` keeps the index in range. A branch or a panic here came with moves of many registers: 15
        // instructions for each piece.
        let index = home(hash, self.shift);
        debug_assert!(index < self.slots.len());
        memory::prefetch(self.slots.get(index).unwrap_or(&NO_SLOT));
    }
}

/// Index of the slot where a hash is looked for first.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted down to the index of a slot"
)]
fn home(hash: u64, shift: u32) -> usize {
    (hash >> shift) as usize
}
