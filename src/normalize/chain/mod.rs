//! Normalizes texts as the normalizers of Hugging Face's `tokenizers` do, one after the other.
//!
//! Each character of the output stands for one character of the text: of a character that was composed, the first of
//! its parts; of what a character was decomposed into or what it was replaced with, that character. Each step says so
//! of its own input (`Output`), and the chain follows these origins back to the text.
//!
//! A step that would change nothing is left out, so most texts are only read ([`Chain::keeps`]).

mod bert;
mod forms;
mod map;
mod precompiled;
mod replaced;
mod runs;
mod table;
mod windows;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use forms::Normal;
use map::CharacterMap;
use replaced::Replaced;
use table::Form;
use unicode_normalization_alignments::char::is_combining_mark;

use crate::error::{EncodeError, NormalizerError};
use crate::util::memory::{self, Growable};
use crate::util::regex::Regex;

pub use precompiled::Precompiled;

/// A normalizer of a chain.
#[derive(Clone, Debug)]
pub enum Step {
    /// Canonical composition, of Unicode 9.
    Nfc,
    /// Canonical decomposition, of Unicode 9.
    Nfd,
    /// Compatibility composition, of Unicode 9.
    Nfkc,
    /// Compatibility decomposition, of Unicode 9.
    Nfkd,
    /// Each character becomes its lower case, one or more characters, whatever stands beside it.
    Lowercase,
    /// Combining marks, of Unicode 9, are removed.
    StripAccents,
    /// BERT's cleaning: controls, format characters, private characters and U+FFFD are removed, and white space becomes
    /// spaces.
    CleanText,
    /// A space is put before and after each character that Chinese is written with.
    IsolateHan,
    /// Nonspacing marks, of Unicode 8, are removed.
    StripNonspacing,
    /// SentencePiece's rules for machine translation: controls are removed, and white space and format characters become
    /// spaces.
    Nmt,
    /// The map of characters of a SentencePiece model.
    Precompiled(Arc<Precompiled>),
    /// White space is removed at the ends.
    Strip {
        /// At the start.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// This is put in front of a text that is not empty.
    Prepend(String),
    /// As [`Prepend`](Self::Prepend), but it stands for nothing of the text. A chain says that it stands for the first
    /// character: who wants spans puts it there.
    Insert(String),
    /// Each match becomes `content`.
    Replace {
        /// The text or pattern that is searched for.
        find: Find,
        /// The text that stands there then.
        content: String,
    },
}

impl Step {
    /// Returns the maximum length of the output, given that of the input. Normal forms and letter case do not count.
    pub fn most(&self, input: Growth) -> Growth {
        match self {
            Self::Precompiled(map) => input.times(map.growth()),
            Self::Prepend(text) | Self::Insert(text) => Growth {
                added: input.added.saturating_add(text.len()),
                ..input
            },
            Self::Replace { find, content } => {
                let found = match find {
                    Find::Text(text) => text.len(),
                    Find::Regex(_) => 1,
                };
                input.times(content.len().div_ceil(found.max(1)).max(1))
            }
            _ => input,
        }
    }
}

/// How long a text becomes at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Bytes for each byte of the text.
    pub factor: usize,
    /// Bytes besides, whatever its length.
    pub added: usize,
}

impl Growth {
    /// That of a text as it is.
    pub const NONE: Self = Self {
        factor: 1,
        added: 0,
    };

    /// Returns the length of the text that a text of one byte becomes: no other grows by a larger factor.
    pub fn of_a_byte(self) -> usize {
        self.factor.saturating_add(self.added)
    }

    fn times(self, factor: usize) -> Self {
        Self {
            factor: self.factor.saturating_mul(factor),
            added: self.added.saturating_mul(factor),
        }
    }
}

/// A text or pattern to replace: its matches from left to right that do not overlap.
#[derive(Clone, Debug)]
pub enum Find {
    /// This text.
    Text(String),
    /// The matches of this, never the empty string.
    Regex(Box<Regex>),
}

/// Normalizers that run one after the other.
#[derive(Debug, Default)]
pub struct Chain {
    steps: Vec<Prepared>,
    /// The text that the first steps make of each character, if they change each by itself.
    map: Option<CharacterMap>,
}

/// A step with its tables.
#[derive(Debug)]
enum Prepared {
    Form(Normal),
    Lowercase,
    StripAccents,
    CleanText,
    IsolateHan,
    StripNonspacing,
    Nmt,
    Precompiled(Arc<Precompiled>),
    Strip { left: bool, right: bool },
    Prepend(String),
    Replace(Box<Replaced>),
}

impl Chain {
    /// Creates a chain of steps.
    ///
    /// # Errors
    /// If a step puts nothing in front, or searches for the empty string.
    pub fn new(steps: Vec<Step>) -> Result<Self, NormalizerError> {
        let steps = steps.into_iter().map(Prepared::new);
        let steps: Vec<Prepared> = steps.collect::<Result<_, _>>()?;
        let map = CharacterMap::of(&steps);
        Ok(Self { steps, map })
    }

    /// Returns whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns whether a text may be divided before any character of ASCII: its parts are normalized to those of the
    /// whole.
    ///
    /// No such character is changed by what stands before it, nor is a character that normal forms make of one and marks
    /// after it. What replaces a character may be.
    pub fn is_local(&self) -> bool {
        let mut replaces = false;
        self.steps.iter().all(|step| match step {
            Prepared::Form(_) => !replaces,
            Prepared::Lowercase | Prepared::StripAccents | Prepared::StripNonspacing => true,
            // Without what stood between them, marks may change places, or be composed with a letter.
            Prepared::CleanText | Prepared::IsolateHan | Prepared::Nmt => {
                replaces = true;
                true
            }
            Prepared::Replace(search) => {
                replaces = true;
                search.is_by_character()
            }
            Prepared::Strip { .. } | Prepared::Prepend(_) | Prepared::Precompiled(_) => false,
        })
    }

    /// Returns whether a text may be divided between two characters, which stay as they are and beside each other: its
    /// parts are normalized to those of the whole, the right one as one that [starts no text](Self::normalize_part). False for
    /// steps that look further, or that change one of the two.
    pub fn keeps_apart(&self, before: char, after: char) -> bool {
        self.steps.iter().all(|step| match step {
            // What follows is not known: "e" may become "é".
            Prepared::Form(form) => form.is_ordinary(before) && form.is_fixed(after),
            Prepared::Replace(replaced) => replaced.keeps_apart(before, after),
            Prepared::CleanText => [before, after].map(bert::cleaned) == [before, after].map(Some),
            Prepared::IsolateHan => !bert::is_han(before) && !bert::is_han(after),
            Prepared::Nmt => [before, after].map(nmt) == [before, after].map(Some),
            Prepared::Precompiled(map) => map.is_ordinary(before) && map.is_fixed(after),
            Prepared::StripNonspacing => ![before, after].into_iter().any(bert::is_nonspacing),
            Prepared::StripAccents => ![before, after].into_iter().any(is_combining_mark),
            Prepared::Lowercase => is_lower(before) && is_lower(after),
            // Neither side is white space alone, and what follows does not start a text.
            Prepared::Strip { .. } => !before.is_whitespace(),
            Prepared::Prepend(_) => false,
        })
    }

    /// Returns whether the start of a text may become something else than the same behind other text.
    pub fn changes_start(&self) -> bool {
        let strips = |step: &Prepared| matches!(step, Prepared::Strip { left: true, .. });
        self.steps.iter().any(strips)
    }

    /// Returns whether spans in the original may be those of other characters: of a map, the library counts what it leaves
    /// out at another place than where it stood.
    pub fn shifts_spans(&self) -> bool {
        let shifts = |step: &Prepared| matches!(step, Prepared::Precompiled(_));
        self.steps.iter().any(shifts)
    }

    /// Returns whether `text` stays as it is, if a text starts there. False, too, if it is replaced by the same.
    pub fn keeps(&self, text: &str) -> bool {
        let mapped = self.map.as_ref();
        let mapped = mapped.and_then(|map| Some((map.length(), map.keeps(&self.steps, text)?)));
        let (known, keeps) = mapped.unwrap_or((0, true));
        keeps && self.steps[known..].iter().all(|step| step.keeps(text))
    }

    /// Appends the normalized `text` to `out`. If `spans` are wanted, appends for each byte of output the span of the
    /// character of `text` that it stands for.
    ///
    /// # Errors
    /// [`EncodeError::Normalizer`] if a regular expression fails on this text, or matches the empty string in it.
    pub fn normalize(
        &self,
        text: &str,
        out: &mut String,
        spans: Option<&mut Vec<Range<usize>>>,
    ) -> Result<(), EncodeError> {
        self.normalize_part(text, true, out, spans)
    }

    /// As [`normalize`](Self::normalize). White space at the start stays, unless the text starts there.
    ///
    /// # Errors
    /// As [`normalize`](Self::normalize).
    pub fn normalize_part(
        &self,
        text: &str,
        is_start: bool,
        out: &mut String,
        spans: Option<&mut Vec<Range<usize>>>,
    ) -> Result<(), EncodeError> {
        let Some(map) = &self.map else {
            return run(&self.steps, text, is_start, out, spans);
        };
        let (mapped, rest) = self.steps.split_at(map.length());
        if spans.is_some() && !(rest.is_empty() && map.has_spans()) {
            return run(&self.steps, text, is_start, out, spans);
        }
        if rest.is_empty() {
            return map.apply(mapped, text, out, spans);
        }
        let mut made = String::new();
        map.apply(mapped, text, &mut made, None)?;
        run(rest, &made, is_start, out, None)
    }
}

/// As [`Chain::normalize_part`], by steps one after the other.
fn run(
    steps: &[Prepared],
    text: &str,
    is_start: bool,
    out: &mut String,
    spans: Option<&mut Vec<Range<usize>>>,
) -> Result<(), EncodeError> {
    let mut current = Cow::Borrowed(text);
    // For each byte of `current` the start of a character of `text`; none as long as they are the same.
    let mut origins: Option<Vec<usize>> = None;
    for step in steps {
        if step.keeps(&current) {
            continue;
        }
        let mut output = Output::new(&current, spans.is_some());
        step.apply(is_start, &mut output)?;
        let (made, sources) = output.finish();
        current = Cow::Owned(made);
        origins = sources.map(|sources| match origins {
            Some(origins) => memory::collect(sources.into_iter().map(|at| origins[at])),
            None => sources,
        });
    }
    out.with_room(current.len()).push_str(&current);
    let Some(spans) = spans else {
        return Ok(());
    };
    let mut push = |start: usize, count: usize| {
        let length = text[start..].chars().next().map_or(0, char::len_utf8);
        memory::extend(spans, std::iter::repeat_n(start..start + length, count));
    };
    match origins {
        Some(origins) => origins.into_iter().for_each(|start| push(start, 1)),
        None => text
            .char_indices()
            .for_each(|(start, c)| push(start, c.len_utf8())),
    }
    Ok(())
}

impl Prepared {
    fn new(step: Step) -> Result<Self, NormalizerError> {
        Ok(match step {
            Step::Nfc => Self::Form(Normal::new(Form::Nfc)),
            Step::Nfd => Self::Form(Normal::new(Form::Nfd)),
            Step::Nfkc => Self::Form(Normal::new(Form::Nfkc)),
            Step::Nfkd => Self::Form(Normal::new(Form::Nfkd)),
            Step::Lowercase => Self::Lowercase,
            Step::StripAccents => Self::StripAccents,
            Step::CleanText => Self::CleanText,
            Step::IsolateHan => Self::IsolateHan,
            Step::StripNonspacing => Self::StripNonspacing,
            Step::Nmt => Self::Nmt,
            Step::Precompiled(map) => Self::Precompiled(map),
            Step::Strip { left, right } => Self::Strip { left, right },
            Step::Prepend(text) | Step::Insert(text) if text.is_empty() => {
                return Err(NormalizerError::EmptyPrepend);
            }
            Step::Prepend(text) | Step::Insert(text) => Self::Prepend(text),
            Step::Replace { find, content } => {
                Self::Replace(Box::new(Replaced::new(find, content)?))
            }
        })
    }

    fn keeps(&self, text: &str) -> bool {
        match self {
            Self::Form(normal) => normal.keeps(text),
            Self::Lowercase => text.chars().all(is_lower),
            Self::StripAccents => text.is_ascii() || !text.chars().any(is_combining_mark),
            Self::CleanText => text.chars().all(|c| bert::cleaned(c) == Some(c)),
            Self::IsolateHan => text.is_ascii() || !text.chars().any(bert::is_han),
            Self::StripNonspacing => text.is_ascii() || !text.chars().any(bert::is_nonspacing),
            Self::Nmt => text.chars().all(|c| nmt(c) == Some(c)),
            Self::Precompiled(map) => map.keeps(text),
            Self::Strip { left, right } => stripped(text, *left, *right).len() == text.len(),
            Self::Prepend(_) => text.is_empty(),
            Self::Replace(replaced) => replaced.keeps(text),
        }
    }

    /// Normalizes the input of `output`, which is not kept.
    fn apply(&self, is_start: bool, output: &mut Output<'_>) -> Result<(), EncodeError> {
        let text = output.input();
        match self {
            Self::Form(normal) => normal.apply(output),
            Self::Lowercase => output.lower(),
            Self::StripAccents => {
                output.filter_map(|c| (!is_combining_mark(c)).then_some(c));
            }
            Self::StripNonspacing => {
                output.filter_map(|c| (!bert::is_nonspacing(c)).then_some(c));
            }
            Self::CleanText => output.filter_map(bert::cleaned),
            Self::Nmt => output.filter_map(nmt),
            Self::Precompiled(map) => map.apply(output)?,
            Self::IsolateHan => {
                for (at, c) in text.char_indices() {
                    if bert::is_han(c) {
                        output.push(' ', at);
                        output.push(c, at);
                        output.push(' ', at);
                    } else {
                        output.push(c, at);
                    }
                }
            }
            Self::Strip { left, right } => {
                let start = text.len() - stripped(text, *left && is_start, false).len();
                output.copy(start..start + stripped(&text[start..], false, *right).len());
            }
            Self::Prepend(front) => {
                output.write(front, 0);
                output.copy(0..text.len());
            }
            Self::Replace(replaced) => replaced.apply(output)?,
        }
        Ok(())
    }
}

/// Returns what becomes of a character by the rules for machine translation.
fn nmt(c: char) -> Option<char> {
    match u32::from(c) {
        0x01..=0x08 | 0x0B | 0x0E..=0x1F | 0x7F | 0x8F | 0x9F => None,
        0x09
        | 0x0A
        | 0x0C
        | 0x0D
        | 0x1680
        | 0x200B..=0x200F
        | 0x2028
        | 0x2029
        | 0x2581
        | 0xFEFF
        | 0xFFFD => Some(' '),
        _ => Some(c),
    }
}

/// Returns whether a character is its own lower case.
fn is_lower(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_uppercase();
    }
    let mut lower = c.to_lowercase();
    lower.next() == Some(c) && lower.next().is_none()
}

/// Returns the text without white space at its ends.
fn stripped(text: &str, left: bool, right: bool) -> &str {
    let text = if left { text.trim_start() } else { text };
    if right { text.trim_end() } else { text }
}

// The text that a step makes of another, and where it comes from.

/// The output of a step, and the character of its input that each byte of it stands for.
pub(super) struct Output<'a> {
    input: &'a str,
    text: String,
    /// For each byte of `text` the start of a character of `input`, if wanted.
    origins: Option<Vec<usize>>,
}

impl<'a> Output<'a> {
    pub(super) fn new(input: &'a str, with_origins: bool) -> Self {
        let mut text = String::new();
        text.with_room(input.len());
        Self {
            input,
            text,
            origins: with_origins.then(|| memory::vec_with_capacity(input.len())),
        }
    }

    pub(super) fn input(&self) -> &'a str {
        self.input
    }

    /// Appends a part of the input, each character of which stands for itself.
    pub(super) fn copy(&mut self, range: Range<usize>) {
        let part = &self.input[range.clone()];
        self.text.with_room(part.len()).push_str(part);
        if let Some(origins) = &mut self.origins {
            for (at, c) in part.char_indices() {
                memory::extend(origins, std::iter::repeat_n(range.start + at, c.len_utf8()));
            }
        }
    }

    /// Appends a text that stands for the character of the input at `origin`.
    pub(super) fn write(&mut self, text: &str, origin: usize) {
        self.text.with_room(text.len()).push_str(text);
        if let Some(origins) = &mut self.origins {
            memory::extend(origins, std::iter::repeat_n(origin, text.len()));
        }
    }

    /// Appends a character that stands for the one of the input at `origin`.
    pub(super) fn push(&mut self, c: char, origin: usize) {
        self.write(c.encode_utf8(&mut [0; 4]), origin);
    }

    /// Appends the lower case of each character of the input.
    fn lower(&mut self) {
        let mut at = 0;
        while let Some(first) = self.input[at..].chars().next() {
            if !first.is_ascii() {
                first.to_lowercase().for_each(|lower| self.push(lower, at));
                at += first.len_utf8();
                continue;
            }
            // Characters of ASCII together: one by one, this took a third of the time that CLIP's tokenizer needed for code.
            let rest = &self.input.as_bytes()[at..];
            let length = rest
                .iter()
                .position(|byte| !byte.is_ascii())
                .unwrap_or(rest.len());
            let start = self.text.len();
            self.copy(at..at + length);
            self.text[start..].make_ascii_lowercase();
            at += length;
        }
    }

    /// Appends what each character of the input becomes.
    fn filter_map(&mut self, map: impl Fn(char) -> Option<char>) {
        for (at, c) in self.input.char_indices() {
            if let Some(c) = map(c) {
                self.push(c, at);
            }
        }
    }

    /// Returns the text and the origins of its bytes.
    pub(super) fn finish(self) -> (String, Option<Vec<usize>>) {
        (self.text, self.origins)
    }
}
