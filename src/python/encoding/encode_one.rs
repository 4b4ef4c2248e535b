//! Encodes one text or one piece.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::CoreBpe;
use crate::checkpoint;
use crate::encode::special::Policy;
use crate::error::EncodeError;
use crate::python::ids::arrays;
use crate::python::objects::new_list;
use crate::python::runtime::run;
use crate::python::strings::{new_string, text};
use crate::token::TokenId;
use crate::util::memory::{self, Growable};

pub(super) fn list<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    policy: &Policy,
) -> PyResult<Bound<'py, PyList>> {
    let ids = ids(core, text, policy)?;
    core.interned.list(text.py(), &ids)
}

pub(super) fn array<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    policy: &Policy,
) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
    let mut ids = ids(core, text, policy)?;
    memory::trim_excess(&mut ids);
    arrays::immutable_ids(text.py(), ids)
}

fn ids(core: &CoreBpe, text: &Bound<'_, PyAny>, policy: &Policy) -> PyResult<Vec<TokenId>> {
    let (py, text) = (text.py(), self::text(text)?);
    run(py, text.len(), || -> Result<_, EncodeError> {
        let mut ids = Vec::new();
        let special_tokens = core.encoder.special_tokens();
        special_tokens.refuse(&text, &policy.disallowed)?;
        core.encoder.encode(&text, &policy.allowed, &mut ids)?;
        Ok(ids)
    })
}

pub(super) fn count(core: &CoreBpe, text: &Bound<'_, PyAny>, policy: &Policy) -> PyResult<usize> {
    let (py, text) = (text.py(), self::text(text)?);
    run(py, text.len(), || {
        let special_tokens = core.encoder.special_tokens();
        special_tokens.refuse(&text, &policy.disallowed)?;
        core.encoder.count(&text, &policy.allowed)
    })
}

pub(super) fn with_unstable(
    core: &CoreBpe,
    text: &Bound<'_, PyAny>,
    policy: &Policy,
) -> PyResult<(Vec<TokenId>, Vec<Vec<TokenId>>)> {
    let (py, text) = (text.py(), self::text(text)?);
    let (stable, completions) = run(py, usize::MAX, || {
        let special_tokens = core.encoder.special_tokens();
        special_tokens.refuse(&text, &policy.disallowed)?;
        core.encoder.encode_with_unstable(&text, &policy.allowed)
    })?;
    Ok((stable, memory::collect(completions)))
}

/// Encodes bytes that need not be UTF-8.
pub(super) fn bytes<'py>(
    core: &CoreBpe,
    py: Python<'py>,
    data: &[u8],
) -> PyResult<Bound<'py, PyList>> {
    let ids = run(py, data.len(), || -> Result<_, EncodeError> {
        let mut ids = Vec::new();
        core.encoder.encode_bytes(data, &mut ids)?;
        Ok(ids)
    })?;
    core.interned.list(py, &ids)
}

/// Encodes pieces without splitting them.
pub(super) fn pieces<'py>(
    core: &CoreBpe,
    py: Python<'py>,
    pieces: &[impl AsRef<[u8]> + Sync],
) -> PyResult<Bound<'py, PyList>> {
    let size = pieces.iter().map(|piece| piece.as_ref().len()).sum();
    let ids = run(py, size, || -> Result<_, EncodeError> {
        let mut ids = Vec::new();
        for piece in pieces {
            core.encoder.encode_piece(piece.as_ref(), &mut ids)?;
        }
        Ok(ids)
    })?;
    core.interned.list(py, &ids)
}

/// Splits a text into its pieces.
pub(super) fn split<'py>(core: &CoreBpe, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let (py, text) = (text.py(), self::text(text)?);
    let pieces = run(py, text.len(), || -> Result<_, EncodeError> {
        let mut all = Vec::new();
        let mut chunk = Vec::new();
        let mut pieces = core.encoder.splitter().pieces(&text);
        while pieces.next_chunk(&mut chunk)? {
            checkpoint::pass()?;
            all.with_room(chunk.len()).append(&mut chunk);
        }
        Ok(all)
    })?;
    let pieces = pieces.into_iter();
    new_list(py, pieces.map(|piece| new_string(py, &text[piece])))
}
