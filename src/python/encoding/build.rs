//! Builds encoders from Python arguments.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::CoreBpe;
use super::special;
use crate::builtin::{Builtin, Published};
use crate::encode::Encoder;
use crate::huggingface::TokenizerFile;
use crate::python::error::guarded;
use crate::python::sentencepiece::SentencePieceModel;
use crate::python::splitter::PythonSplitter;
use crate::python::training::LearnedMerges;
use crate::split::Splitter;
use crate::token::TokenId;
use crate::train;
use crate::util::memory::{self, reserve};
use crate::vocabulary::Vocabulary;

#[pymethods]
impl CoreBpe {
    /// Builds an encoder from ranks, and from a splitter in Python if there is one.
    #[new]
    #[pyo3(signature = (mergeable_ranks, special_tokens, pattern, splitter=None))]
    fn py_new(
        py: Python<'_>,
        mergeable_ranks: &Bound<'_, PyDict>,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
        splitter: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        guarded(|| {
            let splitter = self::splitter(pattern, splitter)?;
            let ranks = mergeable_ranks.iter().map(|(token, id)| {
                reserve::pass();
                Ok((token.cast::<PyBytes>()?.as_bytes().to_vec(), id.extract()?))
            });
            let ranks = memory::try_collect::<(Vec<u8>, TokenId), PyErr>(ranks)?;
            let vocabulary = Arc::new(py.detach(|| Vocabulary::from_ranks(ranks))?);
            assemble(vocabulary, special_tokens, splitter)
        })
    }

    /// Builds an encoder from merges that were learned starting from the bytes.
    #[staticmethod]
    #[pyo3(signature = (learned, special_tokens, pattern, splitter=None))]
    fn trained(
        learned: &Bound<'_, LearnedMerges>,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
        splitter: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (py, learned) = (learned.py(), learned.get());
        guarded(|| {
            if !learned.from_bytes {
                return Err(PyValueError::new_err(
                    "the merges continue a vocabulary: expected those of training that started from the bytes",
                ));
            }
            let splitter = self::splitter(pattern, splitter)?;
            let vocabulary = Arc::new(py.detach(|| train::vocabulary(&learned.learned.pairs))?);
            assemble(vocabulary, special_tokens, splitter)
        })
    }

    /// Builds an encoder from the stored form of its vocabulary.
    #[staticmethod]
    #[pyo3(signature = (contents, start, end, special_tokens, pattern, splitter=None))]
    fn from_stored(
        contents: &Bound<'_, PyBytes>,
        start: usize,
        end: usize,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
        splitter: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (py, bytes) = (contents.py(), contents.as_bytes());
        let stored = bytes.get(start..end).unwrap_or_default();
        guarded(|| {
            let splitter = self::splitter(pattern, splitter)?;
            let vocabulary = Arc::new(py.detach(|| Vocabulary::of_stored(stored))?);
            assemble(vocabulary, special_tokens, splitter)
        })
    }

    /// Builds an encoder around a published vocabulary.
    #[staticmethod]
    fn builtin(
        py: Python<'_>,
        vocabulary: &str,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
    ) -> PyResult<Self> {
        guarded(|| {
            let builtin = Builtin::from_name(vocabulary).ok_or_else(|| {
                let known = Builtin::ALL.map(Builtin::name).join(", ");
                PyValueError::new_err(format!(
                    "no built-in vocabulary {vocabulary:?}: expected one of {known}"
                ))
            })?;
            let vocabulary = py.detach(|| builtin.vocabulary())?;
            assemble(vocabulary, special_tokens, Splitter::new(pattern)?)
        })
    }

    /// Builds the encoder of a SentencePiece model.
    #[staticmethod]
    #[pyo3(signature = (model, special_tokens, /))]
    fn sentencepiece(
        model: &Bound<'_, SentencePieceModel>,
        special_tokens: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (py, model) = (model.py(), model.get());
        guarded(|| {
            let special_tokens = special::special_tokens(special_tokens)?;
            let encoder = py.detach(|| Encoder::of_model(&model.0, special_tokens))?;
            Ok(Self::new(encoder))
        })
    }

    /// Builds the encoder of a `tokenizer.json`.
    #[staticmethod]
    #[pyo3(signature = (contents, special_tokens, /))]
    fn tokenizer_json(
        contents: &Bound<'_, PyBytes>,
        special_tokens: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let (py, contents) = (contents.py(), contents.as_bytes());
        guarded(|| {
            let special_tokens = special::special_tokens(special_tokens)?;
            let encoder = py.detach(|| {
                let file = TokenizerFile::read(contents)?;
                Encoder::of_file(&file, special_tokens)
            })?;
            Ok(Self::new(encoder))
        })
    }

    /// Builds an encoder around the same vocabulary.
    #[pyo3(signature = (special_tokens, /))]
    fn with_special_tokens(&self, special_tokens: &Bound<'_, PyDict>) -> PyResult<Self> {
        guarded(|| {
            let special_tokens = special::special_tokens(special_tokens)?;
            Ok(Self::new(self.encoder.with_special_tokens(special_tokens)?))
        })
    }
}

/// A published encoding: its name, that of its vocabulary, its pattern and its special tokens.
type PyPublished<'py> = (&'static str, &'static str, &'static str, Bound<'py, PyDict>);

/// Returns the published encodings.
#[pyfunction]
pub(in crate::python) fn published_encodings(py: Python<'_>) -> PyResult<Vec<PyPublished<'_>>> {
    let published = Published::ALL.into_iter().map(|published| {
        let special_tokens = PyDict::new(py);
        for (text, id) in published.special_tokens() {
            special_tokens.set_item(text, id)?;
        }
        let vocabulary = published.vocabulary.name();
        Ok((
            published.name,
            vocabulary,
            published.pattern,
            special_tokens,
        ))
    });
    published.collect()
}

fn splitter(pattern: &str, splitter: Option<Py<PyAny>>) -> PyResult<Splitter> {
    Ok(match splitter {
        Some(splitter) => Splitter::External(Arc::new(PythonSplitter(splitter))),
        None => Splitter::new(pattern)?,
    })
}

fn assemble(
    vocabulary: Arc<Vocabulary>,
    special_tokens: &Bound<'_, PyDict>,
    splitter: Splitter,
) -> PyResult<CoreBpe> {
    let special_tokens = special::special_tokens(special_tokens)?;
    Ok(CoreBpe::new(Encoder::new(
        vocabulary,
        special_tokens,
        splitter,
    )))
}
