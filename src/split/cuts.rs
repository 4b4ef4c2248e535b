//! Places where a text can be cut in two so that the pieces of both halves are the pieces of the whole. Two characters
//! that stand beside each other decide, whatever stands around them.
//!
//! With a native family, any of its parameters, a cut is
//!
//! ```text
//! behind a letter             before anything but a letter, a mark or an apostrophe
//! behind a number             before anything but a number
//! behind a mark or another    before a blank: white space other than a newline
//! behind a newline            before what is neither white space nor a slash, where newlines end a piece
//! behind a lower-case letter  before an upper-case one, where case ends a piece
//! ```
//!
//! Where the script Han is apart from words, none is before its characters.
//!
//! **A piece ends there.** The pieces of a native family cover the whole text, so the character before the
//! cut is in one. Each alternative of the patterns in `o200k.rs` and `deepseek.rs` that
//! matches a letter continues with letters and marks alone; in o200k also with a contraction, which is an
//! apostrophe and letters, and not with an upper-case letter behind a lower-case one. An alternative that matches a number
//! continues with numbers alone; one that matches a mark or another character with letters, marks, others, newlines and
//! slashes. Newlines that end a piece are followed by newlines and slashes alone, by blanks only if more newlines come
//! behind these. The character after the cut is none of these. The second letters of contractions, which may have any case,
//! are left out. Borders only end more pieces.
//!
//! **The right side does not depend on the left side.** No alternative has a look-behind. A border depends on the
//! characters beside it alone; one before a line end also on line ends before it, which are cut from nothing where there
//! are such borders.
//!
//! **The left side does not depend on the right side.** For that, an alternative would have to look at the
//! end of the text or beyond the cut while it matches a piece before the cut. Runs of white space do so at their end: blanks
//! before the cut belong to a piece that the character before the cut ends. A run of newlines is whole at the cut; that
//! white space at the end of a text is one piece gives it the same end. Runs of
//! letters, numbers and others end at the cut, and the end of the text ends them as well. Contractions need letters
//! or an apostrophe beyond the cut to be longer or different.
//!
//! Where classes of characters decide everything, a cut is between any two that are not of one piece; where tokens do,
//! between any two that they do not join. Of other patterns, their automata tell (`automaton/apart.rs`).

use std::ops::Range;

use super::automaton::Beside;
use super::pattern::Family;
use super::{Splitter, rules};
use crate::unicode::character::decode;
use crate::unicode::classify::{Class, class_of_code_point};
use crate::unicode::property::is_han;
use crate::unicode::utf8::Character;

/// Returns the cuts in `range`, in order.
pub(super) fn within(
    splitter: &Splitter,
    text: &str,
    range: Range<usize>,
) -> impl Iterator<Item = usize> {
    // Start from the last character before the range.
    let mut start = range.start.saturating_sub(1).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let characters = text[start..].char_indices();
    let mut before = None;
    characters
        .map(move |(offset, character)| (start + offset, character))
        .take_while(move |&(offset, _)| offset < range.end)
        .filter(move |&(offset, after)| {
            let before = before.replace(after);
            offset >= range.start && before.is_some_and(|before| separates(splitter, before, after))
        })
        .map(|(offset, _)| offset)
}

/// Returns the cuts in `range`, last first, in bytes that need not be UTF-8: a cut is between two whole
/// characters.
pub(super) fn backwards(
    splitter: &Splitter,
    text: &[u8],
    range: Range<usize>,
) -> impl Iterator<Item = usize> {
    let range = range.start..range.end.min(text.len());
    let character = |offset: usize| match text[offset] {
        byte if byte.is_ascii() => Some((char::from(byte), 1)),
        _ => {
            let (character, length) = decode(&text[offset..])?;
            Some((char::from_u32(character)?, length))
        }
    };
    range.rev().filter(move |&offset| {
        character(offset).is_some_and(|(after, _)| {
            (1..=offset.min(4))
                .filter_map(|length| Some((length, character(offset - length)?)))
                .any(|(length, (before, its_length))| {
                    length == its_length && separates(splitter, before, after)
                })
        })
    })
}

/// Returns the index of the first cut of [`within`], in characters that are not yet encoded as UTF-8. Never
/// beside half of a surrogate pair, which may be half of a character of any class.
pub(super) fn first_among<C: Character>(
    splitter: &Splitter,
    characters: &[C],
    range: Range<usize>,
) -> Option<usize> {
    let mut range = range.start.max(1)..range.end.min(characters.len());
    range.find(|&index| {
        let beside = [index - 1, index].map(|index| char::from_u32(characters[index].number()));
        // No number of half a surrogate pair is that of a character.
        matches!(beside, [Some(before), Some(after)] if separates(splitter, before, after))
    })
}

/// Returns whether a text can be cut between two characters, wherever they stand beside each other.
fn separates(splitter: &Splitter, before: char, after: char) -> bool {
    match splitter {
        Splitter::Native(family, _) => family_separates(*family, before, after),
        Splitter::Adjacent(adjacency, _) => !adjacency.may_join(before, after),
        Splitter::Classes(classes, _) => classes.separates(before.into(), after.into()),
        Splitter::Layers(layers, _) => layers.separates(before.into(), after.into()),
        // What no match has is in no piece.
        Splitter::General(general) => general.beside(before, after) != Beside::Joined,
        Splitter::Cascade(cascade) => cascade.separates(before, after),
        Splitter::External(_) => false,
    }
}

/// As [`separates`], for a native family.
pub(super) fn family_separates(family: Family, before: char, after: char) -> bool {
    // It is in one piece with letters and numbers of that script.
    if matches!(family, Family::O200k(o200k) if o200k.han_apart) && is_han(after.into()) {
        return false;
    }
    let [left, right] = [before, after].map(|each| class_of_code_point(each.into()));
    match left {
        Class::Lower if right == Class::Upper => {
            matches!(family, Family::O200k(_)) && !matches!(after, 'L' | 'E')
        }
        Class::Upper | Class::Lower | Class::Caseless => {
            !rules::is_letter(right) && right != Class::Mark && after != '\''
        }
        Class::Number => right != Class::Number,
        Class::Mark | Class::Other => rules::is_blank(right),
        Class::Newline => {
            let ends_pieces = match family {
                Family::R50k(_) => false,
                Family::Cl100k(family) => !family.borders.line_ends,
                Family::O200k(_) => true,
                Family::Deepseek(family) => !family.single_newlines,
            };
            ends_pieces && !rules::is_whitespace(right) && after != '/'
        }
        Class::Space | Class::OtherWhitespace => false,
    }
}
