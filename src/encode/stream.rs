//! Text that arrives in parts: ids as soon as nothing behind can change them.
//!
//! At a [cut](Encoder::cuts), the ids of what stands before it are certain, whatever follows. So a stream emits the ids up to
//! the last cut of what has arrived, and holds the rest: in most text a word and what stands beside it. No special token,
//! allowed or not, and no disallowed string reaches across a cut, so that none is emitted in part.

use std::sync::Arc;

use super::special::Policy;
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
    /// Characters before that.
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
        let known = self.held.len();
        self.held.with_room(part.len()).push_str(part);
        // A cut has a character of the new part behind it: others would have been found.
        let from = known.saturating_sub(1);
        let cut = self.encoder.last_cut(&self.held, from, &self.policy.disallowed);
        let Some(cut) = cut else {
            return Ok(());
        };
        match self.encode(cut, ids) {
            Ok(()) => {
                self.before += self.held[..cut].chars().count();
                self.held.drain(..cut);
                Ok(())
            }
            Err(error) => {
                self.held.truncate(known);
                Err(error)
            }
        }
    }

    /// Ends the text, and appends the ids of what was held. Another text may follow.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn flush(&mut self, ids: &mut Vec<TokenId>) -> Result<(), EncodeError> {
        self.encode(self.held.len(), ids)?;
        self.held.clear();
        (self.before, self.count) = (0, 0);
        Ok(())
    }

    /// Appends the ids of what is held, up to an offset; none if there is an error.
    fn encode(&mut self, end: usize, ids: &mut Vec<TokenId>) -> Result<(), EncodeError> {
        let Self {
            encoder,
            policy,
            held,
            before,
            count,
        } = self;
        let text = &held[..end];
        let refused = encoder.special_tokens().refuse(text, &policy.disallowed);
        refused.map_err(|error| error.behind(*before))?;
        let known = ids.len();
        let passage = Passage {
            text,
            is_start: *before == 0,
        };
        let allowed = &policy.allowed;
        let encoded = encoder.with_workspace(|workspace| {
            encoder.append(workspace, passage, allowed, ids, usize::MAX)
        });
        if encoded.is_err() {
            ids.truncate(known);
        }
        *count += ids.len() - known;
        encoded
    }
}
