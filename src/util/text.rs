//! Elements of a batch: texts, or bytes or characters that are checked or converted when they are encoded.

use std::ops::Range;

use crate::error::EncodeError;
use crate::util::memory::Growable;

/// One text of a batch.
pub trait Text {
    /// The bytes; empty if the text is yet to be [transcoded](Self::transcode).
    fn bytes(&self) -> &[u8];

    /// The bytes in `range` as text; `None` if they are not UTF-8.
    fn utf8(&self, range: Range<usize>) -> Option<&str>;

    /// Number of bytes; an estimate if the text is yet to be [transcoded](Self::transcode).
    fn len(&self) -> usize {
        self.bytes().len()
    }

    /// True if it has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts the whole text to UTF-8, in `buffer`; `None` if it has [bytes](Self::bytes) already.
    ///
    /// Called by the thread that encodes the text, so that the bytes are still in its cache.
    ///
    /// # Errors
    /// [`EncodeError::OutOfMemory`]; [`EncodeError::Interrupted`] from the checkpoint.
    fn transcode<'r>(&self, buffer: &'r mut String) -> Result<Option<&'r str>, EncodeError> {
        let _ = buffer;
        Ok(None)
    }
}

impl<T: AsRef<str>> Text for T {
    fn bytes(&self) -> &[u8] {
        self.as_ref().as_bytes()
    }

    fn utf8(&self, range: Range<usize>) -> Option<&str> {
        self.as_ref().get(range)
    }
}

/// Returns how many bytes at the end begin a character and do not end it.
pub fn incomplete_bytes(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    (1..=tail.len())
        .rev()
        .find(|&length| {
            let end = &tail[tail.len() - length..];
            std::str::from_utf8(end)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

/// Bytes that need not be UTF-8. The thread that encodes them validates them.
#[derive(Clone, Copy, Debug)]
pub struct RawText<'a>(pub &'a [u8]);

impl Text for RawText<'_> {
    fn bytes(&self) -> &[u8] {
        self.0
    }

    fn utf8(&self, range: Range<usize>) -> Option<&str> {
        simdutf8::basic::from_utf8(self.0.get(range)?).ok()
    }
}

/// Returns the text with which bytes begin: that before the first byte that is part of no character.
pub fn valid_start(bytes: &[u8]) -> &str {
    let valid = match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => &bytes[..error.valid_up_to()],
    };
    simdutf8::basic::from_utf8(valid).expect("valid up to there")
}

/// Returns bytes as text, with U+FFFD for each byte that is part of no character.
pub fn with_each_byte_replaced(bytes: &[u8]) -> String {
    let mut text = String::new();
    text.with_room(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let (valid, invalid) = (chunk.valid(), chunk.invalid().len());
        text.with_room(valid.len() + char::REPLACEMENT_CHARACTER.len_utf8() * invalid)
            .push_str(valid);
        text.extend(std::iter::repeat_n(char::REPLACEMENT_CHARACTER, invalid));
    }
    text
}
