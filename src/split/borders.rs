//! Borders: places where a chain of patterns cuts a text before its last pattern splits what is between them.
//!
//! A piece ends at each border, and whitespace before it is at the end of a text. So the rules of the last pattern are
//! those of a family, whose texts also end at borders.

#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

use super::masks::{Classify, Masks, characters, filter};
use crate::unicode::character::{first, last};
use crate::unicode::classify::{Class, class_of_code_point};
use crate::unicode::property::{is_cjk, is_new_number};
use crate::util::block::{BLOCK_LEN, Block};

/// Where the borders of a chain are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Borders {
    /// Around numbers.
    pub numbers: Numbers,
    /// Between what is in `[一-龥぀-ゟ゠-ヿ]` and what is not.
    pub cjk: bool,
    /// Before each run of CR LF and LF.
    pub line_ends: bool,
}

/// Which numbers have borders around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// None.
    Joined,
    /// `\p{N}`.
    Apart,
    /// Those, and the numbers that Unicode 17 added, which are other characters elsewhere.
    NewApart,
}

impl Borders {
    /// No borders.
    pub const NONE: Self = Self {
        numbers: Numbers::Joined,
        cjk: false,
        line_ends: false,
    };

    /// Returns whether there is a border at `offset`, which is between two characters.
    pub(super) fn are_at(self, text: &[u8], offset: usize) -> bool {
        let (before, after) = (&text[..offset], &text[offset..]);
        let (left, right) = (last(before), first(after));
        let differ = |is: &dyn Fn(u32) -> bool| left.is_some_and(is) != right.is_some_and(is);
        (self.numbers != Numbers::Joined && differ(&|code_point| self.is_number(code_point)))
            || (self.cjk && differ(&is_cjk))
            || (self.line_ends && !before.ends_with(b"\n") && is_line_end(before, after))
    }

    /// Returns whether a character counts as a number.
    fn is_number(self, code_point: u32) -> bool {
        class_of_code_point(code_point) == Class::Number
            || (self.numbers == Numbers::NewApart && is_new_number(code_point))
    }

    /// Returns the class of a character, which is at the start of `text`: a new number is one where there are borders
    /// around it.
    pub(super) fn class_of(self, class: Class, text: &[u8]) -> Class {
        let is_new = class == Class::Other
            && self.numbers == Numbers::NewApart
            && first(text).is_some_and(is_new_number);
        if is_new { Class::Number } else { class }
    }

    /// Returns the classes of a block as the chain sees them, and its borders.
    #[inline(always)]
    pub(super) fn in_block(
        self,
        classify: impl Classify,
        masks: &Masks,
        block: &Block,
    ) -> (Masks, Places) {
        let mut masks = *masks;
        let mut places = Places::NONE;
        if self.numbers == Numbers::NewApart && masks.non_ascii != 0 {
            masks.number |= new_numbers(&masks, block);
        }
        if self.numbers != Numbers::Joined {
            places.borders |= masks.number ^ (masks.number << 1);
        }
        if self.cjk && masks.non_ascii != 0 {
            let cjk = classify.cjk(block);
            places.borders |= cjk ^ (cjk << 1);
        }
        if self.line_ends && masks.newline != 0 {
            let returns = filter(block, masks.newline, |byte| byte == b'\r');
            let feeds = masks.newline & !returns;
            let line_ends = (returns & (feeds >> 1)) | (feeds & !(returns << 1));
            places.borders |= line_ends & !(feeds << 1);
            // What follows the block decides.
            places.doubt = returns & (1 << (BLOCK_LEN - 1));
        }
        places.borders &= !1;
        (masks, places)
    }
}

/// Places in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// The first bytes after borders.
    pub(super) borders: u64,
    /// Bytes before which there may be a border.
    pub(super) doubt: u64,
}

impl Places {
    /// No places.
    pub(super) const NONE: Self = Self {
        borders: 0,
        doubt: 0,
    };
}

/// Returns whether a line ends with LF, or CR and LF, between the two sides.
fn is_line_end(before: &[u8], after: &[u8]) -> bool {
    let is_inside = before.ends_with(b"\r") && after.starts_with(b"\n");
    !is_inside && (after.starts_with(b"\n") || after.starts_with(b"\r\n"))
}

/// Returns the bytes of the numbers that Unicode 17 added, which are other characters.
#[inline(always)]
pub(super) fn new_numbers(masks: &Masks, block: &Block) -> u64 {
    characters(
        block,
        masks.others() & masks.non_ascii & !masks.continuation,
    )
    .filter(|&(code_point, _)| is_new_number(code_point))
    .fold(0, |found, (_, bytes)| found | bytes)
}
