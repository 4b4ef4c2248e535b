//! The class `Splitter`; and splitters written in Python, for patterns that the engines of the library do not
//! support.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use pyo3::prelude::*;

use super::error::{SplitterError, guarded};
use crate::split::{ExternalSplitter, Splitter};

/// Splits texts into pieces, by a pattern or by a Python function.
#[pyclass(name = "Splitter", module = "bytemill._core", frozen)]
pub(super) struct CoreSplitter(pub(super) Splitter);

#[pymethods]
impl CoreSplitter {
    #[new]
    #[pyo3(signature = (pattern, splitter=None))]
    fn new(pattern: &str, splitter: Option<Py<PyAny>>) -> PyResult<Self> {
        guarded(|| match splitter {
            Some(splitter) => Ok(Self(Splitter::External(Arc::new(PythonSplitter(splitter))))),
            None => Ok(Self(Splitter::new(pattern)?)),
        })
    }
}

/// Calls `splitter(text)`, which returns the byte offsets of the pieces, flat: start, end, start, end, ...
pub(super) struct PythonSplitter(pub(super) Py<PyAny>);

impl ExternalSplitter for PythonSplitter {
    fn split(&self, text: &str) -> Result<Vec<Range<usize>>, Box<dyn Error + Send + Sync>> {
        let offsets: Vec<usize> = Python::attach(|py| self.0.bind(py).call1((text,))?.extract())
            .map_err(|error: PyErr| -> Box<dyn Error + Send + Sync> {
                Box::new(SplitterError(error))
            })?;
        Ok(offsets
            .chunks_exact(2)
            .map(|piece| piece[0]..piece[1])
            .collect())
    }
}
