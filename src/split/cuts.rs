//! Offsets where a text can be cut in two so that the pieces of both halves are the pieces of the whole.
//!
//! A cut is after a letter and before anything but a letter, a mark or an apostrophe; or after a number and
//! before anything but a number. This holds in all native families, with any parameters; where the script Han is
//! apart from words, not before its characters.
//!
//! **A piece ends there.** The pieces of a native family cover the whole text, so the character before the
//! cut is in one. Each alternative of the patterns in `r50k.rs`, `cl100k.rs`, `o200k.rs` and `deepseek.rs` that
//! matches a letter continues with letters and marks alone; in o200k also with a contraction, which is an
//! apostrophe and letters. An alternative that matches a number continues with numbers alone. The character
//! after the cut is none of these. Borders only end more pieces.
//!
//! **The right side does not depend on the left side.** No alternative has a look-behind. A border depends on the
//! characters beside it alone; one before a line end also on line ends before it, which a letter or number is not.
//!
//! **The left side does not depend on the right side.** For that, an alternative would have to look at the
//! end of the text or beyond the cut while it matches a piece before the cut. Runs of whitespace and of other
//! characters do so at their end, but they end at the latest before the letter or number at the cut. Runs of
//! letters and numbers end at the cut, and the end of the text ends them as well. Contractions need letters
//! or an apostrophe beyond the cut to be longer or different.

use std::iter;
use std::ops::Range;

use super::cursor::class_at;
use super::pattern::Family;
use super::rules;
use crate::unicode::character::{decode, first};
use crate::unicode::classify::{Class, class_of_code_point};
use crate::unicode::property::is_han;
use crate::unicode::utf8::Character;

/// Returns the cuts in `range`, in order.
pub(super) fn within(
    family: Family,
    text: &str,
    range: Range<usize>,
) -> impl Iterator<Item = usize> {
    // Start from the last character before the range.
    let mut offset = (0..range.start.min(text.len()))
        .rev()
        .find(|&offset| text.is_char_boundary(offset))
        .unwrap_or(0);
    let text = text.as_bytes();
    let mut before = None;
    iter::from_fn(move || {
        while offset < range.end
            && let Some((class, length)) = class_at(text, offset)
        {
            let here = offset;
            let apostrophe = text[here] == b'\'';
            let is_cut = before.is_some_and(|before| separates(before, class, apostrophe))
                && may_start(family, first(&text[here..]));
            before = Some(class);
            offset += length;
            if is_cut && here >= range.start {
                return Some(here);
            }
        }
        None
    })
}

/// Returns the cuts in `range`, last first, in bytes that need not be UTF-8: a cut is between two whole
/// characters.
pub(super) fn backwards(
    family: Family,
    text: &[u8],
    range: Range<usize>,
) -> impl Iterator<Item = usize> {
    let range = range.start..range.end.min(text.len());
    range.rev().filter(move |&offset| {
        let following = text[offset];
        let is_whole = following.is_ascii() || decode(&text[offset..]).is_some();
        is_whole
            && may_start(family, first(&text[offset..]))
            && class_at(text, offset).is_some_and(|(after, _)| {
                (1..=offset.min(4))
                    .filter_map(|length| Some((length, class_at(text, offset - length)?)))
                    .any(|(length, (before, its_length))| {
                        length == its_length && separates(before, after, following == b'\'')
                    })
            })
    })
}

/// Returns the index of the first cut of [`within`], in characters that are not yet encoded as UTF-8. Never
/// beside half of a surrogate pair, which may be half of a character of any class.
pub(super) fn first_among<C: Character>(
    family: Family,
    characters: &[C],
    range: Range<usize>,
) -> Option<usize> {
    let is_surrogate = |number| (0xD800..0xE000).contains(&number);
    let range = range.start.max(1)..range.end.min(characters.len());
    for index in range {
        if let [left, right] = &characters[index - 1..=index] {
            let (left, right) = (left.number(), right.number());
            if is_surrogate(left) || is_surrogate(right) {
                continue;
            }
            let apostrophe = right == u32::from('\'');
            let (before, after) = (class_of_code_point(left), class_of_code_point(right));
            if separates(before, after, apostrophe) && may_start(family, Some(right)) {
                return Some(index);
            }
        }
    }
    None
}

/// Returns whether a character may be the first one after a cut: not one of the script Han if runs of it are pieces, as
/// it is then in one with letters and numbers of that script.
fn may_start(family: Family, character: Option<u32>) -> bool {
    match family {
        Family::O200k(o200k) if o200k.han_apart => !character.is_some_and(is_han),
        _ => true,
    }
}

/// Returns whether a character of class `before` is never in one piece with a following character of class `after`.
fn separates(before: Class, after: Class, apostrophe: bool) -> bool {
    if rules::is_letter(before) {
        !rules::is_letter(after) && after != Class::Mark && !apostrophe
    } else {
        rules::is_number(before) && !rules::is_number(after)
    }
}
