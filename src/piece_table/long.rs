//! Longer pieces → their ids: a slot by hash, then one record of ids and bytes.

use super::prefetch::prefetch;
use crate::token::TokenId;

/// Pieces by hash. Grows with what is kept and is emptied when full.
#[derive(Debug, Default)]
pub(super) struct LongPieces {
    /// The upper half of a piece's hash and where its record starts, plus one; 0 is empty.
    slots: Vec<u64>,
    filled: usize,
    /// Records: how many ids and bytes there are, the ids, the bytes in little-endian numbers.
    records: Vec<u32>,
}

const FEWEST_SLOTS: usize = 1 << 10;
const LENGTH_BITS: u32 = 16;

impl LongPieces {
    /// How many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        8 * self.slots.capacity() + 4 * self.records.capacity()
    }

    /// The two slots that may hold a piece: neighbours.
    #[inline]
    fn slots_of(&self, hash: u64) -> [usize; 2] {
        let slot = (hash >> 32) as usize & self.slots.len().wrapping_sub(1);
        [slot, slot ^ 1]
    }

    /// Asks for the slots of a hash to be brought near.
    #[inline]
    pub(super) fn prefetch_slots(&self, hash: u64) {
        if let Some(slot) = self.slots.get(self.slots_of(hash)[0]) {
            prefetch(slot);
        }
    }

    /// Asks for the record that a hash leads to, if any, to be brought near.
    #[inline]
    pub(super) fn prefetch_record(&self, hash: u64) {
        if let Some(record) = self.find(hash).and_then(|start| self.records.get(start)) {
            prefetch(record);
        }
    }

    /// Where the record is that the hash leads to.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn find(&self, hash: u64) -> Option<usize> {
        self.slots_of(hash).into_iter().find_map(|slot| {
            let &slot = self.slots.get(slot)?;
            let same = slot >> 32 == hash >> 32 && slot != 0;
            same.then(|| (slot as u32).wrapping_sub(1) as usize)
        })
    }

    /// The ids of a piece, whose hash is `hash`.
    pub(super) fn get(&self, hash: u64, piece: &[u8]) -> Option<&[TokenId]> {
        let start = self.find(hash)?;
        let &lengths = self.records.get(start)?;
        let ids = start + 1..start + 1 + (lengths >> LENGTH_BITS) as usize;
        if lengths as usize & ((1 << LENGTH_BITS) - 1) != piece.len() {
            return None;
        }
        let bytes = self
            .records
            .get(ids.end..ids.end + piece.len().div_ceil(4))?;
        let (words, rest) = piece.as_chunks::<4>();
        let same = words
            .iter()
            .zip(bytes)
            .all(|(word, &kept)| u32::from_le_bytes(*word) == kept);
        let same = same && (rest.is_empty() || bytes.last() == Some(&last_word(rest)));
        if same { self.records.get(ids) } else { None }
    }

    /// Remembers the ids of a piece, forgetting all others if that would take more than `most` bytes.
    pub(super) fn insert(&mut self, hash: u64, piece: &[u8], ids: &[TokenId], most: usize) {
        let words = 1 + ids.len() + piece.len().div_ceil(4);
        let (Ok(length), Ok(count)) = (u16::try_from(piece.len()), u16::try_from(ids.len())) else {
            return;
        };
        // Vectors double: at most this many bytes are reserved then.
        if 8 * (self.records.len() + words) + 8 * self.slots.len() > most {
            *self = Self::default();
        }
        if 2 * self.filled >= self.slots.len() {
            let larger = (2 * self.slots.len()).max(FEWEST_SLOTS);
            if 8 * larger + 8 * self.records.len() <= most || self.slots.is_empty() {
                let slots = std::mem::replace(&mut self.slots, vec![0; larger]);
                self.filled = 0;
                for slot in slots.into_iter().filter(|&slot| slot != 0) {
                    self.place(slot);
                }
            }
        }
        let Ok(start) = u32::try_from(self.records.len() + 1) else {
            return;
        };
        self.records
            .push(u32::from(length) | u32::from(count) << LENGTH_BITS);
        self.records.extend_from_slice(ids);
        let (words, rest) = piece.as_chunks::<4>();
        self.records
            .extend(words.iter().map(|word| u32::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.records.push(last_word(rest));
        }
        self.place((hash >> 32 << 32) | u64::from(start));
    }

    /// Puts an entry into one of its slots, over another if both are taken.
    fn place(&mut self, entry: u64) {
        let [first, second] = self.slots_of(entry);
        let slot = if self.slots[first] != 0 && self.slots[second] == 0 {
            second
        } else {
            first
        };
        self.filled += usize::from(self.slots[slot] == 0);
        self.slots[slot] = entry;
    }
}

/// The bytes after the last whole number, filled up with 0.
fn last_word(rest: &[u8]) -> u32 {
    rest.iter()
        .rev()
        .fold(0, |word, &byte| (word << 8) | u32::from(byte))
}
