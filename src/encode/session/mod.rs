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
//! A long run without a cut is divided at seams (`encode/seams.rs`) instead, and so is the tail. What begins at a seam is encoded
//! from there only if its first token stays; otherwise from a border before. An edit reaches to a cut on its right, so the
//! seams behind it are found anew.
//!
//! Segments are shared by the copies of a session, of which a few can be made in the time of one: only the tail is copied.
//! Where a text has neither cuts nor seams, all of it is tail, and is encoded anew with every change.
//!
//! Ids that a model has sampled may be **pinned**: they never change. The unpinned text before and behind them is
//! encoded by itself, the text before them as at its end, which is what the model has seen.
//!
//! ```text
//! unpinned [pinned ids] unpinned [pinned ids] unpinned
//! ```

mod pinned;
mod segments;
mod unpinned;

use std::ops::Range;
use std::sync::Arc;

use pinned::{Addition, Pinned};
use segments::{START, Size};
use unpinned::{Change, Unpinned};

pub(super) use segments::Segment;

use super::special::Policy;
use super::{Before, Encoder, Passage};
use crate::error::{DecodeError, EncodeError, SessionError};
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

/// How the texts of a session are encoded.
#[derive(Debug)]
struct Rules {
    encoder: Arc<Encoder>,
    policy: Policy,
    /// Bytes of a segment, at least.
    segment: usize,
    /// Whether [cuts](Encoder::cuts) are searched for.
    has_cuts: bool,
}

impl Rules {
    fn cuts<'a>(&'a self, text: &'a str, range: Range<usize>) -> impl Iterator<Item = usize> {
        let cuts = self
            .has_cuts
            .then(|| (self.encoder).cuts_under(text, range, &self.policy.disallowed));
        cuts.into_iter().flatten()
    }

    /// Returns the last of the [cuts](Self::cuts) behind `from`.
    fn last_cut(&self, text: &str, from: usize) -> Option<usize> {
        let disallowed = &self.policy.disallowed;
        let found = || self.encoder.last_cut(text, from, disallowed);
        self.has_cuts.then(found)?
    }

    /// Returns an error if a text, before which some characters stand, has a disallowed string.
    fn refuse(&self, text: &str, before: usize) -> Result<(), EncodeError> {
        let special = self.encoder.special_tokens();
        let refused = special.refuse(text, &self.policy.disallowed);
        refused.map_err(|error| error.behind(before))
    }
}

/// A text that changes, with its ids.
#[derive(Clone, Debug)]
pub struct Session {
    rules: Arc<Rules>,
    /// Unpinned texts, each with the pinned ids behind it.
    closed: Arc<Vec<(Unpinned, Arc<Pinned>)>>,
    /// The sizes of these, but for the last pinned ids, whose text may not be decoded yet.
    size: Size,
    last: Unpinned,
}

/// An edit of the text as it is, encoded.
#[derive(Debug)]
pub struct Edit {
    /// Its change to the ids.
    pub update: Update,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Nothing,
    /// Changes the unpinned text with a number, and appends what stands behind it in those that follow.
    Text {
        number: usize,
        /// How many follow that are no longer by themselves.
        joined: usize,
        change: Change,
    },
    /// Pins ids behind the last text.
    Pin(Pinned),
    /// Pins further ids, behind pinned ones.
    PinFurther(Addition),
    /// The pinned ids behind the text with a number become these, and end the text.
    Cut {
        number: usize,
        pinned: Pinned,
    },
}

impl Session {
    /// Starts with no text. All texts are encoded under one `policy`.
    pub fn new(encoder: Arc<Encoder>, policy: Policy) -> Self {
        Self::with_segments_of(SEGMENT, encoder, policy)
    }

    /// As [`new`](Self::new), with segments of another size, as tests have them.
    #[doc(hidden)]
    pub fn with_segments_of(segment: usize, encoder: Arc<Encoder>, policy: Policy) -> Self {
        Self {
            rules: Arc::new(Rules {
                has_cuts: encoder.has_cuts(),
                encoder,
                policy,
                segment,
            }),
            closed: Arc::default(),
            size: Size::default(),
            last: Unpinned::new(Before::Nothing),
        }
    }

    /// The encoder.
    pub fn encoder(&self) -> &Arc<Encoder> {
        &self.rules.encoder
    }

    /// Number of ids.
    pub fn count(&self) -> usize {
        self.closed_ids() + self.last.text.count()
    }

    /// Number of bytes of the text.
    pub fn len(&self) -> usize {
        self.closed_size().bytes + self.last.text.len()
    }

    /// True if there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of characters of the text.
    pub fn characters(&self) -> usize {
        self.closed_size().characters + self.last.text.characters()
    }

    /// Number of ids before the last unpinned text.
    fn closed_ids(&self) -> usize {
        let pinned = self.closed.last().map(|(_, pinned)| pinned.ids().len());
        self.size.ids + pinned.unwrap_or_default()
    }

    /// The sizes of what stands before the last unpinned text.
    fn closed_size(&self) -> Size {
        let pinned = self.closed.last().map(|(_, pinned)| pinned.size());
        self.size.and(pinned.unwrap_or_default())
    }

    /// The text. Pinned ids that end inside of a character have U+FFFD there.
    pub fn text(&self) -> String {
        let mut text = String::new();
        text.with_room(self.len());
        self.parts().for_each(|part| text.push_str(part));
        text
    }

    /// The parts of the text, in order.
    fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        let closed = self
            .closed
            .iter()
            .flat_map(|(unpinned, pinned)| unpinned.text.parts().chain(pinned.parts()));
        closed.chain(self.last.text.parts())
    }

    /// The unpinned texts with the sizes of all that stands before each, and the pinned ids behind it.
    fn texts(&self) -> impl Iterator<Item = (&Unpinned, Size, Option<&Pinned>)> {
        let mut before = Size::default();
        let closed = self.closed.iter().map(move |(unpinned, pinned)| {
            let here = before;
            before = here.and(unpinned.text.size()).and(pinned.size());
            (unpinned, here, Some(&**pinned))
        });
        closed.chain([(&self.last, self.closed_size(), None)])
    }

    /// Returns the unpinned text with a number, and the sizes of what stands before it.
    fn unpinned(&self, number: usize) -> (&Unpinned, Size) {
        if number == self.closed.len() {
            return (&self.last, self.closed_size());
        }
        let found = self.texts().nth(number);
        let (unpinned, before, _) = found.expect("it is the number of one");
        (unpinned, before)
    }

    /// Appends a range of the ids.
    pub fn push_ids(&self, range: Range<usize>, out: &mut Vec<TokenId>) {
        out.with_room(range.len());
        let within = |start: usize, count: usize| {
            let behind = |end: usize| end.saturating_sub(start).min(count);
            behind(range.start)..behind(range.end)
        };
        if range.start >= self.closed_ids() {
            // Nearly always, at the end of the text.
            let inside = within(self.closed_ids(), self.last.text.count());
            return self.last.text.push_ids(START, inside, out);
        }
        for (unpinned, before, pinned) in self.texts() {
            let count = unpinned.text.count();
            let inside = within(before.ids, count);
            if !inside.is_empty() {
                unpinned.text.push_ids(START, inside, out);
            }
            if let Some(pinned) = pinned {
                let inside = within(before.ids + count, pinned.ids().len());
                out.extend_from_slice(&pinned.ids()[inside]);
            }
        }
    }

    /// Returns the range in bytes of a range of characters, at most up to the end of the text.
    ///
    /// # Complexity
    /// O(n / 1,024 + 1,024) for n bytes.
    pub fn byte_range(&self, characters: Range<usize>) -> Range<usize> {
        let start = self.offset(characters.start);
        start..start.max(self.offset(characters.end))
    }

    /// Returns the offset in bytes of a character, or of the end of the text.
    fn offset(&self, character: usize) -> usize {
        let closed = self.closed_size();
        if character >= closed.characters {
            let rest = character - closed.characters;
            return closed.bytes + self.last.text.offset_of(rest);
        }
        for (unpinned, before, pinned) in self.texts() {
            let rest = character - before.characters;
            let size = unpinned.text.size();
            if rest <= size.characters {
                return before.bytes + unpinned.text.offset_of(rest);
            }
            let (rest, pinned) = (rest - size.characters, pinned.expect("it is before those"));
            if rest < pinned.size().characters {
                return before.bytes + size.bytes + pinned.offset(rest);
            }
        }
        self.len()
    }

    /// Appends text.
    ///
    /// # Errors
    /// [`EncodeError`] as from encoding the whole text; the session is as before then.
    pub fn append(&mut self, text: &str) -> Result<Update, SessionError> {
        let end = self.len();
        self.edit(end..end, text)
    }

    /// Appends ids as they are, whether encoding their text gives them or not.
    ///
    /// # Errors
    /// [`DecodeError::UnknownToken`]; the session is as before then.
    ///
    /// # Complexity
    /// O(ids).
    pub fn append_ids(&mut self, ids: &[TokenId]) -> Result<Update, DecodeError> {
        let edit = self.prepare_ids(ids)?;
        Ok(self.apply(edit))
    }

    /// Replaces all of the text: what it begins and ends with as before is not encoded again.
    ///
    /// # Errors
    /// As [`edit`](Self::edit).
    ///
    /// # Complexity
    /// As comparing the texts, and [`edit`](Self::edit).
    pub fn update(&mut self, text: &str) -> Result<Update, SessionError> {
        let (range, new) = self.change_to(text);
        self.edit(range, new)
    }

    /// Returns the bytes to replace, and by what, so that the text becomes another.
    pub fn change_to<'t>(&self, text: &'t str) -> (Range<usize>, &'t str) {
        let mut start = segments::common_start(self.parts(), text);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        if let Err(number) = self.place(start) {
            // Text that begins as the pinned ids behind it may as well stand before them.
            let (unpinned, before) = self.unpinned(number);
            let place = before.bytes + unpinned.text.len();
            let rest = self.len() - place;
            if segments::common_end(self.parts().rev(), text, rest.min(text.len() - place)) == rest
            {
                start = place;
            }
        }
        let most = (self.len() - start).min(text.len() - start);
        let mut same = segments::common_end(self.parts().rev(), text, most);
        while !text.is_char_boundary(text.len() - same) {
            same -= 1;
        }
        (start..self.len() - same, &text[start..text.len() - same])
    }

    /// Returns how many ids there would be behind [`append`](Self::append).
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn count_after(&self, text: &str) -> Result<usize, SessionError> {
        let end = self.len();
        let Update { start, stop, ids } = self.prepare(end..end, text)?.update;
        Ok(self.count() - (stop - start) + ids.len())
    }

    /// Replaces the bytes in `range`, which are whole characters, by a text.
    ///
    /// # Errors
    /// [`EncodeError`] as from encoding the whole text; [`SessionError::Pinned`] if the range begins or ends inside the text of
    /// pinned ids, unless it is the end of the text and one of them begins there. The session is as before then.
    ///
    /// # Complexity
    /// As encoding the new text and 2 KiB, and O(n / 1,024) for n bytes of text.
    ///
    /// # Panics
    /// If the range is not one of the text.
    pub fn edit(&mut self, range: Range<usize>, new: &str) -> Result<Update, SessionError> {
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
    pub fn prepare(&self, range: Range<usize>, new: &str) -> Result<Edit, SessionError> {
        assert!(
            range.start <= range.end && range.end <= self.len(),
            "{range:?} is not in a text of {} bytes",
            self.len()
        );
        if range.is_empty() && new.is_empty() {
            return Ok(self.nothing());
        }
        let (number, start) = match self.place(range.start) {
            Ok(place) => place,
            Err(inside) if new.is_empty() && range.end == self.len() => {
                return self.cut(inside, range);
            }
            Err(inside) => return Err(self.pinned_error(inside, range)),
        };
        let (unpinned, before) = self.unpinned(number);
        let length = unpinned.text.len();
        let end = range.end - before.bytes;
        if end <= length {
            let change = unpinned.prepare(&self.rules, before.characters, start..end, new)?;
            return Ok(self.edit_of(number, number, change));
        }
        // Whole pinned ids are replaced as well: what stands behind them joins this text.
        let (other, end) = match self.place(range.end) {
            Ok(place) => place,
            Err(inside) => return Err(self.pinned_error(inside, range)),
        };
        let behind = &self.unpinned(other).0.text;
        let mut text = new.to_owned();
        behind.push_text(START, end..behind.len(), &mut text);
        let change = unpinned.prepare(&self.rules, before.characters, start..length, &text)?;
        Ok(self.edit_of(number, other, change))
    }

    /// Decodes ids that are [appended](Self::append_ids), which [`apply`](Self::apply) does.
    ///
    /// # Errors
    /// As [`append_ids`](Self::append_ids).
    pub fn prepare_ids(&self, ids: &[TokenId]) -> Result<Edit, DecodeError> {
        if ids.is_empty() {
            return Ok(self.nothing());
        }
        let Some(pinned) = self.last_pinned() else {
            let (mut before, count) = (Vec::new(), self.count());
            self.push_ids(count.saturating_sub(1)..count, &mut before);
            return self.prepare_ids_behind(before.pop(), ids);
        };
        let kind = Kind::PinFurther(pinned.further(ids)?);
        Ok(self.edit_at_end(ids, kind))
    }

    /// Decodes ids that are appended by themselves, as they stood behind another id before that was edited.
    ///
    /// # Errors
    /// As [`append_ids`](Self::append_ids).
    pub fn prepare_ids_behind(
        &self,
        before: Option<TokenId>,
        ids: &[TokenId],
    ) -> Result<Edit, DecodeError> {
        if ids.is_empty() {
            return Ok(self.nothing());
        }
        let mut pinned = Pinned::new(self.encoder(), before)?;
        pinned.add(pinned.further(ids)?);
        Ok(self.edit_at_end(ids, Kind::Pin(pinned)))
    }

    /// Makes a [prepared](Self::prepare) edit of this text.
    pub fn apply(&mut self, edit: Edit) -> Update {
        let Edit { update, kind } = edit;
        match kind {
            Kind::Nothing => {}
            Kind::Text {
                number,
                joined,
                change,
            } => {
                let rules = &self.rules;
                if number == self.closed.len() {
                    self.last.apply(rules, change);
                    return update;
                }
                let closed = Arc::make_mut(&mut self.closed);
                closed[number].0.apply(rules, change);
                if number + joined == closed.len() {
                    closed.truncate(number + 1);
                    let (unpinned, _) = closed.pop().expect("it is one of them");
                    self.last = unpinned;
                } else {
                    // The pinned ids behind the last of those that are joined stay.
                    closed[number].1 = Arc::clone(&closed[number + joined].1);
                    closed.drain(number + 1..=number + joined);
                }
                self.resize();
            }
            Kind::Pin(pinned) => {
                let next = Unpinned::new(pinned.before_text());
                let size = self.closed_size().and(self.last.text.size());
                let closed = Arc::make_mut(&mut self.closed);
                // Whatever needs memory comes first: nothing is changed if there is none.
                closed.with_room(1);
                self.size = size;
                closed.push((std::mem::replace(&mut self.last, next), Arc::new(pinned)));
            }
            Kind::PinFurther(addition) => {
                let closed = Arc::make_mut(&mut self.closed);
                let (_, pinned) = closed.last_mut().expect("some ids are pinned");
                let pinned = Arc::make_mut(pinned);
                pinned.add(addition);
                self.last = Unpinned::new(pinned.before_text());
            }
            Kind::Cut { number, pinned } => {
                self.last = Unpinned::new(pinned.before_text());
                let closed = Arc::make_mut(&mut self.closed);
                closed.truncate(number + 1);
                closed[number].1 = Arc::new(pinned);
                self.resize();
            }
        }
        update
    }

    /// Returns the index of the first id that encoding the text would not give, under the special tokens that the session
    /// allows; `None` if there is none, as without pinned ids.
    ///
    /// # Errors
    /// [`EncodeError::Interrupted`].
    ///
    /// # Complexity
    /// That of encoding the text, if ids are pinned.
    pub fn first_drift(&self) -> Result<Option<usize>, EncodeError> {
        if self.closed.is_empty() {
            return Ok(None);
        }
        let (mut ids, mut expected) = (Vec::new(), Vec::new());
        self.push_ids(0..self.count(), &mut ids);
        let allowed = &self.rules.policy.allowed;
        self.encoder()
            .encode(&self.text(), allowed, &mut expected)?;
        let pairs = ids.iter().zip(&expected);
        let same = pairs.take_while(|(id, expected)| id == expected).count();
        Ok((same < ids.len() || same < expected.len()).then_some(same))
    }

    /// Returns the unpinned texts, each with the pinned ids behind it, and with the id that these [stood
    /// behind](Self::prepare_ids_behind) when they came; the last has none.
    pub fn pinned(&self) -> impl Iterator<Item = (String, Option<TokenId>, &[TokenId])> {
        self.texts().map(|(unpinned, _, pinned)| {
            let mut text = String::new();
            unpinned
                .text
                .push_text(START, 0..unpinned.text.len(), &mut text);
            let before = pinned.and_then(Pinned::before);
            (text, before, pinned.map_or(&[][..], Pinned::ids))
        })
    }

    /// The edit that leaves the text as it is.
    fn nothing(&self) -> Edit {
        let (start, stop) = (self.count(), self.count());
        let ids = Vec::new();
        Edit {
            update: Update { start, stop, ids },
            kind: Kind::Nothing,
        }
    }

    /// The edit that appends ids.
    fn edit_at_end(&self, ids: &[TokenId], kind: Kind) -> Edit {
        let mut update = self.nothing().update;
        update.ids.with_room(ids.len()).extend_from_slice(ids);
        Edit { update, kind }
    }

    /// Returns the edit that changes an unpinned text and joins it with those up to another.
    fn edit_of(&self, number: usize, other: usize, change: Change) -> Edit {
        let (_, before) = self.unpinned(number);
        let start = before.ids + change.before.ids;
        let stop = if number == other {
            before.ids + change.stop
        } else {
            let (unpinned, before) = self.unpinned(other);
            before.ids + unpinned.text.count()
        };
        let mut old = Vec::new();
        self.push_ids(start..stop, &mut old);
        Edit {
            update: difference(start, &old, change.fresh.ids()),
            kind: Kind::Text {
                number,
                joined: other - number,
                change,
            },
        }
    }

    /// Returns the number of the unpinned text that an offset is in, and the offset in that. Between text and pinned ids it is in
    /// the text; between two texts in the later. The error is the number of the pinned ids whose text has it inside.
    fn place(&self, offset: usize) -> Result<(usize, usize), usize> {
        let closed = self.closed_size().bytes;
        if offset >= closed {
            return Ok((self.closed.len(), offset - closed));
        }
        let mut place = Err(0);
        for (number, (unpinned, before, _)) in self.texts().enumerate() {
            if before.bytes > offset {
                break;
            }
            let within = offset - before.bytes;
            place = if within <= unpinned.text.len() {
                Ok((number, within))
            } else {
                Err(number)
            };
        }
        place
    }

    /// Ends the text inside of pinned ids, at the start of `range`.
    fn cut(&self, number: usize, range: Range<usize>) -> Result<Edit, SessionError> {
        let (unpinned, before) = self.unpinned(number);
        let behind = before.and(unpinned.text.size());
        let pinned = &self.closed[number].1;
        let cut = pinned.cut(range.start - behind.bytes)?;
        let Some(cut) = cut else {
            return Err(self.pinned_error(number, range));
        };
        let update = Update {
            start: behind.ids + cut.ids().len(),
            stop: self.count(),
            ids: Vec::new(),
        };
        let kind = Kind::Cut {
            number,
            pinned: cut,
        };
        Ok(Edit { update, kind })
    }

    /// The pinned ids at the end, if no text stands behind them.
    fn last_pinned(&self) -> Option<&Pinned> {
        let (_, pinned) = self.closed.last()?;
        self.last.text.is_empty().then_some(pinned)
    }

    /// Adds the sizes up again.
    fn resize(&mut self) {
        let sizes = self.closed.iter();
        let sizes = sizes.map(|(unpinned, pinned)| unpinned.text.size().and(pinned.size()));
        let size = sizes.fold(Size::default(), Size::and);
        let last = self.closed.last().map(|(_, pinned)| pinned.size());
        self.size = size.without(last.unwrap_or_default());
    }

    /// The error of an edit that begins or ends inside pinned ids.
    fn pinned_error(&self, number: usize, range: Range<usize>) -> SessionError {
        let (unpinned, before) = self.unpinned(number);
        let start = before.characters + unpinned.text.characters();
        let end = start + self.closed[number].1.size().characters;
        let text = self.text();
        let character = |offset: usize| text[..offset].chars().count();
        SessionError::Pinned {
            pinned: start..end,
            edited: character(range.start)..character(range.end),
        }
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
