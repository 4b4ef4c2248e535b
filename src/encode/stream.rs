//! Text that arrives in parts: ids as soon as nothing behind can change them.
//!
//! At a [cut](Encoder::cuts), the ids of what stands before it are certain, whatever follows. So a stream emits the ids up to
//! the last cut of what has arrived, and holds the rest: in most text, a word and its punctuation. Special tokens, allowed or
//! not, and disallowed strings never reach across a cut, so none of them is emitted in part.

use std::sync::Arc;

use super::special::{Disallowed, Policy};
use super::{Encoder, Passage};
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;

/// Encodes a text that arrives in parts.
#[derive(Clone, Debug)]
pub struct StreamEncoder {
    encoder: Arc<Encoder>,
    policy: Policy,
    /// The text behind the last cut.
    held: String,
    /// Whether no other text stands before that, and its characters, if some strings are disallowed.
    is_start: bool,
    before: usize,
    /// Number of ids so far.
    count: usize,
}

impl StreamEncoder {
    /// Starts a text.
    pub fn new(encoder: Arc<Encoder>, policy: Policy) -> Self {
        Self {
            encoder,
            policy,
            held: String::new(),
            is_start: true,
            before: 0,
            count: 0,
        }
    }

    /// Number of ids that the text has had so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The text whose ids are not yet certain.
    pub fn held(&self) -> &str {
        &self.held
    }

    /// Takes the next part of the text, and appends the ids that are certain now.
    ///
    /// # Errors
    /// [`EncodeError`] as from encoding the whole text; the stream is as before then.
    ///
    /// # Complexity
    /// As encoding what is certain now, and O(part).
    pub fn push(&mut self, part: &str, ids: &mut Vec<TokenId>) -> Result<(), EncodeError> {
        self.step(part, false)?.confirm_to(ids);
        Ok(())
    }

    /// Ends the text, and appends the ids of what was held. Another text may follow.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn flush(&mut self, ids: &mut Vec<TokenId>) -> Result<(), EncodeError> {
        self.step("", true)?.confirm_to(ids);
        Ok(())
    }

    /// Takes the next part, which ends the text if it is the last; undone unless it is confirmed.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn step(&mut self, part: &str, is_last: bool) -> Result<Step<'_>, EncodeError> {
        let known = self.held.len();
        self.held.with_room(part.len()).push_str(part);
        let end = if is_last {
            self.held.len()
        } else {
            // A cut has a character of the new part behind it: others would have been found.
            let (from, disallowed) = (known.saturating_sub(1), &self.policy.disallowed);
            let cut = self.encoder.last_cut(&self.held, from, disallowed);
            cut.unwrap_or(0)
        };
        let mut step = Step {
            stream: self,
            known,
            end,
            ids: Vec::new(),
            is_last,
        };
        step.encode()?;
        Ok(step)
    }
}

/// A part of a text that has been taken, and the ids that are certain now. Dropped, the part is given back.
#[derive(Debug)]
pub struct Step<'s> {
    stream: &'s mut StreamEncoder,
    /// Bytes that were held before.
    known: usize,
    /// Bytes whose ids are certain.
    end: usize,
    ids: Vec<TokenId>,
    is_last: bool,
}

impl Step<'_> {
    /// The ids that are certain now.
    pub fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// Holds nothing of what is certain any more.
    pub fn confirm(mut self) {
        let stream = &mut *self.stream;
        if self.is_last {
            (stream.is_start, stream.before, stream.count) = (true, 0, 0);
        } else {
            stream.is_start &= self.end == 0;
            // Only the error of a disallowed string says where it is; counting took 2 % of a push of 4 KB.
            if !matches!(stream.policy.disallowed, Disallowed::Nothing) {
                stream.before += stream.held[..self.end].chars().count();
            }
            stream.count += self.ids.len();
        }
        stream.held.drain(..self.end);
        self.known = usize::MAX;
    }

    fn confirm_to(self, ids: &mut Vec<TokenId>) {
        ids.with_room(self.ids.len()).extend_from_slice(&self.ids);
        self.confirm();
    }

    /// Encodes what is certain.
    fn encode(&mut self) -> Result<(), EncodeError> {
        let StreamEncoder {
            encoder,
            policy,
            held,
            is_start,
            before,
            ..
        } = &*self.stream;
        let text = &held[..self.end];
        if text.is_empty() {
            return Ok(());
        }
        let refused = encoder.special_tokens().refuse(text, &policy.disallowed);
        refused.map_err(|error| error.behind(*before))?;
        let passage = Passage::part(text, *is_start);
        encoder.with_workspace(|workspace| {
            encoder.append(
                workspace,
                passage,
                &policy.allowed,
                &mut self.ids,
                usize::MAX,
            )
        })
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.stream.held.truncate(self.known);
    }
}
