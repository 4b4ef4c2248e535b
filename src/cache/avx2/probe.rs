//! The second step: the ids of pieces that were hashed.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_setzero_si128, _mm256_add_epi32,
    _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64,
    _mm256_cvtepu16_epi32, _mm256_loadu_si256, _mm256_movemask_pd, _mm256_set_m128i,
    _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setr_epi32, _mm256_shuffle_epi8, _mm256_srlv_epi32,
    _mm256_storeu_si256,
};
use std::mem::MaybeUninit;

use super::super::bucket::{ALL_WORDS, Bucket, BucketView, slot};
use super::super::key::MAX_KEY_LEN;
use super::super::packed_ids::{COUNT_BIT, MAX_IDS, Packing, THREE_LIMIT};
use super::super::probe::{CacheView, Probe, ProbeCache, ProbeSlice};
use super::{Avx2, ZERO, load, long_key, words};
use crate::token::TokenId;
use crate::util::memory::Growable;

/// Memory for the ids of any piece.
type Room = [MaybeUninit<TokenId>; MAX_IDS];

impl ProbeCache for Avx2 {
    #[inline]
    fn probe_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
        ids: &mut Vec<TokenId>,
    ) -> usize {
        let (found, _) = self.probe_by_packing::<true>(cache, text, probes, ids);
        found
    }

    #[inline]
    fn count_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
    ) -> (usize, usize) {
        self.probe_by_packing::<false>(cache, text, probes, &mut Vec::new())
    }
}

impl Avx2 {
    /// As [`ProbeCache::probe_batch`], or without `KEEP`, as [`ProbeCache::count_batch`]: number of pieces,
    /// number of ids.
    #[inline]
    #[expect(clippy::unused_self, reason = "it proves that the machine has AVX2")]
    fn probe_by_packing<const KEEP: bool>(
        self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
        ids: &mut Vec<TokenId>,
    ) -> (usize, usize) {
        // SAFETY: `self` proves that the machine has what the functions are compiled for.
        unsafe {
            match cache.packing {
                Packing::Three => probe_batch::<KEEP, false>(cache, text, probes, ids),
                Packing::Four => probe_batch::<KEEP, true>(cache, text, probes, ids),
            }
        }
    }
}

/// As [`Avx2::probe_by_packing`], of ids that are packed by four, or by three.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn probe_batch<const KEEP: bool, const FOUR: bool>(
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
        let (pieces, more, is_recorded) =
            probe_short_keys::<KEEP, FOUR>(&cache.short_keys, rest, ids.spare_capacity_mut());
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
                let Some(more) = probe_long_key::<FOUR>(cache, text, &probe, room) else {
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
/// In a function of its own, without calls, for constants to stay in registers: a fifth faster.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn probe_short_keys<const KEEP: bool, const FOUR: bool>(
    view: &BucketView<'_>,
    probes: ProbeSlice<'_>,
    room: &mut [MaybeUninit<TokenId>],
) -> (usize, usize, bool) {
    let Some(last_start) = room.len().checked_sub(MAX_IDS) else {
        return (0, 0, false);
    };
    let room: *mut TokenId = room.as_mut_ptr().cast();
    let (mut found, mut written) = (0, 0);
    for (key, &index) in probes.words.iter().zip(probes.buckets) {
        let index = index as usize;
        let two = index & 1;
        // SAFETY: reads the 16 bytes of both words.
        let key = _mm256_broadcastsi128_si256(unsafe { load(key.as_ptr().cast()) });
        // Other pieces have indices that are too large.
        let Some(bucket) = view.buckets.get(index) else {
            break;
        };
        let from = if let Some(slot) = slot(equal_words(bucket, key), two) {
            packed_ids(bucket).wrapping_add(slot)
        } else {
            let Some(next) = view.next(index) else {
                break;
            };
            let next = &view.buckets[next];
            let Some(slot) = slot(equal_words(next, key), two) else {
                break;
            };
            packed_ids(next).wrapping_add(slot)
        };
        if KEEP && written > last_start {
            break;
        }
        // SAFETY: a slot is below four: at most three words of eight bytes are skipped, and five follow in
        // the bucket.
        let packed = unsafe { load(from.cast()) };
        if KEEP {
            // SAFETY: there is room for `MAX_IDS` ids from here on, and eight are stored.
            unsafe { store::<FOUR>(packed, room.add(written)) };
        }
        let count = count::<FOUR>(packed, two);
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
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn probe_long_key<const FOUR: bool>(
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
    let (first, second) = long_key(bytes, length)?;
    let key = _mm256_set_m128i(second, first);
    let index = (probe.bucket ^ Probe::LONG_KEY_FLAG) as usize;
    probe_width_four::<FOUR>(&cache.long_keys, index, key, room)
}

/// As [`probe_short_keys`], for one key of four words with the index of its bucket.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn probe_width_four<const FOUR: bool>(
    view: &BucketView<'_>,
    index: usize,
    key: __m256i,
    room: &mut Room,
) -> Option<usize> {
    let mut bucket = &view.buckets[index];
    if equal_words(bucket, key) != ALL_WORDS {
        bucket = &view.buckets[view.next(index)?];
        if equal_words(bucket, key) != ALL_WORDS {
            return None;
        }
    }
    // SAFETY: both read 16 of the 32 bytes of packed ids.
    let (low, high) = unsafe {
        (
            load(packed_ids(bucket).cast()),
            load(packed_ids(bucket).add(2).cast()),
        )
    };
    let room: *mut TokenId = room.as_mut_ptr().cast();
    // SAFETY: there is room for 16 ids, and each stores eight, the second from the sixth or eighth on.
    unsafe {
        store::<FOUR>(low, room);
        store::<FOUR>(high, room.add(if FOUR { 8 } else { 6 }));
    }
    let count = if FOUR {
        count::<FOUR>(low, 1) + count::<FOUR>(high, 1)
    } else {
        count::<FOUR>(low, 1)
    };
    debug_assert!(count <= if FOUR { 16 } else { 12 });
    Some(count)
}

/// The words of a bucket that equal those of the key, a bit each.
#[inline]
#[target_feature(enable = "avx2")]
fn equal_words(bucket: &Bucket, key: __m256i) -> usize {
    // SAFETY: reads the 32 bytes of the keys.
    let keys = unsafe { _mm256_loadu_si256(bucket.keys.as_ptr().cast()) };
    let equal = _mm256_cmpeq_epi64(keys, key);
    _mm256_movemask_pd(_mm256_castsi256_pd(equal)).cast_unsigned() as usize
}

/// The packed ids of a bucket, by a pointer that may be read from to the end of the bucket.
#[inline]
fn packed_ids(bucket: &Bucket) -> *const u64 {
    let bucket: *const Bucket = bucket;
    bucket.cast()
}

/// Stores the ids of two words: eight, of which the first six are ids if they are packed by three.
///
/// # Safety
/// `room` must be valid for writing eight ids.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store<const FOUR: bool>(packed: __m128i, room: *mut TokenId) {
    const Z: i8 = ZERO.cast_signed();
    let ids = if FOUR {
        _mm256_add_epi32(_mm256_cvtepu16_epi32(packed), _mm256_set1_epi32(-1))
    } else {
        // The bits of an id begin in the first of its three bytes, or four bits later.
        let bytes = _mm256_setr_epi8(
            0, 1, 2, Z, 2, 3, 4, Z, 5, 6, 7, Z, 8, 9, 10, Z, //
            10, 11, 12, Z, 13, 14, 15, Z, Z, Z, Z, Z, Z, Z, Z, Z,
        );
        let ids = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(packed), bytes);
        let ids = _mm256_srlv_epi32(ids, _mm256_setr_epi32(0, 4, 0, 0, 4, 0, 0, 0));
        _mm256_and_si256(ids, _mm256_set1_epi32((THREE_LIMIT - 1).cast_signed()))
    };
    // SAFETY: the caller guarantees room for eight ids.
    unsafe { _mm256_storeu_si256(room.cast(), ids) };
}

/// The end of one word that is packed by four, and of two, in bits of which each id has two. A table, as the loop has no
/// register left to shift in.
const ENDS: [u32; 2] = [0x100, 0x1_0000];

/// The number of packed ids: of all words if they are packed by three; by four, of the first word, or of both
/// for width two.
#[inline]
#[target_feature(enable = "avx2,bmi1")]
fn count<const FOUR: bool>(packed: __m128i, two: usize) -> usize {
    if FOUR {
        let none = _mm_movemask_epi8(_mm_cmpeq_epi16(packed, _mm_setzero_si128()));
        // Two bits an id.
        (none.cast_unsigned() | ENDS[two & 1]).trailing_zeros() as usize / 2
    } else {
        (words(packed)[0] >> COUNT_BIT) as usize
    }
}
