//! Both steps of probing in portable code: the twin of those in registers, and what other machines run.
//!
//! Like them, the second step has no branch on the length of a piece or the number of its ids, which no processor
//! predicts: ids are unpacked eight at a time, and what is too much is overwritten by the next.

use super::PieceCache;
use super::bucket::{Bucket, BucketView, slot};
use super::key::{MAX_KEY_LEN, MAX_SHORT_LEN};
use super::packed_ids::{MAX_IDS, Packing};
use super::probe::{BlockProbes, CacheView, HashBlock, Hashed, Probe, ProbeCache, ProbeSlice};
use crate::token::TokenId;
use crate::util::block::{BLOCK_LEN, Block, Spans};
use crate::util::memory::Growable;

/// Both steps in portable code.
pub(crate) struct Scalar;

impl HashBlock for Scalar {
    #[inline]
    fn hash_block<const GAPS: bool>(
        &self,
        cache: &PieceCache,
        block: &Block,
        offset: usize,
        spans: Spans<GAPS>,
        mut probes: BlockProbes<'_>,
    ) -> Hashed {
        let cache = cache.view();
        // Keys are padded with NULs. No piece goes on after the block.
        let has_nul = has_nul(block);
        let mut has_hash = false;
        for (index, (start, end)) in spans.into_iter().enumerate() {
            let length = end - start;
            if let Some(bytes) = block[start..].first_chunk()
                && length <= MAX_SHORT_LEN
                && !has_nul
            {
                // Stored here, word by word: where both branches stored a probe, it went through memory in another
                // width, and waiting for that took a third of the time.
                let probe = cache.short_keys.probe_short(bytes, length);
                let [first, second] = &mut probes.words[index];
                (*first, *second) = (probe.words[0], probe.words[1]);
                probes.buckets[index] = probe.bucket;
            } else {
                let rest = if has_nul {
                    None
                } else {
                    block[start..].first_chunk()
                };
                let probe = match rest {
                    Some(bytes) if length <= MAX_KEY_LEN => {
                        cache.probe(bytes, offset + start, length)
                    }
                    _ => cache.probe_by_hash(&block[start..end], offset + start),
                };
                has_hash |= probe.hash().is_some();
                probes.set(index, probe);
            }
        }
        Hashed {
            count: spans.count(),
            has_hash,
        }
    }
}

/// True if a block has NULs.
#[inline]
fn has_nul(block: &Block) -> bool {
    let (words, _) = block[..BLOCK_LEN].as_chunks::<8>();
    // By the least of each eight bytes, which the compiler finds for many at once.
    let least = words.iter().fold([u8::MAX; 8], |least, word| {
        std::array::from_fn(|n| least[n].min(word[n]))
    });
    least.contains(&0)
}

impl ProbeCache for Scalar {
    #[inline]
    fn probe_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
        ids: &mut Vec<TokenId>,
    ) -> usize {
        let mut found = 0;
        loop {
            let rest = probes.from(found);
            let before = ids.len();
            let additional = 2 * rest.len() + MAX_IDS;
            ids.with_room(additional);
            ids.resize(before + additional, 0);
            let (pieces, written, stop) = probe(cache, text, rest, &mut ids[before..]);
            ids.truncate(before + written);
            found += pieces;
            match stop {
                Stop::Full => {}
                Stop::Recorded(recorded) => {
                    ids.with_room(recorded.len()).extend_from_slice(recorded);
                    found += 1;
                }
                Stop::Missed => return found,
            }
        }
    }

    #[inline]
    fn count_batch(
        &self,
        cache: &CacheView<'_>,
        text: &[u8],
        probes: ProbeSlice<'_>,
    ) -> (usize, usize) {
        let mut ids = Vec::new();
        let found = self.probe_batch(cache, text, probes, &mut ids);
        (found, ids.len())
    }
}

/// Why probing stops.
enum Stop<'a> {
    /// Room might not suffice for the next piece.
    Full,
    /// These are the ids of the next piece.
    Recorded(&'a [TokenId]),
    /// The next piece is in none of its buckets, or there is none.
    Missed,
}

/// Writes the ids of pieces to `room`. Returns the number of pieces and of ids, and why there are no more.
#[inline]
fn probe<'a>(
    cache: &CacheView<'a>,
    text: &[u8],
    probes: ProbeSlice<'_>,
    room: &mut [TokenId],
) -> (usize, usize, Stop<'a>) {
    // One loop for each packing.
    match cache.packing {
        Packing::Three => probe_by(Packing::Three, cache, text, probes, room),
        Packing::Four => probe_by(Packing::Four, cache, text, probes, room),
    }
}

/// As [`probe`], of ids that are packed so.
#[expect(
    clippy::inline_always,
    reason = "the packing is known where it is inlined"
)]
#[inline(always)]
fn probe_by<'a>(
    packing: Packing,
    cache: &CacheView<'a>,
    text: &[u8],
    probes: ProbeSlice<'_>,
    room: &mut [TokenId],
) -> (usize, usize, Stop<'a>) {
    let mut written = 0;
    for (index, (key, &bucket)) in probes.words.iter().zip(probes.buckets).enumerate() {
        let Some(to) = room[written..].first_chunk_mut() else {
            return (index, written, Stop::Full);
        };
        let bucket = bucket as usize;
        let two = bucket & 1;
        let count = if let Some((bucket, slot)) = in_own_buckets(&cache.short_keys, bucket, key) {
            // Of a key of one word, the second is the first again.
            let words = [bucket.ids[slot % 4], bucket.ids[(slot + two) % 4]];
            packing.unpack_short(words, two, to)
        } else if let Some(count) = by_long_key(cache, text, probes.get(index), to) {
            count
        } else {
            return (index, written, Stop::Missed);
        };
        if count == 0 {
            let recorded = cache.recorded(text, &probes.get(index));
            let recorded = recorded.expect("an entry without ids refers to a record");
            return (index, written, Stop::Recorded(recorded));
        }
        written += count;
    }
    (probes.len(), written, Stop::Missed)
}

/// Returns the bucket and the slot of a short key that is in its own bucket, of this index, or the next.
#[inline]
fn in_own_buckets<'b>(
    view: &BucketView<'b>,
    index: usize,
    &[a, b]: &[u64; 2],
) -> Option<(&'b Bucket, usize)> {
    let look = |bucket: &'b Bucket| {
        let [first, second, third, fourth] = bucket.keys;
        let equal = usize::from(first == a)
            | usize::from(second == b) << 1
            | usize::from(third == a) << 2
            | usize::from(fourth == b) << 3;
        Some((bucket, slot(equal, index & 1)?))
    };
    // Other pieces have indices that are too large.
    look(view.buckets.get(index)?).or_else(|| look(&view.buckets[view.next(index)?]))
}

/// Writes the ids of a piece with a long key, and returns their number.
#[inline(never)]
fn by_long_key(
    cache: &CacheView<'_>,
    text: &[u8],
    probe: Probe,
    to: &mut [TokenId; MAX_IDS],
) -> Option<usize> {
    if probe.has_short_key() {
        return None;
    }
    let packed = cache.long_keys.get(&probe.key(text)?)?;
    Some(cache.packing.unpack_into(&packed, to))
}
