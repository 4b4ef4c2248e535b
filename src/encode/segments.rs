//! The text of a gap between tokens, treated by the rules that an encoder has besides pieces.
//!
//! The rules, of a SentencePiece model or of a [pipeline](super::pipeline), make **segments** of it. Each is an id, or
//! text that is split and merged by itself, behind a space if the rules say so.

use std::ops::{ControlFlow, Range};

use super::hot_loop::PieceEncoder;
use super::special::Allowed;
use super::{Encoder, Rules};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;

/// Stands for a space in normalized text, whatever does in the file.
pub(super) const SPACE: &[u8] = b" ";

/// A gap of a text between tokens.
pub(super) struct Gap<'t> {
    pub(super) text: &'t str,
    /// Where it stands in the text.
    pub(super) offset: usize,
}

/// A part of a gap that is treated.
pub(super) enum Segment<'t> {
    /// A token that was found, with its span in the gap if that was asked for.
    Token(TokenId, Option<Range<usize>>),
    /// Text to split and merge, never empty.
    Text {
        /// Its bytes.
        text: &'t [u8],
        /// Whether a space goes before it.
        behind_space: bool,
        /// Where it comes from.
        origin: Origin<'t>,
    },
}

/// Where the bytes of a text come from in the gap.
#[derive(Clone, Copy)]
pub(super) enum Origin<'t> {
    /// They are bytes of the gap, from this offset on.
    Gap(usize),
    /// Each stands for the span of a character.
    Spans(&'t [Range<usize>]),
    /// Not asked for.
    Unknown,
}

impl Origin<'_> {
    /// The origin of a part of the text.
    pub(super) fn part(self, part: Range<usize>) -> Self {
        match self {
            Self::Gap(offset) => Self::Gap(offset + part.start),
            Self::Spans(spans) => Self::Spans(&spans[part]),
            Self::Unknown => Self::Unknown,
        }
    }

    /// The span of the gap that some bytes of the text, at least one, come from.
    pub(super) fn span(self, bytes: Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::Gap(offset) => Some(offset + bytes.start..offset + bytes.end),
            Self::Spans(spans) => Some(spans[bytes.start].start..spans[bytes.end - 1].end),
            Self::Unknown => None,
        }
    }

    /// Returns whether the text comes from the start of the gap.
    pub(super) fn is_start(self) -> bool {
        self.span(0..1).is_some_and(|span| span.start == 0)
    }
}

impl Encoder {
    /// Encodes a gap of a text by the rules, some KB, a piece or a segment at a time. `on_step` is called when the ids so
    /// far may be taken away.
    pub(super) fn encode_gap<'a>(
        &self,
        rules: &Rules,
        pieces: &mut PieceEncoder<'a>,
        text: &str,
        gap: Range<usize>,
        allowed: &Allowed,
        mut on_step: impl FnMut(&mut PieceEncoder<'a>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let gap = Gap {
            text: &text[gap.clone()],
            offset: gap.start,
        };
        let pipeline = match rules {
            Rules::SentencePiece(_) => {
                let is_start = pieces.is_start || gap.offset > 0;
                let text = gap.text.as_bytes();
                return self.encode_gap_of_bytes(rules, pieces, text, is_start, on_step);
            }
            Rules::Pipeline(pipeline) => pipeline,
        };
        let mut scratch = std::mem::take(&mut pieces.workspace.scratch);
        let checkpoint = pieces.checkpoint;
        let each =
            |segment: Segment<'_>| self.encode_segment(rules, pieces, &segment, &mut on_step);
        let flow = pipeline.segments(&gap, allowed, &mut scratch, false, checkpoint, each);
        pieces.workspace.scratch = scratch;
        flow
    }

    /// As [`encode_gap`](Self::encode_gap), by the rules of a model, for bytes that need not be UTF-8. They start a gap, or
    /// follow a cut of one.
    pub(super) fn encode_gap_of_bytes<'a>(
        &self,
        rules: &Rules,
        pieces: &mut PieceEncoder<'a>,
        gap: &[u8],
        is_start: bool,
        mut on_step: impl FnMut(&mut PieceEncoder<'a>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let Rules::SentencePiece(model) = rules else {
            unreachable!("other rules treat text");
        };
        let takes_apart = self.character_merges().takes_apart();
        let mut scratch = std::mem::take(&mut pieces.workspace.scratch);
        let flow = model.segments(gap, is_start, takes_apart, &mut scratch, |segment| {
            self.encode_segment(rules, pieces, &segment, &mut on_step)
        });
        pieces.workspace.scratch = scratch;
        flow
    }

    /// Encodes a segment. `on_step` is called when the ids so far may be taken away.
    fn encode_segment<'a>(
        &self,
        rules: &Rules,
        pieces: &mut PieceEncoder<'a>,
        segment: &Segment<'_>,
        mut on_step: impl FnMut(&mut PieceEncoder<'a>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        checkpoint::pass(pieces.checkpoint)?;
        let (text, behind_space) = match *segment {
            Segment::Token(id, _) => {
                pieces.ids.with_room(1).push(id);
                return Ok(on_step(pieces));
            }
            Segment::Text {
                text, behind_space, ..
            } => (text, behind_space),
        };
        let first = pieces.ids.len();
        let fused = self.fused(rules);
        if matches!(rules, Rules::SentencePiece(_)) && self.character_merges().takes_apart() {
            self.encode_apart(pieces, text)?;
        } else {
            let mut start = 0;
            if behind_space {
                start = self.encode_behind_space(pieces, text)?;
            }
            let rest = &text[start..];
            if fused.is_none() {
                // Nothing joins ids of one piece to those of the next.
                if start > 0 && on_step(pieces).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                return self.encode_text(pieces, rest, |pieces, _| on_step(pieces));
            }
            let flow = self.encode_text(pieces, rest, |_, _| ControlFlow::Continue(()))?;
            debug_assert!(flow.is_continue(), "nothing stops it");
        }
        if let Some(unknown) = fused {
            fuse(unknown, pieces.ids, first);
        }
        Ok(on_step(pieces))
    }

    /// Encodes the first piece of a segment behind a space, or all of it, and returns where in the segment that ends.
    fn encode_behind_space(
        &self,
        pieces: &mut PieceEncoder<'_>,
        text: &[u8],
    ) -> Result<usize, EncodeError> {
        let end = self
            .splitter
            .first_piece_end(SPACE[0], text, pieces.checkpoint)?;
        let mut copy = std::mem::take(&mut pieces.workspace.behind_space);
        copy.clear();
        copy.with_room(SPACE.len()).extend_from_slice(SPACE);
        copy.with_room(text[..end.unwrap_or(text.len())].len())
            .extend_from_slice(&text[..end.unwrap_or(text.len())]);
        let encoded = if end.is_some() {
            pieces.encode_piece(&copy)
        } else {
            let flow = self.encode_text(pieces, &copy, |_, _| ControlFlow::Continue(()));
            flow.map(|_| ())
        };
        pieces.workspace.behind_space = copy;
        encoded.map(|()| end.unwrap_or(text.len()))
    }

    /// The unknown token, if one of it stands for several in a row in a segment that is split.
    pub(super) fn fused(&self, rules: &Rules) -> Option<TokenId> {
        match rules {
            Rules::SentencePiece(_) => self.character_merges().fused(),
            Rules::Pipeline(rules) => rules.fused(),
        }
    }
}

/// Makes one of unknown tokens that follow each other, from index `from` on.
pub(super) fn fuse(unknown: TokenId, ids: &mut Vec<TokenId>, from: usize) {
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
