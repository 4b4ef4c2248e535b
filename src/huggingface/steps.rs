//! Normalizers, and how text is cut.

use super::json::{At, FileError};
use crate::normalize::chain::{self as normalize, Find};
use crate::split::chain::oniguruma;
use crate::split::chain::step::{self as split, Behavior, Pattern};

/// How text is cut, and what else the pre-tokenizer does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreTokenizer {
    /// How text is cut.
    pub steps: Vec<split::Step>,
    /// Whether a space is put before a text that does not begin with one.
    pub adds_space: bool,
    /// Whether the model sees bytes as characters.
    pub is_byte_level: bool,
    /// How spaces are written, before text is cut.
    pub metaspace: Option<Metaspace>,
}

/// Writes spaces as another character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metaspace {
    /// The character.
    pub replacement: char,
    /// Where it is put in front.
    pub scheme: Scheme,
    /// Whether text is cut before each.
    pub splits: bool,
}

/// Where a character is put in front of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Before each text between added tokens.
    Always,
    /// At the start of the whole text.
    First,
    /// Nowhere.
    Never,
}

/// Reads a normalizer as its steps.
pub(super) fn normalizers(normalizer: &At<'_>) -> Result<Vec<normalize::Step>, FileError> {
    normalizer
        .steps("normalizers")?
        .iter()
        .map(normalizer_step)
        .collect()
}

fn normalizer_step(step: &At<'_>) -> Result<normalize::Step, FileError> {
    use normalize::Step;
    let (kind, name) = step.kind()?;
    Ok(match name {
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
        "Prepend" => Step::Prepend(step.get("prepend")?.text()?.to_owned()),
        "Replace" => {
            let find = match pattern(&step.get("pattern")?)? {
                Pattern::Text(text) => Find::Text(text),
                Pattern::Regex(regex) => Find::Regex(Box::new(self::regex(step, &regex)?)),
            };
            let content = step.get("content")?.text()?.to_owned();
            Step::Replace { find, content }
        }
        _ => return Err(kind.refuse(format!("the normalizer {name} is not supported"))),
    })
}

/// Compiles a regular expression of the file.
fn regex(step: &At<'_>, regex: &str) -> Result<fancy_regex::Regex, FileError> {
    let refuse = |reason: String| match step.get("pattern").and_then(|at| at.get("Regex")) {
        Ok(at) => at.refuse(reason),
        Err(error) => error,
    };
    let translated = oniguruma::translate(regex).map_err(|error| refuse(error.to_string()))?;
    fancy_regex::Regex::new(&translated).map_err(|error| refuse(error.to_string()))
}

/// Reads what a step looks for.
pub(super) fn pattern(pattern: &At<'_>) -> Result<Pattern, FileError> {
    let (text, regex) = (pattern.get("String")?, pattern.get("Regex")?);
    match (text.is_null(), regex.is_null()) {
        (false, true) => Ok(Pattern::Text(text.text()?.to_owned())),
        (true, false) => Ok(Pattern::Regex(regex.text()?.to_owned())),
        _ => Err(pattern.refuse("expected a String or a Regex")),
    }
}

/// Reads a pre-tokenizer.
pub(super) fn pre_tokenizer(pre_tokenizer: &At<'_>) -> Result<PreTokenizer, FileError> {
    let mut read = PreTokenizer::default();
    for step in pre_tokenizer.steps("pretokenizers")? {
        add_step(&step, &mut read)?;
    }
    Ok(read)
}

fn add_step(step: &At<'_>, read: &mut PreTokenizer) -> Result<(), FileError> {
    use split::Step;
    let (kind, name) = step.kind()?;
    let is_first = read.steps.is_empty() && !read.is_byte_level && read.metaspace.is_none();
    let steps = &mut read.steps;
    match name {
        "Split" => steps.push(Step::Split {
            pattern: pattern(&step.get("pattern")?)?,
            behavior: behavior(&step.get("behavior")?)?,
            invert: step.get("invert")?.flag()?,
        }),
        "Digits" => steps.push(Step::Digits {
            individual: step.get("individual_digits")?.flag()?,
        }),
        "Punctuation" => {
            let field = step.get("behavior")?;
            let behavior = if field.is_null() {
                Behavior::Isolated
            } else {
                behavior(&field)?
            };
            steps.push(Step::Punctuation(behavior));
        }
        "Whitespace" => steps.push(Step::Whitespace),
        "WhitespaceSplit" => steps.push(Step::WhitespaceSplit),
        "ByteLevel" => {
            if read.is_byte_level {
                return Err(kind.refuse("ByteLevel is there twice, which is not supported"));
            }
            if step.get("add_prefix_space")?.flag()? {
                if !is_first {
                    return Err(step.get("add_prefix_space")?.refuse(
                        "expected false behind another step: a space before each of its pieces is not supported",
                    ));
                }
                read.adds_space = true;
            }
            if step.get("use_regex")?.flag_or(true)? {
                steps.push(Step::Gpt2);
            }
            steps.push(Step::ByteLevel);
            read.is_byte_level = true;
        }
        "Metaspace" => {
            if !is_first {
                return Err(kind.refuse("Metaspace behind another step is not supported"));
            }
            read.metaspace = Some(metaspace(step)?);
        }
        _ => return Err(kind.refuse(format!("the pre-tokenizer {name} is not supported"))),
    }
    Ok(())
}

fn behavior(behavior: &At<'_>) -> Result<Behavior, FileError> {
    Ok(match behavior.text()? {
        "Isolated" => Behavior::Isolated,
        "Removed" => Behavior::Removed,
        "Contiguous" => Behavior::Contiguous,
        "MergedWithPrevious" => Behavior::MergedWithPrevious,
        "MergedWithNext" => Behavior::MergedWithNext,
        other => {
            return Err(behavior.refuse(format!(
                "expected Isolated, Removed, Contiguous, MergedWithPrevious or MergedWithNext, got {other:?}"
            )));
        }
    })
}

/// Reads the options of `Metaspace`, in either spelling.
pub(super) fn metaspace(step: &At<'_>) -> Result<Metaspace, FileError> {
    let replacement = step.get("replacement")?;
    let mut characters = replacement.text()?.chars();
    let (Some(character), None) = (characters.next(), characters.next()) else {
        return Err(replacement.refuse("expected one character"));
    };
    let scheme = step.get("prepend_scheme")?;
    let older = step.get("add_prefix_space")?;
    let read = match (scheme.is_null(), older.is_null()) {
        (false, _) => match scheme.text()? {
            "always" => Scheme::Always,
            "first" => Scheme::First,
            "never" => Scheme::Never,
            other => {
                return Err(
                    scheme.refuse(format!("expected always, first or never, got {other:?}"))
                );
            }
        },
        (true, false) if !older.flag()? => Scheme::Never,
        (true, _) => Scheme::Always,
    };
    // The library refuses to load what contradicts itself.
    if !scheme.is_null() && !older.is_null() && !older.flag()? && read != Scheme::Never {
        return Err(older.refuse("expected true, as prepend_scheme is not never"));
    }
    Ok(Metaspace {
        replacement: character,
        scheme: read,
        splits: step.get("split")?.flag_or(true)?,
    })
}
