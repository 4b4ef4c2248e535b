//! Text → ids, with the span of the text that each id stands for.

use std::ops::{ControlFlow, Range};

use super::Encoder;
use super::hot_loop::{Mode, PieceEncoder, Scratch, Workspace};
use super::parts::{Gap, Part, Segment};
use super::segments::fuse;
use super::special::Allowed;
use crate::checkpoint;
use crate::error::EncodeError;
use crate::merge::sums::Sums;
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
    /// The normalized texts that unknown tokens of a Unigram model stand for, by their indices: the original spells these
    /// tokens so.
    pub unknown: Vec<(usize, String)>,
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
    ) -> Result<TokenSpans, EncodeError> {
        self.with_workspace(|workspace| self.offsets_up_to(workspace, text, allowed, usize::MAX))
    }

    /// As [`encode_with_offsets`](Self::encode_with_offsets), up to where there are more than `limit` ids, or further.
    pub(super) fn offsets_up_to(
        &self,
        workspace: &mut Workspace,
        text: &str,
        allowed: &Allowed,
        limit: usize,
    ) -> Result<TokenSpans, EncodeError> {
        if let Some(pipeline) = &self.pipeline {
            return match self.sentencepiece() {
                Some(model) => self.normalized_with_offsets(model, text, allowed),
                None => self.segments_with_offsets(pipeline, text, allowed, limit),
            };
        }
        let (mut ids, mut spans) = (Vec::new(), TokenSpans::default());
        let mut pieces = self.piece_encoder(workspace, &mut ids, Mode::Append);
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

// Text → the number of the piece that each id is part of.

/// The numbers so far.
#[derive(Default)]
struct Numbers {
    numbers: Vec<usize>,
    next: usize,
}

impl Numbers {
    /// Counts a piece, which ends where there are `ids`.
    fn end_piece(&mut self, ids: usize) {
        let more = ids.saturating_sub(self.numbers.len());
        self.numbers.with_room(more).resize(ids, self.next);
        self.next += 1;
    }
}

impl Encoder {
    /// Returns the number of the piece that each id of [`encode`](Self::encode) is part of. A token that is found in the
    /// text is a piece; a piece without ids counts. Where a splitter cuts what no merge joins, that ends none.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    ///
    /// # Complexity
    /// As [`encode`](Self::encode).
    pub fn piece_numbers(&self, text: &str, allowed: &Allowed) -> Result<Vec<usize>, EncodeError> {
        let mut numbers = Numbers::default();
        let mut ids = Vec::new();
        self.with_workspace(|workspace| {
            let mut pieces = self.piece_encoder(workspace, &mut ids, Mode::Append);
            let mut scratch = Scratch::default();
            for part in self.split_at_tokens(text, allowed) {
                checkpoint::pass()?;
                let span = match part {
                    Part::Token(id, _) => {
                        pieces.ids.with_room(1).push(id);
                        numbers.end_piece(pieces.ids.len());
                        continue;
                    }
                    Part::Text(span) => span,
                };
                let Some(pipeline) = &self.pipeline else {
                    self.number_segment(&mut pieces, &text[span], &mut numbers)?;
                    continue;
                };
                let gap = Gap::within(text, span);
                let each = |segment: Segment<'_>| {
                    match segment {
                        Segment::Token(id, _) => {
                            pieces.ids.with_room(1).push(id);
                            numbers.end_piece(pieces.ids.len());
                        }
                        Segment::Text {
                            text, behind_space, ..
                        } => {
                            let text = simdutf8::basic::from_utf8(text)
                                .expect("a pipeline normalizes text to text");
                            let with_space = behind_space.then(|| format!(" {text}"));
                            let text = with_space.as_deref().unwrap_or(text);
                            self.number_segment(&mut pieces, text, &mut numbers)?;
                        }
                    }
                    Ok(ControlFlow::Continue(()))
                };
                let flow = pipeline.segments(gap, allowed, &mut scratch, false, each)?;
                debug_assert!(flow.is_continue(), "nothing stops it");
            }
            Ok(())
        })?;
        Ok(numbers.numbers)
    }

    /// Encodes a segment and numbers its pieces.
    fn number_segment(
        &self,
        pieces: &mut PieceEncoder<'_>,
        text: &str,
        numbers: &mut Numbers,
    ) -> Result<(), EncodeError> {
        let first = pieces.ids.len();
        pieces.sums = self.vocabulary.chunks().map(|_| Sums::at_start(first));
        let adjacency = self.splitter.adjacency();
        let mut chunk = Vec::new();
        let mut chunks = self.splitter.pieces(text);
        while chunks.next_chunk(&mut chunk)? {
            checkpoint::pass()?;
            for piece in chunk.drain(..) {
                let (start, piece) = (piece.start, &text.as_bytes()[piece]);
                if start > 0 && adjacency.is_some_and(|adjacency| adjacency.begins_word(piece)) {
                    numbers.end_piece(pieces.ids.len());
                }
                pieces.encode_piece(text.as_bytes(), piece)?;
                if adjacency.is_none() {
                    numbers.end_piece(pieces.ids.len());
                }
            }
        }
        if adjacency.is_some() {
            if let Some(unknown) = self.fused() {
                fuse(unknown, pieces.ids, first);
            }
            numbers.end_piece(pieces.ids.len());
        }
        Ok(())
    }
}
