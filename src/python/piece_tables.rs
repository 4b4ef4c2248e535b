//! Tables of counts that Python reads and writes.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};

use super::arrow;
use super::error::Raised;
use super::ids::arrays::array;
use super::objects::new_bytes;
use crate::error::TrainError;
use crate::train::counting::{CountTable, NextTable};
use crate::util::memory;

/// The bytes of all pieces, the offsets where they start and end, and their counts.
pub(super) type ColumnArrays<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u64>>,
);

/// Copies counts to arrays.
pub(super) fn column_arrays(py: Python<'_>, columns: CountTable) -> PyResult<ColumnArrays<'_>> {
    let ends = columns.ends.iter().map(|end| end.cast_signed() as i64);
    let offsets = memory::collect(std::iter::once(0).chain(ends));
    Ok((
        new_bytes(py, &columns.bytes)?,
        array(py, offsets)?,
        array(py, columns.counts)?,
    ))
}

/// Fails unless there is a count for each piece.
pub(super) fn check_lengths(pieces: usize, counts: usize) -> PyResult<()> {
    if counts == pieces {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{counts} counts for {pieces} pieces: expected one for each"
    )))
}

/// Returns what reads the tables of some iterators.
pub(super) fn next_tables(sources: &[Py<PyIterator>]) -> Vec<NextTable<'_>> {
    let next = |source| {
        let next = move || Python::attach(|py| next_table(py, source)).map_err(raised);
        Box::new(next) as NextTable<'_>
    };
    sources.iter().map(next).collect()
}

/// Copies the next item of an iterator: a column of pieces, and an array of their counts.
fn next_table(py: Python<'_>, source: &Py<PyIterator>) -> PyResult<Option<CountTable>> {
    let Some(item) = source.bind(py).clone().next() else {
        return Ok(None);
    };
    let (pieces, counts): (Bound<'_, PyAny>, PyReadonlyArray1<'_, u64>) = item?.extract()?;
    arrow::with_few_texts(&pieces, |pieces| {
        check_lengths(pieces.len(), counts.len()?)?;
        let mut table = CountTable::default();
        for (piece, &count) in pieces.iter().zip(counts.as_array()) {
            table.push(piece.0, count);
        }
        Ok(Some(table))
    })
}

/// Collects rows, and calls a function with them when they are enough.
pub(super) struct TableWriter {
    write: Py<PyAny>,
    rows: usize,
    table: CountTable,
}

impl TableWriter {
    /// Calls `write` with the bytes of pieces, their offsets and their counts, `rows` at a time.
    pub(super) fn new(write: &Bound<'_, PyAny>, rows: usize) -> Self {
        Self {
            write: write.clone().unbind(),
            rows,
            table: CountTable::default(),
        }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, piece: &[u8], count: u64) -> Result<(), TrainError> {
        self.table.push(piece, count);
        if self.table.counts.len() < self.rows {
            return Ok(());
        }
        self.flush()
    }

    /// Calls the function with the rows that are left.
    pub(super) fn flush(&mut self) -> Result<(), TrainError> {
        let table = std::mem::take(&mut self.table);
        if table.counts.is_empty() {
            return Ok(());
        }
        let written = Python::attach(|py| self.write.call1(py, column_arrays(py, table)?));
        written.map(drop).map_err(raised)
    }
}

fn raised(error: PyErr) -> TrainError {
    TrainError::Tables(Box::new(Raised(error)))
}
