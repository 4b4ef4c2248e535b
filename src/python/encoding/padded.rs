//! Encodes batches of texts to padded arrays: token IDs, type IDs and masks.

use numpy::{Element, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::CoreBpe;
use super::special::Tokens;
use crate::encode::batch::{Batch, Integer};
use crate::encode::padded::{Columns, PadError, Rows, Shape, Typed};
use crate::python::error::guarded;
use crate::python::ids::arrays;
use crate::python::runtime::{run, size_of, threads_for};
use crate::python::strings::{batch_texts, expect_strings};
use crate::token::TokenId;

/// Tokens with the numbers of their sequences.
type Pairs = Vec<(TokenId, u32)>;

#[pymethods]
impl CoreBpe {
    /// Encodes texts to arrays of shape (texts, length), by name. `frame` is what stands before and after each text, and the
    /// number of its sequence; `keeps` the most tokens of a text, and whether they are its last; `padding` the length of
    /// rows, of which they are a multiple, what they are filled up with, and whether at their start; `columns` whether there are
    /// types, a mask of attention, and one of special tokens.
    #[expect(
        clippy::too_many_arguments,
        reason = "those of the Python method, which names them"
    )]
    #[pyo3(signature = (texts, allowed_special, frame, keeps, padding, columns, dtype, num_threads, /))]
    fn encode_padded<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed_special: Tokens<'_, '_>,
        frame: (Pairs, Pairs, u32),
        keeps: (Option<usize>, bool),
        padding: (Option<usize>, usize, (TokenId, u32), bool),
        columns: (bool, bool, bool),
        dtype: &str,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        guarded(|| {
            let typed = |(id, sequence): (TokenId, u32)| Typed { id, sequence };
            let (before, after, sequence) = frame;
            let (length, multiple, pad, pads_start) = padding;
            let shape = Shape {
                before: before.into_iter().map(typed).collect(),
                after: after.into_iter().map(typed).collect(),
                sequence,
                room: keeps.0,
                keeps_end: keeps.1,
                length,
                multiple: multiple.max(1),
                pad: typed(pad),
                pads_start,
            };
            let columns = Columns {
                sequences: columns.0,
                attention: columns.1,
                special: columns.2,
            };
            let policy = self.policy(allowed_special, Tokens::Nothing)?;
            let batch = Batch::new(policy, num_threads);
            match dtype {
                "int64" => self.rows::<i64>(texts, batch, &shape, columns),
                "int32" => self.rows::<i32>(texts, batch, &shape, columns),
                "uint32" => self.rows::<u32>(texts, batch, &shape, columns),
                _ => Err(PyValueError::new_err(format!(
                    "expected a dtype of int64, int32 or uint32, got {dtype:?}"
                ))),
            }
        })
    }
}

impl CoreBpe {
    fn rows<'py, T: Integer + Element>(
        &self,
        texts: &Bound<'py, PyList>,
        batch: Batch,
        shape: &Shape,
        columns: Columns,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (py, (strings, complete)) = (texts.py(), expect_strings(texts));
        let texts = batch_texts(py, &strings, batch.threads)?;
        let most = shape
            .length
            .map_or(0, |length| length.saturating_mul(texts.len()));
        let size = size_of(&texts).max(most);
        let batch = Batch {
            threads: threads_for(size_of(&texts), batch.threads),
            ..batch
        };
        let encode = || {
            self.encoder
                .encode_padded::<T>(&texts, batch, shape, columns)
        };
        let Rows {
            rows,
            length,
            ids,
            sequences,
            attention,
            special,
        } = run(py, size, encode)?;
        complete?;
        let made = PyDict::new(py);
        for (name, values) in [
            ("input_ids", Some(ids)),
            ("token_type_ids", sequences),
            ("attention_mask", attention),
            ("special_tokens_mask", special),
        ] {
            if let Some(values) = values {
                made.set_item(name, arrays::array(py, values)?.reshape([rows, length])?)?;
            }
        }
        Ok(made)
    }
}

impl From<PadError> for PyErr {
    fn from(error: PadError) -> Self {
        match error {
            PadError::Encode(error) => error.into(),
            PadError::TooLong {
                row,
                tokens,
                length,
            } => PyValueError::new_err(format!(
                "text {row} has {tokens} tokens, which is more than the {length} of a row: expected a max_length of at most \
                 {length}, or a padding of at least {tokens}"
            )),
        }
    }
}
