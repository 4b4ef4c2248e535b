//! Decoders: the way from ids to text.

use super::json::{At, FileError};
use super::normalizer::check_growth;
use super::pattern::{is_start, pattern};
use super::pre_tokenizer::{Metaspace, byte_level, metaspace};
use crate::split::chain::Pattern;

/// A step from the texts of tokens to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecoderStep {
    /// Characters stand for bytes; what is not UTF-8 in the end is replaced.
    ByteLevel,
    /// Names of bytes become bytes.
    ByteFallback,
    /// All texts become one.
    Fuse,
    /// Each occurrence of a text becomes `content`.
    Replace {
        /// The text.
        text: String,
        /// The text that stands there then.
        content: String,
    },
    /// A character is taken away at both ends.
    Strip {
        /// The character.
        content: char,
        /// The most at the start.
        start: usize,
        /// The most at the end.
        stop: usize,
    },
    /// A character becomes a space; the first of all is taken away unless none was put there.
    Metaspace(Metaspace),
    /// The end of a word becomes a space, except the last.
    WordEnd(String),
    /// Words have spaces between them, and their parts have not.
    WordPiece {
        /// Stands before each part of a word but the first, and is taken away.
        prefix: String,
        /// Whether spaces before marks of punctuation and in English contractions are taken away.
        cleanup: bool,
    },
}

impl DecoderStep {
    /// Returns the maximum number of output bytes for an input byte.
    fn growth(&self) -> usize {
        match self {
            Self::Replace { text, content } => content.len().div_ceil(text.len()).max(1),
            _ => 1,
        }
    }
}

/// Reads a decoder; `None` if there is none.
pub(super) fn read_decoder(decoder: &At<'_>) -> Result<Option<Vec<DecoderStep>>, FileError> {
    if decoder.is_null() {
        return Ok(None);
    }
    let steps = decoder.steps("decoders")?;
    let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    let growths = steps.iter().map(DecoderStep::growth);
    check_growth(decoder, growths.fold(1, usize::saturating_mul))?;
    Ok(Some(steps))
}

fn step(step: &At<'_>) -> Result<DecoderStep, FileError> {
    let (kind, name) = step.kind()?;
    Ok(match name {
        "ByteLevel" => {
            byte_level(step)?;
            DecoderStep::ByteLevel
        }
        "ByteFallback" => DecoderStep::ByteFallback,
        "Fuse" => DecoderStep::Fuse,
        "Replace" => {
            let content = step.get("content")?.text()?.to_owned();
            match pattern(&step.get("pattern")?)? {
                Pattern::Text(text) if text.is_empty() => {
                    return Err(step
                        .get("pattern")?
                        .refuse("expected a text that is not empty"));
                }
                Pattern::Text(text) => DecoderStep::Replace { text, content },
                // One space at the start of a text.
                Pattern::Regex(regex)
                    if content.is_empty() && regex.strip_suffix(' ').is_some_and(is_start) =>
                {
                    DecoderStep::Strip {
                        content: ' ',
                        start: 1,
                        stop: 0,
                    }
                }
                Pattern::Regex(_) => {
                    return Err(step
                        .get("pattern")?
                        .refuse("expected a String: a Regex is not supported"));
                }
            }
        }
        "Strip" => DecoderStep::Strip {
            content: step.get("content")?.character()?,
            start: step.get("start")?.number()? as usize,
            stop: step.get("stop")?.number()? as usize,
        },
        "Metaspace" => DecoderStep::Metaspace(metaspace(step)?),
        "WordPiece" => DecoderStep::WordPiece {
            prefix: step.get("prefix")?.text()?.to_owned(),
            cleanup: step.get("cleanup")?.flag()?,
        },
        "BPEDecoder" => DecoderStep::WordEnd(step.get("suffix")?.text()?.to_owned()),
        _ => return Err(kind.refuse(format!("the decoder {name} is not supported"))),
    })
}
