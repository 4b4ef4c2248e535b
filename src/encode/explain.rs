//! Words of a text with the tokens that each becomes, and those that it could have become.

use std::ops::ControlFlow;

use super::Encoder;
use super::hot_loop::Scratch;
use super::parts::{Gap, Part, Segment};
use super::segments::fuse_placed;
use super::special::Allowed;
use crate::checkpoint;
use crate::error::EncodeError;
use crate::merge::{self, Placed, Scored};
use crate::util::memory::Growable;

/// A piece of normalized text.
#[derive(Debug)]
pub struct Explained {
    /// Its bytes.
    pub piece: Vec<u8>,
    /// Its tokens, with their spans in the piece.
    pub tokens: Vec<Placed>,
    /// All tokens with scores that it contains, from left to right, the shortest first.
    pub candidates: Vec<Scored>,
}

impl Encoder {
    /// Returns the pieces of a text; special tokens in it are ordinary text. Their ids, joined, are those of
    /// [`encode_ordinary`](Self::encode_ordinary).
    ///
    /// # Errors
    /// As [`encode_ordinary`](Self::encode_ordinary).
    ///
    /// # Complexity
    /// As [`encode_ordinary`](Self::encode_ordinary), without a cache.
    pub fn explained(&self, text: &str) -> Result<Vec<Explained>, EncodeError> {
        let (mut all, mut scratch) = (Vec::new(), Scratch::default());
        let token = |id, piece: &[u8]| Explained {
            piece: piece.to_vec(),
            tokens: vec![Placed {
                id,
                span: 0..piece.len(),
            }],
            candidates: Vec::new(),
        };
        for part in self.split_at_tokens(text, &Allowed::Nothing) {
            let span = match part {
                Part::Text(span) => span,
                Part::Token(id, span) => {
                    all.with_room(1).push(token(id, &text.as_bytes()[span]));
                    continue;
                }
            };
            let Some(pipeline) = &self.pipeline else {
                self.explain_segment(&text.as_bytes()[span], &mut all)?;
                continue;
            };
            let each = |segment: Segment<'_>| {
                checkpoint::pass()?;
                match segment {
                    Segment::Token(id, _) => {
                        let text = self.added().and_then(|added| added.text(id));
                        all.with_room(1)
                            .push(token(id, text.unwrap_or_default().as_bytes()));
                    }
                    Segment::Text {
                        text, behind_space, ..
                    } => {
                        let space: &[u8] = if behind_space { b" " } else { b"" };
                        self.explain_segment(&[space, text].concat(), &mut all)?;
                    }
                }
                Ok(ControlFlow::Continue(()))
            };
            let gap = Gap::within(text, span);
            let flow = pipeline.segments(gap, &Allowed::Nothing, &mut scratch, false, each)?;
            debug_assert!(flow.is_continue(), "nothing stops it");
        }
        Ok(all)
    }

    /// Adds the pieces of a segment; all of it is one if sums run through it, or one unknown token may stand for several pieces.
    fn explain_segment(&self, text: &[u8], all: &mut Vec<Explained>) -> Result<(), EncodeError> {
        let mut add = |piece: &[u8]| -> Result<(), EncodeError> {
            let mut tokens = Vec::new();
            merge::placed(&self.vocabulary, piece, &mut tokens)?;
            if let Some(unknown) = self.fused() {
                fuse_placed(unknown, &mut tokens);
            }
            all.with_room(1).push(Explained {
                candidates: merge::scored(&self.vocabulary, piece),
                piece: piece.to_vec(),
                tokens,
            });
            Ok(())
        };
        let Ok(string) = simdutf8::basic::from_utf8(text) else {
            return add(text);
        };
        if self.vocabulary.chunks().is_some() || self.fused().is_some() {
            return add(text);
        }
        let (mut chunk, mut pieces) = (Vec::new(), self.splitter.pieces(string));
        while pieces.next_chunk(&mut chunk)? {
            chunk.drain(..).try_for_each(|piece| add(&text[piece]))?;
        }
        Ok(())
    }
}
