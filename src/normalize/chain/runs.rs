//! Runs of characters of a class: `\s+` or ` {2,}`.
//!
//! Text has white space every few bytes, where a regular expression begins a search each time: that took more than half of
//! the time that the tokenizer of CLIP needed for English.

use std::ops::Range;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// As many characters of a class as stand in a row, if they are not too few.
#[derive(Debug)]
pub(super) struct Run {
    class: ClassUnicode,
    /// For each byte, whether a character of the class may begin with it.
    may_begin: [bool; 256],
    least: usize,
}

impl Run {
    /// Returns the run that an expression matches; `None` if it matches anything else.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        let HirKind::Repetition(repeated) = hir.kind() else {
            return None;
        };
        if repeated.max.is_some() || !repeated.greedy || repeated.min == 0 {
            return None;
        }
        let class = match repeated.sub.kind() {
            HirKind::Class(Class::Unicode(class)) => class.clone(),
            HirKind::Literal(literal) => {
                let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
                let (character, None) = (characters.next()?, characters.next()) else {
                    return None;
                };
                ClassUnicode::new([ClassUnicodeRange::new(character, character)])
            }
            _ => return None,
        };
        let mut may_begin = [false; 256];
        for range in class.iter() {
            let [first, last] = [range.start(), range.end()].map(first_byte);
            may_begin[first..=last].fill(true);
        }
        // Bytes behind the first of a character.
        may_begin[0x80..0xC0].fill(false);
        let least = usize::try_from(repeated.min).ok()?;
        Some(Self {
            class,
            may_begin,
            least,
        })
    }

    /// The runs in a text, in order, but for those that are a single `left` alone.
    ///
    /// # Complexity
    /// O(text) for all of them.
    pub(super) fn all<'t>(
        &'t self,
        text: &'t str,
        left: Option<u8>,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let start = self.start(text.as_bytes(), from, left)?;
                let (mut end, mut count) = (start, 0);
                for character in text[start..].chars() {
                    if !holds(&self.class, character) {
                        break;
                    }
                    end += character.len_utf8();
                    count += 1;
                }
                let is_left = count == 1 && left == Some(text.as_bytes()[start]);
                from = end.max(start + 1);
                if count >= self.least && !is_left {
                    return Some(start..end);
                }
            }
        })
    }

    /// Returns where a run may start: most text has none but single spaces, which are passed over here.
    fn start(&self, bytes: &[u8], mut at: usize, left: Option<u8>) -> Option<usize> {
        let may_begin = |at: usize| {
            let byte = bytes.get(at);
            byte.is_some_and(|&byte| self.may_begin[usize::from(byte)])
        };
        while at < bytes.len() {
            if !may_begin(at) {
                at += 1;
                continue;
            }
            let is_passed = self.least > 1 || left == Some(bytes[at]);
            if !is_passed || !bytes[at].is_ascii() || may_begin(at + 1) {
                return Some(at);
            }
            at += 2;
        }
        None
    }
}

/// Returns the first byte of a character.
fn first_byte(character: char) -> usize {
    let mut utf8 = [0; 4];
    character.encode_utf8(&mut utf8);
    utf8[0].into()
}

/// Returns whether a class has a character.
pub(super) fn holds(class: &ClassUnicode, character: char) -> bool {
    let mut ranges = class.iter();
    ranges.any(|range| (range.start()..=range.end()).contains(&character))
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use fancy_regex::Regex;

    use super::Run;

    #[test]
    fn runs_are_the_matches_of_the_expression() -> Result<(), Box<dyn Error>> {
        let parts = [
            "a", "é", "K", "\u{212A}", " ", "  ", "\u{A0}", "\u{2003}", "\n", "\u{85}", "中", "🙂",
            "-",
        ];
        let mut state = 3_u64;
        let mut below = |most: usize| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            usize::try_from(state >> 33).expect("it has 31 bits") % most
        };
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
            let run = Run::of(&regex_syntax::parse(pattern)?).ok_or("it is a run")?;
            let regex = Regex::new(pattern)?;
            for _ in 0..2000 {
                let text: String = (0..below(14)).map(|_| parts[below(parts.len())]).collect();
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
    fn others_are_left_to_the_expression() -> Result<(), Box<dyn Error>> {
        for pattern in [
            "a", "a+?", "a{2,3}", "a*", "(a)+", "(ab)+", "a+b", r"\b", "[ab]", "^a+",
        ] {
            assert!(
                Run::of(&regex_syntax::parse(pattern)?).is_none(),
                "{pattern}"
            );
        }
        Ok(())
    }
}
