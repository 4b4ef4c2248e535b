//! Piece starts from class masks: 64 bytes of text at once, without looking at characters one by one.
//!
//! A block starts where a piece starts. What a pattern matches from there on does not depend on the text
//! before, so no state is carried from block to block: each yields the piece starts among its bytes as far as
//! it can be sure of them, and the next block starts at the last of these. Where a block is not sure of a
//! single further start, the [reference](super) of the family takes one piece instead. The references are
//! also what tests compare this with.
//!
//! Rules are written with masks: `x << 1` is "the byte before is x". A run of `x` that starts at the bits `s`
//! ends where the carry of `s + x` comes out.

#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

use super::borders::Places;
use super::masks::{Classify, Masks, characters};
use super::o200k::Cl100k;
use super::o200k::O200k;
use super::o200k::R50k;
use super::rules::{Contractions, Tail, contraction_end};
use crate::unicode::property::is_han;
use crate::util::block::{BLOCK_LEN, Block};

/// The piece starts of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts {
    /// Bytes that start a piece. Bit 0 is set.
    starts: u64,
    /// Bytes of which it is certain whether they start a piece: a run of bits from bit 0 on.
    sure: u64,
}

impl Starts {
    /// Returns starts that are all sure.
    #[inline(always)]
    pub(super) fn of(starts: u64) -> Self {
        Self {
            starts: starts | 1,
            sure: u64::MAX,
        }
    }

    /// Returns the sure starts after the first.
    #[inline(always)]
    pub(super) fn further(self) -> u64 {
        self.starts & self.sure & !1
    }

    /// Keeps only the starts before the first bit of `doubt`.
    #[inline(always)]
    pub(super) fn doubt(&mut self, doubt: u64) {
        self.sure &= (doubt & doubt.wrapping_neg()).wrapping_sub(1);
    }

    /// Makes `start..end` one piece, or the end of one, and starts another at `end`. `start` is at most the
    /// block's length.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
    fn join(&mut self, start: usize, end: usize) {
        debug_assert!(start <= BLOCK_LEN && start < end);
        if end >= BLOCK_LEN {
            self.sure &= !u64::MAX.unbounded_shl(start as u32);
        } else {
            let from_end = u64::MAX << end;
            let from_start = u64::MAX << start;
            self.starts = (self.starts & !(from_start & !from_end)) | (1 << end);
        }
    }
}

/// Returns `x` if `condition` holds, otherwise nothing; without a branch.
#[inline(always)]
fn only_if(condition: bool, x: u64) -> u64 {
    x & u64::from(condition).wrapping_neg()
}

/// Returns the first byte of each run of `x`.
#[inline(always)]
pub(super) fn first(x: u64) -> u64 {
    x & !(x << 1)
}

/// Returns the bytes of the runs of `x` that contain a bit of `starts`, from there on. At most one start is
/// in a run.
#[inline(always)]
fn run_from(starts: u64, x: u64) -> u64 {
    x & !starts.wrapping_add(x)
}

/// Returns the first byte of the last character of each run of whitespace that ends inside the block, but not before
/// one of the borders.
#[inline(always)]
fn last_characters(whitespace: u64, borders: u64, masks: &Masks) -> u64 {
    let ends = whitespace & !((whitespace | borders) >> 1) & !(1 << (BLOCK_LEN - 1));
    first_bytes(ends, masks)
}

/// Returns the first bytes of the characters of which `ends` are the last ones.
#[inline(always)]
pub(super) fn first_bytes(ends: u64, masks: &Masks) -> u64 {
    let mut firsts = ends & !masks.continuation;
    let mut inside = ends & masks.continuation;
    while inside != 0 {
        inside >>= 1;
        firsts |= inside & !masks.continuation;
        inside &= masks.continuation;
    }
    firsts
}

/// Returns the bytes before a run of whitespace that reaches the end of the block, and the first byte of that
/// run: the starts after it depend on what follows the block.
#[inline(always)]
fn sure_before_open_whitespace(whitespace: u64) -> u64 {
    // The run is the leading ones.
    let open = (!whitespace).leading_zeros();
    if open == 0 {
        u64::MAX
    } else {
        u64::MAX.unbounded_shr(open - 1)
    }
}

/// Adds the starts in numbers: the first byte of each run, and again after every `longest` characters.
#[inline(always)]
pub(super) fn numbers(masks: &Masks, longest: usize, starts: &mut Starts) {
    starts.starts |= first(masks.number);
    long_numbers(masks, longest, starts);
}

/// Adds the starts in numbers after the first byte.
#[inline(always)]
fn long_numbers(masks: &Masks, longest: usize, starts: &mut Starts) {
    let number = masks.number;
    if number == 0 || longest == usize::MAX {
        return;
    }
    starts.doubt(number & masks.non_ascii);
    // Bytes with `longest` numbers before them, none between.
    let mut long = number;
    for distance in 1..=longest.min(BLOCK_LEN) {
        long &= number.unbounded_shl(u32::try_from(distance).unwrap_or(u32::MAX));
    }
    if long != 0 {
        let shift = u32::try_from(longest).unwrap_or(u32::MAX);
        let mut next = first(number).unbounded_shl(shift) & long;
        while next != 0 {
            starts.starts |= next;
            next = next.unbounded_shl(shift) & long;
        }
    }
}

/// Adds the starts in runs of whitespace, `tails` being newlines that belong to the piece before: the first
/// byte of a run, the byte after its last newline, and its last character unless that is a newline.
#[inline(always)]
pub(super) fn whitespace_and_newlines(
    masks: &Masks,
    tails: u64,
    borders: u64,
    starts: &mut Starts,
) {
    let whitespace = masks.whitespace() & !tails;
    let newlines = masks.newline & !tails;
    starts.starts |= first(whitespace) | (last_characters(whitespace, borders, masks) & !newlines);
    starts.sure &= sure_before_open_whitespace(masks.whitespace());
    let others = whitespace & !newlines;
    let mut after_newline = others & (newlines << 1);
    if after_newline != 0 {
        // Where a span after a newline ends on another newline, it does not follow the last one of its run.
        let mut not_last = after_newline.wrapping_add(others) & !others & newlines & !borders;
        while not_last != 0 {
            let end = not_last.trailing_zeros();
            let before = after_newline & ((1 << end) - 1);
            after_newline &= !(1_u64 << 63).unbounded_shr(before.leading_zeros());
            not_last &= not_last - 1;
        }
        starts.starts |= after_newline;
    }
}

/// Adds the starts in runs of whitespace where newlines at the start of a run are pieces, one each: of the rest, the first
/// byte and the last character.
#[inline(always)]
pub(super) fn whitespace_and_single_newlines(masks: &Masks, borders: u64, starts: &mut Starts) {
    let whitespace = masks.whitespace();
    let firsts = first(whitespace);
    let newlines = run_from(firsts & masks.newline, masks.newline);
    let after_newlines = (newlines << 1) & whitespace;
    starts.starts |=
        firsts | newlines | after_newlines | last_characters(whitespace, borders, masks);
    starts.sure &= sure_before_open_whitespace(whitespace);
}

/// Returns the first byte of each run of `others` that starts at one of the borders or has no space before it: such a
/// space belongs to the run.
#[inline(always)]
pub(super) fn first_free(others: u64, borders: u64, masks: &Masks) -> u64 {
    (first(others) & !(masks.space << 1)) | (others & borders)
}

/// Returns the byte after the first character of each run of `others` that starts in `free`.
#[inline(always)]
fn after_first(free: u64, others: u64, masks: &Masks) -> u64 {
    let continuation = others & masks.continuation;
    (free << 1).wrapping_add(continuation) & !continuation
}

/// Returns the piece starts of the r50k family, whose pattern is in [`super::r50k`].
#[inline(always)]
pub(super) fn r50k(
    family: R50k,
    masks: &Masks,
    places: Places,
    text: &[u8],
    offset: usize,
) -> Starts {
    let (letters, numbers, whitespace) = (masks.letters(), masks.number, masks.whitespace());
    let others = !(letters | numbers | whitespace);
    // A run of letters, numbers or others includes a space before it.
    let runs = (first(letters) | first(numbers) | first(others)) & !(masks.space << 1);
    let last = last_characters(whitespace, places.borders, masks);
    let mut starts = Starts {
        starts: runs | first(whitespace) | last | places.borders | 1,
        sure: sure_before_open_whitespace(whitespace),
    };
    starts.doubt(places.doubt);
    long_numbers(masks, family.longest_number, &mut starts);
    let free = first_free(others, places.borders, masks);
    let apostrophes = masks.apostrophe & free;
    split_contractions(apostrophes, text, offset, family.contractions, &mut starts);
    starts
}

/// Makes contractions pieces of their own, at the apostrophes that start a piece.
#[inline(always)]
fn split_contractions(
    mut apostrophes: u64,
    text: &[u8],
    offset: usize,
    contractions: Contractions,
    starts: &mut Starts,
) {
    while apostrophes != 0 {
        let apostrophe = apostrophes.trailing_zeros() as usize;
        if let Some(end) = contraction_end(text, offset + apostrophe, contractions) {
            starts.join(apostrophe + 1, end - offset);
        }
        apostrophes &= apostrophes - 1;
    }
}

/// Returns the piece starts of the cl100k family, whose pattern is in [`super::cl100k`].
#[inline(always)]
pub(super) fn cl100k(
    family: Cl100k,
    masks: &Masks,
    places: Places,
    text: &[u8],
    offset: usize,
) -> Starts {
    let letters = masks.letters() | only_if(family.marks_are_letters, masks.mark);
    let others = !(letters | masks.number | masks.whitespace());
    // A run of others includes a space before it; a run without one is free.
    let free = first_free(others, places.borders, masks);
    // A single free other, or whitespace that is not a newline, leads the letters after it.
    let leading = ((masks.space | masks.other_whitespace) << 1) | after_first(free, others, masks);
    let mut starts = Starts::of(free | (first(letters) & !leading) | places.borders);
    starts.doubt(places.doubt);
    numbers(masks, family.longest_number, &mut starts);
    let tails = newlines_after(others, family.newlines_after_others, places.borders, masks);
    whitespace_and_newlines(masks, tails, places.borders, &mut starts);
    let apostrophes = masks.apostrophe & free;
    split_contractions(apostrophes, text, offset, family.contractions, &mut starts);
    starts
}

/// The characters of `\p{Han}`, where they are no part of words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Han {
    /// The bytes of those that are letters.
    letters: u64,
    /// The first bytes of others: numbers, marks and symbols, which are so only at the start of a piece.
    rare: u64,
}

impl Han {
    /// None, as where they are letters like others.
    pub(super) const NONE: Self = Self {
        letters: 0,
        rare: 0,
    };

    /// Returns those of a block.
    #[inline(always)]
    pub(super) fn in_block(classify: impl Classify, masks: &Masks, block: &Block) -> Self {
        if masks.non_ascii == 0 {
            return Self::NONE;
        }
        let (firsts, other) = classify.han(block);
        let mut han = Self {
            letters: firsts | firsts << 1 | firsts << 2,
            rare: 0,
        };
        for (code_point, bytes) in characters(block, other) {
            if is_han(code_point) {
                if bytes & masks.caseless == 0 {
                    han.rare |= bytes & !masks.continuation;
                } else {
                    han.letters |= bytes;
                }
            }
        }
        han
    }
}

/// Returns the piece starts of the o200k family, whose pattern is in [`super::o200k`].
#[inline(always)]
pub(super) fn o200k(family: O200k, masks: &Masks, han: Han, text: &[u8], offset: usize) -> Starts {
    let caseless = (masks.caseless & !han.letters) | masks.mark;
    let words = masks.upper | masks.lower | caseless;
    let outside = !(words | han.letters | masks.number | masks.whitespace());
    let tails = tails(outside, family.tail, masks);
    let others = outside & !tails;
    let free = first_free(others, 0, masks);
    let leading = ((masks.space | masks.other_whitespace) << 1) | after_first(free, others, masks);
    // Inside a word, upper case after lower case starts another.
    let inside = masks.upper & (masks.lower << 1);
    let mut starts = Starts::of(free | (first(words) & !leading) | inside | first(han.letters));
    starts.doubt(han.rare);
    // Whether upper case after a caseless character starts a word depends on what follows. A mark without a
    // letter before it may be part of a word, its leading character, or other.
    starts.doubt(
        (masks.upper & (caseless << 1)) | (masks.mark & !masks.continuation & !(words << 1)),
    );
    numbers(masks, family.longest_number, &mut starts);
    whitespace_and_newlines(masks, tails, 0, &mut starts);
    let mut apostrophes = masks.apostrophe & (words << 1);
    while apostrophes != 0 {
        let apostrophe = apostrophes.trailing_zeros() as usize;
        apostrophes &= apostrophes - 1;
        if let Some(end) = contraction_end(text, offset + apostrophe, family.contractions) {
            starts.join(apostrophe, end - offset);
            // What follows starts a piece: an apostrophe there does not follow a word.
            apostrophes &= !1_u64.unbounded_shl(u32::try_from(end - offset).unwrap_or(u32::MAX));
        }
    }
    starts
}

/// Returns the newlines right after others, up to a border, if they are `wanted`.
#[inline(always)]
pub(super) fn newlines_after(others: u64, wanted: bool, borders: u64, masks: &Masks) -> u64 {
    let newlines = masks.newline & !borders;
    run_from(only_if(wanted, newlines & (others << 1)), newlines)
}

/// Returns the tails of runs of others: newlines right after them, and newlines and slashes after these.
#[inline(always)]
fn tails(others: u64, tail: Tail, masks: &Masks) -> u64 {
    let slashes = only_if(tail == Tail::NewlinesAndSlashes, masks.slash);
    if slashes & (masks.newline << 1) == 0 {
        return newlines_after(others, tail != Tail::Nothing, 0, masks);
    }
    let tail_starts = masks.newline & (others << 1);
    let either = masks.newline | masks.slash;
    let mut tails = 0;
    let mut rest = tail_starts;
    while rest != 0 {
        let start = rest.trailing_zeros();
        let run = u64::MAX.unbounded_shr(64 - (either >> start).trailing_ones()) << start;
        tails |= run;
        rest &= !run;
    }
    tails
}
