//! Sets of characters, as expressions of one character mean them.

use fancy_regex::Expr;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use crate::util::regex;

/// Returns the characters that an expression in the syntax of the crate `regex` matches; none if it does not match
/// exactly one character.
pub(crate) fn of(expression: &str, caseless: bool) -> Option<ClassUnicode> {
    let mut parser = ParserBuilder::new().case_insensitive(caseless).build();
    match parser.parse(expression).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let (character, None) = (characters.next()?, characters.next()) else {
                return None;
            };
            Some(single(character))
        }
        _ => None,
    }
}

/// Returns the characters that an expression in the syntax of fancy-regex matches; none if it does not match exactly
/// one character.
pub(crate) fn of_fancy(expression: &str, caseless: bool) -> Option<ClassUnicode> {
    of_expression(&regex::parse(expression).ok()?, caseless)
}

/// As [`of_fancy`], of an expression that is parsed.
pub(crate) fn of_expression(expression: &Expr, caseless: bool) -> Option<ClassUnicode> {
    match expression {
        Expr::Delegate { inner, casei } => of(inner, *casei || caseless),
        Expr::Literal { val, casei } => of(&regex_syntax::escape(val), *casei || caseless),
        Expr::Any {
            newline,
            crlf: false,
        } => of(if *newline { "(?s:.)" } else { "." }, false),
        _ => None,
    }
}

/// Returns the characters of a run, and how many of them it has at least, if that is what an expression in the syntax of
/// fancy-regex matches: as many as stand in a row, such as `\s+` or ` {2,}`.
pub(crate) fn of_run(expression: &Expr) -> Option<(ClassUnicode, usize)> {
    match expression {
        Expr::Repeat {
            child,
            lo: least @ 1..,
            hi: usize::MAX,
            greedy: true,
        } => Some((of_expression(child, false)?, *least)),
        _ => None,
    }
}

/// Returns whether a set has a character.
pub(crate) fn holds(set: &ClassUnicode, character: char) -> bool {
    let mut ranges = set.iter();
    ranges.any(|range| (range.start()..=range.end()).contains(&character))
}

/// Returns the set of one character.
pub(crate) fn single(character: char) -> ClassUnicode {
    range(character, character)
}

/// Returns the set of the characters from one to another.
pub(crate) fn range(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

/// Returns a class in the syntax of fancy-regex that matches the characters of a set.
pub(crate) fn spelled(set: &ClassUnicode) -> String {
    use std::fmt::Write;

    if set.ranges().is_empty() {
        return r"[^\x{0}-\x{10FFFF}]".to_owned();
    }
    let mut class = String::from("[");
    for range in set.ranges() {
        let (first, last) = (u32::from(range.start()), u32::from(range.end()));
        write!(class, r"\x{{{first:X}}}").expect("a string grows");
        if last > first {
            write!(class, r"-\x{{{last:X}}}").expect("a string grows");
        }
    }
    class.push(']');
    class
}
