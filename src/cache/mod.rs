//! The cache of pieces: learned pieces → their ids. Most pieces of a text are found here, in one cache line.
//!
//! | bytes | a probe reads | module |
//! |---|---|---|
//! | 1–16, 17–32 | one bucket of keys and packed ids | [`bucket`] |
//! | others, up to [`MAX_PIECE_LEN`] | one bucket of hashes, then the record it refers to, both prefetched | [`long`] |
//!
//! The key of a piece of at most 32 bytes is the piece itself: a hit is certain, without another look at the
//! text. The cache is [seeded](seed) with the first tokens of the vocabulary, grows while it learns, up to a
//! limit, and then evicts entries in turn: a hostile text can empty it of what is useful, but never make a
//! probe longer.
//!
//! Probing takes two steps ([`probe`]): [`HashBlock`] hashes the pieces of a block and prefetches their
//! buckets; [`ProbeCache`] looks into the buckets. What is in no bucket for its key, [`PieceCache::get`]
//! finds.
//!
//! A cache belongs to one call at a time (see `Encoder`), so that nothing here is shared or locked.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod bucket;
#[cfg(test)]
mod hostile;
mod key;
mod long;
mod packed_ids;
mod probe;
mod scalar;
mod seed;
#[cfg(all(test, target_arch = "x86_64"))]
mod tiers;

use bucket::{Bucket, BucketArray};
use key::{Key, MAX_KEY_LEN, Width};
use long::LongPieces;
use packed_ids::Packing;
pub(crate) use probe::{CacheView, HashBlock, Hashed, Probe, ProbeBatch, ProbeCache};
pub(crate) use scalar::Scalar;
use seed::buckets_log2;

use crate::token::TokenId;
use crate::util::memory::Growable;
use crate::vocabulary::Vocabulary;

/// Maximum length of a piece in the cache, in bytes: longer pieces hardly ever occur twice.
pub(crate) const MAX_PIECE_LEN: usize = 1024;

/// Default limit of a cache, in bytes.
pub(crate) const DEFAULT_LIMIT: usize = 64 << 20;

/// A cache of pieces.
#[derive(Debug)]
pub(crate) struct PieceCache {
    /// Keys of one word and of two.
    short_keys: BucketArray,
    /// Keys of four words.
    long_keys: BucketArray,
    /// Pieces without a key, and those with more ids than a bucket holds.
    long: LongPieces,
    packing: Packing,
    limit: usize,
}

impl PieceCache {
    /// Creates a cache of at most about `limit` bytes that knows the first tokens of `vocabulary`.
    pub(crate) fn new(vocabulary: &Vocabulary, limit: usize) -> Self {
        let [short, long] = buckets_log2(vocabulary);
        let mut cache = Self {
            short_keys: BucketArray::new(2, short, max_buckets_log2(limit)),
            long_keys: BucketArray::new(1, long, max_buckets_log2(limit)),
            long: LongPieces::default(),
            packing: Packing::of(vocabulary),
            limit,
        };
        cache.seed(vocabulary);
        cache
    }

    /// Number of bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        self.bucket_memory() + self.long.memory()
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
        if piece.len() > MAX_PIECE_LEN {
            return false;
        }
        let key = Key::of(piece);
        let overflow_key = key.and_then(|key| key.overflow_key());
        let hash = long::hash(piece);
        let view = self.view();
        // Prefetches everything at once: most pieces that are not in their own bucket are nowhere.
        if let Some(key) = &overflow_key {
            view.buckets(key.width).prefetch(key);
        }
        self.long.prefetch(hash);
        for key in key.iter().chain(&overflow_key) {
            if let Some(packed) = view.buckets(key.width).get(key) {
                self.packing.unpack(&packed, ids);
                return true;
            }
        }
        self.get_by_hash(hash, piece, ids)
    }

    /// True if a piece has no key because of its length, but may be in the cache.
    pub(crate) fn is_long(piece: &[u8]) -> bool {
        (MAX_KEY_LEN + 1..=MAX_PIECE_LEN).contains(&piece.len())
    }

    /// As [`get`](Self::get), for the piece of a probe that missed its buckets.
    pub(crate) fn get_missed(&self, probe: &Probe, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        if probe.bucket == Probe::NO_BUCKET && piece.len() <= MAX_KEY_LEN {
            // Its block has a NUL, so that it was not probed by its key.
            return self.get(piece, ids);
        }
        if piece.len() <= MAX_KEY_LEN && !self.long.has_shorter() {
            return false;
        }
        let hash = probe.hash().unwrap_or_else(|| long::hash(piece));
        self.get_by_hash(hash, piece, ids)
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
        let before = self.bucket_memory();
        if let Some(packed) = self.packing.pack(ids) {
            let overflow_key = key.and_then(|key| key.overflow_key());
            for key in key.iter().chain(&overflow_key) {
                // An entry never has more ids than fit the words of its key: the proof on which the `set_len`
                // of `avx2::probe` rests. Besides this, only `seed` writes entries, of one id.
                let fits = ids.len() <= self.packing.capacity(key.width.words());
                if fits && self.buckets(key.width).insert(key, &packed) {
                    return before != self.bucket_memory();
                }
            }
        }
        if piece.len() <= MAX_PIECE_LEN {
            self.long.insert(piece, ids, self.limit / 2);
        }
        before != self.bucket_memory()
    }
}

/// The maximum number of buckets of each width, as a power of two. They may take an eighth of the limit; long
/// pieces take up to one half.
fn max_buckets_log2(limit: usize) -> u32 {
    (limit / 8 / size_of::<Bucket>()).max(1).ilog2()
}
