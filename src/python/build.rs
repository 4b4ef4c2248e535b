//! Building the encoder from what Python gives.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::core_bpe::CoreBpe;
use super::special;
use super::splitter::PythonSplitter;
use super::training::LearnedMerges;
use crate::builtin::Builtin;
use crate::encode::Encoder;
use crate::split::Splitter;
use crate::token::TokenId;
use crate::train;
use crate::vocabulary::Vocabulary;

/// Of ranks, with a splitter in Python if one is given.
pub(super) fn custom(
    py: Python<'_>,
    mergeable_ranks: &Bound<'_, PyDict>,
    special_tokens: &Bound<'_, PyDict>,
    pattern: &str,
    splitter: Option<Py<PyAny>>,
) -> PyResult<CoreBpe> {
    let splitter = self::splitter(pattern, splitter)?;
    let ranks = mergeable_ranks
        .iter()
        .map(|(token, id)| Ok((token.cast::<PyBytes>()?.as_bytes().to_vec(), id.extract()?)))
        .collect::<PyResult<Vec<(Vec<u8>, TokenId)>>>()?;
    let vocabulary = Arc::new(py.detach(|| Vocabulary::from_ranks(ranks))?);
    around(vocabulary, special_tokens, splitter)
}

/// Of merges that were learned starting from the bytes.
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
    let vocabulary = Arc::new(py.detach(|| train::vocabulary(&learned.merges))?);
    around(vocabulary, special_tokens, splitter)
}

/// Around a published vocabulary.
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
    around(vocabulary, special_tokens, Splitter::new(pattern)?)
}

/// Around the same vocabulary.
pub(super) fn with_special_tokens(
    core: &CoreBpe,
    special_tokens: &Bound<'_, PyDict>,
) -> PyResult<CoreBpe> {
    let special_tokens = special::special_tokens(special_tokens)?;
    Ok(CoreBpe::around(
        core.encoder.with_special_tokens(special_tokens),
    ))
}

fn splitter(pattern: &str, splitter: Option<Py<PyAny>>) -> PyResult<Splitter> {
    Ok(match splitter {
        Some(splitter) => Splitter::External(Arc::new(PythonSplitter(splitter))),
        None => Splitter::new(pattern)?,
    })
}

fn around(
    vocabulary: Arc<Vocabulary>,
    special_tokens: &Bound<'_, PyDict>,
    splitter: Splitter,
) -> PyResult<CoreBpe> {
    let special_tokens = special::special_tokens(special_tokens)?;
    Ok(CoreBpe::around(Encoder::new(
        vocabulary,
        special_tokens,
        splitter,
    )))
}
