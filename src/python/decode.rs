//! Ids → bytes and text.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::core_bpe::CoreBpe;
use super::ids::TokenIds;
use super::run::{run, threads_for};
use super::string::string;
use crate::util::parallel;

/// How much work an id is, in bytes.
const BYTES_PER_ID: usize = 4;

/// Room for so many bytes may be missing.
const MANY_BYTES: usize = 1 << 26;

pub(super) fn bytes<'py>(
    core: &CoreBpe,
    tokens: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    bytes_object(tokens.py(), &decoded(core, tokens)?)
}

pub(super) fn one_string<'py>(
    core: &CoreBpe,
    tokens: &Bound<'py, PyAny>,
    errors: &str,
) -> PyResult<Bound<'py, PyString>> {
    text(tokens.py(), &decoded(core, tokens)?, errors)
}

/// The bytes as Python's. Where there may be no room for many, the way that says so and does not panic, at the price of
/// writing them twice.
fn bytes_object<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    if bytes.len() < MANY_BYTES {
        return Ok(PyBytes::new(py, bytes));
    }
    PyBytes::new_with(py, bytes.len(), |room| {
        room.copy_from_slice(bytes);
        Ok(())
    })
}

fn decoded(core: &CoreBpe, tokens: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let ids = TokenIds::of(tokens)?;
    let ids = ids.as_slice()?;
    run(tokens.py(), ids.len() * BYTES_PER_ID, |checkpoint| {
        core.encoder.decode(ids, checkpoint)
    })
}

pub(super) fn many_bytes<'py>(
    core: &CoreBpe,
    rows: &Bound<'py, PyList>,
    num_threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = rows.py();
    let decoded = decoded_rows(core, rows, num_threads)?;
    let objects = decoded.iter().map(|bytes| bytes_object(py, bytes));
    PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?)
}

pub(super) fn many_strings<'py>(
    core: &CoreBpe,
    rows: &Bound<'py, PyList>,
    errors: &str,
    num_threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = rows.py();
    let decoded = decoded_rows(core, rows, num_threads)?;
    let texts = decoded.iter().map(|bytes| text(py, bytes, errors));
    PyList::new(py, texts.collect::<PyResult<Vec<_>>>()?)
}

fn decoded_rows(
    core: &CoreBpe,
    rows: &Bound<'_, PyList>,
    num_threads: usize,
) -> PyResult<Vec<Vec<u8>>> {
    let py = rows.py();
    let rows = rows
        .iter()
        .map(|tokens| TokenIds::of(&tokens))
        .collect::<PyResult<Vec<_>>>()?;
    let rows = rows
        .iter()
        .map(TokenIds::as_slice)
        .collect::<PyResult<Vec<_>>>()?;
    let size = rows.iter().map(|ids| ids.len() * BYTES_PER_ID).sum();
    run(py, size, |checkpoint| {
        parallel::map(&rows, threads_for(size, num_threads), checkpoint, |ids| {
            core.encoder.decode(ids, checkpoint)
        })
    })
}

/// The text in UTF-8 bytes, with Python's own treatment of errors where they are not.
fn text<'py>(py: Python<'py>, bytes: &[u8], errors: &str) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return string(py, text);
    }
    let decoded = bytes_object(py, bytes)?.call_method1("decode", ("utf-8", errors))?;
    Ok(decoded.cast_into::<PyString>()?)
}
