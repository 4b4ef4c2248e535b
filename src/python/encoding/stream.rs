//! The class `TextStream`: ids that arrive one after the other, by a decoder that needs the texts of tokens.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyString;

use super::CoreBpe;
use super::decode::BYTES_PER_ID;
use crate::encode::tokenizer_json::TextStream;
use crate::error::DecodeError;
use crate::python::error::guarded;
use crate::python::ids::TokenIds;
use crate::python::runtime::run;
use crate::python::strings::new_string;
use crate::token::TokenId;

/// A stream with its encoding.
#[pyclass(name = "TextStream", module = "bytemill._core", frozen)]
pub(in crate::python) struct CoreTextStream {
    core: Py<CoreBpe>,
    stream: Mutex<TextStream>,
}

/// Starts a stream, if the encoding decodes by the texts of its tokens.
pub(super) fn start(core: &Bound<'_, CoreBpe>) -> Option<CoreTextStream> {
    Some(CoreTextStream {
        core: core.clone().unbind(),
        stream: Mutex::new(core.get().encoder.text_stream()?),
    })
}

#[pymethods]
impl CoreTextStream {
    #[pyo3(signature = (tokens, /))]
    fn push<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        guarded(|| {
            let ids = TokenIds::from_py(tokens)?;
            let (text, stream) = self.pushed(tokens.py(), ids.as_slice()?, false)?;
            self.replace(stream);
            new_string(tokens.py(), &text)
        })
    }

    /// Returns the rest, and starts a new text.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        guarded(|| {
            let (text, _) = self.pushed(py, &[], true)?;
            let stream = self.core.get().encoder.text_stream();
            self.replace(stream.expect("there was one"));
            new_string(py, &text)
        })
    }
}

impl CoreTextStream {
    /// Returns the text that ids complete, and the stream behind them.
    fn pushed(
        &self,
        py: Python<'_>,
        ids: &[TokenId],
        is_end: bool,
    ) -> PyResult<(String, TextStream)> {
        let encoder = &self.core.get().encoder;
        let mut stream = self
            .stream
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let text = run(py, ids.len() * BYTES_PER_ID, |checkpoint| {
            let mut text = String::new();
            let each = |(character, _)| text.push(character);
            encoder.push_ids(&mut stream, ids, is_end, checkpoint, each)?;
            Ok::<_, DecodeError>(text)
        })?;
        Ok((text, stream))
    }

    fn replace(&self, stream: TextStream) {
        *self.stream.lock().unwrap_or_else(PoisonError::into_inner) = stream;
    }
}
