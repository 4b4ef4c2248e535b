//! Finds the documents in blocks of files.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;

use super::buffer::Bytes;
use super::error::guarded;
use super::ids::arrays;
use super::runtime::{detached, run, threads_for};
use super::splitter::CoreSplitter;
use crate::documents::{self, json_lines};

/// The bytes of documents, one after the other, and the offsets where they start and end.
type Spans<'py> = (Bound<'py, PyBytes>, Bound<'py, PyArray1<isize>>);

/// Returns the strings in the first of some fields that each of the JSON lines has.
#[pyfunction]
#[pyo3(signature = (block, fields, num_threads, /))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
pub(super) fn json_fields<'py>(
    block: &Bound<'py, PyAny>,
    fields: Vec<PyBackedStr>,
    num_threads: usize,
) -> PyResult<Spans<'py>> {
    guarded(|| {
        let (py, block) = (block.py(), Bytes::of(block)?);
        let threads = threads_for(block.len(), num_threads);
        let names: Vec<&str> = fields.iter().map(|name| &**name).collect();
        let (fields, offsets) = run(py, block.len(), || {
            let fields = json_lines::fields(&block, &names, threads)?;
            let offsets = fields.offsets();
            Ok::<_, crate::error::JsonLinesError>((fields, offsets))
        })?;
        let size = fields.size();
        let data = PyBytes::new_with(py, size, |data| {
            detached(py, size, || fields.gather(data));
            Ok(())
        })?;
        Ok((data, arrays::offsets(py, offsets)?))
    })
}

/// Returns the offsets where the lines of a block start and end.
#[pyfunction]
#[pyo3(signature = (block, /))]
pub(super) fn line_offsets<'py>(
    block: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<isize>>> {
    guarded(|| {
        let (py, block) = (block.py(), Bytes::of(block)?);
        let offsets = detached(py, block.len(), || json_lines::line_offsets(&block));
        arrays::offsets(py, offsets)
    })
}

/// Counts line breaks.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(super) fn line_breaks(data: &Bound<'_, PyAny>) -> PyResult<usize> {
    guarded(|| {
        let (py, data) = (data.py(), Bytes::of(data)?);
        Ok(detached(py, data.len(), || json_lines::line_breaks(&data)))
    })
}

/// Returns the offset of the first bytes that are not UTF-8.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(super) fn find_invalid_utf8(data: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    guarded(|| {
        let (py, data) = (data.py(), Bytes::of(data)?);
        Ok(detached(py, data.len(), || {
            json_lines::find_invalid_utf8(&data)
        }))
    })
}

/// Returns the last offset at which a document may be cut that goes on after `block`.
#[pyfunction]
#[pyo3(signature = (block, special_tokens, whole, splitter, window, /))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
pub(super) fn last_cut(
    block: &Bound<'_, PyAny>,
    special_tokens: Vec<PyBackedBytes>,
    whole: Vec<PyBackedBytes>,
    splitter: Option<&Bound<'_, CoreSplitter>>,
    window: usize,
) -> PyResult<Option<usize>> {
    guarded(|| {
        let block = Bytes::of(block)?;
        let [special_tokens, whole] = [&special_tokens, &whole]
            .map(|strings| strings.iter().map(|string| &**string).collect::<Vec<_>>());
        let splitter = splitter.map(|splitter| &splitter.get().0);
        Ok(documents::last_cut(
            &block,
            &special_tokens,
            &whole,
            splitter,
            window,
        ))
    })
}
