//! The characters of a Python string, borrowed from the object.

use std::ops::Range;

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

impl Characters<'_> {
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
    pub(in crate::python) fn to_utf8(self) -> Result<String, EncodeError> {
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
