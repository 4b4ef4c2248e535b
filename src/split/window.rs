//! Piece starts from class masks: 64 bytes of text at once, without looking at characters one by one.
//!
//! A window starts where a piece starts. What a pattern matches from there on does not depend on the text before, so no
//! state is carried from window to window: each answers which bytes of it start pieces, as far as it can be sure, and
//! the next one starts at the last of these. Where a window cannot be sure of a single further start, the
//! [scanner](super) of the family takes one piece instead. The scanners are also the arbiter: tests compare both.
//!
//! A rule speaks of bytes by masks: `x << 1` is "the byte before is x". A run of `x` that starts at the bits `s` ends
//! where the carry of `s + x` comes out.

#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

use super::masks::Masks;
use super::rules::{Contractions, contraction_end};
use crate::util::block::BLOCK_LEN;

/// Which bytes of a window start pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts {
    /// Bytes that start a piece. Bit 0 is set.
    starts: u64,
    /// Bytes that the window can be sure of, from the first on.
    sure: u64,
}

impl Starts {
    /// The sure starts after the first.
    #[inline(always)]
    pub(super) fn further(self) -> u64 {
        self.starts & self.sure & !1
    }

    /// Keeps starts before the first bit of `doubt` only.
    #[inline(always)]
    fn doubt(&mut self, doubt: u64) {
        self.sure &= (doubt & doubt.wrapping_neg()).wrapping_sub(1);
    }

    /// Makes `place..end` one piece, or the end of one, and starts another at `end`.
    #[inline(always)]
    fn join(&mut self, place: usize, end: usize) {
        if end >= BLOCK_LEN {
            self.sure &= !u64::MAX.unbounded_shl(u32::try_from(place).unwrap_or(u32::MAX));
        } else {
            let after = u64::MAX << end;
            let until = u64::MAX << place;
            self.starts = (self.starts & !(until & !after)) | (1 << end);
        }
    }
}

/// The first byte of each run of `x`.
#[inline(always)]
fn first(x: u64) -> u64 {
    x & !(x << 1)
}

/// The bytes of the runs of `x` that contain a bit of `starts`, from there on; at most one bit of `starts` in a run.
#[inline(always)]
fn run_from(starts: u64, x: u64) -> u64 {
    x & !starts.wrapping_add(x)
}

/// The first byte of the last character of each run of blanks that ends inside the window.
#[inline(always)]
fn last_characters(blanks: u64, masks: &Masks) -> u64 {
    let ends = blanks & !(blanks >> 1) & !(1 << (BLOCK_LEN - 1));
    let mut last = ends & !masks.continuation;
    let mut inside = ends & masks.continuation;
    while inside != 0 {
        inside >>= 1;
        last |= inside & !masks.continuation;
        inside &= masks.continuation;
    }
    last
}

/// Starts from the first byte of a run of blanks on that reaches the end of the window cannot be told.
#[inline(always)]
fn sure_before_open_blanks(blanks: u64) -> u64 {
    // The run is the leading ones; its own first byte is still sure.
    let open = (!blanks).leading_zeros();
    if open == 0 {
        u64::MAX
    } else {
        u64::MAX.unbounded_shr(open - 1)
    }
}

/// Starts in numbers: the first byte of each run, and again after every `longest` characters.
#[inline(always)]
fn numbers(masks: &Masks, longest: usize, starts: &mut Starts) {
    let number = masks.number;
    starts.starts |= first(number);
    if number == 0 || longest == usize::MAX {
        return;
    }
    starts.doubt(number & masks.high);
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

/// Starts in runs of blanks, `tails` being newlines that belong to the piece before: the first byte of a run, what
/// follows its last newline, and its last character unless that is a newline.
#[inline(always)]
fn blanks_and_newlines(masks: &Masks, tails: u64, starts: &mut Starts) {
    let blanks = masks.blanks() & !tails;
    let newlines = masks.newline & !tails;
    starts.starts |= first(blanks) | (last_characters(blanks, masks) & !newlines);
    starts.sure &= sure_before_open_blanks(masks.blanks());
    let others = blanks & !newlines;
    let mut after_newline = others & (newlines << 1);
    if after_newline != 0 {
        // Where each stretch after a newline ends; on another newline, it was not the last.
        let mut not_last = after_newline.wrapping_add(others) & !others & newlines;
        while not_last != 0 {
            let end = not_last.trailing_zeros();
            let before = after_newline & ((1 << end) - 1);
            after_newline &= !(1_u64 << 63).unbounded_shr(before.leading_zeros());
            not_last &= not_last - 1;
        }
        starts.starts |= after_newline;
    }
}

/// Where the character after the first of each run of `others` that starts in `free` is.
#[inline(always)]
fn after_first(free: u64, others: u64, masks: &Masks) -> u64 {
    let continuation = others & masks.continuation;
    (free << 1).wrapping_add(continuation) & !continuation
}

/// The r50k family: see [`super::r50k`] for its pattern.
#[inline(always)]
pub(super) fn r50k(masks: &Masks, text: &[u8], place: usize, contractions: Contractions) -> Starts {
    let (letters, numbers, blanks) = (masks.letters(), masks.number, masks.blanks());
    let others = !(letters | numbers | blanks);
    // A run of letters, numbers or others takes a space before it along.
    let runs = (first(letters) | first(numbers) | first(others)) & !(masks.space << 1);
    let last = last_characters(blanks, masks);
    let mut starts = Starts {
        starts: runs | first(blanks) | last | 1,
        sure: sure_before_open_blanks(blanks),
    };
    let free = first(others) & !(masks.space << 1);
    split_contractions(
        masks.apostrophe & free,
        text,
        place,
        contractions,
        &mut starts,
    );
    starts
}

/// Contractions that are pieces of their own, at the apostrophes that start a piece.
#[inline(always)]
fn split_contractions(
    mut apostrophes: u64,
    text: &[u8],
    place: usize,
    contractions: Contractions,
    starts: &mut Starts,
) {
    while apostrophes != 0 {
        let apostrophe = apostrophes.trailing_zeros() as usize;
        if let Some(end) = contraction_end(text, place + apostrophe, contractions) {
            starts.join(apostrophe + 1, end - place);
        }
        apostrophes &= apostrophes - 1;
    }
}

/// The cl100k family: see [`super::cl100k`] for its pattern.
#[inline(always)]
pub(super) fn cl100k(
    masks: &Masks,
    text: &[u8],
    place: usize,
    contractions: Contractions,
    longest_number: usize,
) -> Starts {
    let letters = masks.letters();
    let others = !(letters | masks.number | masks.blanks());
    // Others take a space before them along; those that do not are free.
    let free = first(others) & !(masks.space << 1);
    // A single free other, or any blank but a newline, goes with the letters after it.
    let leading = ((masks.space | masks.blank) << 1) | after_first(free, others, masks);
    let mut starts = Starts {
        starts: free | (first(letters) & !leading) | 1,
        sure: u64::MAX,
    };
    numbers(masks, longest_number, &mut starts);
    // Newlines right after others belong to them.
    let tails = run_from(masks.newline & (others << 1), masks.newline);
    blanks_and_newlines(masks, tails, &mut starts);
    split_contractions(
        masks.apostrophe & free,
        text,
        place,
        contractions,
        &mut starts,
    );
    starts
}

/// The o200k family: see [`super::o200k`] for its pattern.
#[inline(always)]
pub(super) fn o200k(
    masks: &Masks,
    text: &[u8],
    place: usize,
    contractions: Contractions,
    longest_number: usize,
) -> Starts {
    let both = masks.caseless | masks.mark;
    let words = masks.upper | masks.lower | both;
    let outside = !(words | masks.number | masks.blanks());
    let tails = newlines_and_slashes(masks, outside);
    let others = outside & !tails;
    let free = first(others) & !(masks.space << 1);
    let leading = ((masks.space | masks.blank) << 1) | after_first(free, others, masks);
    let mut starts = Starts {
        // Inside a word, upper case after lower case starts another.
        starts: free | (first(words) & !leading) | (masks.upper & (masks.lower << 1)) | 1,
        sure: u64::MAX,
    };
    // Whether upper case after a character of both cases starts a word depends on what follows; a mark that no letter
    // precedes is word, leading character or other.
    starts.doubt((masks.upper & (both << 1)) | (masks.mark & !masks.continuation & !(words << 1)));
    numbers(masks, longest_number, &mut starts);
    blanks_and_newlines(masks, tails, &mut starts);
    let mut apostrophes = masks.apostrophe & (words << 1);
    while apostrophes != 0 {
        let apostrophe = apostrophes.trailing_zeros() as usize;
        apostrophes &= apostrophes - 1;
        if let Some(end) = contraction_end(text, place + apostrophe, contractions) {
            starts.join(apostrophe, end - place);
            // What follows starts a piece: an apostrophe there is not the end of a word.
            apostrophes &= !1_u64.unbounded_shl(u32::try_from(end - place).unwrap_or(u32::MAX));
        }
    }
    starts
}

/// Newlines right after others, and newlines and slashes after these.
#[inline(always)]
fn newlines_and_slashes(masks: &Masks, others: u64) -> u64 {
    let tail_starts = masks.newline & (others << 1);
    if masks.slash & (masks.newline << 1) == 0 {
        return run_from(tail_starts, masks.newline);
    }
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
