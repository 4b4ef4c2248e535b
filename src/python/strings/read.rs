//! The characters of a Python string, borrowed from the object.
#![expect(
    unsafe_code,
    reason = "the interpreter's own conversion to UTF-8 took as long as half of encoding, and keeps a copy in the string"
)]

use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::types::string::PyStringData;

use crate::error::EncodeError;
use crate::split::Splitter;
use crate::unicode::utf8::{self, Character};
use crate::util::memory::Growable;
use crate::util::text::Text;

/// Characters transcoded at a time: few enough that their UTF-8 is still in the cache when it is encoded.
const CHUNK: usize = 1 << 16;

/// Characters of one width, as PEP 393 stores them.
#[derive(Clone, Copy, Debug)]
pub(in crate::python) enum Characters<'a> {
    Ucs1(&'a [u8]),
    Ucs2(&'a [u16]),
    Ucs4(&'a [u32]),
}

impl<'a> Characters<'a> {
    /// Returns the characters of `string`; `None` if the object has its UTF-8 already: ASCII is UTF-8, and
    /// the interpreter caches the result of a conversion.
    pub(super) fn of(string: &'a Bound<'_, PyString>) -> Option<Self> {
        // SAFETY: strings never change, and this one lives as long as the borrow. The function's
        // documentation warns that the width is read from a bit field, whose layout is up to the C compiler:
        // tests cover all widths.
        let characters = match unsafe { string.data() }.ok()? {
            PyStringData::Ucs1(characters) => {
                // ASCII follows a shorter header; the characters of a subclass are in another allocation.
                let offset = characters
                    .as_ptr()
                    .addr()
                    .wrapping_sub(string.as_ptr().addr());
                if offset != size_of::<ffi::PyCompactUnicodeObject>() {
                    return None;
                }
                Self::Ucs1(characters)
            }
            PyStringData::Ucs2(characters) => Self::Ucs2(characters),
            PyStringData::Ucs4(characters) => Self::Ucs4(characters),
        };
        (!has_cached_utf8(string)).then_some(characters)
    }

    /// Number of characters.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ucs1(characters) => characters.len(),
            Self::Ucs2(characters) => characters.len(),
            Self::Ucs4(characters) => characters.len(),
        }
    }

    /// True if several threads can share the work.
    pub(super) fn is_long(&self) -> bool {
        self.len() > 2 * CHUNK
    }

    /// Divides the characters where a piece starts whatever stands around it, so that threads can encode the
    /// chunks.
    pub(super) fn chunks(&self, splitter: &Splitter) -> Vec<Self> {
        fn divide<'a, C: Character>(
            mut rest: &'a [C],
            splitter: &Splitter,
            wrap: impl Fn(&'a [C]) -> Characters<'a>,
        ) -> Vec<Characters<'a>> {
            let (mut chunks, mut from) = (Vec::new(), CHUNK);
            while from < rest.len() {
                match splitter.cut_characters(rest, from) {
                    Some(cut) => {
                        let (chunk, others) = rest.split_at(cut);
                        chunks.with_room(1).push(wrap(chunk));
                        (rest, from) = (others, CHUNK);
                    }
                    None => from += CHUNK,
                }
            }
            chunks.with_room(1).push(wrap(rest));
            chunks
        }
        match *self {
            Self::Ucs1(characters) => divide(characters, splitter, Self::Ucs1),
            Self::Ucs2(characters) => divide(characters, splitter, Self::Ucs2),
            Self::Ucs4(characters) => divide(characters, splitter, Self::Ucs4),
        }
    }

    /// As [`utf8::transcode`].
    fn transcode_into(self, text: &mut String) -> Result<(), EncodeError> {
        match self {
            Self::Ucs1(characters) => utf8::transcode(characters, text),
            Self::Ucs2(characters) => utf8::transcode(characters, text),
            Self::Ucs4(characters) => utf8::transcode(characters, text),
        }
    }

    /// Converts the characters to UTF-8, with surrogates repaired.
    pub(super) fn to_utf8(self) -> Result<String, EncodeError> {
        let mut text = String::new();
        self.transcode_into(&mut text)?;
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

    fn transcode<'r>(&self, buffer: &'r mut String) -> Result<Option<&'r str>, EncodeError> {
        self.transcode_into(buffer)?;
        Ok(Some(buffer))
    }
}

/// True if the interpreter has cached the UTF-8 of a string that is not ASCII.
fn has_cached_utf8(string: &Bound<'_, PyString>) -> bool {
    let object = string.as_ptr().cast::<ffi::PyCompactUnicodeObject>();
    // SAFETY: every string that is not ASCII starts with this structure. Its field is set at most once: by a
    // thread that holds the GIL, or atomically where there is none.
    let utf8 = unsafe { AtomicPtr::from_ptr(&raw mut (*object).utf8) };
    !utf8.load(Ordering::Acquire).is_null()
}
