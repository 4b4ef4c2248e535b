//! Pre-tokenizers of `tokenizers`: lists of steps, each of which splits the pieces of the one before.
//!
//! Every step becomes a [rule](Rule): a pattern, and what becomes of its matches and of the text between them.
//! Rules that a native family implements are run by it, others one after another.

mod alternatives;
pub mod cascade;
pub mod classes;
pub(in crate::split) mod codes;
#[cfg(test)]
mod compared;
pub mod layers;
pub mod oniguruma;

use std::sync::Arc;

use cascade::Cascade;
use classes::Classes;
use layers::Layers;

use super::pattern::{Family, NUMERIC};
use super::{Splitter, pattern};
use crate::error::PatternError;
use crate::util::tier::Tier;

impl Splitter {
    /// Returns the splitter of a list of steps. Without steps, a text is one piece.
    ///
    /// # Errors
    /// [`PatternError`] if a pattern has no certain translation from Oniguruma's syntax, or does not compile; and for
    /// steps that would see bytes as characters.
    pub fn from_chain(steps: &[Step]) -> Result<Self, PatternError> {
        let mut rules = Vec::with_capacity(steps.len());
        let mut bytes = false;
        for step in steps {
            if let Some(rule) = step.rule()? {
                if bytes {
                    return Err(PatternError::Unsupported {
                        pattern: rule.pattern,
                        reason: "the step ByteLevel stands before it, so that it would see bytes as characters"
                            .to_owned(),
                    });
                }
                rules.push(rule);
            }
            bytes |= *step == Step::ByteLevel;
        }
        if let Some(family) = native(&rules) {
            return Ok(Self::Native(family, Tier::current()));
        }
        if rules.is_empty() {
            return Self::new(r"(?s:.)+");
        }
        if let Some(classes) = Classes::of(&rules) {
            return Ok(Self::Classes(Arc::new(classes), Tier::current()));
        }
        if let Some(layers) = Layers::of(&rules) {
            return Ok(Self::Layers(Arc::new(layers), Tier::current()));
        }
        Ok(Self::Cascade(Arc::new(Cascade::new(&rules)?)))
    }
}

/// Returns the family that splits as some rules do.
fn native(rules: &[Rule]) -> Option<Family> {
    let rules: Option<Vec<_>> = rules.iter().map(known).collect();
    Family::recognise_chain(&rules?)
}

/// Returns a rule as families know it.
fn known(rule: &Rule) -> Option<pattern::Rule<'_>> {
    match (rule.behavior, rule.invert) {
        (Behavior::Isolated, _) => Some(pattern::Rule::Isolated(&rule.pattern)),
        (Behavior::Removed, true) => Some(pattern::Rule::Kept(&rule.pattern)),
        (Behavior::MergedWithNext, false) => Some(pattern::Rule::MergedWithNext(&rule.pattern)),
        _ => None,
    }
}

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
    fn rule(&self) -> Result<Option<Rule>, PatternError> {
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

// The characters at which the step `Punctuation` of `tokenizers` splits.

/// A class of the punctuation of ASCII, symbols too, and of the category P as an old version of Unicode has it. Derived
/// from `tokenizers` 0.23.3, with which a test compares every character.
const PUNCTUATION: &str = concat!(
    "[",
    r"\x{21}-\x{2F}\x{3A}-\x{40}\x{5B}-\x{60}\x{7B}-\x{7E}\x{A1}\x{A7}\x{AB}\x{B6}-\x{B7}\x{BB}\x{BF}",
    r"\x{37E}\x{387}\x{55A}-\x{55F}\x{589}-\x{58A}\x{5BE}\x{5C0}\x{5C3}\x{5C6}\x{5F3}-\x{5F4}",
    r"\x{609}-\x{60A}\x{60C}-\x{60D}\x{61B}\x{61E}-\x{61F}\x{66A}-\x{66D}\x{6D4}\x{700}-\x{70D}",
    r"\x{7F7}-\x{7F9}\x{830}-\x{83E}\x{85E}\x{964}-\x{965}\x{970}\x{AF0}\x{DF4}\x{E4F}\x{E5A}-\x{E5B}",
    r"\x{F04}-\x{F12}\x{F14}\x{F3A}-\x{F3D}\x{F85}\x{FD0}-\x{FD4}\x{FD9}-\x{FDA}\x{104A}-\x{104F}\x{10FB}",
    r"\x{1360}-\x{1368}\x{1400}\x{166D}-\x{166E}\x{169B}-\x{169C}\x{16EB}-\x{16ED}\x{1735}-\x{1736}",
    r"\x{17D4}-\x{17D6}\x{17D8}-\x{17DA}\x{1800}-\x{180A}\x{1944}-\x{1945}\x{1A1E}-\x{1A1F}",
    r"\x{1AA0}-\x{1AA6}\x{1AA8}-\x{1AAD}\x{1B5A}-\x{1B60}\x{1BFC}-\x{1BFF}\x{1C3B}-\x{1C3F}",
    r"\x{1C7E}-\x{1C7F}\x{1CC0}-\x{1CC7}\x{1CD3}\x{2010}-\x{2027}\x{2030}-\x{2043}\x{2045}-\x{2051}",
    r"\x{2053}-\x{205E}\x{207D}-\x{207E}\x{208D}-\x{208E}\x{2308}-\x{230B}\x{2329}-\x{232A}",
    r"\x{2768}-\x{2775}\x{27C5}-\x{27C6}\x{27E6}-\x{27EF}\x{2983}-\x{2998}\x{29D8}-\x{29DB}",
    r"\x{29FC}-\x{29FD}\x{2CF9}-\x{2CFC}\x{2CFE}-\x{2CFF}\x{2D70}\x{2E00}-\x{2E2E}\x{2E30}-\x{2E42}",
    r"\x{3001}-\x{3003}\x{3008}-\x{3011}\x{3014}-\x{301F}\x{3030}\x{303D}\x{30A0}\x{30FB}\x{A4FE}-\x{A4FF}",
    r"\x{A60D}-\x{A60F}\x{A673}\x{A67E}\x{A6F2}-\x{A6F7}\x{A874}-\x{A877}\x{A8CE}-\x{A8CF}",
    r"\x{A8F8}-\x{A8FA}\x{A8FC}\x{A92E}-\x{A92F}\x{A95F}\x{A9C1}-\x{A9CD}\x{A9DE}-\x{A9DF}",
    r"\x{AA5C}-\x{AA5F}\x{AADE}-\x{AADF}\x{AAF0}-\x{AAF1}\x{ABEB}\x{FD3E}-\x{FD3F}\x{FE10}-\x{FE19}",
    r"\x{FE30}-\x{FE52}\x{FE54}-\x{FE61}\x{FE63}\x{FE68}\x{FE6A}-\x{FE6B}\x{FF01}-\x{FF03}",
    r"\x{FF05}-\x{FF0A}\x{FF0C}-\x{FF0F}\x{FF1A}-\x{FF1B}\x{FF1F}-\x{FF20}\x{FF3B}-\x{FF3D}\x{FF3F}",
    r"\x{FF5B}\x{FF5D}\x{FF5F}-\x{FF65}\x{10100}-\x{10102}\x{1039F}\x{103D0}\x{1056F}\x{10857}\x{1091F}",
    r"\x{1093F}\x{10A50}-\x{10A58}\x{10A7F}\x{10AF0}-\x{10AF6}\x{10B39}-\x{10B3F}\x{10B99}-\x{10B9C}",
    r"\x{11047}-\x{1104D}\x{110BB}-\x{110BC}\x{110BE}-\x{110C1}\x{11140}-\x{11143}\x{11174}-\x{11175}",
    r"\x{111C5}-\x{111C9}\x{111CD}\x{111DB}\x{111DD}-\x{111DF}\x{11238}-\x{1123D}\x{112A9}\x{114C6}",
    r"\x{115C1}-\x{115D7}\x{11641}-\x{11643}\x{1173C}-\x{1173E}\x{12470}-\x{12474}\x{16A6E}-\x{16A6F}",
    r"\x{16AF5}\x{16B37}-\x{16B3B}\x{16B44}\x{1BC9F}\x{1DA87}-\x{1DA8B}",
    "]",
);
