//! Any other pattern, by fancy-regex: tiktoken's engine, so that a pattern has the same meaning here.

use std::ops::Range;

use fancy_regex::{AstNode, BacktrackingControlVerb, Expr, Regex};

use crate::error::{EncodeError, PatternError};

/// A compiled pattern whose every match has at least one character.
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

    /// Returns the first match at `offset` or after it.
    pub(super) fn next(
        &self,
        text: &str,
        offset: usize,
    ) -> Result<Option<Range<usize>>, EncodeError> {
        match self.regex.find_from_pos(text, offset) {
            Ok(Some(found)) if found.end() > found.start() => Ok(Some(found.range())),
            Ok(Some(_)) => Err(EncodeError::Pattern(
                "it matches the empty string here".to_owned(),
            )),
            Ok(None) => Ok(None),
            Err(error) => Err(EncodeError::Pattern(error.to_string())),
        }
    }
}

/// Returns a lower bound of the number of characters in a match of `pattern`; 0 where the syntax has no known
/// bound.
fn shortest_match(pattern: &Expr) -> usize {
    let accepts = |expression: &Expr| {
        matches!(
            expression,
            Expr::BacktrackingControlVerb(BacktrackingControlVerb::Accept)
        )
    };
    if accepts(pattern) || pattern.has_descendant(accepts) {
        return 0;
    }
    let keeps = |expression: &Expr| matches!(expression, Expr::KeepOut);
    let may_keep = keeps(pattern) || pattern.has_descendant(keeps);
    let Shortest { whole, kept } = shortest(pattern, may_keep);
    whole.into_iter().chain(kept).min().unwrap_or(0)
}

/// Lower bounds of the number of characters that an expression matches.
#[derive(Clone, Copy)]
struct Shortest {
    /// On paths without `\K`, if there are any.
    whole: Option<usize>,
    /// After the last `\K`, which drops what was matched before it, on paths with one, if there are any.
    kept: Option<usize>,
}

impl Shortest {
    fn of(characters: usize) -> Self {
        Self {
            whole: Some(characters),
            kept: None,
        }
    }

    fn then(self, next: Self) -> Self {
        let sum =
            |first: Option<usize>, second: Option<usize>| Some(first?.saturating_add(second?));
        let kept_before = sum(self.kept, next.whole);
        Self {
            whole: sum(self.whole, next.whole),
            kept: next.kept.into_iter().chain(kept_before).min(),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            whole: self.whole.into_iter().chain(other.whole).min(),
            kept: self.kept.into_iter().chain(other.kept).min(),
        }
    }
}

/// Returns the bounds of an expression. `may_keep`: the pattern contains a `\K`.
fn shortest(expression: &Expr, may_keep: bool) -> Shortest {
    let inner = |expression: &Expr| shortest(expression, may_keep);
    match expression {
        Expr::Any { .. } | Expr::GeneralNewline { .. } | Expr::Delegate { .. } => Shortest::of(1),
        Expr::Literal { val, .. } => Shortest::of(val.chars().count()),
        Expr::KeepOut => Shortest {
            whole: None,
            kept: Some(0),
        },
        Expr::Concat(parts) => parts
            .iter()
            .map(inner)
            .fold(Shortest::of(0), Shortest::then),
        Expr::Alt(parts) => parts
            .iter()
            .map(inner)
            .reduce(Shortest::or)
            .unwrap_or(Shortest::of(0)),
        Expr::Group(group) => inner(group),
        Expr::AtomicGroup(group) | Expr::AstNode(AstNode::AstGroup { inner: group, .. }, _) => {
            inner(group)
        }
        Expr::Repeat { child, lo, .. } => {
            let Shortest { whole, kept } = inner(child);
            Shortest {
                whole: if *lo == 0 {
                    Some(0)
                } else {
                    whole.map(|once| once.saturating_mul(*lo))
                },
                kept,
            }
        }
        Expr::Conditional {
            condition,
            true_branch,
            false_branch,
        } => inner(condition)
            .then(inner(true_branch))
            .or(inner(false_branch)),
        // Assumed to match nothing; an expression inside it, or a group it calls, may contain a `\K`.
        _ => Shortest {
            whole: Some(0),
            kept: may_keep.then_some(0),
        },
    }
}
