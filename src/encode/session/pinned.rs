//! Ids that a session takes as they are, with their text.
//!
//! All ids go through one stream of the decoder, so the text does not depend on how they are divided among calls. The text has
//! two parts: the characters that the stream has passed on, and those that it still holds, decoded as if no id followed.
//!
//! Some decoders hold much, such as a long run of bytes. Their ends are not decoded anew with each id, but where they are
//! asked for, or where as many ids have come as they have bytes: that takes O(ids) altogether.

use std::cmp::Ordering;
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
            let mut stream = self.encoder.text_stream();
            push(&self.encoder, &mut stream, ids, false, |_, _| {})?;
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
    /// O(ids), and O(text that is held) for each id of the characters beside the offset.
    pub(super) fn cut(&self, offset: usize) -> Result<Option<Self>, DecodeError> {
        let mut text = String::new();
        text.with_room(self.size().bytes);
        // Number of ids that complete the text up to the offset, and of those before the one that completes the next character.
        let (mut least, mut most) = (0, 0);
        let each = |character: char, number| {
            match text.len().cmp(&offset) {
                Ordering::Less => least = number + 1,
                Ordering::Equal => most = number,
                Ordering::Greater => {}
            }
            text.push(character);
        };
        let mut stream = self.encoder.text_stream_behind(self.before)?;
        push(&self.encoder, &mut stream, &self.ids, true, each)?;
        let kept = &text.as_bytes()[..offset];
        let (mut first, mut found) = (self.first(least)?, None);
        for count in least..=self.ids.len() {
            let (certain, end) = first.end();
            let Some(rest) = kept.get(certain..) else {
                break;
            };
            if end == rest {
                found = Some(count);
            } else if found.is_some() || count > most && !rest.starts_with(end) {
                // Before the next character is complete there may be U+FFFD for a part of it. Behind that there is more text,
                // unless its end is taken away.
                break;
            }
            if let Some(&id) = self.ids.get(count) {
                first.add(first.further(&[id])?);
            }
        }
        found.map(|count| self.first(count)).transpose()
    }

    /// Returns the first of these ids.
    fn first(&self, count: usize) -> Result<Self, DecodeError> {
        let mut first = Self::new(&self.encoder, self.before)?;
        first.add(first.further(&self.ids[..count])?);
        Ok(first)
    }

    /// Returns how many bytes no further ids change, and the others.
    fn end(&self) -> (usize, &[u8]) {
        let rest = self.rest();
        let end = &rest.text.as_bytes()[rest.certain..];
        (self.text.len() + rest.certain, end)
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
        let mut each = |character: char, _| text.with_room(character.len_utf8()).push(character);
        for ids in ids {
            push(encoder, &mut stream, ids, false, &mut each)?;
        }
        let certain = text.len();
        encoder.push_text(&mut stream.clone(), &[], true, &mut text)?;
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

/// Passes on the characters of ids that no further ones change, or all if it is the end; if the stream is a new one, with
/// the number of the id that completes each. Special and added tokens are decoded by themselves: the text before one ends
/// there.
fn push(
    encoder: &Encoder,
    stream: &mut TextStream,
    ids: &[TokenId],
    is_end: bool,
    mut each: impl FnMut(char, usize),
) -> Result<(), DecodeError> {
    let mut start = 0;
    while start < ids.len() {
        // Each by its hash: few ids come at once, and for these a filter would take longer.
        let gap = ids[start..]
            .iter()
            .take_while(|&&id| !encoder.stands_apart(id));
        let place = start + gap.count();
        let (gap, token) = (&ids[start..place], ids.get(place));
        let ends = is_end || token.is_some();
        encoder.push_ids(stream, gap, ends, |(character, number)| {
            each(character, start + number);
        })?;
        if let Some(&id) = token {
            encoder.push_ids(&mut encoder.text_stream(), &[id], true, |(character, _)| {
                each(character, place);
            })?;
            *stream = encoder.text_stream_behind(token.copied())?;
        }
        start = place + 1;
    }
    Ok(())
}
