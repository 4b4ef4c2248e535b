//! Builds encoders from Python arguments.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::CoreBpe;
use super::special;
use crate::builtin::Builtin;
use crate::encode::Encoder;
use crate::huggingface::TokenizerFile;
use crate::python::sentencepiece::SentencePieceModel;
use crate::python::splitter::PythonSplitter;
use crate::python::training::LearnedMerges;
use crate::split::Splitter;
use crate::token::TokenId;
use crate::train;
use crate::util::memory::{self, reserve};
use crate::vocabulary::Vocabulary;

/// Builds an encoder from ranks, and from a splitter in Python if there is one.
pub(super) fn custom(
    py: Python<'_>,
    mergeable_ranks: &Bound<'_, PyDict>,
    special_tokens: &Bound<'_, PyDict>,
    pattern: &str,
    splitter: Option<Py<PyAny>>,
) -> PyResult<CoreBpe> {
    let splitter = self::splitter(pattern, splitter)?;
    let ranks = mergeable_ranks.iter().map(|(token, id)| {
        reserve::pass();
        Ok((token.cast::<PyBytes>()?.as_bytes().to_vec(), id.extract()?))
    });
    let ranks = memory::try_collect::<(Vec<u8>, TokenId), PyErr>(ranks)?;
    let vocabulary = Arc::new(py.detach(|| Vocabulary::from_ranks(ranks))?);
    assemble(vocabulary, special_tokens, splitter)
}

/// Builds an encoder from merges that were learned starting from the bytes.
pub(super) fn trained(
    py: Python<'_>,
    learned: &LearnedMerges,
    special_tokens: &Bound<'_, PyDict>,
    pattern: &str,
    splitter: Option<Py<PyAny>>,
) -> PyResult<CoreBpe> {
    if !learned.from_bytes {
        return Err(PyValueError::new_err(
            "the merges continue a vocabulary: expected those of training that started from the bytes",
        ));
    }
    let splitter = self::splitter(pattern, splitter)?;
    let vocabulary = Arc::new(py.detach(|| train::vocabulary(&learned.learned.pairs))?);
    assemble(vocabulary, special_tokens, splitter)
}

/// Builds an encoder from the stored form of its vocabulary.
pub(super) fn stored(
    py: Python<'_>,
    stored: &[u8],
    special_tokens: &Bound<'_, PyDict>,
    pattern: &str,
    splitter: Option<Py<PyAny>>,
) -> PyResult<CoreBpe> {
    let splitter = self::splitter(pattern, splitter)?;
    let vocabulary = Arc::new(py.detach(|| Vocabulary::of_stored(stored))?);
    assemble(vocabulary, special_tokens, splitter)
}

/// Builds an encoder around a published vocabulary.
pub(super) fn builtin(
    py: Python<'_>,
    vocabulary: &str,
    special_tokens: &Bound<'_, PyDict>,
    pattern: &str,
) -> PyResult<CoreBpe> {
    let builtin = Builtin::from_name(vocabulary).ok_or_else(|| {
        let known = Builtin::ALL.map(Builtin::name).join(", ");
        PyValueError::new_err(format!(
            "no built-in vocabulary {vocabulary:?}: expected one of {known}"
        ))
    })?;
    let vocabulary = py.detach(|| builtin.vocabulary())?;
    assemble(vocabulary, special_tokens, Splitter::new(pattern)?)
}

/// Builds the encoder of a SentencePiece model.
pub(super) fn sentencepiece(
    py: Python<'_>,
    model: &SentencePieceModel,
    special_tokens: &Bound<'_, PyDict>,
) -> PyResult<CoreBpe> {
    let special_tokens = special::special_tokens(special_tokens)?;
    let encoder = py.detach(|| Encoder::of_model(&model.0, special_tokens))?;
    Ok(CoreBpe::new(encoder))
}

/// Builds the encoder of a `tokenizer.json`.
pub(super) fn tokenizer_json(
    py: Python<'_>,
    contents: &[u8],
    special_tokens: &Bound<'_, PyDict>,
) -> PyResult<CoreBpe> {
    let special_tokens = special::special_tokens(special_tokens)?;
    let encoder = py.detach(|| {
        let file = TokenizerFile::read(contents)?;
        Encoder::of_file(&file, special_tokens)
    })?;
    Ok(CoreBpe::new(encoder))
}

/// Builds an encoder around the same vocabulary.
pub(super) fn with_special_tokens(
    core: &CoreBpe,
    special_tokens: &Bound<'_, PyDict>,
) -> PyResult<CoreBpe> {
    let special_tokens = special::special_tokens(special_tokens)?;
    Ok(CoreBpe::new(
        core.encoder.with_special_tokens(special_tokens)?,
    ))
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
