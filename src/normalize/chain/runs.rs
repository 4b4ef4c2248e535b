//! Runs of characters of a class: `\s+` or ` {2,}`.
//!
//! Text has white space every few bytes, where a regular expression begins a search each time: that took more than half of
//! the time that the tokenizer of CLIP needed for English.

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use crate::unicode::set;
use crate::util::regex;

/// Bytes that are looked at together, by vector instructions.
const WINDOW: usize = 32;

/// The most ranges of first bytes that are compared with a window.
const MAX_RANGES: usize = 5;

/// As many characters of a class as stand in a row, if they are not too few.
#[derive(Debug)]
pub(super) struct Run {
    class: ClassUnicode,
    /// For each byte, whether a character of the class may begin with it.
    may_begin: [bool; 256],
    /// The first of those bytes in each range of them, and how many follow it; none if there are too many ranges.
    ranges: Option<[(u8, u8); MAX_RANGES]>,
    least: usize,
}

impl Run {
    /// Returns the run that an expression in the syntax of fancy-regex matches; `None` if it matches anything else.
    pub(super) fn of(expression: &str) -> Option<Self> {
        let (class, least) = set::of_run(&regex::parse(expression).ok()?)?;
        let mut may_begin = [false; 256];
        for range in class.iter() {
            let bytes = first_byte(range.start())..=first_byte(range.end());
            may_begin[bytes].fill(true);
        }
        // Bytes behind the first of a character.
        may_begin[0x80..0xC0].fill(false);
        Some(Self {
            class,
            ranges: ranges_of(&may_begin),
            may_begin,
            least,
        })
    }

    /// Returns the runs in a text, in order, except those that are the single byte `kept`.
    ///
    /// # Complexity
    /// O(text) for all of them.
    pub(super) fn all<'t>(
        &'t self,
        text: &'t str,
        kept: Option<u8>,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let start = self.start(text.as_bytes(), from, kept)?;
                let (mut end, mut count) = (start, 0);
                for character in text[start..].chars() {
                    if !set::holds(&self.class, character) {
                        break;
                    }
                    end += character.len_utf8();
                    count += 1;
                }
                let is_kept = count == 1 && kept == Some(text.as_bytes()[start]);
                from = end.max(start + 1);
                if count >= self.least && !is_kept {
                    return Some(start..end);
                }
            }
        })
    }

    /// Returns where a run may start: most text has none but single spaces, which are passed over here.
    fn start(&self, bytes: &[u8], mut at: usize, kept: Option<u8>) -> Option<usize> {
        let may_begin = |at: usize| {
            let byte = bytes.get(at);
            byte.is_some_and(|&byte| self.may_begin[usize::from(byte)])
        };
        while at < bytes.len() {
            let end = at + WINDOW;
            let window = bytes[at..].first_chunk();
            if window.is_some_and(|window| self.has_none(window, kept)) {
                at = end;
                continue;
            }
            while at < end.min(bytes.len()) {
                if !may_begin(at) {
                    at += 1;
                    continue;
                }
                if !self.passes_single(bytes[at], kept) || may_begin(at + 1) {
                    return Some(at);
                }
                at += 2;
            }
        }
        None
    }

    /// Returns whether a character that begins with this byte is passed over if it stands alone.
    fn passes_single(&self, byte: u8, kept: Option<u8>) -> bool {
        byte.is_ascii() && (self.least > 1 || kept == Some(byte))
    }

    /// Returns whether no run starts in a window, whose last byte is the first of the next one.
    fn has_none(&self, window: &[u8; WINDOW + 1], kept: Option<u8>) -> bool {
        let Some(ranges) = &self.ranges else {
            return false;
        };
        let mut begins = [false; WINDOW + 1];
        for (begins, &byte) in begins.iter_mut().zip(window) {
            for &(first, more) in ranges {
                *begins |= byte.wrapping_sub(first) <= more;
            }
        }
        let mut found = false;
        for index in 0..WINDOW {
            let starts = begins[index + 1] | !self.passes_single(window[index], kept);
            found |= begins[index] & starts;
        }
        !found
    }
}

/// Returns the ranges of bytes; `None` if there are too many. Ranges that are not needed repeat the first.
fn ranges_of(bytes: &[bool; 256]) -> Option<[(u8, u8); MAX_RANGES]> {
    let mut found: Vec<(u8, u8)> = Vec::new();
    for byte in (0..=u8::MAX).filter(|&byte| bytes[usize::from(byte)]) {
        match found.last_mut() {
            Some((first, more)) if *first + *more + 1 == byte => *more += 1,
            _ => found.push((byte, 0)),
        }
    }
    let &first = found.first()?;
    (found.len() <= MAX_RANGES).then(|| {
        found.resize(MAX_RANGES, first);
        std::array::from_fn(|index| found[index])
    })
}

/// Returns the first byte of a character.
fn first_byte(character: char) -> usize {
    let mut utf8 = [0; 4];
    character.encode_utf8(&mut utf8);
    utf8[0].into()
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use fancy_regex::Regex;

    use super::Run;
    use crate::util::random::numbers;

    #[test]
    fn runs_are_the_matches_of_the_expression() -> Result<(), Box<dyn Error>> {
        let parts = [
            "a", "é", "K", "\u{212A}", " ", "  ", "\u{A0}", "\u{2003}", "\n", "\u{85}", "中", "🙂",
            "-",
        ];
        let mut below = numbers(3);
        for pattern in [
            r"\s+",
            " {2,}",
            " +",
            "[aé-中]{3,}",
            "(?i)k+",
            "[^ -]+",
            r"\p{L}{2,}",
            "-{1,}",
        ] {
            let run = Run::of(pattern).ok_or("it is a run")?;
            let regex = Regex::new(pattern)?;
            for round in 0..2000 {
                // Long ones, too, of few different parts: windows are passed over.
                let (longest, few) = [(14, parts.len()), (120, 5), (120, 1)][round % 3];
                let count = below(longest);
                let text = (0..count).map(|_| parts[below(few)]).collect::<String>();
                let text =
                    text + parts[below(parts.len())] + &"a ".repeat(below(40)) + parts[below(9)];
                let expected = regex.find_iter(&text).map(|found| Ok(found?.range()));
                let expected = expected.collect::<Result<Vec<_>, fancy_regex::Error>>()?;
                assert_eq!(run.all(&text, None).collect::<Vec<_>>(), expected);
                let changed = expected
                    .iter()
                    .filter(|found| text[(*found).clone()] != *" ");
                assert!(run.all(&text, Some(b' ')).eq(changed.cloned()), "{pattern}");
            }
        }
        Ok(())
    }

    #[test]
    fn others_are_left_to_the_expression() {
        for pattern in [
            "a", "a+?", "a{2,3}", "a*", "(a)+", "(ab)+", "a+b", r"\b", "[ab]", "^a+",
        ] {
            assert!(Run::of(pattern).is_none(), "{pattern}");
        }
    }
}
