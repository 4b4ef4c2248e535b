//! Places inside of a piece from which its end is found as from its start: **seams**.
//!
//! Let a text have a seam, `left` before it and `right` behind it. Then
//!
//! * the ends of pieces behind the seam are those of `right` alone;
//! * the ends before it are the same whatever follows, as long as `right` begins with the same character, two of them
//!   where it is a blank;
//! * whether a piece ends at the seam itself is as well.
//!
//! With a native family, other than that of ASCII words, a seam is
//!
//! ```text
//! between two letters         not before the second letter of a contraction; in o200k only before a lower-case one
//! between letters and marks   in o200k, behind a letter and no lower-case one, and not before an upper-case one
//! behind a blank              before two of them, if no newline stands in the white space before it
//! ```
//!
//! **Letters.** An alternative that has matched a letter goes on with letters to the end of their run, from any of them: so
//! the end is that of the run, with a contraction in o200k, from the seam as from the start. Behind a complete contraction a
//! piece ends, which the left side alone decides. In o200k upper-case letters come before lower-case ones in a piece, and
//! letters without case and marks are both. Before a lower-case letter the state is that of a start with it, and the piece
//! goes on to it whatever follows. Where none has come yet, the state before a letter without case is that of a start as
//! well, and the piece goes on at least to it, as the last that may be lower-case.
//!
//! **Blanks.** White space before other text is one piece but for its last blank, or all of it up to its last newline. The
//! end is behind the seam either way, if two blanks follow; the start is that of the run if it has no newline before the
//! seam.
//!
//! Where tokens decide, a seam is between any two characters that they join.

use super::native::Rule;
use super::pattern::Family;
use super::rules;
use crate::unicode::classify::{Class, class_of_code_point};

/// Returns those of some places, in order and each with a number, that are seams of a text that itself begins at a seam or a
/// [cut](super::cuts), or is a whole one.
pub(super) fn among(
    rule: Rule<'_>,
    text: &str,
    places: impl Iterator<Item = (usize, usize)>,
) -> impl Iterator<Item = (usize, usize)> {
    let (mut known, mut run) = (0, Run::default());
    places.filter(move |&(place, _)| {
        let Some((left, right)) = text.split_at_checked(place) else {
            return false;
        };
        let beside = left.chars().next_back().zip(right.chars().next());
        let Some((before, after)) = beside.map(|(before, after)| (before.into(), after.into()))
        else {
            return false;
        };
        for character in left[known..].chars() {
            run.push(class_of_code_point(character.into()));
        }
        known = place;
        is_seam(rule, before, after, run) && goes_on(rule, right)
    })
}

/// The characters of one kind at the end of a text.
#[derive(Clone, Copy, Default)]
struct Run {
    /// Whether the white space has a newline.
    has_newline: bool,
    /// Whether the letters and marks have a letter, and a lower-case one.
    has_letter: bool,
    has_lower: bool,
}

impl Run {
    fn push(&mut self, class: Class) {
        let (is_space, is_letter) = (rules::is_whitespace(class), rules::is_letter(class));
        let is_word = is_letter || class == Class::Mark;
        self.has_newline = is_space && (self.has_newline || class == Class::Newline);
        self.has_letter = is_word && (self.has_letter || is_letter);
        self.has_lower = is_word && (self.has_lower || class == Class::Lower);
    }
}

/// Returns whether a seam before a text, whose first character it has been before, is still one.
pub(super) fn goes_on(rule: Rule<'_>, text: &str) -> bool {
    let mut characters = text.chars();
    let mut next_is_blank = || characters.next().is_some_and(is_blank);
    match rule {
        Rule::Family(_) => !next_is_blank() || next_is_blank(),
        Rule::Adjacency(_) | Rule::Classes(_) => true,
    }
}

fn is_seam(rule: Rule<'_>, before: u32, after: u32, run: Run) -> bool {
    let family = match rule {
        Rule::Family(Family::Deepseek(_)) | Rule::Classes(_) => return false,
        Rule::Adjacency(adjacency) => return adjacency.may_join(before, after),
        Rule::Family(family) => family,
    };
    let [left, right] = [before, after].map(class_of_code_point);
    let is_blank = |class| matches!(class, Class::Space | Class::OtherWhitespace);
    if is_blank(left) {
        return is_blank(right) && !run.has_newline;
    }
    let are_letters = rules::is_letter(left) && rules::is_letter(right);
    let may_go_on = are_letters && !is_contraction(before, after);
    match family {
        Family::O200k(_) if right == Class::Lower => may_go_on,
        Family::O200k(o200k) => {
            let has_no_case = matches!(right, Class::Caseless | Class::Mark);
            has_no_case && run.has_letter && !run.has_lower && !o200k.han_apart
        }
        _ => may_go_on,
    }
}

/// Returns whether two letters may be those of a contraction.
fn is_contraction(first: u32, second: u32) -> bool {
    let lower = |point| char::from_u32(point).map(|letter| letter.to_ascii_lowercase());
    matches!(
        (lower(first), lower(second)),
        (Some('r' | 'v'), Some('e')) | (Some('l'), Some('l'))
    )
}

fn is_blank(character: char) -> bool {
    let class = class_of_code_point(character.into());
    matches!(class, Class::Space | Class::OtherWhitespace)
}
