//! A column of text from a Python object.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::interface::{Array, Schema, Stream, Struct, take};
use super::values::{Layout, Values, malformed};
use crate::checkpoint;
use crate::error::EncodeError;
use crate::util::memory;
use crate::util::text::RawText;

/// Error number of a producer for invalid requests.
const EINVAL: c_int = 22;

/// Texts between checkpoints.
const CHECK_INTERVAL: usize = 1 << 16;

/// The structs that a Python object exports.
pub(super) enum Source {
    Array(Schema, Array),
    Stream(Stream),
}

impl Source {
    /// Calls the export method of `object`.
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
    /// Reads all chunks of a column.
    pub(super) fn read(source: Source) -> PyResult<Self> {
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
                    checkpoint::pass().map_err(EncodeError::from)?;
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

    /// Returns the texts, nulls being empty ones; and, if there are nulls, which of them are not null.
    pub(super) fn texts(&self) -> PyResult<(Vec<RawText<'_>>, Option<Vec<bool>>)> {
        let chunks = self.chunks.iter();
        let chunks = chunks.map(|chunk| Values::of(chunk, self.layout));
        let chunks = chunks.collect::<PyResult<Vec<_>>>()?;
        let count = chunks.iter().map(Values::len).sum();
        // A column of nulls takes no memory, whatever length it claims.
        let mut texts = memory::try_vec_with_capacity(count)?;
        let mut validity = None;
        for values in &chunks {
            for index in 0..values.len() {
                if texts.len() % CHECK_INTERVAL == 0 {
                    checkpoint::pass().map_err(EncodeError::from)?;
                }
                let value = values.get(index)?;
                if value.is_none() {
                    let validity = validity.get_or_insert_with(|| memory::filled(true, count));
                    validity[texts.len()] = false;
                }
                texts.push(RawText(value.unwrap_or_default()));
            }
        }
        Ok((texts, validity))
    }
}

impl Stream {
    /// Calls a function of the producer, which stores its result in `result`.
    fn call<T>(
        &mut self,
        function: Option<unsafe extern "C" fn(*mut Self, *mut T) -> c_int>,
        result: &mut T,
    ) -> PyResult<()> {
        let function = function.ok_or_else(|| malformed("a stream without its functions"))?;
        // SAFETY: the stream is not released, and `&mut self` keeps other threads from calling it; `result`
        // is a valid, released struct, which the function overwrites.
        let outcome = unsafe { function(self, result) };
        if outcome == 0 {
            return Ok(());
        }
        let reason = self.get_last_error.map(|last| {
            // SAFETY: the stream is not released, and the interface allows this call after one that failed.
            let message = unsafe { last(self) };
            // SAFETY: the message is null or a C string that lives until the next call, which comes later.
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
    /// Returns the layout of a column of text; others are a `TypeError`.
    fn of(schema: &Schema) -> PyResult<Self> {
        // SAFETY: the interface demands a C string in the schema, which lives until it is released.
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

fn not_text(got: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "expected a column of text or bytes (string, large_string, string_view, binary, large_binary or binary_view), \
         got {got}: cast it, in PyArrow by `column.cast(pyarrow.string())`, in Polars by `column.cast(polars.String)`, \
         in pandas by `column.astype(\"str\")`"
    ))
}

/// Copies a C string; `None` if it is null.
///
/// # Safety
/// `text` must be null or end in a NUL.
unsafe fn string(text: *const c_char) -> Option<String> {
    // SAFETY: not null, so that it ends in a NUL, as the caller ensures.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
    text.map(|text| text.to_string_lossy().into_owned())
}
