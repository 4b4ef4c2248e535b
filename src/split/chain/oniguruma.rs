//! Translation of regular expressions from Oniguruma's syntax, as `tokenizers` uses it, to that of fancy-regex.
//!
//! What means the same in both keeps its spelling. What may mean something else is translated, or refused by name:
//!
//! - `{1,3}+` is not a possessive quantifier, but repeats `{1,3}`.
//! - `(?m:` makes the dot match line feeds; `^` and `$` are the start and the end of any line.
//! - Classes are evaluated by Oniguruma's rules, where a class in a class is a union, and spelled out if the same
//!   spelling means another set in fancy-regex.
//! - `\w` and `\b` take the numbers of Latin-1 for word characters, except in classes, and neither joiner.
//! - Where case is ignored, only ASCII is accepted, and no letters that together fold to one character, as `ss` do.
//!
//! Both have the properties of Unicode 16: tests compare every character for all categories and scripts that are
//! accepted.

use regex_syntax::hir::ClassUnicode;

use crate::error::PatternError;
use crate::split::set;

/// Properties that have the same characters in both.
const PROPERTIES: &str = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp \
    Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew \
    Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil Telugu Thai Tibetan";

/// Word characters outside of classes, and in classes.
const WORD: &str = r"[\w\xB2\xB3\xB9\xBC-\xBE&&[^\x{200C}\x{200D}]]";
const WORD_IN_CLASS: &str = r"[\w&&[^\x{200C}\x{200D}]]";

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

/// Pairs of letters that fold to one character.
const FOLDED_PAIRS: [[char; 2]; 5] = [['s', 's'], ['s', 't'], ['f', 'f'], ['f', 'i'], ['f', 'l']];

/// Returns the pattern of fancy-regex that matches the same.
///
/// # Errors
/// [`PatternError`] if it contains what has no certain translation.
pub fn translate(pattern: &str) -> Result<String, PatternError> {
    Ok(Translation::of(pattern)?.out)
}

/// As [`translate`], only if the spelling can be kept, but for quantifiers, the end of the text and groups in which the dot
/// matches line feeds.
pub fn translate_verbatim(pattern: &str) -> Option<String> {
    let translation = Translation::of(pattern).ok()?;
    translation.verbatim.then_some(translation.out)
}

/// The element that a quantifier would repeat.
#[derive(Clone, Copy)]
enum Atom {
    /// Nothing.
    None,
    /// The one that starts here in the output.
    From(usize),
    /// A quantifier has repeated it already.
    Repeated(usize),
}

/// An open group.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Where it starts in the output.
    start: usize,
    /// Whether it ignores case.
    caseless: bool,
    /// Whether a quantifier may follow it.
    looks: bool,
}

struct Translation<'p> {
    pattern: &'p str,
    rest: &'p str,
    out: String,
    groups: Vec<Group>,
    atom: Atom,
    /// The letter before, where case is ignored, in lower case.
    letter: Option<char>,
    /// Whether the spelling is kept, see [`translate_verbatim`].
    verbatim: bool,
}

impl<'p> Translation<'p> {
    fn of(pattern: &'p str) -> Result<Self, PatternError> {
        let mut translation = Self {
            pattern,
            rest: pattern,
            out: String::new(),
            groups: vec![Group::default()],
            atom: Atom::None,
            letter: None,
            verbatim: true,
        };
        while let Some(character) = translation.rest.chars().next() {
            translation.element(character)?;
        }
        if translation.groups.len() > 1 {
            return Err(translation.refused("a group does not end"));
        }
        Ok(translation)
    }

    fn refused(&self, why: &str) -> PatternError {
        PatternError::Unsupported {
            pattern: self.pattern.to_owned(),
            reason: format!("{why}; it cannot be translated from Oniguruma's syntax"),
        }
    }

    /// Returns an error that quotes what comes next.
    fn unknown(&self) -> PatternError {
        let next: String = self.rest.chars().take(10).collect();
        self.refused(&format!("nothing like {next:?} is known to mean the same"))
    }

    fn caseless(&self) -> bool {
        self.groups.last().is_some_and(|group| group.caseless)
    }

    /// Consumes `length` bytes.
    fn take(&mut self, length: usize) -> &'p str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Writes what a quantifier may follow.
    fn atom(&mut self, text: &str) {
        self.atom = Atom::From(self.out.len());
        self.out.push_str(text);
    }

    /// Writes what is spelled in another way.
    fn other(&mut self, text: &str) {
        self.verbatim = false;
        self.out.push_str(text);
    }

    /// Consumes an element and writes its translation.
    fn element(&mut self, next: char) -> Result<(), PatternError> {
        match next {
            '(' => self.open(),
            ')' => self.close(),
            '|' => {
                let bar = self.take(1);
                self.out.push_str(bar);
                (self.atom, self.letter) = (Atom::None, None);
                Ok(())
            }
            '*' | '+' | '?' => {
                let bounds = self.take(1);
                self.quantify(bounds)
            }
            '{' => {
                let bounds = self.interval().ok_or_else(|| self.unknown())?;
                self.quantify(bounds)
            }
            '$' => {
                self.take(1);
                // Behind all whitespace, line feeds too, each end of a line is that of the text.
                if self.out.ends_with(r"\s++") {
                    self.out.push('$');
                } else {
                    self.other("(?m:$)");
                }
                self.atom = Atom::None;
                Ok(())
            }
            '^' => {
                self.take(1);
                // Not behind a line feed that ends the text.
                self.other(r"(?:\A|(?<=\n)(?!\z))");
                self.atom = Atom::None;
                Ok(())
            }
            '.' => {
                let dot = self.take(1);
                self.atom(dot);
                self.letter = None;
                Ok(())
            }
            '[' => {
                let before = self.rest;
                let characters = self.class()?;
                let spelling = &before[..before.len() - self.rest.len()];
                self.set(spelling, &characters);
                Ok(())
            }
            '\\' => self.escape(),
            _ => {
                let character = self.take(next.len_utf8());
                // Only what opens a class or a quantifier has to be escaped.
                if "]}".contains(next) {
                    self.verbatim = false;
                    return self.literal(next, &regex_syntax::escape(character));
                }
                self.literal(next, character)
            }
        }
    }

    /// Writes one character.
    fn literal(&mut self, character: char, spelling: &str) -> Result<(), PatternError> {
        if self.caseless() {
            self.check_case(character)?;
            let lower = character.to_ascii_lowercase();
            if self
                .letter
                .is_some_and(|before| FOLDED_PAIRS.contains(&[before, lower]))
            {
                return Err(
                    self.refused("letters that fold to one character where case is ignored")
                );
            }
            self.letter = Some(lower);
        } else {
            self.letter = None;
        }
        self.atom(spelling);
        Ok(())
    }

    /// Writes a set of characters, by its spelling if that means the same.
    fn set(&mut self, spelling: &str, characters: &ClassUnicode) {
        self.letter = None;
        if set::of_fancy(spelling, self.caseless()).as_ref() == Some(characters) {
            self.atom(spelling);
        } else {
            let group = if self.caseless() { "(?-i:" } else { "" };
            let end = if self.caseless() { ")" } else { "" };
            self.verbatim = false;
            self.atom(&format!("{group}{}{end}", set::spelled(characters)));
        }
    }

    /// Refuses a character whose case may be ignored otherwise.
    fn check_case(&self, character: char) -> Result<(), PatternError> {
        if character.is_ascii() {
            Ok(())
        } else {
            Err(self.refused(&format!("{character:?} where case is ignored")))
        }
    }

    /// Consumes the start of a group.
    fn open(&mut self) -> Result<(), PatternError> {
        const STARTS: [(&str, &str); 9] = [
            ("(?:", "(?:"),
            ("(?=", "(?="),
            ("(?!", "(?!"),
            ("(?<=", "(?<="),
            ("(?<!", "(?<!"),
            ("(?>", "(?>"),
            ("(?i:", "(?i:"),
            ("(?-i:", "(?-i:"),
            ("(?m:", "(?s:"),
        ];
        let known = STARTS
            .iter()
            .find(|(theirs, _)| self.rest.starts_with(theirs));
        let (theirs, ours) = match known {
            Some(start) => *start,
            // Flags to the end of the group hold for alternatives too, so that only the first element can set them.
            None if self.rest.starts_with("(?i)") && self.out.is_empty() => {
                self.take(4);
                self.other("(?i)");
                self.groups[0].caseless = true;
                return Ok(());
            }
            None if self.rest.starts_with("(?") || self.rest.starts_with("(*") => {
                return Err(self.unknown());
            }
            None => ("(", "("),
        };
        self.verbatim &= theirs != "(?-i:";
        self.take(theirs.len());
        self.groups.push(Group {
            start: self.out.len(),
            caseless: theirs == "(?i:" || (self.caseless() && theirs != "(?-i:"),
            looks: ["(?=", "(?!", "(?<=", "(?<!"].contains(&theirs),
        });
        self.out.push_str(ours);
        self.atom = Atom::None;
        Ok(())
    }

    /// Consumes the end of a group.
    fn close(&mut self) -> Result<(), PatternError> {
        let end = self.take(1);
        let group = self.groups.pop();
        let Some(group) = group.filter(|_| !self.groups.is_empty()) else {
            return Err(self.refused("a group ends that has not begun"));
        };
        let inner = group.start + "(?>".len();
        let repeats = matches!(self.atom, Atom::Repeated(start) if start == inner);
        let repeated_on = self.rest.starts_with(['*', '+', '?', '{']);
        if self.out[group.start..].starts_with("(?>")
            && repeats
            && self.out.ends_with('}')
            && !repeated_on
        {
            // The other spelling of a possessive quantifier.
            self.out.replace_range(group.start..inner, "");
            self.out.push('+');
            self.atom = Atom::Repeated(group.start);
            return Ok(());
        }
        self.out.push_str(end);
        self.atom = if group.looks {
            Atom::None
        } else {
            Atom::From(group.start)
        };
        Ok(())
    }

    /// Consumes `{n}`, `{n,}` or `{n,m}`.
    fn interval(&mut self) -> Option<&'p str> {
        let end = self.rest.find('}')?;
        let (least, most) = match self.rest[1..end].split_once(',') {
            Some((least, most)) => (least, Some(most)),
            None => (&self.rest[1..end], None),
        };
        let number =
            |digits: &str| digits.len() <= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let ordered = match (least.parse::<u32>(), most.map(str::parse::<u32>)) {
            (Ok(least), Some(Ok(most))) => least <= most,
            (Ok(_), _) => true,
            _ => false,
        };
        (number(least) && most.is_none_or(number) && ordered).then(|| self.take(end + 1))
    }

    /// Writes a quantifier, of which `bounds` are consumed.
    fn quantify(&mut self, bounds: &str) -> Result<(), PatternError> {
        let twice = "a quantifier that follows another, or nothing that it could repeat";
        let Atom::From(start) = self.atom else {
            return Err(self.refused(twice));
        };
        if self.caseless() && self.letter.is_some_and(|letter| "sf".contains(letter)) {
            return Err(self.refused("a repeated letter that folds where case is ignored"));
        }
        let is_interval = bounds.starts_with('{');
        self.letter = None;
        self.out.push_str(bounds);
        match self.rest.chars().next() {
            Some('?') if is_interval && !bounds.contains(',') => {
                return Err(self.refused("a quantifier like `{3}?`"));
            }
            Some('+') if is_interval => {
                self.take(1);
                self.out.insert_str(start, "(?:");
                self.out.push_str(")+");
            }
            Some('?' | '+') => {
                let mode = self.take(1);
                self.out.push_str(mode);
            }
            _ => {}
        }
        self.atom = Atom::Repeated(start);
        Ok(())
    }

    /// Consumes a backslash and what belongs to it.
    fn escape(&mut self) -> Result<(), PatternError> {
        let before = self.rest;
        let [boundary, inside] = [("!", "="), ("=", "!")].map(|(behind, ahead)| {
            format!("(?:(?<={WORD})(?{behind}{WORD})|(?<!{WORD})(?{ahead}{WORD}))")
        });
        for (theirs, ours) in [
            (r"\A", r"\A"),
            (r"\z", "$"),
            (r"\b", &boundary),
            (r"\B", &inside),
        ] {
            if self.rest.starts_with(theirs) {
                self.verbatim &= theirs == r"\z";
                self.take(theirs.len());
                self.out.push_str(ours);
                self.atom = Atom::None;
                return Ok(());
            }
        }
        let characters = self.escaped(WORD)?;
        let spelling = &before[..before.len() - self.rest.len()];
        match characters {
            Escaped::Character(character) => {
                let same = set::of_fancy(spelling, false) == Some(set::single(character));
                self.verbatim &= same;
                let escaped = regex_syntax::escape(character.encode_utf8(&mut [0; 4]));
                self.literal(character, if same { spelling } else { &escaped })
            }
            Escaped::Set(characters) => {
                if self.caseless() {
                    return Err(self.refused(&format!("{spelling} where case is ignored")));
                }
                self.set(spelling, &characters);
                Ok(())
            }
        }
    }

    /// Consumes an escape of one character, in a class or outside.
    fn escaped(&mut self, word: &str) -> Result<Escaped, PatternError> {
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

    /// Consumes a class and returns its characters.
    fn class(&mut self) -> Result<ClassUnicode, PatternError> {
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

/// A match of an escape.
enum Escaped {
    Character(char),
    Set(ClassUnicode),
}

/// Returns the characters of `set` that are in `others`, if that is given.
fn intersection(others: Option<ClassUnicode>, mut set: ClassUnicode) -> ClassUnicode {
    if let Some(others) = others {
        set.intersect(&others);
    }
    set
}
