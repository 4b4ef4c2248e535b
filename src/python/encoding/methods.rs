//! The methods of the class `CoreBPE`, each of them one call of a function in the modules beside this one.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use super::special::{Tokens, policy};
use super::{
    CoreBpe, CoreTextStream, build, decode, encode_batch, encode_one, offsets, spans, truncate,
    vocabulary,
};
use crate::encode::batch::Batch;
use crate::encode::special::Policy;
use crate::python::arrow::{self, EncodedColumn};
use crate::python::buffer::Bytes;
use crate::python::error::guarded;
use crate::python::sentencepiece::SentencePieceModel;
use crate::python::training::LearnedMerges;
use crate::token::TokenId;

impl CoreBpe {
    fn policy(&self, allowed: Tokens<'_, '_>, disallowed: Tokens<'_, '_>) -> PyResult<Policy> {
        policy(&self.encoder, allowed, disallowed)
    }
}

#[pymethods]
impl CoreBpe {
    #[new]
    #[pyo3(signature = (mergeable_ranks, special_tokens, pattern, splitter=None))]
    fn py_new(
        py: Python<'_>,
        mergeable_ranks: &Bound<'_, PyDict>,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
        splitter: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        guarded(|| build::custom(py, mergeable_ranks, special_tokens, pattern, splitter))
    }

    #[staticmethod]
    #[pyo3(signature = (learned, special_tokens, pattern, splitter=None))]
    fn trained(
        learned: &Bound<'_, LearnedMerges>,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
        splitter: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (py, learned) = (learned.py(), learned.get());
        guarded(|| build::trained(py, learned, special_tokens, pattern, splitter))
    }

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
        guarded(|| build::stored(py, stored, special_tokens, pattern, splitter))
    }

    #[staticmethod]
    fn builtin(
        py: Python<'_>,
        vocabulary: &str,
        special_tokens: &Bound<'_, PyDict>,
        pattern: &str,
    ) -> PyResult<Self> {
        guarded(|| build::builtin(py, vocabulary, special_tokens, pattern))
    }

    #[staticmethod]
    #[pyo3(signature = (model, special_tokens, /))]
    fn sentencepiece(
        model: &Bound<'_, SentencePieceModel>,
        special_tokens: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        guarded(|| build::sentencepiece(model.py(), model.get(), special_tokens))
    }

    #[staticmethod]
    #[pyo3(signature = (contents, special_tokens, /))]
    fn tokenizer_json(
        contents: &Bound<'_, PyBytes>,
        special_tokens: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        guarded(|| build::tokenizer_json(contents.py(), contents.as_bytes(), special_tokens))
    }

    #[pyo3(signature = (special_tokens, /))]
    fn with_special_tokens(&self, special_tokens: &Bound<'_, PyDict>) -> PyResult<Self> {
        guarded(|| build::with_special_tokens(self, special_tokens))
    }

    // --- Text to ids ---

    #[pyo3(signature = (text, /))]
    fn encode_ordinary<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| encode_one::list(self, text, &Policy::ORDINARY))
    }

    #[pyo3(signature = (text, allowed_special, disallowed_special=Tokens::Nothing, /))]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            encode_one::list(
                self,
                text,
                &self.policy(allowed_special, disallowed_special)?,
            )
        })
    }

    #[pyo3(signature = (text, num_threads, /))]
    fn encode_ordinary_to_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
        guarded(|| encode_batch::array(self, text, num_threads))
    }

    #[pyo3(signature = (text, allowed_special, disallowed_special=Tokens::Nothing, /))]
    fn encode_to_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            encode_one::array(self, text, &policy)
        })
    }

    #[pyo3(signature = (text, allowed_special, disallowed_special=Tokens::Nothing, /))]
    fn encode_with_unstable(
        &self,
        text: &Bound<'_, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<(Vec<TokenId>, Vec<Vec<TokenId>>)> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            encode_one::with_unstable(self, text, &policy)
        })
    }

    #[pyo3(signature = (text, allowed_special=Tokens::Nothing, disallowed_special=Tokens::Nothing, /))]
    fn count(
        &self,
        text: &Bound<'_, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<usize> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            encode_one::count(self, text, &policy)
        })
    }

    #[pyo3(signature = (text, limit, allowed_special=Tokens::Nothing, disallowed_special=Tokens::Nothing, /))]
    fn count_till_limit(
        &self,
        text: &Bound<'_, PyAny>,
        limit: usize,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<Option<usize>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            truncate::count(self, text, &policy, limit)
        })
    }

    #[pyo3(signature = (text, limit, keep_end, allowed_special=Tokens::Nothing, disallowed_special=Tokens::Nothing, /))]
    fn truncate(
        &self,
        text: &Bound<'_, PyAny>,
        limit: usize,
        keep_end: bool,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<(Option<usize>, usize)> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            truncate::truncate(self, text, &policy, limit, keep_end)
        })
    }

    #[pyo3(signature = (text, limit, overlap, allowed_special=Tokens::Nothing, disallowed_special=Tokens::Nothing, /))]
    fn parts(
        &self,
        text: &Bound<'_, PyAny>,
        limit: usize,
        overlap: usize,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<Vec<(usize, usize)>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            truncate::parts(self, text, &policy, limit, overlap)
        })
    }

    #[pyo3(signature = (text, allowed_special, disallowed_special, characters, /))]
    fn encode_with_offsets<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        characters: bool,
    ) -> PyResult<offsets::Arrays<'py>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            offsets::arrays(self, text, &policy, characters)
        })
    }

    #[pyo3(signature = (text, allowed_special, /))]
    fn piece_numbers<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
    ) -> PyResult<Bound<'py, PyArray1<isize>>> {
        guarded(|| {
            let policy = self.policy(allowed_special, Tokens::Nothing)?;
            offsets::piece_numbers(self, text, &policy)
        })
    }

    // --- Many texts ---

    #[pyo3(signature = (texts, num_threads, /))]
    fn encode_ordinary_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| encode_batch::lists(self, texts, Batch::new(Policy::ORDINARY, num_threads)))
    }

    #[pyo3(signature = (texts, allowed_special, disallowed_special, num_threads, /))]
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            encode_batch::lists(self, texts, Batch::new(policy, num_threads))
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "those of the Python method, which names them"
    )]
    #[pyo3(signature = (texts, allowed_special, disallowed_special, prepend, append, dtype, num_threads, /))]
    fn encode_batch_to_numpy<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        prepend: Vec<TokenId>,
        append: Vec<TokenId>,
        dtype: &str,
        num_threads: usize,
    ) -> PyResult<encode_batch::Arrays<'py>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let batch = Batch::new(policy, num_threads).between(prepend, append);
            encode_batch::arrays(self, texts, batch, dtype)
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "those of the Python method, which names them"
    )]
    #[pyo3(signature = (data, offsets, allowed_special, disallowed_special, prepend, append, dtype, num_threads, /))]
    fn encode_spans_to_numpy<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        prepend: Vec<TokenId>,
        append: Vec<TokenId>,
        dtype: &str,
        num_threads: usize,
    ) -> PyResult<encode_batch::Arrays<'py>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let batch = Batch::new(policy, num_threads).between(prepend, append);
            spans::arrays(self, data, offsets, batch, dtype)
        })
    }

    #[pyo3(signature = (column, allowed_special, disallowed_special, num_threads, /))]
    fn encode_arrow(
        &self,
        column: &Bound<'_, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        num_threads: usize,
    ) -> PyResult<EncodedColumn> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let batch = Batch::new(policy, num_threads);
            arrow::encode(self, column, batch)
        })
    }

    #[pyo3(signature = (texts, allowed_special, disallowed_special, num_threads, /))]
    fn count_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<isize>>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            encode_batch::counts(self, texts, &policy, num_threads)
        })
    }

    // --- Bytes to ids ---

    #[pyo3(signature = (piece, /))]
    fn encode_single_token(&self, piece: &Bound<'_, PyBytes>) -> PyResult<TokenId> {
        guarded(|| vocabulary::id(self, piece))
    }

    #[pyo3(signature = (piece, /))]
    fn encode_single_piece<'py>(
        &self,
        py: Python<'py>,
        piece: &[u8],
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| encode_one::pieces(self, py, &[piece]))
    }

    #[pyo3(signature = (pieces, /))]
    fn encode_pieces<'py>(&self, pieces: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| encode_one::pieces(self, pieces.py(), &pieces.extract::<Vec<PyBackedBytes>>()?))
    }

    #[pyo3(signature = (data, /))]
    fn _encode_bytes<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        guarded(|| encode_one::bytes(self, py, data))
    }

    #[pyo3(signature = (data, /))]
    fn encode_bytes<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| encode_one::bytes(self, data.py(), &Bytes::of(data)?))
    }

    // --- Text to pieces ---

    #[pyo3(signature = (text, /))]
    fn split<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| encode_one::split(self, text))
    }

    // --- Ids to bytes and text ---

    #[pyo3(signature = (tokens, /))]
    fn decode_bytes<'py>(&self, tokens: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| decode::bytes(self, tokens, true))
    }

    #[pyo3(signature = (tokens, /))]
    fn decode_further_bytes<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| decode::bytes(self, tokens, false))
    }

    #[pyo3(signature = (tokens, errors, /))]
    fn decode<'py>(
        &self,
        tokens: &Bound<'py, PyAny>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        guarded(|| decode::one_string(self, tokens, errors))
    }

    #[pyo3(signature = (batch, num_threads, /))]
    fn decode_bytes_batch<'py>(
        &self,
        batch: &Bound<'py, PyList>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| decode::many_bytes(self, batch, num_threads))
    }

    #[pyo3(signature = (batch, errors, num_threads, /))]
    fn decode_batch<'py>(
        &self,
        batch: &Bound<'py, PyList>,
        errors: &str,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| decode::many_strings(self, batch, errors, num_threads))
    }

    #[pyo3(signature = (token, /))]
    fn decode_single_token_bytes<'py>(
        &self,
        py: Python<'py>,
        token: TokenId,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| vocabulary::bytes(self, py, token))
    }

    #[pyo3(signature = (number, /))]
    fn is_token(&self, number: &Bound<'_, PyAny>) -> bool {
        let id = number.extract::<TokenId>();
        id.is_ok_and(|id| self.encoder.token_bytes(id).is_some())
    }

    #[pyo3(signature = (tokens, /))]
    fn decode_with_offsets(
        &self,
        tokens: &Bound<'_, PyAny>,
    ) -> PyResult<Option<(String, Vec<usize>)>> {
        guarded(|| decode::with_offsets(self, tokens))
    }

    fn text_stream(slf: &Bound<'_, Self>) -> Option<CoreTextStream> {
        decode::start(slf)
    }

    // --- The vocabulary ---

    fn max_id(&self) -> TokenId {
        self.encoder.largest_id()
    }

    fn memory_usage(&self) -> usize {
        self.encoder.memory() + self.interned.memory()
    }

    fn clear_cache(&self) {
        self.encoder.clear_cache();
    }

    #[pyo3(signature = (bytes_per_thread, /))]
    fn set_cache_limit(&self, bytes_per_thread: usize) {
        self.encoder.set_cache_limit(bytes_per_thread);
    }

    fn token_byte_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| vocabulary::sorted(self, py))
    }

    fn token_lengths<'py>(&self, py: Python<'py>) -> PyResult<vocabulary::Lengths<'py>> {
        guarded(|| vocabulary::lengths(self, py))
    }

    fn mergeable_ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        guarded(|| vocabulary::ranks(self, py))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guarded(|| vocabulary::stored(self, py))
    }

    fn merges(&self, py: Python<'_>) -> PyResult<Vec<(TokenId, TokenId)>> {
        guarded(|| vocabulary::merges(self, py))
    }

    fn listed_merges(&self, py: Python<'_>) -> PyResult<Vec<(TokenId, TokenId, TokenId)>> {
        guarded(|| vocabulary::listed_merges(self, py))
    }

    #[pyo3(signature = (others, /))]
    fn model_entries(&self, others: &Bound<'_, PyDict>) -> PyResult<(String, bool)> {
        guarded(|| vocabulary::model_entries(self, others))
    }
}
