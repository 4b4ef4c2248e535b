//! Learns merges from counted pieces.

use std::sync::{Mutex, PoisonError};
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
        let progress = progress.map(|progress| progress.clone().unbind());
        let raised = Mutex::new(None);
        let mut reported = Instant::now();
        let mut report = |done: usize| {
            let Some(progress) = progress
                .as_ref()
                .filter(|_| reported.elapsed() >= PROGRESS_INTERVAL)
            else {
                return Ok(());
            };
            reported = Instant::now();
            Python::attach(|py| progress.call1(py, (done, merges)))
                .map(drop)
                .map_err(|error| {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Interrupted
                })
        };
        let learned = counts.get().with(py, |counts, checkpoint| {
            learning::train(counts, merges, &options, checkpoint, &mut report)
        });
        let raised = raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = raised {
            return Err(error);
        }
        Ok(LearnedMerges {
            learned: learned?,
            from_bytes: options.initial == Initial::default(),
        })
    })
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
