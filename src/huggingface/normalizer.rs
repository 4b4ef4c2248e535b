//! Normalizers, as steps.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;

use super::json::{At, FileError};
use super::pattern::{check_patterns, is_start, pattern};
use crate::normalize::chain::{self as normalize, Find, Precompiled};
use crate::split::chain::{Pattern, oniguruma};
use crate::util::regex::{self, Regex};

/// The maximum number of output bytes of a normalizer or decoder for each input byte.
const MOST_GROWTH: usize = 1 << 10;

/// Checks how many times as long the steps of a component can make a text.
pub(super) fn check_growth(component: &At<'_>, growth: usize) -> Result<(), FileError> {
    if growth > MOST_GROWTH {
        return Err(component.refuse(format!(
            "its steps can make a text {growth} times as long: expected at most {MOST_GROWTH} times"
        )));
    }
    Ok(())
}

/// Reads a normalizer as its steps.
pub(super) fn read_normalizers(normalizer: &At<'_>) -> Result<Vec<normalize::Step>, FileError> {
    let steps = normalizer.steps("normalizers")?;
    let expressions = check_patterns(normalizer, &steps)?;
    let mut read = Vec::new();
    for step in steps {
        add_normalizer(&step, expressions, &mut read)?;
    }
    let none = normalize::Growth::NONE;
    let growth = read.iter().fold(none, |growth, step| step.most(growth));
    check_growth(normalizer, growth.of_a_byte())?;
    Ok(read)
}

/// Returns the steps that BERT's normalizer takes.
fn bert_steps(step: &At<'_>) -> Result<Vec<normalize::Step>, FileError> {
    use normalize::Step;
    let lowers = step.get("lowercase")?.flag()?;
    let strips = step.get("strip_accents")?.flag_or(lowers)?;
    let steps = [
        (step.get("clean_text")?.flag()?, Step::CleanText),
        (step.get("handle_chinese_chars")?.flag()?, Step::IsolateHan),
        (strips, Step::Nfd),
        (strips, Step::StripNonspacing),
        (lowers, Step::Lowercase),
    ];
    let taken = steps.map(|(is_taken, step)| is_taken.then_some(step));
    Ok(taken.into_iter().flatten().collect())
}

fn add_normalizer(
    step: &At<'_>,
    expressions: usize,
    read: &mut Vec<normalize::Step>,
) -> Result<(), FileError> {
    use normalize::Step;
    let (kind, name) = step.kind()?;
    read.push(match name {
        "BertNormalizer" => {
            read.extend(bert_steps(step)?);
            return Ok(());
        }
        "NFC" => Step::Nfc,
        "NFD" => Step::Nfd,
        "NFKC" => Step::Nfkc,
        "NFKD" => Step::Nfkd,
        "Lowercase" => Step::Lowercase,
        "StripAccents" => Step::StripAccents,
        "Strip" => Step::Strip {
            left: step.get("strip_left")?.flag()?,
            right: step.get("strip_right")?.flag()?,
        },
        "Nmt" => Step::Nmt,
        "Precompiled" => {
            let map = step.get("precompiled_charsmap")?;
            let refuse = |error: &dyn fmt::Display| map.refuse(error.to_string());
            let blob = BASE64.decode(map.text()?).map_err(|error| refuse(&error))?;
            let map = Precompiled::parse(&blob).map_err(|error| refuse(&error))?;
            Step::Precompiled(Arc::new(map))
        }
        "Prepend" => Step::Prepend(step.get("prepend")?.text()?.to_owned()),
        "Replace" => {
            let content = step.get("content")?.text()?.to_owned();
            match pattern(&step.get("pattern")?)? {
                Pattern::Regex(regex) if is_start(&regex) => Step::Insert(content),
                Pattern::Regex(regex) if regex != " " => Step::Replace {
                    find: Find::Regex(Box::new(self::regex(step, &regex, expressions)?)),
                    content,
                },
                Pattern::Text(text) | Pattern::Regex(text) => Step::Replace {
                    find: Find::Text(text),
                    content,
                },
            }
        }
        _ => return Err(kind.refuse(format!("the normalizer {name} is not supported"))),
    });
    Ok(())
}

/// Compiles one of the regular expressions of the file, of which there are `expressions`.
fn regex(step: &At<'_>, regex: &str, expressions: usize) -> Result<Regex, FileError> {
    let refuse = |reason: String| match step.get("pattern").and_then(|at| at.get("Regex")) {
        Ok(at) => at.refuse(reason),
        Err(error) => error,
    };
    let translated = oniguruma::translate(regex).map_err(|error| refuse(error.to_string()))?;
    regex::compiled(&translated, expressions).map_err(|error| refuse(error.to_string()))
}
