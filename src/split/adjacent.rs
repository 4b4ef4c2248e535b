//! Splitting where no token reaches: between two characters that stand side by side in no token.
//!
//! Merges only make tokens, so none crosses such a place, and the text on both sides is merged independently: of the
//! pairs of both sides, the one of lower rank is merged next, the left one among equals, which fixes the order on each
//! side whatever the other holds.

mod pair_set;

use crate::checkpoint::{self, Checkpoint, Interrupted};
use crate::unicode::character::decode;
use crate::util::block::{BLOCK_LEN, Block};
use pair_set::PairSet;

/// Bytes of a piece between two passes of the checkpoint: a few milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// Which characters stand side by side in a token.
#[derive(Debug)]
pub struct Adjacency {
    /// Bit `b` of number `a` is set if the ASCII character `a` stands before `b`.
    ascii: [[u64; 2]; 128],
    /// The other pairs.
    others: PairSet,
}

impl Adjacency {
    /// Collects the adjacent characters of all `tokens`.
    pub fn of<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        let mut adjacency = Self {
            ascii: [[0; 2]; 128],
            others: PairSet::new(),
        };
        for token in tokens {
            let characters = || token.chars().map(u32::from);
            for (before, after) in characters().zip(characters().skip(1)) {
                adjacency.join(before, after);
            }
        }
        adjacency
    }

    fn join(&mut self, before: u32, after: u32) {
        match self.ascii.get_mut(before as usize) {
            Some(row) if after < 128 => row[after as usize / 64] |= 1 << (after % 64),
            _ => {
                self.others.insert(before, after);
            }
        }
    }

    /// Whether two characters, given as code points, stand side by side in a token.
    #[inline]
    fn joins(&self, before: u32, after: u32) -> bool {
        match self.ascii.get(before as usize) {
            Some(row) if after < 128 => row[after as usize / 64] >> (after % 64) & 1 != 0,
            _ => self.others.contains(before, after),
        }
    }

    /// Returns a bit for each place in a block at which a piece ends, and for the end of the text if it is inside of the
    /// block. `length` is that of the rest of the text, which the block begins.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled anew for each tier")]
    pub(super) fn ends(&self, block: &Block, length: usize) -> u64 {
        let within = length.min(BLOCK_LEN);
        let mut ends = if length < BLOCK_LEN { 1 << length } else { 0 };
        let is_ascii = block[..BLOCK_LEN].iter().fold(0, |all, &byte| all | byte) < 128;
        if is_ascii {
            let mut apart = 0;
            for index in 1..BLOCK_LEN {
                let [before, after] = [block[index - 1], block[index]].map(usize::from);
                let word = self.ascii[before % 128][after / 64 % 2];
                apart |= (!word >> (after % 64) & 1) << index;
            }
            // Only the bits inside of the text count.
            return ends | apart & (u64::MAX >> (BLOCK_LEN - within));
        }
        let (mut before, mut offset) = character_at(block, 0);
        while offset < within {
            let (after, length) = character_at(block, offset);
            if !self.joins(before, after) {
                ends |= 1 << offset;
            }
            (before, offset) = (after, offset + length);
        }
        ends
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
            if !self.joins(before, after) {
                break;
            }
            (before, end) = (after, end + length);
        }
        Ok(end)
    }

    /// Number of bytes that the tables occupy.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() + self.others.memory()
    }
}

/// Returns the code point that `rest`, which is not empty, begins with, and its length. A byte that is no character
/// counts as U+FFFD.
#[inline]
fn character(rest: &[u8]) -> (u32, usize) {
    match rest[0] {
        ascii @ 0..=127 => (ascii.into(), 1),
        _ => decode(rest).unwrap_or((char::REPLACEMENT_CHARACTER.into(), 1)),
    }
}

/// As [`character`], at an offset inside of a block, which is UTF-8 there.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled anew for each tier")]
fn character_at(block: &Block, offset: usize) -> (u32, usize) {
    let bytes = [0, 1, 2, 3].map(|index| u32::from(block[(offset % BLOCK_LEN) + index]));
    let [first, second, third, fourth] = bytes.map(|byte| byte & 0x3F);
    match bytes[0] {
        0..=0x7F => (bytes[0], 1),
        0x80..=0xDF => ((bytes[0] & 0x1F) << 6 | second, 2),
        0xE0..=0xEF => ((bytes[0] & 0xF) << 12 | second << 6 | third, 3),
        _ => ((first & 7) << 18 | second << 12 | third << 6 | fourth, 4),
    }
}
