//! Counting pieces and learning merges from them.

use std::env;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList};

use super::arrays::array;
use super::error::guarded;
use super::run::run;
use super::splitter::CoreSplitter;
use super::text::shared_text;
use crate::checkpoint::{Checkpoint, Interrupted};
use crate::encode::special::SpecialTokens;
use crate::error::TrainError;
use crate::token::Pair;
use crate::train::count::{self, Item};
use crate::train::{Initial, Options, TieBreak, merges};

/// How often the callback is told how far training is.
const INTERVAL: Duration = Duration::from_millis(200);

/// Pieces and how often they occur.
#[pyclass(name = "PieceCounts", module = "bytemill._core", frozen)]
pub(super) struct PieceCounts(Mutex<count::PieceCounts>);

impl PieceCounts {
    /// Runs `work` with the counts, other Python threads meanwhile: who holds the counts may wait for the interpreter,
    /// so nobody may wait for the counts while holding the interpreter.
    fn with<R: Send, E: Into<PyErr> + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut count::PieceCounts, &dyn Checkpoint) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        run(py, usize::MAX, |checkpoint| {
            work(&mut self.lock(), checkpoint)
        })
    }

    /// As [`with`](Self::with), for work that cannot fail.
    fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut count::PieceCounts) -> R + Send,
    ) -> PyResult<R> {
        self.with(py, |counts, _| Ok::<R, TrainError>(work(counts)))
    }

    fn lock(&self) -> MutexGuard<'_, count::PieceCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PieceCounts {
    #[new]
    #[pyo3(signature = (memory_limit = None, directory = None))]
    fn new(memory_limit: Option<usize>, directory: Option<PathBuf>) -> Self {
        let directory = directory.unwrap_or_else(env::temp_dir);
        let limited = |limit| count::PieceCounts::with_memory_limit(limit, directory);
        Self(Mutex::new(
            memory_limit.map_or_else(count::PieceCounts::new, limited),
        ))
    }

    #[pyo3(signature = (texts, splitter, special, num_threads))]
    fn add(
        &self,
        texts: &Bound<'_, PyList>,
        splitter: Option<&Bound<'_, CoreSplitter>>,
        special: Vec<String>,
        num_threads: usize,
    ) -> PyResult<()> {
        guarded(|| {
            let py = texts.py();
            let texts = texts
                .iter()
                .map(|text| Text::of(&text))
                .collect::<PyResult<Vec<_>>>()?;
            let special = SpecialTokens::new(special.into_iter().zip(0..).collect())?;
            let splitter = splitter.map(|splitter| &splitter.get().0);
            self.with(py, |counts, checkpoint| {
                let mut items = Vec::with_capacity(texts.len());
                for text in &texts {
                    match text {
                        Text::Str(text) => items.push(Item::Text(text)),
                        Text::Bytes(bytes) => Item::split_bytes(bytes, &mut items),
                    }
                }
                counts.add(&items, splitter, &special, num_threads, checkpoint)
            })
        })
    }

    fn add_pieces(&self, pieces: &Bound<'_, PyList>, counts: &Bound<'_, PyAny>) -> PyResult<()> {
        guarded(|| {
            let py = pieces.py();
            let pieces: Vec<PyBackedBytes> = pieces.extract()?;
            let numbers = match counts.extract::<PyReadonlyArray1<'_, u64>>() {
                Ok(array) => array.as_array().to_vec(),
                Err(_) => counts.extract()?,
            };
            if numbers.len() != pieces.len() {
                return Err(PyValueError::new_err(format!(
                    "{} counts for {} pieces: expected one for each",
                    numbers.len(),
                    pieces.len()
                )));
            }
            self.with(py, |counts, checkpoint| {
                let pieces = pieces.iter().map(|piece| &**piece);
                counts.add_pieces(pieces.zip(numbers.iter().copied()), checkpoint)
            })
        })
    }

    fn merge(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        guarded(|| {
            let py = other.py();
            // One after the other, so that no two threads wait for each other; and they may be the same.
            let other = other.get().read(py, |counts| counts.clone())?;
            self.with(py, |counts, checkpoint| counts.merge(&other, checkpoint))
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(|| self.with(py, count::PieceCounts::len))
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
        guarded(|| list(py, &self.with(py, count::PieceCounts::columns)?))
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<ColumnArrays<'py>> {
        guarded(|| {
            let columns = self.with(py, count::PieceCounts::columns)?;
            let ends = columns.ends.iter().map(|end| end.cast_signed() as i64);
            let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
            Ok((
                PyBytes::new(py, &columns.bytes),
                array(py, offsets)?,
                array(py, columns.counts)?,
            ))
        })
    }

    fn most_common<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let most = self.with(py, |counts, checkpoint| counts.most_common(n, checkpoint))?;
            list(py, &most)
        })
    }
}

/// The bytes of all pieces, where they start and end, how often they occur.
type ColumnArrays<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u64>>,
);

/// A text to be counted.
enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Text {
    fn of(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = text.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        match shared_text(text) {
            Err(error) if error.is_instance_of::<PyTypeError>(text.py()) => {
                Err(PyTypeError::new_err(format!(
                    "expected texts as str or bytes, got {}",
                    text.get_type().qualname()?
                )))
            }
            shared => shared.map(Self::Str),
        }
    }
}

/// Rows made between two looks at whether Ctrl-C was pressed.
const STRETCH: usize = 1 << 16;

fn list<'py>(py: Python<'py>, columns: &count::Columns) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for (number, (piece, count)) in columns.iter().enumerate() {
        if number % STRETCH == 0 {
            py.check_signals()?;
        }
        rows.append((PyBytes::new(py, piece), count))?;
    }
    Ok(rows)
}

#[pyfunction]
#[pyo3(signature = (
    counts, merges, *, tie_break, min_frequency, max_token_length, initial_tokens, initial_merges, num_threads, progress
))]
#[expect(
    clippy::too_many_arguments,
    reason = "as many as in Python, where they have names"
)]
pub(super) fn train_merges(
    counts: &Bound<'_, PieceCounts>,
    merges: usize,
    tie_break: &str,
    min_frequency: u64,
    max_token_length: Option<usize>,
    initial_tokens: Option<Vec<PyBackedBytes>>,
    initial_merges: Option<Vec<(u32, u32)>>,
    num_threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<LearnedMerges> {
    guarded(|| {
        let py = counts.py();
        let tie_break = TieBreak::from_name(tie_break).ok_or_else(|| {
            let known = TieBreak::ALL.map(TieBreak::name).join(", ");
            PyValueError::new_err(format!(
                "no tie rule {tie_break:?}: expected one of {known}"
            ))
        })?;
        let options = Options {
            tie_break,
            min_frequency,
            max_token_length,
            initial: initial(initial_tokens, initial_merges)?,
            threads: num_threads,
        };
        let progress = progress.map(|progress| progress.clone().unbind());
        let raised = Mutex::new(None);
        let mut told = Instant::now();
        let mut tell = |done: usize| {
            let Some(progress) = progress.as_ref().filter(|_| told.elapsed() >= INTERVAL) else {
                return Ok(());
            };
            told = Instant::now();
            Python::attach(|py| progress.call1(py, (done, merges)))
                .map(drop)
                .map_err(|error| {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Interrupted
                })
        };
        let learned = counts.get().with(py, |counts, checkpoint| {
            merges::train(counts, merges, &options, checkpoint, &mut tell)
        });
        let raised = raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = raised {
            return Err(error);
        }
        Ok(LearnedMerges {
            merges: learned?,
            from_bytes: options.initial == Initial::default(),
        })
    })
}

/// What was learned from pieces: merge k makes the k-th token after those that training started from.
#[pyclass(name = "LearnedMerges", module = "bytemill._core", frozen)]
pub(super) struct LearnedMerges {
    pub(super) merges: Vec<Pair>,
    /// Whether training started from the 256 bytes, each being its own token, and nothing else.
    pub(super) from_bytes: bool,
}

#[pymethods]
impl LearnedMerges {
    fn __len__(&self) -> usize {
        self.merges.len()
    }

    fn pairs(&self) -> Vec<(u32, u32)> {
        let pairs = self.merges.iter();
        pairs.map(|pair| (pair.left, pair.right)).collect()
    }
}

fn initial(
    tokens: Option<Vec<PyBackedBytes>>,
    merges: Option<Vec<(u32, u32)>>,
) -> PyResult<Initial> {
    let mut initial = Initial::default();
    if let Some(tokens) = tokens {
        let number = tokens.len();
        let bytes = tokens.iter().filter_map(|token| match **token {
            [byte] => Some(byte),
            _ => None,
        });
        let bytes: Vec<u8> = bytes.collect();
        initial.bytes = <[u8; 256]>::try_from(bytes).map_err(|bytes| {
            PyValueError::new_err(format!(
                "{number} initial tokens, {} of them single bytes: expected the 256 bytes, in the order of their ids",
                bytes.len()
            ))
        })?;
    }
    let merges = merges.unwrap_or_default().into_iter();
    initial.merges = merges.map(|(left, right)| Pair::new(left, right)).collect();
    Ok(initial)
}
