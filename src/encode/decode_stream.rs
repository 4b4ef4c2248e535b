//! Ids that come one after the other → text, each character as soon as no id behind can change it.
//!
//! Every character knows which id completes it, so a stream also says where each id stands in the text of all.

use std::mem::take;

use super::Encoder;
use super::decode::Decoder;
use super::tokenizer_json::decode::CHECK_INTERVAL;
use super::tokenizer_json::text_steps::{Invalid, Text, TextSteps, Traced, characters_of};
use crate::checkpoint;
use crate::error::DecodeError;
use crate::normalize::{MARK, Normalizer};
use crate::token::TokenId;
use crate::util::memory::{self, Growable};
use crate::util::text::incomplete_bytes;

/// The decoding of ids that come one after the other.
#[derive(Clone, Debug)]
pub struct TextStream {
    way: Way,
    /// Number of ids so far.
    count: usize,
}

/// The way from ids to text, and what it holds.
#[derive(Clone, Debug)]
enum Way {
    /// The bytes of tokens: those of an incomplete character.
    Bytes(Vec<Traced<u8>>),
    /// The steps of a `tokenizer.json`.
    Steps(TextSteps),
    /// The rules of a SentencePiece model.
    Model {
        /// Whether there is no text yet: there, tokens lose spaces.
        is_start: bool,
        bytes: Vec<Traced<u8>>,
    },
    /// As `Model`, of all ids: what a map makes of their text may depend on any text behind.
    Mapped { is_start: bool, ids: Vec<TokenId> },
}

impl TextStream {
    /// Whether it holds nothing but bytes of an incomplete character.
    pub fn joins_bytes(&self) -> bool {
        matches!(self.way, Way::Bytes(_) | Way::Model { .. })
    }
}

impl Encoder {
    /// Starts the decoding of ids that come one after the other.
    pub fn text_stream(&self) -> TextStream {
        let is_start = true;
        let way = match &self.decoder {
            Some(Decoder::File(decoder)) => match decoder.steps() {
                Some(steps) => Way::Steps(steps),
                None => Way::Bytes(Vec::new()),
            },
            Some(Decoder::SentencePiece(model)) if model.denormalizer.is_some() => {
                let ids = Vec::new();
                Way::Mapped { is_start, ids }
            }
            Some(Decoder::SentencePiece(_)) => {
                let bytes = Vec::new();
                Way::Model { is_start, bytes }
            }
            None => Way::Bytes(Vec::new()),
        };
        TextStream { way, count: 0 }
    }

    /// As [`text_stream`](Self::text_stream), behind an id that another text ends with.
    ///
    /// # Errors
    /// [`DecodeError::UnknownToken`].
    pub(super) fn text_stream_behind(
        &self,
        before: Option<TokenId>,
    ) -> Result<TextStream, DecodeError> {
        let mut stream = self.text_stream();
        if let Some(id) = before
            && !self.starts_anew(before)
        {
            match &mut stream.way {
                Way::Bytes(_) => {}
                Way::Steps(steps) => {
                    steps.push(vec![Text::new(&self.text_of(id)?, 0)], true, |_| {});
                }
                Way::Model { is_start, .. } | Way::Mapped { is_start, .. } => *is_start = false,
            }
        }
        Ok(stream)
    }

    /// Takes more ids of a text, the last of all if it is the end, and passes on the characters that no later id changes,
    /// each with the number of the id that completes it. After an error the stream is of no use.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn push_ids(
        &self,
        stream: &mut TextStream,
        ids: &[TokenId],
        is_end: bool,
        mut each: impl FnMut(Traced<char>),
    ) -> Result<(), DecodeError> {
        let mut rest = ids;
        loop {
            let (part, others) = rest.split_at(rest.len().min(CHECK_INTERVAL));
            checkpoint::pass()?;
            rest = others;
            self.push_part(stream, part, is_end && rest.is_empty(), &mut each)?;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// As [`push_ids`](Self::push_ids), with the characters appended to a text.
    ///
    /// # Errors
    /// As [`push_ids`](Self::push_ids).
    pub fn push_text(
        &self,
        stream: &mut TextStream,
        ids: &[TokenId],
        is_end: bool,
        text: &mut String,
    ) -> Result<(), DecodeError> {
        self.push_ids(stream, ids, is_end, |(character, _)| {
            text.with_room(character.len_utf8()).push(character);
        })
    }

    fn push_part(
        &self,
        stream: &mut TextStream,
        ids: &[TokenId],
        is_end: bool,
        each: &mut impl FnMut(Traced<char>),
    ) -> Result<(), DecodeError> {
        let TextStream { way, count } = stream;
        let numbered = (*count..).zip(ids.iter().copied());
        *count += ids.len();
        match way {
            Way::Bytes(held) => {
                for (number, id) in numbered {
                    push_traced(held, self.bytes_of(id)?, number);
                }
                let text = characters_of(held, Invalid::Sequences, is_end);
                text.into_iter().for_each(each);
            }
            Way::Steps(steps) => {
                let texts = numbered.map(|(number, id)| Ok(Text::new(&self.text_of(id)?, number)));
                let texts = memory::try_collect::<_, DecodeError>(texts)?;
                steps.push(texts, is_end, each);
            }
            Way::Model { is_start, bytes } => {
                self.push_bytes(numbered, is_start, bytes)?;
                let text = characters_of(bytes, Invalid::Bytes, is_end);
                text.into_iter().for_each(each);
            }
            Way::Mapped { is_start, ids: all } => {
                for &id in ids {
                    self.bytes_of(id)?;
                }
                all.with_room(ids.len()).extend_from_slice(ids);
                if is_end {
                    let (all, mut bytes) = (take(all), Vec::new());
                    self.push_bytes((0..).zip(all), is_start, &mut bytes)?;
                    let map = self.sentencepiece();
                    if let Some(map) = map.and_then(|model| model.denormalizer.as_ref()) {
                        bytes = mapped(map, &bytes);
                    }
                    let text = characters_of(&mut bytes, Invalid::Bytes, true);
                    text.into_iter().for_each(each);
                }
            }
        }
        Ok(())
    }

    /// Appends the bytes of ids, by the rules of a model.
    fn push_bytes(
        &self,
        numbered: impl Iterator<Item = (usize, TokenId)>,
        is_start: &mut bool,
        bytes: &mut Vec<Traced<u8>>,
    ) -> Result<(), DecodeError> {
        let model = self.sentencepiece();
        for (number, id) in numbered {
            let token = self.bytes_of(id)?;
            if token.is_empty() {
                end_character(bytes);
            }
            let at_start = model.filter(|_| *is_start);
            let at_start = at_start.and_then(|model| self.at_start(model, id));
            let (token, is_still_start) = at_start.unwrap_or((token, false));
            *is_start &= is_still_start;
            push_traced(bytes, token, number);
        }
        Ok(())
    }

    /// Returns the text that ids become, with the offset of each in characters: that of the character that it begins with or
    /// inside of; `None` if the bytes of tokens are the bytes of the text.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    ///
    /// # Complexity
    /// O(ids + bytes).
    pub fn decode_with_offsets(
        &self,
        ids: &[TokenId],
    ) -> Option<Result<(String, Vec<usize>), DecodeError>> {
        let mut stream = self.text_stream();
        if matches!(stream.way, Way::Bytes(_)) {
            return None;
        }
        let mut text = String::new();
        // So many characters are those of each token.
        let mut counts = memory::filled(0, ids.len());
        let pushed = self.push_ids(&mut stream, ids, true, |(character, number)| {
            text.with_room(character.len_utf8()).push(character);
            counts[number] += 1;
        });
        let mut offset = 0;
        for count in &mut counts {
            offset += std::mem::replace(count, offset);
        }
        Some(pushed.map(|()| (text, counts)))
    }
}

fn push_traced(bytes: &mut Vec<Traced<u8>>, token: &[u8], number: usize) {
    let token = token.iter().map(|&byte| (byte, number));
    bytes.with_room(token.len()).extend(token);
}

/// Replaces each byte of an incomplete character at the end by U+FFFD.
fn end_character(bytes: &mut Vec<Traced<u8>>) {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let tail: Vec<u8> = tail.iter().map(|(byte, _)| *byte).collect();
    let start = bytes.len() - incomplete_bytes(&tail);
    for (_, number) in bytes.split_off(start) {
        push_traced(bytes, "\u{FFFD}".as_bytes(), number);
    }
}

/// Returns what a map makes of a text, each byte with the number of the last token that it is made of.
fn mapped(map: &Normalizer, text: &[Traced<u8>]) -> Vec<Traced<u8>> {
    let bytes = memory::collect(text.iter().map(|(byte, _)| *byte));
    let (mut made, mut starts) = (Vec::new(), Vec::new());
    map.normalize(&bytes, MARK, &mut made, Some(&mut starts));
    // A byte is made of the text from its start to the start of the next byte that has a later one.
    let mut end = bytes.len();
    let mut numbers = memory::collect(starts.windows(2).rev().map(|pair| {
        if pair[0] < pair[1] {
            end = pair[1];
        }
        text[end.max(1) - 1].1
    }));
    numbers.reverse();
    memory::collect(made.into_iter().zip(numbers))
}
