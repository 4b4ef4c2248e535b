//! Merges that come next and do not touch each other, so that threads can make them without a word in between.
//!
//! Two pairs **touch** if one ends with the token that the other starts with, as (a, b) and (b, c) do. Take the first
//! candidates p1, p2, … in their order. As long as none touches another, and none but the last is of twice the same token,
//! these are the next merges, one after the other:
//!
//! - To merge one of them takes no occurrence away from another: an occurrence of (c, d) goes where one of its two tokens is
//!   taken by the merge of (a, b). If that is c it is b, as what follows a is b, and not d; if that is d it is a.
//! - A pair that one of them makes comes after all of them. Let t be the token of (a, b). Where a new pair (x, t) is now,
//!   (x, a) was before, or (f, a), if x is itself the new token of some (e, f), whichever was made first; where (t, y) is
//!   now, y not being new, (b, y) was. Call this **the pair before**. It was a candidate, at least as frequent, and it
//!   touches (a, b): so it is none of them, and comes after each of them, q. If the new pair is less frequent than q there
//!   is nothing more to show. Otherwise all three are equally frequent, and the rule for ties decides:
//!   - By ids, of the left, then of the right token: those of new tokens are above all others. (x, t) comes after (x, a),
//!     and so after q; and what starts with a new token comes after every candidate.
//!   - By first places: q starts somewhere before the pair before does for the first time. (x, t) starts where (x, a) did.
//!     (t, y) starts one token earlier than (b, y), where a started; between the two nothing starts, and there it was
//!     (a, b), not q. So it is with e, where (f, a) was the pair before. So q is before the new pair, too. As pieces occur
//!     at least once, the first place of a pair is what it was as long as its count is.
//!   - By bytes this does not hold: (t, y) may come first of all.
//!
//! Of (a, a) the pair before is (a, a) itself, which is one of them: that ends a round.
//!
//! The pair before was not left out for its length, as the new one is longer, nor for being rare. Where pairs are left out
//! for their bytes, as where ties are decided by bytes, rounds have one merge.

use std::ops::Range;

use super::replace::Merge;
use crate::token::Pair;

/// The most merges in a round. With a quarter as many or four times there was no difference.
const MOST_MERGES: usize = 512;

/// No more merges once they have so many places.
const MANY_PLACES: usize = 1 << 13;

/// A round of so many places is worth being shared with threads that are awake: it takes them ten microseconds or so.
const WORTH_SHARING: usize = 1 << 9;

/// Merges that come next, in order.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Each with where its places are, in the pool of the shard of its pair.
    pub(super) merges: Vec<(Merge, Range<usize>)>,
    /// How many places they have.
    pub(super) visits: usize,
    /// Of each token, whether a pair starts with it, and whether one ends with it.
    touching: Vec<[bool; 2]>,
}

impl Round {
    /// Empties it, for pairs of so many tokens.
    pub(super) fn clear(&mut self, tokens: usize) {
        for (Merge { pair, .. }, _) in self.merges.drain(..) {
            for token in [pair.left, pair.right] {
                self.touching[token as usize] = [false; 2];
            }
        }
        if self.touching.len() < tokens {
            self.touching.resize(tokens.next_power_of_two(), [false; 2]);
        }
        self.visits = 0;
    }

    /// Whether no more may be added.
    pub(super) fn is_full(&self) -> bool {
        let last = self.merges.last();
        self.merges.len() >= MOST_MERGES
            || self.visits >= MANY_PLACES
            || last.is_some_and(|(merge, _)| merge.pair.left == merge.pair.right)
    }

    /// Whether several threads are to work on it.
    pub(super) fn is_shared(&self) -> bool {
        self.visits >= WORTH_SHARING
    }

    /// Whether a pair touches one of a merge that is here.
    pub(super) fn touches(&self, pair: Pair) -> bool {
        let [starts, _] = self.touching[pair.right as usize];
        let [_, ends] = self.touching[pair.left as usize];
        starts || ends
    }

    /// Adds the next merge.
    pub(super) fn push(&mut self, merge: Merge, places: Range<usize>) {
        self.visits += places.len();
        self.touching[merge.pair.left as usize][0] = true;
        self.touching[merge.pair.right as usize][1] = true;
        self.merges.push((merge, places));
    }
}

#[cfg(test)]
mod tests {
    use super::{MANY_PLACES, MOST_MERGES, Round};
    use crate::token::{Pair, TokenId};
    use crate::train::replace::Merge;

    fn round(pairs: &[[TokenId; 2]], places: usize) -> Round {
        let mut round = Round::default();
        round.clear(1000);
        for (&[left, right], token) in pairs.iter().zip(500..) {
            assert!(!round.is_full());
            let merge = Merge {
                pair: Pair::new(left, right),
                lengths: [1, 1],
                token,
            };
            round.push(merge, 0..places);
        }
        round
    }

    #[test]
    fn pairs_touch_where_one_ends_as_the_other_starts() {
        let mut round = round(&[[1, 2], [1, 3], [4, 3]], 1);
        for (left, right, touches) in [
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
            assert_eq!(round.touches(Pair::new(left, right)), touches);
        }
        round.clear(1000);
        assert!(!round.touches(Pair::new(5, 1)));
        assert!(!round.touches(Pair::new(2, 5)));
    }

    #[test]
    fn rounds_end() {
        assert!(!round(&[[1, 2], [1, 3]], 1).is_full());
        assert!(round(&[[1, 2], [3, 3]], 1).is_full());
        assert!(round(&[[1, 2]], MANY_PLACES).is_full());
        let many: Vec<_> = (0..MOST_MERGES).map(|_| [1, 2]).collect();
        assert!(round(&many, 1).is_full());
    }
}
