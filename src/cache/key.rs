//! Keys of the cache: a short piece as 64-bit words.

use crate::util::hash::GOLDEN_RATIO;

/// Maximum length of a piece that has a key, in bytes.
pub(crate) const MAX_KEY_LEN: usize = 32;

/// Maximum length of a piece with a key of one word.
pub(super) const MAX_ONE_WORD_LEN: usize = 8;

/// Maximum length of a piece with a short key: one of one word or of two.
pub(super) const MAX_SHORT_LEN: usize = 16;

/// Number of words that a key takes in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// 1–8 bytes.
    One,
    /// 9–16 bytes.
    Two,
    /// 17–32 bytes: a long key.
    Four,
}

impl Width {
    /// The number itself. Packed ids take as many words.
    pub(super) const fn words(self) -> usize {
        1 << self as usize
    }

    /// The width of the key of a piece.
    pub(super) fn of(length: usize) -> Self {
        if length <= MAX_ONE_WORD_LEN {
            Self::One
        } else if length <= MAX_SHORT_LEN {
            Self::Two
        } else {
            Self::Four
        }
    }
}

/// A piece of at most [`MAX_KEY_LEN`] bytes, none of them NUL, padded with NULs: no two pieces have the same
/// key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The words, repeated to fill a bucket.
    pub(super) words: [u64; 4],
    pub(super) width: Width,
}

impl Key {
    /// The key of a piece, if it has one.
    pub(super) fn of(piece: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_KEY_LEN];
        bytes.get_mut(..piece.len())?.copy_from_slice(piece);
        let mask = MASKS[piece.len()];
        // Padding is set to ones, so that only NULs of the piece are left.
        let words = std::array::from_fn(|n| words_of(&bytes)[n] | !mask[n]);
        if piece.is_empty() || has_nul(words) {
            return None;
        }
        Some(Self::of_first(&bytes, piece.len()))
    }

    /// The key of the first `length` bytes, at least one and none of them NUL.
    #[inline]
    pub(super) fn of_first(bytes: &[u8; MAX_KEY_LEN], length: usize) -> Self {
        let width = Width::of(length);
        let words = match width {
            Width::One | Width::Two => {
                let [a, b] = Self::short(bytes, length);
                [a, b, a, b]
            }
            Width::Four => first_words(bytes, length),
        };
        Self { words, width }
    }

    /// The two words of the short key of the first `length` bytes: at least one, at most [`MAX_SHORT_LEN`],
    /// none of them NUL. They are equal for a key of one word.
    #[inline]
    pub(super) fn short(bytes: &[u8; MAX_KEY_LEN], length: usize) -> [u64; 2] {
        let [a, b, ..] = first_words(bytes, length);
        [a, if length <= MAX_ONE_WORD_LEN { a } else { b }]
    }

    /// The hash; its highest bits are the best.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        let [a, b, ..] = self.words;
        match self.width {
            Width::One | Width::Two => hash_short([a, b]),
            Width::Four => hash_long(self.words),
        }
    }
}

/// The bits of the first bytes of a key, by their number.
static MASKS: [[u64; 4]; MAX_KEY_LEN + 1] = {
    let mut masks = [[0; 4]; MAX_KEY_LEN + 1];
    let mut length = 1;
    while length <= MAX_KEY_LEN {
        masks[length] = masks[length - 1];
        masks[length][(length - 1) / 8] |= 0xFF << (8 * ((length - 1) % 8));
        length += 1;
    }
    masks
};

/// The bytes as words.
#[inline]
fn words_of(bytes: &[u8; MAX_KEY_LEN]) -> [u64; 4] {
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|n| u64::from_le_bytes(words[n]))
}

/// The first `length` bytes as words, padded with NULs.
#[inline]
fn first_words(bytes: &[u8; MAX_KEY_LEN], length: usize) -> [u64; 4] {
    let mask = &MASKS[length];
    std::array::from_fn(|n| words_of(bytes)[n] & mask[n])
}

/// True if a byte of the words is 0.
#[inline]
fn has_nul(words: [u64; 4]) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    // Subtraction sets the highest bit of a byte that is 0, and perhaps that of a byte above one.
    let set = words.map(|word| word.wrapping_sub(ONES) & !word);
    set.iter().fold(0, |all, set| all | set) & (ONES << 7) != 0
}

/// How many bits the second word is rotated by before both are combined and multiplied by [`MULTIPLIER`].
pub(super) const ROTATION: i32 = 27;

/// The multiplier of the hash: Fibonacci hashing, whose highest bits are the index.
pub(super) const MULTIPLIER: u64 = GOLDEN_RATIO;

/// The hash of a short key.
#[inline]
pub(super) fn hash_short([first, second]: [u64; 2]) -> u64 {
    (first ^ second.rotate_left(ROTATION.cast_unsigned())).wrapping_mul(MULTIPLIER)
}

/// The hash of a long key.
#[inline]
pub(super) fn hash_long([a, b, c, d]: [u64; 4]) -> u64 {
    hash_short([a ^ c.rotate_left(13), b ^ d.rotate_left(13)])
}

#[cfg(test)]
mod tests {
    use super::{Key, MAX_KEY_LEN};

    /// Pieces have a key if they are short enough and have no NUL, and different pieces have different keys.
    #[test]
    fn keys_are_unique() {
        let mut seen = std::collections::HashMap::new();
        for length in 0..=MAX_KEY_LEN + 2 {
            for byte in [0, 1, b'a', 0x7F, 0x80, 0xFE, 0xFF] {
                for index in 0..length {
                    let mut piece = vec![b'a'; length];
                    piece[index] = byte;
                    let key = Key::of(&piece);
                    let expected = length <= MAX_KEY_LEN && byte != 0;
                    assert_eq!(key.is_some(), expected, "{piece:?}");
                    if let Some(key) = key {
                        let before = seen.insert((key.words, key.width as u8), piece.clone());
                        assert!(before.is_none_or(|before| before == piece));
                    }
                }
            }
        }
        assert!(Key::of(&[]).is_none());
        assert!(Key::of(&[0; 8]).is_none());
    }
}
