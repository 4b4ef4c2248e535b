//! A piece as a key: the piece itself where it is short, a hash of it where it is long.

/// Pieces of at most this many bytes are their own key.
pub(crate) const LONGEST_WHOLE: usize = 32;

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

    fn of(length: usize) -> Self {
        match length {
            0..=8 => Self::Short,
            9..=16 => Self::Wide,
            _ => Self::Whole,
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
        let least = piece.iter().fold(u8::MAX, |least, &byte| least.min(byte));
        let kept = least != 0 && !piece.is_empty();
        kept.then(|| Self::of_first(&bytes, piece.len()))
    }

    /// The key of the first `length` bytes, at least one and none of them NUL.
    #[inline]
    pub(super) fn of_first(bytes: &[u8; LONGEST_WHOLE], length: usize) -> Self {
        let width = Width::of(length);
        let ([first, second], _) = bytes.as_chunks::<16>() else {
            return Self {
                numbers: [0; 4],
                width,
            };
        };
        let [first, second] = [first, second].map(|half| u128::from_le_bytes(*half));
        let [a, b] = halves(first & low_bytes(length));
        let numbers = match width {
            Width::Short => [a; 4],
            Width::Wide => [a, b, a, b],
            Width::Whole => {
                let [c, d] = halves(second & low_bytes(length - 16));
                [a, b, c, d]
            }
        };
        Self { numbers, width }
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

    /// The hash of the piece.
    pub(super) fn hash(&self) -> u64 {
        let mixed = self.mixed();
        (mixed ^ (mixed >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// Spread over the highest bits.
    #[inline]
    pub(super) fn mixed(&self) -> u64 {
        let [a, b, c, d] = self.numbers;
        match self.width {
            Width::Short | Width::Wide => mix([a, b]),
            Width::Whole => mix([a ^ c.rotate_left(13), b ^ d.rotate_left(13)]),
        }
    }
}

/// The lowest `count` bytes.
#[inline]
fn low_bytes(count: usize) -> u128 {
    #[expect(clippy::cast_possible_truncation, reason = "at most 16")]
    let bits = 8 * (count.min(16) as u32);
    u128::MAX.unbounded_shr(128 - bits)
}

/// The two halves of a number, the lower first.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves")]
fn halves(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// Spreads two numbers over the highest bits.
#[inline]
pub(super) fn mix([first, second]: [u64; 2]) -> u64 {
    (first ^ second.rotate_left(27)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The hash of a piece that has no key.
#[inline]
pub(super) fn hash(piece: &[u8]) -> u64 {
    let (words, rest) = piece.as_chunks::<8>();
    let last = rest
        .iter()
        .rev()
        .fold(0, |last, &byte| (last << 8) | u64::from(byte));
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words.chain([last]).fold(piece.len() as u64, |hash, word| {
        let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 32)
    })
}
