//! The steps of a pre-tokenizer of `tokenizers`, and the one kind of rule that they all come to.

use super::oniguruma;
use super::punctuation::PUNCTUATION;
use crate::error::PatternError;
use crate::split::pattern::NUMERIC;

/// The way to treat the matches of a pattern and the text between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// Each is a piece.
    Isolated,
    /// Matches are dropped.
    Removed,
    /// Matches in a row are one piece.
    Contiguous,
    /// A match belongs to the text before it.
    MergedWithPrevious,
    /// A match belongs to the text after it.
    MergedWithNext,
}

/// Something to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A text.
    Text(String),
    /// A regular expression in the syntax of Oniguruma.
    Regex(String),
}

/// A step of a pre-tokenizer. It splits each piece of the step before as a text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Splits by a pattern.
    Split {
        /// Something to look for.
        pattern: Pattern,
        /// The way to treat matches.
        behavior: Behavior,
        /// Whether matches and the text between them change roles.
        invert: bool,
    },
    /// Splits off numbers.
    Digits {
        /// Whether each character is a piece of its own.
        individual: bool,
    },
    /// Splits at punctuation.
    Punctuation(Behavior),
    /// Keeps words and runs of other characters, without the whitespace between them.
    Whitespace,
    /// Keeps what is between whitespace.
    WhitespaceSplit,
    /// Splits by the pattern of GPT-2.
    Gpt2,
    /// Replaces each byte by a character, which only steps after it see.
    ByteLevel,
}

/// A step as the splitter takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A regular expression in the syntax of fancy-regex.
    pub pattern: String,
    /// The way to treat its matches.
    pub behavior: Behavior,
    /// Whether matches and the text between them change roles.
    pub invert: bool,
}

/// GPT-2's pattern.
pub const GPT2: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

impl Step {
    /// Returns whether the step does nothing to texts without `character`: it looks for that character alone.
    pub fn is_idle_without(&self, character: char) -> bool {
        match self {
            Self::Split {
                pattern: Pattern::Text(text) | Pattern::Regex(text),
                behavior,
                invert,
            } => {
                let keeps = !(*behavior == Behavior::Removed && *invert);
                let literal = !matches!(character, '.' | '$' | '^' | '*' | '+' | '?' | '|' | '\\');
                keeps && literal && text.chars().eq([character])
            }
            _ => false,
        }
    }

    /// Returns the rule of a step; none if it does not split.
    ///
    /// # Errors
    /// [`PatternError`] if its pattern has no certain translation.
    pub(super) fn rule(&self) -> Result<Option<Rule>, PatternError> {
        let (pattern, behavior, invert) = match self {
            Self::Split {
                pattern,
                behavior,
                invert,
            } => {
                let pattern = match pattern {
                    Pattern::Text(text) if text.is_empty() => {
                        return Err(PatternError::MatchesEmpty(text.clone()));
                    }
                    Pattern::Text(text) => regex_syntax::escape(text),
                    Pattern::Regex(pattern) => oniguruma::translate(pattern)?,
                };
                (pattern, *behavior, *invert)
            }
            Self::Digits { individual: true } => (NUMERIC.to_owned(), Behavior::Isolated, false),
            Self::Digits { individual: false } => (NUMERIC.to_owned(), Behavior::Contiguous, false),
            Self::Punctuation(behavior) => (PUNCTUATION.to_owned(), *behavior, false),
            Self::Whitespace => (r"\w+|[^\w\s]+".to_owned(), Behavior::Removed, true),
            Self::WhitespaceSplit => (r"\s".to_owned(), Behavior::Removed, false),
            Self::Gpt2 => (GPT2.to_owned(), Behavior::Isolated, false),
            Self::ByteLevel => return Ok(None),
        };
        Ok(Some(Rule::new(pattern, behavior, invert)))
    }
}

impl Rule {
    /// Returns a rule in its simplest form: where matches and gaps are treated alike, nothing is inverted.
    fn new(pattern: String, behavior: Behavior, invert: bool) -> Self {
        let alike = matches!(behavior, Behavior::Isolated | Behavior::Contiguous);
        Self {
            pattern,
            behavior,
            invert: invert && !alike,
        }
    }
}
