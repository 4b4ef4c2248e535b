//! Merging short pieces: look at every pair, merge the best, look again.
//!
//! ```text
//! parts = bytes, but characters and pairs of bytes that are bound to merge are merged already, in a linked list, each
//!         with the rank of the pair it starts
//! while some pair merges:
//!     merge the first pair of lowest rank, unlink its right part
//!     which is the best of all other pairs? ask for the memory of what merging it would look up
//!     look up the two pairs beside the merged one; the best of the three is next
//! ```
//!
//! O(n²) with a tiny constant: a few short arrays on the stack, of 32 bits, so that the best pair of sixteen is found in
//! two registers. To look for it after the look-ups, which it need not wait for, was a tenth slower. Closing the gap after
//! each merge instead of linking was slower (two calls of `memmove` a merge). To merge eight pieces in turn, and ask for
//! the pairs of each before it is the next one's turn, was no faster.

#![expect(clippy::inline_always, reason = "compiled anew for each tier")]

use crate::token::{NO_TOKEN, TokenId};
use crate::util::tier::Tier;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::byte_pairs::{Adjacencies, Adjacency};
use crate::vocabulary::pair_table::PairTable;

/// Longer pieces are left to the queue, whose cost does not grow with the square of their length.
pub const LONGEST: usize = 1 << PLACE_BITS;

/// Most pieces have at most this many parts; for them the arrays are small enough to be set up in no time.
const FEW: usize = 16;

/// Bits of a part's place; the others are for ranks.
const PLACE_BITS: u32 = 7;

/// Higher ids, as ranks, do not fit beside a place.
pub const HIGHEST_ID: TokenId = (u32::MAX >> PLACE_BITS) - 1;

/// Appends what the merges make of `piece` to `ids`; false, and nothing done, if it has more than [`LONGEST`] bytes, or if
/// there are ids above [`HIGHEST_ID`].
#[inline]
#[must_use]
pub fn merge(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
    if piece.len() > LONGEST || vocabulary.highest_id() > HIGHEST_ID {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    if Tier::current().has_avx2() && super::avx2::merge(vocabulary, piece, ids) {
        return true;
    }
    merge_with_any_tier(vocabulary, piece, ids, plainly(vocabulary));
    true
}

/// What pairs merge into, in plain code.
fn plainly(vocabulary: &Vocabulary) -> impl Fn(TokenId, TokenId) -> TokenId + Copy {
    |left, right| vocabulary.merged(left, right)
}

/// As [`merge`], for a piece and a vocabulary that fit. `merged` is how the tier asks what a pair merges into.
#[inline(always)]
pub(super) fn merge_with_any_tier(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    merged: impl Fn(TokenId, TokenId) -> TokenId + Copy,
) {
    let pairs = vocabulary.pairs();
    if piece.len() <= FEW {
        let parts = Parts::<FEW>::new(vocabulary, piece, merged);
        parts.merge_first::<FEW>(pairs, merged, ids);
        return;
    }
    let parts = Parts::<LONGEST>::new(vocabulary, piece, merged);
    match parts.count {
        0..=FEW => parts.merge_first::<FEW>(pairs, merged, ids),
        17..=32 => parts.merge_first::<32>(pairs, merged, ids),
        33..=64 => parts.merge_first::<64>(pairs, merged, ids),
        _ => parts.merge_first::<LONGEST>(pairs, merged, ids),
    }
}

/// A pair's rank and its place as one number that orders by rank, then from left to right.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below the longest piece")]
fn entry(rank: TokenId, place: usize) -> u32 {
    rank << PLACE_BITS | place as u32
}

/// That of no pair. Those of [`NO_TOKEN`] are no lower, and all others are.
const NO_ENTRY: u32 = NO_TOKEN << PLACE_BITS;

/// The parts of a piece, and for each the rank of the pair it starts.
struct Parts<const N: usize> {
    count: usize,
    ids: [TokenId; N],
    entries: [u32; N],
}

impl<const N: usize> Parts<N> {
    /// Byte tokens, and characters and pairs of bytes that are bound to merge. Of at most `N` bytes.
    #[inline(always)]
    fn new(
        vocabulary: &Vocabulary,
        piece: &[u8],
        merged: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) -> Self {
        let mut parts = Self {
            count: 0,
            ids: [0; N],
            entries: [NO_ENTRY; N],
        };
        match vocabulary.adjacencies() {
            Some(adjacencies) => parts.fill(vocabulary, adjacencies, piece, merged),
            None => {
                for &byte in piece {
                    let byte = vocabulary.byte_token(byte);
                    parts.push(byte, merged);
                }
            }
        }
        parts
    }

    #[inline(always)]
    fn fill(
        &mut self,
        vocabulary: &Vocabulary,
        adjacencies: &Adjacencies,
        piece: &[u8],
        merged: impl Fn(TokenId, TokenId) -> TokenId,
    ) {
        let first_two = |bytes: &[u8]| match *bytes {
            [first, second, ..] => adjacencies.of(first, second),
            _ => Adjacency::END,
        };
        let mut before = Adjacency::END;
        let mut here = first_two(piece);
        let mut byte_before = false;
        let mut rest = piece;
        while let [first, following @ ..] = rest {
            let rank_after = |left, right| {
                if before.joined() {
                    merged(left, right)
                } else {
                    NO_TOKEN
                }
            };
            if let Some(token) = adjacencies.character(before, rest) {
                self.push(token, rank_after);
                let last = following.get(1..).unwrap_or_default();
                before = first_two(last);
                rest = last.get(1..).unwrap_or_default();
                here = first_two(rest);
                byte_before = false;
                continue;
            }
            let after = first_two(following);
            if here.bound(before, after) {
                self.push(here.token(), rank_after);
                before = after;
                rest = following.get(1..).unwrap_or_default();
                here = first_two(rest);
                byte_before = false;
            } else {
                let byte = vocabulary.byte_token(*first);
                if byte_before {
                    self.push(byte, |_, _| before.token());
                } else {
                    self.push(byte, rank_after);
                }
                before = here;
                here = after;
                rest = following;
                byte_before = true;
            }
        }
    }

    /// Adds a part; `rank` tells that of the pair which the part before makes with it.
    #[inline(always)]
    fn push(&mut self, id: TokenId, rank: impl FnOnce(TokenId, TokenId) -> TokenId) {
        if let Some(left) = self.count.checked_sub(1) {
            let left = left % N;
            self.entries[left] = entry(rank(self.ids[left], id), left);
        }
        self.ids[self.count % N] = id;
        self.count += 1;
    }

    /// Merges until nothing merges any more and appends what is left to `ids`. There are at most `K` parts.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places are below 256")]
    fn merge_first<const K: usize>(
        mut self,
        pairs: &PairTable,
        merged: impl Fn(TokenId, TokenId) -> TokenId,
        ids: &mut Vec<TokenId>,
    ) {
        let count = self.count;
        let (Some(parts), Some(entries)) = (
            self.ids.first_chunk_mut::<K>(),
            self.entries.first_chunk_mut::<K>(),
        ) else {
            return;
        };
        // The place after the last is `count`; the place before the first is its own.
        let mut next: [u8; K] = std::array::from_fn(|place| (place + 1) as u8);
        let mut previous: [u8; K] = std::array::from_fn(|place| place.saturating_sub(1) as u8);
        let best = |entries: &[u32; K]| {
            entries
                .iter()
                .fold(u32::MAX, |best, &entry| best.min(entry))
        };
        let mut lowest = best(entries);
        while lowest < NO_ENTRY {
            let place = lowest as usize % K;
            let rank = lowest >> PLACE_BITS;
            let gone = usize::from(next[place]) % K;
            let after = usize::from(next[gone]);
            let before = usize::from(previous[place]) % K;
            parts[place] = rank;
            next[place] = after as u8;
            entries[gone] = NO_ENTRY;
            entries[place] = NO_ENTRY;
            entries[before] = NO_ENTRY;
            // Of all others: it need not wait for the look-ups.
            let other = best(entries);
            if other < NO_ENTRY {
                let place = other as usize % K;
                let rank = other >> PLACE_BITS;
                let after = usize::from(next[usize::from(next[place]) % K]);
                pairs.prefetch(rank, parts[after % K]);
                pairs.prefetch(parts[usize::from(previous[place]) % K], rank);
            }
            let mut beside = [NO_ENTRY; 2];
            if after < count {
                previous[after % K] = place as u8;
                beside[0] = entry(merged(rank, parts[after % K]), place);
                entries[place] = beside[0];
            }
            if before < place {
                beside[1] = entry(merged(parts[before], rank), before);
                entries[before] = beside[1];
            }
            lowest = other.min(beside[0]).min(beside[1]);
        }
        let mut place = 0;
        while place < count {
            ids.push(parts[place % K]);
            place = usize::from(next[place % K]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, merge, merge_with_any_tier, plainly};
    use crate::builtin::Builtin;

    /// The scan compiled for the machine's tier gives what the plain one gives, at every length.
    #[test]
    fn tiers_agree() -> Result<(), Box<dyn std::error::Error>> {
        let text =
            "Merging Стихи 漢字仮名交じり文 ภาษาไทย naïve 12345 \u{1F600}\0\0 e\u{301}".repeat(4);
        for builtin in [Builtin::R50k, Builtin::Cl100k, Builtin::O200k] {
            let vocabulary = builtin.vocabulary()?;
            for length in 0..=LONGEST {
                for start in 0..=64 {
                    let piece = &text.as_bytes()[start..start + length];
                    let (mut here, mut plain) = (Vec::new(), Vec::new());
                    assert!(merge(&vocabulary, piece, &mut here));
                    merge_with_any_tier(&vocabulary, piece, &mut plain, plainly(&vocabulary));
                    assert_eq!(here, plain, "{piece:?}");
                }
            }
        }
        Ok(())
    }
}
