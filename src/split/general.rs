//! Any other pattern: by an automaton if it has one, otherwise by fancy-regex, tiktoken's engine. Both match the same,
//! so that a pattern has the same meaning here.

use std::ops::Range;
use std::sync::Arc;

use fancy_regex::{AstNode, BacktrackingControlVerb, Expr};

use super::automaton::{Automaton, Beside, Trace};
use crate::error::{EncodeError, PatternError};
use crate::util::memory::Growable;
use crate::util::regex::{self, Regex};

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct General {
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Automaton(Arc<Automaton>),
    Backtracking(Regex),
}

impl General {
    /// Compiles `pattern` for fancy-regex, whatever it is. It is one of `patterns` of a file, which share a limit of memory.
    ///
    /// # Errors
    /// [`PatternError`] if it does not compile or can match the empty string.
    pub fn new(pattern: &str, patterns: usize) -> Result<Self, PatternError> {
        let unsupported = |error: fancy_regex::Error| PatternError::Unsupported {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        };
        let regex = regex::compiled(pattern, patterns).map_err(unsupported)?;
        let tree = regex::parse(pattern).map_err(unsupported)?;
        if shortest_match(&tree) == 0 {
            return Err(PatternError::MatchesEmpty(pattern.to_owned()));
        }
        Ok(Self {
            engine: Engine::Backtracking(regex),
        })
    }

    /// Compiles `pattern` as an automaton if it has one, otherwise for fancy-regex.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn quick(pattern: &str, patterns: usize) -> Result<Self, PatternError> {
        match Automaton::new(pattern) {
            Some(automaton) => Ok(Self {
                engine: Engine::Automaton(automaton.into()),
            }),
            None => Self::new(pattern, patterns),
        }
    }

    /// Returns whether it needs no backtracking.
    #[doc(hidden)]
    pub fn has_automaton(&self) -> bool {
        matches!(self.engine, Engine::Automaton(_))
    }

    /// Returns the relation of two characters beside each other.
    pub(super) fn beside(&self, before: char, after: char) -> Beside {
        match &self.engine {
            Engine::Automaton(automaton) => automaton.beside(before, after),
            Engine::Backtracking(_) => Beside::Joined,
        }
    }

    /// Appends the next matches from `offset` on in a part of `text`, and moves `offset` past them; to the end of the part
    /// if there are no more. Offsets count from where the part starts. The trace is that of earlier searches in the same
    /// part, which is whole characters.
    ///
    /// # Errors
    /// [`EncodeError::Pattern`] if fancy-regex gives up, and [`EncodeError::Interrupted`] from the checkpoint.
    pub(super) fn fill(
        &self,
        text: &str,
        part: Range<usize>,
        offset: &mut usize,
        trace: &mut Trace,
        matches: &mut Vec<Range<usize>>,
    ) -> Result<(), EncodeError> {
        let regex = match &self.engine {
            Engine::Automaton(automaton) => {
                let part = &text.as_bytes()[part];
                return Ok(automaton.fill(part, offset, trace, matches)?);
            }
            Engine::Backtracking(regex) => regex,
        };
        let text = &text[part];
        let found = match regex.find_from_pos(text, *offset) {
            Ok(Some(found)) if found.end() > found.start() => Some(found.range()),
            Ok(Some(_)) => {
                return Err(EncodeError::Pattern(
                    "it matches the empty string here".to_owned(),
                ));
            }
            Ok(None) => None,
            Err(error) => return Err(EncodeError::Pattern(error.to_string())),
        };
        *offset = found.as_ref().map_or(text.len(), |found| found.end);
        matches.with_room(1).extend(found);
        Ok(())
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
