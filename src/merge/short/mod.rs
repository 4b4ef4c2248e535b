//! Merging short pieces: scan all pairs, merge the one of lowest rank, scan again.
//!
//! ```text
//! symbols = a linked list of bytes, after forced merges, each with the rank of the pair it starts
//! while some pair merges:
//!     merge the first pair of lowest rank, unlink its right symbol
//!     find the pair of lowest rank among all others; prefetch the look-ups that follow its merge
//!     look up the two pairs beside the merged one; the lowest of the three is next
//! ```
//!
//! O(n²) with a tiny constant: a few short arrays of 32-bit numbers on the stack, so that the lowest of
//! sixteen pairs is found in two registers. Finding it after the look-ups, which it is independent of, was a
//! tenth slower. Closing the gap after each merge instead of linking was slower (two calls of `memmove` a
//! merge). Merging eight pieces in turn, with the pairs of each prefetched before its next turn, was no
//! faster.

#![expect(clippy::inline_always, reason = "compiled anew for each tier")]

#[cfg(target_arch = "x86_64")]
mod avx2;

use crate::token::{NO_TOKEN, TokenId};
#[cfg(target_arch = "x86_64")]
use crate::util::tier::Tier;
#[cfg(target_arch = "x86_64")]
use crate::util::vector::avx2::Avx2;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::byte_pairs::{BytePair, BytePairTable};
use crate::vocabulary::pair_table::PairTable;

/// The longest piece in bytes. Longer ones are left to [`long`](super::long), which is not quadratic.
pub const LONGEST: usize = 1 << INDEX_BITS;

/// Most pieces have at most this many symbols; the arrays for them are small and quickly initialised.
const FEW: usize = 16;

/// Bits of a symbol's index in an entry; the others hold the rank.
const INDEX_BITS: u32 = 7;

/// The highest id that fits into an entry as a rank.
pub const HIGHEST_ID: TokenId = (u32::MAX >> INDEX_BITS) - 1;

/// Merges `piece` and appends its ids to `ids`. Returns false, and does nothing, if it has more than
/// [`LONGEST`] bytes or there are ids above [`HIGHEST_ID`].
#[inline]
#[must_use]
pub fn merge(vocabulary: &Vocabulary, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
    if piece.len() > LONGEST || vocabulary.highest_id() > HIGHEST_ID {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    if Tier::current().has_avx2()
        && let Some(avx2) = Avx2::detect()
    {
        avx2::merge(avx2, vocabulary, piece, ids);
        return true;
    }
    merge_with_any_tier(vocabulary, piece, ids, scalar(vocabulary));
    true
}

/// Looks up what a pair merges into, in scalar code.
fn scalar(vocabulary: &Vocabulary) -> impl Fn(TokenId, TokenId) -> TokenId + Copy {
    |left, right| vocabulary.merged(left, right)
}

/// As [`merge`], for a piece and a vocabulary that fit. `merged` looks up what a pair merges into.
#[inline(always)]
pub(super) fn merge_with_any_tier(
    vocabulary: &Vocabulary,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    merged: impl Fn(TokenId, TokenId) -> TokenId + Copy,
) {
    let pairs = vocabulary.pairs();
    if piece.len() <= FEW {
        let symbols = Symbols::<FEW>::new(vocabulary, piece, merged);
        symbols.merge_first::<FEW>(pairs, merged, ids);
        return;
    }
    let symbols = Symbols::<LONGEST>::new(vocabulary, piece, merged);
    match symbols.count {
        0..=FEW => symbols.merge_first::<FEW>(pairs, merged, ids),
        17..=32 => symbols.merge_first::<32>(pairs, merged, ids),
        33..=64 => symbols.merge_first::<64>(pairs, merged, ids),
        _ => symbols.merge_first::<LONGEST>(pairs, merged, ids),
    }
}

/// Returns a pair's rank and the index of its left symbol as one number, which orders by rank, then from left
/// to right.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an index is below LONGEST")]
fn entry(rank: TokenId, index: usize) -> u32 {
    rank << INDEX_BITS | index as u32
}

/// The entry of no pair. The entries of [`NO_TOKEN`] are not below it, all others are.
const NO_ENTRY: u32 = NO_TOKEN << INDEX_BITS;

/// The symbols of a piece, and for each the entry of the pair it starts.
struct Symbols<const N: usize> {
    count: usize,
    ids: [TokenId; N],
    entries: [u32; N],
}

impl<const N: usize> Symbols<N> {
    /// Returns the symbols of `piece` after its forced merges. It has at most `N` bytes.
    #[inline(always)]
    fn new(
        vocabulary: &Vocabulary,
        piece: &[u8],
        merged: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) -> Self {
        let mut symbols = Self {
            count: 0,
            ids: [0; N],
            entries: [NO_ENTRY; N],
        };
        match vocabulary.byte_pairs() {
            Some(byte_pairs) => symbols.fill(vocabulary, byte_pairs, piece, merged),
            None => {
                for &byte in piece {
                    symbols.push(vocabulary.byte_token(byte), merged);
                }
            }
        }
        symbols
    }

    #[inline(always)]
    fn fill(
        &mut self,
        vocabulary: &Vocabulary,
        byte_pairs: &BytePairTable,
        piece: &[u8],
        merged: impl Fn(TokenId, TokenId) -> TokenId,
    ) {
        let first_two = |bytes: &[u8]| match *bytes {
            [first, second, ..] => byte_pairs.of(first, second),
            _ => BytePair::END,
        };
        let mut before = BytePair::END;
        let mut here = first_two(piece);
        let mut byte_before = false;
        let mut rest = piece;
        while let [first, following @ ..] = rest {
            let rank_after = |left, right| {
                if before.any_merge() {
                    merged(left, right)
                } else {
                    NO_TOKEN
                }
            };
            if let Some(token) = byte_pairs.character(before, rest) {
                self.push(token, rank_after);
                let last = &following[1..];
                before = first_two(last);
                rest = &last[1..];
                here = first_two(rest);
                byte_before = false;
                continue;
            }
            let after = first_two(following);
            if here.is_forced(before, after) {
                self.push(here.token(), rank_after);
                before = after;
                rest = &following[1..];
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

    /// Adds a symbol. `rank` looks up the rank of its pair with the symbol before.
    #[inline(always)]
    fn push(&mut self, id: TokenId, rank: impl FnOnce(TokenId, TokenId) -> TokenId) {
        debug_assert!(
            self.count < N,
            "a piece has at least a byte for each symbol"
        );
        if let Some(left) = self.count.checked_sub(1) {
            let left = left % N;
            self.entries[left] = entry(rank(self.ids[left], id), left);
        }
        self.ids[self.count % N] = id;
        self.count += 1;
    }

    /// Merges until no pair merges and appends the symbols to `ids`. There are at most `K`, a power of two.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "an index is below 256")]
    fn merge_first<const K: usize>(
        mut self,
        pairs: &PairTable,
        merged: impl Fn(TokenId, TokenId) -> TokenId,
        ids: &mut Vec<TokenId>,
    ) {
        let count = self.count;
        // The indices below are masked by `% K`, which removes their bounds checks.
        debug_assert!(count <= K && K <= N && K.is_power_of_two());
        let symbols = self.ids.first_chunk_mut::<K>().expect("K <= N");
        let entries = self.entries.first_chunk_mut::<K>().expect("K <= N");
        // The last symbol's next is `count`; the first symbol's previous is itself.
        let mut next: [u8; K] = std::array::from_fn(|index| (index + 1) as u8);
        let mut previous: [u8; K] = std::array::from_fn(|index| index.saturating_sub(1) as u8);
        let min = |entries: &[u32; K]| entries.iter().fold(u32::MAX, |min, &entry| min.min(entry));
        let mut lowest = min(entries);
        while lowest < NO_ENTRY {
            let index = lowest as usize % K;
            let rank = lowest >> INDEX_BITS;
            let gone = usize::from(next[index]) % K;
            let after = usize::from(next[gone]);
            let before = usize::from(previous[index]) % K;
            symbols[index] = rank;
            next[index] = after as u8;
            entries[gone] = NO_ENTRY;
            entries[index] = NO_ENTRY;
            entries[before] = NO_ENTRY;
            // The lowest of all others is found before the look-ups, which it is independent of.
            let other = min(entries);
            if other < NO_ENTRY {
                let index = other as usize % K;
                let rank = other >> INDEX_BITS;
                let after = usize::from(next[usize::from(next[index]) % K]);
                pairs.prefetch(rank, symbols[after % K]);
                pairs.prefetch(symbols[usize::from(previous[index]) % K], rank);
            }
            let mut beside = [NO_ENTRY; 2];
            if after < count {
                previous[after % K] = index as u8;
                beside[0] = entry(merged(rank, symbols[after % K]), index);
                entries[index] = beside[0];
            }
            if before < index {
                beside[1] = entry(merged(symbols[before], rank), before);
                entries[before] = beside[1];
            }
            lowest = other.min(beside[0]).min(beside[1]);
        }
        let mut index = 0;
        while index < count {
            ids.push(symbols[index % K]);
            index = usize::from(next[index % K]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, merge, merge_with_any_tier, scalar};
    use crate::builtin::Builtin;

    /// The code compiled for the machine's tier agrees with the scalar code at every length.
    #[test]
    fn tiers_agree() -> Result<(), Box<dyn std::error::Error>> {
        let text =
            "Merging Стихи 漢字仮名交じり文 ภาษาไทย naïve 12345 \u{1F600}\0\0 e\u{301}".repeat(4);
        for builtin in [Builtin::R50k, Builtin::Cl100k, Builtin::O200k] {
            let vocabulary = builtin.vocabulary()?;
            for length in 0..=LONGEST {
                for start in 0..=64 {
                    let piece = &text.as_bytes()[start..start + length];
                    let (mut here, mut expected) = (Vec::new(), Vec::new());
                    assert!(merge(&vocabulary, piece, &mut here));
                    merge_with_any_tier(&vocabulary, piece, &mut expected, scalar(&vocabulary));
                    assert_eq!(here, expected, "{piece:?}");
                }
            }
        }
        Ok(())
    }
}
