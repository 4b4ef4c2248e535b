//! The deepseek family (`DeepSeek` V3, Spark). Numbers and `[一-龥぀-ゟ゠-ヿ]+` are split off first, then what is between:
//! ```text
//! [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*
//! |\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//! It does not match controls and unassigned characters except before a word. Those between two matches are a piece.

#![expect(
    clippy::inline_always,
    reason = "compiled anew for each tier, with its instructions"
)]

use super::borders::{Borders, Numbers, new_numbers};
use super::cursor::Haystack;
use super::masks::{Classify, Masks, characters};
use super::rules::{self, Tail};
use super::starts::{self, Starts};
use crate::checkpoint::Interrupted;
use crate::unicode::character;
use crate::unicode::classify::Class;
use crate::unicode::property::{is_new_number, is_sign};
use crate::util::block::Block;

/// The borders of texts.
pub(super) const BORDERS: Borders = Borders {
    numbers: Numbers::Apart,
    cjk: true,
    line_ends: false,
};

/// The parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deepseek {
    /// The most characters of a number in one piece.
    pub longest_number: usize,
    /// Whether each number that Unicode 17 added is a piece, by a step after the pattern.
    pub new_numbers: bool,
    /// Whether newlines after a run of punctuation and symbols belong to it.
    pub newlines_after_signs: bool,
    /// Whether a newline at the start of a piece is one, `[\r\n]`.
    pub single_newlines: bool,
}

/// The kinds of characters that the pattern distinguishes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Letters and marks.
    Word,
    Number,
    /// A number that a later step splits off.
    NewNumber,
    /// Punctuation and symbols.
    Sign,
    Space,
    OtherWhitespace,
    Newline,
    /// Characters in pieces without a match, or before a word.
    Rest,
}

impl Deepseek {
    fn kind(self, class: Class, text: &[u8]) -> Kind {
        let is = |property: fn(u32) -> bool| character::first(text).is_some_and(property);
        match class {
            Class::Upper | Class::Lower | Class::Caseless | Class::Mark => Kind::Word,
            Class::Number => Kind::Number,
            Class::Space => Kind::Space,
            Class::OtherWhitespace => Kind::OtherWhitespace,
            Class::Newline => Kind::Newline,
            Class::Other if is(is_sign) => Kind::Sign,
            Class::Other if self.new_numbers && is(is_new_number) => Kind::NewNumber,
            Class::Other => Kind::Rest,
        }
    }

    /// Returns the end of the piece that starts at `offset`, which is inside `text`.
    ///
    /// # Errors
    /// [`Interrupted`] from the checkpoint, passed during long pieces.
    pub(super) fn piece_end(self, text: &[u8], offset: usize) -> Result<usize, Interrupted> {
        let haystack = Haystack::new(text, offset, BORDERS);
        let kind_at = |offset: usize| {
            let (class, length) = haystack.class_at(offset)?;
            Some((self.kind(class, &text[offset..]), length))
        };
        let run_end = |offset: usize, kind: Kind| {
            haystack.run_end_by(offset, |class, at| {
                self.kind(class, &text[at.start..]) == kind
            })
        };
        let Some((first, length)) = kind_at(offset) else {
            return Ok(text.len());
        };
        let next = offset + length;
        let second = kind_at(next).map(|(kind, _)| kind);
        match (first, second) {
            (Kind::Number, _) => {
                haystack.short_run_end(offset, self.longest_number, rules::is_number)
            }
            (Kind::NewNumber, _) => Ok(next),
            (Kind::Word, _) => run_end(offset, Kind::Word),
            (Kind::Sign, Some(Kind::Word))
                if text[offset].is_ascii() && text[next].is_ascii_alphabetic() =>
            {
                haystack.run_end_by(next, |_, at| text[at.start].is_ascii_alphabetic())
            }
            (Kind::Space | Kind::OtherWhitespace | Kind::Rest, Some(Kind::Word)) => {
                run_end(next, Kind::Word)
            }
            (Kind::Sign, _) | (Kind::Space, Some(Kind::Sign)) => {
                Tail::of(self.newlines_after_signs).end(haystack, run_end(next, Kind::Sign)?)
            }
            (Kind::Rest, _) => {
                let mut last = offset;
                let run = haystack.run_end_by(offset, |class, at| {
                    let is_rest = self.kind(class, &text[at.start..]) == Kind::Rest;
                    last = if is_rest { at.start } else { last };
                    is_rest
                })?;
                // The last of several leads a word.
                let leads = kind_at(run).is_some_and(|(kind, _)| kind == Kind::Word);
                Ok(if leads { last } else { run })
            }
            (Kind::Newline, _) if self.single_newlines => Ok(next),
            _ if self.single_newlines => {
                let run = haystack.run_end(offset, rules::is_whitespace)?;
                Ok(rules::whitespace_end(haystack, offset, run))
            }
            _ => rules::whitespace_or_newlines_end(haystack, offset, false),
        }
    }

    /// Returns the piece starts of a block.
    #[inline(always)]
    pub(super) fn starts(self, classify: impl Classify, masks: &Masks, block: &Block) -> Starts {
        let (_, places) = BORDERS.in_block(classify, masks, block);
        let borders = places.borders;
        let words = masks.letters() | masks.mark;
        let signs = signs(classify, masks, block);
        let new = if self.new_numbers && masks.non_ascii != 0 {
            new_numbers(masks, block)
        } else {
            0
        };
        let rest = masks.others() & !(signs | new);
        let free = starts::first_free(signs, borders, masks);
        // A free sign leads letters of ASCII, at the end of which another word may start.
        let ascii_letters = (masks.upper | masks.lower) & !masks.non_ascii;
        let led = ((free & !masks.non_ascii) << 1) & ascii_letters;
        let after_led = led.wrapping_add(ascii_letters) & !ascii_letters & words;
        let leading = ((masks.space | masks.other_whitespace | rest) << 1) | led;
        let word_starts = (starts::first(words) & !leading) | after_led;
        let last_rest = rest & (words >> 1) & !(borders >> 1);
        let rest_starts = starts::first(rest) | starts::first_bytes(last_rest, masks);
        // Each new number, and what follows it.
        let around_new = (new | new << 1) & !masks.continuation;
        let mut starts = Starts::of(free | word_starts | rest_starts | around_new | borders);
        // Whether the last character of the block leads a word.
        starts.doubt(starts::first_bytes(rest & (1 << 63), masks));
        starts::numbers(masks, self.longest_number, &mut starts);
        if self.single_newlines {
            starts::whitespace_and_single_newlines(masks, borders, &mut starts);
        } else {
            let tails = starts::newlines_after(signs, self.newlines_after_signs, borders, masks);
            starts::whitespace_and_newlines(masks, tails, borders, &mut starts);
        }
        starts
    }
}

/// Returns the bytes of punctuation and symbols.
#[inline(always)]
fn signs(classify: impl Classify, masks: &Masks, block: &Block) -> u64 {
    let others = masks.others();
    let ascii = others & classify.graphic(block);
    characters(block, others & masks.non_ascii & !masks.continuation)
        .filter(|&(code_point, _)| is_sign(code_point))
        .fold(ascii, |signs, (_, bytes)| signs | bytes)
}
