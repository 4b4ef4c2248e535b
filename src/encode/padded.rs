//! Rows of one length: the ids of texts between special tokens, filled up, with the columns that models take beside them.

use super::Encoder;
use super::batch::{Batch, Integer, Ragged};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory;
use crate::util::text::Text;

/// Rows that are filled between two passes of the checkpoint.
const CHECK_INTERVAL: usize = 1 << 10;

/// A token with the number of the sequence that it counts as part of.
#[derive(Clone, Copy, Debug)]
pub struct Typed {
    /// The id.
    pub id: TokenId,
    /// The number of the sequence.
    pub sequence: u32,
}

/// The shape of rows.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Tokens before those of each text.
    pub before: Vec<Typed>,
    /// Tokens after them.
    pub after: Vec<Typed>,
    /// The number of the sequence of the tokens of a text.
    pub sequence: u32,
    /// The most tokens of a text.
    pub room: Option<usize>,
    /// Whether the last tokens of a longer text are kept, not the first.
    pub keeps_end: bool,
    /// The length of rows; that of the longest if there is none.
    pub length: Option<usize>,
    /// The length is a multiple of this, which is not 0.
    pub multiple: usize,
    /// The token that rows are filled up with.
    pub pad: Typed,
    /// Whether that is at the start of rows.
    pub pads_start: bool,
}

/// Columns of rows, one after the other: `rows` times `length` values each.
#[derive(Debug)]
pub struct Rows<T> {
    /// Number of rows.
    pub rows: usize,
    /// Their length.
    pub length: usize,
    /// The ids.
    pub ids: Vec<T>,
    /// The number of the sequence of each.
    pub sequences: Vec<T>,
    /// 0 for what rows are filled up with, otherwise 1.
    pub attention: Vec<T>,
    /// 0 for the tokens of texts, otherwise 1.
    pub special: Vec<T>,
}

/// Why there are no rows.
#[derive(Debug)]
pub enum PadError {
    /// A text could not be encoded.
    Encode(EncodeError),
    /// A row has more tokens than rows are to have.
    TooLong {
        /// The index of the text.
        row: usize,
        /// Its tokens, with those around it.
        tokens: usize,
        /// The length of rows.
        length: usize,
    },
}

impl From<EncodeError> for PadError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl Encoder {
    /// Encodes `texts` to rows of one length.
    ///
    /// # Errors
    /// [`PadError`].
    ///
    /// # Complexity
    /// As [`encode_batch`](Self::encode_batch), and O(rows · length). Of a text, not much more is encoded than there is
    /// room for.
    pub fn encode_padded<T: Integer>(
        &self,
        texts: &[impl Text + Sync],
        batch: Batch,
        shape: &Shape,
    ) -> Result<Rows<T>, PadError> {
        let most = shape.room.filter(|_| !shape.keeps_end);
        let encoded = self.encode_batch(texts, &Batch { most, ..batch })?;
        shape.fill(&encoded)
    }
}

impl Shape {
    /// Returns the rows of ids.
    fn fill<T: Integer>(&self, encoded: &Ragged<TokenId>) -> Result<Rows<T>, PadError> {
        let texts = encoded.offsets.windows(2).map(|text| {
            let ids = &encoded.ids[text[0]..text[1]];
            match self.room {
                Some(room) if ids.len() > room && self.keeps_end => &ids[ids.len() - room..],
                Some(room) if ids.len() > room => &ids[..room],
                _ => ids,
            }
        });
        let extras = self.before.len() + self.after.len();
        let longest = texts.clone().map(<[TokenId]>::len).max();
        let longest = longest.map_or(0, |longest| longest + extras);
        let length = self
            .length
            .unwrap_or(longest)
            .next_multiple_of(self.multiple);
        if longest > length {
            let mut rows = texts.clone().map(|ids| ids.len() + extras);
            let row = rows
                .position(|tokens| tokens == longest)
                .expect("one is the longest");
            let tokens = longest;
            return Err(PadError::TooLong {
                row,
                tokens,
                length,
            });
        }
        let rows = texts.len();
        let size = rows.saturating_mul(length);
        let column = || memory::try_vec_with_capacity(size).map_err(EncodeError::from);
        let mut filled = Rows {
            rows,
            length,
            ids: column()?,
            sequences: column()?,
            attention: column()?,
            special: column()?,
        };
        for (row, ids) in texts.enumerate() {
            if row % CHECK_INTERVAL == 0 {
                checkpoint::pass().map_err(EncodeError::from)?;
            }
            let padding = length - ids.len() - extras;
            if self.pads_start {
                filled.push_padding(self.pad, padding);
            }
            filled.push_tokens(&self.before);
            filled.ids.extend(ids.iter().map(|&id| T::from_id(id)));
            let end = filled.ids.len();
            filled.sequences.resize(end, T::from_id(self.sequence));
            filled.attention.resize(end, T::from_id(1));
            filled.special.resize(end, T::from_id(0));
            filled.push_tokens(&self.after);
            if !self.pads_start {
                filled.push_padding(self.pad, padding);
            }
        }
        Ok(filled)
    }
}

impl<T: Integer> Rows<T> {
    fn push_tokens(&mut self, tokens: &[Typed]) {
        for token in tokens {
            self.ids.push(T::from_id(token.id));
            self.sequences.push(T::from_id(token.sequence));
            self.attention.push(T::from_id(1));
            self.special.push(T::from_id(1));
        }
    }

    fn push_padding(&mut self, pad: Typed, count: usize) {
        let end = self.ids.len() + count;
        self.ids.resize(end, T::from_id(pad.id));
        self.sequences.resize(end, T::from_id(pad.sequence));
        self.attention.resize(end, T::from_id(0));
        self.special.resize(end, T::from_id(1));
    }
}
