//! Buckets: keys of at most 32 bytes → packed ids, one cache line a probe.
//!
//! A bucket holds four words of keys and four words of [packed ids](PackedIds):
//!
//! | width | pieces | words of a key, and of its ids | slots | ids |
//! |---|---|---|---|---|
//! | one | 1–8 bytes | one | four | up to three, or four |
//! | two | 9–16 bytes | two | two | up to six, or eight |
//! | four | 17–32 bytes | four | one | up to twelve, or sixteen |
//!
//! Buckets of widths one and two alternate and are probed in one way, so that the processor need not predict
//! the width of the next piece: a key is compared as two words that alternate, which are equal for a key of
//! one word. What finds no slot in its bucket goes to the next bucket of its width, as long as there may be more
//! buckets. A bit for each bucket says whether the next one has entries of it: most of what is not in its bucket is
//! nowhere, and to look into the next one, which is in no near cache, took a twelfth of a first pass.

use bytemuck::Zeroable;

use super::budget::Share;
use super::key::{Key, Width};
use super::packed_ids::PackedIds;
use crate::error::OutOfMemory;
use crate::util::memory::{self, LargeVec};

/// One cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Bucket {
    /// The packed ids come first: a load of the ids of any slot that reads too far ends in the keys.
    pub(super) ids: [u64; 4],
    /// 0 marks an empty slot: no key consists of NULs.
    pub(super) keys: [u64; 4],
}

#[expect(unsafe_code, reason = "a fresh array is not touched")]
// SAFETY: it consists of integers.
unsafe impl Zeroable for Bucket {}

impl Bucket {
    /// The slot of a key, by the index of its first word.
    #[inline]
    fn slot_of(&self, key: &Key) -> Option<usize> {
        let equal = (0..4).fold(0, |equal, n| {
            equal | usize::from(self.keys[n] == key.words[n]) << n
        });
        match key.width {
            Width::One | Width::Two => slot(equal, key.width as usize),
            Width::Four => (equal == ALL_WORDS).then_some(0),
        }
    }

    /// The first empty slot for a key of that width.
    #[inline]
    fn empty_slot(&self, width: Width) -> Option<usize> {
        let empty = (0..4).fold(0, |empty, n| empty | u32::from(self.keys[n] == 0) << n);
        let slots = match width {
            Width::One => 0b1111,
            Width::Two => 0b0101,
            Width::Four => 0b0001,
        };
        match (empty & slots).trailing_zeros() as usize {
            slot @ 0..4 => Some(slot),
            _ => None,
        }
    }

    /// The packed ids of a slot.
    #[inline]
    fn ids_at(&self, slot: usize, width: Width) -> PackedIds {
        let mut ids = PackedIds::default();
        let words = width.words();
        ids[..words].copy_from_slice(&self.ids[slot..slot + words]);
        ids
    }
}

/// In [`SLOTS`]: the key is not in the bucket.
const NO_SLOT: u8 = 4;

/// The slot of a short key in a bucket, by twice the bits of the words that are equal, plus one for width
/// two.
const SLOTS: [u8; 32] = {
    let mut slots = [NO_SLOT; 32];
    let mut equal = 1;
    while equal < 16_usize {
        // A bucket holds a key once.
        #[expect(clippy::cast_possible_truncation, reason = "below 4")]
        let first = equal.trailing_zeros() as u8;
        slots[2 * equal] = first;
        if equal & 0b0011 == 0b0011 {
            slots[2 * equal + 1] = 0;
        } else if equal & 0b1100 == 0b1100 {
            slots[2 * equal + 1] = 2;
        }
        equal += 1;
    }
    slots
};

/// The slot of a short key, by the bits of the words of the bucket that equal those of the key; `two` is 1
/// for width two and 0 for width one. A slot of width two is 0 or 2.
#[inline]
pub(super) fn slot(equal: usize, two: usize) -> Option<usize> {
    let slot = usize::from(SLOTS[2 * equal + two]);
    (slot < usize::from(NO_SLOT)).then_some(slot)
}

/// The bits of equal words if all are.
pub(super) const ALL_WORDS: usize = 0b1111;

/// Buckets of one width, or of two in turn.
#[derive(Debug)]
pub(super) struct BucketArray {
    pub(super) buckets: LargeVec<Bucket>,
    /// A bit for each bucket: whether entries that belong there may be in the next.
    overflown: LargeVec<u64>,
    /// Number of widths.
    widths: usize,
    /// Maximum number of buckets of each width, as a power of two.
    max_log2: u32,
    /// Shifts a hash down to an index among the buckets of one width.
    pub(super) shift: u32,
    /// Number of words of keys in use, of each width.
    filled: [usize; 2],
    /// Counts evictions since the buckets were doubled, also to choose the slot of a full bucket.
    evictions: usize,
    /// Their part of the budget, unless they are the fewest.
    share: Share,
}

/// Bounds for the number of buckets of one width, as powers of two.
const LEAST_LOG2: u32 = 4;
const MOST_LOG2: u32 = 24;

/// Two neighbours of each of two widths.
const MAX_GROUP: usize = 4;

/// From this many buckets on, which take a MiB, memory for the maximum is reserved at once. It is not touched
/// before it is needed, but then in huge pages, which would be too large for fewer.
const LARGE: usize = (1 << 20) / size_of::<Bucket>();

/// Buckets for each eviction that are allowed before they are doubled. Without this, pieces that share full buckets
/// evicted each other again and again, with most slots free: English that was replayed with r50k took an eighth longer.
const MANY_EVICTIONS: usize = 64;

/// A bit for each of `len` buckets, all 0.
fn bits(len: usize) -> Result<LargeVec<u64>, OutOfMemory> {
    let words = len.div_ceil(64);
    memory::try_zeros(words, words)
}

/// Number of bytes that `len` buckets take, with their bits.
fn memory_of(len: usize) -> usize {
    size_of::<Bucket>() * len + size_of::<u64>() * len.div_ceil(64)
}

/// Number of buckets to reserve memory for, where there are `len` and will be `max` at most.
fn capacity_for(len: usize, max: usize) -> usize {
    if len < LARGE { len } else { max.max(len) }
}

impl BucketArray {
    /// Creates empty buckets of one width or two: two to the power of `buckets_log2` of each, but no more
    /// than `max_log2`, and fewer where memory or the budget is short.
    pub(super) fn new(widths: usize, buckets_log2: u32, max_log2: u32, mut share: Share) -> Self {
        let max_log2 = max_log2.clamp(LEAST_LOG2, MOST_LOG2);
        let mut buckets_log2 = buckets_log2.clamp(LEAST_LOG2, max_log2);
        let (buckets, overflown) = loop {
            let len = widths << buckets_log2;
            let is_fewest = buckets_log2 == LEAST_LOG2;
            // Every cache has some kilobytes, whatever the budget.
            if !share.resize(if is_fewest { 0 } else { memory_of(len) }) {
                buckets_log2 -= 1;
                continue;
            }
            let capacity = capacity_for(len, widths << max_log2);
            let buckets = memory::try_zeros(len, capacity).or_else(|_| memory::try_zeros(len, len));
            match buckets.and_then(|buckets| Ok((buckets, bits(len)?))) {
                Ok(both) => break both,
                Err(_) if !is_fewest => buckets_log2 -= 1,
                Err(error) => memory::unwind(error),
            }
        };
        Self {
            buckets,
            overflown,
            widths,
            max_log2,
            shift: 64 - buckets_log2,
            filled: [0; 2],
            evictions: 0,
            share,
        }
    }

    fn buckets_log2(&self) -> u32 {
        64 - self.shift
    }

    /// Number of bytes they take.
    pub(super) fn memory(&self) -> usize {
        memory_of(self.buckets.len())
    }

    /// Number of bytes that they have taken of the budget.
    pub(super) fn taken(&self) -> usize {
        self.share.bytes()
    }

    /// Borrows what probing needs, once for many probes.
    #[inline]
    pub(super) fn view(&self) -> BucketView<'_> {
        BucketView {
            buckets: &self.buckets,
            overflown: &self.overflown,
            widths: self.widths,
            shift: self.shift,
        }
    }

    /// Stores the ids of a key; returns false if that evicts another entry. When about half of the slots are
    /// taken, or many entries were evicted, the buckets are doubled, as long as there may be more; from then on,
    /// an entry is evicted where its own bucket is full.
    pub(super) fn insert(&mut self, key: &Key, ids: &PackedIds) -> bool {
        // Buckets have fewer slots of width two, so that more of them are full at the same load.
        let max_filled = [5, 4, 4][key.width as usize] << self.buckets_log2();
        let is_loaded = 2 * self.filled[self.view().width_index(key)] > max_filled;
        let may_grow = self.buckets_log2() < self.max_log2;
        let is_crowded = self.evictions > self.buckets.len() / MANY_EVICTIONS;
        if (is_loaded || is_crowded) && may_grow {
            self.double();
        }
        let own = self.view().own(key);
        let is_free = self.add_to(own, key, ids)
            || (may_grow || !is_loaded) && self.add_to_next(own, key, ids);
        if !is_free {
            let slot = self.next_victim(key.width);
            self.write(own, slot, key, ids);
        }
        is_free
    }

    /// Stores the ids of a key if there is an empty slot.
    pub(super) fn add(&mut self, key: &Key, ids: &PackedIds) -> bool {
        let own = self.view().own(key);
        self.add_to(own, key, ids) || self.add_to_next(own, key, ids)
    }

    /// As [`add`](Self::add), to the bucket after a key's own.
    fn add_to_next(&mut self, own: usize, key: &Key, ids: &PackedIds) -> bool {
        let added = self.add_to(own ^ self.widths, key, ids);
        if added {
            self.mark_overflown(own);
        }
        added
    }

    /// As [`add`](Self::add), to one bucket.
    fn add_to(&mut self, bucket: usize, key: &Key, ids: &PackedIds) -> bool {
        let Some(slot) = self.buckets[bucket].empty_slot(key.width) else {
            return false;
        };
        let width = self.view().width_index(key);
        self.filled[width] += key.width.words();
        self.write(bucket, slot, key, ids);
        true
    }

    fn mark_overflown(&mut self, bucket: usize) {
        self.overflown[bucket / 64] |= 1 << (bucket % 64);
    }

    /// As [`add`](Self::add), for a short key of known bucket whose ids are all in the first word.
    pub(super) fn add_short(&mut self, bucket: usize, key: [u64; 2], ids: u64) {
        let two = bucket % 2;
        for index in [bucket, bucket ^ 2] {
            let bucket_there = &mut self.buckets[index];
            let Some(slot) = bucket_there.empty_slot([Width::One, Width::Two][two]) else {
                continue;
            };
            // Both writes go to one slot for a key of one word, and the second stays.
            for (slot, key, ids) in [(slot + two, key[1], 0), (slot, key[0], ids)] {
                debug_assert!(slot < 4, "a key is in one bucket");
                bucket_there.keys[slot % 4] = key;
                bucket_there.ids[slot % 4] = ids;
            }
            self.filled[two] += 1 + two;
            if index != bucket {
                self.mark_overflown(bucket);
            }
            break;
        }
    }

    fn write(&mut self, bucket: usize, slot: usize, key: &Key, ids: &PackedIds) {
        let bucket = &mut self.buckets[bucket];
        let words = key.words.iter().zip(ids).take(key.width.words());
        for (n, (key, ids)) in words.enumerate() {
            // The remainder spares a check of bounds for each word.
            debug_assert!(slot + n < 4, "a key is in one bucket");
            bucket.keys[(slot + n) % 4] = *key;
            bucket.ids[(slot + n) % 4] = *ids;
        }
    }

    /// The slot of a full bucket to evict next.
    fn next_victim(&mut self, width: Width) -> usize {
        self.evictions = self.evictions.wrapping_add(1);
        self.evictions * width.words() % 4
    }

    /// Doubles the buckets in place; if memory or the budget is short, does nothing and never tries again.
    ///
    /// No entry moves further than its group: two neighbours of each width become four, and the entries of
    /// either half fit into its two. So new memory is touched once. In a fresh process, where the system must
    /// provide it, a new array for each size took up to a third of the time of a first pass.
    fn double(&mut self) {
        let before = self.buckets.len();
        let taken = self.share.bytes();
        let Some(overflown) = self.room_to_double() else {
            self.share.resize(taken);
            self.max_log2 = self.buckets_log2();
            return;
        };
        self.buckets.resize(2 * before, Bucket::default());
        self.overflown = overflown;
        self.evictions = 0;
        self.shift -= 1;
        self.filled = [0; 2];
        let group = 2 * self.widths;
        // From the last group to the first, as a group becomes two that lie where later groups were.
        for start in (0..before).step_by(group).rev() {
            let mut buckets = [Bucket::default(); MAX_GROUP];
            buckets[..group].copy_from_slice(&self.buckets[start..start + group]);
            self.buckets[2 * start..2 * (start + group)].fill(Bucket::default());
            for (index, bucket) in buckets[..group].iter().enumerate() {
                self.add_entries(bucket, self.width_at(index), |_| true);
            }
        }
    }

    /// Takes memory for twice as many buckets, and returns the bits for them; `None` if memory or the budget is short.
    fn room_to_double(&mut self) -> Option<LargeVec<u64>> {
        let after = 2 * self.buckets.len();
        if !self.share.resize(memory_of(after)) {
            return None;
        }
        let overflown = bits(after).ok()?;
        if self.buckets.capacity() < after {
            let capacity = capacity_for(after, self.widths << self.max_log2);
            let mut larger = memory::try_large_vec(capacity).ok()?;
            larger.append(&mut self.buckets);
            self.buckets = larger;
        }
        Some(overflown)
    }

    /// Removes the entries whose packed ids are not to be kept. Others may move, within their group.
    pub(super) fn retain(&mut self, keep: impl Fn(&PackedIds) -> bool) {
        self.filled = [0; 2];
        self.overflown.fill(0);
        let group = 2 * self.widths;
        for start in (0..self.buckets.len()).step_by(group) {
            let mut buckets = [Bucket::default(); MAX_GROUP];
            buckets[..group].swap_with_slice(&mut self.buckets[start..start + group]);
            for (index, bucket) in buckets[..group].iter().enumerate() {
                self.add_entries(bucket, self.width_at(index), &keep);
            }
        }
    }

    /// The width of the bucket at an index.
    fn width_at(&self, index: usize) -> Width {
        match (self.widths, index % self.widths) {
            (1, _) => Width::Four,
            (_, 0) => Width::One,
            _ => Width::Two,
        }
    }

    /// Adds the entries of a bucket whose packed ids are to be kept.
    fn add_entries(&mut self, bucket: &Bucket, width: Width, keep: impl Fn(&PackedIds) -> bool) {
        let words = width.words();
        for slot in (0..4).step_by(words) {
            let ids = bucket.ids_at(slot, width);
            if bucket.keys[slot] != 0 && keep(&ids) {
                let key = Key {
                    words: std::array::from_fn(|n| bucket.keys[slot + n % words]),
                    width,
                };
                self.add(&key, &ids);
            }
        }
    }
}

/// A borrowed [`BucketArray`].
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketView<'a> {
    pub(super) buckets: &'a [Bucket],
    overflown: &'a [u64],
    widths: usize,
    pub(super) shift: u32,
}

impl BucketView<'_> {
    /// The index of a key's width among the widths here.
    #[inline]
    fn width_index(&self, key: &Key) -> usize {
        key.width as usize % self.widths
    }

    /// The bucket that a key belongs to.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "shifted down")]
    pub(super) fn own(&self, key: &Key) -> usize {
        self.widths * (key.hash() >> self.shift) as usize + self.width_index(key)
    }

    /// The bucket after another, if entries that belong to that one may be in it.
    #[inline]
    pub(super) fn next(&self, bucket: usize) -> Option<usize> {
        let is_overflown = self.overflown[bucket / 64] >> (bucket % 64) & 1 != 0;
        is_overflown.then_some(bucket ^ self.widths)
    }

    /// Prefetches a bucket. The index is not checked, as a prefetch of any address does no harm.
    #[inline]
    pub(super) fn prefetch_bucket(&self, index: usize) {
        memory::prefetch_at(self.buckets.as_ptr().wrapping_add(index));
    }

    /// The packed ids of a key.
    #[inline]
    pub(super) fn get(&self, key: &Key) -> Option<PackedIds> {
        let own = self.own(key);
        [Some(own), self.next(own)]
            .into_iter()
            .flatten()
            .find_map(|bucket| {
                let bucket = &self.buckets[bucket];
                Some(bucket.ids_at(bucket.slot_of(key)?, key.width))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::{self, Share};
    use super::super::key::{Key, Width};
    use super::super::packed_ids::Packing;
    use super::{BucketArray, LEAST_LOG2};
    use crate::token::TokenId;

    /// All that is stored while buckets are doubled again and again is there in the end, unchanged.
    #[test]
    fn doubling_keeps_entries() -> Result<(), Box<dyn std::error::Error>> {
        for (widths, length, width) in [
            (2, 7, Width::One),
            (2, 15, Width::Two),
            (1, 31, Width::Four),
        ] {
            let share = Share::new(&budget::PROCESS);
            let mut buckets = BucketArray::new(widths, 0, 20, share);
            let pack = |number| Packing::Three.pack(&[number]);
            let key = |number: TokenId| Key::of(format!("{number:_>length$}").as_bytes());
            let (numbers, mut kept) = (30_000, 0);
            for number in 0..numbers {
                let key = key(number).ok_or("no key")?;
                assert!(key.width == width);
                kept += u32::from(buckets.insert(&key, &pack(number).ok_or("no ids")?));
            }
            assert!(buckets.buckets_log2() > LEAST_LOG2 + 6);
            let mut found = 0;
            for number in 0..numbers {
                if let Some(ids) = buckets.view().get(&key(number).ok_or("no key")?) {
                    assert_eq!(Some(ids), pack(number));
                    found += 1;
                }
            }
            // One goes for each that found no free slot.
            assert_eq!(found, kept, "{width:?}");
            assert!(kept > numbers / 5 * 4, "{width:?} {kept}");
        }
        Ok(())
    }
}
