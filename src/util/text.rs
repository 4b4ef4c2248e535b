//! What a batch consists of: texts, or bytes or characters that are yet to turn out as texts.

use std::ops::Range;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;

/// One text of a batch.
pub trait Text {
    /// Its bytes.
    fn bytes(&self) -> &[u8];

    /// Those of its bytes as text; `None` if they are not UTF-8.
    fn utf8(&self, range: Range<usize>) -> Option<&str>;

    /// How many bytes it has; about so many if they are yet to be [made](Self::make).
    fn len(&self) -> usize {
        self.bytes().len()
    }

    /// True if it has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of the text, made in `room`, if it has no bytes: in the thread that encodes it, so that they are near.
    ///
    /// # Errors
    /// [`EncodeError::OutOfMemory`], and [`EncodeError::Interrupted`] if `checkpoint` says so.
    fn make<'r>(
        &self,
        room: &'r mut String,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<&'r str>, EncodeError> {
        let _ = (room, checkpoint);
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

/// Bytes that need not be UTF-8. They are looked at by the thread that encodes them.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a>(pub &'a [u8]);

impl Text for Span<'_> {
    fn bytes(&self) -> &[u8] {
        self.0
    }

    fn utf8(&self, range: Range<usize>) -> Option<&str> {
        simdutf8::basic::from_utf8(self.0.get(range)?).ok()
    }
}
