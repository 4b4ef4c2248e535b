//! `CoreBPE`: the encoder as Python sees it. No algorithm here.

use std::collections::HashSet;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::error::{UnknownTokenError, guarded};
use super::ids::token_ids;
use super::interned::InternedIds;
use super::run::{detached, run, threads_for};
use super::special;
use super::splitter::PythonSplitter;
use super::text::{text, texts};
use crate::builtin::Builtin;
use crate::checkpoint;
use crate::encode::special::{Allowed, SpecialTokens};
use crate::encode::{Encoder, batch};
use crate::error::EncodeError;
use crate::split::Splitter;
use crate::token::{Pair, TokenId};
use crate::vocabulary::Vocabulary;

/// A vocabulary, its special tokens and its splitter; immutable, so freely shared between threads.
#[pyclass(name = "CoreBPE", module = "bytemill._core", frozen)]
pub(super) struct CoreBpe {
    encoder: Encoder,
    interned: InternedIds,
}

impl CoreBpe {
    fn build(
        vocabulary: Arc<Vocabulary>,
        special_tokens: SpecialTokens,
        splitter: Splitter,
    ) -> Self {
        let largest = vocabulary
            .ids()
            .last()
            .copied()
            .unwrap_or(0)
            .max(special_tokens.largest_id());
        let encoder = Encoder::new(vocabulary, special_tokens, splitter);
        Self {
            encoder,
            interned: InternedIds::new(largest),
        }
    }

    fn encode_text(&self, py: Python<'_>, text: &str, allowed: &Allowed) -> PyResult<Vec<TokenId>> {
        run(py, text.len(), |checkpoint| -> Result<_, EncodeError> {
            let mut ids = Vec::new();
            self.encoder.encode(text, allowed, &mut ids, checkpoint)?;
            Ok(ids)
        })
    }

    fn encode_whole(
        &self,
        py: Python<'_>,
        pieces: &[impl AsRef<[u8]> + Sync],
    ) -> PyResult<Vec<TokenId>> {
        let size = pieces.iter().map(|piece| piece.as_ref().len()).sum();
        run(py, size, |checkpoint| -> Result<_, EncodeError> {
            let mut ids = Vec::new();
            for piece in pieces {
                self.encoder
                    .encode_piece(piece.as_ref(), &mut ids, checkpoint)?;
            }
            Ok(ids)
        })
    }

    fn encode_texts<'py>(
        &self,
        py: Python<'py>,
        texts: &[PyBackedStr],
        allowed: &Allowed,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let size = texts.iter().map(|text| text.len()).sum();
        let ids = run(py, size, |checkpoint| {
            batch::map(
                texts,
                threads_for(size, num_threads),
                checkpoint,
                |text| -> Result<_, EncodeError> {
                    let mut ids = Vec::new();
                    self.encoder.encode(text, allowed, &mut ids, checkpoint)?;
                    Ok(ids)
                },
            )
        })?;
        let lists = ids.iter().map(|ids| self.interned.list(py, ids));
        PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
    }
}

#[pymethods]
impl CoreBpe {
    #[new]
    #[pyo3(signature = (mergeable_ranks, special_tokens, pattern, splitter=None))]
    fn new(
        py: Python<'_>,
        mergeable_ranks: &Bound<'_, PyDict>,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
        splitter: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        guarded(|| {
            let splitter = match splitter {
                Some(splitter) => Splitter::External(Arc::new(PythonSplitter(splitter))),
                None => Splitter::new(pattern)?,
            };
            let ranks = mergeable_ranks
                .iter()
                .map(|(token, id)| {
                    Ok((token.cast::<PyBytes>()?.as_bytes().to_vec(), id.extract()?))
                })
                .collect::<PyResult<Vec<(Vec<u8>, TokenId)>>>()?;
            let vocabulary = py.detach(|| Vocabulary::from_ranks(ranks))?;
            let special_tokens = special::special_tokens(special_tokens)?;
            Ok(Self::build(Arc::new(vocabulary), special_tokens, splitter))
        })
    }

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
            let special_tokens = special::special_tokens(special_tokens)?;
            Ok(Self::build(
                vocabulary,
                special_tokens,
                Splitter::new(pattern)?,
            ))
        })
    }

    #[pyo3(signature = (text, /))]
    fn encode_ordinary<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let text = self::text(text)?;
            self.interned
                .list(py, &self.encode_text(py, &text, &Allowed::Nothing)?)
        })
    }

    #[pyo3(signature = (text, /))]
    fn encode_unless_special<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        guarded(|| {
            let text = self::text(text)?;
            let special = detached(py, text.len(), || {
                self.encoder
                    .special_tokens()
                    .find(&text, 0, &Allowed::All)
                    .is_some()
            });
            if special {
                return Ok(None);
            }
            self.interned
                .list(py, &self.encode_text(py, &text, &Allowed::Nothing)?)
                .map(Some)
        })
    }

    #[pyo3(signature = (text, allowed_special, /))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        allowed_special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let text = self::text(text)?;
            PyList::new(
                py,
                self.encode_text(
                    py,
                    &text,
                    &special::allowed(&self.encoder, allowed_special)?,
                )?,
            )
        })
    }

    #[pyo3(signature = (text, allowed_special, /))]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        allowed_special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
        guarded(|| {
            let text = self::text(text)?;
            let ids = self
                .encode_text(
                    py,
                    &text,
                    &special::allowed(&self.encoder, allowed_special)?,
                )?
                .into_pyarray(py);
            ids.try_readwrite()?.make_nonwriteable();
            Ok(ids)
        })
    }

    #[pyo3(signature = (texts, num_threads, /))]
    fn encode_ordinary_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.encode_texts(py, &self::texts(texts)?, &Allowed::Nothing, num_threads))
    }

    #[pyo3(signature = (texts, allowed_special, num_threads, /))]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        allowed_special: Option<&Bound<'py, PyAny>>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            self.encode_texts(
                py,
                &self::texts(texts)?,
                &special::allowed(&self.encoder, allowed_special)?,
                num_threads,
            )
        })
    }

    #[pyo3(signature = (text, allowed_special, /))]
    fn encode_with_unstable(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        allowed_special: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<TokenId>, Vec<Vec<TokenId>>)> {
        guarded(|| {
            let text = self::text(text)?;
            let allowed = special::allowed(&self.encoder, allowed_special)?;
            let (stable, completions) = run(py, usize::MAX, |checkpoint| {
                self.encoder
                    .encode_with_unstable(&text, &allowed, checkpoint)
            })?;
            Ok((stable, HashSet::into_iter(completions).collect()))
        })
    }

    #[pyo3(signature = (piece, /))]
    fn encode_single_token(&self, piece: &Bound<'_, PyBytes>) -> PyResult<TokenId> {
        guarded(|| {
            let bytes = piece.as_bytes();
            let special = || {
                self.encoder
                    .special_tokens()
                    .id(std::str::from_utf8(bytes).ok()?)
            };
            let id = self.encoder.vocabulary().token(bytes).or_else(special);
            id.ok_or_else(|| UnknownTokenError::new_err((piece.clone().unbind(),)))
        })
    }

    #[pyo3(signature = (piece, /))]
    fn encode_single_piece<'py>(
        &self,
        py: Python<'py>,
        piece: &[u8],
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.interned.list(py, &self.encode_whole(py, &[piece])?))
    }

    #[pyo3(signature = (pieces, /))]
    fn encode_pieces<'py>(
        &self,
        py: Python<'py>,
        pieces: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let pieces: Vec<PyBackedBytes> = pieces.extract()?;
            self.interned.list(py, &self.encode_whole(py, &pieces)?)
        })
    }

    #[pyo3(signature = (data, /))]
    fn _encode_bytes<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let ids = run(py, data.len(), |checkpoint| -> Result<_, EncodeError> {
                let mut ids = Vec::new();
                self.encoder.encode_bytes(data, &mut ids, checkpoint)?;
                Ok(ids)
            })?;
            self.interned.list(py, &ids)
        })
    }

    #[pyo3(signature = (text, tokens, /))]
    fn find_special(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        tokens: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<(&str, usize)>> {
        guarded(|| {
            let text = self::text(text)?;
            let allowed = special::allowed(&self.encoder, tokens)?;
            let found = detached(py, text.len(), || {
                self.encoder.special_tokens().find(&text, 0, &allowed)
            });
            Ok(found.map(|found| (found.text, text[..found.start].chars().count())))
        })
    }

    #[pyo3(signature = (text, /))]
    fn split<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let text = self::text(text)?;
            let pieces = run(py, text.len(), |checkpoint| -> Result<_, EncodeError> {
                let mut all = Vec::new();
                let mut chunk = Vec::new();
                let mut pieces = self.encoder.splitter().pieces(&text);
                while pieces.next_chunk(&mut chunk)? {
                    checkpoint::pass(checkpoint)?;
                    all.append(&mut chunk);
                }
                Ok(all)
            })?;
            PyList::new(
                py,
                pieces
                    .into_iter()
                    .map(|piece| PyString::new(py, &text[piece])),
            )
        })
    }

    #[pyo3(signature = (tokens, /))]
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| {
            let ids = token_ids(tokens)?;
            let bytes = run(py, ids.len() * 4, |checkpoint| {
                self.encoder.decode(&ids, checkpoint)
            })?;
            Ok(PyBytes::new(py, &bytes))
        })
    }

    #[pyo3(signature = (batch, num_threads, /))]
    fn decode_bytes_batch<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let batch = batch
                .try_iter()?
                .map(|tokens| token_ids(&tokens?))
                .collect::<PyResult<Vec<_>>>()?;
            let size = batch.iter().map(|ids| ids.len() * 4).sum();
            let decoded = run(py, size, |checkpoint| {
                batch::map(&batch, threads_for(size, num_threads), checkpoint, |ids| {
                    self.encoder.decode(ids, checkpoint)
                })
            })?;
            PyList::new(py, decoded.iter().map(|bytes| PyBytes::new(py, bytes)))
        })
    }

    #[pyo3(signature = (token, /))]
    fn decode_single_token_bytes<'py>(
        &self,
        py: Python<'py>,
        token: TokenId,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| {
            let bytes = self.encoder.token_bytes(token);
            bytes
                .map(|bytes| PyBytes::new(py, bytes))
                .ok_or_else(|| UnknownTokenError::new_err(token.to_string()))
        })
    }

    fn memory_usage(&self) -> usize {
        self.encoder.memory() + self.interned.memory()
    }

    fn clear_cache(&self) {
        self.encoder.clear_cache();
    }

    fn token_byte_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let vocabulary = self.encoder.vocabulary();
            let sorted = vocabulary
                .sorted_by_bytes()
                .iter()
                .filter_map(|&id| vocabulary.bytes(id));
            PyList::new(
                py,
                sorted
                    .map(|token| PyBytes::new(py, token))
                    .collect::<Vec<_>>(),
            )
        })
    }

    fn mergeable_ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guarded(|| {
            let ranks = PyDict::new(py);
            let vocabulary = self.encoder.vocabulary();
            for &id in vocabulary.ids() {
                ranks.set_item(
                    PyBytes::new(py, vocabulary.bytes(id).unwrap_or_default()),
                    id,
                )?;
            }
            Ok(ranks)
        })
    }

    fn merges(&self, py: Python<'_>) -> PyResult<Vec<(TokenId, TokenId)>> {
        guarded(|| {
            let merges = py.detach(|| self.encoder.vocabulary().merges())?;
            Ok(merges
                .into_iter()
                .map(|(_, Pair { left, right })| (left, right))
                .collect())
        })
    }
}
