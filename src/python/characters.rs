//! The characters of a Python string, where they are.
#![expect(
    unsafe_code,
    reason = "the interpreter's own way to UTF-8 took as long as half of encoding, and keeps a copy in the string"
)]

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::types::string::PyStringData;

use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::utf8;

/// Characters of one width.
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

    /// As [`utf8::from_characters`].
    pub(super) fn utf8(&self, checkpoint: &dyn Checkpoint) -> Result<String, EncodeError> {
        match self {
            Self::OneByte(characters) => utf8::from_characters(characters, checkpoint),
            Self::TwoBytes(characters) => utf8::from_characters(characters, checkpoint),
            Self::FourBytes(characters) => utf8::from_characters(characters, checkpoint),
        }
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
