//! Decodes ids to bytes and text.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::CoreBpe;
use crate::encode::decode_stream::TextStream;
use crate::error::DecodeError;
use crate::python::abi::new_string;
use crate::python::error::{UnknownTokenError, guarded};
use crate::python::ids::TokenIds;
use crate::python::objects::{new_bytes, new_list};
use crate::python::runtime::{run, threads_for};
use crate::token::TokenId;
use crate::util::text::{incomplete_bytes, with_each_byte_replaced};
use crate::util::{memory, parallel};

/// Bytes of work that decoding an id counts as.
pub(super) const BYTES_PER_ID: usize = 4;

#[pymethods]
impl CoreBpe {
    #[pyo3(signature = (tokens, /))]
    fn decode_bytes<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| self.bytes(tokens, true))
    }

    #[pyo3(signature = (tokens, /))]
    fn decode_further_bytes<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| self.bytes(tokens, false))
    }

    #[pyo3(signature = (tokens, errors, /))]
    fn decode<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        guarded(|| {
            let py = tokens.py();
            let ids = TokenIds::from_py(tokens)?;
            let ids = ids.as_slice()?;
            let decoded = run(py, ids.len() * BYTES_PER_ID, || self.decoded(ids, errors))?;
            self.string(py, &decoded, errors)
        })
    }

    /// Appends one token to the bytes that each stream holds back. Returns the texts that are complete now, in which invalid
    /// UTF-8 is replaced, and the bytes that each stream holds back from now on.
    #[pyo3(signature = (held, tokens, /))]
    fn continue_texts<'py>(
        &self,
        held: &Bound<'py, PyList>,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        guarded(|| {
            let py = tokens.py();
            let ids = TokenIds::from_py(tokens)?;
            let ids = ids.as_slice()?;
            if ids.len() != held.len() {
                let (given, streams) = (ids.len(), held.len());
                let message =
                    format!("expected a token for each of {streams} streams, got {given}");
                return Err(PyValueError::new_err(message));
            }
            let mut bytes = Vec::new();
            let mut texts = memory::vec_with_capacity(ids.len());
            let mut rests = memory::vec_with_capacity(ids.len());
            for (held, &id) in held.iter().zip(ids) {
                let held = held.cast::<PyBytes>()?;
                let token = self.encoder.token_bytes(id);
                let token = token.ok_or_else(|| UnknownTokenError::new_err(id.to_string()))?;
                bytes.clear();
                bytes.extend_from_slice(held.as_bytes());
                bytes.extend_from_slice(token);
                let (whole, rest) = bytes.split_at(bytes.len() - incomplete_bytes(&bytes));
                texts.push(new_string(py, &String::from_utf8_lossy(whole))?);
                rests.push(new_bytes(py, rest)?);
            }
            Ok((
                new_list(py, texts.into_iter().map(Ok))?,
                new_list(py, rests.into_iter().map(Ok))?,
            ))
        })
    }

    #[pyo3(signature = (batch, num_threads, /))]
    fn decode_bytes_batch<'py>(
        &self,
        batch: &Bound<'py, PyList>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let py = batch.py();
            let decoded = decoded_rows(batch, num_threads, |ids| self.encoder.decode(ids))?;
            new_list(py, decoded.iter().map(|bytes| new_bytes(py, bytes)))
        })
    }

    #[pyo3(signature = (batch, errors, num_threads, /))]
    fn decode_batch<'py>(
        &self,
        batch: &Bound<'py, PyList>,
        errors: &str,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let py = batch.py();
            let decoded = decoded_rows(batch, num_threads, |ids| self.decoded(ids, errors))?;
            let strings = decoded.iter();
            new_list(py, strings.map(|decoded| self.string(py, decoded, errors)))
        })
    }

    /// Decodes ids with the offset of each, if decoding does more than to join bytes; otherwise `None`.
    #[pyo3(signature = (tokens, /))]
    fn decode_with_offsets(
        &self,
        tokens: &Bound<'_, PyAny>,
    ) -> PyResult<Option<(String, Vec<usize>)>> {
        guarded(|| {
            let ids = TokenIds::from_py(tokens)?;
            let ids = ids.as_slice()?;
            run(tokens.py(), ids.len() * BYTES_PER_ID, || {
                self.encoder.decode_with_offsets(ids).transpose()
            })
        })
    }

    /// Returns whether ids may become bytes that are no text, by the decoder of a file.
    fn may_decode_to_bytes(&self) -> bool {
        self.encoder.may_decode_to_bytes()
    }

    /// Starts a stream, unless joining the bytes of tokens is all it needs.
    fn text_stream(slf: &Bound<'_, Self>) -> Option<CoreTextStream> {
        let stream = slf.get().encoder.text_stream();
        (!stream.joins_bytes()).then(|| CoreTextStream {
            core: slf.clone().unbind(),
            stream,
        })
    }
}

/// Bytes, or a text where the encoding makes it in a way of its own.
enum Decoded {
    Bytes(Vec<u8>),
    Text(String),
}

impl CoreBpe {
    /// Decodes ids, which follow others unless they are the start of a text.
    fn bytes<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        is_start: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (py, ids) = (tokens.py(), TokenIds::from_py(tokens)?);
        let ids = ids.as_slice()?;
        let decoded = run(py, ids.len() * BYTES_PER_ID, || {
            self.encoder.decode_part(ids, is_start)
        })?;
        new_bytes(py, &decoded)
    }

    /// Decodes the ids of a text, in which what is not UTF-8 may be replaced.
    fn decoded(&self, ids: &[TokenId], errors: &str) -> Result<Decoded, DecodeError> {
        let text = || self.encoder.decode_text(ids);
        match (errors == "replace").then(text).flatten() {
            Some(text) => text.map(Decoded::Text),
            None => self.encoder.decode(ids).map(Decoded::Bytes),
        }
    }

    /// Decodes UTF-8; where it is invalid, Python does, with `errors`. A SentencePiece model replaces each byte by itself.
    fn string<'py>(
        &self,
        py: Python<'py>,
        decoded: &Decoded,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        let bytes = match decoded {
            Decoded::Text(text) => return new_string(py, text),
            Decoded::Bytes(bytes) => bytes,
        };
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return new_string(py, text);
        }
        if self.encoder.sentencepiece().is_some() && errors == "replace" {
            return new_string(py, &with_each_byte_replaced(bytes));
        }
        let decoded = new_bytes(py, bytes)?.call_method1("decode", ("utf-8", errors))?;
        Ok(decoded.cast_into::<PyString>()?)
    }
}

fn decoded_rows<R: Send + Sync>(
    rows: &Bound<'_, PyList>,
    num_threads: usize,
    decode: impl Fn(&[TokenId]) -> Result<R, DecodeError> + Sync,
) -> PyResult<Vec<R>> {
    let py = rows.py();
    let rows = memory::try_collect(rows.iter().map(|tokens| TokenIds::from_py(&tokens)))?;
    let rows = memory::try_collect(rows.iter().map(TokenIds::as_slice))?;
    let size = rows.iter().map(|ids| ids.len() * BYTES_PER_ID + 1).sum();
    run(py, size, || {
        parallel::map(&rows, threads_for(size, num_threads), |ids| decode(ids))
    })
}

// The class `TextStream`: ids that arrive one after the other, by a decoder that needs the texts of
// tokens.

/// The state of a stream, with its encoding.
#[pyclass(name = "TextStream", module = "bytemill._core", frozen)]
pub(in crate::python) struct CoreTextStream {
    core: Py<CoreBpe>,
    stream: TextStream,
}

#[pymethods]
impl CoreTextStream {
    /// Returns the text that ids complete, and the stream after them.
    #[pyo3(signature = (tokens, /))]
    fn push<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyString>, Self)> {
        guarded(|| {
            let py = tokens.py();
            let ids = TokenIds::from_py(tokens)?;
            let mut stream = self.stream.clone();
            let text = self.text(py, &mut stream, ids.as_slice()?, false)?;
            Ok((new_string(py, &text)?, self.with(py, stream)))
        })
    }

    /// Returns the rest, and the stream of a new text.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyString>, Self)> {
        guarded(|| {
            let text = self.text(py, &mut self.stream.clone(), &[], true)?;
            let start = self.core.get().encoder.text_stream();
            Ok((new_string(py, &text)?, self.with(py, start)))
        })
    }
}

impl CoreTextStream {
    fn with(&self, py: Python<'_>, stream: TextStream) -> Self {
        Self {
            core: self.core.clone_ref(py),
            stream,
        }
    }

    fn text(
        &self,
        py: Python<'_>,
        stream: &mut TextStream,
        ids: &[TokenId],
        is_end: bool,
    ) -> PyResult<String> {
        let encoder = &self.core.get().encoder;
        run(py, ids.len() * BYTES_PER_ID, || {
            let mut text = String::new();
            encoder.push_text(stream, ids, is_end, &mut text)?;
            Ok::<_, DecodeError>(text)
        })
    }
}
