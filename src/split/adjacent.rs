//! Splitting where no token reaches: between two characters that stand side by side in no token.
//!
//! Merges only make tokens, so none crosses such a place, and the text on both sides is merged independently: of the
//! pairs of both sides, the one of lower rank is merged next, the left one among equals, which fixes the order on each
//! side whatever the other holds.
//!
//! Any of these places may be left out. So the pairs beyond ASCII are in a filter, one bit for each hash, which takes
//! one load and no branch: with an exact set, text of many scripts took half as long again.
//!
//! Where a file cuts text before each space, those places are never left out.

use std::collections::HashSet;

use super::masks::Masks;
use crate::checkpoint::{self, Interrupted};
use crate::util::block::{BLOCK_LEN, Block};
use crate::util::hash::{GOLDEN_RATIO, SeededState};

/// Bytes of a piece between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// Bits in the filter for each pair, and at most for each token: few places are left out, and with few pairs the filter
/// stays in the nearest cache.
const BITS_PER_PAIR: usize = 64;
const BITS_PER_TOKEN: usize = 8;

/// Bits of the exact pairs of ASCII, before those of the filter.
const ASCII_BITS: usize = 1 << 14;

/// Which characters stand side by side in a token. A character is known by the bytes of its UTF-8, as a number.
#[derive(Debug)]
pub struct Adjacency {
    /// For ASCII, bit `b` of row `a`, of 128 bits, is set if `a` stands before `b`. Behind them, the bit of each other
    /// pair by its hash.
    bits: Vec<u64>,
    shift: u32,
    /// The character that text is cut before whatever tokens join, or [`NO_CHARACTER`].
    word_start: u32,
}

/// Not the number of any character.
const NO_CHARACTER: u32 = u32::MAX;

impl Adjacency {
    /// Collects the adjacent characters of all `tokens`.
    pub fn of<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        let mut ascii = vec![0; ASCII_BITS / 64];
        let (mut others, mut count) = (HashSet::<_, SeededState>::default(), 0);
        for token in tokens {
            count += 1;
            let (mut before, length) = character(token.as_bytes());
            let mut rest = &token.as_bytes()[length..];
            while !rest.is_empty() {
                let (after, length) = character(rest);
                if (before | after) < 128 {
                    set(&mut ascii, ascii_bit(before, after));
                } else {
                    others.insert((before, after));
                }
                (before, rest) = (after, &rest[length..]);
            }
        }
        let bits = (others.len() * BITS_PER_PAIR)
            .min(count * BITS_PER_TOKEN)
            .max(1 << 10)
            .next_power_of_two();
        let mut adjacency = Self {
            bits: ascii,
            shift: 64 - bits.ilog2(),
            word_start: NO_CHARACTER,
        };
        adjacency.bits.resize((ASCII_BITS + bits) / 64, 0);
        for (before, after) in others {
            let bit = adjacency.bit(before, after);
            set(&mut adjacency.bits, bit);
        }
        adjacency
    }

    /// Joins all characters: a text is one piece.
    pub fn whole() -> Self {
        Self {
            bits: vec![u64::MAX; 2 * ASCII_BITS / 64],
            shift: 64 - ASCII_BITS.ilog2(),
            word_start: NO_CHARACTER,
        }
    }

    /// Returns the same, where text is cut before each space as well.
    #[must_use]
    pub fn by_words(mut self) -> Self {
        self.word_start = u32::from(b' ');
        for before in 0..128 {
            let bit = ascii_bit(before, self.word_start);
            self.bits[bit / 64] &= !(1 << (bit % 64));
        }
        self
    }

    /// Returns whether a piece begins where text is cut whatever tokens join.
    pub(crate) fn begins_word(&self, piece: &[u8]) -> bool {
        piece.first().copied().map(u32::from) == Some(self.word_start)
    }

    /// Returns the index of the bit of a pair. Branch-free: text of many scripts is unpredictable.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "shifted down to the size of the filter"
    )]
    fn bit(&self, before: u32, after: u32) -> usize {
        let pair = u64::from(before) << 32 | u64::from(after);
        let hashed = (pair.wrapping_mul(GOLDEN_RATIO) >> self.shift) as usize + ASCII_BITS;
        let exact = ascii_bit(before, after);
        if (before | after) < 128 {
            exact
        } else {
            hashed
        }
    }

    /// Returns 1 if two characters stand side by side in a token, and now and then if they do not; otherwise 0.
    #[inline]
    fn joins(&self, before: u32, after: u32) -> u64 {
        let bit = self.bit(before, after);
        self.bits[bit / 64] >> (bit % 64) & u64::from(after != self.word_start)
    }

    /// Returns whether two characters may stand side by side in a token.
    pub(super) fn may_join(&self, before: char, after: char) -> bool {
        let number = |point: char| character(point.encode_utf8(&mut [0; 4]).as_bytes()).0;
        self.joins(number(before), number(after)) != 0
    }

    /// Returns a bit for each place in a block at which a piece ends, and for the end of the text if it is inside of the
    /// block. `length` is that of the rest of the text, which the block begins.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    pub(super) fn ends(&self, block: &Block, masks: &Masks, length: usize) -> u64 {
        let (within, end) = match length {
            0..BLOCK_LEN => (!(u64::MAX << length), 1 << length),
            _ => (u64::MAX, 0),
        };
        let mut joined = 0;
        if masks.non_ascii == 0 {
            let ascii = self.bits.first_chunk::<{ ASCII_BITS / 64 }>();
            let ascii = ascii.expect("they begin with those of ASCII");
            for index in 1..BLOCK_LEN {
                let [before, after] = [block[index - 1], block[index]].map(u32::from);
                let bit = ascii_bit(before % 128, after % 128);
                joined |= (ascii[bit / 64] >> (bit % 64) & 1) << index;
            }
            return !joined & within & !1 | end;
        }
        // The first bytes come from the masks, so that no character waits for the length of the one before.
        let starts = !masks.continuation & within & !1;
        let mut before = character_at(block, 0);
        let mut rest = starts;
        while rest != 0 {
            let index = rest.trailing_zeros();
            let after = character_at(block, index as usize);
            joined |= self.joins(before, after) << index;
            before = after;
            rest &= rest - 1;
        }
        starts & !joined | end
    }

    /// Returns the end of the piece that starts at `offset`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    pub(super) fn piece_end(&self, text: &[u8], offset: usize) -> Result<usize, Interrupted> {
        let (first, length) = character(&text[offset..]);
        let rest = offset + length;
        Ok(rest + self.end_after(first, &text[rest..])?)
    }

    /// Returns where in `text` the piece ends that begins with the character `before` in front of it.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    pub(super) fn end_after(&self, mut before: u32, text: &[u8]) -> Result<usize, Interrupted> {
        let (mut end, mut next_check) = (0, CHECK_INTERVAL);
        while end < text.len() {
            if end >= next_check {
                checkpoint::pass()?;
                next_check = end + CHECK_INTERVAL;
            }
            let (after, length) = character(&text[end..]);
            if self.joins(before, after) == 0 {
                break;
            }
            (before, end) = (after, end + length);
        }
        Ok(end)
    }
}

/// Returns the index of the bit of two characters of ASCII.
#[inline]
fn ascii_bit(before: u32, after: u32) -> usize {
    (before << 7 | after) as usize
}

fn set(bits: &mut [u64], bit: usize) {
    bits[bit / 64] |= 1 << (bit % 64);
}

/// Returns the character that these bytes begin with, the first in the lowest bits, as a number. A byte that begins none is
/// one by itself.
#[inline]
fn number(bytes: u32) -> u32 {
    // Its length by the upper four bits of the first byte.
    const MASKS: [u32; 16] = {
        let mut masks = [0xFF; 16];
        (masks[12], masks[13], masks[14], masks[15]) = (0xFFFF, 0xFFFF, 0xFF_FFFF, u32::MAX);
        masks
    };
    bytes & MASKS[bytes as usize >> 4 & 15]
}

/// Returns the character that `rest`, which is not empty, begins with, as a number, and its length.
#[inline]
fn character(rest: &[u8]) -> (u32, usize) {
    let length = match rest[0] {
        ..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    // Copied byte by byte, they would be read before they had been written.
    if let Some(bytes) = rest.first_chunk() {
        return (number(u32::from_le_bytes(*bytes)), length);
    }
    let mut bytes = [0; 4];
    let length = length.min(rest.len());
    bytes[..length].copy_from_slice(&rest[..length]);
    (number(u32::from_le_bytes(bytes)), length)
}

/// Returns the character at an offset inside of a block as a number.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled anew for each tier")]
fn character_at(block: &Block, offset: usize) -> u32 {
    let bytes = block[offset % BLOCK_LEN..].first_chunk();
    number(u32::from_le_bytes(*bytes.expect("a block overhangs")))
}
