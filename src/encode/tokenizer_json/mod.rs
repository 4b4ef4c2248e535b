//! The encoder of a `tokenizer.json`.
//!
//! ```text
//! ranks.rs        whether merging by rank gives the same ids, and whether that is all
//! vocabulary.rs   tokens, and merges as they are listed or words, for all other files
//! mod.rs          how texts come to be pieces
//! decode.rs       ids → text
//! text_steps.rs   what decoders do to the texts of tokens, one after the other
//! ```
//!
//! Where the file writes spaces as U+2581, as SentencePiece does, the tables have spaces in place of these marks, so that
//! text is read where it stands; and where it does not cut text, text is cut between characters that no token joins.

pub(in crate::encode) mod decode;
mod ranks;
pub(in crate::encode) mod text_steps;
mod vocabulary;

use std::collections::HashMap;
use std::sync::Arc;

use super::Encoder;
use super::decode::Decoder;
use super::pipeline::added::AddedToken;
use super::pipeline::{Marks, Normalization, Pipeline, Prefix};
use super::special::SpecialTokens;
use crate::huggingface::{
    Added, FileError, Kind, Merging, Metaspace, Scheme, Scores, TokenizerFile,
};
use crate::normalize::chain::{Chain, Find, Step as Normalizing};
use crate::split::Splitter;
use crate::split::adjacent::Adjacency;
use crate::split::chain::{Behavior, Pattern, Step};
use crate::token::TokenId;
use crate::util::hash::SeededState;
use crate::util::tier::Tier;
use crate::vocabulary::characters::MARK;
use crate::vocabulary::words::Parts;
use decode::FileDecoder;
use ranks::{Ids, Merges};
use vocabulary::Tables;

/// The encoder of a file.
#[derive(Debug)]
pub struct FileEncoder {
    /// The encoder.
    pub encoder: Encoder,
    /// The pattern whose matches are the pieces, if it merges these by rank; nothing else is done to texts then.
    pub pattern: Option<String>,
}

impl FileEncoder {
    /// Builds the encoder of a file. Its ids are those of `tokenizers`, without the special tokens around a text.
    ///
    /// `special_tokens` are found where they are allowed; those of the file that are not among them are not found.
    ///
    /// # Errors
    /// [`FileError`] if something in it is not supported.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn new(file: &TokenizerFile<'_>, special_tokens: SpecialTokens) -> Result<Self, FileError> {
        let ids = ranks::ids(&file.model)?;
        let rule = rule(file, &ids)?;
        if let Rule::Merges(_, merges) = &rule
            && let Some((pattern, splitter)) = ranks::splitter(file, &ids)
            && let Some(vocabulary) = ranks::vocabulary(file, merges, false)
        {
            return Ok(Self {
                encoder: Encoder::new(Arc::new(vocabulary), special_tokens, splitter),
                pattern: Some(pattern),
            });
        }
        Ok(Self {
            encoder: Encoder::of_parts(file, &ids, rule, special_tokens)?,
            pattern: None,
        })
    }
}

impl Encoder {
    /// As [`FileEncoder::new`], always with all that the file does to texts.
    ///
    /// # Errors
    /// As [`FileEncoder::new`].
    ///
    /// # Complexity
    /// O(bytes).
    pub fn of_file(
        file: &TokenizerFile<'_>,
        special_tokens: SpecialTokens,
    ) -> Result<Self, FileError> {
        let ids = ranks::ids(&file.model)?;
        let rule = rule(file, &ids)?;
        Self::of_parts(file, &ids, rule, special_tokens)
    }

    fn of_parts(
        file: &TokenizerFile<'_>,
        ids: &Ids<'_>,
        rule: Rule<'_>,
        special_tokens: SpecialTokens,
    ) -> Result<Self, FileError> {
        let Plan {
            normalizers,
            marks,
            prefix,
            steps,
        } = plan(file)?;
        let names = names(file)?;
        let Tables {
            vocabulary,
            adjacency,
            fused,
        } = {
            let has_marks = marks != Marks::Nothing;
            match rule {
                Rule::Merges(merging, merges) => {
                    vocabulary::of_merges(file, (merging, merges), ids, &names, has_marks)?
                }
                Rule::Words(parts) => vocabulary::of_words(file, parts, ids, &names, has_marks)?,
                Rule::Scores(scores) => {
                    vocabulary::of_scores(file, scores, ids, &names, has_marks)?
                }
            }
        };
        let refuse = |path: &str, reason: String| FileError::new(path, reason);
        let cuts = steps.iter().filter(|step| **step != Step::ByteLevel);
        let adjacency = match *cuts.collect::<Vec<_>>() {
            [] => adjacency,
            // What one unknown token stands for would have to end there too.
            [step] if *step == before_spaces() && fused.is_none() => {
                adjacency.map(Adjacency::by_words)
            }
            _ => None,
        };
        let splitter = match adjacency {
            Some(adjacency) => Splitter::Adjacent(adjacency.into(), Tier::current()),
            None => Splitter::from_chain(&steps)
                .map_err(|error| refuse("pre_tokenizer", error.to_string()))?,
        };
        let normalizer =
            Chain::new(normalizers).map_err(|error| refuse("normalizer", error.to_string()))?;
        let fused = fused.filter(|_| matches!(splitter, Splitter::Adjacent(..)));
        let pipeline = Pipeline {
            added: Some(added(file)),
            symbols: Vec::new(),
            normalization: Normalization::Chain(normalizer),
            prefix,
            marks,
            fused,
            splitter,
        };
        let decoder = FileDecoder::new(file, &names, &vocabulary, marks != Marks::Nothing);
        let encoder = Self::with_pipeline(Arc::new(vocabulary), special_tokens, pipeline)
            .map_err(|error| refuse("added_tokens", error.to_string()))?;
        Ok(Self {
            decoder: Some(Decoder::File(Arc::new(decoder))),
            ..encoder
        })
    }
}

/// How pieces become tokens, by the ids of these.
enum Rule<'a> {
    Merges(&'a Merging<'a>, Merges),
    Words(&'a Parts),
    Scores(&'a Scores),
}

fn rule<'a>(file: &'a TokenizerFile<'_>, ids: &Ids<'_>) -> Result<Rule<'a>, FileError> {
    Ok(match &file.model.kind {
        Kind::Merges(merging) => Rule::Merges(merging, ranks::merges(merging, ids)?),
        Kind::Words(parts) => Rule::Words(parts),
        Kind::Unigram(scores) => Rule::Scores(scores),
    })
}

/// The texts that the ids of added tokens have for the decoder: whatever else has such an id, and normalized if the token
/// is.
type Names = HashMap<TokenId, String, SeededState>;

fn names(file: &TokenizerFile<'_>) -> Result<Names, FileError> {
    let refuse = |path: &str, reason: String| FileError::new(path, reason);
    // Most files have no such token, and to prepare the steps takes a part of loading.
    let is_normalized = file.added.iter().any(|token| token.normalized);
    let steps = if is_normalized {
        file.normalizers.clone()
    } else {
        Vec::new()
    };
    let normalizer = Chain::new(steps).map_err(|error| refuse("normalizer", error.to_string()))?;
    let name = |token: &Added| {
        if !token.normalized {
            return Ok((token.id, token.content.clone()));
        }
        let mut name = String::new();
        normalizer
            .normalize(&token.content, &mut name, None)
            .map_err(|error| refuse("added_tokens", error.to_string()))?;
        Ok((token.id, name))
    };
    file.added.iter().map(name).collect()
}

fn added(file: &TokenizerFile<'_>) -> Vec<AddedToken> {
    let added = file.added.iter().map(|token| AddedToken {
        content: token.content.clone(),
        id: token.id,
        special: token.special,
        lstrip: token.lstrip,
        rstrip: token.rstrip,
        single_word: token.single_word,
        normalized: token.normalized,
    });
    added.collect()
}

/// How texts come to be pieces.
struct Plan {
    normalizers: Vec<Normalizing>,
    marks: Marks,
    prefix: Prefix,
    steps: Vec<Step>,
}

/// Decides where spaces stand for marks.
fn plan(file: &TokenizerFile<'_>) -> Result<Plan, FileError> {
    let pre_tokenizer = &file.pre_tokenizer;
    let plain = |prefix| Plan {
        normalizers: file.normalizers.clone(),
        marks: Marks::Nothing,
        prefix,
        steps: pre_tokenizer.steps.clone(),
    };
    let marked = marked(&file.normalizers).filter(|_| !pre_tokenizer.is_byte_level);
    let normalizers = marked
        .as_ref()
        .map_or(&file.normalizers, |marked| &marked.normalizers);
    if normalizers
        .iter()
        .any(|step| matches!(step, Normalizing::Insert(_)))
    {
        let reason =
            "a Replace at the start of a text is only supported before one of spaces by marks";
        return Err(FileError::new("normalizer", reason));
    }
    if pre_tokenizer.is_byte_level {
        let prefix = if pre_tokenizer.adds_space {
            Prefix::UnlessSpace
        } else {
            Prefix::Nothing
        };
        return Ok(plain(prefix));
    }
    let steps = without_marks(&pre_tokenizer.steps);
    match (marked, &pre_tokenizer.metaspace, steps) {
        (Some(marked), None, Some(steps)) => Ok(Plan { steps, ..marked }),
        (marked, Some(metaspace), Some(steps)) => with_metaspace(file, marked, metaspace, steps),
        (_, None, _) => Ok(plain(Prefix::Nothing)),
        (_, Some(_), None) => Err(FileError::new(
            "pre_tokenizer.pretokenizers[1]",
            "expected no step but Digits behind Metaspace: others are not supported",
        )),
    }
}

/// Returns the plan of a pre-tokenizer that writes spaces as marks.
fn with_metaspace(
    file: &TokenizerFile<'_>,
    marked: Option<Plan>,
    metaspace: &Metaspace,
    mut steps: Vec<Step>,
) -> Result<Plan, FileError> {
    let path = "pre_tokenizer";
    if metaspace.replacement != MARK {
        let reason = format!(
            "expected Metaspace with {MARK:?}, got {:?}",
            metaspace.replacement
        );
        return Err(FileError::new(path, reason));
    }
    if metaspace.is_of_words {
        return match (marked, metaspace.scheme, metaspace.splits) {
            (None, Scheme::Always, true) => {
                steps.insert(0, before_spaces());
                Ok(Plan {
                    normalizers: file.normalizers.clone(),
                    marks: Marks::Words,
                    prefix: Prefix::UnlessSpace,
                    steps,
                })
            }
            _ => Err(FileError::new(
                path,
                "expected Metaspace behind WhitespaceSplit with the prepend_scheme always, and split, and no normalizer \
                 that writes marks: others are not supported",
            )),
        };
    }
    if metaspace.splits {
        steps.insert(0, before_spaces());
    }
    let prefix = match metaspace.scheme {
        Scheme::Always => Prefix::UnlessSpace,
        Scheme::First => Prefix::FirstUnlessSpace,
        Scheme::Never => Prefix::Nothing,
    };
    match marked {
        None => Ok(Plan {
            normalizers: file.normalizers.clone(),
            marks: Marks::Segments,
            prefix,
            steps,
        }),
        Some(marked) if marked.prefix == Prefix::Nothing => Ok(Plan {
            prefix,
            steps,
            ..marked
        }),
        Some(marked) if prefix == Prefix::Nothing => Ok(Plan { steps, ..marked }),
        Some(_) => Err(FileError::new(
            path,
            "Metaspace puts a mark in front, and so does the normalizer, which is not supported together",
        )),
    }
}

/// Returns the step that cuts text before each space.
fn before_spaces() -> Step {
    Step::Split {
        pattern: Pattern::Text(" ".to_owned()),
        behavior: Behavior::MergedWithNext,
        invert: false,
    }
}

/// Returns the plan of normalizers that write each space as a mark, last of all but for a mark in front. In their stead
/// each mark becomes a space.
fn marked(normalizers: &[Normalizing]) -> Option<Plan> {
    let is_mark = |step: &Normalizing| match step {
        Normalizing::Replace {
            find: Find::Text(text),
            content,
        } => text == " " && content.chars().eq([MARK]),
        _ => false,
    };
    let is_empty_prefix = |step: &Normalizing| match step {
        Normalizing::Insert(text) => text.chars().eq([MARK]),
        _ => false,
    };
    let is_prefix = |step: &Normalizing, spaces_too: bool| match step {
        Normalizing::Prepend(text) => text.chars().eq([MARK]) || spaces_too && text == " ",
        _ => false,
    };
    let (rest, prefix) = match normalizers {
        [rest @ .., prepend, replace] if is_mark(replace) && is_prefix(prepend, true) => {
            (rest, Prefix::Always)
        }
        [rest @ .., replace, prepend] if is_mark(replace) && is_prefix(prepend, false) => {
            (rest, Prefix::Always)
        }
        [rest @ .., insert, replace] if is_mark(replace) && is_empty_prefix(insert) => {
            (rest, Prefix::AlwaysEmpty)
        }
        [rest @ .., replace] if is_mark(replace) => (rest, Prefix::Nothing),
        _ => return None,
    };
    let mut normalizers = rest.to_vec();
    normalizers.push(Normalizing::Replace {
        find: Find::Text(MARK.to_string()),
        content: " ".to_owned(),
    });
    Some(Plan {
        normalizers,
        marks: Marks::Normalized,
        prefix,
        steps: Vec::new(),
    })
}

/// Returns the steps as they are where spaces stand for marks; `None` if a step could tell the two apart.
fn without_marks(steps: &[Step]) -> Option<Vec<Step>> {
    let mut others = Vec::new();
    for step in steps {
        match step {
            step if step.is_idle_without(' ') => {}
            Step::Digits { .. } => others.push(step.clone()),
            _ => return None,
        }
    }
    Some(others)
}

/// The texts of the special tokens of a file, with their ids.
pub fn special_tokens(file: &TokenizerFile<'_>) -> Vec<(String, TokenId)> {
    let special = file.added.iter().filter(|token| token.special);
    special
        .map(|token| (token.content.clone(), token.id))
        .collect()
}
