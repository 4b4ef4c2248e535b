//! The class `Splitter`; and splitters written in Python, for patterns that the engines of the library do not
//! support.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::error::{Raised, guarded};
use super::runtime::attached;
use crate::split::chain::{Behavior, Pattern, Step, oniguruma};
use crate::split::{ExternalSplitter, Splitter, coverage};

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

    /// Returns the splitter of a chain of steps, each as (kind, pattern, behavior, flag).
    #[staticmethod]
    fn of_steps(steps: Vec<(String, String, String, bool)>) -> PyResult<Self> {
        let steps: Vec<Step> = steps.into_iter().map(step).collect::<PyResult<_>>()?;
        guarded(|| Ok(Self(Splitter::from_chain(&steps)?)))
    }

    /// Returns whether a native family splits, or runs of classes do.
    #[getter]
    fn is_native(&self) -> bool {
        self.0.is_native()
    }

    /// Returns the byte offsets of the pieces of a text, flat: start, end, start, end, ...
    fn offsets(&self, text: &str) -> PyResult<Vec<usize>> {
        guarded(|| {
            let mut pieces = self.0.pieces(text);
            let (mut offsets, mut chunk) = (Vec::new(), Vec::new());
            while pieces.next_chunk(&mut chunk)? {
                offsets.extend(chunk.iter().flat_map(|piece| [piece.start, piece.end]));
            }
            Ok(offsets)
        })
    }
}

/// Returns the step that a tuple of Python describes.
fn step((kind, pattern, behavior, flag): (String, String, String, bool)) -> PyResult<Step> {
    let unknown =
        |what: &str, name: &str| PyValueError::new_err(format!("unknown {what} {name:?}"));
    let behavior = match behavior.as_str() {
        "Isolated" => Behavior::Isolated,
        "Removed" => Behavior::Removed,
        "Contiguous" => Behavior::Contiguous,
        "MergedWithPrevious" => Behavior::MergedWithPrevious,
        "MergedWithNext" => Behavior::MergedWithNext,
        name => return Err(unknown("behavior", name)),
    };
    let split = |pattern: Pattern| Step::Split {
        pattern,
        behavior,
        invert: flag,
    };
    Ok(match kind.as_str() {
        "Regex" => split(Pattern::Regex(pattern)),
        "String" => split(Pattern::Text(pattern)),
        "Digits" => Step::Digits { individual: flag },
        "Punctuation" => Step::Punctuation(behavior),
        "Whitespace" => Step::Whitespace,
        "WhitespaceSplit" => Step::WhitespaceSplit,
        "Gpt2" => Step::Gpt2,
        "ByteLevel" => Step::ByteLevel,
        name => return Err(unknown("kind of step", name)),
    })
}

/// Returns the pattern of fancy-regex that matches the same as a pattern of Oniguruma.
#[pyfunction]
pub(super) fn from_oniguruma(pattern: &str) -> PyResult<String> {
    guarded(|| Ok(oniguruma::translate(pattern)?))
}

/// Returns whether every character of every text is certainly in a match of a pattern.
#[pyfunction]
pub(super) fn matches_everything(pattern: &str) -> PyResult<bool> {
    guarded(|| Ok(coverage::is_total(pattern)))
}

/// Calls `splitter(text)`, which returns the byte offsets of the pieces, flat: start, end, start, end, ...
pub(super) struct PythonSplitter(pub(super) Py<PyAny>);

impl ExternalSplitter for PythonSplitter {
    fn split(&self, text: &str) -> Result<Vec<Range<usize>>, Box<dyn Error + Send + Sync>> {
        let offsets: Vec<usize> = attached(|py| self.0.bind(py).call1((text,))?.extract())
            .map_err(|error: PyErr| -> Box<dyn Error + Send + Sync> { Box::new(Raised(error)) })?;
        Ok(offsets
            .chunks_exact(2)
            .map(|piece| piece[0]..piece[1])
            .collect())
    }
}
