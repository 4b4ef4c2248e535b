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

mod class;
mod escape;

use regex_syntax::hir::ClassUnicode;

use crate::error::PatternError;
use crate::unicode::set;
use escape::{Escaped, WORD};

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
                let characters = self.class(0)?;
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
}
