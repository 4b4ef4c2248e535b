//! Text → the number of the piece that each id is part of.

use std::ops::ControlFlow;

use super::hot_loop::{Mode, PieceEncoder, Scratch};
use super::parts::Part;
use super::segments::{Gap, Segment, fuse};
use super::special::Allowed;
use super::{Encoder, Rules};
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::util::memory::Growable;

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
    pub fn piece_numbers(
        &self,
        text: &str,
        allowed: &Allowed,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Vec<usize>, EncodeError> {
        let mut numbers = Numbers::default();
        let mut ids = Vec::new();
        self.with_workspace(|workspace| {
            let mut pieces = self.piece_encoder(workspace, &mut ids, checkpoint, Mode::Append);
            let mut scratch = Scratch::default();
            for part in self.split_at_tokens(text, allowed) {
                checkpoint::pass(checkpoint)?;
                let span = match part {
                    Part::Token(id, _) => {
                        pieces.ids.with_room(1).push(id);
                        numbers.end_piece(pieces.ids.len());
                        continue;
                    }
                    Part::Text(span) => span,
                };
                let Some(Rules::Pipeline(rules)) = &self.rules else {
                    self.number_segment(&mut pieces, &text[span], &mut numbers)?;
                    continue;
                };
                let gap = Gap {
                    text: &text[span.clone()],
                    offset: span.start,
                };
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
                let flow = rules.segments(&gap, allowed, &mut scratch, false, checkpoint, each)?;
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
        let adjacency = self.splitter.adjacency();
        let mut chunk = Vec::new();
        let mut chunks = self.splitter.pieces(text, pieces.checkpoint);
        while chunks.next_chunk(&mut chunk)? {
            checkpoint::pass(pieces.checkpoint)?;
            for piece in chunk.drain(..) {
                let (start, piece) = (piece.start, &text.as_bytes()[piece]);
                if start > 0 && adjacency.is_some_and(|adjacency| adjacency.begins_word(piece)) {
                    numbers.end_piece(pieces.ids.len());
                }
                pieces.encode_piece(piece)?;
                if adjacency.is_none() {
                    numbers.end_piece(pieces.ids.len());
                }
            }
        }
        if adjacency.is_some() {
            if let Some(unknown) = self.rules.as_ref().and_then(|rules| self.fused(rules)) {
                fuse(unknown, pieces.ids, first);
            }
            numbers.end_piece(pieces.ids.len());
        }
        Ok(())
    }
}
