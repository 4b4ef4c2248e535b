//! Probes: the look-ups of the pieces of some blocks, in two steps. First all pieces are hashed and their
//! buckets prefetched, then the buckets are read.
//!
//! The processor looks ahead by itself, but no further than a few pieces, and most buckets of a large text
//! are not in its nearest caches: to read each bucket at once was a third slower on 10 MB of text, and no
//! faster where all buckets are near.

use std::ops::Range;

use super::PieceCache;
use super::bucket::BucketView;
use super::key::{self, Key, MAX_KEY_LEN, MAX_ONE_WORD_LEN, MAX_SHORT_LEN, Width};
use super::long::{self, LongPieces};
use super::packed_ids::Packing;
use super::records::Records;
use crate::token::TokenId;
use crate::util::block::{BLOCK_LEN, Block, Spans};

/// One probe: a piece, as a key or as a span of the text, with the bucket it may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// The two words of a short key; for other pieces, their hash, 0 for a long key, and their [span](Self::pack_span).
    pub(super) words: [u64; 2],
    /// The index of a bucket of short keys; that of one of long keys, with
    /// [`LONG_KEY_FLAG`](Self::LONG_KEY_FLAG); or [`NO_BUCKET`](Self::NO_BUCKET).
    pub(super) bucket: u32,
}

impl Probe {
    /// Of no piece.
    pub(super) const NONE: Self = Self {
        words: [0; 2],
        bucket: Self::NO_BUCKET,
    };

    pub(super) const LONG_KEY_FLAG: u32 = 1 << 31;

    /// The piece has no key.
    pub(super) const NO_BUCKET: u32 = u32::MAX;

    /// Bits of the length in a packed span.
    const LENGTH_BITS: u32 = 16;

    /// The offset of a piece in the text and its length, in one word.
    #[inline]
    pub(super) fn pack_span(offset: usize, length: usize) -> u64 {
        debug_assert!(length < 1 << Self::LENGTH_BITS);
        (offset as u64) << Self::LENGTH_BITS | length as u64
    }

    /// True if the piece has a short key.
    #[inline]
    pub(crate) fn has_short_key(&self) -> bool {
        self.bucket & Self::LONG_KEY_FLAG == 0
    }

    /// The hash of a piece without a key.
    #[inline]
    pub(crate) fn hash(&self) -> Option<u64> {
        (!self.has_short_key() && self.words[0] != 0).then_some(self.words[0])
    }

    /// The key, if it is a short one.
    #[inline]
    pub(super) fn short_key(&self) -> Option<Key> {
        let [a, b] = self.words;
        self.has_short_key().then_some(Key {
            words: [a, b, a, b],
            width: [Width::One, Width::Two][self.bucket as usize & 1],
        })
    }

    /// The offset and the length of a piece without a short key.
    #[inline]
    pub(super) fn span(&self) -> (usize, usize) {
        debug_assert!(!self.has_short_key());
        let packed = self.words[1];
        let length = packed & ((1 << Self::LENGTH_BITS) - 1);
        // Shifted before it is cast: `usize` may have 32 bits.
        ((packed >> Self::LENGTH_BITS) as usize, length as usize)
    }

    /// The bytes of a piece without a short key.
    #[inline]
    fn bytes<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let (offset, length) = self.span();
        &text[offset..][..length]
    }

    /// The piece. `buffer` is for one that is only in its key.
    pub(crate) fn piece<'t>(
        &self,
        text: &'t [u8],
        buffer: &'t mut [u8; MAX_SHORT_LEN],
    ) -> &'t [u8] {
        let Some(key) = self.short_key() else {
            return self.bytes(text);
        };
        let [a, b] = match key.width {
            Width::One => [self.words[0], 0],
            _ => self.words,
        };
        let bytes = u128::from(a) | u128::from(b) << 64;
        *buffer = bytes.to_le_bytes();
        // The NULs at the end are padding: a piece with a key has none.
        &buffer[..MAX_SHORT_LEN - (bytes.leading_zeros() / 8) as usize]
    }

    /// The key, if the piece has one.
    pub(super) fn key(&self, text: &[u8]) -> Option<Key> {
        if self.bucket == Self::NO_BUCKET {
            return None;
        }
        self.short_key().or_else(|| Key::of(self.bytes(text)))
    }
}

/// Many probes, their fields in arrays of their own, so that several can be stored at once.
#[derive(Debug)]
pub(crate) struct ProbeBatch {
    words: Vec<[u64; 2]>,
    buckets: Vec<u32>,
}

impl ProbeBatch {
    /// Creates `count` probes without a bucket.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            words: vec![Probe::NONE.words; count],
            buckets: vec![Probe::NONE.bucket; count],
        }
    }

    /// The probe at an index.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Probe {
        Probe {
            words: self.words[index],
            bucket: self.buckets[index],
        }
    }

    /// Overwrites the probe at an index.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, probe: Probe) {
        self.words[index] = probe.words;
        self.buckets[index] = probe.bucket;
    }

    /// The probes in a range.
    #[inline]
    pub(crate) fn slice(&self, range: Range<usize>) -> ProbeSlice<'_> {
        ProbeSlice {
            words: &self.words[range.clone()],
            buckets: &self.buckets[range],
        }
    }

    /// Room for the probes of a block, from an index on.
    ///
    /// # Panics
    /// If there are fewer than [`BLOCK_LEN`] from there on.
    #[inline]
    pub(crate) fn block_mut(&mut self, first: usize) -> BlockProbes<'_> {
        BlockProbes {
            words: self.words[first..].first_chunk_mut().expect(BLOCK_FITS),
            buckets: self.buckets[first..].first_chunk_mut().expect(BLOCK_FITS),
        }
    }
}

const BLOCK_FITS: &str = "a batch is flushed before it is full";

/// Consecutive probes of a [`ProbeBatch`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbeSlice<'a> {
    pub(super) words: &'a [[u64; 2]],
    pub(super) buckets: &'a [u32],
}

impl ProbeSlice<'_> {
    /// Number of probes.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.buckets.len()
    }

    /// The probe at an index.
    #[inline]
    pub(super) fn get(self, index: usize) -> Probe {
        Probe {
            words: self.words[index],
            bucket: self.buckets[index],
        }
    }

    /// The probes from an index on.
    #[inline]
    pub(super) fn from(self, index: usize) -> Self {
        Self {
            words: &self.words[index..],
            buckets: &self.buckets[index..],
        }
    }
}

/// Room for the probes of one block: a piece has a byte at least.
#[derive(Debug)]
pub(crate) struct BlockProbes<'a> {
    pub(super) words: &'a mut [[u64; 2]; BLOCK_LEN],
    pub(super) buckets: &'a mut [u32; BLOCK_LEN],
}

impl BlockProbes<'_> {
    /// Writes one probe.
    #[inline]
    pub(super) fn set(&mut self, index: usize, probe: Probe) {
        self.words[index] = probe.words;
        self.buckets[index] = probe.bucket;
    }
}

/// The result of [`HashBlock::hash_block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashed {
    /// Number of probes.
    pub(crate) count: usize,
    /// Whether one of them has a [hash](Probe::hash).
    pub(crate) has_hash: bool,
}

/// The first step of probing, as a tier does it.
pub(crate) trait HashBlock {
    /// Writes the probes of the pieces of a block and prefetches their buckets.
    ///
    /// The block is at `offset` of the text.
    ///
    /// It takes the cache, not a [view](PieceCache::view): to make one of 15 words for each block took 3.5 % of the
    /// instructions of replaying English.
    fn hash_block<const GAPS: bool>(
        &self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
        probes: BlockProbes<'_>,
    ) -> Hashed;
}

/// A tier that does both steps, the second perhaps with the instructions of another.
#[cfg(vectors)]
pub(crate) trait Probing: HashBlock {
    /// The tier of the second step.
    type Prober: ProbeCache;

    /// Returns the tier of the second step.
    fn prober(self) -> Self::Prober;
}

/// The second step of probing, as a tier does it.
pub(crate) trait ProbeCache {
    /// Appends the ids of pieces, up to the first that is in none of its buckets. Returns how many pieces
    /// those are.
    fn probe_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
        ids: &mut Vec<TokenId>,
    ) -> usize;

    /// As [`probe_batch`](Self::probe_batch), without ids: how many pieces are found, and how many ids they
    /// have.
    fn count_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
    ) -> (usize, usize);
}

impl BucketView<'_> {
    /// The probe of the first `length` of `bytes`: at most [`MAX_SHORT_LEN`], none of them NUL. Without a branch on the
    /// width of their key.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "buckets are fewer")]
    pub(super) fn probe_short(&self, bytes: &[u8; MAX_KEY_LEN], length: usize) -> Probe {
        let words = Key::short(bytes, length);
        let two = usize::from(length > MAX_ONE_WORD_LEN);
        let bucket = 2 * (key::hash_short(words) >> self.shift) as usize + two;
        self.prefetch_bucket(bucket);
        Probe {
            words,
            bucket: bucket as u32,
        }
    }
}

/// A borrowed [`PieceCache`](super::PieceCache).
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheView<'a> {
    /// Widths one and two in turn.
    pub(super) short_keys: BucketView<'a>,
    pub(super) long_keys: BucketView<'a>,
    pub(super) records: &'a Records,
    pub(super) long: &'a LongPieces,
    pub(super) packing: Packing,
}

impl<'a> CacheView<'a> {
    /// The buckets of a width.
    #[inline]
    pub(super) fn buckets(&self, width: Width) -> BucketView<'a> {
        match width {
            Width::One | Width::Two => self.short_keys,
            Width::Four => self.long_keys,
        }
    }

    /// The probe of the first `length` of `bytes`, at `offset` of the text: at most [`MAX_KEY_LEN`], none of
    /// them NUL.
    #[expect(clippy::cast_possible_truncation, reason = "buckets are fewer")]
    #[inline]
    pub(super) fn probe(&self, bytes: &[u8; MAX_KEY_LEN], offset: usize, length: usize) -> Probe {
        if length <= MAX_SHORT_LEN {
            return self.short_keys.probe_short(bytes, length);
        }
        let key = Key::of_first(bytes, length);
        let bucket = self.long_keys.own(&key);
        self.long_keys.prefetch_bucket(bucket);
        Probe {
            words: [0, Probe::pack_span(offset, length)],
            bucket: bucket as u32 | Probe::LONG_KEY_FLAG,
        }
    }

    /// The ids of a piece whose bucket refers to a record of them.
    #[inline(never)]
    pub(super) fn recorded(&self, text: &[u8], probe: &Probe) -> Option<&'a [TokenId]> {
        let key = probe.key(text)?;
        let packed = self.buckets(key.width).get(&key)?;
        Some(self.records.get(self.packing.record(&packed)?))
    }

    /// The probe of a piece without a key, at `offset` of the text.
    pub(crate) fn probe_by_hash(&self, piece: &[u8], offset: usize) -> Probe {
        let hash = long::hash(piece);
        self.long.prefetch(hash);
        Probe {
            words: [hash, Probe::pack_span(offset, piece.len())],
            bucket: Probe::NO_BUCKET,
        }
    }

    /// Prefetches the ids of a piece with a hash, if the cache knows it.
    pub(crate) fn prefetch_long(&self, probe: &Probe) {
        if let Some(hash) = probe.hash() {
            self.long.prefetch_record(hash);
        }
    }

    /// Finds the buckets of probes again, after buckets were added.
    #[expect(clippy::cast_possible_truncation, reason = "buckets are fewer")]
    pub(crate) fn rehash(&self, text: &[u8], probes: &mut ProbeBatch, range: Range<usize>) {
        for index in range {
            let probe = probes.get(index);
            if let Some(key) = probe.key(text) {
                let bucket = self.buckets(key.width).own(&key);
                probes.buckets[index] = bucket as u32 | (probe.bucket & Probe::LONG_KEY_FLAG);
            }
        }
    }
}
