//! The rules that the pattern families share: whitespace, contractions, the length of numbers.
//!
//! Each rule takes the offset where a piece starts and returns the offset where it ends, as the regular
//! expression would.

use super::cursor::Haystack;
use crate::checkpoint::Interrupted;
use crate::unicode::classify::Class;

/// Which contractions (`'s`, `'t`, `'re`, `'ve`, `'m`, `'ll`, `'d`) are split off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contractions {
    /// None.
    No,
    /// In lower case only.
    LowerCase,
    /// In any case; by Unicode case folding `ſ` (U+017F) counts as `s`.
    AnyCase,
}

/// The characters after a run of others that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    Nothing,
    /// Newlines.
    Newlines,
    /// Newlines and slashes.
    NewlinesAndSlashes,
}

impl Tail {
    /// Returns the tail that is newlines, or nothing.
    pub(super) fn of(newlines: bool) -> Self {
        if newlines {
            Self::Newlines
        } else {
            Self::Nothing
        }
    }

    /// Returns the end of the tail of a run that ends at `others`.
    #[inline]
    pub(super) fn end(self, haystack: Haystack<'_>, others: usize) -> Result<usize, Interrupted> {
        if self == Self::Nothing {
            return Ok(others);
        }
        let slashes = self == Self::NewlinesAndSlashes;
        haystack.run_end_by(others, |class, at| {
            class == Class::Newline || (slashes && haystack.text[at.start] == b'/')
        })
    }
}

/// `\s`.
pub(super) fn is_whitespace(class: Class) -> bool {
    matches!(
        class,
        Class::Space | Class::Newline | Class::OtherWhitespace
    )
}

/// `[^\S\r\n]`.
pub(super) fn is_blank(class: Class) -> bool {
    matches!(class, Class::Space | Class::OtherWhitespace)
}

/// `\p{L}`.
pub(super) fn is_letter(class: Class) -> bool {
    matches!(class, Class::Upper | Class::Lower | Class::Caseless)
}

/// `\p{N}`.
pub(super) fn is_number(class: Class) -> bool {
    class == Class::Number
}

/// `[^\s\p{L}\p{N}]`.
pub(super) fn is_other(class: Class) -> bool {
    matches!(class, Class::Other | Class::Mark)
}

/// Returns the end of the contraction that starts at `offset`, if there is one.
#[inline]
pub(super) fn contraction_end(
    text: &[u8],
    offset: usize,
    contractions: Contractions,
) -> Option<usize> {
    if text.get(offset) != Some(&b'\'') {
        return None;
    }
    let fold = |byte: &u8| match contractions {
        Contractions::AnyCase => byte.to_ascii_lowercase(),
        Contractions::LowerCase | Contractions::No => *byte,
    };
    let first = text.get(offset + 1).map(fold);
    let second = text.get(offset + 2).map(fold);
    match (contractions, first, second) {
        (Contractions::No, _, _) => None,
        (_, Some(b's' | b'd' | b'm' | b't'), _) => Some(offset + 2),
        (_, Some(b'l'), Some(b'l'))
        | (_, Some(b'v' | b'r'), Some(b'e'))
        // U+017F
        | (Contractions::AnyCase, Some(0xC5), Some(0xBF)) => Some(offset + 3),
        _ => None,
    }
}

/// Returns the end of what `\s+(?!\S)|\s` matches at `offset`, where a run of whitespace starts that ends at
/// `run`: all of a run at the end of the text, otherwise all but its last character, or a single character.
#[inline]
pub(super) fn whitespace_end(haystack: Haystack<'_>, offset: usize, run: usize) -> usize {
    if haystack.ends_at(run) {
        return run;
    }
    let last = last_character(haystack.text, offset, run);
    if last > offset { last } else { run }
}

/// As [`whitespace_end`] where `\s*[\r\n]` comes first: a run with newlines ends after its last one. With
/// `trailing_first`, `\s+$` comes before both: a run at the end of the text is one piece, with newlines or
/// without.
#[inline]
pub(super) fn whitespace_or_newlines_end(
    haystack: Haystack<'_>,
    offset: usize,
    trailing_first: bool,
) -> Result<usize, Interrupted> {
    let mut newlines = None;
    let run = haystack.run_end_by(offset, |class, at| {
        if class == Class::Newline {
            newlines = Some(at.end);
        }
        is_whitespace(class)
    })?;
    if trailing_first && haystack.ends_at(run) {
        return Ok(run);
    }
    Ok(newlines.unwrap_or_else(|| whitespace_end(haystack, offset, run)))
}

/// Returns where the last character of the whitespace `offset..run` starts.
fn last_character(text: &[u8], offset: usize, run: usize) -> usize {
    let continuation = |byte: &u8| byte & 0xC0 == 0x80;
    let tail = text[offset..run]
        .iter()
        .rev()
        .take_while(|byte| continuation(byte))
        .count();
    run - tail - 1
}
