//! Batches of independent merges, which threads apply without synchronising.
//!
//! Two pairs **conflict** if one ends with the token that the other begins with, as (a, b) and (b, c) do.
//! Take the first candidates p1, p2, … in their order. As long as no two of them conflict, and none but the
//! last consists of the same token twice, these are the next merges, one after the other:
//!
//! - Merging one of them takes no occurrence away from another. An occurrence of (c, d) disappears where the
//!   merge of (a, b) takes one of its two tokens. If that is its c, then c = b, since what follows a is b,
//!   not d; if it is its d, then d = a. Either way the two conflict.
//! - A pair that one of them creates comes after all of them. Let t be the token of (a, b). Where a new pair
//!   (x, t) is now, (x, a) was before, or (f, a), if x is itself the new token of some (e, f), whichever was
//!   merged first. Where (t, y) is now, y not being new, (b, y) was. Call this its **predecessor**. It was a
//!   candidate, at least as frequent, and it conflicts with (a, b): so it is not in the batch, and comes
//!   after each q of the batch. If the new pair is less frequent than q there is nothing left to show.
//!   Otherwise all three are equally frequent, and the rule for ties decides:
//!   - By ids, of the left, then of the right token: those of new tokens are above all others. (x, t) comes
//!     after (x, a), and so after q; and a pair that begins with a new token comes after every candidate.
//!   - By first occurrence: q begins somewhere before its first predecessor does. (x, t) begins where (x, a)
//!     did. (t, y) begins one token earlier than (b, y), where a did; between the two nothing begins, and the
//!     pair that began there was (a, b), not q. The same holds for e, where (f, a) was the predecessor. So q
//!     comes before the new pair, too. Since pieces occur at least once, the first occurrence of a pair stays
//!     what it was as long as its count does.
//!   - By length: the new pair is longer than its predecessor, so it comes after that, too.
//!   - By bytes this does not hold: (t, y) may come first of all.
//!
//! The predecessor of a new pair of (a, a) may be (a, a) itself, which is in the batch; so (a, a) ends a
//! batch.
//!
//! The predecessor was not excluded by the maximal length, as the new pair is longer, nor for being rare.
//! Where pairs are excluded for their bytes, or ties are decided by bytes, batches have one merge, unless what
//! excludes pairs never excludes a predecessor of one that it allows: a part of the same text.

use std::ops::Range;

use crate::token::{Pair, TokenId};

/// Most merges in a batch. With a quarter as many or four times as many there was no difference.
const MAX_MERGES: usize = 512;

/// A batch with at least this many occurrences is full.
const FULL_OCCURRENCES: usize = 1 << 13;

/// A batch with at least this many occurrences is shared with workers that are awake: sharing takes about ten
/// microseconds.
const MIN_SHARED_OCCURRENCES: usize = 1 << 9;

/// A pair and the token that it becomes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    pub(super) pair: Pair,
    /// Lengths of its two tokens in bytes.
    pub(super) lengths: [u32; 2],
    pub(super) token: TokenId,
}

impl Merge {
    /// Number of tokens after this merge.
    pub(super) fn tokens(self) -> usize {
        self.token as usize + 1
    }
}

/// The next merges, in order.
#[derive(Debug, Default)]
pub(super) struct MergeBatch {
    /// Each with the range of its occurrences in the pool of the shard of its pair.
    pub(super) merges: Vec<(Merge, Range<usize>)>,
    /// Number of occurrences of all merges.
    pub(super) occurrences: usize,
    /// For each token, whether a pair of the batch begins with it, and whether one ends with it.
    begins_and_ends: Vec<[bool; 2]>,
}

impl MergeBatch {
    /// Empties it, for pairs of `tokens` tokens.
    pub(super) fn clear(&mut self, tokens: usize) {
        for (Merge { pair, .. }, _) in self.merges.drain(..) {
            for token in [pair.left, pair.right] {
                self.begins_and_ends[token as usize] = [false; 2];
            }
        }
        if self.begins_and_ends.len() < tokens {
            let length = tokens.next_power_of_two();
            self.begins_and_ends.resize(length, [false; 2]);
        }
        self.occurrences = 0;
    }

    /// Returns whether no merge may be added.
    pub(super) fn is_full(&self) -> bool {
        let last = self.merges.last();
        self.merges.len() >= MAX_MERGES
            || self.occurrences >= FULL_OCCURRENCES
            || last.is_some_and(|(merge, _)| merge.pair.left == merge.pair.right)
    }

    /// Returns whether several threads are to apply it.
    pub(super) fn is_shared(&self) -> bool {
        self.occurrences >= MIN_SHARED_OCCURRENCES
    }

    /// Returns whether a pair conflicts with one of the batch.
    pub(super) fn conflicts_with(&self, pair: Pair) -> bool {
        let [begins, _] = self.begins_and_ends[pair.right as usize];
        let [_, ends] = self.begins_and_ends[pair.left as usize];
        begins || ends
    }

    /// Adds the next merge.
    pub(super) fn push(&mut self, merge: Merge, occurrences: Range<usize>) {
        self.occurrences += occurrences.len();
        self.begins_and_ends[merge.pair.left as usize][0] = true;
        self.begins_and_ends[merge.pair.right as usize][1] = true;
        self.merges.push((merge, occurrences));
    }
}

#[cfg(test)]
mod tests {
    use super::{FULL_OCCURRENCES, MAX_MERGES, Merge, MergeBatch};
    use crate::token::{Pair, TokenId};

    fn batch(pairs: &[[TokenId; 2]], occurrences: usize) -> MergeBatch {
        let mut batch = MergeBatch::default();
        batch.clear(1000);
        for (&[left, right], token) in pairs.iter().zip(500..) {
            assert!(!batch.is_full());
            let merge = Merge {
                pair: Pair::new(left, right),
                lengths: [1, 1],
                token,
            };
            batch.push(merge, 0..occurrences);
        }
        batch
    }

    #[test]
    fn pairs_conflict_if_one_ends_with_what_the_other_begins_with() {
        let mut batch = batch(&[[1, 2], [1, 3], [4, 3]], 1);
        for (left, right, conflicts) in [
            (1, 5, false),
            (5, 2, false),
            (5, 3, false),
            (5, 1, true),
            (5, 4, true),
            (2, 5, true),
            (3, 5, true),
            (3, 3, true),
            (5, 5, false),
        ] {
            assert_eq!(batch.conflicts_with(Pair::new(left, right)), conflicts);
        }
        batch.clear(1000);
        assert!(!batch.conflicts_with(Pair::new(5, 1)));
        assert!(!batch.conflicts_with(Pair::new(2, 5)));
    }

    #[test]
    fn batches_end() {
        assert!(!batch(&[[1, 2], [1, 3]], 1).is_full());
        assert!(batch(&[[1, 2], [3, 3]], 1).is_full());
        assert!(batch(&[[1, 2]], FULL_OCCURRENCES).is_full());
        let many: Vec<_> = (0..MAX_MERGES).map(|_| [1, 2]).collect();
        assert!(batch(&many, 1).is_full());
    }
}
