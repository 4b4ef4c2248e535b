//! The table from pairs to the tokens they merge into.
//!
//! A pair and its token fit into one 64-bit number where ids are small, as they nearly always are: 20 bits
//! for each part, 23 for the token. Such pairs lie in buckets of eight slots, one cache line each, three
//! quarters full. A look-up compares a pair with all eight at once, because its outcome is unpredictable: of
//! the pairs in a text, many merge and many do not. The last slot of a bucket says whether a pair that is not
//! in it may be in the next. Pairs of larger ids are in an ordinary hash map.
//!
//! Most pairs in Chinese or Russian text do not merge. Each bucket has a filter of 64 bits, which rejects
//! most of these: all filters together fit into a cache that is too small for the buckets. They made cold
//! passes a tenth faster, those of Chinese and of multilingual text a sixth. With 32 or 128 bits the gain was
//! smaller, as it was when buckets were prefetched only where the filter lets the pair pass.
//!
//! With open addressing by slots, at most half of them filled, and a branch in each look-up, a cold pass over
//! 10 MB of text was a tenth to a quarter slower, and the table twice as large.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;

use std::collections::HashMap;

use bytemuck::Zeroable;

use crate::token::{NO_TOKEN, Pair, TokenId};
use crate::util::hash::{FibonacciHash, SeededState};
use crate::util::memory::{self, LargeVec};
use crate::vocabulary::sections::{Image, Sections};

const PART_BITS: u32 = 20;
const TOKEN_BITS: u32 = 24;

/// The highest bit of the token, in the last slot of a bucket: a pair that belongs to the bucket found no
/// free slot.
const OVERFLOWN: u64 = 1 << (TOKEN_BITS - 1);

/// The largest id in a slot, where a token's number is its id plus one: 0 marks an empty slot.
const LARGEST_TOKEN: TokenId = (1 << (TOKEN_BITS - 1)) - 2;

/// Slots in a bucket.
const SLOTS: usize = 8;

/// One cache line of slots, filled from the first on.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket([u64; SLOTS]);

#[expect(unsafe_code, reason = "a fresh table is not touched")]
// SAFETY: it consists of numbers.
unsafe impl Zeroable for Bucket {}

impl Bucket {
    /// Returns the number of the token of a pair, or 0. Branch-free: the outcome is unpredictable.
    #[inline]
    fn find(&self, pair: u64) -> u64 {
        let numbers = self.0.map(|slot| {
            let token = (slot ^ pair) & !OVERFLOWN;
            // Any other pair leaves bits above those of the token.
            if token >> TOKEN_BITS == 0 { token } else { 0 }
        });
        numbers.iter().fold(0, |found, token| found | token)
    }

    /// Returns whether a pair that is not in this bucket may be in the next: 0, or [`OVERFLOWN`].
    #[inline]
    fn overflown(&self) -> u64 {
        self.0[SLOTS - 1] & OVERFLOWN
    }
}

/// A map from pairs to the tokens they merge into.
#[derive(Clone, Debug)]
pub struct PairTable {
    buckets: LargeVec<Bucket>,
    /// For each bucket, a filter: one bit for each pair that belongs to it, which other pairs may share.
    filters: Vec<u64>,
    spread: FibonacciHash,
    shift: u32,
    filled: usize,
    large: HashMap<u64, TokenId, SeededState>,
    /// [`OVERFLOWN`] if small pairs are in `large` because their tokens are large, otherwise 0.
    overflown: u64,
}

impl PairTable {
    /// Returns an empty table with capacity for `merges` pairs.
    pub fn with_capacity(merges: usize) -> Self {
        // At most four fifths of the slots are filled.
        let buckets = (merges * 5 / 4).div_ceil(SLOTS).next_power_of_two().max(2);
        Self {
            buckets: memory::zeros(buckets),
            filters: memory::filled(0, buckets),
            spread: FibonacciHash::default(),
            shift: 64 - buckets.ilog2(),
            filled: 0,
            large: HashMap::default(),
            overflown: 0,
        }
    }

    /// Returns the pair as a number above the token bits, if its ids are small.
    #[inline]
    fn small(left: TokenId, right: TokenId) -> Option<u64> {
        let fits = (left | right) >> PART_BITS == 0;
        fits.then(|| ((u64::from(left) << PART_BITS) | u64::from(right)) << TOKEN_BITS)
    }

    /// Returns the bucket that a pair belongs to.
    #[inline]
    fn bucket(&self, pair: u64) -> usize {
        self.spread.slot(pair, self.shift)
    }

    /// Returns the bucket that a pair belongs to, and its bit in the filter.
    #[inline]
    fn bucket_and_bit(&self, pair: u64) -> (usize, u64) {
        let both = self.spread.slot(pair, self.shift - u64::BITS.ilog2());
        (both / u64::BITS as usize, 1 << (both % u64::BITS as usize))
    }

    /// Builds the table of `merges`.
    pub(crate) fn of(merges: &[(TokenId, Pair)]) -> Self {
        /// Merges whose buckets are prefetched together, so that their cache misses overlap.
        const BATCH: usize = 128;
        let mut table = Self::with_capacity(merges.len());
        for batch in merges.chunks(BATCH) {
            for (_, pair) in batch {
                if let Some(small) = Self::small(pair.left, pair.right) {
                    memory::prefetch(&table.buckets[table.bucket(small)]);
                }
            }
            for &(token, pair) in batch {
                table.insert(pair, token);
            }
        }
        table
    }

    /// Reads the table of an image.
    pub(crate) fn of_image(sections: &mut Sections<'_>) -> Option<Self> {
        let slots = sections.next::<[u64; SLOTS]>()?;
        let filters = sections.next::<u64>()?;
        let filled = sections.next::<u64>()?;
        let mut table = Self::with_capacity(0);
        table.buckets = memory::large_vec(slots.len());
        table.buckets.extend(slots.iter().copied().map(Bucket));
        table.filters = memory::copied(filters);
        table.shift = 64 - slots.len().checked_ilog2()?;
        table.filled = usize::try_from(*filled.first()?).ok()?;
        (slots.len().is_power_of_two() && filters.len() == slots.len()).then_some(table)
    }

    /// Writes the table into an image. All pairs are in buckets, with the default hash.
    pub(crate) fn put_into(&self, image: &mut Image) {
        assert!(
            self.large.is_empty() && self.overflown == 0,
            "an image has small ids only"
        );
        assert!(
            self.spread == FibonacciHash::default(),
            "an image has the default hash"
        );
        let slots: Vec<[u64; SLOTS]> = self.buckets.iter().map(|bucket| bucket.0).collect();
        image.add(&slots);
        image.add(&self.filters);
        image.add(&[self.filled as u64]);
    }

    /// Records that `pair` merges into `token`. Of two tokens for one pair the lower rank is kept.
    pub fn insert(&mut self, pair: Pair, token: TokenId) {
        let Some(small) = Self::small(pair.left, pair.right).filter(|_| token <= LARGEST_TOKEN)
        else {
            let kept = self.large.entry(pair.key()).or_insert(token);
            *kept = token.min(*kept);
            if Self::small(pair.left, pair.right).is_some() {
                self.overflow();
            }
            return;
        };
        if 5 * (self.filled + 1) > 4 * SLOTS * self.buckets.len() {
            self.rebuild(2 * self.filled, self.spread);
        }
        let walked = self.put(small | u64::from(token + 1));
        if let Some(spread) = self.spread.after_walk(SLOTS * walked) {
            self.rebuild(self.filled, spread);
        }
    }

    /// Stores a pair and its token in the first bucket with a free slot from its own on. Returns the distance
    /// in buckets.
    fn put(&mut self, entry: u64) -> usize {
        let pair = entry >> TOKEN_BITS << TOKEN_BITS;
        let mask = self.buckets.len() - 1;
        let (own, bit) = self.bucket_and_bit(pair);
        self.filters[own] |= bit;
        let mut walked = 0;
        loop {
            let bucket = &mut self.buckets[(own + walked) & mask].0;
            for slot in &mut *bucket {
                let kept = *slot & !OVERFLOWN;
                if kept == 0 {
                    *slot = entry;
                    self.filled += 1;
                    return walked;
                }
                if kept >> TOKEN_BITS << TOKEN_BITS == pair {
                    *slot = kept.min(entry) | *slot & OVERFLOWN;
                    return walked;
                }
            }
            bucket[SLOTS - 1] |= OVERFLOWN;
            walked += 1;
        }
    }

    /// Records that small pairs may be in `large`.
    fn overflow(&mut self) {
        self.overflown = OVERFLOWN;
        self.filters.fill(u64::MAX);
    }

    /// Rebuilds the table with another hash, or with capacity for more merges.
    fn rebuild(&mut self, merges: usize, spread: FibonacciHash) {
        let mut rebuilt = Self::with_capacity(merges.max(self.filled));
        rebuilt.spread = spread;
        for entry in self.buckets.iter().flat_map(|bucket| bucket.0) {
            if entry != 0 {
                rebuilt.put(entry & !OVERFLOWN);
            }
        }
        rebuilt.large = std::mem::take(&mut self.large);
        if self.overflown != 0 {
            rebuilt.overflow();
        }
        *self = rebuilt;
    }

    /// Returns the token that `left` and `right` merge into, or [`NO_TOKEN`]. O(1).
    #[inline]
    pub fn get(&self, left: TokenId, right: TokenId) -> TokenId {
        self.get_by(left, right, Bucket::find)
    }

    /// Prefetches the bucket that [`get`](Self::get) reads.
    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    pub(crate) fn prefetch(&self, left: TokenId, right: TokenId) {
        // For large ids, which are in no bucket, any one will do.
        let pair = Self::small(left, right).unwrap_or(0);
        memory::prefetch(&self.buckets[self.bucket(pair)]);
    }

    /// As [`get`](Self::get), `find` being the tier's [`Bucket::find`].
    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "of 23 bits")]
    fn get_by(&self, left: TokenId, right: TokenId, find: impl Fn(&Bucket, u64) -> u64) -> TokenId {
        if let Some(small) = Self::small(left, right) {
            let (mut number, bit) = self.bucket_and_bit(small);
            if self.filters[number] & bit == 0 {
                return NO_TOKEN;
            }
            loop {
                let bucket = &self.buckets[number];
                let token = find(bucket, small) as TokenId;
                // Folded into one rarely taken branch.
                let go_on = u64::from(token == 0) * (bucket.overflown() | self.overflown);
                if go_on == 0 {
                    // 0, the number of no token, becomes `NO_TOKEN`.
                    return token.wrapping_sub(1);
                }
                if bucket.overflown() == 0 {
                    break;
                }
                number = (number + 1) & (self.buckets.len() - 1);
            }
        }
        self.get_large(left, right)
    }

    #[cold]
    fn get_large(&self, left: TokenId, right: TokenId) -> TokenId {
        let kept = self.large.get(&Pair::new(left, right).key());
        kept.copied().unwrap_or(NO_TOKEN)
    }

    /// Number of pairs that merge.
    pub fn len(&self) -> usize {
        self.filled + self.large.len()
    }

    /// True if nothing merges.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of bytes that the table occupies.
    pub(crate) fn memory(&self) -> usize {
        let filters = size_of::<u64>() * self.filters.len();
        size_of::<Bucket>() * self.buckets.len() + filters + 16 * self.large.capacity()
    }
}
