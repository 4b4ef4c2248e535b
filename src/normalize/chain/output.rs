//! The text that a step makes of another, and where it comes from.

use crate::util::memory::{self, Growable};
use std::ops::Range;

/// The output of a step, and the character of its input that each byte of it stands for.
pub(super) struct Output<'a> {
    input: &'a str,
    text: String,
    /// For each byte of `text` the start of a character of `input`, if wanted.
    origins: Option<Vec<usize>>,
}

impl<'a> Output<'a> {
    pub(super) fn new(input: &'a str, with_origins: bool) -> Self {
        let mut text = String::new();
        text.with_room(input.len());
        Self {
            input,
            text,
            origins: with_origins.then(|| memory::vec_with_capacity(input.len())),
        }
    }

    pub(super) fn input(&self) -> &'a str {
        self.input
    }

    /// Appends a part of the input, each character of which stands for itself.
    pub(super) fn copy(&mut self, range: Range<usize>) {
        let part = &self.input[range.clone()];
        self.text.with_room(part.len()).push_str(part);
        if let Some(origins) = &mut self.origins {
            for (at, c) in part.char_indices() {
                memory::extend(origins, std::iter::repeat_n(range.start + at, c.len_utf8()));
            }
        }
    }

    /// Appends a text that stands for the character of the input at `origin`.
    pub(super) fn write(&mut self, text: &str, origin: usize) {
        self.text.with_room(text.len()).push_str(text);
        if let Some(origins) = &mut self.origins {
            memory::extend(origins, std::iter::repeat_n(origin, text.len()));
        }
    }

    /// Appends a character that stands for the one of the input at `origin`.
    pub(super) fn push(&mut self, c: char, origin: usize) {
        self.write(c.encode_utf8(&mut [0; 4]), origin);
    }

    /// Returns the text and the origins of its bytes.
    pub(super) fn finish(self) -> (String, Option<Vec<usize>>) {
        (self.text, self.origins)
    }
}
