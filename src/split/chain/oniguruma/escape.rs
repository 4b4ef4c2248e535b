//! Escapes of characters and of sets of them, in classes and outside.

use regex_syntax::hir::ClassUnicode;

use super::Translation;
use crate::error::PatternError;
use crate::unicode::set;

/// Properties that have the same characters in both.
const PROPERTIES: &str = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp \
    Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew \
    Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan";

/// Word characters outside of classes, and in classes.
pub(super) const WORD: &str = r"[\w\xB2\xB3\xB9\xBC-\xBE&&[^\x{200C}\x{200D}]]";
pub(super) const WORD_IN_CLASS: &str = r"[\w&&[^\x{200C}\x{200D}]]";

/// A character or a set of characters: what an escape matches.
pub(super) enum Escaped {
    Character(char),
    Set(ClassUnicode),
}

impl Translation<'_> {
    /// Consumes an escape of one character, in a class or outside.
    pub(super) fn escaped(&mut self, word: &str) -> Result<Escaped, PatternError> {
        let kind = self.rest[1..]
            .chars()
            .next()
            .ok_or_else(|| self.unknown())?;
        let control = |code: u8| Escaped::Character(char::from(code));
        let found = match kind {
            'n' => control(b'\n'),
            'r' => control(b'\r'),
            't' => control(b'\t'),
            'f' => control(0x0C),
            'v' => control(0x0B),
            'a' => control(0x07),
            'e' => control(0x1B),
            's' | 'd' | 'w' | 'h' | 'S' | 'D' | 'W' | 'H' => {
                let expression = match kind.to_ascii_lowercase() {
                    's' => r"\s",
                    'd' => r"\d",
                    'w' => word,
                    _ => "[0-9A-Fa-f]",
                };
                let mut characters = set::of(expression, false).ok_or_else(|| self.unknown())?;
                if kind.is_ascii_uppercase() {
                    characters.negate();
                }
                Escaped::Set(characters)
            }
            'p' | 'P' => return self.property(kind == 'P'),
            'x' | 'u' => return self.code_point(kind),
            _ if kind.is_ascii_punctuation() || kind == ' ' => Escaped::Character(kind),
            _ => return Err(self.unknown()),
        };
        self.take(1 + kind.len_utf8());
        Ok(found)
    }

    /// Consumes a property.
    fn property(&mut self, negated: bool) -> Result<Escaped, PatternError> {
        let name = self.rest[2..]
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'));
        let (name, _) = name.ok_or_else(|| self.unknown())?;
        let (plain, inverted) = match name.strip_prefix('^') {
            Some(plain) => (plain, !negated),
            None => (name, negated),
        };
        let known = PROPERTIES.split_whitespace().any(|known| known == plain);
        let characters = set::of(&format!(r"\p{{{plain}}}"), false).filter(|_| known);
        let mut characters = characters.ok_or_else(|| {
            self.refused(&format!(
                r"the property \p{{{name}}} is not known to be the same"
            ))
        })?;
        if inverted {
            characters.negate();
        }
        self.take(4 + name.len());
        Ok(Escaped::Set(characters))
    }

    /// Consumes `\xHH`, `\x{H}` or `\uHHHH`.
    fn code_point(&mut self, kind: char) -> Result<Escaped, PatternError> {
        let digits = &self.rest[2..];
        let (digits, length) = match digits
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
        {
            Some((digits, _)) if kind == 'x' => (digits, digits.len() + 4),
            _ => {
                let count = if kind == 'x' { 2 } else { 4 };
                (
                    digits.get(..count).ok_or_else(|| self.unknown())?,
                    count + 2,
                )
            }
        };
        let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| hexadecimal);
        // Two digits are a byte to Oniguruma.
        let code = code.filter(|&code| code < 0x80 || length != 4);
        let character = code
            .and_then(char::from_u32)
            .ok_or_else(|| self.unknown())?;
        self.take(length);
        Ok(Escaped::Character(character))
    }
}
