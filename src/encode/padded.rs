//! Encodes batches of texts to rows of one length: the ids between special tokens and padding, and the columns that
//! models take beside them.

use super::Encoder;
use super::batch::{Batch, Integer, Ragged};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::token::TokenId;
use crate::util::memory;
use crate::util::text::Text;

/// Values that are written between two passes of the checkpoint.
const CHECK_INTERVAL: usize = 1 << 20;

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

/// Which columns are made beside the ids.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// [`Rows::sequences`].
    pub sequences: bool,
    /// [`Rows::attention`].
    pub attention: bool,
    /// [`Rows::special`].
    pub special: bool,
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
    pub sequences: Option<Vec<T>>,
    /// 0 for what rows are filled up with, otherwise 1.
    pub attention: Option<Vec<T>>,
    /// 0 for the tokens of texts, otherwise 1.
    pub special: Option<Vec<T>>,
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
    /// As [`encode_batch`](Self::encode_batch), and O(rows · length) for each column. Where the first tokens of a text are
    /// kept, little more of it is encoded: at most some KB.
    pub fn encode_padded<T: Integer>(
        &self,
        texts: &[impl Text + Sync],
        batch: Batch,
        shape: &Shape,
        columns: Columns,
    ) -> Result<Rows<T>, PadError> {
        let most = shape.room.filter(|_| !shape.keeps_end);
        let encoded = self.encode_batch(texts, &Batch { most, ..batch })?;
        shape.fill(&encoded, columns)
    }
}

impl Shape {
    /// Returns the rows of ids, of which there are not too many if the first are kept.
    fn fill<T: Integer>(
        &self,
        encoded: &Ragged<TokenId>,
        columns: Columns,
    ) -> Result<Rows<T>, PadError> {
        let texts = encoded.offsets.windows(2).map(|text| {
            let ids = &encoded.ids[text[0]..text[1]];
            &ids[ids.len() - self.room.unwrap_or(ids.len()).min(ids.len())..]
        });
        let extras = self.before.len() + self.after.len();
        let lengths = texts.clone().map(|ids| ids.len() + extras);
        let longest = lengths.clone().max().unwrap_or(0);
        let length = self.length.unwrap_or(longest);
        // A length that overflows becomes the largest, for which allocating memory fails.
        let length = length.checked_next_multiple_of(self.multiple);
        let length = length.unwrap_or(usize::MAX);
        if longest > length {
            let row = lengths.clone().position(|tokens| tokens == longest);
            return Err(PadError::TooLong {
                row: row.expect("one is the longest"),
                tokens: longest,
                length,
            });
        }
        let column = |is_wanted: bool, values: Values| {
            is_wanted
                .then(|| self.column(texts.clone(), length, &values))
                .transpose()
        };
        let ids = Values {
            around: |token| token.id,
            text: None,
            pad: self.pad.id,
        };
        let sequences = Values {
            around: |token| token.sequence,
            text: Some(self.sequence),
            pad: self.pad.sequence,
        };
        let attention = Values {
            around: |_| 1,
            text: Some(1),
            pad: 0,
        };
        let special = Values {
            around: |_| 1,
            text: Some(0),
            pad: 1,
        };
        Ok(Rows {
            rows: texts.len(),
            length,
            ids: self.column(texts.clone(), length, &ids)?,
            sequences: column(columns.sequences, sequences)?,
            attention: column(columns.attention, attention)?,
            special: column(columns.special, special)?,
        })
    }

    /// Returns a column of rows of `length`.
    fn column<'i, T: Integer>(
        &self,
        texts: impl ExactSizeIterator<Item = &'i [TokenId]>,
        length: usize,
        values: &Values,
    ) -> Result<Vec<T>, EncodeError> {
        let around = |token: &Typed| T::from_id((values.around)(token));
        let pad = T::from_id(values.pad);
        let mut column = memory::try_vec_with_capacity(texts.len().saturating_mul(length))?;
        let mut checked = 0;
        for ids in texts {
            if column.len() - checked >= CHECK_INTERVAL {
                checked = column.len();
                checkpoint::pass()?;
            }
            let end = column.len() + length;
            if self.pads_start {
                let tokens = self.before.len() + ids.len() + self.after.len();
                column.resize(end - tokens, pad);
            }
            column.extend(self.before.iter().map(around));
            match values.text {
                None => column.extend(ids.iter().map(|&id| T::from_id(id))),
                Some(value) => column.resize(column.len() + ids.len(), T::from_id(value)),
            }
            column.extend(self.after.iter().map(around));
            column.resize(end, pad);
        }
        Ok(column)
    }
}

/// The values of a column.
struct Values {
    /// For a token before or after a text.
    around: fn(&Typed) -> u32,
    /// For each token of a text; its id if there is none.
    text: Option<u32>,
    /// For what rows are filled up with.
    pad: u32,
}
