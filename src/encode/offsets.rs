//! Text → ids, with the span of the text that each id stands for.

use std::ops::{ControlFlow, Range};

use super::hot_loop::{Mode, Workspace};
use super::special::Allowed;
use super::{Encoder, Rules};
use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;

/// The ids of a text with their spans. Spans do not overlap; there are gaps between them where the pattern
/// drops text.
#[derive(Debug, Default)]
pub struct TokenSpans {
    /// The ids.
    pub ids: Vec<TokenId>,
    /// Offset where each starts.
    pub starts: Vec<usize>,
    /// Offset where each ends.
    pub ends: Vec<usize>,
}

impl TokenSpans {
    /// Converts byte offsets to character offsets in the same `text`. Inside of a character, a start becomes
    /// the start of that character, and an end its end.
    ///
    /// # Complexity
    /// O(text).
    pub fn to_characters(&mut self, text: &str) {
        if text.is_ascii() {
            return;
        }
        let text = text.as_bytes();
        let mut characters = CharCounter::new(text);
        for start in &mut self.starts {
            let is_inside = text.get(*start).is_some_and(|&byte| is_continuation(byte));
            *start = characters.before(*start) - usize::from(is_inside);
        }
        characters = CharCounter::new(text);
        for end in &mut self.ends {
            *end = characters.before(*end);
        }
    }

    /// Adds an id with its span.
    pub(super) fn push(&mut self, id: TokenId, span: Range<usize>) {
        self.ids.with_room(1).push(id);
        self.starts.with_room(1).push(span.start);
        self.ends.with_room(1).push(span.end);
    }

    /// Adds the spans of the ids that have none yet, which together stand for `span` of the text. A special
    /// token is a span of its own, so that its length does not matter.
    fn extend(&mut self, encoder: &Encoder, ids: &[TokenId], span: Range<usize>) {
        let mut offset = span.start;
        for &id in &ids[self.starts.len()..] {
            self.starts.with_room(1).push(offset);
            offset += encoder.vocabulary.bytes(id).map_or(0, <[u8]>::len);
            self.ends.with_room(1).push(offset);
        }
        if let Some(last) = self.ends.last_mut() {
            *last = span.end;
        }
    }
}

/// Counts the characters before offsets, each from the one before.
pub struct CharCounter<'t> {
    text: &'t [u8],
    offset: usize,
    count: usize,
}

impl<'t> CharCounter<'t> {
    /// Starts at offset 0 of a text in UTF-8.
    pub fn new(text: &'t [u8]) -> Self {
        let (offset, count) = (0, 0);
        Self {
            text,
            offset,
            count,
        }
    }

    /// Number of characters that start before `offset`.
    ///
    /// # Complexity
    /// O(distance from the previous one).
    pub fn before(&mut self, offset: usize) -> usize {
        let count = |bytes: &[u8]| {
            let starts = bytes.iter().filter(|&&byte| !is_continuation(byte));
            starts.count()
        };
        // Blanks that one added token took may be part of another one.
        match offset.checked_sub(self.offset) {
            Some(_) => self.count += count(&self.text[self.offset..offset]),
            None => self.count -= count(&self.text[offset..self.offset]),
        }
        self.offset = offset;
        self.count
    }
}

/// True if a byte of UTF-8 continues a character.
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

impl Encoder {
    /// Encodes `text`, in which the `allowed` special tokens become their ids, with the byte span of each id.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    ///
    /// # Complexity
    /// As [`encode`](Self::encode).
    pub fn encode_with_offsets(
        &self,
        text: &str,
        allowed: &Allowed,
        checkpoint: &dyn Checkpoint,
    ) -> Result<TokenSpans, EncodeError> {
        self.with_workspace(|workspace| {
            self.offsets_up_to(workspace, text, allowed, usize::MAX, checkpoint)
        })
    }

    /// As [`encode_with_offsets`](Self::encode_with_offsets), up to where there are more than `limit` ids, or further.
    pub(super) fn offsets_up_to(
        &self,
        workspace: &mut Workspace,
        text: &str,
        allowed: &Allowed,
        limit: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<TokenSpans, EncodeError> {
        match &self.rules {
            Some(Rules::SentencePiece(rules)) => {
                return self.normalized_with_offsets(rules, text, allowed, checkpoint);
            }
            Some(Rules::Pipeline(rules)) => {
                return self.segments_with_offsets(rules, text, allowed, limit, checkpoint);
            }
            None => {}
        }
        let (mut ids, mut spans) = (Vec::new(), TokenSpans::default());
        let mut pieces = self.piece_encoder(workspace, &mut ids, checkpoint, Mode::Append);
        pieces.stops_at_gaps = true;
        self.encode_spans(&mut pieces, text, allowed, |pieces, span| {
            spans.extend(self, pieces.ids, span);
            if pieces.ids.len() > limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(TokenSpans { ids, ..spans })
    }
}
