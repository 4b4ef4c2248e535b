//! Any other pattern, by fancy-regex: the engine that tiktoken uses, so the same pattern means the same here.

use std::ops::Range;

use fancy_regex::{Expr, Regex};

use crate::error::{EncodeError, PatternError};

/// A compiled pattern that takes at least one character at each match.
#[derive(Clone, Debug)]
pub struct General {
    regex: Regex,
}

impl General {
    /// Compiles `pattern`.
    ///
    /// # Errors
    /// [`PatternError`] if it does not compile or can match the empty string.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let unsupported = |error: fancy_regex::Error| PatternError::Unsupported {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        };
        let regex = Regex::new(pattern).map_err(unsupported)?;
        let tree = Expr::parse_tree(pattern).map_err(unsupported)?;
        if shortest_match(&tree.expr) == 0 {
            return Err(PatternError::MatchesEmpty(pattern.to_owned()));
        }
        Ok(Self { regex })
    }

    /// The first match that starts at `place` or later.
    pub(super) fn next(
        &self,
        text: &str,
        place: usize,
    ) -> Result<Option<Range<usize>>, EncodeError> {
        match self.regex.find_from_pos(text, place) {
            Ok(Some(found)) if found.end() > found.start() => Ok(Some(found.range())),
            Ok(Some(_)) => Err(EncodeError::Pattern(
                "it matches the empty string here".to_owned(),
            )),
            Ok(None) => Ok(None),
            Err(error) => Err(EncodeError::Pattern(error.to_string())),
        }
    }
}

/// A lower bound of the characters that a match of `expression` takes. Where the syntax is too rich to tell, 0.
fn shortest_match(expression: &Expr) -> usize {
    match expression {
        Expr::Any { .. } | Expr::GeneralNewline { .. } | Expr::Delegate { .. } => 1,
        Expr::Literal { val, .. } => val.chars().count(),
        Expr::Concat(parts) => {
            // `\K` drops what was matched before it.
            let kept = parts
                .iter()
                .rposition(|part| matches!(part, Expr::KeepOut))
                .map_or(0, |place| place + 1);
            parts[kept..]
                .iter()
                .fold(0, |sum, part| sum.saturating_add(shortest_match(part)))
        }
        Expr::Alt(parts) => parts.iter().map(shortest_match).min().unwrap_or(0),
        Expr::Group(inner) => shortest_match(inner),
        Expr::Repeat { child, lo, .. } => shortest_match(child).saturating_mul(*lo),
        Expr::Conditional {
            condition,
            true_branch,
            false_branch,
        } => {
            let then = shortest_match(condition).saturating_add(shortest_match(true_branch));
            then.min(shortest_match(false_branch))
        }
        Expr::AtomicGroup(inner)
        | Expr::AstNode(fancy_regex::AstNode::AstGroup { inner, .. }, _) => shortest_match(inner),
        _ => 0,
    }
}
