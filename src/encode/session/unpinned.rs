//! A text of a session between pinned ids, in segments, and how an edit of it is encoded.

use std::ops::Range;

use super::segments::{Border, Fresh, Place, START, Segments, Size, Sized, Tail};
use super::{Before, Passage, Rules};
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::{self, Growable};

/// Segments in a run without a cut that is divided at seams.
const RUN: usize = 4;

/// Bytes without a cut at the end of a text behind which a seam is the mark.
const FAR: usize = 128;

/// Tokens behind a seam that is the mark, at least: what follows a run changes hardly ever more.
const KEPT: usize = 5;

/// A text that is encoded by itself.
#[derive(Clone, Debug)]
pub(super) struct Unpinned {
    pub(super) text: Segments,
    before: Before,
}

/// A part of an unpinned text, encoded anew.
#[derive(Debug)]
pub(super) struct Change {
    /// The segments that are replaced, and what stands before the first.
    replaced: Range<usize>,
    pub(super) before: Size,
    pub(super) fresh: Fresh,
    /// Index behind the last id that is replaced.
    pub(super) stop: usize,
}

impl Unpinned {
    /// Starts with no text, behind what is given.
    pub(super) fn new(before: Before) -> Self {
        let text = Segments::default();
        Self { text, before }
    }

    /// Encodes what replacing some bytes by a text changes. `characters` of other text stand before this one.
    ///
    /// # Errors
    /// [`EncodeError`] as from encoding the text.
    pub(super) fn prepare(
        &self,
        rules: &Rules,
        characters: usize,
        range: Range<usize>,
        new: &str,
    ) -> Result<Change, EncodeError> {
        let mut place = self.place_before(range.start);
        let mut back = 0;
        loop {
            let change = self.prepare_from(rules, characters, place, &range, new)?;
            if let Some(change) = change {
                return Ok(change);
            }
            let (_, before) = place;
            place = self.place_before(before.bytes.saturating_sub(back));
            // Whatever the vocabulary, the work is at most a few times that of the last step.
            back = 2 * back + rules.segment;
        }
    }

    /// As [`prepare`](Self::prepare), from a border on; `None` if that is a seam that does not stay one.
    fn prepare_from(
        &self,
        rules: &Rules,
        characters: usize,
        place: Place,
        range: &Range<usize>,
        new: &str,
    ) -> Result<Option<Change>, EncodeError> {
        let length = self.text.len();
        let (first, before) = place;
        let (mut next, mut end) = self.place_behind(place, range.end);
        let mut middle = String::new();
        self.text
            .push_text(place, before.bytes..range.start, &mut middle);
        middle.with_room(new.len()).push_str(new);
        self.text.push_text(place, range.end..end, &mut middle);
        while end < length && !self.is_border(rules, &mut middle, next) {
            let (text, _) = self.text.part(next);
            middle.with_room(text.len()).push_str(text);
            end += text.len();
            next += 1;
        }
        let reaches_end = end == length;
        rules.refuse(&middle, characters + before.characters)?;
        let seam = self.text.first_behind_seam(place);
        if seam.is_some() && !rules.encoder.splitter().goes_on(&middle) {
            return Ok(None);
        }
        let border = if seam.is_some() {
            Border::Seam
        } else {
            Border::Cut
        };
        let is_start = before.bytes == 0;
        let fresh = self.encode(rules, &middle, is_start, reaches_end, border)?;
        if seam.is_some() && fresh.first() != seam {
            return Ok(None);
        }
        let replaced = first..next.min(self.text.tail());
        let stop = if reaches_end {
            self.text.count()
        } else {
            before.ids + self.text.size_of(replaced.clone()).ids
        };
        Ok(Some(Change {
            replaced,
            before,
            fresh,
            stop,
        }))
    }

    /// Makes a [prepared](Self::prepare) change.
    pub(super) fn apply(&mut self, rules: &Rules, change: Change) {
        let Change {
            replaced,
            before,
            fresh,
            ..
        } = change;
        self.text.replace(replaced, before, fresh, rules.segment);
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
            return (next, self.text.len());
        }
        (next, before.bytes + self.text.part(index).0.len())
    }

    /// Returns whether a text that ends before a segment may be one by itself.
    fn is_border(&self, rules: &Rules, text: &mut String, next: usize) -> bool {
        let length = text.len();
        // Of many small segments, each would have its own overhead.
        if length < rules.segment / 4 {
            return false;
        }
        let after = self.text.part(next).0.chars().next();
        text.push(after.expect("the text goes on"));
        let range = length..length + 1;
        let is_cut = rules.cuts(text, range).next().is_some();
        text.truncate(length);
        is_cut
    }

    /// The start of this text, or a part of it from a cut on.
    fn passage<'t>(&self, text: &'t str, is_start: bool) -> Passage<'t> {
        let before = if is_start { self.before } else { Before::Text };
        Passage { text, before }
    }

    /// Encodes text from a border on that goes to a cut, or to the end.
    fn encode(
        &self,
        rules: &Rules,
        text: &str,
        is_start: bool,
        is_end: bool,
        border: Border,
    ) -> Result<Fresh, EncodeError> {
        let (encoder, segment) = (&rules.encoder, rules.segment);
        let disallowed = &rules.policy.disallowed;
        let mut border = border;
        encoder.with_workspace(|workspace| {
            let mut ids = Vec::new();
            let mut append = |range: Range<usize>, ids: &mut Vec<TokenId>| {
                let is_start = is_start && range.start == 0;
                let passage = self.passage(&text[range], is_start);
                let allowed = &rules.policy.allowed;
                encoder.append(workspace, passage, allowed, ids, usize::MAX)
            };
            let (mut closed, mut start) = (Vec::new(), 0);
            let (mut is_encoded, mut may_have_seams) = (false, encoder.has_seams());
            let mut close = |text: &str, ids: &[TokenId], border: Border| {
                closed.with_room(1).push(Sized::new(text, ids, border));
            };
            while start + segment < text.len() {
                let cut = rules.cuts(text, start + segment..text.len()).next();
                let end = cut.unwrap_or(text.len());
                let is_run = end - start >= RUN * segment && may_have_seams;
                if cut.is_none() && !is_run {
                    break;
                }
                ids.clear();
                append(start..end, &mut ids)?;
                let mut known = 0;
                if is_run {
                    let (run, first) = (&text[start..end], start);
                    for (offset, count) in encoder.seams(run, &ids) {
                        let is_far = first + offset >= start + segment;
                        if is_far && encoder.is_apart(run, offset, disallowed) {
                            let part = start - first..offset;
                            close(&run[part], &ids[known..count], border);
                            (start, known, border) = (first + offset, count, Border::Seam);
                        }
                    }
                }
                if cut.is_none() {
                    // Those behind the last seam, or of all of it, are known.
                    ids.drain(..known);
                    (is_encoded, may_have_seams) = (true, known > 0);
                    break;
                }
                close(&text[start..end], &ids[known..], border);
                (start, border) = (end, Border::Cut);
            }
            let mut cut = start;
            let mut mark = Size::default();
            if !is_encoded {
                ids.clear();
                if is_end && let Some(last) = rules.last_cut(text, start) {
                    append(start..last, &mut ids)?;
                    mark = Size::of(&text[start..last], &ids);
                    cut = last;
                }
                append(cut..text.len(), &mut ids)?;
            }
            if !is_end {
                close(&text[start..], &ids, border);
                return Ok(Fresh { closed, tail: None });
            }
            let mut marked = Border::Cut;
            if text.len() - cut > FAR && may_have_seams {
                let (run, behind) = (&text[cut..], &ids[mark.ids..]);
                // A change of the text behind a seam changes few tokens behind it.
                let most = behind.len().saturating_sub(KEPT);
                let seams = encoder.seams(run, behind);
                let seams = seams.take_while(|&(_, count)| count <= most);
                let mut seams = memory::collect(seams).into_iter().rev();
                let last = seams.find(|&(offset, _)| encoder.is_apart(run, offset, disallowed));
                if let Some((offset, count)) = last {
                    mark = mark.and(Size::of(&run[..offset], &behind[..count]));
                    marked = Border::Seam;
                }
            }
            let tail = Some(Tail {
                text: text[start..].to_owned(),
                ids,
                border,
                mark,
                marked,
            });
            Ok(Fresh { closed, tail })
        })
    }
}
