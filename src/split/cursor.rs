//! Reading text character by character: classes, lengths and runs.
//!
//! Text is bytes. Where it is not UTF-8, each offending byte counts as one character of class
//! [`Class::Other`].

use crate::checkpoint::{self, Checkpoint, Interrupted};
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

/// Returns the end of the run of characters from `offset` on that belong to it. `belongs` decides by the
/// class of a character and the offset where it ends.
///
/// # Errors
/// [`Interrupted`] from the checkpoint, passed during long runs.
#[inline]
pub(super) fn run_end_by(
    text: &[u8],
    mut offset: usize,
    checkpoint: &dyn Checkpoint,
    mut belongs: impl FnMut(Class, usize) -> bool,
) -> Result<usize, Interrupted> {
    loop {
        let limit = text.len().min(offset.saturating_add(CHECK_INTERVAL));
        while offset < limit {
            match class_at(text, offset) {
                Some((class, length)) if belongs(class, offset + length) => offset += length,
                _ => return Ok(offset),
            }
        }
        if offset == text.len() {
            return Ok(offset);
        }
        checkpoint::pass(checkpoint)?;
    }
}

/// As [`run_end_by`], by class alone.
#[inline]
pub(super) fn run_end(
    text: &[u8],
    offset: usize,
    checkpoint: &dyn Checkpoint,
    belongs: impl Fn(Class) -> bool,
) -> Result<usize, Interrupted> {
    run_end_by(text, offset, checkpoint, |class, _| belongs(class))
}

/// As [`run_end`], for at most `longest` characters.
#[inline]
pub(super) fn short_run_end(
    text: &[u8],
    offset: usize,
    longest: usize,
    checkpoint: &dyn Checkpoint,
    belongs: impl Fn(Class) -> bool,
) -> Result<usize, Interrupted> {
    let mut left = longest;
    run_end_by(text, offset, checkpoint, |class, _| {
        let more = left > 0;
        left = left.saturating_sub(1);
        more && belongs(class)
    })
}
