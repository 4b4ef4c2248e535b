//! The vocabulary: tokens, merges, and the memory of both and of the caches.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::CoreBpe;
use super::special::ids_by_text;
use crate::huggingface;
use crate::merge::agreement::{listed, listed_or_refused, merges_of};
use crate::python::error::{UnknownTokenError, guarded};
use crate::python::ids::arrays::array;
use crate::python::objects::{new_bytes, new_list};
use crate::token::{Pair, TokenId};
use crate::util::memory;

/// Ids, and the number of bytes of each.
type Lengths<'py> = (Bound<'py, PyArray1<TokenId>>, Bound<'py, PyArray1<usize>>);

#[pymethods]
impl CoreBpe {
    #[pyo3(signature = (token, /))]
    fn decode_single_token_bytes<'py>(
        &self,
        py: Python<'py>,
        token: TokenId,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| match self.encoder.token_bytes(token) {
            Some(bytes) => new_bytes(py, bytes),
            None => Err(UnknownTokenError::new_err(token.to_string())),
        })
    }

    #[pyo3(signature = (number, /))]
    fn is_token(&self, number: &Bound<'_, PyAny>) -> bool {
        let id = number.extract::<TokenId>();
        id.is_ok_and(|id| self.encoder.token_bytes(id).is_some())
    }

    /// Returns the ids of all tokens, in increasing order.
    fn token_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.interned.list(py, &self.encoder.token_ids()))
    }

    fn max_id(&self) -> TokenId {
        self.encoder.largest_id()
    }

    fn memory_usage(&self) -> usize {
        self.encoder.memory()
    }

    fn clear_cache(&self) {
        self.encoder.clear_cache();
    }

    #[pyo3(signature = (bytes_per_thread, /))]
    fn set_cache_limit(&self, bytes_per_thread: usize) {
        self.encoder.set_cache_limit(bytes_per_thread);
    }

    /// Returns the bytes of all mergeable tokens, sorted.
    fn token_byte_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let vocabulary = self.encoder.vocabulary();
            let sorted = vocabulary
                .sorted_by_bytes()
                .iter()
                .map(|&id| vocabulary.bytes(id).expect("each id has a token"));
            new_list(py, sorted.map(|token| new_bytes(py, token)))
        })
    }

    /// Returns the lengths of all mergeable tokens, in rank order.
    fn token_lengths<'py>(&self, py: Python<'py>) -> PyResult<Lengths<'py>> {
        guarded(|| {
            let vocabulary = self.encoder.vocabulary();
            let lengths = vocabulary.lengths();
            Ok((
                array(py, memory::collect(vocabulary.ids()))?,
                array(py, memory::collect(lengths))?,
            ))
        })
    }

    /// Returns the mergeable tokens with their ranks, in rank order.
    fn mergeable_ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guarded(|| {
            let ranks = PyDict::new(py);
            let vocabulary = self.encoder.vocabulary();
            for id in vocabulary.ids() {
                let token = vocabulary.bytes(id).expect("each id has a token");
                // Of a SentencePiece model, the token of a byte may spell the same as another token.
                if vocabulary.byte_merges().is_none() && vocabulary.token(token) != Some(id) {
                    continue;
                }
                ranks.set_item(new_bytes(py, token)?, id)?;
            }
            Ok(ranks)
        })
    }

    /// Returns the stored form of the vocabulary.
    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| {
            let stored = py.detach(|| {
                let vocabulary = self.encoder.vocabulary();
                vocabulary.stored(listed(vocabulary).as_deref())
            });
            new_bytes(py, &stored)
        })
    }

    /// Returns the two parts of each merged token, in rank order.
    fn merges(&self, py: Python<'_>) -> PyResult<Vec<(TokenId, TokenId)>> {
        guarded(|| {
            let merges = py.detach(|| merges_of(self.encoder.vocabulary()))?;
            let pairs = merges.into_iter();
            Ok(memory::collect(
                pairs.map(|(_, Pair { left, right })| (left, right)),
            ))
        })
    }

    /// Returns the pair of each token that merges make, with its id, in the order of ids: a list that gives the same ids.
    fn listed_merges(&self, py: Python<'_>) -> PyResult<Vec<(TokenId, TokenId, TokenId)>> {
        guarded(|| {
            let merges = py.detach(|| listed_or_refused(self.encoder.vocabulary()))?;
            let merges = merges.into_iter();
            Ok(memory::collect(
                merges.map(|(made, Pair { left, right })| (made, left, right)),
            ))
        })
    }

    /// Returns the scores of tokens by id; `None` for models without.
    fn scores(&self) -> Option<Vec<f64>> {
        self.encoder.vocabulary().scores().map(<[f64]>::to_vec)
    }

    /// Returns tokens and merges as entries of a `tokenizer.json`, with further tokens, and whether there are tokens that no
    /// merges make.
    #[pyo3(signature = (others, /))]
    fn model_entries(&self, others: &Bound<'_, PyDict>) -> PyResult<(String, bool)> {
        guarded(|| {
            let (py, others) = (others.py(), ids_by_text(others)?);
            let entries = || huggingface::model_entries(self.encoder.vocabulary(), &others);
            Ok(py.detach(entries)?)
        })
    }
}
