//! Text through a `tokenizer.json`: all that its parts do with it before pieces are merged.
//!
//! ```text
//! text            added tokens are found in it as it stands; each gap between them
//!   gap             is normalized, and added tokens that are normalized as well are found in it; each segment between them
//!     segment         gets a space in front, where the file adds one
//!       pieces          end where the splitter says, and go through the hot loop
//! ```
//!
//! A gap that its normalizer keeps is read where it stands.

pub mod added;
mod offsets;

use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use memchr::memmem;

use super::hot_loop::Scratch;
use super::parts::{Part, Parts};
use super::segments::{Gap, Origin, Segment};
use super::special::{Allowed, SpecialTokens};
use super::{Encoder, Rules};
use crate::checkpoint::{self, Checkpoint, RunToEnd};
use crate::error::{EncodeError, VocabularyError};
use crate::normalize::MARK;
use crate::normalize::chain::Chain;
use crate::split::Splitter;
use crate::token::TokenId;
use crate::util::memory::{self, Growable};
use crate::vocabulary::Vocabulary;
use added::{AddedToken, AddedTokens};

/// Bytes that are normalized between two passes of the checkpoint, if they can be: some hundredths of a second.
const CHUNK: usize = 1 << 20;

/// Where a space is put in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Nowhere.
    Nothing,
    /// Before each gap, after it has been normalized, and before normalized added tokens are found in it.
    Always,
    /// Before each segment that does not begin with one.
    UnlessSpace,
    /// As [`UnlessSpace`](Self::UnlessSpace), if the segment is the start of the text.
    FirstUnlessSpace,
}

/// Where spaces stand for U+2581, as they do in vocabularies whose tables know that mark as a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Nowhere: a mark is a character like others.
    Nothing,
    /// In normalized text, which has a space in place of each mark; that space is no blank.
    Normalized,
    /// In segments, where both a space and a mark are a space.
    Segments,
}

/// The parts of a `tokenizer.json` besides its vocabulary.
#[derive(Debug)]
pub struct Pipeline {
    /// The added tokens, no content twice.
    pub added: Vec<AddedToken>,
    /// Makes normalized text.
    pub normalizer: Chain,
    /// Where a space is put in front.
    pub prefix: Prefix,
    /// Where spaces stand for marks.
    pub marks: Marks,
    /// The unknown token, if one of it stands for several in a row in a segment, though that is split.
    pub fused: Option<TokenId>,
    /// Splits segments.
    pub splitter: Splitter,
}

impl Pipeline {
    /// Writes the normalized text of a gap to `out`, which is empty, with the span of each byte if `spans` are wanted.
    fn normalize(
        &self,
        gap: &str,
        out: &mut String,
        mut spans: Option<&mut Vec<Range<usize>>>,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        let is_divided = gap.len() > CHUNK && self.normalizer.is_local();
        let mut start = 0;
        while start < gap.len() {
            checkpoint::pass(checkpoint)?;
            let end = match gap.as_bytes().get(start + CHUNK..) {
                Some(rest) if is_divided => {
                    let ascii = rest.iter().position(u8::is_ascii);
                    ascii.map_or(gap.len(), |ascii| start + CHUNK + ascii)
                }
                _ => gap.len(),
            };
            let first = spans.as_ref().map_or(0, |spans| spans.len());
            let chunk = &gap[start..end];
            self.normalizer
                .normalize(chunk, out, spans.as_deref_mut())?;
            if let Some(spans) = &mut spans {
                for span in &mut spans[first..] {
                    *span = start + span.start..start + span.end;
                }
            }
            start = end;
        }
        if self.prefix == Prefix::Always && !out.is_empty() {
            out.with_room(1).insert(0, ' ');
            if let Some(spans) = spans {
                // It stands for what the first character stands for.
                let first = spans[0].clone();
                spans.with_room(1).insert(0, first);
            }
        }
        Ok(())
    }

    /// Returns whether a space is put before a segment.
    fn puts_space(&self, segment: &str, is_first: bool) -> bool {
        let is_space = segment.starts_with(' ')
            || self.marks == Marks::Segments && segment.as_bytes().starts_with(MARK);
        match self.prefix {
            Prefix::Nothing | Prefix::Always => false,
            Prefix::UnlessSpace => !is_space,
            Prefix::FirstUnlessSpace => is_first && !is_space,
        }
    }

    /// Returns a segment with spaces for its marks, and the span of each byte; `None` if it has none.
    fn without_marks(&self, text: &str, origin: Origin<'_>) -> Option<(String, Vec<Range<usize>>)> {
        if self.marks != Marks::Segments || memmem::find(text.as_bytes(), MARK).is_none() {
            return None;
        }
        let (mut plain, mut spans) = (String::new(), Vec::new());
        plain.with_room(text.len());
        for (at, character) in text.char_indices() {
            let is_mark = text.as_bytes()[at..].starts_with(MARK);
            let character_or_space = if is_mark { ' ' } else { character };
            plain.push(character_or_space);
            if let Some(span) = origin.span(at..at + character.len_utf8()) {
                let bytes = character_or_space.len_utf8();
                memory::extend(&mut spans, std::iter::repeat_n(span, bytes));
            }
        }
        Some((plain, spans))
    }
}

/// A pipeline with its searches for added tokens.
pub struct Prepared {
    pipeline: Arc<Pipeline>,
    added: AddedTokens,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pipeline.fmt(f)
    }
}

impl Prepared {
    fn new(pipeline: Arc<Pipeline>, special: &SpecialTokens) -> Result<Self, VocabularyError> {
        let normalize = |content: &str| {
            let mut normalized = String::new();
            let done = pipeline.normalize(content, &mut normalized, None, &RunToEnd);
            done.map_err(|error| VocabularyError::AddedToken {
                content: content.to_owned(),
                reason: error.to_string(),
            })?;
            Ok(normalized)
        };
        let has_marks = pipeline.marks == Marks::Normalized;
        let added = AddedTokens::new(&pipeline.added, special, has_marks, normalize)?;
        Ok(Self { pipeline, added })
    }

    /// Builds the same for other special tokens.
    pub(super) fn with_special(&self, special: &SpecialTokens) -> Result<Self, VocabularyError> {
        Self::new(Arc::clone(&self.pipeline), special)
    }

    /// The parts of a text: its added tokens, and gaps.
    pub(super) fn parts<'a>(&'a self, text: &'a str, allowed: &'a Allowed) -> Parts<'a> {
        Parts::added(&self.added.raw, text, allowed)
    }

    /// Returns whether a text can be cut between two characters where the splitter says so of normalized text, and
    /// nothing else that the pipeline does reaches across.
    ///
    /// Nothing does if the characters stay as they are and beside each other, and no added token has them beside each other
    /// or looks at what stands beside it there; and if nothing is done to the start of a text or of a gap.
    pub(super) fn keeps_apart(&self, before: char, after: char) -> bool {
        let Self { pipeline, added } = self;
        pipeline.prefix == Prefix::Nothing
            && pipeline.marks == Marks::Nothing
            && pipeline.fused.is_none()
            && pipeline.normalizer.keeps_apart(before, after)
            && !added.raw.reaches_across(before, after)
            && !added.normalized.reaches_across(before, after)
    }

    /// The unknown token, if one of it stands for several in a row in a segment, though that is split.
    pub(super) fn fused(&self) -> Option<TokenId> {
        self.pipeline.fused
    }

    /// The added tokens that are not special.
    pub(super) fn added(&self) -> &AddedTokens {
        &self.added
    }

    /// Number of bytes that the normalizer's tables occupy.
    pub(super) fn memory(&self) -> usize {
        self.pipeline.normalizer.memory()
    }

    /// Makes segments of a gap. They say where they come from if that is `traced`.
    pub(super) fn segments(
        &self,
        gap: &Gap<'_>,
        allowed: &Allowed,
        scratch: &mut Scratch,
        traced: bool,
        checkpoint: &dyn Checkpoint,
        mut each: impl FnMut(Segment<'_>) -> Result<ControlFlow<()>, EncodeError>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let Self { pipeline, added } = self;
        let may_be_first = gap.offset == 0 && pipeline.prefix == Prefix::FirstUnlessSpace;
        let gap = gap.text;
        let is_always = pipeline.prefix == Prefix::Always;
        // A token of normalized text may begin with the space that is put in front.
        let has_space_before = is_always && added.normalized.is_empty();
        let is_kept = pipeline.normalizer.keeps(gap) && (!is_always || has_space_before);
        let Scratch {
            normalized, spans, ..
        } = scratch;
        let (text, origin) = if is_kept {
            (gap, Origin::Gap(0))
        } else {
            normalized.clear();
            spans.clear();
            let is_traced = traced || may_be_first;
            let wanted = is_traced.then_some(&mut *spans);
            pipeline.normalize(gap, normalized, wanted, checkpoint)?;
            let traced = Origin::Spans(spans);
            let origin = if is_traced { traced } else { Origin::Unknown };
            (normalized.as_str(), origin)
        };
        for part in Parts::added(&added.normalized, text, allowed) {
            let flow = match part {
                Part::Token(id, span) => each(Segment::Token(id, origin.span(span)))?,
                Part::Text(span) => {
                    let (text, origin) = (&text[span.clone()], origin.part(span));
                    let is_first = may_be_first && origin.is_start();
                    let behind_space =
                        is_kept && has_space_before || pipeline.puts_space(text, is_first);
                    let plain = pipeline.without_marks(text, origin);
                    let (text, origin) = match &plain {
                        Some((plain, spans)) if traced => (plain.as_str(), Origin::Spans(spans)),
                        Some((plain, _)) => (plain.as_str(), Origin::Unknown),
                        None => (text, origin),
                    };
                    each(Segment::Text {
                        text: text.as_bytes(),
                        behind_space,
                        origin,
                    })?
                }
            };
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Encoder {
    /// Builds the encoder of a `tokenizer.json`. `special_tokens` are the special ones among the added tokens of the
    /// pipeline, by which their ids are found; others among them have no flags.
    ///
    /// # Panics
    /// If the vocabulary is that of a SentencePiece model.
    ///
    /// # Errors
    /// [`VocabularyError`] if the added tokens of a text may depend on chance in `tokenizers`, or make it panic.
    pub fn with_pipeline(
        vocabulary: Arc<Vocabulary>,
        special_tokens: SpecialTokens,
        pipeline: Pipeline,
    ) -> Result<Self, VocabularyError> {
        let has_model = vocabulary.character_merges().is_some();
        assert!(!has_model, "a model has rules of its own");
        let splitter = pipeline.splitter.clone();
        let prepared = Prepared::new(pipeline.into(), &special_tokens)?;
        let mut encoder = Self::new(vocabulary, special_tokens, splitter);
        encoder.rules = Some(Rules::Pipeline(prepared.into()));
        Ok(encoder)
    }
}
