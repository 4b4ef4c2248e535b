//! Ids that a session takes as they are, with their text.
//!
//! The decoder's stream goes on where it was as further ids come, so the text does not depend on how they are divided. It has
//! two parts: what the stream has passed on, and the end, which is the text of what the stream holds if no id follows.
//!
//! Some decoders hold much, such as a long run of bytes. Their ends are not decoded anew with each id, but where they are
//! asked for, or where as many ids have come as they have bytes: that takes O(ids) altogether.

use std::sync::{Arc, OnceLock};

use super::super::decode_stream::TextStream;
use super::super::{Before, Encoder};
use super::segments::Size;
use crate::checkpoint::{self, Checkpoint};
use crate::error::DecodeError;
use crate::token::TokenId;
use crate::util::lazy::get_or_init_nonblocking;
use crate::util::memory::Growable;

/// Pinned ids with their text.
#[derive(Clone, Debug)]
pub(super) struct Pinned {
    encoder: Arc<Encoder>,
    /// The id before them, when they came.
    before: Option<TokenId>,
    ids: Vec<TokenId>,
    /// The text of the first ids that no further ones change, and its characters.
    text: String,
    characters: usize,
    /// The stream behind those.
    stream: TextStream,
    /// Number of those.
    decoded: usize,
    /// Bytes of the text of what the stream holds.
    open: usize,
    /// The text behind that, once it is decoded.
    rest: OnceLock<Rest>,
}

/// The text of the last pinned ids.
#[derive(Clone, Debug)]
struct Rest {
    text: String,
    /// Bytes of it that no further ids change.
    certain: usize,
    characters: usize,
    /// The stream behind the ids.
    stream: TextStream,
}

/// Ids that are appended to pinned ones.
#[derive(Debug)]
pub(super) struct Addition {
    ids: Vec<TokenId>,
    rest: Option<Rest>,
}

impl Pinned {
    /// Starts with no ids, behind another.
    ///
    /// # Errors
    /// [`DecodeError::UnknownToken`].
    pub(super) fn new(
        encoder: &Arc<Encoder>,
        before: Option<TokenId>,
    ) -> Result<Self, DecodeError> {
        Ok(Self {
            stream: encoder.text_stream_behind(before)?,
            encoder: Arc::clone(encoder),
            before,
            ids: Vec::new(),
            text: String::new(),
            characters: 0,
            decoded: 0,
            open: 0,
            rest: OnceLock::new(),
        })
    }

    pub(super) fn before(&self) -> Option<TokenId> {
        self.before
    }

    pub(super) fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// The text, in parts.
    pub(super) fn parts(&self) -> [&str; 2] {
        [&self.text, &self.rest().text]
    }

    pub(super) fn size(&self) -> Size {
        let rest = self.rest();
        Size {
            bytes: self.text.len() + rest.text.len(),
            characters: self.characters + rest.characters,
            ids: self.ids.len(),
        }
    }

    /// The offset in bytes of a character.
    pub(super) fn offset(&self, character: usize) -> usize {
        let characters = self.parts().into_iter().flat_map(str::chars);
        characters.take(character).map(char::len_utf8).sum()
    }

    /// The kind of what stands before text behind them.
    pub(super) fn before_text(&self) -> Before {
        match self.ids.last() {
            Some(&id) if !self.encoder.stands_apart(id) => Before::Text,
            _ => Before::Token,
        }
    }

    /// Returns the text behind what no further ids change, which is decoded now if it was not before.
    fn rest(&self) -> &Rest {
        get_or_init_nonblocking(&self.rest, || {
            let ids = &self.ids[self.decoded..];
            let decode = || Rest::new(&self.encoder, self.stream.clone(), [ids, &[]]);
            // It takes no longer than what was decoded before, so it need not be interrupted.
            checkpoint::with(&Passed, decode).expect("the ids were decoded before")
        })
    }

    /// Decodes further ids.
    ///
    /// # Errors
    /// [`DecodeError::UnknownToken`].
    pub(super) fn further(&self, ids: &[TokenId]) -> Result<Addition, DecodeError> {
        let (stream, decoded, open) = match self.rest.get() {
            Some(rest) => (&rest.stream, self.ids.len(), rest.open()),
            None => (&self.stream, self.decoded, self.open),
        };
        let waiting = &self.ids[decoded..];
        let rest = if waiting.len() + ids.len() < open {
            push(&self.encoder, &mut self.encoder.text_stream(), ids, |_| {})?;
            None
        } else {
            Some(Rest::new(&self.encoder, stream.clone(), [waiting, ids])?)
        };
        let mut addition = Addition {
            ids: Vec::new(),
            rest,
        };
        addition.ids.with_room(ids.len()).extend_from_slice(ids);
        Ok(addition)
    }

    /// Appends ids.
    pub(super) fn add(&mut self, addition: Addition) {
        let Addition { ids, rest } = addition;
        self.ids.with_room(ids.len());
        if let Some(known) = self.rest.get() {
            self.text.with_room(known.certain);
        }
        if let Some(known) = self.rest.take() {
            let certain = &known.text[..known.certain];
            self.text.push_str(certain);
            self.characters += certain.chars().count();
            self.open = known.open();
            self.stream = known.stream;
            self.decoded = self.ids.len();
        }
        self.ids.extend_from_slice(&ids);
        self.rest = rest.map_or_else(OnceLock::new, OnceLock::from);
    }

    /// Returns the first of these ids, all whose text ends at an offset; `None` if there are none.
    ///
    /// # Errors
    /// [`DecodeError::Interrupted`].
    ///
    /// # Complexity
    /// O(n log n) for n ids.
    pub(super) fn cut(&self, offset: usize) -> Result<Option<Self>, DecodeError> {
        let first = |count: usize| {
            let mut first = Self::new(&self.encoder, self.before)?;
            first.add(first.further(&self.ids[..count])?);
            Ok::<_, DecodeError>(first)
        };
        let text = self.parts().concat();
        // Part of a character counts as one, and may have more bytes than all of it.
        let characters = text[..offset].chars().count();
        let (mut low, mut high) = (0, self.ids.len());
        while low < high {
            let middle = usize::midpoint(low, high) + 1;
            if first(middle)?.size().characters <= characters {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        let cut = first(low)?;
        Ok((cut.parts().concat() == text[..offset]).then_some(cut))
    }
}

impl Rest {
    /// Decodes ids that follow each other.
    fn new(
        encoder: &Encoder,
        mut stream: TextStream,
        ids: [&[TokenId]; 2],
    ) -> Result<Self, DecodeError> {
        let mut text = String::new();
        let mut each = |character: char| text.with_room(character.len_utf8()).push(character);
        for ids in ids {
            push(encoder, &mut stream, ids, &mut each)?;
        }
        let certain = text.len();
        let each = |(character, _): (char, _)| text.with_room(character.len_utf8()).push(character);
        encoder.push_ids(&mut stream.clone(), &[], true, each)?;
        Ok(Self {
            characters: text.chars().count(),
            certain,
            text,
            stream,
        })
    }

    /// Bytes that further ids may change.
    fn open(&self) -> usize {
        self.text.len() - self.certain
    }
}

/// A checkpoint that all work passes.
struct Passed;

impl Checkpoint for Passed {
    fn should_stop(&self) -> bool {
        false
    }
}

/// Passes on the characters of ids that no further ones change. Special and added tokens are decoded by themselves: the text
/// before one ends there.
fn push(
    encoder: &Encoder,
    stream: &mut TextStream,
    ids: &[TokenId],
    mut each: impl FnMut(char),
) -> Result<(), DecodeError> {
    let mut each = |(character, _): (char, _)| each(character);
    let mut rest = ids;
    while !rest.is_empty() {
        // Each by its hash: few ids come at once, and for these a filter would take longer.
        let gap = rest.iter().take_while(|&&id| !encoder.stands_apart(id));
        let (gap, behind) = rest.split_at(gap.count());
        let (token, behind) = behind.split_at(behind.len().min(1));
        encoder.push_ids(stream, gap, !token.is_empty(), &mut each)?;
        if let &[id] = token {
            encoder.push_ids(&mut encoder.text_stream(), token, true, &mut each)?;
            *stream = encoder.text_stream_behind(Some(id))?;
        }
        rest = behind;
    }
    Ok(())
}
