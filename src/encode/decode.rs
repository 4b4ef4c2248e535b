//! Ids → bytes.
//!
//! ```text
//! for each id:
//!     copy its row of 16 bytes to the end of the block, whatever the length of the token
//!     advance the end of the block by that length
//! ```
//!
//! Copies of one length need no call and no branch. Tokens that do not fit a row, and special tokens, are
//! looked up one by one; so are all tokens until enough ids have been decoded that the table of rows is worth
//! building.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::Encoder;
use super::sentencepiece::SentencePiece;
use super::tokenizer_json::decode::{CHECK_INTERVAL, FileDecoder};
use crate::checkpoint;
use crate::error::{DecodeError, OutOfMemory};
use crate::normalize::MARK;
use crate::token::TokenId;
use crate::util::lazy::get_or_try_init_nonblocking;
use crate::util::memory;
use crate::util::text::incomplete_bytes;
use crate::vocabulary::Vocabulary;

/// Bytes to reserve for each id. Most lists of ids stand for fewer; growing takes a tenth of the time.
const BYTES_PER_ID: usize = 6;

/// Ids in a block, which stays in the nearest cache. With rows copied to their final offset, decoding took a
/// tenth longer.
const BLOCK_IDS: usize = 1 << 10;

/// Fewer ids are not worth a block.
const MIN_IDS: usize = 32;

/// Bytes in a row.
const ROW: usize = 16;

/// The bytes of a token, then anything; the last byte is the length of the token, 0 if the token does not
/// fit.
type Row = [u8; ROW];

/// The rows of the tokens of a vocabulary, built once they are worth it.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: OnceLock<Vec<Row>>,
    /// Number of ids decoded without rows.
    decoded: AtomicUsize,
}

impl Rows {
    /// Returns the rows by id if they exist, or if they are worth building now that `count` more ids are to
    /// be decoded.
    fn for_ids(&self, count: usize, vocabulary: &Vocabulary) -> Option<&[Row]> {
        if let Some(rows) = self.rows.get() {
            return Some(rows);
        }
        // Building a row costs what it saves: 10 ns, as a look-up takes 13 ns and a copy of a row 3 ns.
        let decoded = self.decoded.fetch_add(count, Ordering::Relaxed);
        if decoded.saturating_add(count) < vocabulary.len() {
            return None;
        }
        // Without memory for them, tokens are looked up one by one.
        get_or_try_init_nonblocking(&self.rows, || rows(vocabulary))
            .ok()
            .map(Vec::as_slice)
    }

    /// Number of bytes they take.
    pub(super) fn memory(&self) -> usize {
        self.rows.get().map_or(0, |rows| ROW * rows.capacity())
    }
}

/// Builds a row for each id, except ids far above the number of tokens.
fn rows(vocabulary: &Vocabulary) -> Result<Vec<Row>, OutOfMemory> {
    let largest = vocabulary.highest_id() as usize;
    let count = (largest + 1).min(2 * vocabulary.len());
    let mut rows = memory::try_vec_with_capacity(count)?;
    rows.resize(count, [0; ROW]);
    for (id, row) in (0..).zip(&mut rows) {
        if let Some(token) = vocabulary.bytes(id)
            && let Some(bytes) = row[..ROW - 1].get_mut(..token.len())
        {
            bytes.copy_from_slice(token);
            row[ROW - 1] = token.len().to_le_bytes()[0];
        }
    }
    Ok(rows)
}

/// The way from ids to text, if that is not joining the bytes of tokens.
#[derive(Clone, Debug)]
pub(super) enum Decoder {
    /// The steps of a `tokenizer.json`.
    File(Arc<FileDecoder>),
    /// The rules of a SentencePiece model.
    SentencePiece(Arc<SentencePiece>),
}

impl Encoder {
    /// The decoder of a `tokenizer.json`.
    pub(super) fn file_decoder(&self) -> Option<&FileDecoder> {
        match self.decoder.as_ref()? {
            Decoder::File(decoder) => Some(decoder),
            Decoder::SentencePiece(_) => None,
        }
    }

    /// The rules of a SentencePiece model for decoding and offsets; `None` for other encoders.
    pub fn sentencepiece(&self) -> Option<&SentencePiece> {
        match self.decoder.as_ref()? {
            Decoder::File(_) => None,
            Decoder::SentencePiece(model) => Some(model),
        }
    }

    /// Returns the bytes that `ids` stand for.
    ///
    /// # Errors
    /// [`DecodeError::UnknownToken`] for the first id that is no token; [`DecodeError::Interrupted`] from the
    /// checkpoint.
    ///
    /// # Complexity
    /// O(ids + bytes); once per vocabulary, O(vocabulary) for a table of at most 32 bytes a token.
    pub fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, DecodeError> {
        self.decode_part(ids, true)
    }

    /// As [`decode`](Self::decode); ids that are not the start of a text follow others whose bytes are known and not
    /// empty.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_part(&self, ids: &[TokenId], is_start: bool) -> Result<Vec<u8>, DecodeError> {
        if let Some(text) = self.decode_by_texts(ids) {
            return text.map(String::into_bytes);
        }
        let rows = if ids.len() < MIN_IDS {
            None
        } else {
            self.rows.for_ids(ids.len(), &self.vocabulary)
        };
        let mut bytes = memory::try_vec_with_capacity(ids.len().saturating_mul(BYTES_PER_ID))?;
        let rules = self.sentencepiece();
        let start = match rules.filter(|_| is_start) {
            Some(rules) => self.decode_start(rules, ids, &mut bytes),
            None => 0,
        };
        let ids = &ids[start..];
        for ids in ids.chunks(CHECK_INTERVAL) {
            checkpoint::pass()?;
            match rows {
                Some(rows) => self.decode_by_rows(rows, ids, &mut bytes)?,
                None => {
                    for &id in ids {
                        self.decode_one(id, &mut bytes)?;
                    }
                }
            }
        }
        if is_start {
            self.strip_start(&mut bytes);
        }
        if let Some(denormalizer) = rules.and_then(|rules| rules.denormalizer.as_ref()) {
            let mut denormalized = Vec::new();
            denormalizer.normalize(&bytes, MARK, &mut denormalized, None);
            bytes = denormalized;
        }
        Ok(bytes)
    }

    fn decode_by_rows(
        &self,
        rows: &[Row],
        ids: &[TokenId],
        bytes: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let mut block = [0; ROW * BLOCK_IDS];
        for ids in ids.chunks(BLOCK_IDS) {
            let mut filled = 0;
            for &id in ids {
                let row = rows.get(id as usize).unwrap_or(&[0; ROW]);
                let length = usize::from(row[ROW - 1]);
                if length == 0 {
                    append(bytes, &block[..filled])?;
                    filled = 0;
                    self.decode_one(id, bytes)?;
                } else {
                    block[filled..filled + ROW].copy_from_slice(row);
                    filled += length;
                }
            }
            append(bytes, &block[..filled])?;
        }
        Ok(())
    }

    fn decode_one(&self, id: TokenId, bytes: &mut Vec<u8>) -> Result<(), DecodeError> {
        let token = self.bytes_of(id)?;
        if token.is_empty() && self.sentencepiece().is_some() {
            // A control token of a model, before which a run of bytes ends.
            replace_incomplete_character(bytes);
        }
        Ok(append(bytes, token)?)
    }

    pub(super) fn bytes_of(&self, id: TokenId) -> Result<&[u8], DecodeError> {
        // A control token of a model is empty here, though it has a name.
        let ordinary = self.vocabulary.bytes(id);
        ordinary
            .or_else(|| self.token_bytes(id))
            .ok_or(DecodeError::UnknownToken(id))
    }
}

/// Appends a token. A few ids may stand for more bytes than memory holds, as the length of a token has no
/// limit.
fn append(bytes: &mut Vec<u8>, token: &[u8]) -> Result<(), OutOfMemory> {
    memory::try_reserve(bytes, token.len())?;
    bytes.extend_from_slice(token);
    Ok(())
}

/// Replaces each byte of an incomplete character at the end by U+FFFD.
fn replace_incomplete_character(bytes: &mut Vec<u8>) {
    let count = incomplete_bytes(bytes);
    bytes.truncate(bytes.len() - count);
    for _ in 0..count {
        bytes.extend_from_slice("\u{FFFD}".as_bytes());
    }
}
