//! A column of text from a Python object.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::interface::{Array, Schema, Stream, Struct, take};
use super::values::{Layout, Values, malformed};
use crate::checkpoint::{self, Checkpoint};
use crate::error::EncodeError;
use crate::util::memory;
use crate::util::text::RawText;

/// What a producer answers if it was asked for something wrong.
const EINVAL: c_int = 22;

/// The checkpoint is passed after so many texts.
const TEXTS_PER_CHECK: usize = 1 << 16;

/// What a Python object hands over.
pub(super) enum Source {
    Array(Schema, Array),
    Stream(Stream),
}

impl Source {
    /// Asks `object` for its values.
    pub(super) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
            let capsules = method.call0()?.cast_into::<PyTuple>()?;
            let array = take(&capsules.get_item(1)?)?;
            return Ok(Self::Array(take(&capsules.get_item(0)?)?, array));
        }
        if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? {
            return Ok(Self::Stream(take(&method.call0()?)?));
        }
        Err(PyTypeError::new_err(format!(
            "expected a column with __arrow_c_array__ or __arrow_c_stream__, such as a PyArrow array, a Polars or a \
             pandas series, got {}; make one of Python strings by `pyarrow.array(texts)`, or pass them to \
             `encode_batch_to_numpy`",
            object.get_type().qualname()?
        )))
    }
}

/// A column of text.
pub(super) struct Column {
    layout: Layout,
    chunks: Vec<Array>,
}

impl Column {
    /// Reads all of a column.
    pub(super) fn read(source: Source, checkpoint: &dyn Checkpoint) -> PyResult<Self> {
        match source {
            Source::Array(schema, array) => Ok(Self {
                layout: Layout::of(&schema)?,
                chunks: vec![array],
            }),
            Source::Stream(mut stream) => {
                let mut schema = Schema::RELEASED;
                stream.call(stream.get_schema, &mut schema)?;
                let layout = Layout::of(&schema)?;
                let mut chunks = Vec::new();
                loop {
                    checkpoint::pass(checkpoint).map_err(EncodeError::from)?;
                    let mut chunk = Array::RELEASED;
                    stream.call(stream.get_next, &mut chunk)?;
                    if chunk.is_released() {
                        return Ok(Self { layout, chunks });
                    }
                    chunks.push(chunk);
                }
            }
        }
    }

    /// Where the texts lie, nulls being empty ones; and, if there are nulls, which of them are none.
    pub(super) fn texts(
        &self,
        checkpoint: &dyn Checkpoint,
    ) -> PyResult<(Vec<RawText<'_>>, Option<Vec<bool>>)> {
        let chunks = self.chunks.iter();
        let chunks = chunks.map(|chunk| Values::of(chunk, self.layout));
        let chunks = chunks.collect::<PyResult<Vec<_>>>()?;
        let count = chunks.iter().map(Values::len).sum();
        // A column of nulls takes no memory, however long it is.
        let mut texts = memory::try_vec_with_capacity(count)?;
        let mut validity = None;
        for values in &chunks {
            for index in 0..values.len() {
                if texts.len() % TEXTS_PER_CHECK == 0 {
                    checkpoint::pass(checkpoint).map_err(EncodeError::from)?;
                }
                let value = values.get(index)?;
                if value.is_none() {
                    let validity = validity.get_or_insert_with(|| vec![true; count]);
                    validity[texts.len()] = false;
                }
                texts.push(RawText(value.unwrap_or_default()));
            }
        }
        Ok((texts, validity))
    }
}

impl Stream {
    /// Has one of the producer's functions fill `place`.
    fn call<T>(
        &mut self,
        function: Option<unsafe extern "C" fn(*mut Self, *mut T) -> c_int>,
        place: &mut T,
    ) -> PyResult<()> {
        let function = function.ok_or_else(|| malformed("a stream without its functions"))?;
        // SAFETY: the stream is not released, and one thread at a time calls its functions.
        let outcome = unsafe { function(self, place) };
        if outcome == 0 {
            return Ok(());
        }
        let reason = self.get_last_error.map(|last| {
            // SAFETY: as above; the call before failed.
            let message = unsafe { last(self) };
            // SAFETY: it is null or a C string that lives until the next call.
            unsafe { string(message) }
        });
        let message = format!(
            "the column cannot be read: {}",
            reason.flatten().as_deref().unwrap_or("no reason is given")
        );
        Err(if outcome == EINVAL {
            PyValueError::new_err(message)
        } else {
            PyOSError::new_err((outcome, message))
        })
    }
}

impl Layout {
    /// That of a column of text; refuses others.
    fn of(schema: &Schema) -> PyResult<Self> {
        // SAFETY: a schema that is not released has a format.
        let format = unsafe { string(schema.format) }.unwrap_or_default();
        let dictionary = !schema.dictionary.is_null();
        match format.as_str() {
            _ if dictionary => Err(not_text(
                "a dictionary (a category in pandas, Categorical or Enum in Polars)",
            )),
            "u" | "z" => Ok(Self::Narrow),
            "U" | "Z" => Ok(Self::Wide),
            "vu" | "vz" => Ok(Self::Views),
            "n" => Ok(Self::Nulls),
            "+s" => Err(PyTypeError::new_err(
                "expected one column of text, got a table or a column of structs: pass one of its columns, such as \
                 `table[\"text\"]`",
            )),
            "+r" => Err(not_text("one of runs (run_end_encoded)")),
            other => Err(not_text(&format!("one of the Arrow format {other:?}"))),
        }
    }
}

fn not_text(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "expected a column of text or bytes (string, large_string, string_view, binary, large_binary or binary_view), \
         got {what}: cast it, in PyArrow by `column.cast(pyarrow.string())`, in Polars by `column.cast(polars.String)`, \
         in pandas by `column.astype(\"str\")`"
    ))
}

/// A string of C's.
///
/// # Safety
/// `text` is null or a string that ends in a NUL.
unsafe fn string(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
    text.map(|text| text.to_string_lossy().into_owned())
}
