//! The map of characters of a SentencePiece model, as `tokenizers` applies it.
//!
//! A grapheme cluster of fewer than six bytes that begins with a key becomes the value of the shortest such key, as a whole:
//! what follows the key in it is lost. Of other clusters each character is looked up by itself.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use unicode_segmentation::GraphemeCursor;

use super::Output;
use crate::checkpoint;
use crate::error::{EncodeError, NormalizerError};
use crate::normalize::charsmap::Charsmap;
use crate::unicode::character::{decode, first, length_of};
use crate::util::lazy::get_or_init_nonblocking;

/// Clusters of this many bytes and more are not looked up.
const LONG_CLUSTER: usize = 6;

/// Characters between two passes of the checkpoint.
const CHECK_INTERVAL: usize = 1 << 18;

/// Returns the characters whose bits are set.
fn characters_in(bits: &[u64]) -> impl Iterator<Item = char> {
    let words = (0..).step_by(64).zip(bits).filter(|(_, word)| **word != 0);
    let points = words.flat_map(|(start, word)| {
        let set = (0..64).filter(move |bit| word >> bit & 1 != 0);
        set.map(move |bit| start + bit)
    });
    points.filter_map(char::from_u32)
}

/// Returns whether a character is one grapheme cluster with a letter behind it.
fn takes_letter(c: char) -> bool {
    let text = String::from_iter([c, 'a']);
    let mut cursor = GraphemeCursor::new(c.len_utf8(), text.len(), true);
    cursor.is_boundary(&text, 0) != Ok(true)
}

/// A map of characters.
pub struct Precompiled {
    map: Charsmap,
    /// Whether each character of ASCII is a key.
    ascii: [bool; 128],
    /// A bit for each code point: whether keys begin with it.
    begins: Vec<u64>,
    /// Whether keys begin with a character that is one grapheme cluster with a letter behind it, which it would replace.
    takes_next: OnceLock<bool>,
}

impl fmt::Debug for Precompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Precompiled").finish_non_exhaustive()
    }
}

impl Precompiled {
    /// Reads and checks a map.
    ///
    /// # Errors
    /// [`NormalizerError`] if the bytes are no map, or values are not UTF-8.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn parse(blob: &[u8]) -> Result<Self, NormalizerError> {
        let map = Charsmap::parse(blob)?;
        if !map.makes_text() {
            return Err(NormalizerError::NotUtf8);
        }
        let mut ascii = [false; 128];
        for (byte, is_key) in (0..).zip(&mut ascii) {
            *is_key = map.shortest(&[byte]).is_some();
        }
        let mut begins = vec![0; (char::MAX as usize + 1).div_ceil(64)];
        map.for_each_start(|key| {
            if let Some(point) = first(key) {
                begins[point as usize / 64] |= 1 << (point % 64);
            }
        });
        Ok(Self {
            map,
            ascii,
            begins,
            takes_next: OnceLock::new(),
        })
    }

    /// Returns the maximum number of output bytes for a character.
    pub(super) fn growth(&self) -> usize {
        self.map.longest_value().max(1)
    }

    /// Returns whether a character stays whatever stands before it, and begins a grapheme cluster that what follows is
    /// apart from if that is [fixed](Self::is_fixed).
    pub(super) fn is_ordinary(&self, c: char) -> bool {
        matches!(c, ' '..='~') && !self.ascii[c as usize] && !self.takes_next()
    }

    /// Returns whether keys begin with a character that would replace a letter behind it. Only long texts and those that grow
    /// ask: for each character that keys begin with, it takes a millisecond for a large map.
    fn takes_next(&self) -> bool {
        *get_or_init_nonblocking(&self.takes_next, || {
            characters_in(&self.begins).any(takes_letter)
        })
    }

    /// Returns whether a character stays whatever stands around it, as well.
    pub(super) fn is_fixed(&self, c: char) -> bool {
        self.is_ordinary(c) && !self.begins_with(c as usize)
    }

    /// Returns whether keys begin with a code point.
    fn begins_with(&self, point: usize) -> bool {
        self.begins[point / 64] >> (point % 64) & 1 != 0
    }

    pub(super) fn keeps(&self, text: &str) -> bool {
        matches!(self.next_change(text, 0, || Ok(())), Ok(None))
    }

    pub(super) fn apply(&self, output: &mut Output<'_>) -> Result<(), EncodeError> {
        let text = output.input();
        let mut writer = Writer {
            output,
            source: 0,
            last: None,
        };
        let mut done = 0;
        while let Some((span, value)) =
            self.next_change(text, done, || checkpoint::pass().map_err(Into::into))?
        {
            writer.copy(done..span.start);
            writer.replace(&text[span.clone()], value);
            done = span.end;
        }
        writer.copy(done..text.len());
        writer.flush();
        Ok(())
    }

    /// Returns whether keys may begin with the first character of `rest`.
    #[inline]
    fn may_begin(&self, rest: &[u8]) -> bool {
        let beyond_ascii = decode(rest).map(|(point, _)| point);
        beyond_ascii.is_none_or(|point| self.begins_with(point as usize))
    }

    /// Returns the next part of a text that is replaced, from a place on that no such part lies across, and its value.
    fn next_change(
        &self,
        text: &str,
        from: usize,
        mut check: impl FnMut() -> Result<(), EncodeError>,
    ) -> Result<Option<(Range<usize>, &str)>, EncodeError> {
        let bytes = text.as_bytes();
        let (mut at, mut count) = (from, 0);
        // The end of a cluster whose characters are looked up one by one.
        let mut alone = from;
        while let Some(&byte) = bytes.get(at) {
            count += 1;
            if count % CHECK_INTERVAL == 0 {
                check()?;
            }
            let is_single = matches!(byte, ..0x80)
                && byte != b'\r'
                && bytes.get(at + 1).is_none_or(u8::is_ascii);
            if is_single && !self.ascii[usize::from(byte)] {
                let stops =
                    |&byte: &u8| byte == b'\r' || self.ascii.get(usize::from(byte)) != Some(&false);
                let run = bytes[at + 1..].iter().position(stops);
                // The last one may be in a cluster with what follows.
                let last = run.map_or(bytes.len(), |run| at + run);
                at = last.max(at + 1);
                continue;
            }
            let length = length_of(byte);
            if !self.may_begin(&bytes[at..]) || self.map.shortest(&bytes[at..]).is_none() {
                at += length;
                continue;
            }
            let end = if at < alone {
                at
            } else {
                cluster_end(text, at)
            };
            if end > at
                && end - at < LONG_CLUSTER
                && let Some(value) = self.map.shortest(&bytes[at..end])
            {
                return Ok(Some((at..end, text_of(value))));
            }
            alone = alone.max(end);
            if let Some(value) = self.map.shortest(&bytes[at..at + length]) {
                return Ok(Some((at..at + length, text_of(value))));
            }
            at += length;
        }
        Ok(None)
    }
}

/// Returns the end of the grapheme cluster that starts at a place; that place if none starts there.
fn cluster_end(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let is_start = cursor
        .is_boundary(text, 0)
        .expect("the whole text is there");
    if !is_start {
        return at;
    }
    let end = cursor
        .next_boundary(text, 0)
        .expect("the whole text is there");
    end.unwrap_or(text.len())
}

fn text_of(value: &[u8]) -> &str {
    str::from_utf8(value).expect("checked when the map was read")
}

/// Writes characters with those that they stand for, as the original counts these.
///
/// Each character stands for the next one of the input, and those that are more than they replace for the one before. Where
/// fewer replace more, the last character that was written takes the rest with it; if there is none, nothing does, and all
/// after it stand for characters further left.
struct Writer<'o, 'a> {
    output: &'o mut Output<'a>,
    /// The start of the next character of the input that something stands for.
    source: usize,
    /// The last character, and how many characters of the input it takes with it; none, and it stands for the one before, if
    /// that is -1.
    last: Option<(char, isize)>,
}

impl Writer<'_, '_> {
    /// Writes the character that is held back.
    fn flush(&mut self) {
        let Some((c, taken)) = self.last.take() else {
            return;
        };
        let input = self.output.input();
        if taken < 0 {
            let before = input[..self.source].chars().next_back();
            self.output
                .push(c, self.source - before.map_or(0, char::len_utf8));
            return;
        }
        self.output.push(c, self.source);
        let consumed = input[self.source..].chars().take(1 + taken.unsigned_abs());
        self.source += consumed.map(char::len_utf8).sum::<usize>();
    }

    fn put(&mut self, c: char, taken: isize) {
        self.flush();
        self.last = Some((c, taken));
    }

    /// Writes a part of the input as it is.
    fn copy(&mut self, span: Range<usize>) {
        let input = self.output.input();
        let Some(last) = input[span.clone()].chars().next_back() else {
            return;
        };
        self.flush();
        let before_last = span.end - last.len_utf8();
        if self.source == span.start {
            self.output.copy(span.start..before_last);
            self.source = before_last;
        } else {
            for c in input[span.start..before_last].chars() {
                self.put(c, 0);
            }
        }
        self.put(last, 0);
    }

    /// Writes a value in place of what it replaces.
    fn replace(&mut self, replaced: &str, value: &str) {
        let (old, new) = (replaced.chars().count(), value.chars().count());
        for (index, c) in value.chars().enumerate() {
            self.put(c, if index < old { 0 } else { -1 });
        }
        if let Some((_, taken)) = &mut self.last
            && new < old
        {
            *taken += isize::try_from(old - new).expect("a cluster is short");
        }
    }
}
