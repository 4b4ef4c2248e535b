//! Classes, by Oniguruma's rules.

use regex_syntax::hir::ClassUnicode;

use super::Translation;
use super::escape::{Escaped, WORD_IN_CLASS};
use crate::error::PatternError;
use crate::unicode::set;

/// Names of classes in classes, and what they stand for.
const NAMED: [(&str, &str); 11] = [
    ("[:alpha:]", r"\p{Alphabetic}"),
    ("[:upper:]", r"\p{Uppercase}"),
    ("[:lower:]", r"\p{Lowercase}"),
    ("[:digit:]", r"\d"),
    ("[:alnum:]", r"[\p{Alphabetic}\d]"),
    ("[:punct:]", r"[\p{P}\p{S}]"),
    ("[:space:]", r"\s"),
    ("[:blank:]", r"[\p{Zs}\t]"),
    ("[:cntrl:]", r"\p{Cc}"),
    ("[:xdigit:]", r"[0-9A-Fa-f]"),
    ("[:word:]", WORD_IN_CLASS),
];

/// The maximum depth of nested classes, which are read by recursion.
const MOST_DEPTH: usize = 50;

impl Translation<'_> {
    /// Consumes a class that is nested in `depth` others, and returns its characters.
    pub(super) fn class(&mut self, depth: usize) -> Result<ClassUnicode, PatternError> {
        if depth > MOST_DEPTH {
            return Err(self.refused(&format!("more than {MOST_DEPTH} classes in each other")));
        }
        self.take(1);
        let negated = self.rest.starts_with('^');
        if negated {
            self.take(1);
        }
        // Oniguruma ignores case in the outermost class alone, where the other case of what is left out is in again.
        if negated && depth > 0 && self.caseless() {
            return Err(self.refused("a negated class in a class where case is ignored"));
        }
        if self.rest.starts_with(']') {
            return Err(self.refused("a class that starts with `]`"));
        }
        let mut whole: Option<ClassUnicode> = None;
        let mut union = ClassUnicode::empty();
        let mut is_first = true;
        loop {
            let next = self.rest.chars().next();
            match next.ok_or_else(|| self.refused("a class does not end"))? {
                ']' => break,
                '[' if self.rest.starts_with("[:") => union.union(&self.named_class()?),
                '[' => {
                    self.verbatim = false;
                    union.union(&self.class(depth + 1)?);
                }
                '&' if self.rest.starts_with("&&") => {
                    if self.caseless() {
                        return Err(self.refused("`&&` where case is ignored"));
                    }
                    self.verbatim = false;
                    self.take(2);
                    let before = std::mem::replace(&mut union, ClassUnicode::empty());
                    whole = Some(intersection(whole, before));
                    is_first = true;
                    continue;
                }
                '-' if !is_first && !self.rest.starts_with("-]") => {
                    return Err(
                        self.refused("a `-` in a class that is neither in a range nor at an end")
                    );
                }
                '-' if self.rest.starts_with("--") => return Err(self.unknown()),
                _ => union.union(&self.class_item()?),
            }
            is_first = false;
        }
        self.take(1);
        let mut whole = intersection(whole, union);
        if self.caseless() {
            whole.case_fold_simple();
        }
        if negated {
            whole.negate();
        }
        Ok(whole)
    }

    /// Consumes a class that has a name.
    fn named_class(&mut self) -> Result<ClassUnicode, PatternError> {
        let named = NAMED.iter().find(|(name, _)| self.rest.starts_with(name));
        let (name, expression) = named
            .filter(|_| !self.caseless())
            .ok_or_else(|| self.unknown())?;
        self.take(name.len());
        set::of(expression, false).ok_or_else(|| self.unknown())
    }

    /// Consumes a character, a range or an escape of a class.
    fn class_item(&mut self) -> Result<ClassUnicode, PatternError> {
        let first = match self.class_character()? {
            Escaped::Set(characters) => return Ok(characters),
            Escaped::Character(character) => character,
        };
        if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
            return Ok(set::single(first));
        }
        self.take(1);
        let is_character = !self.rest.starts_with(['[', ']', '-']) && !self.rest.starts_with("&&");
        match self.class_character()? {
            Escaped::Character(last) if is_character && first <= last => {
                Ok(set::range(first, last))
            }
            _ => Err(self.refused("a range in a class without two ends in order")),
        }
    }

    fn class_character(&mut self) -> Result<Escaped, PatternError> {
        let next = self.rest.chars().next();
        let next = next.ok_or_else(|| self.refused("a class does not end"))?;
        let found = if next == '\\' {
            self.escaped(WORD_IN_CLASS)?
        } else {
            self.take(next.len_utf8());
            Escaped::Character(next)
        };
        match found {
            Escaped::Character(character) if self.caseless() => self.check_case(character)?,
            Escaped::Set(_) if self.caseless() => {
                return Err(self.refused("a class of others where case is ignored"));
            }
            _ => {}
        }
        Ok(found)
    }
}

/// Returns the characters of `set` that are in `others`, if that is given.
fn intersection(others: Option<ClassUnicode>, mut set: ClassUnicode) -> ClassUnicode {
    if let Some(others) = others {
        set.intersect(&others);
    }
    set
}
