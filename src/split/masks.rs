//! 64 bytes at once: which of them belong to characters of which class, one bit for each byte.
//!
//! Every byte of a character carries the class of its character, so bytes that are neighbours belong to characters
//! that are. Here is the plain code; other [tiers](crate::util::tier) classify ASCII by special instructions, and look up those
//! characters beyond it together that differ in their last byte only.

use crate::unicode::classify::{Class, class_of_code_point};
use crate::util::block::{BLOCK_LEN, Block};

/// The most bytes of a character after its first.
const CONTINUED: usize = 3;

/// The classes of the 64 bytes from some place on. Bit `i` is byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    pub(super) upper: u64,
    pub(super) lower: u64,
    pub(super) caseless: u64,
    pub(super) mark: u64,
    pub(super) number: u64,
    pub(super) blank: u64,
    pub(super) newline: u64,
    pub(super) space: u64,
    /// `'`, which is also other.
    pub(super) apostrophe: u64,
    /// `/`, which is also other.
    pub(super) slash: u64,
    /// Bytes of characters beyond ASCII, or of none.
    pub(super) high: u64,
    /// Bytes after the first of a character.
    pub(super) continuation: u64,
}

impl Masks {
    /// Letters of any case: `\p{L}`.
    pub(super) fn letters(&self) -> u64 {
        self.upper | self.lower | self.caseless
    }

    /// All white space.
    pub(super) fn blanks(&self) -> u64 {
        self.blank | self.newline | self.space
    }

    /// With the characters beyond ASCII, of which [`high`](Self::high) has the bytes and
    /// [`continuation`](Self::continuation) those after the first. `window` is UTF-8 but for what it ends in.
    ///
    /// The first bytes come from the masks, so that no character waits for the length of the one before. To store each
    /// character's class in place of its bytes and read the masks from those at the end was no faster where all is beyond
    /// ASCII, and a twentieth slower on English.
    #[inline(never)]
    pub(super) fn with_high(self, window: &Block) -> Self {
        let mut classes = [0_u64; 16];
        let mut firsts = self.high & !self.continuation;
        while firsts != 0 {
            let place = firsts.trailing_zeros() as usize;
            let (code_point, length) = match window.get(place..=place + CONTINUED) {
                Some(&[lead, second, ..]) if lead < 0xE0 => {
                    (bits(lead, 5) << 6 | bits(second, 6), 2)
                }
                Some(&[lead, second, third, _]) if lead < 0xF0 => (
                    bits(lead, 4) << 12 | bits(second, 6) << 6 | bits(third, 6),
                    3,
                ),
                Some(&[lead, second, third, fourth]) => (
                    bits(lead, 3) << 18
                        | bits(second, 6) << 12
                        | bits(third, 6) << 6
                        | bits(fourth, 6),
                    4,
                ),
                _ => (0, 1),
            };
            let class = class_of_code_point(code_point);
            classes[class as usize & 15] |= ((1 << length) - 1) << place;
            firsts &= firsts - 1;
        }
        self.with_classes(&classes)
    }

    /// With the characters whose first bytes are told by class.
    #[inline]
    pub(super) fn with_firsts(self, firsts: impl Fn(Class) -> u64) -> Self {
        // On to the bytes that continue the characters: a carry runs through these.
        let whole = |class: Class| {
            let firsts = firsts(class);
            let carried = (firsts << 1 & self.continuation).wrapping_add(self.continuation);
            firsts | (self.continuation & !carried)
        };
        let mut classes = [0; 16];
        for class in [
            Class::Upper,
            Class::Lower,
            Class::Caseless,
            Class::Mark,
            Class::Number,
            Class::Blank,
        ] {
            classes[class as usize & 15] = whole(class);
        }
        self.with_classes(&classes)
    }

    /// With the bytes of some characters, by class.
    #[inline]
    fn with_classes(self, classes: &[u64; 16]) -> Self {
        let of = |class: Class| classes[class as usize & 15];
        Self {
            upper: self.upper | of(Class::Upper),
            lower: self.lower | of(Class::Lower),
            caseless: self.caseless | of(Class::Caseless),
            mark: self.mark | of(Class::Mark),
            number: self.number | of(Class::Number),
            blank: self.blank | of(Class::Blank),
            newline: self.newline | of(Class::Newline),
            space: self.space | of(Class::Space),
            ..self
        }
    }
}

/// The lowest `count` bits of a byte.
#[inline]
fn bits(byte: u8, count: u32) -> u32 {
    u32::from(byte) & ((1 << count) - 1)
}

/// The ASCII masks of a window, in plain code. The other tiers must agree with this one.
pub(super) fn ascii(window: &Block) -> Masks {
    let (groups, _) = window[..BLOCK_LEN].as_chunks::<8>();
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
        blank,
        newline,
        space,
        apostrophe_or_slash,
        high,
    ] = planes;
    let slash = apostrophe_or_slash & slashes_among(window, apostrophe_or_slash);
    Masks {
        upper,
        lower,
        number,
        blank,
        newline,
        space,
        apostrophe: apostrophe_or_slash & !slash,
        slash,
        high,
        continuation: continuations(window, high),
        ..Masks::default()
    }
}

/// Of the bytes in `high`, those that continue a character.
fn continuations(bytes: &Block, mut high: u64) -> u64 {
    let mut continuations = 0;
    while high != 0 {
        let place = high.trailing_zeros();
        continuations |= u64::from(bytes[place as usize] < 0xC0) << place;
        high &= high - 1;
    }
    continuations
}

/// Of the bytes in `candidates`, those that are slashes.
fn slashes_among(bytes: &Block, mut candidates: u64) -> u64 {
    let mut slashes = 0;
    while candidates != 0 {
        let place = candidates.trailing_zeros();
        slashes |= u64::from(bytes[place as usize] == b'/') << place;
        candidates &= candidates - 1;
    }
    slashes
}

/// What a byte is, as one bit: the planes of [`ascii`] in order.
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
