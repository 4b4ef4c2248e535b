//! The text of a gap between tokens, through a [pipeline](super::pipeline).
//!
//! The pipeline makes **segments** of it. Each is an id, or text that is split and merged by itself, behind a space if the
//! pipeline says so.

use std::ops::ControlFlow;

use super::Encoder;
use super::hot_loop::PieceEncoder;
use super::parts::{Gap, SPACE, Segment};
use super::pipeline::Prepared;
use super::special::Allowed;
use crate::checkpoint;
use crate::error::EncodeError;
use crate::merge::sums::Sums;
use crate::merge::{self, Placed};
use crate::token::TokenId;
use crate::util::memory::Growable;

/// Bytes of text between two passes of the checkpoint: to read the clock for each segment took a twentieth of the time of
/// indented text, whose blanks are tokens of their own.
const CHECK_INTERVAL: usize = 1 << 14;

/// Bytes of text that take about as long as a segment without any.
const SEGMENT_WORK: usize = 32;

impl Encoder {
    /// Encodes a gap of a text through a pipeline, some KB, a piece or a segment at a time. `on_step` is called when the ids
    /// so far may be taken away.
    pub(super) fn encode_gap<'a>(
        &self,
        pipeline: &Prepared,
        pieces: &mut PieceEncoder<'a>,
        gap: Gap<'_>,
        allowed: &Allowed,
        mut on_step: impl FnMut(&mut PieceEncoder<'a>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncodeError> {
        let mut scratch = std::mem::take(&mut pieces.workspace.scratch);
        let fused = pipeline.fused();
        let mut work = 0;
        let each = |segment: Segment<'_>| {
            work += segment.len() + SEGMENT_WORK;
            if work >= CHECK_INTERVAL {
                checkpoint::pass()?;
                work = 0;
            }
            self.encode_segment(fused, pieces, &segment, &mut on_step)
        };
        let flow = pipeline.segments(gap, allowed, &mut scratch, false, each);
        pieces.workspace.scratch = scratch;
        flow
    }

    /// Encodes a segment, in which one unknown token stands for several in a row if it is `fused`. `on_step` is called when
    /// the ids so far may be taken away.
    fn encode_segment<'a>(
        &self,
        fused: Option<TokenId>,
        pieces: &mut PieceEncoder<'a>,
        segment: &Segment<'_>,
        mut on_step: impl FnMut(&mut PieceEncoder<'a>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EncodeError> {
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
        let chunks = self.vocabulary.chunks();
        pieces.sums = chunks.map(|_| Sums::at_start(first));
        let mut start = 0;
        if behind_space {
            start = self.encode_behind_space(pieces, text)?;
            if let Some((sums, chunks)) = pieces.sums.zip(chunks) {
                pieces.sums = Some(sums.behind_first(chunks, pieces.ids));
            }
        }
        let rest = &text[start..];
        if fused.is_none() && chunks.is_none() {
            // Nothing joins ids of one piece to those of the next.
            if start > 0 && on_step(pieces).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            return self.encode_text(pieces, rest, |pieces, _| on_step(pieces));
        }
        if chunks.is_some() && simdutf8::basic::from_utf8(rest).is_err() {
            // A damaged map of characters has made all of it: which ids spell a character is not known.
            merge::encode_piece(&self.vocabulary, rest, pieces.ids)?;
        } else {
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
        let end = self.splitter.first_piece_end(SPACE[0], text)?;
        let mut copy = std::mem::take(&mut pieces.workspace.behind_space);
        copy.clear();
        copy.with_room(SPACE.len()).extend_from_slice(SPACE);
        copy.with_room(text[..end.unwrap_or(text.len())].len())
            .extend_from_slice(&text[..end.unwrap_or(text.len())]);
        let encoded = if end.is_some() {
            pieces.encode_piece(&copy, &copy)
        } else {
            let flow = self.encode_text(pieces, &copy, |_, _| ControlFlow::Continue(()));
            flow.map(|_| ())
        };
        pieces.workspace.behind_space = copy;
        encoded.map(|()| end.unwrap_or(text.len()))
    }
}

/// As [`fuse`], of tokens with their spans.
pub(super) fn fuse_placed(unknown: TokenId, placed: &mut Vec<Placed>) {
    placed.dedup_by(|next, token| {
        let is_fused = [next.id, token.id] == [unknown; 2];
        if is_fused {
            token.span.end = next.span.end;
        }
        is_fused
    });
}

/// Makes one of unknown tokens that follow each other, from index `from` on.
pub(super) fn fuse(unknown: TokenId, ids: &mut Vec<TokenId>, from: usize) {
    let is_pair = |pair: &[TokenId]| *pair == [unknown, unknown];
    let Some(first) = ids[from..].windows(2).position(is_pair) else {
        return;
    };
    let mut kept = from + first;
    for index in kept + 1..ids.len() {
        if (ids[kept], ids[index]) != (unknown, unknown) {
            kept += 1;
            ids[kept] = ids[index];
        }
    }
    ids.truncate(kept + 1);
}
