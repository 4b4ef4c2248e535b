//! A text that changes, with its ids: what a change does not reach is not encoded again.
//!
//! The text is kept in **segments** of about 1 KiB that begin and end at [cuts](Encoder::cuts), each with its ids. Behind
//! the last of them is the **tail**, which has the last cut of the text inside:
//!
//! ```text
//! segment | segment | segment | tail ... mark ...
//!         cut       cut       cut       last cut
//! ```
//!
//! The two characters around a cut decide it, so it stays a cut as long as both stay. An edit is encoded from the last
//! border whose right character stands before it, to the first whose left character stands behind it; at the end of the
//! text from the mark. Everything else keeps its ids. A border on the right is looked at again, since the map
//! of a SentencePiece model looks at the word before it as well.
//!
//! Segments are shared by the copies of a session, of which a few can be made in the time of one: only the tail is copied.
//! Where a text has no cuts, all of it is tail, and is encoded anew with every change.

mod segments;

use std::ops::Range;
use std::sync::Arc;

use segments::{Fresh, Place, START, Segments, Size, Sized, Tail};

pub(super) use segments::Segment;

use super::special::Policy;
use super::{Encoder, Passage};
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;

/// The minimum size of a segment in bytes, unless the text behind it is edited: one is encoded in some microseconds, and the
/// sizes of 4,000 of them, of a text of 4 MB, are added up in as many.
const SEGMENT: usize = 1 << 10;

/// The change of an edit: the ids `start..stop` from before it became `ids`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Number of ids before the first that changed.
    pub start: usize,
    /// Index behind the last id that changed, before the edit.
    pub stop: usize,
    /// The ids between these.
    pub ids: Vec<TokenId>,
}

/// A text that changes, with its ids.
#[derive(Clone, Debug)]
pub struct Session {
    encoder: Arc<Encoder>,
    policy: Policy,
    /// Bytes of a segment, at least.
    segment: usize,
    text: Segments,
}

/// An edit of the text as it is, encoded.
#[derive(Debug)]
pub struct Edit {
    /// Its change to the ids.
    pub update: Update,
    /// The segments that are replaced, and what stands before the first.
    replaced: Range<usize>,
    before: Size,
    fresh: Fresh,
}

impl Edit {
    /// The edit that leaves a text of `count` ids as it is.
    fn nothing(count: usize) -> Self {
        let (start, stop) = (count, count);
        Self {
            update: Update {
                start,
                stop,
                ids: Vec::new(),
            },
            replaced: 0..0,
            before: Size::default(),
            fresh: Fresh::default(),
        }
    }
}

impl Session {
    /// Starts with no text. All texts are encoded under one `policy`.
    pub fn new(encoder: Arc<Encoder>, policy: Policy) -> Self {
        Self {
            encoder,
            policy,
            segment: SEGMENT,
            text: Segments::default(),
        }
    }

    /// Keeps the text in segments of other sizes, as tests have them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_segments_of(self, bytes: usize) -> Self {
        let segment = bytes;
        Self { segment, ..self }
    }

    /// The encoder.
    pub fn encoder(&self) -> &Arc<Encoder> {
        &self.encoder
    }

    /// Number of ids.
    pub fn count(&self) -> usize {
        self.text.count()
    }

    /// Number of bytes of the text.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// True if there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of characters of the text.
    pub fn characters(&self) -> usize {
        self.text.characters()
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.text.push_text(START, 0..self.len(), &mut text);
        text
    }

    /// Appends a range of the ids.
    pub fn push_ids(&self, range: Range<usize>, out: &mut Vec<TokenId>) {
        self.text.push_ids(START, range, out);
    }

    /// Returns the range in bytes of a range of characters, at most up to the end of the text.
    ///
    /// # Complexity
    /// O(n / 1,024 + 1,024) for n bytes.
    pub fn byte_range(&self, characters: Range<usize>) -> Range<usize> {
        let of = |size: &Size| size.characters;
        let start = self.text.locate(START, characters.start, of);
        let end = self.text.locate(start, characters.end, of);
        self.text.offset(start, characters.start)..self.text.offset(end, characters.end)
    }

    /// Appends text.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn append(&mut self, text: &str) -> Result<Update, EncodeError> {
        let end = self.len();
        self.edit(end..end, text)
    }

    /// Replaces all of the text: what it begins and ends with as before is not encoded again.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    ///
    /// # Complexity
    /// As comparing the texts, and [`edit`](Self::edit).
    pub fn update(&mut self, text: &str) -> Result<Update, EncodeError> {
        let (range, new) = self.change_to(text);
        self.edit(range, new)
    }

    /// Returns the bytes to replace, and by what, so that the text becomes another.
    pub fn change_to<'t>(&self, text: &'t str) -> (Range<usize>, &'t str) {
        let mut start = self.text.common_start(text);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let most = (self.len() - start).min(text.len() - start);
        let mut same = self.text.common_end(text, most);
        while !text.is_char_boundary(text.len() - same) {
            same -= 1;
        }
        (start..self.len() - same, &text[start..text.len() - same])
    }

    /// Returns how many ids there would be behind [`append`](Self::append).
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    pub fn count_after(&self, text: &str) -> Result<usize, EncodeError> {
        let before = self.text.marked();
        let rest = [self.text.open(), text].concat();
        self.refuse(&rest, before.characters)?;
        let passage = Passage::part(&rest, before.bytes == 0);
        let allowed = &self.policy.allowed;
        let encoder = &self.encoder;
        let count = encoder.with_workspace(|workspace| {
            encoder.count_while(workspace, passage, allowed, |_| true)
        })?;
        Ok(before.ids + count)
    }

    /// Replaces the bytes in `range`, which are whole characters, by a text.
    ///
    /// # Errors
    /// [`EncodeError`] as from encoding the whole text; the session is as before then.
    ///
    /// # Complexity
    /// As encoding the new text and 2 KiB, and O(n / 1,024) for n bytes of text.
    ///
    /// # Panics
    /// If the range is not one of the text.
    pub fn edit(&mut self, range: Range<usize>, new: &str) -> Result<Update, EncodeError> {
        let edit = self.prepare(range, new)?;
        Ok(self.apply(edit))
    }

    /// Encodes what an [edit](Self::edit) changes, which [`apply`](Self::apply) does.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    ///
    /// # Panics
    /// If the range is not one of the text.
    pub fn prepare(&self, range: Range<usize>, new: &str) -> Result<Edit, EncodeError> {
        assert!(
            range.start <= range.end && range.end <= self.len(),
            "{range:?} is not in a text of {} bytes",
            self.len()
        );
        if range.is_empty() && new.is_empty() {
            return Ok(Edit::nothing(self.count()));
        }
        let place = self.place_before(range.start);
        let (first, before) = place;
        let (mut next, mut end) = self.place_behind(place, range.end);
        let mut middle = String::new();
        self.text
            .push_text(place, before.bytes..range.start, &mut middle);
        middle.with_room(new.len()).push_str(new);
        self.text.push_text(place, range.end..end, &mut middle);
        while end < self.len() && !self.is_border(&mut middle, next) {
            let (text, _) = self.text.part(next);
            middle.with_room(text.len()).push_str(text);
            end += text.len();
            next += 1;
        }
        let reaches_end = end == self.len();
        self.refuse(&middle, before.characters)?;
        let fresh = self.encode(&middle, before.bytes == 0, reaches_end)?;

        let replaced = first..next.min(self.text.tail());
        let stop = if reaches_end {
            self.count()
        } else {
            before.ids + self.text.size_of(replaced.clone()).ids
        };
        let mut old = Vec::new();
        self.text.push_ids(place, before.ids..stop, &mut old);
        Ok(Edit {
            update: difference(before.ids, &old, fresh.ids()),
            replaced,
            before,
            fresh,
        })
    }

    /// Makes a [prepared](Self::prepare) edit of this text.
    pub fn apply(&mut self, edit: Edit) -> Update {
        let Edit {
            update,
            replaced,
            before,
            fresh,
        } = edit;
        self.text.replace(replaced, before, fresh, self.segment);
        update
    }

    /// Returns where to encode from for an edit at `start`: the last border before it, which may be the mark.
    fn place_before(&self, start: usize) -> Place {
        let marked = self.text.marked();
        if start > marked.bytes {
            return (self.text.tail(), marked);
        }
        self.text
            .locate(START, start.saturating_sub(1), |size| size.bytes)
    }

    /// Returns where to encode to for an edit that ends at `end`: the first border behind it, with the segment there, or the
    /// end of the text.
    fn place_behind(&self, place: Place, end: usize) -> (usize, usize) {
        let (index, before) = self.text.locate(place, end, |size| size.bytes);
        let next = index + 1;
        if index == self.text.tail() {
            return (next, self.len());
        }
        (next, before.bytes + self.text.part(index).0.len())
    }

    /// Returns whether a text that ends before a segment may be one by itself.
    fn is_border(&self, text: &mut String, next: usize) -> bool {
        let length = text.len();
        // Of many small segments, each would have its own overhead.
        if length < self.segment / 4 {
            return false;
        }
        let after = self.text.part(next).0.chars().next();
        text.push(after.expect("the text goes on"));
        let range = length..length + 1;
        let is_cut = self.cuts(text, range).next().is_some();
        text.truncate(length);
        is_cut
    }

    fn cuts<'a>(&'a self, text: &'a str, range: Range<usize>) -> impl Iterator<Item = usize> {
        self.encoder
            .cuts_under(text, range, &self.policy.disallowed)
    }

    /// Returns an error if a text, before which some characters stand, has a disallowed string.
    fn refuse(&self, text: &str, before: usize) -> Result<(), EncodeError> {
        let special = self.encoder.special_tokens();
        let refused = special.refuse(text, &self.policy.disallowed);
        refused.map_err(|error| error.behind(before))
    }

    /// Encodes text that stands between two cuts or the ends of the text.
    fn encode(&self, text: &str, is_start: bool, is_end: bool) -> Result<Fresh, EncodeError> {
        let encoder = &self.encoder;
        encoder.with_workspace(|workspace| {
            let mut ids = Vec::new();
            let mut append = |range: Range<usize>, ids: &mut Vec<TokenId>| {
                let is_start = is_start && range.start == 0;
                let passage = Passage::part(&text[range], is_start);
                let allowed = &self.policy.allowed;
                encoder.append(workspace, passage, allowed, ids, usize::MAX)
            };
            let (mut closed, mut start) = (Vec::new(), 0);
            while start + self.segment < text.len() {
                let Some(cut) = self.cuts(text, start + self.segment..text.len()).next() else {
                    break;
                };
                ids.clear();
                append(start..cut, &mut ids)?;
                closed
                    .with_room(1)
                    .push(Sized::new(&text[start..cut], &ids));
                start = cut;
            }
            ids.clear();
            if !is_end {
                append(start..text.len(), &mut ids)?;
                closed.with_room(1).push(Sized::new(&text[start..], &ids));
                return Ok(Fresh { closed, tail: None });
            }
            let policy = &self.policy.disallowed;
            let mark = encoder.last_cut(text, start, policy).unwrap_or(start);
            append(start..mark, &mut ids)?;
            let before = Size::of(&text[start..mark], &ids);
            append(mark..text.len(), &mut ids)?;
            let tail = Some(Tail {
                text: text[start..].to_owned(),
                ids,
                mark: before,
            });
            Ok(Fresh { closed, tail })
        })
    }
}

/// Returns the smallest update that makes `new` ids of the `old` ones, before which some stand.
fn difference(before: usize, old: &[TokenId], mut new: Vec<TokenId>) -> Update {
    let equal = |(left, right): &(&TokenId, &TokenId)| left == right;
    let same = old.iter().zip(&new).take_while(equal).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let at_end = pairs.take_while(equal).count();
    new.truncate(new.len() - at_end);
    new.drain(..same);
    Update {
        start: before + same,
        stop: before + old.len() - at_end,
        ids: new,
    }
}
