//! Decodes ids to bytes and text.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::CoreBpe;
use crate::checkpoint::Checkpoint;
use crate::error::DecodeError;
use crate::python::ids::TokenIds;
use crate::python::objects::{new_bytes, new_list};
use crate::python::runtime::{run, threads_for};
use crate::python::strings::new_string;
use crate::token::TokenId;
use crate::util::memory;
use crate::util::parallel;
use crate::util::text::with_each_byte_replaced;

/// Bytes of work that decoding an id counts as.
pub(super) const BYTES_PER_ID: usize = 4;

/// Decodes ids, which follow others unless they are the start of a text.
pub(super) fn bytes<'py>(
    core: &CoreBpe,
    tokens: &Bound<'py, PyAny>,
    is_start: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    new_bytes(tokens.py(), &decoded(core, tokens, is_start)?)
}

pub(super) fn one_string<'py>(
    core: &CoreBpe,
    tokens: &Bound<'py, PyAny>,
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    let py = tokens.py();
    let ids = TokenIds::from_py(tokens)?;
    let ids = ids.as_slice()?;
    let replaces = errors == "replace";
    let decoded = run(py, ids.len() * BYTES_PER_ID, |checkpoint| {
        decode_one(core, ids, replaces, checkpoint)
    })?;
    text(core, py, &decoded, errors)
}

/// Bytes, or a text where the encoding makes it in a way of its own.
enum Decoded {
    Bytes(Vec<u8>),
    Text(String),
}

/// Decodes the ids of a text, in which what is not UTF-8 may be replaced.
fn decode_one(
    core: &CoreBpe,
    ids: &[TokenId],
    replaces: bool,
    checkpoint: &dyn Checkpoint,
) -> Result<Decoded, DecodeError> {
    let encoder = &core.encoder;
    let text = || encoder.decode_text(ids, checkpoint);
    match replaces.then(text).flatten() {
        Some(text) => text.map(Decoded::Text),
        None => encoder.decode(ids, checkpoint).map(Decoded::Bytes),
    }
}

/// Decodes ids with the offset of each, by a decoder that does more than to join bytes; otherwise `None`.
pub(super) fn with_offsets(
    core: &CoreBpe,
    tokens: &Bound<'_, PyAny>,
) -> PyResult<Option<(String, Vec<usize>)>> {
    let ids = TokenIds::from_py(tokens)?;
    let ids = ids.as_slice()?;
    run(tokens.py(), ids.len() * BYTES_PER_ID, |checkpoint| {
        core.encoder
            .decode_with_offsets(ids, checkpoint)
            .transpose()
    })
}

fn decoded(core: &CoreBpe, tokens: &Bound<'_, PyAny>, is_start: bool) -> PyResult<Vec<u8>> {
    let ids = TokenIds::from_py(tokens)?;
    let ids = ids.as_slice()?;
    run(tokens.py(), ids.len() * BYTES_PER_ID, |checkpoint| {
        core.encoder.decode_part(ids, is_start, checkpoint)
    })
}

pub(super) fn many_bytes<'py>(
    core: &CoreBpe,
    rows: &Bound<'py, PyList>,
    num_threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = rows.py();
    let decoded = decoded_rows(rows, num_threads, |ids, checkpoint| {
        core.encoder.decode(ids, checkpoint)
    })?;
    new_list(py, decoded.iter().map(|bytes| new_bytes(py, bytes)))
}

pub(super) fn many_strings<'py>(
    core: &CoreBpe,
    rows: &Bound<'py, PyList>,
    errors: &str,
    num_threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = rows.py();
    let replaces = errors == "replace";
    let decoded = decoded_rows(rows, num_threads, |ids, checkpoint| {
        decode_one(core, ids, replaces, checkpoint)
    })?;
    let texts = decoded
        .iter()
        .map(|decoded| text(core, py, decoded, errors));
    new_list(py, texts)
}

fn decoded_rows<R: Send + Sync>(
    rows: &Bound<'_, PyList>,
    num_threads: usize,
    decode: impl Fn(&[TokenId], &dyn Checkpoint) -> Result<R, DecodeError> + Sync,
) -> PyResult<Vec<R>> {
    let py = rows.py();
    let rows = memory::try_collect(rows.iter().map(|tokens| TokenIds::from_py(&tokens)))?;
    let rows = memory::try_collect(rows.iter().map(TokenIds::as_slice))?;
    let size = rows.iter().map(|ids| ids.len() * BYTES_PER_ID).sum();
    run(py, size, |checkpoint| {
        parallel::map(&rows, threads_for(size, num_threads), checkpoint, |ids| {
            decode(ids, checkpoint)
        })
    })
}

/// Decodes UTF-8; where it is invalid, Python does, with `errors`. A SentencePiece model replaces each byte by itself.
fn text<'py>(
    core: &CoreBpe,
    py: Python<'py>,
    decoded: &Decoded,
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    let bytes = match decoded {
        Decoded::Text(text) => return new_string(py, text),
        Decoded::Bytes(bytes) => bytes,
    };
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return new_string(py, text);
    }
    if core.encoder.sentencepiece().is_some() && errors == "replace" {
        return new_string(py, &with_each_byte_replaced(bytes));
    }
    let decoded = new_bytes(py, bytes)?.call_method1("decode", ("utf-8", errors))?;
    Ok(decoded.cast_into::<PyString>()?)
}
