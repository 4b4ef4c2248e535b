//! One text to ids: lists, arrays, counts, offsets, and how much of it fits into a limit.

use std::borrow::Cow;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PySlice, PyString};

use super::CoreBpe;
use super::growing::CorePrefixCache;
use super::special::Tokens;
use crate::checkpoint;
use crate::encode::Encoder;
use crate::encode::batch::{Batch, Ragged};
use crate::encode::offsets::CharCounter;
use crate::encode::special::{Allowed, Disallowed, Policy};
use crate::encode::truncate::Keep;
use crate::error::EncodeError;
use crate::python::abi::new_string;
use crate::python::buffer::Bytes;
use crate::python::error::{UnknownTokenError, guarded};
use crate::python::ids::arrays;
use crate::python::objects::new_list;
use crate::python::runtime::run;
use crate::python::strings::{chunks, text};
use crate::token::TokenId;
use crate::util::memory::{self, Growable};
use crate::vocabulary::Model;

type Offsets<'py> = Bound<'py, PyArray1<isize>>;

/// Ids, and the offsets where each starts and ends.
type IdsWithOffsets<'py> = (Bound<'py, PyArray1<TokenId>>, Offsets<'py>, Offsets<'py>);

/// A piece, its tokens, and its candidates.
type ExplainedWord<'py> = (
    Bound<'py, PyBytes>,
    Vec<(usize, usize, TokenId)>,
    Vec<(usize, usize, Option<TokenId>, f64)>,
);

#[pymethods]
impl CoreBpe {
    #[pyo3(signature = (text, /))]
    fn encode_ordinary<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let ids = self.ids_by(text, &Policy::ORDINARY, Encoder::encode)?;
            self.interned.list(text.py(), &ids)
        })
    }

    #[pyo3(signature = (text, allowed_special, disallowed_special=Tokens::Nothing, cache=None, /))]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        cache: Option<&CorePrefixCache>,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let ids = self.ids_from(text, &policy, cache)?;
            self.interned.list(text.py(), &ids)
        })
    }

    #[pyo3(signature = (text, num_threads, /))]
    fn encode_ordinary_to_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
        guarded(|| {
            let py = text.py();
            let batch = Batch::new(Policy::ORDINARY, num_threads);
            let divider = self.encoder.divider();
            let chunks = divider.map(|splitter| chunks(text, splitter, num_threads));
            let Ragged { ids, .. } = match chunks.transpose()?.flatten() {
                Some(chunks) => self.ragged(py, &chunks, batch)?,
                None => self.ragged(py, &[self::text(text)?], batch)?,
            };
            arrays::array(py, ids)
        })
    }

    #[pyo3(signature = (text, allowed_special, disallowed_special=Tokens::Nothing, cache=None, /))]
    fn encode_to_numpy<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        cache: Option<&CorePrefixCache>,
    ) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let mut ids = self.ids_from(text, &policy, cache)?;
            memory::trim_excess(&mut ids);
            arrays::immutable_ids(text.py(), ids)
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
            let (py, text) = (text.py(), self::text(text)?);
            // Thousands of encodings, however short the text is.
            let (stable, completions) = run(py, usize::MAX, || {
                self.refuse(&text, &policy)?;
                self.encoder.encode_with_unstable(&text, &policy.allowed)
            })?;
            Ok((stable, memory::collect(completions)))
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
            self.on_text(text, &policy, Encoder::count)
        })
    }

    /// Counts the ids of a text; `None` if there are more than `limit`.
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
            if self.exceeds(text, &policy, limit) {
                return Ok(None);
            }
            self.on_text(text, &policy, |encoder, text, allowed| {
                encoder.count_till_limit(text, allowed, limit)
            })
        })
    }

    /// Returns how many characters of a text to keep, for Python to slice by, `None` if all; and how many ids these have.
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
            let kept = if keep_end { Keep::End } else { Keep::Start };
            let is_sliced = self.exceeds(text, &policy, limit);
            let window = if is_sliced {
                Cow::Owned(self.window(text, limit, kept)?)
            } else {
                Cow::Borrowed(text)
            };
            let text = self::text(&window)?;
            let part = run(window.py(), text.len(), || {
                self.refuse(&text, &policy)?;
                self.encoder.truncate(&text, &policy.allowed, limit, kept)
            })?;
            let part_of_text = match kept {
                Keep::Start => &text[..part.cut],
                Keep::End => &text[part.cut..],
            };
            let characters = || part_of_text.chars().count();
            let is_whole = !is_sliced && part_of_text.len() == text.len();
            Ok(((!is_whole).then(characters), part.count))
        })
    }

    /// Returns the spans in characters of parts of at most `limit` ids, which end behind separators where they can.
    #[pyo3(signature = (text, limit, overlap, separators, allowed_special=Tokens::Nothing, disallowed_special=Tokens::Nothing, /))]
    fn parts(
        &self,
        text: &Bound<'_, PyAny>,
        limit: usize,
        overlap: usize,
        separators: &Bound<'_, PyList>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<Vec<(usize, usize)>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let separators = separators.iter();
            let separators = separators.map(|separator| Ok(self::text(&separator)?.into_owned()));
            let separators = memory::try_collect::<String, PyErr>(separators)?;
            self.on_text(text, &policy, |encoder, text, allowed| {
                let parts = encoder.parts(text, allowed, limit, overlap, &separators)?;
                let mut starts = CharCounter::new(text.as_bytes());
                let mut ends = CharCounter::new(text.as_bytes());
                let characters = parts
                    .into_iter()
                    .map(|part| (starts.before(part.start), ends.before(part.end)));
                Ok(characters.collect())
            })
        })
    }

    #[pyo3(signature = (text, allowed_special, disallowed_special, characters, /))]
    fn encode_with_offsets<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        characters: bool,
    ) -> PyResult<IdsWithOffsets<'py>> {
        guarded(|| {
            let py = text.py();
            let policy = self.policy(allowed_special, disallowed_special)?;
            let encoded = self.on_text(text, &policy, |encoder, text, allowed| {
                let mut encoded = encoder.encode_with_offsets(text, allowed)?;
                if characters {
                    encoded.to_characters(text);
                }
                Ok(encoded)
            })?;
            Ok((
                arrays::array(py, encoded.ids)?,
                arrays::offsets(py, encoded.starts)?,
                arrays::offsets(py, encoded.ends)?,
            ))
        })
    }

    /// Returns the normalized texts that unknown tokens of a Unigram model stand for, by their indices in the ids of a text.
    #[pyo3(signature = (text, allowed_special, /))]
    fn unknown_texts(
        &self,
        text: &Bound<'_, PyAny>,
        allowed_special: Tokens<'_, '_>,
    ) -> PyResult<Vec<(usize, String)>> {
        guarded(|| {
            let policy = self.policy(allowed_special, Tokens::Nothing)?;
            let encoded = self.on_text(text, &policy, Encoder::encode_with_offsets)?;
            Ok(encoded.unknown)
        })
    }

    #[pyo3(signature = (text, allowed_special, /))]
    fn piece_numbers<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
    ) -> PyResult<Offsets<'py>> {
        guarded(|| {
            let policy = self.policy(allowed_special, Tokens::Nothing)?;
            let numbers = self.on_text(text, &policy, Encoder::piece_numbers)?;
            arrays::offsets(text.py(), numbers)
        })
    }

    #[pyo3(signature = (text, /))]
    fn split<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let (py, text) = (text.py(), self::text(text)?);
            let pieces = run(py, text.len(), || -> Result<_, EncodeError> {
                let mut all = Vec::new();
                let mut chunk = Vec::new();
                let mut pieces = self.encoder.splitter().pieces(&text);
                while pieces.next_chunk(&mut chunk)? {
                    checkpoint::pass()?;
                    all.with_room(chunk.len()).append(&mut chunk);
                }
                Ok(all)
            })?;
            let pieces = pieces.into_iter();
            new_list(py, pieces.map(|piece| new_string(py, &text[piece])))
        })
    }

    // --- Bytes to ids ---

    #[pyo3(signature = (piece, /))]
    fn encode_single_token(&self, piece: &Bound<'_, PyBytes>) -> PyResult<TokenId> {
        guarded(|| {
            let id = self.encoder.token(piece.as_bytes());
            id.ok_or_else(|| UnknownTokenError::new_err((piece.clone().unbind(),)))
        })
    }

    #[pyo3(signature = (piece, /))]
    fn encode_single_piece<'py>(
        &self,
        py: Python<'py>,
        piece: &[u8],
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.ids_of_pieces(py, &[piece]))
    }

    /// How the model makes tokens.
    #[getter]
    fn model_kind(&self) -> &'static str {
        match self.encoder.vocabulary().model() {
            Model::Bytes(_) | Model::Listed(_) => "merges",
            Model::Words(_) => "words",
            Model::Unigram(_) => "scores",
        }
    }

    /// Returns the pieces of a text with the spans and ids of their tokens, and of their candidates with scores.
    #[pyo3(signature = (text, /))]
    fn explain_words<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Vec<ExplainedWord<'py>>> {
        guarded(|| {
            let explained = run(py, text.len(), || self.encoder.explained(text))?;
            let pieces = explained.into_iter().map(|explained| {
                let tokens = explained.tokens.into_iter();
                let candidates = explained.candidates.into_iter();
                (
                    PyBytes::new(py, &explained.piece),
                    tokens
                        .map(|token| (token.span.start, token.span.end, token.id))
                        .collect(),
                    candidates
                        .map(|token| (token.span.start, token.span.end, token.id, token.score))
                        .collect(),
                )
            });
            Ok(pieces.collect())
        })
    }

    #[pyo3(signature = (pieces, /))]
    fn encode_pieces<'py>(&self, pieces: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.ids_of_pieces(pieces.py(), &pieces.extract::<Vec<PyBackedBytes>>()?))
    }

    #[pyo3(signature = (data, /))]
    fn _encode_bytes<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.ids_of_bytes(py, data))
    }

    #[pyo3(signature = (data, /))]
    fn encode_bytes<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.ids_of_bytes(data.py(), &Bytes::of(data)?))
    }
}

impl CoreBpe {
    /// Does some work on a text, with the GIL released if that pays; an error if the text has a disallowed string.
    fn on_text<R: Send>(
        &self,
        text: &Bound<'_, PyAny>,
        policy: &Policy,
        work: impl FnOnce(&Encoder, &str, &Allowed) -> Result<R, EncodeError> + Send,
    ) -> PyResult<R> {
        let (py, text) = (text.py(), self::text(text)?);
        run(py, text.len(), || {
            self.refuse(&text, policy)?;
            work(&self.encoder, &text, &policy.allowed)
        })
    }

    /// Encodes a text, whose start may be in a cache.
    fn ids_from(
        &self,
        text: &Bound<'_, PyAny>,
        policy: &Policy,
        cache: Option<&CorePrefixCache>,
    ) -> PyResult<Vec<TokenId>> {
        match cache {
            Some(CorePrefixCache(cache)) => self.ids_by(text, policy, |_, text, allowed, ids| {
                cache.encode(&self.encoder, text, allowed, ids)
            }),
            None => self.ids_by(text, policy, Encoder::encode),
        }
    }

    /// Returns the ids that some way to encode a text appends.
    pub(super) fn ids_by(
        &self,
        text: &Bound<'_, PyAny>,
        policy: &Policy,
        encode: impl FnOnce(&Encoder, &str, &Allowed, &mut Vec<TokenId>) -> Result<(), EncodeError>
        + Send,
    ) -> PyResult<Vec<TokenId>> {
        self.on_text(text, policy, |encoder, text, allowed| {
            let mut ids = Vec::new();
            encode(encoder, text, allowed, &mut ids)?;
            Ok(ids)
        })
    }

    /// Encodes pieces without splitting them.
    fn ids_of_pieces<'py>(
        &self,
        py: Python<'py>,
        pieces: &[impl AsRef<[u8]> + Sync],
    ) -> PyResult<Bound<'py, PyList>> {
        let size = pieces.iter().map(|piece| piece.as_ref().len() + 1).sum();
        let ids = run(py, size, || -> Result<_, EncodeError> {
            let mut ids = Vec::new();
            for piece in pieces {
                self.encoder.encode_piece(piece.as_ref(), &mut ids)?;
            }
            Ok(ids)
        })?;
        self.interned.list(py, &ids)
    }

    /// Encodes bytes that need not be UTF-8.
    fn ids_of_bytes<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let ids = run(py, data.len(), || -> Result<_, EncodeError> {
            let mut ids = Vec::new();
            self.encoder.encode_bytes(data, &mut ids)?;
            Ok(ids)
        })?;
        self.interned.list(py, &ids)
    }

    /// Returns an error if a text has a disallowed string.
    fn refuse(&self, text: &str, policy: &Policy) -> Result<(), EncodeError> {
        let special_tokens = self.encoder.special_tokens();
        special_tokens.refuse(text, &policy.disallowed)
    }

    /// Returns true if a text has more ids than `limit` whatever it contains: a character is at least a byte. A text in
    /// which a disallowed string is to be found is read to its end.
    fn exceeds(&self, text: &Bound<'_, PyAny>, policy: &Policy, limit: usize) -> bool {
        if !matches!(policy.disallowed, Disallowed::Nothing) {
            return false;
        }
        // `len` of a subclass may differ from its number of characters.
        let length = text
            .cast_exact::<PyString>()
            .map_or(0, |text| text.len().unwrap_or(0));
        self.encoder.exceeds(length, &policy.allowed, limit)
    }

    /// Slices a text that exceeds the limit at its start or end, so long that the slice exceeds it as well. The rest is
    /// neither transcoded nor encoded.
    fn window<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        limit: usize,
        kept: Keep,
    ) -> PyResult<Bound<'py, PyAny>> {
        let length = text.len()?.cast_signed();
        let longest = self.encoder.vocabulary().longest();
        let size = (limit * longest + 1).cast_signed();
        let range = match kept {
            Keep::Start => 0..size,
            Keep::End => length - size..length,
        };
        text.get_item(PySlice::new(text.py(), range.start, range.end, 1))
    }
}
