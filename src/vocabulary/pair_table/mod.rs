//! Pair → the token it becomes: the one question that merging asks.
//!
//! A pair and its token fit into one 64-bit number where ids are small, as they nearly always are: 20 bits for each
//! part, 23 for the token. Such pairs lie in buckets of eight, a cache line each, three quarters full, and are compared
//! with all eight at once: of the pairs that texts ask for, in no order that a processor could foresee, many merge and many
//! do not. A bucket that is full and lacks a pair says whether to go on in the next. Pairs of larger ids go to an ordinary
//! hash map.
//!
//! Of the pairs in Chinese or Russian text, most do not merge. For each bucket there are 64 bits, by which most of these are
//! refused: all bits together fit into a cache that all buckets do not. First passes took a tenth less time with them, those of
//! Chinese and of many languages a sixth; with 32 bits or 128 the gain was smaller, as it was if buckets were asked for only
//! where bits say so.
//!
//! With slots in a row, at most half of them taken, and a branch for each look-up, a first pass over 10 MB of text was a
//! tenth to a quarter slower, and the table twice as large.

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

/// The highest of the token's bits is for the last slot of a bucket: whether a pair belongs to it that found no room.
const OVERFLOWN: u64 = 1 << (TOKEN_BITS - 1);

/// In a slot, a token's number is its id plus one: 0 marks an empty slot.
const LARGEST_TOKEN: TokenId = (1 << (TOKEN_BITS - 1)) - 2;

/// Slots in a bucket.
const SLOTS: usize = 8;

/// A cache line of slots, filled from the first on.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket([u64; SLOTS]);

#[expect(unsafe_code, reason = "a fresh table is not touched")]
// SAFETY: it consists of numbers.
unsafe impl Zeroable for Bucket {}

impl Bucket {
    /// The number of the token of a pair, or 0. No branch, as it would be a surprise.
    #[inline]
    fn find(&self, pair: u64) -> u64 {
        let numbers = self.0.map(|slot| {
            let token = (slot ^ pair) & !OVERFLOWN;
            // All pairs but this one leave bits above those of the token.
            if token >> TOKEN_BITS == 0 { token } else { 0 }
        });
        numbers.iter().fold(0, |found, token| found | token)
    }

    /// Whether a pair that is not here may be in the next: 0, or [`OVERFLOWN`].
    #[inline]
    fn overflown(&self) -> u64 {
        self.0[SLOTS - 1] & OVERFLOWN
    }
}

/// An immutable map from pairs to merged tokens once built.
#[derive(Clone, Debug)]
pub struct PairTable {
    buckets: LargeVec<Bucket>,
    /// For each bucket: a bit for each pair that belongs to it, which others may share.
    bits: Vec<u64>,
    spread: FibonacciHash,
    shift: u32,
    filled: usize,
    large: HashMap<u64, TokenId, SeededState>,
    /// As in a bucket, for all of them: whether small pairs are among the large ones, as their tokens are large.
    overflown: u64,
}

impl PairTable {
    /// An empty table with room for `merges` pairs.
    pub fn with_capacity(merges: usize) -> Self {
        // At most four fifths of the slots are taken.
        let buckets = (merges * 5 / 4).div_ceil(SLOTS).next_power_of_two().max(2);
        Self {
            buckets: memory::zeros(buckets),
            bits: vec![0; buckets],
            spread: FibonacciHash::default(),
            shift: 64 - buckets.ilog2(),
            filled: 0,
            large: HashMap::default(),
            overflown: 0,
        }
    }

    /// The pair as a number above the token bits, if its parts are small.
    #[inline]
    fn small(left: TokenId, right: TokenId) -> Option<u64> {
        let fits = (left | right) >> PART_BITS == 0;
        fits.then(|| ((u64::from(left) << PART_BITS) | u64::from(right)) << TOKEN_BITS)
    }

    /// The bucket that a pair belongs to.
    #[inline]
    fn bucket(&self, pair: u64) -> usize {
        self.spread.slot(pair, self.shift)
    }

    /// The bucket that a pair belongs to, and its bit there.
    #[inline]
    fn bucket_and_bit(&self, pair: u64) -> (usize, u64) {
        let both = self.spread.slot(pair, self.shift - u64::BITS.ilog2());
        (both / u64::BITS as usize, 1 << (both % u64::BITS as usize))
    }

    /// The table of `merges`.
    pub(crate) fn of(merges: &[(TokenId, Pair)]) -> Self {
        /// So many at once, so that one does not wait for the memory of another.
        const BATCH: usize = 128;
        let mut table = Self::with_capacity(merges.len());
        for batch in merges.chunks(BATCH) {
            for (_, pair) in batch {
                if let Some(small) = Self::small(pair.left, pair.right)
                    && let Some(bucket) = table.buckets.get(table.bucket(small))
                {
                    memory::prefetch(bucket);
                }
            }
            for &(token, pair) in batch {
                table.insert(pair, token);
            }
        }
        table
    }

    /// That of an image.
    pub(crate) fn of_image(sections: &mut Sections<'_>) -> Option<Self> {
        let slots = sections.next::<[u64; SLOTS]>()?;
        let bits = sections.next::<u64>()?;
        let filled = sections.next::<u64>()?;
        let mut table = Self::with_capacity(0);
        table.buckets = memory::large_vec(slots.len());
        table.buckets.extend(slots.iter().copied().map(Bucket));
        table.bits = bits.to_vec();
        table.shift = 64 - slots.len().checked_ilog2()?;
        table.filled = usize::try_from(*filled.first()?).ok()?;
        (slots.len().is_power_of_two() && bits.len() == slots.len()).then_some(table)
    }

    /// What an image holds of it: one whose pairs are all in buckets, spread as usual.
    pub(crate) fn put_into(&self, image: &mut Image) {
        assert!(
            self.large.is_empty() && self.overflown == 0,
            "no id is large"
        );
        assert!(
            self.spread == FibonacciHash::default(),
            "pairs are spread as usual"
        );
        let slots: Vec<[u64; SLOTS]> = self.buckets.iter().map(|bucket| bucket.0).collect();
        image.add(&slots);
        image.add(&self.bits);
        image.add(&[self.filled as u64]);
    }

    /// Records that `pair` becomes `token`; of two tokens for one pair the lower rank stays.
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
            self.lay_out(2 * self.filled, self.spread);
        }
        let walked = self.put(small | u64::from(token + 1));
        if let Some(spread) = self.spread.after_walk(SLOTS * walked) {
            self.lay_out(self.filled, spread);
        }
    }

    /// Puts a pair and its token into the first bucket with room from its own on, and answers how far that is.
    fn put(&mut self, entry: u64) -> usize {
        let pair = entry >> TOKEN_BITS << TOKEN_BITS;
        let mask = self.buckets.len() - 1;
        let (own, bit) = self.bucket_and_bit(pair);
        self.bits[own] |= bit;
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

    /// From now on, small pairs may be among the large ones.
    fn overflow(&mut self) {
        self.overflown = OVERFLOWN;
        self.bits.fill(u64::MAX);
    }

    /// Moves all pairs to where they are if they are spread in another way, or there is room for more merges.
    fn lay_out(&mut self, merges: usize, spread: FibonacciHash) {
        let mut moved = Self::with_capacity(merges.max(self.filled));
        moved.spread = spread;
        for entry in self.buckets.iter().flat_map(|bucket| bucket.0) {
            if entry != 0 {
                moved.put(entry & !OVERFLOWN);
            }
        }
        moved.large = std::mem::take(&mut self.large);
        if self.overflown != 0 {
            moved.overflow();
        }
        *self = moved;
    }

    /// The token that `left` and `right` merge into, or [`NO_TOKEN`]. O(1).
    #[inline]
    pub fn get(&self, left: TokenId, right: TokenId) -> TokenId {
        self.get_by(left, right, Bucket::find)
    }

    /// Asks for the memory that [`get`](Self::get) looks at to be brought near.
    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    pub(crate) fn prefetch(&self, left: TokenId, right: TokenId) {
        // Of large ids, any bucket.
        let pair = Self::small(left, right).unwrap_or_default();
        if let Some(bucket) = self.buckets.get(self.bucket(pair)) {
            memory::prefetch(bucket);
        }
    }

    /// As [`get`](Self::get), `find` being how the tier looks into a bucket.
    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "of 23 bits")]
    fn get_by(&self, left: TokenId, right: TokenId, find: impl Fn(&Bucket, u64) -> u64) -> TokenId {
        if let Some(small) = Self::small(left, right) {
            let (mut number, bit) = self.bucket_and_bit(small);
            if self.bits.get(number).is_some_and(|bits| bits & bit == 0) {
                return NO_TOKEN;
            }
            // The check keeps the number inside, and costs nothing beside the load.
            while let Some(bucket) = self.buckets.get(number) {
                let token = find(bucket, small) as TokenId;
                // One condition that hardly ever holds, where two would be two branches, one of them a surprise.
                let go_on = u64::from(token == 0) * (bucket.overflown() | self.overflown);
                if go_on == 0 {
                    // Of 0, the number of no token: `NO_TOKEN`.
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

    /// How many pairs merge.
    pub fn len(&self) -> usize {
        self.filled + self.large.len()
    }

    /// True if nothing merges.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        let bits = size_of::<u64>() * self.bits.len();
        size_of::<Bucket>() * self.buckets.len() + bits + 16 * self.large.capacity()
    }
}
