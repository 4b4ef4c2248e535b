//! A text with its ids, in segments that copies share, and the tail behind them.

use std::ops::Range;
use std::sync::Arc;

use crate::token::TokenId;
use crate::util::memory::Growable;

/// The sizes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: usize,
    pub(super) characters: usize,
    pub(super) ids: usize,
}

impl Size {
    pub(super) fn of(text: &str, ids: &[TokenId]) -> Self {
        Self {
            bytes: text.len(),
            characters: text.chars().count(),
            ids: ids.len(),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            characters: self.characters + other.characters,
            ids: self.ids + other.ids,
        }
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self {
            bytes: self.bytes - other.bytes,
            characters: self.characters - other.characters,
            ids: self.ids - other.ids,
        }
    }
}

/// The number of a segment, and what stands before it. It may be the mark of the tail, whose number is that of the tail.
pub(super) type Place = (usize, Size);

pub(super) const START: Place = (
    0,
    Size {
        bytes: 0,
        characters: 0,
        ids: 0,
    },
);

/// A part of a text, from one cut to another, with its ids.
#[derive(Debug)]
pub(in crate::encode) struct Segment {
    pub(in crate::encode) text: Box<str>,
    pub(in crate::encode) ids: Box<[TokenId]>,
}

impl Segment {
    pub(in crate::encode) fn new(text: &str, ids: &[TokenId]) -> Arc<Self> {
        let (text, ids) = (text.into(), ids.into());
        Arc::new(Self { text, ids })
    }
}

/// A segment and its sizes, which are added up without a look at the text.
#[derive(Clone, Debug)]
pub(super) struct Sized {
    pub(super) size: Size,
    segment: Arc<Segment>,
    border: Border,
}

impl Sized {
    pub(super) fn new(text: &str, ids: &[TokenId], border: Border) -> Self {
        Self {
            size: Size::of(text, ids),
            segment: Segment::new(text, ids),
            border,
        }
    }
}

/// The place where a segment, or the text behind a mark, begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Border {
    /// The start, or a [cut](crate::encode::Encoder::cuts).
    #[default]
    Cut,
    /// A [seam](crate::encode::seams).
    Seam,
}

/// The text behind the last segment.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    pub(super) text: String,
    pub(super) ids: Vec<TokenId>,
    pub(super) border: Border,
    /// The text before the last border; nothing if there is none in the tail.
    pub(super) mark: Size,
    /// The kind of that border.
    pub(super) marked: Border,
}

/// Text encoded anew: segments, and the tail if it is the end of the text.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    pub(super) closed: Vec<Sized>,
    pub(super) tail: Option<Tail>,
}

impl Fresh {
    /// The first id.
    pub(super) fn first(&self) -> Option<TokenId> {
        let closed = self.closed.iter().map(|each| &*each.segment.ids);
        let mut parts = closed.chain(self.tail.iter().map(|tail| &*tail.ids));
        parts.find_map(|ids| ids.first()).copied()
    }

    /// All ids.
    pub(super) fn ids(&self) -> Vec<TokenId> {
        let closed = self.closed.iter().map(|each| &*each.segment.ids);
        let tail = self.tail.iter().map(|tail| &*tail.ids);
        let mut ids = Vec::new();
        for part in closed.chain(tail) {
            ids.with_room(part.len()).extend_from_slice(part);
        }
        ids
    }
}

/// A text with its ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Segments {
    closed: Arc<Vec<Sized>>,
    /// The sizes of all segments.
    size: Size,
    /// Copied with the first change after a copy of the session: two allocations are a fifth of the time of a fork.
    tail: Arc<Tail>,
}

impl Segments {
    /// The sizes of all of it.
    pub(super) fn size(&self) -> Size {
        Size {
            bytes: self.len(),
            characters: self.characters(),
            ids: self.count(),
        }
    }

    /// Returns whether there is neither text nor an id.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parts of the text, in order.
    pub(super) fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        (0..=self.closed.len()).map(|index| self.part(index).0)
    }

    /// Number of ids.
    pub(super) fn count(&self) -> usize {
        self.size.ids + self.tail.ids.len()
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.size.bytes + self.tail.text.len()
    }

    /// Number of characters.
    pub(super) fn characters(&self) -> usize {
        let behind = &self.tail.text[self.tail.mark.bytes..];
        self.marked().characters + behind.chars().count()
    }

    /// Number of segments, which is that of the tail.
    pub(super) fn tail(&self) -> usize {
        self.closed.len()
    }

    /// Returns the first id behind a seam; `None` if the border at a place is another.
    pub(super) fn first_behind_seam(&self, (index, before): Place) -> Option<TokenId> {
        let (border, ids) = match self.closed.get(index) {
            Some(Sized {
                segment, border, ..
            }) => (*border, &segment.ids[..]),
            None if before == self.size => (self.tail.border, &self.tail.ids[..]),
            None => (self.tail.marked, &self.tail.ids[self.tail.mark.ids..]),
        };
        ids.first().copied().filter(|_| border == Border::Seam)
    }

    /// The sizes of the text before the mark.
    pub(super) fn marked(&self) -> Size {
        self.size.and(self.tail.mark)
    }

    /// The sizes of some segments together.
    pub(super) fn size_of(&self, segments: Range<usize>) -> Size {
        let sizes = self.closed[segments].iter().map(|each| each.size);
        sizes.fold(Size::default(), Size::and)
    }

    /// Returns the text and the ids of a segment, or of the tail behind all of them.
    pub(super) fn part(&self, index: usize) -> (&str, &[TokenId]) {
        match self.closed.get(index) {
            Some(Sized { segment, .. }) => (&segment.text, &segment.ids),
            None => (&self.tail.text, &self.tail.ids),
        }
    }

    /// Returns the segment that has a position inside, at `from` or behind it; the tail, if none has. Positions are counted as
    /// `of` says.
    pub(super) fn locate(
        &self,
        from: Place,
        position: usize,
        of: impl Fn(&Size) -> usize,
    ) -> Place {
        if position >= of(&self.size) {
            return (self.closed.len(), self.size);
        }
        let (first, mut before) = from;
        for (index, Sized { size, .. }) in self.closed.iter().enumerate().skip(first) {
            let behind = before.and(*size);
            if of(&behind) > position {
                return (index, before);
            }
            before = behind;
        }
        unreachable!("it is not behind all segments")
    }

    /// Returns the segments that a range, which does not begin before a place, lies in, each with the part of it that it has.
    fn spans(
        &self,
        place: Place,
        range: Range<usize>,
        of: impl Fn(&Size) -> usize,
    ) -> impl Iterator<Item = (usize, Range<usize>)> {
        let (first, before) = self.locate(place, range.start, &of);
        let mut start = of(&before);
        (first..=self.closed.len()).map_while(move |index| {
            // White space alone may have no ids: an empty span is not the last.
            if start >= range.end {
                return None;
            }
            // Nothing is behind the tail.
            let closed = self.closed.get(index);
            let end = closed.map_or(range.end, |each| start + of(&each.size));
            let inside = range.start.max(start)..range.end.min(end);
            let span = inside.start - start..inside.end - start;
            start = end;
            Some((index, span))
        })
    }

    /// Appends a range of the text, in bytes, which does not begin before a place.
    pub(super) fn push_text(&self, place: Place, range: Range<usize>, out: &mut String) {
        out.with_room(range.len());
        for (index, span) in self.spans(place, range, |size| size.bytes) {
            out.push_str(&self.part(index).0[span]);
        }
    }

    /// Appends a range of the ids, which does not begin before a place.
    pub(super) fn push_ids(&self, place: Place, range: Range<usize>, out: &mut Vec<TokenId>) {
        out.with_room(range.len());
        for (index, span) in self.spans(place, range, |size| size.ids) {
            out.extend_from_slice(&self.part(index).1[span]);
        }
    }

    /// Returns the offset in bytes of a character, or of the end of the text.
    pub(super) fn offset_of(&self, character: usize) -> usize {
        let place = self.locate(START, character, |size| size.characters);
        self.offset(place, character)
    }

    /// Returns the offset in bytes of a character of the segment at a place; that of its end if it has not so many.
    fn offset(&self, (index, before): Place, character: usize) -> usize {
        let rest = character - before.characters;
        let size = self.closed.get(index).map(|each| each.size);
        if size.is_some_and(|size| size.bytes == size.characters) {
            return before.bytes + rest;
        }
        let (text, _) = self.part(index);
        let offset = text.char_indices().nth(rest).map(|(offset, _)| offset);
        before.bytes + offset.unwrap_or(text.len())
    }

    /// Puts fresh segments in the place of old ones, and a fresh tail in that of the end of the text from a place on. The text
    /// before the mark becomes a segment once it has `segment` bytes.
    pub(super) fn replace(
        &mut self,
        replaced: Range<usize>,
        before: Size,
        fresh: Fresh,
        segment: usize,
    ) {
        let Fresh { mut closed, tail } = fresh;
        let is_behind_mark = before.bytes > self.size.bytes;
        let joins = is_behind_mark && closed.is_empty();
        let closes = |mark: Size| mark.bytes >= segment;
        // Whatever needs memory comes first: nothing is changed if there is none.
        closed.with_room(2);
        let kept = Arc::make_mut(&mut self.tail);
        if let Some(tail) = &tail {
            let mark = if joins {
                kept.text.with_room(tail.text.len());
                kept.ids.with_room(tail.ids.len());
                kept.mark.and(tail.mark)
            } else {
                tail.mark
            };
            if closes(mark) || !closed.is_empty() || !replaced.is_empty() {
                Arc::make_mut(&mut self.closed).with_room(closed.len() + 2);
            }
        } else {
            Arc::make_mut(&mut self.closed).with_room(closed.len());
        }

        if let Some(tail) = tail {
            kept.text.truncate(kept.mark.bytes);
            kept.ids.truncate(kept.mark.ids);
            if joins {
                kept.text.push_str(&tail.text);
                kept.ids.extend_from_slice(&tail.ids);
                if tail.mark.bytes > 0 {
                    kept.marked = tail.marked;
                }
                kept.mark = kept.mark.and(tail.mark);
            } else {
                if is_behind_mark {
                    let Tail {
                        text, ids, border, ..
                    } = &*kept;
                    closed.insert(0, Sized::new(text, ids, *border));
                }
                *kept = tail;
            }
            let mark = kept.mark;
            if closes(mark) {
                let border = std::mem::replace(&mut kept.border, kept.marked);
                let (text, ids) = (&mut kept.text, &mut kept.ids);
                closed.push(Sized::new(&text[..mark.bytes], &ids[..mark.ids], border));
                text.drain(..mark.bytes);
                ids.drain(..mark.ids);
                kept.mark = Size::default();
            }
        }
        if replaced.is_empty() && closed.is_empty() {
            return;
        }
        let old = self.size_of(replaced.clone());
        let new = closed.iter().map(|each| each.size);
        self.size = new.fold(self.size.without(old), Size::and);
        Arc::make_mut(&mut self.closed).splice(replaced, closed);
    }
}

/// Returns how many bytes a text in parts and another have in common at their start.
pub(super) fn common_start<'a>(parts: impl Iterator<Item = &'a str>, text: &str) -> usize {
    let mut same = 0;
    for part in parts {
        let (part, rest) = (part.as_bytes(), &text.as_bytes()[same..]);
        if rest.starts_with(part) {
            same += part.len();
            continue;
        }
        let pairs = part.iter().zip(rest);
        return same + pairs.take_while(|(left, right)| left == right).count();
    }
    same
}

/// Returns how many bytes a text, whose last part comes first, and another have in common at their end, at most `most`.
pub(super) fn common_end<'a>(
    parts: impl Iterator<Item = &'a str>,
    text: &str,
    most: usize,
) -> usize {
    let text = text.as_bytes();
    let mut same = 0;
    for part in parts {
        let (part, rest) = (part.as_bytes(), &text[..text.len() - same]);
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
