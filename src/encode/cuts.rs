//! Offsets where a text can be cut in two so that its ids are those of both parts.
//!
//! Two characters that stand beside each other decide, whatever stands around them. They are [apart for the
//! splitter](crate::split::Splitter::cuts), and no special token has them beside each other, allowed or not. Where text is
//! split between characters that no token joins, the pieces on both sides are merged by themselves; but not behind a
//! character that is no token where such characters become one token together.
//!
//! Through a pipeline only those are left that nothing else reaches across (`Prepared::keeps_apart`).

use std::ops::Range;

use super::Encoder;
use super::special::{Disallowed, Policy};
use crate::util::memory::{self, Growable};

/// Bytes that are searched for a cut of a text to divide it.
const SEARCH_BYTES: usize = 1 << 16;

/// Strings that say where a text may be cut before it is encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dividing<'a> {
    /// It may be cut where one of these starts, if none of them and of the others lies across.
    pub starts: Vec<&'a str>,
    /// Others.
    pub whole: Vec<&'a str>,
}

impl Encoder {
    /// Returns special tokens at which a text can be cut, whatever splits it: its ids are those of both parts, each encoded
    /// as a text. Disallowed strings are among them: a text with one is refused, cut there or not.
    pub fn dividing<'a>(&'a self, policy: &'a Policy) -> Dividing<'a> {
        let mut starts = policy.disallowed.strings(&self.special_tokens);
        let mut whole = Vec::new();
        match self.pipeline.as_ref().and_then(|pipeline| pipeline.raw()) {
            None => memory::extend(&mut starts, self.special_tokens.allowed_by(&policy.allowed)),
            Some(search) => {
                for (string, divides) in search.dividing(&policy.allowed) {
                    let strings = if divides { &mut starts } else { &mut whole };
                    strings.with_room(1).push(string);
                }
            }
        }
        Dividing { starts, whole }
    }

    /// Returns the offsets in `range` where `text` can be cut, in order: its ids are those of `text[..cut]` followed by
    /// those of `text[cut..]`, if this is known to [follow](Self::encode_after_cut) other text, whatever special tokens
    /// are allowed. The start and the end of the text are not among them.
    ///
    /// # Complexity
    /// O(range) for all of them.
    pub fn cuts(&self, text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
        let cuts = self.may_be_cut().then(|| self.splitter.cuts(text, range));
        cuts.into_iter()
            .flatten()
            .filter(move |&cut| self.keeps_apart(text, cut))
    }

    /// Returns the first of the [`cuts`](Self::cuts) at `from` or after it, if there is one within 64 KiB.
    ///
    /// # Complexity
    /// O(distance), at most 64 KiB.
    pub fn cut(&self, text: &str, from: usize) -> Option<usize> {
        self.cuts(text, from..from.saturating_add(SEARCH_BYTES))
            .next()
    }

    /// Returns offsets of [`cuts`](Self::cuts), each the first that is at least `every` bytes behind the one before.
    ///
    /// # Complexity
    /// O(cuts), where they are near.
    pub fn split_points(&self, text: &str, every: usize) -> impl Iterator<Item = usize> {
        let next = move |&last: &usize| {
            let from = last.saturating_add(every.max(1));
            self.cuts(text, from..text.len()).next()
        };
        std::iter::successors(next(&0), next)
    }

    /// Returns whether texts may have [cuts](Self::cuts) at all. Without them, a session encodes a text anew with every
    /// change, and a stream holds it to its end.
    pub fn has_cuts(&self) -> bool {
        // Letters of both cases, numbers and others, each before blanks; and texts without blanks. Of many scripts: a
        // vocabulary that joins what it does not know has cuts between letters that it knows.
        let sample = "a b, 1 c. E\nF G 漢字、かな。한국어 ไทย аб Вг αβ Γδ ابج دهو אב גד कख गघ";
        self.cuts(sample, 0..sample.len()).next().is_some()
    }

    /// The [`cuts`](Self::cuts) that no disallowed string reaches across.
    pub(super) fn cuts_under(
        &self,
        text: &str,
        range: Range<usize>,
        disallowed: &Disallowed,
    ) -> impl Iterator<Item = usize> {
        let cuts = self.cuts(text, range);
        cuts.filter(move |&cut| disallowed.keeps_apart(beside(text, cut)))
    }

    /// Returns the last of the [`cuts_under`](Self::cuts_under) behind `from`.
    ///
    /// # Complexity
    /// O(distance from the end).
    pub(super) fn last_cut(
        &self,
        text: &str,
        from: usize,
        disallowed: &Disallowed,
    ) -> Option<usize> {
        if !self.may_be_cut() {
            return None;
        }
        let mut cuts = self
            .splitter
            .cuts_backwards(text.as_bytes(), from + 1..text.len());
        cuts.find(|&cut| self.is_apart(text, cut, disallowed))
    }

    /// Returns whether a text may be cut wherever its splitter and all that happens before keep both sides apart: sums of
    /// scores run through a text, and what they are at a cut is not known behind it.
    fn may_be_cut(&self) -> bool {
        self.vocabulary.chunks().is_none()
    }

    /// Returns whether nothing but pieces reaches across a place, disallowed strings included.
    pub(super) fn is_apart(&self, text: &str, place: usize, disallowed: &Disallowed) -> bool {
        self.keeps_apart(text, place) && disallowed.keeps_apart(beside(text, place))
    }

    /// Returns whether all that happens to text before it is split, and tokens that are found in it, keep both sides of a place
    /// apart.
    fn keeps_apart(&self, text: &str, place: usize) -> bool {
        let (before, after) = beside(text, place);
        if self.special_tokens.beside().reaches_across(before, after) {
            return false;
        }
        let Some(pipeline) = &self.pipeline else {
            return true;
        };
        let is_token = || {
            let merges = self.vocabulary.listed_merges();
            merges.is_some_and(|merges| merges.is_token(before))
        };
        let is_behind_token = self.special_tokens.beside().may_end_in(before);
        pipeline.keeps_apart(&text[..place], before, after, is_behind_token)
            && (pipeline.fused().is_none() || is_token())
    }
}

/// Returns the characters on both sides of a cut.
fn beside(text: &str, cut: usize) -> (char, char) {
    let (left, right) = text.split_at(cut);
    let beside = left.chars().next_back().zip(right.chars().next());
    beside.expect("it is between two characters")
}
