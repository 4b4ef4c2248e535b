//! Normalized text as it is written: spaces become marks, and offsets say where it comes from.

use super::MARK;
use crate::util::memory::{self, Growable};

/// Bytes in which spaces are replaced together.
const CHUNK: usize = 64;

/// Bytes of a mark at most.
pub(super) const MAX_MARK: usize = 4;

/// Where normalized text goes.
pub(super) struct Output<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
    /// Where the output begins in `bytes`.
    pub(super) start: usize,
    pub(super) offsets: Option<&'a mut Vec<usize>>,
    pub(super) mark: &'a [u8],
    /// Whether marks in the text become `mark`.
    pub(super) escapes: bool,
}

impl Output<'_> {
    /// Appends the text of one step.
    pub(super) fn append(&mut self, text: &[u8], at: usize) {
        let before = self.bytes.len();
        let mut rest = text;
        while let Some(&byte) = rest.first() {
            let length = if byte == b' ' {
                self.bytes
                    .with_room(self.mark.len())
                    .extend_from_slice(self.mark);
                1
            } else if self.escapes && rest.starts_with(MARK) {
                self.bytes
                    .with_room(self.mark.len())
                    .extend_from_slice(self.mark);
                MARK.len()
            } else {
                self.bytes.with_room(1).push(byte);
                1
            };
            rest = &rest[length..];
        }
        if let Some(offsets) = &mut self.offsets {
            let count = self.bytes.len() - before;
            memory::extend(offsets, std::iter::repeat_n(at, count));
        }
    }

    /// Appends characters of the text that stay as they are, except that spaces become marks.
    pub(super) fn copy(&mut self, text: &[u8], start: usize) {
        if self.mark == b" " {
            self.bytes.with_room(text.len()).extend_from_slice(text);
        } else {
            self.copy_escaped(text);
        }
        let Some(offsets) = &mut self.offsets else {
            return;
        };
        let mut at = start;
        for (offset, &byte) in (start..).zip(text) {
            if byte & 0xC0 != 0x80 {
                at = offset;
            }
            let count = if byte == b' ' { self.mark.len() } else { 1 };
            for _ in 0..count {
                offsets.with_room(1).push(at);
            }
        }
    }

    /// Without a branch for each byte: a word is short, and its length hard to predict.
    fn copy_escaped(&mut self, text: &[u8]) {
        let mut mark = [0; MAX_MARK];
        mark[..self.mark.len()].copy_from_slice(self.mark);
        for chunk in text.chunks(CHUNK) {
            let mut buffer = [0; MAX_MARK * CHUNK];
            let mut length = 0;
            for &byte in chunk {
                let is_space = byte == b' ';
                let bytes = if is_space { mark } else { [byte, 0, 0, 0] };
                buffer[length..length + MAX_MARK].copy_from_slice(&bytes);
                length += if is_space { self.mark.len() } else { 1 };
            }
            self.bytes
                .with_room(length)
                .extend_from_slice(&buffer[..length]);
        }
    }

    /// Removes spaces at the end of the output, and returns the offset at which it then ends.
    pub(super) fn trim_end(&mut self, mut end: usize) -> usize {
        while self.bytes[self.start..].ends_with(self.mark) {
            self.bytes.truncate(self.bytes.len() - self.mark.len());
            if let Some(offsets) = &mut self.offsets {
                let length = offsets.len() - self.mark.len();
                end = offsets[length];
                offsets.truncate(length);
            }
        }
        end
    }
}
