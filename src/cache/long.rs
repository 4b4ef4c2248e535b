//! Longer pieces → their ids: a bucket of slots by hash, then one record of ids and bytes.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::key::LONGEST_WHOLE;
use crate::token::TokenId;
use crate::util::memory;

/// One cache line of slots.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket([u64; 8]);

/// Pieces by hash. Grows with what is kept and is emptied when full.
#[derive(Debug, Default)]
pub(super) struct LongPieces {
    /// A slot is the upper half of a piece's hash and where its record starts, plus one; 0 is empty.
    buckets: Vec<Bucket>,
    filled: usize,
    /// Records: how many ids and bytes there are, the ids, the bytes in little-endian numbers.
    records: Vec<u32>,
    /// Whether there are pieces that lines could hold, had they fewer ids.
    has_shorter: bool,
}

const FEWEST_BUCKETS: usize = 1 << 7;
const LENGTH_BITS: u32 = 16;

impl LongPieces {
    /// How many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Bucket>() * self.buckets.capacity() + 4 * self.records.capacity()
    }

    /// The bucket that may hold a piece.
    #[inline]
    fn bucket_of(&self, hash: u64) -> usize {
        (hash >> 32) as usize & self.buckets.len().wrapping_sub(1)
    }

    /// Asks for the bucket of a hash to be brought near.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.buckets.get(self.bucket_of(hash)) {
            memory::prefetch(bucket);
        }
    }

    /// Asks for the record that a hash leads to, if there is one; most are no longer than this.
    pub(super) fn prefetch_record(&self, hash: u64) {
        const WORDS: usize = 64 / size_of::<u32>();
        let start = self.find(hash).unwrap_or(usize::MAX);
        let record = self.records.get(start..).unwrap_or_default();
        for word in record.iter().step_by(WORDS).take(3) {
            memory::prefetch(word);
        }
    }

    /// Whether there are pieces that lines could hold, had they fewer ids.
    #[inline]
    pub(super) fn has_shorter(&self) -> bool {
        self.has_shorter
    }

    /// Where the record is that the hash leads to.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn find(&self, hash: u64) -> Option<usize> {
        let bucket = self.buckets.get(self.bucket_of(hash))?;
        let same = |slot: &&u64| **slot >> 32 == hash >> 32 && **slot != 0;
        let &slot = bucket.0.iter().find(same)?;
        Some((slot as u32).wrapping_sub(1) as usize)
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
    pub(super) fn insert(&mut self, piece: &[u8], ids: &[TokenId], most: usize) {
        let hash = hash(piece);
        let words = 1 + ids.len() + piece.len().div_ceil(4);
        let (Ok(length), Ok(count)) = (u16::try_from(piece.len()), u16::try_from(ids.len())) else {
            return;
        };
        let memory = |buckets: usize, words: usize| size_of::<Bucket>() * buckets + 8 * words;
        // Vectors double: at most this many bytes are reserved then.
        if memory(self.buckets.len(), self.records.len() + words) > most {
            *self = Self::default();
        }
        if self.filled >= 4 * self.buckets.len() {
            let larger = (2 * self.buckets.len()).max(FEWEST_BUCKETS);
            if memory(larger, self.records.len()) <= most || self.buckets.is_empty() {
                let empty = vec![Bucket::default(); larger];
                let before = std::mem::replace(&mut self.buckets, empty);
                self.filled = 0;
                for slot in before.iter().flat_map(|bucket| bucket.0) {
                    if slot != 0 {
                        self.place(slot);
                    }
                }
            }
        }
        let Ok(start) = u32::try_from(self.records.len() + 1) else {
            return;
        };
        self.has_shorter |= piece.len() <= LONGEST_WHOLE;
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

    /// Puts an entry into its bucket, over another if that is full.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    fn place(&mut self, entry: u64) {
        let bucket = self.bucket_of(entry);
        let start = (entry as u32) as usize;
        let slots = &mut self.buckets[bucket].0;
        let empty = slots.iter_mut().find(|slot| **slot == 0);
        self.filled += usize::from(empty.is_some());
        match empty {
            Some(slot) => *slot = entry,
            None => slots[start % 8] = entry,
        }
    }
}

/// The bytes after the last whole number, filled up with 0.
fn last_word(rest: &[u8]) -> u32 {
    rest.iter()
        .rev()
        .fold(0, |word, &byte| (word << 8) | u32::from(byte))
}

/// The hash of a piece.
pub(super) fn hash(piece: &[u8]) -> u64 {
    FxBuildHasher.hash_one(piece)
}
