//! The rules that the pattern families share: blanks, contractions, how long a number may be.
//!
//! Each rule takes the place where a piece starts and answers where it ends, as the regular expression would; where that
//! may be far away, the checkpoint is asked on the way.

use super::cursor::run_end_by;
use crate::checkpoint::{Checkpoint, Interrupted};
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

/// Everything that `White_Space` is.
pub(super) fn is_blank(class: Class) -> bool {
    matches!(class, Class::Space | Class::Newline | Class::Blank)
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

/// The end of the contraction that starts at `place`, if one does.
#[inline]
pub(super) fn contraction_end(
    text: &[u8],
    place: usize,
    contractions: Contractions,
) -> Option<usize> {
    if text.get(place) != Some(&b'\'') {
        return None;
    }
    let fold = |byte: &u8| match contractions {
        Contractions::AnyCase => byte.to_ascii_lowercase(),
        Contractions::LowerCase | Contractions::No => *byte,
    };
    let first = text.get(place + 1).map(fold);
    let second = text.get(place + 2).map(fold);
    match (contractions, first, second) {
        (Contractions::No, _, _) => None,
        (_, Some(b's' | b'd' | b'm' | b't'), _) => Some(place + 2),
        (_, Some(b'l'), Some(b'l'))
        | (_, Some(b'v' | b'r'), Some(b'e'))
        // U+017F
        | (Contractions::AnyCase, Some(0xC5), Some(0xBF)) => Some(place + 3),
        _ => None,
    }
}

/// What `\s+(?!\S)|\s` takes at `place`, which must be blank, `run` being where the blanks end: all of a run at the
/// end of the text, else all but its last character, or a lone character itself.
#[inline]
pub(super) fn blanks_end(text: &[u8], place: usize, run: usize) -> usize {
    if run == text.len() {
        return run;
    }
    let last = last_character(text, place, run);
    if last > place { last } else { run }
}

/// As [`blanks_end`] where `\s*[\r\n]` comes first: a run with newlines is taken up to its last one. With
/// `trailing_first`, `\s+$` comes before both: a run at the end of the text is one piece, newlines or not.
#[inline]
pub(super) fn blanks_or_newlines_end(
    text: &[u8],
    place: usize,
    trailing_first: bool,
    checkpoint: &dyn Checkpoint,
) -> Result<usize, Interrupted> {
    let mut newlines = None;
    let run = run_end_by(text, place, checkpoint, |class, end| {
        if class == Class::Newline {
            newlines = Some(end);
        }
        is_blank(class)
    })?;
    if trailing_first && run == text.len() {
        return Ok(run);
    }
    Ok(newlines.unwrap_or_else(|| blanks_end(text, place, run)))
}

/// Where the last character of the blank run `place..run` starts.
fn last_character(text: &[u8], place: usize, run: usize) -> usize {
    let continuation = |byte: &u8| byte & 0xC0 == 0x80;
    let tail = text[place..run]
        .iter()
        .rev()
        .take_while(|byte| continuation(byte))
        .count();
    run - tail - 1
}
