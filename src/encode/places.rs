//! Text → ids, and where in the text each of them is.

use std::ops::{ControlFlow, Range};

use super::Encoder;
use super::pieces::Workspace;
use super::special::Allowed;
use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;

/// The ids of a text with the stretches that they stand for. These do not overlap; there are gaps between them where the
/// pattern drops text.
#[derive(Debug, Default)]
pub struct Places {
    /// The ids.
    pub ids: Vec<TokenId>,
    /// Where each starts.
    pub starts: Vec<usize>,
    /// Where each ends.
    pub ends: Vec<usize>,
}

impl Places {
    /// From bytes to characters of the `text`: a place inside a character becomes the start of that character if
    /// something starts there, and its end if something ends there.
    ///
    /// # Complexity
    /// O(text).
    pub fn count_characters(&mut self, text: &str) {
        if text.is_ascii() {
            return;
        }
        let text = text.as_bytes();
        let mut characters = Characters::new(text);
        for start in &mut self.starts {
            let inside = text.get(*start).is_some_and(|&byte| continues(byte));
            *start = characters.before(*start) - usize::from(inside);
        }
        characters = Characters::new(text);
        for end in &mut self.ends {
            *end = characters.before(*end);
        }
    }
}

/// Counts the characters before places that only grow.
pub struct Characters<'t> {
    text: &'t [u8],
    place: usize,
    count: usize,
}

impl<'t> Characters<'t> {
    /// At the start of a text in UTF-8.
    pub fn new(text: &'t [u8]) -> Self {
        let (place, count) = (0, 0);
        Self { text, place, count }
    }

    /// How many characters start before `place`, which is no less than in the call before.
    pub fn before(&mut self, place: usize) -> usize {
        let between = self.text.get(self.place..place).unwrap_or_default();
        self.count += between.iter().filter(|&&byte| !continues(byte)).count();
        self.place = place;
        self.count
    }
}

/// Whether a byte of UTF-8 continues a character.
fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

impl Encoder {
    /// The ids of `text`, in which the `allowed` special tokens become theirs, and which bytes each stands for.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    ///
    /// # Complexity
    /// As [`encode`](Self::encode).
    pub fn encode_with_places(
        &self,
        text: &str,
        allowed: &Allowed,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Places, EncodeError> {
        self.with_workspace(|workspace| {
            let Places {
                mut ids,
                mut starts,
                mut ends,
            } = Places::default();
            self.encode_seen(
                workspace,
                text,
                allowed,
                &mut ids,
                checkpoint,
                |ids, stretch| self.place(&mut starts, &mut ends, ids, stretch),
            )?;
            Ok(Places { ids, starts, ends })
        })
    }

    /// As [`encode_with_places`](Self::encode_with_places) without special tokens, until there are more than `limit` ids.
    pub(super) fn places_till(
        &self,
        workspace: &mut Workspace,
        text: &str,
        limit: usize,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Places, EncodeError> {
        let Places {
            mut ids,
            mut starts,
            mut ends,
        } = Places::default();
        let mut pieces = self.pieces(workspace, &mut ids, checkpoint);
        self.encode_stretch(&mut pieces, text, |pieces, stretch| {
            self.place(&mut starts, &mut ends, pieces.ids, stretch);
            if pieces.ids.len() > limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(Places { ids, starts, ends })
    }

    /// Adds the places of the last ids, those that have none yet: together they stand for the `stretch`. A special token
    /// is a stretch of its own, so that its length is not asked for.
    fn place(
        &self,
        starts: &mut Vec<usize>,
        ends: &mut Vec<usize>,
        ids: &[TokenId],
        stretch: Range<usize>,
    ) {
        let mut place = stretch.start;
        for &id in &ids[starts.len()..] {
            starts.push(place);
            place += self.vocabulary.bytes(id).map_or(0, <[u8]>::len);
            ends.push(place);
        }
        if let Some(last) = ends.last_mut() {
            *last = stretch.end;
        }
    }
}
