//! The classes of 64 bytes at once: one mask for each class, one bit for each byte.
//!
//! Every byte of a character carries the class of its character, so adjacent bytes belong to adjacent
//! characters. This is the scalar code. Other [tiers](crate::util::tier) classify ASCII by vector
//! instructions and look up characters beyond ASCII in groups that differ in their last byte only.

use std::iter;

use super::ranges;
use crate::unicode::classify::{Class, class_of_code_point};
use crate::util::block::{BLOCK_LEN, Block};
use crate::util::vector::portable::Portable;

/// How a tier classifies the bytes of a block.
pub(crate) trait Classify: Copy {
    /// Returns the masks of the ASCII characters, of the bytes beyond ASCII and of continuation bytes.
    fn ascii(self, block: &Block) -> Masks;

    /// Adds the classes of the characters beyond ASCII to the masks of [`ascii`](Self::ascii). The block is
    /// UTF-8 from its start on, but may end inside a character.
    fn add_non_ascii(self, masks: Masks, block: &Block) -> Masks;

    /// Returns the bytes of characters in `[一-龥぀-ゟ゠-ヿ]`.
    fn cjk(self, block: &Block) -> u64;

    /// Returns the bits of the codes that a table has for the bytes of ASCII, those of `used` alone: a mask for each; and
    /// the bytes beyond ASCII and continuation bytes.
    fn codes(self, block: &Block, table: &[[u8; 64]; 2], used: u8) -> ([u64; 8], u64, u64);

    /// Returns the characters of ASCII that are neither controls nor spaces.
    fn graphic(self, block: &Block) -> u64;

    /// Returns the first bytes of characters of three bytes in the two great blocks of `\p{Han}`, which are letters; and
    /// those of other characters that may be of that script.
    fn han(self, block: &Block) -> (u64, u64);
}

/// Portable code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Classify for Scalar {
    #[inline]
    fn ascii(self, block: &Block) -> Masks {
        ascii(block)
    }

    #[inline]
    fn add_non_ascii(self, masks: Masks, block: &Block) -> Masks {
        masks.add_non_ascii(block)
    }

    #[inline]
    fn cjk(self, block: &Block) -> u64 {
        ranges::cjk(Portable, block)
    }

    #[inline]
    fn codes(self, block: &Block, table: &[[u8; 64]; 2], used: u8) -> ([u64; 8], u64, u64) {
        ranges::codes(Portable, block, table, used)
    }

    #[inline]
    fn graphic(self, block: &Block) -> u64 {
        ranges::graphic(Portable, block)
    }

    #[inline]
    fn han(self, block: &Block) -> (u64, u64) {
        ranges::han(Portable, block)
    }
}

/// The classes of the 64 bytes of a block. Bit `i` is byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(super) upper: u64,
    pub(super) lower: u64,
    pub(super) caseless: u64,
    pub(super) mark: u64,
    pub(super) number: u64,
    /// Whitespace other than spaces and newlines.
    pub(super) other_whitespace: u64,
    pub(super) newline: u64,
    pub(super) space: u64,
    /// `'`, which is also other.
    pub(super) apostrophe: u64,
    /// `/`, which is also other.
    pub(super) slash: u64,
    /// Bytes of characters beyond ASCII, and bytes that are not UTF-8.
    pub(super) non_ascii: u64,
    /// Bytes after the first of a character.
    pub(super) continuation: u64,
}

impl Masks {
    /// Letters of any case: `\p{L}`.
    pub(super) fn letters(&self) -> u64 {
        self.upper | self.lower | self.caseless
    }

    /// Whitespace of any kind: `\s`.
    pub(super) fn whitespace(&self) -> u64 {
        self.other_whitespace | self.newline | self.space
    }

    /// Everything in no other class.
    pub(super) fn others(&self) -> u64 {
        !(self.letters() | self.mark | self.number | self.whitespace())
    }

    /// As [`Classify::add_non_ascii`], one character at a time.
    ///
    /// The first bytes come from the masks, so that no character waits for the length of the one before.
    /// Storing each character's class over its bytes and reading the masks from these at the end was no
    /// faster where all characters are beyond ASCII, and a twentieth slower on English.
    #[inline(never)]
    pub(super) fn add_non_ascii(self, block: &Block) -> Self {
        let mut classes = [0_u64; Class::COUNT];
        for (code_point, bytes) in characters(block, self.non_ascii & !self.continuation) {
            classes[class_of_code_point(code_point) as usize] |= bytes;
        }
        self.with_classes(&classes)
    }

    /// Adds characters beyond ASCII, given by class as masks of their first bytes.
    #[inline]
    pub(super) fn add_characters(self, firsts: &[u64; Class::COUNT]) -> Self {
        let mut classes = [0; Class::COUNT];
        for class in Class::NON_ASCII {
            // Extended to the continuation bytes: a carry runs through these.
            let firsts = firsts[class as usize];
            let carried = (firsts << 1 & self.continuation).wrapping_add(self.continuation);
            classes[class as usize] = firsts | (self.continuation & !carried);
        }
        self.with_classes(&classes)
    }

    /// Adds bytes, given by class.
    #[inline]
    fn with_classes(self, classes: &[u64; Class::COUNT]) -> Self {
        let of = |class: Class| classes[class as usize];
        Self {
            upper: self.upper | of(Class::Upper),
            lower: self.lower | of(Class::Lower),
            caseless: self.caseless | of(Class::Caseless),
            mark: self.mark | of(Class::Mark),
            number: self.number | of(Class::Number),
            other_whitespace: self.other_whitespace | of(Class::OtherWhitespace),
            newline: self.newline | of(Class::Newline),
            space: self.space | of(Class::Space),
            ..self
        }
    }
}

/// Returns the characters beyond ASCII that begin at the bits of `firsts`: their code points and their bytes.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled anew for each tier")]
pub(super) fn characters(block: &Block, mut firsts: u64) -> impl Iterator<Item = (u32, u64)> {
    iter::from_fn(move || {
        if firsts == 0 {
            return None;
        }
        let index = firsts.trailing_zeros() as usize;
        firsts &= firsts - 1;
        let &[lead, second, third, fourth] =
            block[index..].first_chunk().expect("a block overhangs");
        let (code_point, bytes) = if lead < 0xE0 {
            (bits(lead, 5) << 6 | bits(second, 6), 0b11)
        } else if lead < 0xF0 {
            let code_point = bits(lead, 4) << 12 | bits(second, 6) << 6 | bits(third, 6);
            (code_point, 0b111)
        } else {
            let code_point =
                bits(lead, 3) << 18 | bits(second, 6) << 12 | bits(third, 6) << 6 | bits(fourth, 6);
            (code_point, 0b1111)
        };
        Some((code_point, bytes << index))
    })
}

/// The lowest `count` bits of a byte.
#[inline]
fn bits(byte: u8, count: u32) -> u32 {
    u32::from(byte) & ((1 << count) - 1)
}

/// As [`Classify::ascii`].
fn ascii(block: &Block) -> Masks {
    let (groups, _) = block[..BLOCK_LEN].as_chunks::<8>();
    let mut planes = [0_u64; 8];
    for (number, group) in groups.iter().enumerate() {
        let flags = u64::from_le_bytes(group.map(|byte| FLAGS[usize::from(byte)]));
        for (bit, plane) in planes.iter_mut().enumerate() {
            // Gathers bit `bit` of each of the eight bytes into one byte.
            let gathered =
                ((flags >> bit) & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *plane |= gathered << (8 * number);
        }
    }
    let [
        upper,
        lower,
        number,
        other_whitespace,
        newline,
        space,
        apostrophe_or_slash,
        non_ascii,
    ] = planes;
    let slash = filter(block, apostrophe_or_slash, |byte| byte == b'/');
    Masks {
        upper,
        lower,
        number,
        other_whitespace,
        newline,
        space,
        apostrophe: apostrophe_or_slash & !slash,
        slash,
        non_ascii,
        continuation: filter(block, non_ascii, |byte| byte < 0xC0),
        ..Masks::default()
    }
}

/// Returns those of `candidates` whose byte satisfies `condition`.
#[inline]
pub(super) fn filter(block: &Block, mut candidates: u64, condition: impl Fn(u8) -> bool) -> u64 {
    let mut found = 0;
    while candidates != 0 {
        let index = candidates.trailing_zeros();
        found |= u64::from(condition(block[index as usize])) << index;
        candidates &= candidates - 1;
    }
    found
}

/// The class of each byte as one bit: the planes of [`ascii`], in order.
const FLAGS: [u8; 256] = {
    let mut flags = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let character = byte as u8;
        flags[byte] = match character {
            b'A'..=b'Z' => 1,
            b'a'..=b'z' => 2,
            b'0'..=b'9' => 4,
            b'\t' | 0x0B | 0x0C => 8,
            b'\r' | b'\n' => 16,
            b' ' => 32,
            b'\'' | b'/' => 64,
            0x80..=0xFF => 128,
            _ => 0,
        };
        byte += 1;
    }
    flags
};
