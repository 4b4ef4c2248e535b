//! Pre-tokenizers: how text is cut.

use super::json::{At, FileError};
use super::pattern::{check_patterns, pattern};
use crate::split::chain::{self as split, Behavior, Pattern};

/// Steps of a pre-tokenizer, each of which may have tables of its own. Files of models have a few.
const MOST_STEPS: usize = 32;

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
    /// Whether it does so with each of the words between white space, which is dropped.
    pub is_of_words: bool,
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

/// Reads a pre-tokenizer.
pub(super) fn read_pre_tokenizer(pre_tokenizer: &At<'_>) -> Result<PreTokenizer, FileError> {
    let mut read = PreTokenizer::default();
    let steps = pre_tokenizer.steps("pretokenizers")?;
    if steps.len() > MOST_STEPS {
        return Err(pre_tokenizer.refuse(format!(
            "expected at most {MOST_STEPS} steps, got {}",
            steps.len()
        )));
    }
    check_patterns(pre_tokenizer, &steps)?;
    for step in steps {
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
        "CharDelimiterSplit" => steps.push(Step::Split {
            pattern: Pattern::Text(step.get("delimiter")?.character()?.to_string()),
            behavior: Behavior::Removed,
            invert: false,
        }),
        "Digits" => steps.push(Step::Digits {
            individual: step.get("individual_digits")?.flag()?,
        }),
        "Punctuation" => {
            let behavior = step.entry("behavior")?.as_ref().map(behavior);
            let behavior = behavior.unwrap_or(Ok(Behavior::Isolated))?;
            steps.push(Step::Punctuation(behavior));
        }
        "Whitespace" => steps.push(Step::Whitespace),
        "WhitespaceSplit" => steps.push(Step::WhitespaceSplit),
        "BertPreTokenizer" => {
            steps.extend([Step::WhitespaceSplit, Step::Punctuation(Behavior::Isolated)]);
        }
        "ByteLevel" => {
            if read.is_byte_level {
                return Err(kind.refuse("ByteLevel is there twice, which is not supported"));
            }
            if read.metaspace.is_some() {
                return Err(kind.refuse("ByteLevel behind Metaspace is not supported"));
            }
            let byte_level = byte_level(step)?;
            if byte_level.adds_space {
                if !is_first {
                    return Err(step.get("add_prefix_space")?.refuse(
                        "expected false behind another step: a space before each of its pieces is not supported",
                    ));
                }
                read.adds_space = true;
            }
            if byte_level.splits {
                steps.push(Step::Gpt2);
            }
            steps.push(Step::ByteLevel);
            read.is_byte_level = true;
        }
        "Metaspace" => {
            if read.metaspace.is_some() {
                return Err(kind.refuse("Metaspace is there twice, which is not supported"));
            }
            let is_of_words = *steps == [Step::WhitespaceSplit];
            if !is_first && !is_of_words {
                let reason = "Metaspace behind another step than WhitespaceSplit is not supported";
                return Err(kind.refuse(reason));
            }
            steps.clear();
            read.metaspace = Some(Metaspace {
                is_of_words,
                ..metaspace(step)?
            });
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

/// The options of `ByteLevel`.
pub(super) struct ByteLevel {
    /// Whether a space is put before a text that does not begin with one.
    adds_space: bool,
    /// Whether text is cut as GPT-2 does it.
    splits: bool,
}

/// Reads the options of `ByteLevel`, which has all of them as a decoder and as a post-processor as well.
pub(super) fn byte_level(step: &At<'_>) -> Result<ByteLevel, FileError> {
    // It changes the offsets of tokens alone.
    step.get("trim_offsets")?.flag()?;
    Ok(ByteLevel {
        adds_space: step.get("add_prefix_space")?.flag()?,
        splits: step.flag_of("use_regex", true)?,
    })
}

/// Reads the options of `Metaspace`, in either spelling.
pub(super) fn metaspace(step: &At<'_>) -> Result<Metaspace, FileError> {
    let scheme = step.entry("prepend_scheme")?;
    let older = step.get("add_prefix_space")?;
    let read = match (&scheme, older.is_null()) {
        (Some(scheme), _) => match scheme.text()? {
            "always" => Scheme::Always,
            "first" => Scheme::First,
            "never" => Scheme::Never,
            other => {
                return Err(
                    scheme.refuse(format!("expected always, first or never, got {other:?}"))
                );
            }
        },
        (None, false) if !older.flag()? => Scheme::Never,
        (None, _) => Scheme::Always,
    };
    // The library refuses to load what contradicts itself.
    if scheme.is_some() && !older.is_null() && !older.flag()? && read != Scheme::Never {
        return Err(older.refuse("expected true, as prepend_scheme is not never"));
    }
    Ok(Metaspace {
        replacement: step.get("replacement")?.character()?,
        scheme: read,
        splits: step.get("split")?.flag_or(true)?,
        is_of_words: false,
    })
}
