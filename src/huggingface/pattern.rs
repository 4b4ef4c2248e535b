//! Patterns of normalizers, pre-tokenizers and decoders, and their limits.

use super::json::{At, FileError};
use crate::split::chain::Pattern;

// Limits of what a file of some bytes may ask for in memory and time. Files of models have a few patterns.

/// Regular expressions of a component, and bytes of all its patterns.
const MOST_EXPRESSIONS: usize = 128;
const MOST_PATTERN_BYTES: usize = 1 << 15;

/// Reads what a step looks for.
pub(super) fn pattern(pattern: &At<'_>) -> Result<Pattern, FileError> {
    match pattern.only_entry()? {
        Some(("String", text)) => Ok(Pattern::Text(text.text()?.to_owned())),
        Some(("Regex", regex)) => Ok(Pattern::Regex(regex.text()?.to_owned())),
        _ => Err(pattern.refuse("expected a String or a Regex, and nothing else")),
    }
}

/// Returns whether a regular expression matches the start of a text and nothing else: that of a line, but behind no newline.
pub(super) fn is_start(regex: &str) -> bool {
    [r"(?<!\n)^", "(?<!\n)^"].contains(&regex)
}

/// Checks the number of regular expressions and the length of all patterns of some steps. Returns that number.
pub(super) fn check_patterns(component: &At<'_>, steps: &[At<'_>]) -> Result<usize, FileError> {
    let (mut expressions, mut bytes) = (0, 0);
    for step in steps {
        for kind in ["Regex", "String"] {
            let field = step.get("pattern").and_then(|pattern| pattern.get(kind));
            if let Some(text) = field.ok().and_then(|field| field.text().ok()) {
                expressions += usize::from(kind == "Regex");
                bytes += text.len();
            }
        }
    }
    if expressions > MOST_EXPRESSIONS {
        return Err(component.refuse(format!(
            "expected at most {MOST_EXPRESSIONS} regular expressions, got {expressions}"
        )));
    }
    if bytes > MOST_PATTERN_BYTES {
        return Err(component.refuse(format!(
            "expected patterns of at most {MOST_PATTERN_BYTES} bytes together, got {bytes}"
        )));
    }
    Ok(expressions)
}
