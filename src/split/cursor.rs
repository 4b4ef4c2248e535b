//! Reading text character by character: classes, lengths and runs.
//!
//! Text is bytes. Where it is not UTF-8, each offending byte counts as one character of class
//! [`Class::Other`].

use std::ops::Range;

use super::borders::Borders;
use crate::checkpoint::{self, Interrupted};
use crate::unicode::character::decode;
use crate::unicode::classify::{Class, class_of_code_point};

/// Bytes of a run between two passes of the checkpoint: one or two milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let character = byte as u8;
        classes[byte] = match character {
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            b'0'..=b'9' => Class::Number,
            b' ' => Class::Space,
            b'\r' | b'\n' => Class::Newline,
            b'\t' | 0x0B | 0x0C => Class::OtherWhitespace,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Returns the class of the character at `offset` and its length in bytes; `None` at the end of the text.
#[inline]
pub(super) fn class_at(text: &[u8], offset: usize) -> Option<(Class, usize)> {
    let &lead = text.get(offset)?;
    match ASCII.get(usize::from(lead)) {
        Some(&class) => Some((class, 1)),
        None => Some(match decode(&text[offset..]) {
            Some((code_point, length)) => (class_of_code_point(code_point), length),
            None => (Class::Other, 1),
        }),
    }
}

/// A text as the rules of a family see it from the start of a piece on: it ends at the first border.
#[derive(Clone, Copy)]
pub(super) struct Haystack<'t> {
    pub(super) text: &'t [u8],
    start: usize,
    borders: Borders,
    has_borders: bool,
}

impl<'t> Haystack<'t> {
    /// Returns what the rules see of `text` from the piece at `start` on. The checkpoint is passed during long runs.
    pub(super) fn new(text: &'t [u8], start: usize, borders: Borders) -> Self {
        Self {
            text,
            start,
            borders,
            has_borders: borders != Borders::NONE,
        }
    }

    /// Returns whether it ends at `offset`.
    #[inline]
    pub(super) fn ends_at(self, offset: usize) -> bool {
        offset >= self.text.len() || (self.has_borders && self.has_border_at(offset))
    }

    /// Returns the class of the character at `offset` and its length in bytes; `None` at the end.
    #[inline]
    pub(super) fn class_at(self, offset: usize) -> Option<(Class, usize)> {
        if self.has_borders {
            return self.class_between_borders(offset);
        }
        class_at(self.text, offset)
    }

    #[inline(never)]
    fn has_border_at(self, offset: usize) -> bool {
        offset > self.start && self.borders.are_at(self.text, offset)
    }

    /// As [`class_at`](Self::class_at), where there may be borders.
    #[inline(never)]
    fn class_between_borders(self, offset: usize) -> Option<(Class, usize)> {
        if self.has_border_at(offset) {
            return None;
        }
        let (class, length) = class_at(self.text, offset)?;
        Some((self.borders.class_of(class, &self.text[offset..]), length))
    }

    /// Returns the end of the run of characters from `offset` on that belong to it. `belongs` decides by the class of a
    /// character and where it is.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint.
    #[inline]
    pub(super) fn run_end_by(
        self,
        mut offset: usize,
        mut belongs: impl FnMut(Class, Range<usize>) -> bool,
    ) -> Result<usize, Interrupted> {
        loop {
            let limit = self.text.len().min(offset.saturating_add(CHECK_INTERVAL));
            while offset < limit {
                match self.class_at(offset) {
                    Some((class, length)) if belongs(class, offset..offset + length) => {
                        offset += length;
                    }
                    _ => return Ok(offset),
                }
            }
            if offset == self.text.len() {
                return Ok(offset);
            }
            checkpoint::pass()?;
        }
    }

    /// As [`run_end_by`](Self::run_end_by), by class alone.
    #[inline]
    pub(super) fn run_end(
        self,
        offset: usize,
        belongs: impl Fn(Class) -> bool,
    ) -> Result<usize, Interrupted> {
        self.run_end_by(offset, |class, _| belongs(class))
    }

    /// As [`run_end`](Self::run_end), for at most `longest` characters.
    #[inline]
    pub(super) fn short_run_end(
        self,
        offset: usize,
        longest: usize,
        belongs: impl Fn(Class) -> bool,
    ) -> Result<usize, Interrupted> {
        let mut left = longest;
        self.run_end_by(offset, |class, _| {
            let more = left > 0;
            left = left.saturating_sub(1);
            more && belongs(class)
        })
    }
}
