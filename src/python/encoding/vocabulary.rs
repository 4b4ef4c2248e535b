//! Look-ups in the vocabulary and the special tokens: ids, bytes, merges.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::CoreBpe;
use super::special::ids_by_text;
use crate::huggingface;
use crate::merge::agreement::{listed, listed_or_refused, merges_of};
use crate::python::error::UnknownTokenError;
use crate::python::ids::arrays::array;
use crate::python::objects::{new_bytes, new_list};
use crate::token::{Pair, TokenId};
use crate::util::memory;

/// Returns the id of a token.
pub(super) fn id(core: &CoreBpe, token: &Bound<'_, PyBytes>) -> PyResult<TokenId> {
    let bytes = token.as_bytes();
    let id = core.encoder.token(bytes);
    id.ok_or_else(|| UnknownTokenError::new_err((token.clone().unbind(),)))
}

/// Returns the bytes of a token.
pub(super) fn bytes<'py>(
    core: &CoreBpe,
    py: Python<'py>,
    token: TokenId,
) -> PyResult<Bound<'py, PyBytes>> {
    match core.encoder.token_bytes(token) {
        Some(bytes) => new_bytes(py, bytes),
        None => Err(UnknownTokenError::new_err(token.to_string())),
    }
}

/// Returns the bytes of all mergeable tokens, sorted.
pub(super) fn sorted<'py>(core: &CoreBpe, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let vocabulary = core.encoder.vocabulary();
    let sorted = vocabulary
        .sorted_by_bytes()
        .iter()
        .map(|&id| vocabulary.bytes(id).expect("each id has a token"));
    new_list(py, sorted.map(|token| new_bytes(py, token)))
}

/// Ids, and the number of bytes of each.
pub(super) type Lengths<'py> = (Bound<'py, PyArray1<TokenId>>, Bound<'py, PyArray1<usize>>);

/// Returns the lengths of all mergeable tokens, in rank order.
pub(super) fn lengths<'py>(core: &CoreBpe, py: Python<'py>) -> PyResult<Lengths<'py>> {
    let vocabulary = core.encoder.vocabulary();
    let lengths = vocabulary.lengths();
    Ok((
        array(py, memory::collect(vocabulary.ids()))?,
        array(py, memory::collect(lengths))?,
    ))
}

/// Returns the mergeable tokens with their ranks, in rank order.
pub(super) fn ranks<'py>(core: &CoreBpe, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let ranks = PyDict::new(py);
    let vocabulary = core.encoder.vocabulary();
    for id in vocabulary.ids() {
        let token = vocabulary.bytes(id).expect("each id has a token");
        // Of a SentencePiece model, the token of a byte may spell the same as another token.
        if vocabulary.byte_merges().is_none() && vocabulary.token(token) != Some(id) {
            continue;
        }
        ranks.set_item(new_bytes(py, token)?, id)?;
    }
    Ok(ranks)
}

/// Returns the stored form of the vocabulary.
pub(super) fn stored<'py>(core: &CoreBpe, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
    let stored = py.detach(|| {
        let vocabulary = core.encoder.vocabulary();
        vocabulary.stored(listed(vocabulary).as_deref())
    });
    new_bytes(py, &stored)
}

/// Returns the two parts of each merged token, in rank order.
pub(super) fn merges(core: &CoreBpe, py: Python<'_>) -> PyResult<Vec<(TokenId, TokenId)>> {
    let merges = py.detach(|| merges_of(core.encoder.vocabulary()))?;
    let pairs = merges.into_iter();
    Ok(memory::collect(
        pairs.map(|(_, Pair { left, right })| (left, right)),
    ))
}

/// Returns the pair of each token that merges make, with its id, in the order of ids: a list that gives the same ids.
pub(super) fn listed_merges(
    core: &CoreBpe,
    py: Python<'_>,
) -> PyResult<Vec<(TokenId, TokenId, TokenId)>> {
    let merges = py.detach(|| listed_or_refused(core.encoder.vocabulary()))?;
    let merges = merges.into_iter();
    Ok(memory::collect(
        merges.map(|(made, pair)| (made, pair.left, pair.right)),
    ))
}

/// Returns tokens and merges as entries of a `tokenizer.json`, with further tokens, and whether there are tokens that no
/// merges make.
pub(super) fn model_entries(
    core: &CoreBpe,
    others: &Bound<'_, PyDict>,
) -> PyResult<(String, bool)> {
    let (py, others) = (others.py(), ids_by_text(others)?);
    Ok(py.detach(|| huggingface::model_entries(core.encoder.vocabulary(), &others))?)
}
