//! The characters of a Python string, where they are.
#![expect(
    unsafe_code,
    reason = "the interpreter's own way to UTF-8 took as long as half of encoding, and keeps a copy in the string"
)]

use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::types::string::PyStringData;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::split::Splitter;
use crate::unicode::utf8::{self, Character};
use crate::util::text::Text;

/// So many characters become text at once: few enough that it stays near until it is encoded.
const STRETCH: usize = 1 << 16;

/// Characters of one width.
#[derive(Clone, Copy, Debug)]
pub(super) enum Characters<'a> {
    OneByte(&'a [u8]),
    TwoBytes(&'a [u16]),
    FourBytes(&'a [u32]),
}

impl<'a> Characters<'a> {
    /// Those of `string`, if it has no UTF-8 yet: ASCII is UTF-8, and the interpreter keeps what it once made.
    pub(super) fn of(string: &'a Bound<'_, PyString>) -> Option<Self> {
        // SAFETY: strings never change, and this one lives as long as the borrow. What the function warns of, that the width
        // is read from a field of bits, which compilers could lay out otherwise, is tested for all widths.
        let characters = match unsafe { string.data() }.ok()? {
            PyStringData::Ucs1(characters) => {
                // Those of ASCII are behind a shorter structure; those of a subclass, somewhere else.
                let offset = characters
                    .as_ptr()
                    .addr()
                    .wrapping_sub(string.as_ptr().addr());
                if offset != size_of::<ffi::PyCompactUnicodeObject>() {
                    return None;
                }
                Self::OneByte(characters)
            }
            PyStringData::Ucs2(characters) => Self::TwoBytes(characters),
            PyStringData::Ucs4(characters) => Self::FourBytes(characters),
        };
        (!has_utf8(string)).then_some(characters)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::OneByte(characters) => characters.len(),
            Self::TwoBytes(characters) => characters.len(),
            Self::FourBytes(characters) => characters.len(),
        }
    }

    /// Whether several threads can work on it.
    pub(super) fn is_long(&self) -> bool {
        self.len() > 2 * STRETCH
    }

    /// As stretches of text that can be encoded one by one, in several threads.
    pub(super) fn stretches(&self, splitter: &Splitter) -> Vec<Self> {
        fn parts<'a, C: Character>(
            mut rest: &'a [C],
            splitter: &Splitter,
            part: impl Fn(&'a [C]) -> Characters<'a>,
        ) -> Vec<Characters<'a>> {
            let (mut parts, mut near) = (Vec::new(), STRETCH);
            while near < rest.len() {
                match splitter.cut_characters(rest, near) {
                    Some(cut) => {
                        let (first, others) = rest.split_at(cut);
                        parts.push(part(first));
                        (rest, near) = (others, STRETCH);
                    }
                    None => near += STRETCH,
                }
            }
            parts.push(part(rest));
            parts
        }
        match *self {
            Self::OneByte(characters) => parts(characters, splitter, Self::OneByte),
            Self::TwoBytes(characters) => parts(characters, splitter, Self::TwoBytes),
            Self::FourBytes(characters) => parts(characters, splitter, Self::FourBytes),
        }
    }

    /// As [`utf8::put_characters`].
    fn put(self, text: &mut String, checkpoint: &dyn Checkpoint) -> Result<(), EncodeError> {
        match self {
            Self::OneByte(characters) => utf8::put_characters(characters, text, checkpoint),
            Self::TwoBytes(characters) => utf8::put_characters(characters, text, checkpoint),
            Self::FourBytes(characters) => utf8::put_characters(characters, text, checkpoint),
        }
    }

    /// As text of its own.
    pub(super) fn text(self, checkpoint: &dyn Checkpoint) -> Result<String, EncodeError> {
        let mut text = String::new();
        self.put(&mut text, checkpoint)?;
        Ok(text)
    }
}

impl Text for Characters<'_> {
    fn bytes(&self) -> &[u8] {
        &[]
    }

    fn utf8(&self, _: Range<usize>) -> Option<&str> {
        None
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn transcode<'r>(
        &self,
        room: &'r mut String,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<&'r str>, EncodeError> {
        self.put(room, checkpoint)?;
        Ok(Some(room))
    }
}

/// Whether the interpreter keeps the UTF-8 of a string that is not ASCII.
fn has_utf8(string: &Bound<'_, PyString>) -> bool {
    let object = string.as_ptr().cast::<ffi::PyCompactUnicodeObject>();
    // SAFETY: all strings but ASCII ones start with this structure. Its field is set at most once, by the thread that has the
    // interpreter, or, where threads share that, atomically.
    let utf8 = unsafe { AtomicPtr::from_ptr(&raw mut (*object).utf8) };
    !utf8.load(Ordering::Acquire).is_null()
}
