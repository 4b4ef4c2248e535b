//! The format of tables inside the library: written when the library is built, read in place.
//!
//! ```text
//! for each section: its length in bytes, in 8 bytes; its numbers; zeros up to a multiple of 8 bytes
//! ```
//!
//! All numbers are in the byte order of the target machine.

use bytemuck::{AnyBitPattern, NoUninit};

/// Sections begin at multiples of this many bytes.
const ALIGNMENT: usize = 8;

/// Bytes that are aligned for any number.
#[derive(Debug)]
#[repr(C, align(8))]
pub(crate) struct Aligned<B: ?Sized>(pub(crate) B);

/// A writer of sections.
#[derive(Debug, Default)]
pub(crate) struct Image(Vec<u8>);

impl Image {
    /// Adds a section.
    pub(crate) fn add<T: NoUninit>(&mut self, numbers: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        self.0.extend((bytes.len() as u64).to_ne_bytes());
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(ALIGNMENT), 0);
    }

    /// Returns all sections.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A reader of sections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sections<'a>(&'a [u8]);

impl<'a> Sections<'a> {
    /// Returns a reader of an image.
    pub(crate) fn of(image: &'a Aligned<[u8]>) -> Self {
        Self(&image.0)
    }

    /// Returns the next section; `None` if there is none, or its length is not a multiple of the size of `T`.
    pub(crate) fn next<T: AnyBitPattern>(&mut self) -> Option<&'a [T]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let length = usize::try_from(u64::from_ne_bytes(*length)).ok()?;
        let section = rest.get(..length)?;
        self.0 = rest.get(length.checked_next_multiple_of(ALIGNMENT)?..)?;
        bytemuck::try_cast_slice(section).ok()
    }

    /// True if no section is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Aligned, Image, Sections};

    #[test]
    fn sections_are_read_as_they_were_written() {
        let mut image = Image::default();
        image.add(&[1_u8, 2, 3]);
        image.add::<u32>(&[]);
        image.add(&[u32::MAX]);
        image.add(&[[1_u64, 2], [3, 4]]);
        let bytes: [u8; 80] = image.into_bytes().try_into().unwrap_or([0; 80]);
        let image = Aligned(bytes);
        let mut sections = Sections::of(&image);
        assert_eq!(sections.next(), Some(&[1_u8, 2, 3][..]));
        assert_eq!(sections.next(), Some(&[0_u32; 0][..]));
        assert_eq!(sections.next(), Some(&[u32::MAX][..]));
        assert!(!sections.is_empty());
        assert_eq!(sections.next(), Some(&[[1_u64, 2], [3, 4]][..]));
        assert!(sections.is_empty());
        assert_eq!(sections.next::<u8>(), None);
    }

    #[test]
    fn truncated_sections_are_refused() {
        let mut image = Image::default();
        image.add(&[1_u32, 2, 3]);
        let bytes: [u8; 24] = image.into_bytes().try_into().unwrap_or([0; 24]);
        // Twelve bytes are not a multiple of eight.
        assert_eq!(Sections::of(&Aligned(bytes)).next::<u64>(), None);
        for length in 0..bytes.len() {
            assert_eq!(Sections(&bytes[..length]).next::<u32>(), None, "{length}");
        }
        let endless = Aligned([0xFF; 8]);
        assert_eq!(Sections::of(&endless).next::<u8>(), None);
    }
}
