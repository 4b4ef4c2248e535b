//! Which patterns match every character of every text.

use fancy_regex::Expr;
use regex_syntax::hir::ClassUnicode;

use super::automaton::single;
use crate::util::regex;

/// Returns whether every character of every text is certainly in a match of a pattern in the syntax of fancy-regex.
///
/// It is if each character is covered by an alternative: then a match begins at each occurrence of the character
/// that no match before takes. False for some patterns that match everything all the same, such as those that look around.
///
/// # Complexity
/// O(pattern).
pub fn is_total(pattern: &str) -> bool {
    let Ok(tree) = regex::parse(pattern) else {
        return false;
    };
    let mut rest = cover(&tree).characters;
    rest.negate();
    rest.ranges().is_empty()
}

/// The characters that an expression matches wherever it stands, whatever the text.
struct Cover {
    /// It matches at least this one, at each occurrence.
    characters: ClassUnicode,
    /// It can match nothing before these.
    skips: ClassUnicode,
    /// Whether it matches anywhere.
    always: bool,
}

impl Cover {
    fn none() -> Self {
        Self {
            characters: ClassUnicode::empty(),
            skips: ClassUnicode::empty(),
            always: false,
        }
    }

    fn one(characters: ClassUnicode) -> Self {
        Self {
            characters,
            ..Self::none()
        }
    }

    /// Returns the cover of an expression that matches nothing, anywhere.
    fn nothing() -> Self {
        Self {
            characters: ClassUnicode::empty(),
            skips: every(),
            always: true,
        }
    }

    fn then(mut self, next: Self) -> Self {
        let mut behind = next.characters;
        behind.intersect(&self.skips);
        if !next.always {
            self.characters = ClassUnicode::empty();
        }
        self.characters.union(&behind);
        self.skips.intersect(&next.skips);
        self.always &= next.always;
        self
    }

    fn or(mut self, other: &Self) -> Self {
        self.characters.union(&other.characters);
        self.skips.union(&other.skips);
        self.always |= other.always;
        self
    }
}

fn every() -> ClassUnicode {
    let mut every = ClassUnicode::empty();
    every.negate();
    every
}

fn cover(expression: &Expr) -> Cover {
    if let Some(characters) = single(expression) {
        return Cover::one(characters);
    }
    match expression {
        Expr::Empty => Cover::nothing(),
        Expr::Concat(parts) => parts.iter().map(cover).fold(Cover::nothing(), Cover::then),
        Expr::Alt(parts) => parts
            .iter()
            .map(cover)
            .fold(Cover::none(), |sum, part| sum.or(&part)),
        Expr::Group(inner) => cover(inner),
        Expr::Repeat { child, lo, hi, .. } => {
            let once = if *lo <= 1 && *hi > 0 {
                cover(child)
            } else {
                Cover::none()
            };
            if *lo == 0 {
                once.or(&Cover::nothing())
            } else {
                once
            }
        }
        Expr::AtomicGroup(inner) => atomic(inner),
        _ => Cover::none(),
    }
}

/// Returns what an expression covers that gives nothing back: a set, or one that is repeated as often as it can be.
fn atomic(inner: &Expr) -> Cover {
    if let Some(characters) = single(inner) {
        return Cover::one(characters);
    }
    match inner {
        Expr::Group(inner) => atomic(inner),
        Expr::Repeat {
            child,
            lo: least @ 0..=1,
            hi: 1..,
            greedy: true,
        } => match single(child) {
            Some(characters) if *least == 0 => {
                let mut skips = characters.clone();
                skips.negate();
                Cover {
                    characters,
                    skips,
                    always: true,
                }
            }
            Some(characters) => Cover::one(characters),
            None => Cover::none(),
        },
        _ => Cover::none(),
    }
}
