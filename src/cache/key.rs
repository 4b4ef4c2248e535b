//! A short piece as a key: the piece itself.

use crate::util::hash::GOLDEN_RATIO;

/// Pieces of at most this many bytes are their own key.
pub(crate) const LONGEST_WHOLE: usize = 32;

/// Pieces of at most this many bytes belong to short lines.
pub(super) const LONGEST_SHORT: usize = 8;

/// Pieces of at most this many bytes belong to near lines.
pub(super) const LONGEST_WIDE: usize = 16;

/// How many numbers a key takes in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// One, for 1–8 bytes.
    Short,
    /// Two, for 9–16 bytes.
    Wide,
    /// Four, for 17–32 bytes.
    Whole,
}

impl Width {
    /// How many numbers these are; an answer has as many.
    pub(super) const fn numbers(self) -> usize {
        1 << self as usize
    }

    pub(super) fn of(length: usize) -> Self {
        if length <= LONGEST_SHORT {
            Self::Short
        } else if length <= LONGEST_WIDE {
            Self::Wide
        } else {
            Self::Whole
        }
    }
}

/// A piece of at most [`LONGEST_WHOLE`] bytes, none of them NUL, filled up with NULs: no two pieces have the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The numbers, repeated to be as many as a line has.
    pub(super) numbers: [u64; 4],
    pub(super) width: Width,
}

impl Key {
    /// The key of a piece, if it has one.
    pub(super) fn of(piece: &[u8]) -> Option<Self> {
        let mut bytes = [0; LONGEST_WHOLE];
        bytes.get_mut(..piece.len())?.copy_from_slice(piece);
        let kept = KEPT.get(piece.len())?;
        // Where nothing is kept there are no NULs of the piece.
        let nul = std::array::from_fn(|n| numbers_of(&bytes)[n] | !kept[n]);
        if piece.is_empty() || has_nul(nul) {
            return None;
        }
        Some(Self::of_first(&bytes, piece.len()))
    }

    /// The key of the first `length` bytes, at least one and none of them NUL.
    #[inline]
    pub(super) fn of_first(bytes: &[u8; LONGEST_WHOLE], length: usize) -> Self {
        let width = Width::of(length);
        let numbers = match width {
            Width::Short | Width::Wide => {
                let [a, b] = Self::near(bytes, length);
                [a, b, a, b]
            }
            Width::Whole => first_numbers(bytes, length),
        };
        Self { numbers, width }
    }

    /// The two numbers of the key of the first `length` bytes, at least one, at most [`LONGEST_WIDE`], none of them NUL.
    #[inline]
    pub(super) fn near(bytes: &[u8; LONGEST_WHOLE], length: usize) -> [u64; 2] {
        let [a, b, ..] = first_numbers(bytes, length);
        [a, if length <= LONGEST_SHORT { a } else { b }]
    }

    /// Another key of the same piece, for more ids than belong to its own width. Bytes 0xFF, which UTF-8 never has, keep
    /// it apart from all others.
    pub(super) fn beyond(&self) -> Option<Self> {
        let [a, b, ..] = self.numbers;
        let (numbers, width) = match self.width {
            Width::Short => ([a, u64::MAX, a, u64::MAX], Width::Wide),
            Width::Wide => ([a, b, u64::MAX, u64::MAX], Width::Whole),
            Width::Whole => return None,
        };
        Some(Self { numbers, width })
    }

    /// Spread over the highest bits.
    #[inline]
    pub(super) fn mixed(&self) -> u64 {
        let [a, b, ..] = self.numbers;
        match self.width {
            Width::Short | Width::Wide => mix([a, b]),
            Width::Whole => mix_four(self.numbers),
        }
    }
}

/// The bits of the first bytes, by how many these are.
static KEPT: [[u64; 4]; LONGEST_WHOLE + 1] = {
    let mut kept = [[0; 4]; LONGEST_WHOLE + 1];
    let mut length = 1;
    while length <= LONGEST_WHOLE {
        kept[length] = kept[length - 1];
        kept[length][(length - 1) / 8] |= 0xFF << (8 * ((length - 1) % 8));
        length += 1;
    }
    kept
};

/// The bytes as numbers.
#[inline]
fn numbers_of(bytes: &[u8; LONGEST_WHOLE]) -> [u64; 4] {
    let (numbers, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|n| u64::from_le_bytes(numbers[n]))
}

/// The first `length` bytes as numbers, filled up with NULs.
#[inline]
fn first_numbers(bytes: &[u8; LONGEST_WHOLE], length: usize) -> [u64; 4] {
    let kept = KEPT.get(length).unwrap_or(&KEPT[0]);
    std::array::from_fn(|n| numbers_of(bytes)[n] & kept[n])
}

/// Whether a byte of the numbers is 0.
#[inline]
fn has_nul(numbers: [u64; 4]) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    // The highest bit of a byte is new where that byte is 0, and perhaps where one below it is.
    let new = numbers.map(|number| number.wrapping_sub(ONES) & !number);
    new.iter().fold(0, |all, new| all | new) & (ONES << 7) != 0
}

/// How numbers are spread: the second is turned by so many bits, and both are multiplied by this.
pub(super) const ROTATION: i32 = 27;
pub(super) const MIXER: u64 = GOLDEN_RATIO;

/// Spreads two numbers over the highest bits.
#[inline]
pub(super) fn mix([first, second]: [u64; 2]) -> u64 {
    (first ^ second.rotate_left(ROTATION.cast_unsigned())).wrapping_mul(MIXER)
}

/// As [`mix`], for four numbers.
#[inline]
pub(super) fn mix_four([a, b, c, d]: [u64; 4]) -> u64 {
    mix([a ^ c.rotate_left(13), b ^ d.rotate_left(13)])
}

#[cfg(test)]
mod tests {
    use super::{Key, LONGEST_WHOLE};

    /// Pieces have a key if they are short enough and have no NUL, and different pieces have different keys.
    #[test]
    fn keys_are_of_one_piece() {
        let mut seen = std::collections::HashMap::new();
        for length in 0..=LONGEST_WHOLE + 2 {
            for byte in [0, 1, b'a', 0x7F, 0x80, 0xFE, 0xFF] {
                for at in 0..length {
                    let mut piece = vec![b'a'; length];
                    piece[at] = byte;
                    let key = Key::of(&piece);
                    let expected = length <= LONGEST_WHOLE && byte != 0;
                    assert_eq!(key.is_some(), expected, "{piece:?}");
                    if let Some(key) = key {
                        let before = seen.insert((key.numbers, key.width as u8), piece.clone());
                        assert!(before.is_none_or(|before| before == piece));
                    }
                }
            }
        }
        assert!(Key::of(&[]).is_none());
        assert!(Key::of(&[0; 8]).is_none());
    }
}
