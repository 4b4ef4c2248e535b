//! Ids that a session takes as they are, with their text.

use super::super::{Before, Encoder};
use super::segments::Size;
use crate::error::DecodeError;
use crate::token::TokenId;
use crate::util::memory::Growable;

/// Pinned ids with their text, in which U+FFFD stands for parts of characters.
#[derive(Clone, Debug)]
pub(super) struct Pinned {
    /// The id before them.
    before: Option<TokenId>,
    ids: Vec<TokenId>,
    text: String,
    size: Size,
    /// The last place where no character is known to be open: there, further ids are decoded from.
    whole: Size,
}

/// Ids that are appended to pinned ones.
#[derive(Debug)]
pub(super) struct Addition {
    ids: Vec<TokenId>,
    /// The text from where it was whole.
    text: String,
}

impl Pinned {
    /// Starts with no ids, behind another.
    pub(super) fn new(before: Option<TokenId>) -> Self {
        Self {
            before,
            ids: Vec::new(),
            text: String::new(),
            size: Size::default(),
            whole: Size::default(),
        }
    }

    pub(super) fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// The offset in bytes of a character.
    pub(super) fn offset(&self, character: usize) -> usize {
        let found = self.text.char_indices().nth(character);
        found.map_or(self.text.len(), |(offset, _)| offset)
    }

    /// The kind of what stands before text behind them.
    pub(super) fn before_text(&self, encoder: &Encoder) -> Before {
        match self.ids.last() {
            Some(&id) if !encoder.stands_apart(id) => Before::Text,
            _ => Before::Token,
        }
    }

    /// Decodes further ids.
    ///
    /// # Errors
    /// [`DecodeError::UnknownToken`].
    pub(super) fn further(
        &self,
        encoder: &Encoder,
        ids: &[TokenId],
    ) -> Result<Addition, DecodeError> {
        let known = self.whole.ids;
        let before = match known.checked_sub(1) {
            Some(last) => Some(self.ids[last]),
            None => self.before,
        };
        let mut open = Vec::new();
        let (kept, further) = (&self.ids[known..], ids);
        open.with_room(kept.len() + ids.len());
        open.extend_from_slice(kept);
        open.extend_from_slice(further);
        let bytes = encoder.decode_behind(before, &open)?;
        Ok(Addition {
            ids: open.split_off(kept.len()),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        })
    }

    /// Appends ids.
    pub(super) fn add(&mut self, addition: Addition) {
        let Addition { ids, text } = addition;
        self.ids.with_room(ids.len());
        self.text.with_room(text.len());
        self.ids.extend_from_slice(&ids);
        self.text.truncate(self.whole.bytes);
        self.text.push_str(&text);
        self.size = Size {
            bytes: self.text.len(),
            characters: self.whole.characters + text.chars().count(),
            ids: self.ids.len(),
        };
        if !text.ends_with('\u{FFFD}') {
            self.whole = self.size;
        }
    }

    /// Returns the first of these ids, all whose text ends at an offset; `None` if there are none.
    ///
    /// # Errors
    /// [`DecodeError::Interrupted`].
    ///
    /// # Complexity
    /// O(n log n) for n ids.
    pub(super) fn cut(
        &self,
        encoder: &Encoder,
        offset: usize,
    ) -> Result<Option<Self>, DecodeError> {
        let first = |count: usize| {
            let mut first = Self::new(self.before);
            let addition = first.further(encoder, &self.ids[..count])?;
            first.add(addition);
            Ok::<_, DecodeError>(first)
        };
        // Part of a character counts as one, and may have more bytes than all of it.
        let characters = self.text[..offset].chars().count();
        let (mut low, mut high) = (0, self.ids.len());
        while low < high {
            let middle = usize::midpoint(low, high) + 1;
            if first(middle)?.size.characters <= characters {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let cut = first(low)?;
        Ok((cut.text == self.text[..offset]).then_some(cut))
    }
}
