//! Counts the pieces of texts.

use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString};

use super::arrow;
use super::error::{Raised, guarded};
use super::ids::arrays::{array, load_numpy};
use super::objects::new_bytes;
use super::runtime::{attached, run, run_alongside};
use super::splitter::CoreSplitter;
use super::strings::{SharedText, to_shared_texts, wrong_type};
use super::turns::Turns;
use crate::encode::special::SpecialTokens;
use crate::error::TrainError;
use crate::split::Splitter;
use crate::train::counting::{self, CountTable, Item, NextTable};
use crate::util::memory::{self, Growable};

/// Pieces and their counts.
#[pyclass(name = "PieceCounts", module = "bytemill._core", frozen)]
pub(super) struct PieceCounts(Turns<counting::PieceCounts>);

impl PieceCounts {
    /// Waits for the counts and runs `work`, with the GIL released: the thread that has them may wait for the GIL, so no
    /// thread may wait for them while it holds the GIL.
    pub(super) fn with<R: Send, E: Into<PyErr> + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut counting::PieceCounts) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        run(py, usize::MAX, || {
            work(&mut *self.0.take()?).map_err(Into::into)
        })
    }

    /// As [`with`](Self::with), for work that cannot fail.
    fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut counting::PieceCounts) -> R + Send,
    ) -> PyResult<R> {
        self.with(py, |counts| Ok::<R, TrainError>(work(counts)))
    }
}

#[pymethods]
impl PieceCounts {
    #[new]
    fn new() -> Self {
        Self(Turns::new(counting::PieceCounts::new()))
    }

    #[pyo3(signature = (batches, splitter, special, num_threads, ahead))]
    fn add(
        &self,
        batches: &Bound<'_, PyIterator>,
        splitter: Option<&Bound<'_, CoreSplitter>>,
        special: Vec<String>,
        num_threads: usize,
        ahead: bool,
    ) -> PyResult<()> {
        guarded(|| {
            let py = batches.py();
            let (splitter, special) = pieces_by(splitter, special)?;
            let add = |texts: &[Text], counts: &mut counting::PieceCounts| {
                counts.add(&items(texts), splitter, &special, num_threads)
            };
            let mut batches = batches.into_iter().map(|batch| texts(&batch?, num_threads));
            let mut batch = batches.next().transpose()?;
            // A splitter in Python takes the GIL, and is what notices Ctrl-C.
            let external = matches!(splitter, Some(Splitter::External(_)));
            let is_sequential = !ahead || num_threads <= 1 || external;
            while let Some(texts) = batch {
                batch = if is_sequential {
                    self.with(py, |counts| add(&texts, counts))?;
                    batches.next().transpose()?
                } else {
                    let count = || add(&texts, &mut *self.0.take()?).map_err(PyErr::from);
                    run_alongside(py, count, || batches.next().transpose())?
                };
            }
            Ok(())
        })
    }

    /// Adds pieces with their counts: a list, an Arrow column, or the bytes of all pieces with their offsets.
    fn add_pieces(&self, pieces: &Bound<'_, PyAny>, counts: &Bound<'_, PyAny>) -> PyResult<()> {
        guarded(|| {
            let py = pieces.py();
            load_numpy(py)?;
            let numbers = match counts.extract::<PyReadonlyArray1<'_, u64>>() {
                Ok(array) => copied(&array),
                Err(_) => counts.extract()?,
            };
            if let Ok(list) = pieces.cast::<PyList>() {
                let pieces = list
                    .iter()
                    .map(|piece| piece.extract::<PyBackedBytes>().map_err(PyErr::from));
                let pieces = memory::try_collect(pieces)?;
                self.with(py, |all| {
                    add_rows(all, pieces.iter().map(|piece| &**piece), &numbers)
                })
            } else if let Ok((data, offsets)) =
                pieces.extract::<(PyBackedBytes, PyReadonlyArray1<'_, i64>)>()
            {
                let bounds = copied(&offsets);
                let pieces = bounds.windows(2).map(|pair| piece_between(&data, pair));
                let pieces = memory::try_collect::<&[u8], PyErr>(pieces)?;
                self.with(py, |all| add_rows(all, pieces.iter().copied(), &numbers))
            } else {
                arrow::with_texts(pieces, |texts| {
                    let pieces = texts.iter().map(|text| text.0);
                    add_rows(&mut *self.0.take()?, pieces, &numbers)
                })
            }
        })
    }

    fn add_texts(
        &self,
        column: &Bound<'_, PyAny>,
        splitter: Option<&Bound<'_, CoreSplitter>>,
        special: Vec<String>,
        num_threads: usize,
    ) -> PyResult<()> {
        guarded(|| {
            let (splitter, special) = pieces_by(splitter, special)?;
            arrow::with_texts(column, |texts| {
                let mut items = memory::vec_with_capacity(texts.len());
                for text in texts {
                    Item::split_bytes(text.0, &mut items);
                }
                let mut counts = self.0.take()?;
                Ok(counts.add(&items, splitter, &special, num_threads)?)
            })
        })
    }

    #[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
    fn add_sorted(&self, py: Python<'_>, sources: Vec<Py<PyIterator>>) -> PyResult<()> {
        guarded(|| self.with(py, |counts| counts.add_sorted(next_tables(&sources))))
    }

    fn write_sorted(&self, write: &Bound<'_, PyAny>, rows: usize) -> PyResult<()> {
        guarded(|| {
            let mut writer = TableWriter::new(write, rows);
            self.with(write.py(), |counts| {
                counts.for_each_sorted(|piece, count| writer.push(piece, count))?;
                writer.flush()
            })
        })
    }

    fn merge(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        guarded(|| {
            let py = other.py();
            // Never holds both locks: threads that merge each other's counts would deadlock, and both may be
            // one object.
            let other = other.get().read(py, |counts| counts.clone())?;
            self.with(py, |counts| counts.merge(&other))
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(|| self.with(py, counting::PieceCounts::len))
    }

    fn total(&self, py: Python<'_>) -> PyResult<u64> {
        guarded(|| self.read(py, |counts| counts.total()))
    }

    fn text_bytes(&self, py: Python<'_>) -> PyResult<u128> {
        guarded(|| self.read(py, |counts| counts.text_bytes()))
    }

    fn memory(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(|| self.read(py, |counts| counts.memory()))
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| list(py, &self.with(py, counting::PieceCounts::columns)?))
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<ColumnArrays<'py>> {
        guarded(|| column_arrays(py, self.with(py, counting::PieceCounts::columns)?))
    }

    fn most_common<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let most = self.with(py, |counts| counts.most_common(n))?;
            list(py, &most)
        })
    }
}

/// Adds rows: pieces, each with its count.
fn add_rows<'a>(
    all: &mut counting::PieceCounts,
    pieces: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    counts: &[u64],
) -> PyResult<()> {
    check_lengths(pieces.len(), counts.len())?;
    Ok(all.add_pieces(pieces.zip(counts.iter().copied()))?)
}

/// Returns what makes pieces of texts.
fn pieces_by<'a>(
    splitter: Option<&'a Bound<'_, CoreSplitter>>,
    special: Vec<String>,
) -> PyResult<(Option<&'a Splitter>, SpecialTokens)> {
    let special = SpecialTokens::new(special.into_iter().zip(0..).collect())?;
    Ok((splitter.map(|splitter| &splitter.get().0), special))
}

/// Returns the piece between two offsets.
fn piece_between<'a>(data: &'a [u8], bounds: &[i64]) -> PyResult<&'a [u8]> {
    let range = usize::try_from(bounds[0])
        .ok()
        .zip(usize::try_from(bounds[1]).ok());
    let piece = range.and_then(|(start, end)| data.get(start..end));
    piece.ok_or_else(|| {
        PyValueError::new_err(format!(
            "expected offsets in order, within the {} bytes of all pieces, got {bounds:?}",
            data.len()
        ))
    })
}

/// A text whose pieces are counted.
pub(super) enum Text {
    Str(SharedText),
    Bytes(PyBackedBytes),
}

impl Text {
    /// Its bytes.
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_ref().as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Reads the texts of a list, in order, which decides the order of the pieces.
pub(super) fn texts(batch: &Bound<'_, PyAny>, num_threads: usize) -> PyResult<Vec<Text>> {
    // A `None` in `bytes` stands for the next of the strings, which are transcoded together.
    let (mut strings, mut bytes) = (Vec::new(), Vec::new());
    for text in batch.cast::<PyList>()? {
        if let Ok(text) = text.cast::<PyString>() {
            strings.with_room(1).push(text.clone());
            bytes.with_room(1).push(None);
        } else if let Ok(text) = text.cast::<PyBytes>() {
            bytes.with_room(1).push(Some(text.clone().into()));
        } else {
            return Err(wrong_type("texts as str or bytes", &text));
        }
    }
    let mut strings = to_shared_texts(batch.py(), &strings, num_threads)?.into_iter();
    let texts = bytes.into_iter().map(|bytes| match bytes {
        Some(bytes) => Text::Bytes(bytes),
        None => Text::Str(strings.next().expect("each `None` stands for a string")),
    });
    Ok(memory::collect(texts))
}

fn items(texts: &[Text]) -> Vec<Item<'_>> {
    let mut items = memory::vec_with_capacity(texts.len());
    for text in texts {
        match text {
            Text::Str(text) => items.push(Item::Text(text.as_ref())),
            Text::Bytes(bytes) => Item::split_bytes(bytes, &mut items),
        }
    }
    items
}

fn copied<T: Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    memory::collect(array.as_array().iter().copied())
}

/// Rows created between checks for Ctrl-C.
const CHECK_INTERVAL: usize = 1 << 16;

fn list<'py>(py: Python<'py>, columns: &counting::CountTable) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for (index, (piece, count)) in columns.iter().enumerate() {
        if index % CHECK_INTERVAL == 0 {
            py.check_signals()?;
        }
        rows.append((new_bytes(py, piece)?, count))?;
    }
    Ok(rows)
}

// Tables of counts that Python reads and writes.

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
        let next = move || attached(|py| next_table(py, source)).map_err(raised);
        Box::new(next) as NextTable<'_>
    };
    sources.iter().map(next).collect()
}

/// Copies the next item of an iterator: a column of pieces, and an array of their counts.
fn next_table(py: Python<'_>, source: &Py<PyIterator>) -> PyResult<Option<CountTable>> {
    let Some(item) = source.bind(py).clone().next() else {
        return Ok(None);
    };
    load_numpy(py)?;
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
        let written = attached(|py| self.write.call1(py, column_arrays(py, table)?));
        written.map(drop).map_err(raised)
    }
}

fn raised(error: PyErr) -> TrainError {
    TrainError::Tables(Box::new(Raised(error)))
}
