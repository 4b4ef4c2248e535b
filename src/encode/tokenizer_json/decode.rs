//! Ids → text, by the decoder of a file.
//!
//! The decoders of most files only join the bytes of tokens, which the vocabulary has. For all others the texts of the
//! tokens go from step to step, as in the library.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::Names;
use super::text_steps::{TextSteps, byte_named};
use crate::checkpoint;
use crate::encode::Encoder;
use crate::error::DecodeError;
use crate::huggingface::{DecoderStep, TokenizerFile};
use crate::token::TokenId;
use crate::util::hash::SeededState;
use crate::util::lazy::get_or_init_nonblocking;
use crate::util::memory::{self, Growable, reserve};
use crate::vocabulary::Vocabulary;
use crate::vocabulary::byte_alphabet;
use crate::vocabulary::characters::MARK;

/// Ids between two checkpoints of a decoder: some tenths of a millisecond.
pub(in crate::encode) const CHECK_INTERVAL: usize = 1 << 15;

/// The way from ids to text.
#[derive(Debug)]
pub(in crate::encode) struct FileDecoder {
    manner: Manner,
    /// The bytes of added tokens that the vocabulary does not have.
    added: HashMap<TokenId, Vec<u8>, SeededState>,
}

#[derive(Debug)]
enum Manner {
    /// The bytes of all tokens.
    Bytes,
    /// As `Bytes`, where a run of tokens of bytes that is not UTF-8 becomes as many U+FFFD. So many spaces at the start
    /// are taken away.
    Characters {
        byte_tokens: HashMap<TokenId, u8, SeededState>,
        stripped: usize,
    },
    /// By the texts of all tokens.
    Texts {
        texts: HashMap<TokenId, TokenText, SeededState>,
        /// At the start of a text.
        steps: TextSteps,
        /// Behind the first token, if each token is decoded by itself.
        behind: Option<TextSteps>,
    },
}

/// The text of a token.
#[derive(Debug)]
struct TokenText {
    text: Box<str>,
    /// The text that it becomes behind other tokens, once asked for.
    decoded: OnceLock<Box<str>>,
}

/// Returns the bytes that a token is decoded to, as far as it stands alone.
pub(super) fn bytes_of<'a>(
    text: &'a str,
    file: &TokenizerFile<'_>,
    has_marks: bool,
) -> Cow<'a, [u8]> {
    if file.pre_tokenizer.is_byte_level {
        let mut bytes = memory::vec_with_capacity(text.len());
        if byte_alphabet::push_bytes(text, &mut bytes) {
            return Cow::Owned(bytes);
        }
        return Cow::Borrowed(text.as_bytes());
    }
    let decodes_bytes = |step: &DecoderStep| matches!(step, DecoderStep::ByteFallback);
    let names_bytes = file
        .model
        .merging()
        .is_some_and(|merging| merging.byte_fallback)
        || file
            .decoder
            .as_ref()
            .is_some_and(|steps| steps.iter().any(decodes_bytes));
    match byte_named(text).filter(|_| names_bytes) {
        Some(byte) => Cow::Owned(vec![byte]),
        None if has_marks && text.contains(MARK) => {
            Cow::Owned(text.replace(MARK, " ").into_bytes())
        }
        None => Cow::Borrowed(text.as_bytes()),
    }
}

impl FileDecoder {
    /// Builds the decoder of a file. With `has_marks`, the vocabulary has spaces in place of marks.
    pub(super) fn new(
        file: &TokenizerFile<'_>,
        names: &Names,
        vocabulary: &Vocabulary,
        has_marks: bool,
    ) -> Self {
        let is_byte_level = file.pre_tokenizer.is_byte_level;
        let texts = || {
            let tokens = file.model.vocabulary.iter();
            let tokens = tokens.map(|(text, id)| (*id, names.get(id).map_or(&**text, |name| name)));
            tokens.chain(names.iter().map(|(&id, name)| (id, &**name)))
        };
        let manner = match file.decoder.as_deref() {
            Some([DecoderStep::ByteLevel]) if is_byte_level => Manner::Bytes,
            Some(steps) if has_marks && joins_characters(steps).is_some() => {
                let byte_names = texts().filter_map(|(id, text)| Some((id, byte_named(text)?)));
                Manner::Characters {
                    byte_tokens: memory::collect_table(byte_names),
                    stripped: joins_characters(steps).unwrap_or_default(),
                }
            }
            steps => {
                let steps = match steps {
                    Some(steps) => TextSteps::new(steps, ""),
                    None => TextSteps::new(&[], " "),
                };
                let token = |text: &str| TokenText {
                    text: text.into(),
                    decoded: OnceLock::new(),
                };
                Manner::Texts {
                    texts: memory::collect_table(texts().map(|(id, text)| {
                        reserve::pass();
                        (id, token(text))
                    })),
                    behind: steps.behind_first(),
                    steps,
                }
            }
        };
        let mut added: HashMap<TokenId, Vec<u8>, SeededState> = HashMap::default();
        for (&id, name) in names {
            if vocabulary.bytes(id).is_none() {
                added.insert(id, bytes_of(name, file, has_marks).into_owned());
            }
        }
        Self { manner, added }
    }

    /// The bytes of an added token that the vocabulary does not have.
    pub(in crate::encode) fn added(&self, id: TokenId) -> Option<&[u8]> {
        self.added.get(&id).map(Vec::as_slice)
    }

    /// The ids of these tokens, in any order.
    pub(in crate::encode) fn added_ids(&self) -> impl Iterator<Item = TokenId> {
        self.added.keys().copied()
    }

    /// The steps that the texts of tokens go through; `None` if the bytes of tokens are the bytes of the text.
    pub(in crate::encode) fn steps(&self) -> Option<TextSteps> {
        match &self.manner {
            Manner::Bytes => None,
            Manner::Characters { stripped, .. } => {
                let strip = DecoderStep::Strip {
                    content: ' ',
                    start: *stripped,
                    stop: 0,
                };
                let steps = [DecoderStep::ByteFallback, DecoderStep::Fuse, strip];
                Some(TextSteps::new(&steps, ""))
            }
            Manner::Texts { steps, .. } => Some(steps.clone()),
        }
    }
}

/// Returns how many spaces are taken away at the start, if these steps join characters with spaces for marks.
fn joins_characters(steps: &[DecoderStep]) -> Option<usize> {
    let [
        DecoderStep::Replace { text, content },
        DecoderStep::ByteFallback,
        DecoderStep::Fuse,
        rest @ ..,
    ] = steps
    else {
        return None;
    };
    if !text.chars().eq([MARK]) || content != " " {
        return None;
    }
    match rest {
        [] => Some(0),
        [
            DecoderStep::Strip {
                content: ' ',
                start,
                stop: 0,
            },
        ] => Some(*start),
        _ => None,
    }
}

impl Encoder {
    /// Returns the text that ids become, as `tokenizers` decodes them without skipping special tokens; `None` for an
    /// encoder without a decoder of its own, whose text is that of its bytes.
    ///
    /// # Errors
    /// [`DecodeError::UnknownToken`] for the first id that is no token; [`DecodeError::Interrupted`] from the checkpoint.
    ///
    /// # Complexity
    /// O(ids + bytes).
    pub fn decode_text(&self, ids: &[TokenId]) -> Option<Result<String, DecodeError>> {
        let decoder = self.file_decoder()?;
        match &decoder.manner {
            Manner::Bytes => None,
            Manner::Characters { byte_tokens, .. } => Some((|| {
                let mut text = self.characters(ids, byte_tokens)?;
                self.strip_start(&mut text);
                Ok(into_text(text))
            })()),
            Manner::Texts { .. } => self.decode_by_texts(ids),
        }
    }

    /// As [`decode_text`](Self::decode_text), if the bytes of tokens do not say what ids become.
    pub(in crate::encode) fn decode_by_texts(
        &self,
        ids: &[TokenId],
    ) -> Option<Result<String, DecodeError>> {
        let Manner::Texts {
            texts,
            steps,
            behind,
        } = &self.file_decoder()?.manner
        else {
            return None;
        };
        if let Some(behind) = behind {
            return Some(self.decode_each(ids, texts, steps, behind));
        }
        let mut stream = self.text_stream();
        let mut text = String::new();
        let pushed = self.push_text(&mut stream, ids, true, &mut text);
        Some(pushed.map(|()| text))
    }

    /// Decodes the first token by its `steps`, and each one behind it by itself.
    fn decode_each(
        &self,
        ids: &[TokenId],
        texts: &HashMap<TokenId, TokenText, SeededState>,
        steps: &TextSteps,
        behind: &TextSteps,
    ) -> Result<String, DecodeError> {
        let mut text = String::new();
        let mut push = |part: &str| text.with_room(part.len()).push_str(part);
        let (first, rest) = ids.split_at(ids.len().min(1));
        for &id in first {
            push(&steps.decoded(&self.text_of(id)?));
        }
        for ids in rest.chunks(CHECK_INTERVAL) {
            checkpoint::pass()?;
            for &id in ids {
                if let Some(TokenText { text, decoded }) = texts.get(&id) {
                    // 10 to 13 ns a token, where the steps take 77 to 216.
                    let decoded = get_or_init_nonblocking(decoded, || {
                        reserve::pass();
                        behind.decoded(text).into()
                    });
                    push(decoded);
                } else {
                    push(&behind.decoded(&self.text_of(id)?));
                }
            }
        }
        Ok(text)
    }

    /// Returns whether ids may become bytes that are no text, by the decoder of a file.
    pub fn may_decode_to_bytes(&self) -> bool {
        let manner = self.file_decoder().map(|decoder| &decoder.manner);
        matches!(manner, Some(Manner::Characters { .. }))
    }

    /// The text of a token, as the decoder of a file takes it; the name of a byte for tokens of bytes.
    pub(in crate::encode) fn text_of(&self, id: TokenId) -> Result<Cow<'_, str>, DecodeError> {
        let text = match self.file_decoder().map(|decoder| &decoder.manner) {
            Some(Manner::Texts { texts, .. }) => {
                texts.get(&id).map(|token| Cow::Borrowed(&*token.text))
            }
            Some(Manner::Characters { byte_tokens, .. }) => match byte_tokens.get(&id) {
                Some(byte) => Some(Cow::Owned(format!("<0x{byte:02X}>"))),
                None => Some(String::from_utf8_lossy(self.bytes_of(id)?)),
            },
            _ => None,
        };
        let text = text.or_else(|| self.special_tokens.text(id).map(Cow::Borrowed));
        text.ok_or(DecodeError::UnknownToken(id))
    }

    /// Takes away the spaces at the start of a text that the decoder takes away.
    pub(in crate::encode) fn strip_start(&self, text: &mut Vec<u8>) {
        if let Some(decoder) = self.file_decoder()
            && let Manner::Characters { stripped, .. } = decoder.manner
        {
            let spaces = text.iter().take(stripped).take_while(|&&byte| byte == b' ');
            let spaces = spaces.count();
            text.drain(..spaces);
        }
    }

    /// Returns the bytes of tokens, with U+FFFD for each byte of a run of tokens of bytes that is not UTF-8.
    fn characters(
        &self,
        ids: &[TokenId],
        byte_tokens: &HashMap<TokenId, u8, SeededState>,
    ) -> Result<Vec<u8>, DecodeError> {
        let mut text = memory::vec_with_capacity(ids.len() * 4);
        let mut run = Vec::new();
        for ids in ids.chunks(CHECK_INTERVAL) {
            checkpoint::pass()?;
            for id in ids {
                if let Some(&byte) = byte_tokens.get(id) {
                    run.with_room(1).push(byte);
                    continue;
                }
                push_run(&mut run, &mut text);
                let bytes = self.bytes_of(*id)?;
                text.with_room(bytes.len()).extend_from_slice(bytes);
            }
        }
        push_run(&mut run, &mut text);
        Ok(text)
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Moves a run of bytes to a text: as they are if they are UTF-8, otherwise U+FFFD for each.
fn push_run(run: &mut Vec<u8>, text: &mut Vec<u8>) {
    if std::str::from_utf8(run).is_ok() {
        text.with_room(run.len()).append(run);
    } else {
        for _ in run.drain(..) {
            memory::extend(text, "\u{FFFD}".bytes());
        }
    }
}
