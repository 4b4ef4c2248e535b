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

use super::pattern::Family;
use super::{Splitter, rules};
use crate::unicode::classify::{Class, class_of_code_point};

/// Returns those of some places, in order and each with a number, that are seams of a text that itself begins at a seam or a
/// [cut](super::cuts), or is a whole one.
pub(super) fn among(
    splitter: &Splitter,
    text: &str,
    places: impl Iterator<Item = (usize, usize)>,
) -> impl Iterator<Item = (usize, usize)> {
    let (mut known, mut run) = (0, Run::default());
    places.filter(move |&(place, _)| {
        let beside = || {
            let (left, right) = text.split_at_checked(place)?;
            Some((left.chars().next_back()?, right.chars().next()?))
        };
        let Some((before, after)) = beside() else {
            return false;
        };
        for character in text[known..place].chars() {
            run.push(class_of(character));
        }
        known = place;
        is_seam(splitter, before, after, run) && goes_on(splitter, &text[place..])
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

/// Returns whether a place before a text that was a seam, with the same character behind it, is still one.
pub(super) fn goes_on(splitter: &Splitter, text: &str) -> bool {
    let mut characters = text.chars();
    let mut next_is_blank = || {
        characters
            .next()
            .is_some_and(|next| rules::is_blank(class_of(next)))
    };
    !matches!(splitter, Splitter::Native(..)) || !next_is_blank() || next_is_blank()
}

fn is_seam(splitter: &Splitter, before: char, after: char, run: Run) -> bool {
    let family = match splitter {
        Splitter::Native(Family::Deepseek(_), _) => return false,
        Splitter::Native(family, _) => family,
        Splitter::Adjacent(adjacency, _) => return adjacency.may_join(before, after),
        _ => return false,
    };
    let [left, right] = [before, after].map(class_of);
    if rules::is_blank(left) {
        return rules::is_blank(right) && !run.has_newline;
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
fn is_contraction(first: char, second: char) -> bool {
    matches!(
        (first.to_ascii_lowercase(), second.to_ascii_lowercase()),
        ('r' | 'v', 'e') | ('l', 'l')
    )
}

fn class_of(character: char) -> Class {
    class_of_code_point(character.into())
}
