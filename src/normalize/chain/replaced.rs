//! Replaces what is found in a text.

use std::ops::Range;

use memchr::memmem::Finder;
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};

use super::runs::Run;
use super::{Find, Output};
use crate::error::{EncodeError, NormalizerError};
use crate::unicode::set;
use crate::util::regex::Regex;

/// A step that replaces, with its tables.
#[derive(Debug)]
pub(super) struct Replaced {
    search: Search,
    content: String,
    /// All characters that a match can contain; `None` if a match depends on the text around it.
    within: Option<ClassUnicode>,
}

#[derive(Debug)]
enum Search {
    Text(Box<Finder<'static>>),
    Run(Box<Run>),
    Regex(Box<Regex>),
}

impl Replaced {
    /// Prepares a search.
    ///
    /// # Errors
    /// If it finds the empty string.
    pub(super) fn new(find: Find, content: String) -> Result<Self, NormalizerError> {
        let within = match &find {
            Find::Text(text) => characters_of(&regex_syntax::escape(text)),
            Find::Regex(regex) => characters_of(regex.as_str()),
        };
        let search = match find {
            Find::Text(text) if text.is_empty() => return Err(NormalizerError::MatchesEmpty),
            Find::Text(text) => Search::Text(Box::new(Finder::new(&text).into_owned())),
            // Most expressions that can match the empty string do so here; others are found out by a text.
            Find::Regex(regex) if regex.is_match("").unwrap_or(true) => {
                return Err(NormalizerError::MatchesEmpty);
            }
            Find::Regex(regex) => match Run::of(regex.as_str()) {
                Some(run) => Search::Run(Box::new(run)),
                None => Search::Regex(regex),
            },
        };
        Ok(Self {
            search,
            content,
            within,
        })
    }

    /// Returns whether each character is replaced by itself.
    pub(super) fn is_by_character(&self) -> bool {
        match &self.search {
            Search::Text(finder) => {
                let text = std::str::from_utf8(finder.needle()).unwrap_or_default();
                text.chars().nth(1).is_none()
            }
            Search::Run(_) | Search::Regex(_) => false,
        }
    }

    /// Returns whether a text may be divided between two characters, which stay as they are and beside each other.
    ///
    /// Nothing is found across the place if one of the two is in nothing that can be found. The other stays, or is the end of
    /// what is written for it: so a run of blanks may be divided from a letter before it, if one blank is left of it.
    pub(super) fn keeps_apart(&self, before: char, after: char) -> bool {
        let Some(within) = &self.within else {
            return false;
        };
        match [before, after].map(|c| set::holds(within, c)).into() {
            (false, false) => true,
            (true, false) => self.content.ends_with(before),
            (false, true) => self.content.starts_with(after),
            (true, true) => false,
        }
    }

    /// Returns whether nothing is found in `text`; of runs, nothing but what would be replaced by the same.
    pub(super) fn keeps(&self, text: &str) -> bool {
        match &self.search {
            Search::Text(finder) => finder.find(text.as_bytes()).is_none(),
            Search::Run(run) => self.changed(run, text).next().is_none(),
            Search::Regex(regex) => matches!(regex.is_match(text), Ok(false)),
        }
    }

    /// Normalizes the input of `output`.
    pub(super) fn apply(&self, output: &mut Output<'_>) -> Result<(), EncodeError> {
        let text = output.input();
        match &self.search {
            Search::Text(finder) => {
                let starts = finder.find_iter(text.as_bytes());
                let found = starts.map(|start| Ok(start..start + finder.needle().len()));
                self.write(output, found)
            }
            Search::Run(run) => self.write(output, self.changed(run, text).map(Ok)),
            Search::Regex(regex) => {
                let found = regex.find_iter(text).map(|found| match found {
                    Ok(found) if !found.range().is_empty() => Ok(found.range()),
                    Ok(_) => Err(EncodeError::Normalizer(
                        "it matches the empty string here".to_owned(),
                    )),
                    Err(error) => Err(EncodeError::Normalizer(error.to_string())),
                });
                self.write(output, found)
            }
        }
    }

    /// Returns the runs in a text, except single characters of ASCII that are the content already.
    fn changed<'t>(&'t self, run: &'t Run, text: &'t str) -> impl Iterator<Item = Range<usize>> {
        let content = self.content.as_bytes();
        let character = content.first().filter(|_| content.len() == 1);
        run.all(text, character.copied())
    }

    /// Writes the content in place of what is found. It stands for the last character of that.
    fn write(
        &self,
        output: &mut Output<'_>,
        found: impl Iterator<Item = Result<Range<usize>, EncodeError>>,
    ) -> Result<(), EncodeError> {
        let text = output.input();
        let mut written = 0;
        for range in found {
            let Range { start, end } = range?;
            output.copy(written..start);
            let last = text[..end].chars().next_back().expect("no match is empty");
            output.write(&self.content, end - last.len_utf8());
            written = end;
        }
        output.copy(written..text.len());
        Ok(())
    }
}

/// Returns all characters that a match of an expression can contain; `None` if a match depends on the text around it. What
/// fancy-regex alone understands looks there, or back at another match.
fn characters_of(expression: &str) -> Option<ClassUnicode> {
    let mut within = ClassUnicode::empty();
    let is_all = add_characters(&regex_syntax::parse(expression).ok()?, &mut within);
    is_all.then_some(within)
}

/// Adds all characters that a match can contain. Returns whether it depends on nothing around it.
fn add_characters(hir: &Hir, within: &mut ClassUnicode) -> bool {
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Literal(literal) => {
            let Ok(text) = std::str::from_utf8(&literal.0) else {
                return false;
            };
            text.chars().for_each(|c| within.union(&set::single(c)));
            true
        }
        HirKind::Class(Class::Unicode(class)) => {
            within.union(class);
            true
        }
        HirKind::Class(Class::Bytes(_)) | HirKind::Look(_) => false,
        HirKind::Repetition(repeated) => add_characters(&repeated.sub, within),
        HirKind::Capture(group) => add_characters(&group.sub, within),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().all(|part| add_characters(part, within))
        }
    }
}
