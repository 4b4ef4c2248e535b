//! Pre-tokenizers of `tokenizers`: lists of steps, each of which splits the pieces of the one before.
//!
//! Every step becomes a [rule](step::Rule): a pattern, and what becomes of its matches and of the text between them.
//! Rules that a native family implements are run by it, others one after another.

pub mod cascade;
pub mod oniguruma;
mod punctuation;
pub mod step;

use std::sync::Arc;

use super::Splitter;
use super::pattern::Family;
use crate::error::PatternError;
use crate::util::tier::Tier;
use cascade::Cascade;
use step::{Behavior, Rule, Step};

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
        match rules.as_slice() {
            [] => Self::new(r"(?s:.)+"),
            [rule] if let Some(family) = native(rule) => Ok(Self::Native(family, Tier::current())),
            rules => Ok(Self::Cascade(Arc::new(Cascade::new(rules)?))),
        }
    }
}

/// Returns the family that splits as a rule alone. Every byte is in a match of it, so that nothing is dropped.
fn native(rule: &Rule) -> Option<Family> {
    let each =
        rule.behavior == Behavior::Isolated || (rule.behavior == Behavior::Removed && rule.invert);
    Family::recognise(&rule.pattern).filter(|_| each)
}
