//! Text → ids with the span of the text that each stands for, through a pipeline.
//!
//! A token's span is that of the characters which its first and its last byte stand for, and all in between. A space
//! that is put in front stands for the character after it.

use std::ops::{ControlFlow, Range};

use super::Prepared;
use crate::checkpoint;
use crate::encode::Encoder;
use crate::encode::hot_loop::Scratch;
use crate::encode::offsets::TokenSpans;
use crate::encode::parts::{Gap, Origin, Part, Segment};
use crate::encode::special::Allowed;
use crate::error::EncodeError;
use crate::merge;
use crate::util::memory::Growable;

impl Encoder {
    /// As [`encode_with_offsets`](Encoder::encode_with_offsets), up to where there are more than `limit` ids, or further.
    pub(in crate::encode) fn segments_with_offsets(
        &self,
        rules: &Prepared,
        text: &str,
        allowed: &Allowed,
        limit: usize,
    ) -> Result<TokenSpans, EncodeError> {
        let mut spans = TokenSpans::default();
        let mut scratch = Scratch::default();
        for part in self.split_at_tokens(text, allowed) {
            checkpoint::pass()?;
            let flow = match part {
                Part::Token(id, span) => {
                    spans.push(id, span);
                    ControlFlow::Continue(())
                }
                Part::Text(span) => {
                    let gap = Gap::within(text, span);
                    let each = |segment: Segment<'_>| {
                        self.place_segment(rules, gap, segment, &mut spans)?;
                        Ok(if spans.ids.len() > limit {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        })
                    };
                    rules.segments(gap, allowed, &mut scratch, true, each)?
                }
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(spans)
    }

    /// Adds the ids of a segment with their spans.
    fn place_segment(
        &self,
        rules: &Prepared,
        gap: Gap<'_>,
        segment: Segment<'_>,
        spans: &mut TokenSpans,
    ) -> Result<(), EncodeError> {
        let (text, behind_space, origin) = match segment {
            Segment::Token(id, span) => {
                spans.push(id, gap.span_in_text(span.expect("it is asked for")));
                return Ok(());
            }
            Segment::Text {
                text,
                behind_space,
                origin,
            } => (text, behind_space, origin),
        };
        let text = simdutf8::basic::from_utf8(text).expect("a pipeline normalizes text to text");
        let with_space = behind_space.then(|| format!(" {text}"));
        let before = usize::from(behind_space);
        let text = with_space.as_deref().unwrap_or(text);
        let first = spans.ids.len();
        let (mut chunk, mut placed) = (Vec::new(), Vec::new());
        let mut pieces = self.splitter.pieces(text);
        while pieces.next_chunk(&mut chunk)? {
            checkpoint::pass()?;
            for piece in chunk.drain(..) {
                placed.clear();
                let bytes = &text.as_bytes()[piece.clone()];
                merge::placed(&self.vocabulary, bytes, &mut placed)?;
                for token in &placed {
                    if self.vocabulary.is_unknown_text(token.id) {
                        let unknown =
                            &text[piece.start + token.span.start..piece.start + token.span.end];
                        let unknown = rules.with_marks(unknown);
                        spans.unknown.with_room(1).push((spans.ids.len(), unknown));
                    }
                    // An empty span stands for the character before it, a space before the one after.
                    let end = (piece.start + token.span.end).saturating_sub(before).max(1);
                    let start = (piece.start + token.span.start).saturating_sub(before);
                    let mut span = gap.span(origin, start.min(end - 1)..end);
                    if behind_space && rules.has_empty_prefix() && piece.start + token.span.end == 1
                    {
                        span.end = span.start;
                    }
                    let is_fused = rules.fused() == Some(token.id)
                        && spans.ids.len() > first
                        && spans.ids.last() == Some(&token.id);
                    if is_fused {
                        *spans.ends.last_mut().expect("there is one before") = span.end;
                    } else {
                        spans.push(token.id, span);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Gap<'_> {
    fn span_in_text(self, span: Range<usize>) -> Range<usize> {
        self.offset + span.start..self.offset + span.end
    }

    /// The span of the text that some bytes of this origin come from, of whole characters.
    fn span(self, origin: Origin<'_>, bytes: Range<usize>) -> Range<usize> {
        let Range { mut start, mut end } = origin.span(bytes).expect("it is asked for");
        let text = self.text.expect("a gap of a text");
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        self.span_in_text(start..end)
    }
}
