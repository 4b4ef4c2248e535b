//! Classes, and escapes of characters and of sets of them in classes and outside, by Oniguruma's rules.

use regex_syntax::hir::ClassUnicode;

use super::Translation;
use crate::error::PatternError;
use crate::split::ranges;

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

impl Translation<'_> {
    /// Consumes a class and returns its characters.
    pub(super) fn class(&mut self) -> Result<ClassUnicode, PatternError> {
        self.take(1);
        let negated = self.rest.starts_with('^');
        if negated {
            self.take(1);
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
                    union.union(&self.class()?);
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
        ranges::of(expression, false).ok_or_else(|| self.unknown())
    }

    /// Consumes a character, a range or an escape of a class.
    fn class_item(&mut self) -> Result<ClassUnicode, PatternError> {
        let first = match self.class_character()? {
            Escaped::Set(characters) => return Ok(characters),
            Escaped::Character(character) => character,
        };
        if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
            return Ok(ranges::single(first));
        }
        self.take(1);
        let is_character = !self.rest.starts_with(['[', ']', '-']) && !self.rest.starts_with("&&");
        match self.class_character()? {
            Escaped::Character(last) if is_character && first <= last => {
                Ok(ranges::range(first, last))
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
                let mut characters = ranges::of(expression, false).ok_or_else(|| self.unknown())?;
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
        let characters = ranges::of(&format!(r"\p{{{plain}}}"), false).filter(|_| known);
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
