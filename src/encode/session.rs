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
//! A cut is decided by the two characters beside it, so it stays one wherever both stay. An edit is encoded from the last
//! border whose right character stands before it, to the first whose left character stands behind it; at the end of the
//! text from the mark. There everything else has the ids that it had. A border on the right is looked at again, since the map
//! of a SentencePiece model looks at the word before it as well.
//!
//! Segments are shared by the copies of a session, of which a few can be made in the time of one: only the tail is copied.
//! Where a text has no cuts, all of it is tail, and is encoded anew with every change.

use std::ops::Range;
use std::sync::Arc;

use super::special::Policy;
use super::{Encoder, Passage};
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;

/// Bytes of a segment, at least, unless the text behind it is edited: one is encoded in some microseconds, and 4,000
/// of them, of a text of 4 MB, are passed over in as many.
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

/// The sizes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    bytes: usize,
    characters: usize,
    ids: usize,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.characters += other.characters;
        self.ids += other.ids;
    }

    fn and(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    fn subtract(&mut self, other: Self) {
        self.bytes -= other.bytes;
        self.characters -= other.characters;
        self.ids -= other.ids;
    }
}

/// The number of a segment, and what stands before it. It may be the mark of the tail, whose number is that of the tail.
type Place = (usize, Size);

const START: Place = (
    0,
    Size {
        bytes: 0,
        characters: 0,
        ids: 0,
    },
);

/// A part of the text, from one cut to another.
#[derive(Debug)]
struct Segment {
    text: Box<str>,
    ids: Box<[TokenId]>,
}

/// A segment with its sizes beside it, which are passed over without a look at the text.
#[derive(Clone, Debug)]
struct Sized {
    size: Size,
    segment: Arc<Segment>,
}

impl Sized {
    fn new(text: &str, ids: &[TokenId]) -> Self {
        let size = Size {
            bytes: text.len(),
            characters: text.chars().count(),
            ids: ids.len(),
        };
        let (text, ids) = (text.into(), ids.into());
        let segment = Arc::new(Segment { text, ids });
        Self { size, segment }
    }
}

/// The text behind the last segment.
#[derive(Clone, Debug, Default)]
struct Tail {
    text: String,
    ids: Vec<TokenId>,
    /// The text before the last cut; nothing if there is none in the tail.
    mark: Size,
}

impl Tail {
    fn size(&self) -> Size {
        let behind = &self.text[self.mark.bytes..];
        Size {
            bytes: self.text.len(),
            characters: self.mark.characters + behind.chars().count(),
            ids: self.ids.len(),
        }
    }
}

/// A text that changes, with its ids.
#[derive(Clone, Debug)]
pub struct Session {
    encoder: Arc<Encoder>,
    policy: Policy,
    /// Bytes of a segment, at least.
    segment: usize,
    closed: Arc<Vec<Sized>>,
    /// The sizes of all segments.
    size: Size,
    tail: Tail,
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

/// Text encoded anew: segments, and the tail if it is the end of the text.
#[derive(Debug, Default)]
struct Fresh {
    closed: Vec<Sized>,
    tail: Option<Tail>,
}

impl Session {
    /// Starts with no text. All texts are encoded under one `policy`.
    pub fn new(encoder: Arc<Encoder>, policy: Policy) -> Self {
        Self {
            encoder,
            policy,
            segment: SEGMENT,
            closed: Arc::default(),
            size: Size::default(),
            tail: Tail::default(),
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
        self.size.ids + self.tail.ids.len()
    }

    /// Number of bytes of the text.
    pub fn len(&self) -> usize {
        self.size.bytes + self.tail.text.len()
    }

    /// True if there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of characters of the text.
    pub fn characters(&self) -> usize {
        self.size.characters + self.tail.size().characters
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.push_text(START, 0..self.len(), &mut text);
        text
    }

    /// Returns the offsets in bytes of a range of characters; the length of the text if there are not so many.
    ///
    /// # Complexity
    /// O(n / 1,024 + 1,024) for n bytes.
    pub fn byte_range(&self, characters: Range<usize>) -> Range<usize> {
        let of = |size: &Size| size.characters;
        let start = self.locate(characters.start, of);
        let end = self.locate_from(start, characters.end, of);
        self.byte_offset(start, characters.start)..self.byte_offset(end, characters.end)
    }

    /// Returns the offset in bytes of a character of the segment at a place.
    fn byte_offset(&self, (index, before): Place, character: usize) -> usize {
        let (text, _) = self.part(index);
        let rest = character - before.characters;
        let is_ascii = self.closed.get(index).is_some_and(|each| {
            let Size {
                bytes, characters, ..
            } = each.size;
            bytes == characters
        });
        if is_ascii {
            return before.bytes + rest;
        }
        let offset = text.char_indices().nth(rest).map(|(offset, _)| offset);
        before.bytes + offset.unwrap_or(text.len())
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
        let mut start = self.common_start(text);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let most = (self.len() - start).min(text.len() - start);
        let mut same = self.common_end(text, most);
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
        let Tail {
            text: tail, mark, ..
        } = &self.tail;
        let rest = [&tail[mark.bytes..], text].concat();
        let before = self.size.bytes + mark.bytes;
        self.refuse(&rest, self.size.characters + mark.characters)?;
        let passage = Passage::part(&rest, before == 0);
        let allowed = &self.policy.allowed;
        let encoder = &self.encoder;
        let count = encoder.with_workspace(|workspace| {
            encoder.count_while(workspace, passage, allowed, |_| true)
        })?;
        Ok(self.size.ids + mark.ids + count)
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
        self.push_text(place, before.bytes..range.start, &mut middle);
        middle.with_room(new.len()).push_str(new);
        self.push_text(place, range.end..end, &mut middle);
        while end < self.len() && !self.is_border(&mut middle, next) {
            let (text, _) = self.part(next);
            middle.with_room(text.len()).push_str(text);
            end += text.len();
            next += 1;
        }
        let reaches_end = end == self.len();
        self.refuse(&middle, before.characters)?;
        let fresh = self.encode(&middle, before.bytes == 0, reaches_end)?;

        let replaced = first..next.min(self.closed.len());
        let stop = if reaches_end {
            self.count()
        } else {
            let ids = self.closed[replaced.clone()].iter();
            before.ids + ids.map(|each| each.size.ids).sum::<usize>()
        };
        let mut old = Vec::new();
        self.push_ids_from(place, before.ids..stop, &mut old);
        Ok(Edit {
            update: difference(before.ids, &old, fresh.ids()),
            replaced,
            before,
            fresh,
        })
    }

    /// Returns the segment that has a position of the text inside, and what stands before it; behind all of them, the tail.
    /// Positions are counted as `of` says.
    fn locate(&self, position: usize, of: impl Fn(&Size) -> usize) -> Place {
        self.locate_from(START, position, of)
    }

    /// As [`locate`](Self::locate), of a position that is not before a place.
    fn locate_from(
        &self,
        (first, mut before): Place,
        position: usize,
        of: impl Fn(&Size) -> usize,
    ) -> Place {
        if position >= of(&self.size) {
            return (self.closed.len(), self.size);
        }
        for (index, Sized { size, .. }) in self.closed.iter().enumerate().skip(first) {
            if of(&before) + of(size) > position {
                return (index, before);
            }
            before.add(*size);
        }
        unreachable!("it is not behind all segments")
    }

    /// Returns the text and the ids of a segment, or of the tail behind all of them.
    fn part(&self, index: usize) -> (&str, &[TokenId]) {
        match self.closed.get(index) {
            Some(Sized { segment, .. }) => (&segment.text, &segment.ids),
            None => (&self.tail.text, &self.tail.ids),
        }
    }

    /// Returns where to encode from for an edit at `start`: the last border before it, which may be the mark.
    fn place_before(&self, start: usize) -> Place {
        let marked = self.size.and(self.tail.mark);
        if start > marked.bytes {
            return (self.closed.len(), marked);
        }
        self.locate(start.saturating_sub(1), |size| size.bytes)
    }

    /// Returns where to encode to for an edit that ends at `end`: the first border behind it, with the segment there, or the
    /// end of the text.
    fn place_behind(&self, place: Place, end: usize) -> (usize, usize) {
        let (index, before) = self.locate_from(place, end, |size| size.bytes);
        let next = index.max(place.0) + 1;
        match self.closed.get(index) {
            Some(each) if next == index + 1 => (next, before.bytes + each.size.bytes),
            _ => (next, self.len()),
        }
    }

    /// Returns whether a text that ends before a segment may be one by itself.
    fn is_border(&self, text: &mut String, next: usize) -> bool {
        let length = text.len();
        // Of many small segments, each would have its own overhead.
        if length < self.segment / 4 {
            return false;
        }
        let after = self.part(next).0.chars().next();
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
            let before = Size {
                bytes: mark - start,
                characters: text[start..mark].chars().count(),
                ids: ids.len(),
            };
            append(mark..text.len(), &mut ids)?;
            let tail = Some(Tail {
                text: text[start..].to_owned(),
                ids,
                mark: before,
            });
            Ok(Fresh { closed, tail })
        })
    }

    /// Makes a [prepared](Self::prepare) edit of this text: puts fresh segments in the place of old ones, and a fresh tail in
    /// that of the end of the text.
    pub fn apply(&mut self, edit: Edit) -> Update {
        let Edit {
            update,
            replaced,
            before,
            fresh: Fresh { mut closed, tail },
        } = edit;
        let is_behind_mark = before.bytes > self.size.bytes;
        let joins = is_behind_mark && closed.is_empty();
        // Whatever needs memory comes first: nothing is changed if there is none.
        closed.with_room(2);
        let needs_room = !closed.is_empty() || !replaced.is_empty();
        if let (Some(tail), true) = (&tail, joins) {
            self.tail.text.with_room(tail.text.len());
            self.tail.ids.with_room(tail.ids.len());
        }
        let segment = self.segment;
        let closes = |mark: Size| mark.bytes >= segment;
        let mark = tail.as_ref().map_or(Size::default(), |tail| tail.mark);
        if needs_room || closes(mark) || joins && closes(self.tail.mark.and(mark)) {
            Arc::make_mut(&mut self.closed).with_room(closed.len() + 2);
        }

        if let Some(tail) = tail {
            self.tail.text.truncate(self.tail.mark.bytes);
            self.tail.ids.truncate(self.tail.mark.ids);
            if joins {
                self.tail.text.push_str(&tail.text);
                self.tail.ids.extend_from_slice(&tail.ids);
                self.tail.mark.add(tail.mark);
            } else {
                if is_behind_mark {
                    closed.insert(0, Sized::new(&self.tail.text, &self.tail.ids));
                }
                self.tail = tail;
            }
            let mark = self.tail.mark;
            if closes(mark) {
                let (text, ids) = (&mut self.tail.text, &mut self.tail.ids);
                closed.push(Sized::new(&text[..mark.bytes], &ids[..mark.ids]));
                text.drain(..mark.bytes);
                ids.drain(..mark.ids);
                self.tail.mark = Size::default();
            }
        }
        if replaced.is_empty() && closed.is_empty() {
            return update;
        }
        let all = Arc::make_mut(&mut self.closed);
        for old in &all[replaced.clone()] {
            self.size.subtract(old.size);
        }
        for new in &closed {
            self.size.add(new.size);
        }
        all.splice(replaced, closed);
        update
    }

    /// Appends a range of the text, in bytes, which does not begin before a place.
    fn push_text(&self, place: Place, range: Range<usize>, out: &mut String) {
        out.with_room(range.len());
        let (first, before) = self.locate_from(place, range.start, |size| size.bytes);
        let mut start = before.bytes;
        for index in first..=self.closed.len() {
            let (text, _) = self.part(index);
            if let Some(inside) = overlap(&range, start, text.len()) {
                out.push_str(&text[inside]);
            }
            start += text.len();
            if start >= range.end {
                break;
            }
        }
    }

    /// Appends a range of the ids.
    pub fn push_ids(&self, range: Range<usize>, out: &mut Vec<TokenId>) {
        self.push_ids_from(START, range, out);
    }

    /// As [`push_ids`](Self::push_ids), of a range that does not begin before a place.
    fn push_ids_from(&self, place: Place, range: Range<usize>, out: &mut Vec<TokenId>) {
        out.with_room(range.len());
        let (first, before) = self.locate_from(place, range.start, |size| size.ids);
        let mut start = before.ids;
        for index in first..=self.closed.len() {
            let (_, ids) = self.part(index);
            if let Some(inside) = overlap(&range, start, ids.len()) {
                out.extend_from_slice(&ids[inside]);
            }
            start += ids.len();
            if start >= range.end {
                break;
            }
        }
    }

    /// Returns how many bytes the text and another have in common at their start.
    fn common_start(&self, text: &str) -> usize {
        let mut same = 0;
        for index in 0..=self.closed.len() {
            let (part, _) = self.part(index);
            let other = text.as_bytes().get(same..same + part.len());
            if other == Some(part.as_bytes()) {
                same += part.len();
                continue;
            }
            let pairs = part.bytes().zip(text[same..].bytes());
            return same + pairs.take_while(|(left, right)| left == right).count();
        }
        same
    }

    /// Returns how many bytes the text and another have in common at their end, at most `most`.
    fn common_end(&self, text: &str, most: usize) -> usize {
        let text = text.as_bytes();
        let mut same = 0;
        for index in (0..=self.closed.len()).rev() {
            let part = self.part(index).0.as_bytes();
            let rest = &text[..text.len() - same];
            if same + part.len() <= most && rest.ends_with(part) {
                same += part.len();
                continue;
            }
            let pairs = part.iter().rev().zip(rest.iter().rev());
            let pairs = pairs.take(most - same);
            return same + pairs.take_while(|(left, right)| left == right).count();
        }
        same
    }
}

impl Fresh {
    /// All ids.
    fn ids(&self) -> Vec<TokenId> {
        let mut ids = Vec::new();
        for each in &self.closed {
            ids.with_room(each.size.ids)
                .extend_from_slice(&each.segment.ids);
        }
        if let Some(tail) = &self.tail {
            ids.with_room(tail.ids.len()).extend_from_slice(&tail.ids);
        }
        ids
    }
}

/// Returns which part of `length` things behind `start` others is in a range; `None` if none is.
fn overlap(range: &Range<usize>, start: usize, length: usize) -> Option<Range<usize>> {
    let (from, to) = (range.start.max(start), range.end.min(start + length));
    (from < to).then(|| from - start..to - start)
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
