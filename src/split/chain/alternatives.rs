//! Patterns of texts and classes: `'s|'t|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+`, as that of CLIP.

use fancy_regex::Expr;
use regex_syntax::hir::ClassUnicode;

use crate::unicode::set;
use crate::util::regex;

/// The texts and classes that a pattern looks for where a match may begin.
pub(super) struct Alternatives {
    /// The texts, which are tried first, in this order. None of them begins with one before it.
    pub(super) texts: Vec<String>,
    /// The classes. No two of them share a character.
    pub(super) runs: Vec<Run>,
}

/// A class of characters.
pub(super) struct Run {
    pub(super) class: ClassUnicode,
    /// Whether a match is one character of the class, not all of them that stand in a row.
    pub(super) is_single: bool,
}

impl Alternatives {
    /// Returns the alternatives of a pattern in the syntax of fancy-regex; `None` if it is any other pattern.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let tree = regex::parse(pattern).ok()?;
        let Expr::Alt(parts) = tree else {
            return None;
        };
        let mut found = Self {
            texts: Vec::new(),
            runs: Vec::new(),
        };
        for part in &parts {
            match text_of(part) {
                Some(text) if found.runs.is_empty() => found.texts.push(text),
                _ => found.runs.push(run_of(part)?),
            }
        }
        let is_free = |text: &str, others: &[String]| {
            let mut others = others.iter();
            others.all(|other| !text.starts_with(other.as_str()))
        };
        let mut texts = found.texts.iter().enumerate();
        let are_free = texts.all(|(number, text)| is_free(text, &found.texts[..number]));
        let mut all = ClassUnicode::empty();
        let are_apart = found.runs.iter().all(|run| {
            let mut shared = all.clone();
            shared.intersect(&run.class);
            all.union(&run.class);
            shared.ranges().is_empty()
        });
        (are_free && are_apart && !found.runs.is_empty()).then_some(found)
    }
}

/// Returns the text that an expression matches; `None` if it matches anything else.
fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Literal { val, casei: false } => Some(val.clone()),
        Expr::Concat(parts) => parts.iter().map(text_of).collect(),
        _ => None,
    }
}

fn run_of(expression: &Expr) -> Option<Run> {
    let (class, is_single) = match set::of_run(expression) {
        Some((class, 1)) => (class, false),
        Some(_) => return None,
        None => (set::of_expression(expression, false)?, true),
    };
    Some(Run { class, is_single })
}
