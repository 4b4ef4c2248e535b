//! Splitting where no token reaches: between two characters that stand side by side in no token.
//!
//! Merges only make tokens, so none crosses such a place, and the text on both sides is merged independently: of the
//! pairs of both sides, the one of lower rank is merged next, the left one among equals, which fixes the order on each
//! side whatever the other holds.
//!
//! Any of these places may be left out. So the pairs beyond ASCII are in a filter, one bit for each hash, which takes
//! one load and no branch: with an exact set, text of many scripts took half as long again.

use super::masks::Masks;
use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::util::block::{BLOCK_LEN, Block};
use crate::util::hash::GOLDEN_RATIO;

/// Bytes of a piece between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// Bits in the filter for each token. There are fewer different pairs than tokens, so that few places are left out.
const BITS_PER_TOKEN: usize = 8;

/// Which characters stand side by side in a token. A character is known by the bytes of its UTF-8, as a number.
#[derive(Debug)]
pub struct Adjacency {
    /// Bit `b` of number `a` is set if the ASCII character `a` stands before `b`.
    ascii: [[u64; 2]; 128],
    /// The bit of each pair.
    filter: Vec<u64>,
    shift: u32,
}

impl Adjacency {
    /// Collects the adjacent characters of all `tokens`.
    pub fn of<'a>(tokens: impl Iterator<Item = &'a str> + Clone) -> Self {
        let bits = (tokens.clone().count() * BITS_PER_TOKEN)
            .max(1 << 10)
            .next_power_of_two();
        let mut adjacency = Self {
            ascii: [[0; 2]; 128],
            filter: vec![0; bits / 64],
            shift: 64 - bits.ilog2(),
        };
        for token in tokens {
            let (mut before, length) = character(token.as_bytes());
            let mut rest = &token.as_bytes()[length..];
            while !rest.is_empty() {
                let (after, length) = character(rest);
                adjacency.join(before, after);
                (before, rest) = (after, &rest[length..]);
            }
        }
        adjacency
    }

    fn join(&mut self, before: u32, after: u32) {
        if (before | after) < 128 {
            self.ascii[before as usize][after as usize / 64] |= 1 << (after % 64);
        } else {
            let bit = self.bit(before, after);
            self.filter[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Returns the bit of a pair in the filter.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "shifted down to the size of the filter"
    )]
    fn bit(&self, before: u32, after: u32) -> usize {
        let pair = u64::from(before) << 32 | u64::from(after);
        (pair.wrapping_mul(GOLDEN_RATIO) >> self.shift) as usize
    }

    /// Returns 1 if two characters stand side by side in a token, and now and then if they do not; otherwise 0.
    /// Branch-free: text of many scripts is unpredictable.
    #[inline]
    fn joins(&self, before: u32, after: u32) -> u64 {
        let bit = self.bit(before, after);
        let filtered = self.filter[bit / 64] >> (bit % 64);
        let exact = self.ascii[before as usize % 128][after as usize / 64 % 2] >> (after % 64);
        let joined = if (before | after) < 128 {
            exact
        } else {
            filtered
        };
        joined & 1
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
        let mut ends = 0;
        if masks.non_ascii == 0 {
            for index in 1..BLOCK_LEN {
                let [before, after] = [block[index - 1], block[index]].map(usize::from);
                let word = self.ascii[before % 128][after / 64 % 2];
                ends |= (!word >> (after % 64) & 1) << index;
            }
            return ends & within | end;
        }
        // The first bytes come from the masks, so that no character waits for the length of the one before.
        let mut starts = !masks.continuation & within & !1;
        let mut before = character_at(block, 0);
        while starts != 0 {
            let index = starts.trailing_zeros();
            let after = character_at(block, index as usize);
            ends |= (self.joins(before, after) ^ 1) << index;
            before = after;
            starts &= starts - 1;
        }
        ends | end
    }

    /// Returns the end of the piece that starts at `offset`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    pub(super) fn piece_end(
        &self,
        text: &[u8],
        offset: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<usize, Interrupted> {
        let (first, length) = character(&text[offset..]);
        let rest = offset + length;
        Ok(rest + self.end_after(first, &text[rest..], checkpoint)?)
    }

    /// Returns where in `text` the piece ends that begins with the character `before` in front of it.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    pub(super) fn end_after(
        &self,
        mut before: u32,
        text: &[u8],
        checkpoint: &dyn Checkpoint,
    ) -> Result<usize, Interrupted> {
        let (mut end, mut next_check) = (0, CHECK_INTERVAL);
        while end < text.len() {
            if end >= next_check {
                checkpoint::pass(checkpoint)?;
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

    /// Number of bytes that the tables occupy.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() + size_of::<u64>() * self.filter.capacity()
    }
}

/// Returns how many bytes the character has that begins with `first`; 1 for a byte that begins none.
#[inline]
fn length_of(first: u8) -> u32 {
    // One digit for each value of the upper four bits.
    const LENGTHS: u64 = 0x4322_1111_1111_1111;
    #[expect(clippy::cast_possible_truncation, reason = "a digit")]
    let length = (LENGTHS >> (first >> 4 << 2)) as u32 & 7;
    length
}

/// Returns the bytes of a character, the first of these four, as a number.
#[inline]
fn number(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes) & (u32::MAX >> (32 - 8 * length_of(bytes[0])))
}

/// Returns the character that `rest`, which is not empty, begins with, as a number, and its length.
#[inline]
fn character(rest: &[u8]) -> (u32, usize) {
    let mut bytes = [0; 4];
    let length = (length_of(rest[0]) as usize).min(rest.len());
    bytes[..length].copy_from_slice(&rest[..length]);
    (number(bytes), length)
}

/// Returns the character at an offset inside of a block as a number.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled anew for each tier")]
fn character_at(block: &Block, offset: usize) -> u32 {
    let offset = offset % BLOCK_LEN;
    number([0, 1, 2, 3].map(|index| block[offset + index]))
}
