//! The parts of SentencePiece that no `tokenizer.json` has: its offsets, and the spaces at the start of decoded text.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::Encoder;
use super::offsets::TokenSpans;
use super::parts::{Part, SPACE};
use super::segments::fuse_placed;
use super::special::Allowed;
use crate::checkpoint;
use crate::error::EncodeError;
use crate::merge;
use crate::normalize::Normalizer;
use crate::token::TokenId;
use crate::util::memory::Growable;

/// The work of a SentencePiece model besides encoding.
pub struct SentencePiece {
    /// Makes normalized text.
    pub normalizer: Arc<Normalizer>,
    /// Applied to decoded text.
    pub denormalizer: Option<Normalizer>,
    /// The tokens that keep a space which they begin with at the start of decoded text, in the order of ids: bytes, the
    /// unknown token, and pieces with a space that is no mark.
    pub(super) keep_space: Vec<TokenId>,
    /// The unknown token, whose text in decoded text may be empty.
    pub(super) unknown: Option<TokenId>,
}

impl fmt::Debug for SentencePiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentencePiece")
            .field("flags", &self.normalizer.flags())
            .finish_non_exhaustive()
    }
}

impl Encoder {
    /// Adds the ids of a span of a text, which need not be UTF-8, with the span of each.
    ///
    /// Of the ids of a character's bytes, all but the last stand for nothing at its start. So does the space that the
    /// model adds, if it is a token by itself.
    fn add_normalized_spans(
        &self,
        model: &SentencePiece,
        text: &[u8],
        start: usize,
        all: &mut NormalizedSpans,
    ) -> Result<(), EncodeError> {
        let pipeline = self.pipeline.as_deref();
        let pipeline = pipeline.expect("a model has a pipeline");
        let NormalizedSpans {
            spans,
            normalized,
            ends,
        } = all;
        let mut offsets = Vec::new();
        normalized.clear();
        model
            .normalizer
            .normalize(text, SPACE, normalized, Some(&mut offsets));
        let mut add = |id: TokenId, span: Range<usize>| {
            spans.push(id, start + offsets[span.start]..start + offsets[span.end]);
            ends.with_room(1).push(span.end);
        };
        let mut placed = Vec::new();
        for part in pipeline.symbols(normalized) {
            checkpoint::pass()?;
            let segment = match part {
                Part::Text(span) => span,
                Part::Token(id, span) => {
                    add(id, span);
                    continue;
                }
            };
            placed.clear();
            let piece = &normalized[segment.clone()];
            merge::placed(&self.vocabulary, piece, &mut placed)?;
            if let Some(unknown) = pipeline.fused() {
                fuse_placed(unknown, &mut placed);
            }
            for (index, token) in placed.iter().enumerate() {
                let mut span = segment.start + token.span.start..segment.start + token.span.end;
                let next = placed.get(index + 1);
                if next.is_some_and(|next| next.span.start < token.span.end) {
                    span.end = span.start;
                }
                add(token.id, span);
            }
        }
        Ok(())
    }

    /// As [`encode_with_offsets`](Self::encode_with_offsets), by the rules of a model.
    pub(super) fn normalized_with_offsets(
        &self,
        model: &SentencePiece,
        text: &str,
        allowed: &Allowed,
    ) -> Result<TokenSpans, EncodeError> {
        let mut all = NormalizedSpans::default();
        for part in self.split_at_tokens(text, allowed) {
            match part {
                Part::Text(gap) => {
                    let ordinary = &text.as_bytes()[gap.clone()];
                    self.add_normalized_spans(model, ordinary, gap.start, &mut all)?;
                }
                Part::Token(id, span) => all.spans.push(id, span),
            }
        }
        Ok(all.spans)
    }

    /// Encodes text without special tokens, which need not be UTF-8, by the rules of a model.
    ///
    /// # Errors
    /// [`EncodeError`] if the work is interrupted or a piece is too long.
    pub fn encode_parts(
        &self,
        model: &SentencePiece,
        text: &[u8],
    ) -> Result<NormalizedSpans, EncodeError> {
        let mut all = NormalizedSpans::default();
        self.add_normalized_spans(model, text, 0, &mut all)?;
        Ok(all)
    }

    /// Decodes the ids at the start of `ids` that may lose a space, and returns how many they are.
    pub(super) fn decode_start(
        &self,
        model: &SentencePiece,
        ids: &[TokenId],
        bytes: &mut Vec<u8>,
    ) -> usize {
        for (index, &id) in ids.iter().enumerate() {
            let Some((rest, is_still_start)) = self.at_start(model, id) else {
                return index;
            };
            bytes.with_room(rest.len()).extend_from_slice(rest);
            if !is_still_start {
                return index + 1;
            }
        }
        ids.len()
    }

    /// Returns the bytes of a token where there is no text yet, if it may lose a space there, and whether there still is none
    /// behind it.
    ///
    /// One space is removed from the first token that is neither a control token nor a byte; where the model removes
    /// extra spaces, from each such token until there is text.
    pub(super) fn at_start(&self, model: &SentencePiece, id: TokenId) -> Option<(&[u8], bool)> {
        let flags = model.normalizer.flags();
        if !flags.add_dummy_prefix && !flags.remove_extra_whitespaces {
            return None;
        }
        let token = self.vocabulary.bytes(id)?;
        if !token.is_empty() && model.keep_space.binary_search(&id).is_ok() {
            return None;
        }
        let rest = token.strip_prefix(SPACE).unwrap_or(token);
        let was_stripped = rest.len() < token.len();
        let is_still_start = rest.is_empty() && (!was_stripped || flags.remove_extra_whitespaces);
        Some((rest, is_still_start))
    }
}

/// The ids of a text with their spans, in the text and in normalized text.
#[derive(Debug, Default)]
pub struct NormalizedSpans {
    /// The ids, with their spans in the text.
    pub spans: TokenSpans,
    /// The normalized text, with spaces for marks.
    pub normalized: Vec<u8>,
    /// Where in the normalized text each id ends, and the next begins.
    pub ends: Vec<usize>,
}
