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
use crate::util::memory::Growable;
#[cfg(target_arch = "x86_64")]
use crate::util::tier::Tier;
#[cfg(target_arch = "x86_64")]
use crate::util::vector::avx2::Avx2;
use crate::vocabulary::byte_merges::ByteMerges;
use crate::vocabulary::byte_pairs::{BytePair, BytePairTable};
use crate::vocabulary::listed::{Alphabet, ListedMerges};
use crate::vocabulary::pair_table::PairTable;

/// The longest piece in bytes. Longer ones are left to [`long`](super::long), which is not quadratic.
pub const LONGEST: usize = 1 << INDEX_BITS;

/// Most pieces have at most this many symbols; the arrays for them are small and quickly initialised.
const FEW: usize = 16;

/// Bits of a symbol's index in an entry; the others hold the rank.
const INDEX_BITS: u32 = 7;

/// The highest rank that fits into an entry.
pub const HIGHEST_RANK: TokenId = (u32::MAX >> INDEX_BITS) - 1;

/// The merges to make. The table has an **entry** for each pair that merges, which says its rank and what it makes.
pub trait ShortMerges {
    /// Returns whether all ranks are at most [`HIGHEST_RANK`].
    fn fits(&self) -> bool;

    /// The table of pairs that merge.
    fn pairs(&self) -> &PairTable;

    /// Adds the symbols of `piece`. `look_up` looks up the entry of a pair.
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    );

    /// Returns the rank of an entry; [`NO_TOKEN`] of itself.
    fn rank(&self, entry: TokenId) -> TokenId;

    /// Returns what two symbols of this rank most likely merge into.
    #[inline(always)]
    fn likely(&self, rank: TokenId) -> TokenId {
        rank
    }

    /// Returns the symbol that a pair of this rank merges into; `look_up` looks up its entry.
    fn made(&self, rank: TokenId, look_up: impl FnOnce() -> TokenId) -> TokenId;
}

/// Merges `piece` and appends its ids to `ids`. Returns false, and does nothing, if it has more than
/// [`LONGEST`] bytes or there are ranks above [`HIGHEST_RANK`].
#[inline]
#[must_use]
pub fn merge(merges: &impl ShortMerges, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
    if piece.len() > LONGEST || !merges.fits() {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    if Tier::current().has_avx2()
        && let Some(avx2) = Avx2::detect()
    {
        avx2::merge(avx2, merges, piece, ids);
        return true;
    }
    merge_with_any_tier(merges, piece, ids, scalar(merges));
    true
}

/// Looks up what a pair merges into, in scalar code.
fn scalar(merges: &impl ShortMerges) -> impl Fn(TokenId, TokenId) -> TokenId + Copy {
    |left, right| merges.pairs().get(left, right)
}

/// As [`merge`], for a piece and merges that fit. `look_up` looks up what a pair merges into.
#[inline(always)]
pub(super) fn merge_with_any_tier(
    merges: &impl ShortMerges,
    piece: &[u8],
    ids: &mut Vec<TokenId>,
    look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
) {
    if piece.len() <= FEW {
        let symbols = Symbols::<FEW>::new(merges, piece, look_up);
        symbols.merge_first::<FEW>(merges, look_up, ids);
        return;
    }
    let symbols = Symbols::<LONGEST>::new(merges, piece, look_up);
    match symbols.count {
        0..=FEW => symbols.merge_first::<FEW>(merges, look_up, ids),
        17..=32 => symbols.merge_first::<32>(merges, look_up, ids),
        33..=64 => symbols.merge_first::<64>(merges, look_up, ids),
        _ => symbols.merge_first::<LONGEST>(merges, look_up, ids),
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
#[derive(Debug)]
pub struct Symbols<const N: usize> {
    count: usize,
    ids: [TokenId; N],
    entries: [u32; N],
}

impl<const N: usize> Symbols<N> {
    /// Returns the symbols of `piece`. It has at most `N` bytes.
    #[inline(always)]
    fn new(
        merges: &impl ShortMerges,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) -> Self {
        let mut symbols = Self {
            count: 0,
            ids: [0; N],
            entries: [NO_ENTRY; N],
        };
        merges.fill(&mut symbols, piece, look_up);
        symbols
    }

    /// Adds a symbol. `rank` looks up the rank of its pair with the symbol before.
    #[inline(always)]
    pub(super) fn push(&mut self, id: TokenId, rank: impl FnOnce(TokenId, TokenId) -> TokenId) {
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
        merges: &impl ShortMerges,
        look_up: impl Fn(TokenId, TokenId) -> TokenId,
        ids: &mut Vec<TokenId>,
    ) {
        let (count, pairs) = (self.count, merges.pairs());
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
            let made = merges.made(rank, || look_up(symbols[index], symbols[gone]));
            symbols[index] = made;
            next[index] = after as u8;
            entries[gone] = NO_ENTRY;
            entries[index] = NO_ENTRY;
            entries[before] = NO_ENTRY;
            // The lowest of all others is found before the look-ups, which it is independent of.
            let other = min(entries);
            if other < NO_ENTRY {
                let index = other as usize % K;
                let made = merges.likely(other >> INDEX_BITS);
                let after = usize::from(next[usize::from(next[index]) % K]);
                pairs.prefetch(made, symbols[after % K]);
                pairs.prefetch(symbols[usize::from(previous[index]) % K], made);
            }
            let mut beside = [NO_ENTRY; 2];
            if after < count {
                previous[after % K] = index as u8;
                beside[0] = entry(merges.rank(look_up(made, symbols[after % K])), index);
                entries[index] = beside[0];
            }
            if before < index {
                beside[1] = entry(merges.rank(look_up(symbols[before], made)), before);
                entries[before] = beside[1];
            }
            lowest = other.min(beside[0]).min(beside[1]);
        }
        ids.with_room(count);
        let mut index = 0;
        while index < count {
            ids.push(symbols[index % K]);
            index = usize::from(next[index % K]);
        }
    }
}

// Short pieces of bytes: forced merges are made at once.

impl ShortMerges for ByteMerges {
    #[inline]
    fn fits(&self) -> bool {
        self.highest() <= HIGHEST_RANK
    }

    #[inline]
    fn pairs(&self) -> &PairTable {
        self.pairs()
    }

    #[inline(always)]
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) {
        match self.byte_pairs() {
            Some(byte_pairs) => {
                let byte_token = |byte| self.byte_token(byte);
                symbols.put_bytes(self, byte_token, byte_pairs, piece, look_up);
            }
            None => {
                for &byte in piece {
                    symbols.push(self.byte_token(byte), look_up);
                }
            }
        }
    }

    #[inline(always)]
    fn rank(&self, made: TokenId) -> TokenId {
        made
    }

    #[inline(always)]
    fn made(&self, rank: TokenId, _: impl FnOnce() -> TokenId) -> TokenId {
        rank
    }
}

impl<const N: usize> Symbols<N> {
    /// Adds the symbols of `piece` after its forced merges.
    #[inline(always)]
    pub(super) fn put_bytes(
        &mut self,
        merges: &impl ShortMerges,
        byte_token: impl Fn(u8) -> TokenId,
        byte_pairs: &BytePairTable,
        piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId,
    ) {
        let made = |rank| merges.made(rank, || unreachable!("no two pairs of bytes share a rank"));
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
                    look_up(left, right)
                } else {
                    NO_TOKEN
                }
            };
            if let Some(rank) = byte_pairs.character(before, rest) {
                self.push(made(rank), rank_after);
                let last = &following[1..];
                before = first_two(last);
                rest = &last[1..];
                here = first_two(rest);
                byte_before = false;
                continue;
            }
            let after = first_two(following);
            if here.is_forced(before, after) {
                self.push(made(here.rank()), rank_after);
                before = after;
                rest = &following[1..];
                here = first_two(rest);
                byte_before = false;
            } else {
                let byte = byte_token(*first);
                if byte_before {
                    self.push(byte, |_, _| before.rank());
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
}

// Short pieces, by a list of merges.

impl ShortMerges for ListedMerges {
    #[inline]
    fn fits(&self) -> bool {
        self.ranks() <= HIGHEST_RANK as usize
    }

    #[inline]
    fn pairs(&self) -> &PairTable {
        self.pairs()
    }

    #[inline(always)]
    fn fill<const N: usize>(
        &self,
        symbols: &mut Symbols<N>,
        mut piece: &[u8],
        look_up: impl Fn(TokenId, TokenId) -> TokenId + Copy,
    ) {
        if let Alphabet::Bytes(tokens) = self.alphabet() {
            let byte_token = |byte| tokens[usize::from(byte)];
            match self.byte_pairs() {
                Some(byte_pairs) => {
                    symbols.put_bytes(self, byte_token, byte_pairs, piece, look_up);
                }
                None => {
                    for &byte in piece {
                        symbols.push(byte_token(byte), look_up);
                    }
                }
            }
            return;
        }
        while !piece.is_empty() {
            let (symbol, length) = self.first(piece);
            symbols.push(symbol, |left, right| self.rank(look_up(left, right)));
            piece = &piece[length..];
        }
    }

    #[inline(always)]
    fn rank(&self, entry: TokenId) -> TokenId {
        self.rank(entry)
    }

    #[inline(always)]
    fn likely(&self, rank: TokenId) -> TokenId {
        self.likely(rank)
    }

    #[inline(always)]
    fn made(&self, rank: TokenId, look_up: impl FnOnce() -> TokenId) -> TokenId {
        self.made(rank, look_up)
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
            let merges = vocabulary.byte_merges().ok_or("it merges bytes")?;
            for length in 0..=LONGEST {
                for start in 0..=64 {
                    let piece = &text.as_bytes()[start..start + length];
                    let (mut here, mut expected) = (Vec::new(), Vec::new());
                    assert!(merge(merges, piece, &mut here));
                    merge_with_any_tier(merges, piece, &mut expected, scalar(merges));
                    assert_eq!(here, expected, "{piece:?}");
                }
            }
        }
        Ok(())
    }
}
