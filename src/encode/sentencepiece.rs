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

use super::Encoder;
use super::hot_loop::{Mode, PieceEncoder};
use super::offsets::TokenSpans;
use super::special::{Allowed, SpecialTokens};
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::merge;
use crate::normalize::{MARK, Normalizer};
use crate::split::Splitter;
use crate::token::TokenId;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::characters::CharacterMerges;

/// Stands for a space in normalized text, whatever does in the model.
const SPACE: &[u8] = b" ";

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
    fn adds_prefix(&self) -> bool {
        let flags = self.normalizer.flags();
        flags.add_dummy_prefix && !flags.treat_whitespace_as_suffix
    }

    /// Whether normalized text is the text itself, behind a space if there is one to add.
    fn keeps(&self, text: &[u8]) -> bool {
        let flags = self.normalizer.flags();
        let adds_suffix = flags.add_dummy_prefix && flags.treat_whitespace_as_suffix;
        self.normalizer.is_identity()
            && !adds_suffix
            && (self.symbols.is_empty() || !self.adds_prefix())
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
        encoder.sentencepiece = Some(sentencepiece.into());
        encoder
    }

    /// The model's rules besides those of merging; `None` for an encoder of bytes.
    pub fn sentencepiece(&self) -> Option<&SentencePiece> {
        self.sentencepiece.as_deref()
    }

    /// Whether the ids of a text are those of its pieces.
    pub(super) fn counts_by_pieces(&self) -> bool {
        let merges = self.character_merges();
        !merges.takes_apart() && merges.fused().is_none()
    }

    fn character_merges(&self) -> &CharacterMerges {
        let merges = self.vocabulary.character_merges();
        merges.expect("the vocabulary of a model merges characters")
    }

    /// As [`encode_ordinary_span`](Self::encode_ordinary_span), by the rules of a model.
    pub(super) fn encode_normalized_span<'a>(
        &self,
        rules: &SentencePiece,
        pieces: &mut PieceEncoder<'a>,
        text: &str,
        mut on_span: impl FnMut(&mut PieceEncoder<'a>, Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), EncodeError> {
        let merges = self.character_merges();
        let first = pieces.ids.len();
        let text = text.as_bytes();
        if merges.takes_apart() || !rules.keeps(text) {
            self.encode_normalized_bytes(rules, pieces, text)?;
            let _ = on_span(pieces, 0..text.len());
            return Ok(());
        }
        let start = self.encode_first_piece(rules, pieces, text)?;
        if rules.symbols.is_empty() && merges.fused().is_none() {
            // Nothing joins ids of one piece to those of the next, so they may be taken away meanwhile.
            if start > 0 && on_span(pieces, 0..start).is_break() {
                return Ok(());
            }
            return self.encode_pieces(pieces, &text[start..], |pieces, span| {
                on_span(pieces, start + span.start..start + span.end)
            });
        }
        self.encode_between_symbols(rules, pieces, text, start)?;
        if let Some(unknown) = merges.fused() {
            fuse(unknown, pieces.ids, first);
        }
        let _ = on_span(pieces, 0..text.len());
        Ok(())
    }

    /// Encodes the first piece of a text behind the space that the model adds, if it adds one, and returns where in the
    /// text the piece ends.
    fn encode_first_piece(
        &self,
        rules: &SentencePiece,
        pieces: &mut PieceEncoder<'_>,
        text: &[u8],
    ) -> Result<usize, EncodeError> {
        if text.is_empty() || !rules.adds_prefix() {
            return Ok(0);
        }
        let end = self
            .splitter
            .first_piece_end(SPACE[0], text, pieces.checkpoint)?;
        let mut first = std::mem::take(&mut pieces.workspace.normalized);
        first.clear();
        first.extend_from_slice(SPACE);
        first.extend_from_slice(&text[..end]);
        let encoded = pieces.encode_piece(&first);
        pieces.workspace.normalized = first;
        encoded.map(|()| end)
    }

    /// Encodes normalized text.
    fn encode_normalized(
        &self,
        rules: &SentencePiece,
        merges: &CharacterMerges,
        pieces: &mut PieceEncoder<'_>,
        text: &[u8],
    ) -> Result<(), EncodeError> {
        if !merges.takes_apart() {
            return self.encode_between_symbols(rules, pieces, text, 0);
        }
        let mut spans = Vec::new();
        symbols_of(rules, merges, text, &mut spans, pieces.checkpoint)?;
        for Spanned { id, .. } in spans {
            match id {
                Found::Id(id) => pieces.ids.push(id),
                Found::Unknown(symbol) => merges.push_unknown(symbol, pieces.ids),
            }
        }
        Ok(())
    }

    /// Encodes normalized text from `start` on: its user-defined symbols, and the pieces between them.
    fn encode_between_symbols(
        &self,
        rules: &SentencePiece,
        pieces: &mut PieceEncoder<'_>,
        text: &[u8],
        start: usize,
    ) -> Result<(), EncodeError> {
        let mut offset = start;
        loop {
            checkpoint::pass(pieces.checkpoint)?;
            let found = rules.symbols.find(text, offset, &Allowed::All);
            let end = found.map_or(text.len(), |found| found.start);
            self.encode_pieces(pieces, &text[offset..end], |_, _| ControlFlow::Continue(()))?;
            match found {
                Some(found) => {
                    pieces.ids.push(found.id);
                    offset = end + found.text.len();
                }
                None => return Ok(()),
            }
        }
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
        parts: &mut Parts,
        checkpoint: &dyn Checkpoint,
    ) -> Result<(), EncodeError> {
        let merges = self.character_merges();
        let Parts {
            spans,
            normalized,
            ends,
        } = parts;
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
                Found::Id(id) => ids.push(id),
                Found::Unknown(_) if is_fused => {
                    *spans.ends.last_mut().expect("there is one before") = end;
                    *ends.last_mut().expect("there is one before") = span.end;
                    continue;
                }
                Found::Unknown(symbol) => merges.push_unknown(symbol, &mut ids),
            }
            is_fused = merges.fused().is_some() && matches!(id, Found::Unknown(_));
            for (index, &id) in ids.iter().enumerate() {
                spans.ids.push(id);
                spans.starts.push(begin);
                let is_last = index + 1 == ids.len();
                spans.ends.push(if is_last { end } else { begin });
                ends.push(if is_last { span.end } else { span.start });
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
        let mut parts = Parts::default();
        let mut offset = 0;
        loop {
            let special = self.special_tokens.find(text, offset, allowed);
            let end = special.map_or(text.len(), |found| found.start);
            let ordinary = &text.as_bytes()[offset..end];
            self.add_normalized_spans(rules, ordinary, offset, &mut parts, checkpoint)?;
            let Some(found) = special else {
                return Ok(parts.spans);
            };
            let spans = &mut parts.spans;
            offset = end + found.text.len();
            spans.ids.push(found.id);
            spans.starts.push(end);
            spans.ends.push(offset);
        }
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
    ) -> Result<Parts, EncodeError> {
        let mut parts = Parts::default();
        self.add_normalized_spans(rules, text, 0, &mut parts, checkpoint)?;
        Ok(parts)
    }

    /// As [`encode_bytes`](Self::encode_bytes), by the rules of a model: each byte that is no character becomes U+FFFD.
    pub(super) fn encode_normalized_bytes(
        &self,
        rules: &SentencePiece,
        pieces: &mut PieceEncoder<'_>,
        bytes: &[u8],
    ) -> Result<(), EncodeError> {
        let merges = self.character_merges();
        let first = pieces.ids.len();
        let mut normalized = std::mem::take(&mut pieces.workspace.normalized);
        normalized.clear();
        rules
            .normalizer
            .normalize(bytes, SPACE, &mut normalized, None);
        let encoded = self.encode_normalized(rules, merges, pieces, &normalized);
        pieces.workspace.normalized = normalized;
        encoded?;
        if let Some(unknown) = merges.fused() {
            fuse(unknown, pieces.ids, first);
        }
        Ok(())
    }

    /// Returns how many ids a text becomes, where they cannot be counted piece by piece.
    pub(super) fn count_fused(
        &self,
        rules: &SentencePiece,
        pieces: &mut PieceEncoder<'_>,
        text: &str,
    ) -> Result<usize, EncodeError> {
        pieces.mode = Mode::Append;
        self.encode_normalized_span(rules, pieces, text, |_, _| ControlFlow::Continue(()))?;
        Ok(pieces.take_count())
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
            bytes.extend_from_slice(rest);
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
pub struct Parts {
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
    text: &[u8],
    spans: &mut Vec<Spanned>,
    checkpoint: &dyn Checkpoint,
) -> Result<(), EncodeError> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    loop {
        checkpoint::pass(checkpoint)?;
        let found = rules.symbols.find(text, offset, &Allowed::All);
        let end = found.map_or(text.len(), |found| found.start);
        tokens.clear();
        merge::symbols(merges, &text[offset..end], &mut tokens, checkpoint)?;
        let ends = tokens.iter().skip(1).map(|token| offset + token.start);
        let ends: Vec<usize> = ends.chain([end]).collect();
        for (token, end) in tokens.iter().zip(ends) {
            let id = match merges.id(token.id) {
                Some(id) => Found::Id(id),
                None => Found::Unknown(token.id),
            };
            let span = offset + token.start..end;
            spans.push(Spanned { id, span });
        }
        let Some(found) = found else { return Ok(()) };
        offset = end + found.text.len();
        spans.push(Spanned {
            id: Found::Id(found.id),
            span: end..offset,
        });
    }
}

/// Makes one of unknown tokens that follow each other, from index `from` on.
fn fuse(unknown: TokenId, ids: &mut Vec<TokenId>, from: usize) {
    let is_pair = |pair: &[TokenId]| *pair == [unknown, unknown];
    if ids[from..].windows(2).any(is_pair) {
        let mut last = None;
        let mut index = 0;
        ids.retain(|&id| {
            let is_repeated = index > from && id == unknown && last == Some(unknown);
            index += 1;
            last = Some(id);
            !is_repeated
        });
    }
}
