//! How much of a text fits into a number of ids.
//!
//! The ids of a part, encoded by itself, need not be ids of the whole: its pieces and merges may differ near
//! the cut. So
//!
//! ```text
//! propose   the offset where the whole text has as many ids as allowed
//! try       offsets around it, those first that keep most of the text: encode what would be cut there and count
//! ```
//!
//! Each trial encodes little: it starts, or ends, at an *anchor*, the [cut](Encoder::cuts) nearest to
//! the proposal, because the ids on the other side of such a cut are known to stay. Nothing can fit beyond
//! the next cut in the other direction, so that between two cuts that are close together the longest part of
//! all is found. Where a pattern has no cuts, or none is near, the anchor is the start or the end of the
//! text, and fewer offsets are tried: the farther the anchor, the fewer, and then the ends of the whole's ids
//! in longer and longer steps.
//!
//! Allowed special tokens stay whole: nothing is cut inside of one. Next to one is no anchor either, since a model starts
//! anew behind it.
//!
//! A model may treat the start of a text as nothing else. So what is tried behind an anchor is encoded as what
//! follows a cut; and where an end is kept, an anchor by itself may have more ids than it has there.

use std::iter;
use std::ops::Range;

use super::hot_loop::Workspace;
use super::offsets::TokenSpans;
use super::pipeline::Prepared;
use super::special::Allowed;
use super::{Encoder, Passage};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::split::Splitter;
use crate::util::memory::Growable;

/// Bytes of text that are encoded at first for each id of the limit: more than most text needs.
const BYTES_PER_ID: usize = 8;

/// Fewer bytes are not worth encoding.
const MIN_BYTES: usize = 64;

/// How far from an offset cuts are searched for, in bytes.
const CUT_DISTANCE: usize = 256;

/// How far from the proposal offsets are tried one by one, in bytes.
const REACH: usize = 32;

/// Bytes that the trials on one side of the proposal may encode in total, about; it shortens [`REACH`].
const TRIAL_BYTES: usize = 1 << 10;

/// The side of a text that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    Start,
    /// The end.
    End,
}

/// A text cut in two, of which one side is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Byte offset of the cut.
    pub cut: usize,
    /// Number of ids of the side that is kept, encoded by itself.
    pub count: usize,
}

/// A text is encoded so, wherever it is cut.
struct Fit<'a> {
    encoder: &'a Encoder,
    allowed: &'a Allowed,
}

impl Encoder {
    /// Returns how many ids [`encode`](Self::encode) gives if they are no more than `limit`.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    ///
    /// # Complexity
    /// That of encoding as much of the text as has `limit` ids.
    pub fn count_till_limit(
        &self,
        text: &str,
        allowed: &Allowed,
        limit: usize,
    ) -> Result<Option<usize>, EncodeError> {
        let fit = self.fit(allowed);
        self.with_workspace(|workspace| fit.count_up_to(workspace, text, limit))
    }

    /// Cuts `text` between two characters so that the side to keep has at most `limit` ids, encoded by
    /// itself. The module says which of several cuts it is.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    ///
    /// # Complexity
    /// That of encoding a few times what is kept; with an external splitter, the text.
    pub fn truncate(
        &self,
        text: &str,
        allowed: &Allowed,
        limit: usize,
        keep: Keep,
    ) -> Result<Truncation, EncodeError> {
        let fit = self.fit(allowed);
        self.with_workspace(|workspace| {
            if let Some(count) = fit.count_up_to(workspace, text, limit)? {
                let cut = match keep {
                    Keep::Start => text.len(),
                    Keep::End => 0,
                };
                return Ok(Truncation { cut, count });
            }
            match keep {
                Keep::Start => fit.longest_start(workspace, text, limit),
                Keep::End => fit.longest_end(workspace, text, limit),
            }
        })
    }

    /// Cuts `text` into parts that have at most `limit` ids each, encoded by themselves. Each part repeats
    /// the last `overlap` ids of the previous one, or fewer if nothing else would fit otherwise.
    ///
    /// A part that is not the last one ends behind the last occurrence of the first of the `separators` that it has one of, so
    /// that it fits; without any, where it is longest.
    ///
    /// # Errors
    /// As [`encode`](Self::encode); [`EncodeError::NoRoom`].
    ///
    /// # Complexity
    /// That of encoding all parts a few times.
    pub fn parts(
        &self,
        text: &str,
        allowed: &Allowed,
        limit: usize,
        overlap: usize,
        separators: &[String],
    ) -> Result<Vec<Range<usize>>, EncodeError> {
        let whole = iter::once(0..text.len()).filter(|whole| !whole.is_empty());
        let fit = self.fit(allowed);
        self.with_workspace(|workspace| {
            if fit.count_up_to(workspace, text, limit)?.is_some() {
                return Ok(whole.collect());
            }
            let mut parts = Vec::new();
            let mut last = 0..0;
            while last.end < text.len() {
                checkpoint::pass()?;
                let next = fit.next_part(workspace, text, last.clone(), limit, overlap)?;
                last = fit.behind_separator(workspace, text, &last, next, limit, separators)?;
                parts.with_room(1).push(last.clone());
            }
            Ok(parts)
        })
    }

    /// True if any text of this many bytes has more than `limit` ids. An allowed special token may have any number of
    /// bytes.
    pub fn exceeds(&self, bytes: usize, allowed: &Allowed, limit: usize) -> bool {
        let is_native = self.divider().is_some_and(Splitter::is_native);
        is_native
            && *allowed == Allowed::Nothing
            && bytes > limit.saturating_mul(self.vocabulary.longest())
    }

    fn fit<'a>(&'a self, allowed: &'a Allowed) -> Fit<'a> {
        Fit {
            encoder: self,
            allowed,
        }
    }
}

impl Fit<'_> {
    /// Returns the part after `last`.
    fn next_part(
        &self,
        workspace: &mut Workspace,
        text: &str,
        last: Range<usize>,
        limit: usize,
        mut overlap: usize,
    ) -> Result<Range<usize>, EncodeError> {
        loop {
            let start = if overlap == 0 {
                last.end
            } else {
                let previous = &text[last.clone()];
                last.start + self.longest_end(workspace, previous, overlap)?.cut
            };
            let rest = &text[start..];
            let end = start + self.longest_start(workspace, rest, limit)?.cut;
            if end > last.end {
                return Ok(start..end);
            }
            if start == last.end {
                return Err(self.no_room(workspace, text, start, limit)?);
            }
            overlap /= 2;
        }
    }

    /// Returns the part `next` up to the last separator in it, behind the part `last`; as it is without one, and at the end of
    /// the text.
    fn behind_separator(
        &self,
        workspace: &mut Workspace,
        text: &str,
        last: &Range<usize>,
        next: Range<usize>,
        limit: usize,
        separators: &[String],
    ) -> Result<Range<usize>, EncodeError> {
        if next.end == text.len() {
            return Ok(next);
        }
        let special_tokens = &self.encoder.special_tokens;
        for separator in separators {
            let mut end = next.end;
            // From the part before on, so that no part is within it.
            while let Some(at) = text[last.end..end].rfind(separator.as_str()) {
                let behind = last.end + at + separator.len();
                let part = next.start..behind;
                // A shorter text may have more ids.
                if !special_tokens.lies_across(text, behind, self.allowed)
                    && self
                        .count_up_to(workspace, &text[part.clone()], limit)?
                        .is_some()
                {
                    return Ok(part);
                }
                checkpoint::pass()?;
                end = behind - 1;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
            }
        }
        Ok(next)
    }

    /// The error for the character at `offset`, which does not fit by itself.
    fn no_room(
        &self,
        workspace: &mut Workspace,
        text: &str,
        offset: usize,
        limit: usize,
    ) -> Result<EncodeError, EncodeError> {
        let (before, rest) = text.split_at(offset);
        let character = rest.chars().next().expect("parts end with the text");
        let alone = &rest[..character.len_utf8()];
        Ok(EncodeError::NoRoom {
            character,
            start: before.chars().count(),
            count: self.count_while(workspace, alone, |_| true)?,
            limit,
        })
    }

    /// As [`count_till_limit`](Self::count_till_limit), in a workspace of the caller's.
    fn count_up_to<'t>(
        &self,
        workspace: &mut Workspace,
        passage: impl Into<Passage<'t>>,
        limit: usize,
    ) -> Result<Option<usize>, EncodeError> {
        let passage = passage.into();
        let bytes = passage.text.len();
        if self.encoder.exceeds(bytes, self.allowed, limit) {
            return Ok(None);
        }
        let count = self.count_while(workspace, passage, |count| count <= limit)?;
        Ok((count <= limit).then_some(count))
    }

    fn count_while<'t>(
        &self,
        workspace: &mut Workspace,
        passage: impl Into<Passage<'t>>,
        go_on: impl Fn(usize) -> bool,
    ) -> Result<usize, EncodeError> {
        self.encoder
            .count_while(workspace, passage, self.allowed, go_on)
    }

    /// Keeps the beginning of a text.
    fn longest_start(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
    ) -> Result<Truncation, EncodeError> {
        let mut size = first_size(limit);
        let TokenSpans { starts, .. } = loop {
            let end = self.cut_after(text, size);
            let end = end.unwrap_or_else(|| boundary_before(text, size));
            let spans = self
                .encoder
                .offsets_up_to(workspace, &text[..end], self.allowed, limit)?;
            if spans.ids.len() > limit {
                break spans;
            }
            if end == text.len() {
                let count = spans.ids.len();
                return Ok(Truncation { cut: end, count });
            }
            size = size.saturating_mul(2);
        };
        let proposed = starts[limit];
        let anchor = self.cut_before(text, proposed).unwrap_or(0);
        let before = starts.partition_point(|&start| start < anchor);
        let kept = Passage::part(&text[..anchor], true);
        let certain = match self.known(workspace, kept, before, limit)? {
            Some(count) => Truncation { cut: anchor, count },
            None => Truncation { cut: 0, count: 0 },
        };
        let anchor = certain.cut;
        let next = self.cut_after(text, proposed + 1).unwrap_or(text.len());

        let reach = reach(proposed - anchor);
        let around = proposed.saturating_sub(reach)..(proposed + reach + 1).min(next);
        let steps = steps(limit).map(|step| starts[limit - step]);
        let last_resort = 1..if anchor == 0 { REACH } else { 1 };
        let candidates = around
            .rev()
            .chain(steps.map(|offset| boundary_before(text, offset)))
            .chain(last_resort.rev())
            .filter(|&offset| offset > anchor);
        let fitting = self.first_that_fits(workspace, text, limit, certain, candidates)?;
        Ok(fitting.unwrap_or(certain))
    }

    /// Keeps the end of a text.
    fn longest_end(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
    ) -> Result<Truncation, EncodeError> {
        let mut size = first_size(limit);
        let (offset, spans) = loop {
            let from = text.len().saturating_sub(size);
            let start = self.cut_after(text, from).filter(|_| from > 0);
            let start = start.unwrap_or_else(|| boundary_after(text, from));
            let spans =
                self.encoder
                    .offsets_up_to(workspace, &text[start..], self.allowed, usize::MAX)?;
            if spans.ids.len() > limit {
                break (start, spans);
            }
            if start == 0 {
                let count = spans.ids.len();
                return Ok(Truncation { cut: 0, count });
            }
            size = size.saturating_mul(2);
        };
        let TokenSpans {
            ids, starts, ends, ..
        } = spans;
        // With this id and those after it there would be one too many.
        let last_dropped = ids.len() - limit - 1;
        let proposed = offset + ends[last_dropped];
        // It stands for nothing if it is a space that a model adds, or begins a character of several ids.
        let is_empty = starts[last_dropped] == ends[last_dropped];
        let previous = self.cut_before(text, proposed.saturating_sub(1));
        let previous = previous.unwrap_or(0);
        let anchor = self.cut_after(text, proposed + usize::from(is_empty));
        let anchor = anchor.unwrap_or(text.len());
        for anchor in [anchor, text.len()] {
            // The empty end has no ids; a space that a model adds behind the whole text starts there, however.
            let before = starts.partition_point(|&start| offset + start < anchor);
            let known = if anchor == text.len() {
                Some(0)
            } else {
                let kept = Passage::part(&text[anchor..], false);
                self.known(workspace, kept, ids.len() - before, limit)?
            };
            let Some(known) = known else { continue };
            let reach = reach(anchor - proposed);
            let around = proposed.saturating_sub(reach).max(previous + 1)..proposed + reach + 1;
            let steps = steps(limit).map(|step| offset + ends[last_dropped + step]);
            let last_resort = if anchor == text.len() {
                text.len().saturating_sub(REACH)
            } else {
                anchor
            };
            let candidates = around
                .chain(steps.map(|offset| boundary_after(text, offset)))
                .chain(last_resort..anchor)
                .filter(|&offset| offset < anchor);
            let certain = Truncation {
                cut: anchor,
                count: known,
            };
            let fitting = self.first_that_fits(workspace, text, limit, certain, candidates)?;
            let pipeline = self.encoder.pipeline.as_deref();
            let changes_start = pipeline.is_some_and(Prepared::changes_start);
            match fitting {
                Some(fitting) => return Ok(fitting),
                None if anchor == text.len() || !changes_start => return Ok(certain),
                None => {}
            }
        }
        unreachable!("the end of the text is an anchor")
    }

    /// Returns how many ids the part that is kept beside an anchor has: as many as the spans of tokens say, unless these may
    /// be those of other characters. `None` if they are more than `limit`.
    fn known(
        &self,
        workspace: &mut Workspace,
        kept: Passage<'_>,
        by_spans: usize,
        limit: usize,
    ) -> Result<Option<usize>, EncodeError> {
        let pipeline = self.encoder.pipeline.as_deref();
        if pipeline.is_some_and(Prepared::shifts_spans) {
            self.count_up_to(workspace, kept, limit)
        } else {
            Ok(Some(by_spans))
        }
    }

    /// Moves the `known` cut of a part to the first of the `candidates` for which it fits, if any does.
    fn first_that_fits(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
        known: Truncation,
        candidates: impl Iterator<Item = usize>,
    ) -> Result<Option<Truncation>, EncodeError> {
        let special_tokens = &self.encoder.special_tokens;
        let may_cut = |&cut: &usize| {
            text.is_char_boundary(cut) && !special_tokens.lies_across(text, cut, self.allowed)
        };
        for cut in candidates.filter(may_cut) {
            let more = &text[cut.min(known.cut)..cut.max(known.cut)];
            let more = Passage::part(more, cut < known.cut || known.cut == 0);
            let left = limit - known.count;
            if let Some(count) = self.count_up_to(workspace, more, left)? {
                let count = known.count + count;
                return Ok(Some(Truncation { cut, count }));
            }
        }
        Ok(None)
    }

    /// The first cut at `offset` or within [`CUT_DISTANCE`] after it.
    fn cut_after(&self, text: &str, offset: usize) -> Option<usize> {
        let range = offset..offset.saturating_add(CUT_DISTANCE);
        self.anchors(text, range).next()
    }

    /// The last cut at `offset` or within [`CUT_DISTANCE`] before it.
    fn cut_before(&self, text: &str, offset: usize) -> Option<usize> {
        let range = offset.saturating_sub(CUT_DISTANCE)..offset.saturating_add(1);
        self.anchors(text, range).last()
    }

    /// The cuts in a range, but those that lie inside of an allowed special token or at its ends.
    fn anchors(&self, text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
        let special_tokens = &self.encoder.special_tokens;
        let cuts = self.encoder.cuts(text, range);
        cuts.filter(|&cut| !special_tokens.touches(text, cut, self.allowed))
    }
}

/// Bytes of text to encode at first.
fn first_size(limit: usize) -> usize {
    limit.saturating_mul(BYTES_PER_ID).max(MIN_BYTES)
}

/// How far from a proposal offsets are tried one by one, by the distance of the anchor.
fn reach(anchor_distance: usize) -> usize {
    REACH.min(TRIAL_BYTES / (anchor_distance + 1))
}

/// Numbers of ids to keep less than proposed: 0, 1, 2, 4 and so on, up to `limit`.
fn steps(limit: usize) -> impl Iterator<Item = usize> {
    let doubled = iter::successors(Some(1_usize), |step| step.checked_mul(2));
    iter::once(0).chain(doubled.take_while(move |&step| step <= limit))
}

/// The last character boundary at `offset` or before it, but no later than the end of the text.
fn boundary_before(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len()))
        .rev()
        .find(|&offset| text.is_char_boundary(offset))
        .expect("0 is a boundary")
}

/// The first character boundary at `offset` or after it; the end of the text if there is none.
fn boundary_after(text: &str, offset: usize) -> usize {
    (offset..text.len())
        .find(|&offset| text.is_char_boundary(offset))
        .unwrap_or(text.len())
}
