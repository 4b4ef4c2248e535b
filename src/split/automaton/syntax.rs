//! The meaning of a pattern, of the part of fancy-regex's syntax that automata can run.

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::ClassUnicode;

use crate::unicode::set;
use crate::util::regex;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// One character of a set.
    Set(ClassUnicode),
    /// All, one after another.
    Concat(Vec<Node>),
    /// The first that leads to a match.
    Alternatives(Vec<Node>),
    /// Several times: as often as possible, or as rarely.
    Repeat {
        node: Box<Node>,
        least: usize,
        most: Option<usize>,
        greedy: bool,
    },
    /// Nothing, if the next character is in the set, or at the end of the text.
    Next { set: ClassUnicode, at_end: bool },
    /// Nothing, if the character before is in the set, or at the start of the text.
    Previous { set: ClassUnicode, at_start: bool },
    /// Nothing, if an expression matches what comes next, or does not.
    Ahead { node: Box<Node>, negated: bool },
}

/// Returns the meaning of a pattern; none if an automaton cannot run it.
pub(super) fn parse(pattern: &str) -> Option<Node> {
    let tree = regex::parse(pattern).ok()?;
    node(&tree)
}

/// Returns the characters of which an expression matches one; none if it matches anything else.
pub(in crate::split) fn single(expression: &Expr) -> Option<ClassUnicode> {
    single_of(node(expression)?)
}

fn single_of(node: Node) -> Option<ClassUnicode> {
    match node {
        Node::Set(set) => Some(set),
        Node::Concat(mut parts) if parts.len() == 1 => single_of(parts.remove(0)),
        Node::Alternatives(parts) => {
            let mut whole = ClassUnicode::empty();
            for part in parts {
                whole.union(&single_of(part)?);
            }
            Some(whole)
        }
        _ => None,
    }
}

fn node(expression: &Expr) -> Option<Node> {
    match expression {
        Expr::Empty => Some(Node::Concat(Vec::new())),
        Expr::Any {
            newline,
            crlf: false,
        } => Some(Node::Set(set::of(
            if *newline { "(?s:.)" } else { "." },
            false,
        )?)),
        Expr::Assertion(assertion) => asserted(*assertion),
        Expr::Literal { val, casei } => {
            let character = |character: char| {
                let spelling = regex_syntax::escape(character.encode_utf8(&mut [0; 4]));
                set::of(&spelling, *casei).map(Node::Set)
            };
            let characters: Option<Vec<Node>> = val.chars().map(character).collect();
            Some(Node::Concat(characters?))
        }
        Expr::Delegate { inner, casei } => set::of(inner, *casei).map(Node::Set),
        Expr::Concat(parts) => Some(Node::Concat(parts.iter().map(node).collect::<Option<_>>()?)),
        Expr::Alt(parts) => Some(Node::Alternatives(
            parts.iter().map(node).collect::<Option<_>>()?,
        )),
        Expr::Group(inner) => node(inner),
        Expr::LookAround(inner, look) => looked(node(inner)?, *look),
        Expr::Repeat {
            child,
            lo,
            hi,
            greedy,
        } => {
            let node = node(child)?;
            // Engines differ in whether they repeat what has matched nothing.
            (shortest(&node) > 0).then(|| Node::Repeat {
                node: node.into(),
                least: *lo,
                most: (*hi != usize::MAX).then_some(*hi),
                greedy: *greedy,
            })
        }
        Expr::AtomicGroup(inner) => atomic(node(inner)?),
        _ => None,
    }
}

/// Returns the meaning of an assertion without an expression of its own.
fn asserted(assertion: Assertion) -> Option<Node> {
    let none = ClassUnicode::empty;
    Some(match assertion {
        Assertion::StartText => previous(none(), true),
        Assertion::EndText => next(none(), true),
        Assertion::StartLine { crlf: false } => previous(set::single('\n'), true),
        Assertion::EndLine { crlf: false } => next(set::single('\n'), true),
        Assertion::WordBoundary => boundary(false)?,
        Assertion::NotWordBoundary => boundary(true)?,
        _ => return None,
    })
}

fn next(set: ClassUnicode, at_end: bool) -> Node {
    Node::Next { set, at_end }
}

fn previous(set: ClassUnicode, at_start: bool) -> Node {
    Node::Previous { set, at_start }
}

/// Returns the assertion that one of the characters beside a place is of a word and the other not, or its opposite.
fn boundary(negated: bool) -> Option<Node> {
    let word = set::of(r"\w", false)?;
    let other = set::of(r"\W", false)?;
    let behind_word = previous(word.clone(), false);
    let behind_other = previous(other.clone(), true);
    let (before_word, before_other) = (next(word, false), next(other, true));
    let pairs = if negated {
        [[behind_word, before_word], [behind_other, before_other]]
    } else {
        [[behind_word, before_other], [behind_other, before_word]]
    };
    let pairs = pairs.map(|pair| Node::Concat(pair.into()));
    Some(Node::Alternatives(pairs.into()))
}

/// Returns the meaning of an expression that is looked for ahead or behind.
fn looked(inner: Node, look: LookAround) -> Option<Node> {
    let negated = matches!(look, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
    if matches!(look, LookAround::LookAhead | LookAround::LookAheadNeg) {
        return Some(match one_character(&inner) {
            Some((set, at_end)) if negated => next(complement(set), !at_end),
            Some((set, at_end)) => next(set, at_end),
            None => Node::Ahead {
                node: inner.into(),
                negated,
            },
        });
    }
    match inner {
        Node::Set(set) if negated => Some(previous(complement(set), true)),
        Node::Set(set) => Some(previous(set, false)),
        Node::Concat(mut parts) if parts.len() == 1 => looked(parts.remove(0), look),
        _ => None,
    }
}

/// Returns which next character an expression asks for, and whether it may be the end of the text; none if it asks for
/// anything else.
fn one_character(node: &Node) -> Option<(ClassUnicode, bool)> {
    match node {
        Node::Set(set) => Some((set.clone(), false)),
        Node::Next { set, at_end } => Some((set.clone(), *at_end)),
        Node::Concat(parts) => match parts.as_slice() {
            [part] => one_character(part),
            _ => None,
        },
        Node::Alternatives(parts) => {
            let mut whole = (ClassUnicode::empty(), false);
            for part in parts {
                let (set, at_end) = one_character(part)?;
                whole.0.union(&set);
                whole.1 |= at_end;
            }
            Some(whole)
        }
        _ => None,
    }
}

fn complement(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// Returns the meaning of an expression that gives nothing back: a set, repeated as often as it can be. Then what
/// comes next is not in the set, or it is repeated as often as it may be.
fn atomic(inner: Node) -> Option<Node> {
    match inner {
        Node::Set(_) => Some(inner),
        Node::Concat(mut parts) if parts.len() == 1 => atomic(parts.remove(0)),
        Node::Repeat {
            node,
            least,
            most,
            greedy: true,
        } => {
            let (set, false) = one_character(&node)? else {
                return None;
            };
            let repeated = |least: usize, most: Option<usize>| Node::Repeat {
                node: Node::Set(set.clone()).into(),
                least,
                most,
                greedy: true,
            };
            let guard = next(complement(set.clone()), true);
            Some(match most {
                None => Node::Concat(vec![repeated(least, None), guard]),
                Some(most) if most <= least => repeated(least, Some(most)),
                Some(most) => Node::Alternatives(vec![
                    repeated(most, Some(most)),
                    Node::Concat(vec![repeated(least, Some(most - 1)), guard]),
                ]),
            })
        }
        _ => None,
    }
}

/// Returns the least number of characters that an expression matches.
pub(super) fn shortest(node: &Node) -> usize {
    match node {
        Node::Set(_) => 1,
        Node::Concat(parts) => parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(shortest(part))),
        Node::Alternatives(parts) => parts.iter().map(shortest).min().unwrap_or(0),
        Node::Repeat { node, least, .. } => shortest(node).saturating_mul(*least),
        Node::Next { .. } | Node::Previous { .. } | Node::Ahead { .. } => 0,
    }
}

/// Returns characters of which every match has at least one; none if there are no such characters.
pub(super) fn needed(node: &Node) -> Option<ClassUnicode> {
    match node {
        Node::Set(set) => Some(set.clone()),
        Node::Concat(parts) => {
            let size = |set: &ClassUnicode| -> usize {
                let sizes = set.iter().map(regex_syntax::hir::ClassUnicodeRange::len);
                sizes.sum()
            };
            parts.iter().filter_map(needed).min_by_key(size)
        }
        Node::Alternatives(parts) => {
            let mut whole = ClassUnicode::empty();
            for part in parts {
                whole.union(&needed(part)?);
            }
            Some(whole)
        }
        Node::Repeat { node, least, .. } if *least > 0 => needed(node),
        Node::Repeat { .. } | Node::Next { .. } | Node::Previous { .. } | Node::Ahead { .. } => {
            None
        }
    }
}
