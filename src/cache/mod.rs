//! The cache of pieces: learned pieces → their ids. Most pieces of a text are found here, in one cache line.
//!
//! | bytes | a probe reads | module |
//! |---|---|---|
//! | 1–16, 17–32 | one bucket of keys and packed ids | [`bucket`] |
//! | those with more ids than their bucket has room for | the same, then the record it refers to | [`records`] |
//! | others, up to [`MAX_PIECE_LEN`] | one bucket of hashes, then the record it refers to, both prefetched | [`long`] |
//!
//! The key of a piece of at most 32 bytes is the piece itself: a hit is certain, without another look at the
//! text. The cache is [seeded](seed) with the first tokens of the vocabulary, grows while it learns, up to a
//! limit of its own and one of the [process](budget), and then evicts entries in turn: a hostile text can empty it
//! of what is useful, but never make a probe longer.
//!
//! Probing takes two steps ([`probe`]): [`HashBlock`] hashes the pieces of a block and prefetches their
//! buckets; [`ProbeCache`] looks into the buckets. What is in no bucket for its key, [`PieceCache::get`]
//! finds.
//!
//! A cache belongs to one call at a time (see `Encoder`), so that nothing here is shared or locked.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod bucket;
pub(crate) mod budget;
#[cfg(test)]
#[path = "../../tests/unit/cache_hostile.rs"]
mod hostile;
mod key;
mod long;
mod packed_ids;
mod probe;
mod records;
mod scalar;
mod seed;
#[cfg(vectors)]
mod simd;
#[cfg(all(test, vectors))]
#[path = "../../tests/unit/cache_tiers.rs"]
mod tiers;

use bucket::{Bucket, BucketArray};
use budget::{Budget, Share};
use key::{Key, MAX_KEY_LEN, Width};
use long::LongPieces;
use packed_ids::{PackedIds, Packing};
#[cfg(vectors)]
pub(crate) use probe::Probing;
pub(crate) use probe::{CacheView, HashBlock, Hashed, Probe, ProbeBatch, ProbeCache};
use records::Records;
pub(crate) use scalar::Scalar;
use seed::buckets_log2;

use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::vocabulary::Vocabulary;

/// Maximum length of a piece in the cache, in bytes: longer pieces hardly ever occur twice.
pub(crate) const MAX_PIECE_LEN: usize = 1024;

/// Default limit of a cache, in bytes.
pub(crate) const DEFAULT_LIMIT: usize = 64 << 20;

/// Records that take a smaller part of what buckets take are not dropped for another. Their own limit never makes them
/// so few, only the budget of the process and the end of memory do.
const FEW_RECORDS: usize = 32;

/// A cache of pieces.
#[derive(Debug)]
pub(crate) struct PieceCache {
    /// Keys of one word and of two.
    short_keys: BucketArray,
    /// Keys of four words.
    long_keys: BucketArray,
    /// The ids of pieces with a key that are too many for a bucket.
    records: Records,
    /// Pieces without a key.
    long: LongPieces,
    packing: Packing,
    limit: usize,
    budget: &'static Budget,
}

impl PieceCache {
    /// Creates a cache of at most about `limit` bytes that knows the first tokens of `vocabulary`. What it takes
    /// beyond some kilobytes is of the budget of the process.
    pub(crate) fn new(vocabulary: &Vocabulary, limit: usize) -> Self {
        Self::within(&budget::PROCESS, vocabulary, limit)
    }

    /// As [`new`](Self::new), with another budget.
    fn within(budget: &'static Budget, vocabulary: &Vocabulary, limit: usize) -> Self {
        let [short, long] = buckets_log2(vocabulary);
        let share = || Share::new(budget);
        let mut cache = Self {
            short_keys: BucketArray::new(2, short, max_buckets_log2(limit), share()),
            long_keys: BucketArray::new(1, long, max_buckets_log2(limit), share()),
            records: Records::new(share()),
            long: LongPieces::new(share()),
            packing: Packing::of(vocabulary),
            limit,
            budget,
        };
        cache.seed(vocabulary);
        cache
    }

    /// True if it has taken some of a budget of which more is taken than may be.
    pub(crate) fn is_excessive(&self) -> bool {
        let taken = || self.short_keys.taken() + self.long_keys.taken() + self.records.taken();
        self.budget.is_exceeded() && taken() + self.long.taken() > 0
    }

    /// Number of bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.bucket_memory() + self.records.memory() + self.long.memory()
    }

    fn bucket_memory(&self) -> usize {
        self.short_keys.memory() + self.long_keys.memory()
    }

    /// Borrows what probing needs.
    #[inline]
    pub(crate) fn view(&self) -> CacheView<'_> {
        CacheView {
            short_keys: self.short_keys.view(),
            long_keys: self.long_keys.view(),
            records: &self.records,
            long: &self.long,
            packing: self.packing,
        }
    }

    fn buckets(&mut self, width: Width) -> &mut BucketArray {
        match width {
            Width::One | Width::Two => &mut self.short_keys,
            Width::Four => &mut self.long_keys,
        }
    }

    /// Appends the ids of a piece; returns false if the cache does not know it.
    pub(crate) fn get(&self, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        let Some(key) = Key::of(piece) else {
            return piece.len() <= MAX_PIECE_LEN && self.get_by_hash(long::hash(piece), piece, ids);
        };
        let view = self.view();
        let Some(packed) = view.buckets(key.width).get(&key) else {
            return false;
        };
        match self.packing.record(&packed) {
            Some(record) => {
                let recorded = self.records.get(record);
                ids.with_room(recorded.len()).extend_from_slice(recorded);
            }
            None => self.packing.unpack(&packed, ids),
        }
        true
    }

    /// True if a piece has no key because of its length, but may be in the cache.
    pub(crate) fn is_long(piece: &[u8]) -> bool {
        (MAX_KEY_LEN + 1..=MAX_PIECE_LEN).contains(&piece.len())
    }

    /// As [`get`](Self::get), for the piece of a probe that is in none of its buckets.
    pub(crate) fn get_missed(&self, probe: &Probe, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        match probe.hash() {
            // Its block has a NUL, so that it was not probed by its key.
            Some(_) if piece.len() <= MAX_KEY_LEN => self.get(piece, ids),
            Some(hash) => self.get_by_hash(hash, piece, ids),
            None => false,
        }
    }

    #[inline]
    fn get_by_hash(&self, hash: u64, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        match self.long.get(hash, piece) {
            Some(known) => {
                ids.with_room(known.len()).extend_from_slice(known);
                true
            }
            None => false,
        }
    }

    /// Stores the ids of a piece. Returns true if buckets were added, which moves pieces to other buckets.
    pub(crate) fn insert(&mut self, piece: &[u8], ids: &[TokenId]) -> bool {
        self.insert_by_key(Key::of(piece), piece, ids)
    }

    /// As [`insert`](Self::insert), for the piece of a probe.
    pub(crate) fn insert_probed(&mut self, probe: &Probe, piece: &[u8], ids: &[TokenId]) -> bool {
        let key = probe.short_key().or_else(|| Key::of(piece));
        self.insert_by_key(key, piece, ids)
    }

    #[inline]
    fn insert_by_key(&mut self, key: Option<Key>, piece: &[u8], ids: &[TokenId]) -> bool {
        let Some(key) = key else {
            if piece.len() <= MAX_PIECE_LEN {
                self.long.insert(piece, ids, self.limit / 2);
            }
            return false;
        };
        let before = self.bucket_memory();
        if let Some(packed) = self.pack(&key, ids) {
            self.buckets(key.width).insert(&key, &packed);
        }
        before != self.bucket_memory()
    }

    /// Packs the ids of a piece with a key, or a reference to a record of them; `None` if there is no memory for
    /// that.
    #[inline]
    fn pack(&mut self, key: &Key, ids: &[TokenId]) -> Option<PackedIds> {
        // An entry never has more ids than fit the words of its key: the proof on which the `set_len` of
        // `simd::probe` rests. Besides this, only `seed` writes entries, of one id.
        if ids.len() <= self.packing.capacity(key.width.words())
            && let Some(packed) = self.packing.pack(ids)
        {
            return Some(packed);
        }
        let record = self.add_record(ids)?;
        Some(self.packing.pack_record(record))
    }

    /// Adds a record. If there is no room for it, all others are dropped, with the entries that refer to
    /// them, unless they are so few that looking at every entry would not pay.
    #[inline(never)]
    fn add_record(&mut self, ids: &[TokenId]) -> Option<usize> {
        let max_memory = self.limit / 8;
        let record = self.records.add(ids, max_memory);
        if record.is_some() || self.records.memory() < self.bucket_memory() / FEW_RECORDS {
            return record;
        }
        self.records.clear();
        let packing = self.packing;
        for buckets in [&mut self.short_keys, &mut self.long_keys] {
            buckets.retain(|packed| packing.record(packed).is_none());
        }
        self.records.add(ids, max_memory)
    }
}

/// The maximum number of buckets of each width, as a power of two. They may take an eighth of the limit, as
/// may records; long pieces take up to one half.
fn max_buckets_log2(limit: usize) -> u32 {
    (limit / 8 / size_of::<Bucket>()).max(1).ilog2()
}
