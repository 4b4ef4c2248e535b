//! A table of the classes of all characters: a byte for each, whose bits are read as masks of 64 bytes of text.

use std::collections::HashMap;
use std::fmt;

use crate::split::masks::{self, Classify};
use crate::util::block::{Block, Spans};

/// Characters of Unicode, and those that no text has.
pub(super) const CODE_POINTS: usize = char::MAX as usize + 1;

/// Code points of a page.
const PAGE: usize = 1 << 8;

/// A rule that finds the pieces of blocks by classes of characters, with `GAPS` between them or not.
pub(in crate::split) trait ByClasses<const GAPS: bool> {
    /// Returns the pieces of a block with which the rest of a text begins.
    fn spans(&self, classify: impl Classify, block: &Block, rest: &[u8]) -> Found<GAPS>;
}

/// Pieces at the beginning of a block.
pub(in crate::split) enum Found<const GAPS: bool> {
    /// Pieces, and where one may start behind them.
    Pieces(Spans<GAPS>, usize),
    /// No piece, up to where one may start.
    Gap(usize),
    /// A piece that goes on at least to a place, from which its end is found as from its start.
    Open(usize),
    /// A piece that does not end inside of the block.
    Unsure,
}

/// The code of each character.
pub(super) struct Codes {
    /// The page of each 256 code points.
    index: Vec<u8>,
    pages: Vec<[u8; PAGE]>,
    ascii: [[u8; 64]; 2],
    /// All bits of any code.
    used: u8,
}

impl fmt::Debug for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = self.pages.len();
        f.debug_struct("Codes")
            .field("pages", &pages)
            .finish_non_exhaustive()
    }
}

/// The codes of a block.
pub(super) struct Planes {
    /// A mask for each bit of a code: the bytes of the characters that have it.
    pub(super) bits: [u64; 8],
    /// Bytes behind the first of a character.
    pub(super) continuation: u64,
}

impl Codes {
    /// Returns the table of the codes of all code points; `None` if too many of its pages differ.
    pub(super) fn of(codes: &[u8]) -> Option<Self> {
        let used = codes.iter().fold(0, |used, code| used | code);
        let (mut pages, mut index) = (Vec::new(), Vec::with_capacity(codes.len() / PAGE));
        let mut numbers = HashMap::new();
        for page in codes.as_chunks::<PAGE>().0 {
            let number = *numbers.entry(page).or_insert_with(|| {
                pages.push(*page);
                pages.len() - 1
            });
            index.push(u8::try_from(number).ok()?);
        }
        let codes = pages[usize::from(index[0])];
        let ascii = [0, 64].map(|first| std::array::from_fn(|byte| codes[first + byte]));
        Some(Self {
            index,
            pages,
            ascii,
            used,
        })
    }

    /// Returns the code of a character.
    pub(super) fn code(&self, point: u32) -> u8 {
        let point = point as usize;
        let page = usize::from(self.index[point / PAGE]);
        self.pages[page][point % PAGE]
    }

    /// Returns the bits that codes have.
    pub(super) fn used(&self) -> u8 {
        self.used
    }

    /// Returns the codes of a block; those of the bytes of `inside` alone.
    #[expect(
        clippy::inline_always,
        reason = "compiled anew for each tier, with its instructions"
    )]
    #[inline(always)]
    pub(super) fn planes(&self, classify: impl Classify, block: &Block, inside: u64) -> Planes {
        let (mut bits, non_ascii, continuation) = classify.codes(block, &self.ascii, self.used);
        if non_ascii != 0 {
            self.add_non_ascii(block, non_ascii & !continuation, &mut bits);
        }
        for (bit, plane) in bits.iter_mut().enumerate() {
            if self.used >> bit & 1 != 0 {
                *plane &= inside;
            }
        }
        Planes { bits, continuation }
    }

    /// Adds the codes of the characters that begin at the bits of `firsts` to the masks of their bits.
    #[inline(never)]
    fn add_non_ascii(&self, block: &Block, firsts: u64, planes: &mut [u64; 8]) {
        for (point, bytes) in masks::characters(block, firsts) {
            let mut code = self.code(point);
            while code != 0 {
                planes[code.trailing_zeros() as usize] |= bytes;
                code &= code - 1;
            }
        }
    }
}

/// Returns the bytes of a block with which a text of `length` bytes begins that are of the text.
pub(super) fn inside(length: usize) -> u64 {
    let end = 1_u64.checked_shl(length.try_into().unwrap_or(u32::MAX));
    end.map_or(u64::MAX, |end| end - 1)
}
