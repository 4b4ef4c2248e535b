//! Character classes, by which the native families split.
//!
//! The classes are the coarsest that distinguish all characters that the patterns of the native families
//! distinguish. The expressions of those patterns are unions of them: `\p{L}` is `Upper`, `Lower` and
//! `Caseless`; `\s` is `OtherWhitespace`, `Newline` and `Space`; `[^\s\p{L}\p{N}]` is `Other` and `Mark`.

#![forbid(unsafe_code)]

pub use super::class::Class;
use super::classes::{self, BLOCK_OF, BLOCK_SIZE, BLOCKS};

/// The version of the Unicode data behind [`class_of`]: major, minor, update.
pub const UNICODE_VERSION: (u8, u8, u8) = classes::UNICODE_VERSION;

/// Returns the class of a character, by two loads.
#[inline]
pub fn class_of(character: char) -> Class {
    class_of_code_point(u32::from(character))
}

/// Returns the class of a code point; surrogates and numbers beyond U+10FFFF are [`Class::Other`].
#[inline]
pub fn class_of_code_point(code_point: u32) -> Class {
    match BLOCK_OF.get((code_point / BLOCK_SIZE) as usize) {
        Some(&number) => BLOCKS[usize::from(number)][(code_point % BLOCK_SIZE) as usize],
        None => Class::Other,
    }
}

/// Number of last bytes that a character beyond ASCII can have in UTF-8.
pub(crate) const LAST_BYTES: usize = 64;

/// Returns the classes of the characters that differ in their last byte only. `prefix` is the upper bits of
/// their code points.
#[inline]
pub(crate) const fn classes_of_prefix(prefix: usize) -> &'static [Class; LAST_BYTES] {
    const BLOCKS_OF_64: &[[Class; LAST_BYTES]] = BLOCKS.as_flattened().as_chunks().0;
    const IN_A_BLOCK: usize = BLOCKS_OF_64.len() / BLOCKS.len();
    if prefix / IN_A_BLOCK >= BLOCK_OF.len() {
        return &[Class::Other; LAST_BYTES];
    }
    let block = BLOCK_OF[prefix / IN_A_BLOCK] as usize;
    &BLOCKS_OF_64[block * IN_A_BLOCK + prefix % IN_A_BLOCK]
}

/// Returns the [prefix](classes_of_prefix) of the characters of two or three bytes that begin with these two.
#[inline]
pub(crate) fn prefix(first: u8, second: u8) -> usize {
    if first < 0xE0 {
        usize::from(first & 0x1F)
    } else {
        usize::from(first & 0xF) << 6 | usize::from(second & 0x3F)
    }
}

/// Returns the class of a character of four bytes.
#[inline]
pub(crate) fn class_of_four([a, b, c, d]: [u8; 4]) -> Class {
    let prefix = usize::from(a & 7) << 12 | usize::from(b & 0x3F) << 6 | usize::from(c & 0x3F);
    classes_of_prefix(prefix)[usize::from(d) % LAST_BYTES]
}
