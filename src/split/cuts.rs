//! Where can a text be cut in two so that the pieces of both halves are the pieces of the whole?
//!
//! After a letter, before anything but a letter, a mark or an apostrophe; after a number, before anything but a number.
//! So it is in all three native families, whatever their parameters.
//!
//! **A piece ends there.** The pieces of a native family are the whole text, so the character before the cut is in one.
//! Each alternative of the patterns in `r50k.rs`, `cl100k.rs` and `o200k.rs` that takes a letter goes on with letters
//! alone; in o200k with marks too, and with a contraction, which is an apostrophe and letters. What takes a number takes
//! numbers alone after it. What comes after the cut is none of these.
//!
//! **Its right side does not know of its left side.** No alternative looks behind itself.
//!
//! **Its left side does not know of its right side.** For that, an alternative would have to look at the end of the text
//! or beyond the cut while a piece before it is found. Runs of blanks and of other characters do, at their end, but
//! they end at the latest before the letter or number at the cut. Runs of letters and numbers end at the cut, and the
//! end of the text ends them as well. Contractions need letters or an apostrophe beyond the cut to be longer or
//! other than they are.

use std::iter;
use std::ops::Range;

use super::cursor::{class_at, decode};
use super::rules;
use crate::unicode::classify::{Class, class_of_code_point};
use crate::unicode::utf8::Character;

/// The cuts at the places in `range`, in order.
pub(super) fn within(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
    // From the last character that starts before the range.
    let mut place = (0..range.start.min(text.len()))
        .rev()
        .find(|&place| text.is_char_boundary(place))
        .unwrap_or(0);
    let text = text.as_bytes();
    let mut before = None;
    iter::from_fn(move || {
        while place < range.end
            && let Some((class, length)) = class_at(text, place)
        {
            let here = place;
            let apostrophe = text[here] == b'\'';
            let parted = before.is_some_and(|before| parts(before, class, apostrophe));
            before = Some(class);
            place += length;
            if parted && here >= range.start {
                return Some(here);
            }
        }
        None
    })
}

/// As [`within`], last first, in bytes that need not be UTF-8: a cut is between two whole characters.
pub(super) fn backwards(text: &[u8], range: Range<usize>) -> impl Iterator<Item = usize> {
    let range = range.start..range.end.min(text.len());
    range.rev().filter(|&offset| {
        let following = text[offset];
        let is_whole = following.is_ascii() || decode(&text[offset..]).is_some();
        is_whole
            && class_at(text, offset).is_some_and(|(after, _)| {
                (1..=offset.min(4))
                    .filter_map(|length| Some((length, class_at(text, offset - length)?)))
                    .any(|(length, (before, its_length))| {
                        length == its_length && parts(before, after, following == b'\'')
                    })
            })
    })
}

/// As [`within`], the first place in characters that are yet to become text. Half of a surrogate pair may be half of
/// anything.
pub(super) fn first_among<C: Character>(characters: &[C], range: Range<usize>) -> Option<usize> {
    let is_surrogate = |number| (0xD800..0xE000).contains(&number);
    let range = range.start.max(1)..range.end.min(characters.len());
    for place in range {
        if let [first, second] = characters.get(place - 1..=place)? {
            let (first, second) = (first.number(), second.number());
            if is_surrogate(first) || is_surrogate(second) {
                continue;
            }
            let apostrophe = second == u32::from('\'');
            let (before, after) = (class_of_code_point(first), class_of_code_point(second));
            if parts(before, after, apostrophe) {
                return Some(place);
            }
        }
    }
    None
}

/// Whether a character of class `before` and one of class `after` that follows it are never in one piece.
fn parts(before: Class, after: Class, apostrophe: bool) -> bool {
    if rules::is_letter(before) {
        !rules::is_letter(after) && after != Class::Mark && !apostrophe
    } else {
        rules::is_number(before) && !rules::is_number(after)
    }
}
