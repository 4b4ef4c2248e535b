//! The second step: the ids of pieces that were hashed.

use std::mem::MaybeUninit;

use super::super::bucket::{ALL_WORDS, Bucket, BucketView, slot};
use super::super::key::MAX_KEY_LEN;
use super::super::packed_ids::{COUNT_BIT, MAX_IDS, Packing};
use super::super::probe::{CacheView, Probe, ProbeCache, ProbeSlice};
use super::half::Half;
use super::hash::long_key;
use super::{Compiled, Registers, Room};
use crate::token::TokenId;
use crate::util::memory::Growable;

impl<R: Compiled> ProbeCache for R {
    #[inline]
    fn probe_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
        ids: &mut Vec<TokenId>,
    ) -> usize {
        let (found, _) = probe_by_packing::<_, true>(*self, cache, text, probes, ids);
        found
    }

    #[inline]
    fn count_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
    ) -> (usize, usize) {
        probe_by_packing::<_, false>(*self, cache, text, probes, &mut Vec::new())
    }
}

/// As [`ProbeCache::probe_batch`], or without `KEEP`, as [`ProbeCache::count_batch`]: number of pieces, number of
/// ids.
#[inline]
fn probe_by_packing<R: Compiled, const KEEP: bool>(
    tier: R,
    cache: &CacheView<'_>,
    text: &[u8],
    probes: ProbeSlice<'_>,
    ids: &mut Vec<TokenId>,
) -> (usize, usize) {
    match cache.packing {
        Packing::Three => probe_batch::<_, KEEP, false>(tier, cache, text, probes, ids),
        Packing::Four => probe_batch::<_, KEEP, true>(tier, cache, text, probes, ids),
    }
}

/// As [`probe_by_packing`], of ids that are packed by four, or by three.
fn probe_batch<R: Compiled, const KEEP: bool, const FOUR: bool>(
    tier: R,
    cache: &CacheView<'_>,
    text: &[u8],
    probes: ProbeSlice<'_>,
    ids: &mut Vec<TokenId>,
) -> (usize, usize) {
    let (mut found, mut count) = (0, 0);
    while found < probes.len() {
        let rest = probes.from(found);
        ids.with_room(if KEEP {
            2 * rest.len() + MAX_IDS
        } else {
            MAX_IDS
        });
        let room = ids.spare_capacity_mut();
        // SAFETY: `tier` proves that the machine has what the function is compiled for.
        let (pieces, more, is_recorded) =
            unsafe { tier.probe_short_keys::<KEEP, FOUR>(&cache.short_keys, rest, room) };
        count += more;
        if KEEP {
            append_written(ids, more);
        }
        found += pieces;
        // With room for its ids, the next piece is one that is not in the buckets of its short key, or has its ids in a
        // record.
        if found < probes.len()
            && let Some(room) = ids.spare_capacity_mut().first_chunk_mut()
        {
            let probe = probes.get(found);
            if !probe.has_short_key() {
                // SAFETY: as above.
                let more = unsafe { tier.probe_long_key::<FOUR>(cache, text, &probe, room) };
                let Some(more) = more else {
                    break;
                };
                if more > 0 {
                    count += more;
                    if KEEP {
                        append_written(ids, more);
                    }
                    found += 1;
                    continue;
                }
            } else if !is_recorded {
                break;
            }
            let Some(recorded) = cache.recorded(text, &probe) else {
                break;
            };
            count += recorded.len();
            if KEEP {
                ids.with_room(recorded.len()).extend_from_slice(recorded);
            }
            found += 1;
        }
    }
    (found, count)
}

/// Appends the `count` ids that probing has written behind the last.
#[inline]
fn append_written(ids: &mut Vec<TokenId>, count: usize) {
    let length = ids.len() + count;
    debug_assert!(length <= ids.capacity());
    // SAFETY: they were written: each piece had room for more ids than an entry has, and an entry never has
    // more ids than the words of its key hold, which were all stored (see `PieceCache::insert_by_key`, where
    // entries are written).
    unsafe { ids.set_len(length) };
}

/// Writes the ids of the pieces of `probes` to `room`, up to the first that is not in the buckets of its
/// short key, or for which room might not suffice, or whose ids are in a record. Returns the number of pieces
/// and of ids, and whether the next has a record. Writes nothing without `KEEP`.
///
/// Compiled as a function of its own, without calls, for constants to stay in registers: a fifth faster.
#[inline(always)]
pub(super) fn probe_short_keys<R: Registers, const KEEP: bool, const FOUR: bool>(
    tier: R,
    view: &BucketView<'_>,
    probes: ProbeSlice<'_>,
    room: &mut [MaybeUninit<TokenId>],
) -> (usize, usize, bool) {
    let Some(last_start) = room.len().checked_sub(MAX_IDS) else {
        return (0, 0, false);
    };
    let room = room.as_mut_ptr();
    let (mut found, mut written) = (0, 0);
    for (key, &index) in probes.words.iter().zip(probes.buckets) {
        let index = index as usize;
        let two = index & 1;
        let key = tier.key([Half::of(tier, key); 2]);
        // Other pieces have indices that are too large.
        let Some(bucket) = view.buckets.get(index) else {
            break;
        };
        let from = if let Some(slot) = slot(tier.equal_words(&bucket.keys, key), two) {
            packed_ids(bucket).wrapping_add(slot)
        } else {
            let Some(next) = view.next(index) else {
                break;
            };
            let next = &view.buckets[next];
            let Some(slot) = slot(tier.equal_words(&next.keys, key), two) else {
                break;
            };
            packed_ids(next).wrapping_add(slot)
        };
        if KEEP && written > last_start {
            break;
        }
        // SAFETY: a slot is below four: at most three words of eight bytes are skipped, and five follow in
        // the bucket.
        let packed = unsafe { Half::load(tier, from.cast()) };
        if KEEP {
            // SAFETY: there is room for `MAX_IDS` ids from here on, and eight are stored.
            tier.store_ids::<FOUR>(packed, unsafe { &mut *room.add(written).cast() });
        }
        let count = count::<_, FOUR>(packed, two);
        debug_assert!(count <= if FOUR { 4 } else { 3 } * (1 + two));
        if count == 0 {
            return (found, written, true);
        }
        written += count;
        found += 1;
    }
    (found, written, false)
}

/// As [`probe_short_keys`], for one piece of more than 16 bytes.
#[inline(always)]
pub(super) fn probe_long_key<R: Registers, const FOUR: bool>(
    tier: R,
    cache: &CacheView<'_>,
    text: &[u8],
    probe: &Probe,
    room: &mut Room,
) -> Option<usize> {
    if probe.bucket == Probe::NO_BUCKET {
        return None;
    }
    let (offset, length) = probe.span();
    let rest = &text[offset..];
    let mut last = [0; MAX_KEY_LEN];
    let bytes = rest.first_chunk().unwrap_or_else(|| {
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        &last
    });
    let key = tier.key(long_key(tier, bytes, length)?);
    let view = &cache.long_keys;
    let index = (probe.bucket ^ Probe::LONG_KEY_FLAG) as usize;
    let mut bucket = &view.buckets[index];
    if tier.equal_words(&bucket.keys, key) != ALL_WORDS {
        bucket = &view.buckets[view.next(index)?];
        if tier.equal_words(&bucket.keys, key) != ALL_WORDS {
            return None;
        }
    }
    let [a, b, c, d] = bucket.ids;
    let (low, high) = (Half::of(tier, &[a, b]), Half::of(tier, &[c, d]));
    // Each stores eight, the second from the sixth or eighth on.
    tier.store_ids::<FOUR>(low, room.first_chunk_mut()?);
    tier.store_ids::<FOUR>(high, room[if FOUR { 8 } else { 6 }..].first_chunk_mut()?);
    let count = if FOUR {
        low.count_four(1) + high.count_four(1)
    } else {
        count::<_, FOUR>(low, 1)
    };
    debug_assert!(count <= if FOUR { 16 } else { 12 });
    Some(count)
}

/// The packed ids of a bucket, by a pointer that may be read from to the end of the bucket.
#[inline]
fn packed_ids(bucket: &Bucket) -> *const u64 {
    let bucket: *const Bucket = bucket;
    bucket.cast()
}

/// The number of packed ids: of all words if they are packed by three; by four, of the first word, or of both
/// for width two.
#[inline(always)]
fn count<R: Registers, const FOUR: bool>(packed: Half<R>, two: usize) -> usize {
    if FOUR {
        packed.count_four(two)
    } else {
        (packed.words()[0] >> COUNT_BIT) as usize
    }
}
