//! Learns merges from counted pieces.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::counting::PieceCounts;
use super::error::guarded;
use crate::checkpoint::Interrupted;
use crate::token::Pair;
use crate::train::{Initial, Learned, Options, TieBreak, learning};

/// Interval between calls of the progress callback.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

#[pyfunction]
#[pyo3(signature = (
    counts, merges, *, tie_break, min_frequency, max_token_length, initial_tokens, initial_merges, num_threads, progress
))]
#[expect(
    clippy::too_many_arguments,
    reason = "those of the Python function, which names them"
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
        let mut report = Report::new(progress);
        let learned = counts.get().with(py, |counts, checkpoint| {
            let mut report = |done| report.call(done, merges);
            learning::train(counts, merges, &options, checkpoint, &mut report)
        });
        report.raised()?;
        Ok(LearnedMerges {
            learned: learned?,
            from_bytes: options.initial == Initial::default(),
        })
    })
}

/// Calls a function of Python with the progress, from time to time.
pub(super) struct Report {
    call: Option<Py<PyAny>>,
    /// The exception that the function raised.
    raised: Option<PyErr>,
    reported: Instant,
}

impl Report {
    pub(super) fn new(call: Option<&Bound<'_, PyAny>>) -> Self {
        Self {
            call: call.map(|call| call.clone().unbind()),
            raised: None,
            reported: Instant::now(),
        }
    }

    /// Calls the function with how many merges of those wanted are learned, unless it was called just before.
    pub(super) fn call(&mut self, done: usize, wanted: usize) -> Result<(), Interrupted> {
        let is_due = self.reported.elapsed() >= PROGRESS_INTERVAL;
        let Some(call) = self.call.as_ref().filter(|_| is_due) else {
            return Ok(());
        };
        self.reported = Instant::now();
        Python::attach(|py| call.call1(py, (done, wanted)))
            .map(drop)
            .map_err(|error| {
                self.raised = Some(error);
                Interrupted
            })
    }

    /// Returns what the function raised as an error.
    pub(super) fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}

/// Learned merges: merge k makes the k-th token after those that training started from.
#[pyclass(name = "LearnedMerges", module = "bytemill._core", frozen)]
pub(super) struct LearnedMerges {
    pub(super) learned: Learned,
    /// True if training started from the 256 byte tokens and nothing else.
    pub(super) from_bytes: bool,
}

#[pymethods]
impl LearnedMerges {
    fn __len__(&self) -> usize {
        self.learned.len()
    }

    fn pairs(&self) -> Vec<(u32, u32)> {
        let pairs = self.learned.pairs.iter();
        pairs.map(|pair| (pair.left, pair.right)).collect()
    }

    fn counts(&self) -> Vec<u64> {
        self.learned.counts.clone()
    }
}

fn initial(
    tokens: Option<Vec<PyBackedBytes>>,
    merges: Option<Vec<(u32, u32)>>,
) -> PyResult<Initial> {
    let mut initial = Initial::default();
    if let Some(tokens) = tokens {
        let count = tokens.len();
        let bytes = tokens.iter().filter_map(|token| match **token {
            [byte] => Some(byte),
            _ => None,
        });
        let bytes: Vec<u8> = bytes.collect();
        initial.bytes = <[u8; 256]>::try_from(bytes).map_err(|bytes| {
            PyValueError::new_err(format!(
                "{count} initial tokens, {} of them single bytes: expected the 256 bytes, in the order of their ids",
                bytes.len()
            ))
        })?;
    }
    let merges = merges.unwrap_or_default().into_iter();
    initial.merges = merges.map(|(left, right)| Pair::new(left, right)).collect();
    Ok(initial)
}
