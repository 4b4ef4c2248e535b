//! Offsets where a text can be cut in two so that its ids are those of both parts.
//!
//! With a native pattern those are the [cuts of the splitter](crate::split::Splitter::cuts). Where text is split between
//! characters that no token joins, they are between two of these, so that the pieces on both sides are merged by
//! themselves; not behind a character that is no token where such characters become one token together.
//!
//! Through a pipeline only those are left that nothing else reaches across ([`Prepared::keeps_apart`]). Behind a letter or
//! number no token takes blanks across a cut.

use std::ops::Range;

use super::Encoder;
#[cfg(doc)]
use super::pipeline::Prepared;

/// Bytes that are searched for a cut of a text to divide it.
const SEARCH_BYTES: usize = 1 << 16;

impl Encoder {
    /// Returns the offsets in `range` where `text` can be cut, in order: its ids are those of `text[..cut]` followed by
    /// those of `text[cut..]`, if this is known to [follow](Self::encode_after_cut) other text. The start and the end
    /// of the text are not among them.
    ///
    /// # Complexity
    /// O(range) for all of them.
    pub fn cuts(&self, text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
        let offsets = range.start.max(1)..range.end.min(text.len());
        let of_pattern = self.splitter.cuts(text, range);
        // Sums of scores run through a text: what they are at a cut is not known behind it.
        let between = self.splitter.adjacency();
        let between = between.filter(|_| self.vocabulary.chunks().is_none());
        let between = between.into_iter();
        let between = between.flat_map(move |_| offsets.clone());
        of_pattern.chain(between).filter(move |&offset| {
            let Some((left, right)) = text.split_at_checked(offset) else {
                return false;
            };
            let beside = left.chars().next_back().zip(right.chars().next());
            beside.is_some_and(|(before, after)| self.keeps_apart(left, before, after))
        })
    }

    /// Returns the first of the [`cuts`](Self::cuts) at `from` or after it, if there is one within 64 KiB.
    ///
    /// # Complexity
    /// O(distance), at most 64 KiB.
    pub fn cut(&self, text: &str, from: usize) -> Option<usize> {
        self.cuts(text, from..from.saturating_add(SEARCH_BYTES))
            .next()
    }

    /// Returns whether text can be cut between two characters that the splitter separates, the last of `left` and the first
    /// behind it.
    fn keeps_apart(&self, left: &str, before: char, after: char) -> bool {
        let adjacency = self.splitter.adjacency();
        if adjacency.is_some_and(|adjacency| adjacency.may_join(before, after)) {
            return false;
        }
        let Some(pipeline) = &self.pipeline else {
            return true;
        };
        let is_token = || {
            let merges = self.vocabulary.listed_merges();
            merges.is_some_and(|merges| merges.is_token(before))
        };
        pipeline.keeps_apart(left, before, after) && (pipeline.fused().is_none() || is_token())
    }
}
