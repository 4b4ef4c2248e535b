//! How much of a text fits into so many ids?
//!
//! Where a text is cut, its pieces and merges may come out otherwise: the ids of a part, encoded by itself, need not be
//! some of the whole's. So
//!
//! ```text
//! propose   the place where the ids of the whole are as many as may be
//! try       places around it, those first that leave most of the text: encode what would be cut off there and count
//! ```
//!
//! What is encoded to try is short: it starts, or ends, at an *anchor*, the cut of [`Splitter::cuts`] nearest to the
//! proposal, for the ids on the other side of such a cut are known to stay. Beyond the next cut in the other direction
//! nothing can fit, so that between two cuts that are close together the longest part of all is found. Where a pattern
//! has no cuts, or none is near, the anchor is the start or the end of the text, and fewer places are tried: the farther
//! the anchor, the fewer, and then the ends of the whole's ids in longer and longer steps.
//!
//! [`Splitter::cuts`]: crate::split::Splitter::cuts

use std::iter;
use std::ops::Range;

use super::Encoder;
use super::pieces::Workspace;
use super::places::Places;
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;

/// So many bytes of text are encoded for each id that is wanted, at first: more than most text needs.
const BYTES_PER_ID: usize = 8;

/// Fewer bytes are not worth being encoded.
const LEAST_BYTES: usize = 64;

/// Cuts are searched for so many bytes around a place.
const NEAR: usize = 256;

/// Places at most so many bytes around what is proposed are tried one by one,
const REACH: usize = 32;

/// and only so many that about as many bytes are encoded for those on one side.
const TRIED: usize = 1 << 10;

/// Which part of a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The beginning.
    Beginning,
    /// The end.
    End,
}

/// A part of a text: all before `place`, or all after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it ends or starts.
    pub place: usize,
    /// How many ids it has, encoded by itself.
    pub count: usize,
}

impl Encoder {
    /// How many ids `text` becomes, special tokens being ordinary text, if they are no more than `limit`.
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary).
    ///
    /// # Complexity
    /// That of encoding as much of the text as has `limit` ids.
    pub fn count_till_limit(
        &self,
        text: &str,
        limit: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<usize>, EncodeError> {
        self.with_workspace(|workspace| self.count_till(workspace, text, limit, checkpoint))
    }

    /// The beginning or the end of `text`, cut between two characters, that has at most `limit` ids when it is encoded by
    /// itself. The module says which of several.
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary).
    ///
    /// # Complexity
    /// That of encoding some times what is kept; with an external splitter of the text.
    pub fn truncate(
        &self,
        text: &str,
        limit: usize,
        kept: Kept,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Part, EncodeError> {
        self.with_workspace(|workspace| {
            if let Some(count) = self.count_till(workspace, text, limit, checkpoint)? {
                let place = match kept {
                    Kept::Beginning => text.len(),
                    Kept::End => 0,
                };
                return Ok(Part { place, count });
            }
            match kept {
                Kept::Beginning => self.beginning(workspace, text, limit, checkpoint),
                Kept::End => self.end(workspace, text, limit, checkpoint),
            }
        })
    }

    /// Cuts `text` into parts that have at most `limit` ids when they are encoded by themselves. Each starts with what has
    /// `overlap` ids of the one before, or less if otherwise nothing else would fit.
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary); [`EncodeError::NoRoom`].
    ///
    /// # Complexity
    /// That of encoding all parts some times.
    pub fn parts(
        &self,
        text: &str,
        limit: usize,
        overlap: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Vec<Range<usize>>, EncodeError> {
        let whole = iter::once(0..text.len()).filter(|whole| !whole.is_empty());
        self.with_workspace(|workspace| {
            if self
                .count_till(workspace, text, limit, checkpoint)?
                .is_some()
            {
                return Ok(whole.collect());
            }
            let mut parts = Vec::new();
            let mut last = 0..0;
            while last.end < text.len() {
                checkpoint::pass(checkpoint)?;
                last = self.next_part(workspace, text, last, limit, overlap, checkpoint)?;
                parts.push(last.clone());
            }
            Ok(parts)
        })
    }

    /// The part after the `last`.
    fn next_part(
        &self,
        workspace: &mut Workspace,
        text: &str,
        last: Range<usize>,
        limit: usize,
        mut overlap: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Range<usize>, EncodeError> {
        loop {
            let start = if overlap == 0 {
                last.end
            } else {
                let repeated = self.end(workspace, &text[last.clone()], overlap, checkpoint)?;
                last.start + repeated.place
            };
            let part = self.beginning(workspace, &text[start..], limit, checkpoint)?;
            let end = start + part.place;
            if end > last.end {
                return Ok(start..end);
            }
            if start == last.end {
                return Err(self.no_room(workspace, text, start, limit, checkpoint)?);
            }
            overlap /= 2;
        }
    }

    fn no_room(
        &self,
        workspace: &mut Workspace,
        text: &str,
        place: usize,
        limit: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<EncodeError, EncodeError> {
        let (before, rest) = text.split_at(place);
        let character = rest.chars().next().unwrap_or_default();
        let alone = &rest[..character.len_utf8().min(rest.len())];
        Ok(EncodeError::NoRoom {
            character,
            start: before.chars().count(),
            count: self.count_with(workspace, alone, checkpoint)?,
            limit,
        })
    }

    /// Whether so many bytes of text become more than `limit` ids, whatever they are.
    pub fn exceeds(&self, bytes: usize, limit: usize) -> bool {
        self.splitter.is_native() && bytes > limit.saturating_mul(self.vocabulary.longest())
    }

    fn count_till(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<usize>, EncodeError> {
        if self.exceeds(text.len(), limit) {
            return Ok(None);
        }
        let count = self.count_while(workspace, text, checkpoint, |count| count <= limit)?;
        Ok((count <= limit).then_some(count))
    }

    /// The beginning that fits.
    fn beginning(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Part, EncodeError> {
        let mut size = first_size(limit);
        let places = loop {
            let end = self.cut_after(text, size);
            let end = end.unwrap_or_else(|| boundary_before(text, size));
            let places = self.places_till(workspace, &text[..end], limit, checkpoint)?;
            if places.ids.len() > limit {
                break places;
            }
            if end == text.len() {
                let count = places.ids.len();
                return Ok(Part { place: end, count });
            }
            size = size.saturating_mul(2);
        };
        let proposed = places.starts[limit];
        let anchor = self.cut_before(text, proposed).unwrap_or(0);
        let next = self.cut_after(text, proposed + 1).unwrap_or(text.len());
        let known = places.starts.partition_point(|&start| start < anchor);

        let reach = reach(proposed - anchor);
        let around = proposed.saturating_sub(reach)..(proposed + reach + 1).min(next);
        let steps = steps(limit).map(|step| places.starts[limit - step]);
        let last_resort = 1..if anchor == 0 { REACH } else { 1 };
        let tried = around
            .rev()
            .chain(steps.map(|place| boundary_before(text, place)))
            .chain(last_resort.rev())
            .filter(|&place| place > anchor);
        let certain = Part {
            place: anchor,
            count: known,
        };
        self.extended(workspace, text, limit, certain, tried, checkpoint)
    }

    /// The end that fits.
    fn end(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Part, EncodeError> {
        let mut size = first_size(limit);
        let (offset, places) = loop {
            let near = text.len().saturating_sub(size);
            let start = self.cut_after(text, near).filter(|_| near > 0);
            let start = start.unwrap_or_else(|| boundary_after(text, near));
            let places = self.places_till(workspace, &text[start..], usize::MAX, checkpoint)?;
            if places.ids.len() > limit {
                break (start, places);
            }
            if start == 0 {
                let count = places.ids.len();
                return Ok(Part { place: 0, count });
            }
            size = size.saturating_mul(2);
        };
        let Places { ids, starts, ends } = places;
        // All before this one are too many.
        let last_dropped = ids.len() - limit - 1;
        let proposed = offset + ends[last_dropped];
        let anchor = self.cut_after(text, proposed).unwrap_or(text.len());
        let previous = self.cut_before(text, proposed - 1).unwrap_or(0);
        let known = ids.len() - starts.partition_point(|&start| offset + start < anchor);

        let reach = reach(anchor - proposed);
        let around = proposed.saturating_sub(reach).max(previous + 1)..proposed + reach + 1;
        let steps = steps(limit).map(|step| offset + ends[last_dropped + step]);
        let last_resort = if anchor == text.len() {
            text.len().saturating_sub(REACH)
        } else {
            anchor
        };
        let tried = around
            .chain(steps.map(|place| boundary_after(text, place)))
            .chain(last_resort..anchor)
            .filter(|&place| place < anchor);
        let certain = Part {
            place: anchor,
            count: known,
        };
        self.extended(workspace, text, limit, certain, tried, checkpoint)
    }

    /// The first of some places up to which a part that certainly fits can be extended, or that part.
    fn extended(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
        certain: Part,
        places: impl Iterator<Item = usize>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Part, EncodeError> {
        for place in places.filter(|&place| text.is_char_boundary(place)) {
            let more = &text[place.min(certain.place)..place.max(certain.place)];
            let left = limit - certain.count;
            if let Some(count) = self.count_till(workspace, more, left, checkpoint)? {
                let count = certain.count + count;
                return Ok(Part { place, count });
            }
        }
        Ok(certain)
    }

    /// The first cut at `place` or not far after it.
    fn cut_after(&self, text: &str, place: usize) -> Option<usize> {
        let range = place..place.saturating_add(NEAR);
        self.splitter.cuts(text, range).next()
    }

    /// The last cut at `place` or not far before it.
    fn cut_before(&self, text: &str, place: usize) -> Option<usize> {
        let range = place.saturating_sub(NEAR)..place.saturating_add(1);
        self.splitter.cuts(text, range).last()
    }
}

fn first_size(limit: usize) -> usize {
    limit.saturating_mul(BYTES_PER_ID).max(LEAST_BYTES)
}

/// How far around a proposal places are tried.
fn reach(distance_of_anchor: usize) -> usize {
    REACH.min(TRIED / (distance_of_anchor + 1))
}

/// How many ids less than proposed: 0, 1, 2, 4 and so on, up to `limit`.
fn steps(limit: usize) -> impl Iterator<Item = usize> {
    let doubled = iter::successors(Some(1_usize), |step| step.checked_mul(2));
    iter::once(0).chain(doubled.take_while(move |&step| step <= limit))
}

/// The last place between characters at `place` or before it; the end of the text if that is before it.
fn boundary_before(text: &str, place: usize) -> usize {
    let mut places = (0..=place.min(text.len())).rev();
    places
        .find(|&place| text.is_char_boundary(place))
        .unwrap_or(0)
}

/// The first place between characters at `place` or after it.
fn boundary_after(text: &str, place: usize) -> usize {
    let mut places = place..text.len();
    places
        .find(|&place| text.is_char_boundary(place))
        .unwrap_or(text.len())
}
