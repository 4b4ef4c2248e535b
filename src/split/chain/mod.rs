//! Pre-tokenizers of `tokenizers`: lists of steps, each of which splits the pieces of the one before.
//!
//! Every step becomes a [rule](step::Rule): a pattern, and what becomes of its matches and of the text between them.
//! Rules that a native family implements are run by it, others one after another.

pub mod cascade;
pub mod oniguruma;
pub mod step;

use std::sync::Arc;

use super::Splitter;
use super::pattern::{self, Family};
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
        if let Some(family) = native(&rules) {
            return Ok(Self::Native(family, Tier::current()));
        }
        if rules.is_empty() {
            return Self::new(r"(?s:.)+");
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
