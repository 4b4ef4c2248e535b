//! Texts that are normalized before they are split, and decoded by the rules of SentencePiece.
//!
//! ```text
//! ordinary text      becomes normalized text, with spaces for the marks of the model
//!   user-defined symbols are found in it; between two of them
//!     pieces end where no token reaches, and go through the hot loop
//! unknown tokens     that follow each other become one, where the model has no tokens for bytes
//! ```
//!
//! Most models change nothing but spaces, which the tables know as spaces: then the text is read where it stands, and
//! only its first piece is copied, behind the space that the model adds.

use std::fmt;
use std::ops::{ControlFlow, Range};

use memchr::memmem;

use super::hot_loop::{PieceEncoder, Scratch};
use super::offsets::TokenSpans;
use super::parts::{Part, Parts};
use super::segments::{Origin, SPACE, Segment};
use super::special::{Allowed, SpecialTokens};
use super::{Encoder, Rules};
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::merge;
use crate::normalize::{MARK, Normalizer};
use crate::split::Splitter;
use crate::token::TokenId;
use crate::util::memory::{self, Growable};
use crate::vocabulary::Vocabulary;
use crate::vocabulary::characters::CharacterMerges;

/// The work of a SentencePiece model besides merging.
pub struct SentencePiece {
    /// Makes normalized text.
    pub normalizer: Normalizer,
    /// User-defined symbols as they stand in normalized text, with their ids.
    pub symbols: SpecialTokens,
    /// Applied to decoded text.
    pub denormalizer: Option<Normalizer>,
}

impl fmt::Debug for SentencePiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentencePiece")
            .field("flags", &self.normalizer.flags())
            .field("symbols", &self.symbols.len())
            .finish_non_exhaustive()
    }
}

impl SentencePiece {
    /// Makes segments of a gap, which need not be UTF-8, or of what follows a cut of one. Where tokens are taken apart, it is not read where it stands.
    pub(super) fn segments(
        &self,
        text: &[u8],
        is_start: bool,
        takes_apart: bool,
        scratch: &mut Scratch,
        mut each: impl FnMut(Segment<'_>) -> Result<ControlFlow<()>, EncodeError>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let is_kept = !takes_apart && self.keeps(text, is_start);
        let source = if is_kept {
            text
        } else {
            let normalized = &mut scratch.bytes;
            normalized.clear();
            self.normalizer
                .normalize_part(text, is_start, SPACE, normalized, None);
            normalized
        };
        for part in Parts::special(&self.symbols, source, &Allowed::All) {
            let segment = match part {
                Part::Token(id, _) => Segment::Token(id, None),
                Part::Text(span) => Segment::Text {
                    behind_space: is_kept && is_start && self.adds_prefix(),
                    text: &source[span],
                    origin: Origin::Unknown,
                },
            };
            if each(segment)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn adds_prefix(&self) -> bool {
        let flags = self.normalizer.flags();
        flags.add_dummy_prefix && !flags.treat_whitespace_as_suffix
    }

    pub(super) fn adds_suffix(&self) -> bool {
        let flags = self.normalizer.flags();
        flags.add_dummy_prefix && flags.treat_whitespace_as_suffix
    }

    /// Returns whether a text by itself may become other ids than behind other text.
    pub(super) fn changes_start(&self) -> bool {
        self.adds_prefix() || self.normalizer.flags().remove_extra_whitespaces
    }

    /// Returns whether normalized text is the text itself, behind a space if there is one to add.
    fn keeps(&self, text: &[u8], is_start: bool) -> bool {
        let adds_prefix = self.adds_prefix() && is_start;
        self.normalizer.is_identity()
            && !self.adds_suffix()
            && (self.symbols.is_empty() || !adds_prefix)
            && memmem::find(text, MARK).is_none()
    }
}

impl Encoder {
    /// Builds the encoder of a SentencePiece model, whose vocabulary merges characters.
    pub fn with_sentencepiece(
        vocabulary: Vocabulary,
        special_tokens: SpecialTokens,
        splitter: Splitter,
        sentencepiece: SentencePiece,
    ) -> Self {
        let mut encoder = Self::new(vocabulary.into(), special_tokens, splitter);
        encoder.rules = Some(Rules::SentencePiece(sentencepiece.into()));
        encoder
    }

    /// The model's rules besides those of merging; `None` for an encoder of bytes.
    pub fn sentencepiece(&self) -> Option<&SentencePiece> {
        match &self.rules {
            Some(Rules::SentencePiece(rules)) => Some(rules),
            _ => None,
        }
    }

    pub(super) fn character_merges(&self) -> &CharacterMerges {
        let merges = self.vocabulary.character_merges();
        merges.expect("the vocabulary of a model merges characters")
    }

    /// Encodes a segment of a model whose tokens are taken apart, which is merged as a whole.
    pub(super) fn encode_apart(
        &self,
        pieces: &mut PieceEncoder<'_>,
        text: &[u8],
    ) -> Result<(), EncodeError> {
        let merges = self.character_merges();
        let mut symbols = Vec::new();
        merge::symbols(merges, text, &mut symbols, pieces.checkpoint)?;
        for symbol in symbols {
            match merges.id(symbol.id) {
                Some(id) => pieces.ids.with_room(1).push(id),
                None => merges.push_unknown(symbol.id, pieces.ids),
            }
        }
        Ok(())
    }

    /// Adds the ids of a span of a text, which need not be UTF-8, with the span of each.
    ///
    /// Of the ids of a character's bytes, all but the last stand for nothing at its start. So does the space that the
    /// model adds, if it is a token by itself.
    fn add_normalized_spans(
        &self,
        rules: &SentencePiece,
        text: &[u8],
        start: usize,
        placed: &mut NormalizedSpans,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        let merges = self.character_merges();
        let NormalizedSpans {
            spans,
            normalized,
            ends,
        } = placed;
        let mut offsets = Vec::new();
        normalized.clear();
        rules
            .normalizer
            .normalize(text, SPACE, normalized, Some(&mut offsets));
        let mut found = Vec::new();
        symbols_of(rules, merges, normalized, &mut found, checkpoint)?;
        let (mut ids, mut is_fused) = (Vec::new(), false);
        for Spanned { id, span } in found {
            let (begin, end) = (start + offsets[span.start], start + offsets[span.end]);
            ids.clear();
            match id {
                Found::Id(id) => ids.with_room(1).push(id),
                Found::Unknown(_) if is_fused => {
                    *spans.ends.last_mut().expect("there is one before") = end;
                    *ends.last_mut().expect("there is one before") = span.end;
                    continue;
                }
                Found::Unknown(symbol) => merges.push_unknown(symbol, &mut ids),
            }
            is_fused = merges.fused().is_some() && matches!(id, Found::Unknown(_));
            for (index, &id) in ids.iter().enumerate() {
                spans.ids.with_room(1).push(id);
                spans.starts.with_room(1).push(begin);
                let is_last = index + 1 == ids.len();
                spans
                    .ends
                    .with_room(1)
                    .push(if is_last { end } else { begin });
                ends.with_room(1)
                    .push(if is_last { span.end } else { span.start });
            }
        }
        Ok(())
    }

    /// As [`encode_with_offsets`](Self::encode_with_offsets), by the rules of a model.
    pub(super) fn normalized_with_offsets(
        &self,
        rules: &SentencePiece,
        text: &str,
        allowed: &Allowed,
        checkpoint: &dyn Checkpoint,
    ) -> Result<TokenSpans, EncodeError> {
        let mut placed = NormalizedSpans::default();
        for part in self.split_at_tokens(text, allowed) {
            match part {
                Part::Text(gap) => {
                    let ordinary = &text.as_bytes()[gap.clone()];
                    self.add_normalized_spans(rules, ordinary, gap.start, &mut placed, checkpoint)?;
                }
                Part::Token(id, span) => placed.spans.push(id, span),
            }
        }
        Ok(placed.spans)
    }

    /// Encodes text without special tokens, which need not be UTF-8, by the rules of a model.
    ///
    /// # Errors
    /// [`EncodeError`] if the work is interrupted or a piece is too long.
    pub fn encode_parts(
        &self,
        rules: &SentencePiece,
        text: &[u8],
        checkpoint: &dyn Checkpoint,
    ) -> Result<NormalizedSpans, EncodeError> {
        let mut placed = NormalizedSpans::default();
        self.add_normalized_spans(rules, text, 0, &mut placed, checkpoint)?;
        Ok(placed)
    }

    /// Decodes the ids at the start of `ids` that may lose a space, and returns how many they are.
    ///
    /// One space is removed from the first token that is neither a control token nor a byte; where the model removes
    /// extra spaces, from each such token until there is text.
    pub(super) fn decode_start(
        &self,
        rules: &SentencePiece,
        ids: &[TokenId],
        bytes: &mut Vec<u8>,
    ) -> usize {
        let flags = rules.normalizer.flags();
        if !flags.add_dummy_prefix && !flags.remove_extra_whitespaces {
            return 0;
        }
        let merges = self.character_merges();
        for (index, &id) in ids.iter().enumerate() {
            let Some(token) = self.vocabulary.bytes(id) else {
                return index;
            };
            if !token.is_empty() && merges.keeps_space(id) {
                return index;
            }
            let rest = token.strip_prefix(SPACE).unwrap_or(token);
            bytes.with_room(rest.len()).extend_from_slice(rest);
            let was_stripped = rest.len() < token.len();
            if !rest.is_empty() || was_stripped && !flags.remove_extra_whitespaces {
                return index + 1;
            }
        }
        ids.len()
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

/// A part of normalized text that is not merged further.
struct Spanned {
    id: Found,
    span: Range<usize>,
}

#[derive(Clone, Copy)]
enum Found {
    Id(TokenId),
    /// The symbol of a character that is no token.
    Unknown(TokenId),
}

/// Appends the symbols of normalized text with their offsets in it.
fn symbols_of(
    rules: &SentencePiece,
    merges: &CharacterMerges,
    bytes: &[u8],
    spans: &mut Vec<Spanned>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let mut tokens = Vec::new();
    for part in Parts::special(&rules.symbols, bytes, &Allowed::All) {
        checkpoint::pass(checkpoint)?;
        let text = match part {
            Part::Text(span) => span,
            Part::Token(id, span) => {
                let id = Found::Id(id);
                spans.with_room(1).push(Spanned { id, span });
                continue;
            }
        };
        tokens.clear();
        merge::symbols(merges, &bytes[text.clone()], &mut tokens, checkpoint)?;
        let ends = tokens.iter().skip(1).map(|token| text.start + token.start);
        let ends = memory::collect(ends.chain([text.end]));
        for (token, end) in tokens.iter().zip(ends) {
            let id = match merges.id(token.id) {
                Some(id) => Found::Id(id),
                None => Found::Unknown(token.id),
            };
            let span = text.start + token.start..end;
            spans.with_room(1).push(Spanned { id, span });
        }
    }
    Ok(())
}
