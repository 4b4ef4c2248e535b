//! Learns merges from counted pieces.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyIterator};

use super::counting::{PieceCounts, Text, texts};
use super::error::guarded;
use super::runtime::{attached, run, run_alongside};
use super::sentencepiece::spec_of;
use crate::checkpoint::Interrupted;
use crate::normalize::{Flags, Normalizer};
use crate::sentencepiece::{NORMALIZER, Spec, TRAINER};
use crate::token::Pair;
use crate::train::sentencepiece::{
    Coverage, Learner, PieceRules, Reading, Sampling, SentenceError, SentenceReader, WordRules,
};
use crate::train::{Initial, Learned, Options, TieBreak, learning};
use crate::util::memory;

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
pub(super) fn learn_merges(
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
        let learned = counts.get().with(py, |counts| {
            let mut report = |done| report.call(done, merges);
            learning::learn_merges(counts, merges, &options, &mut report)
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
        attached(|py| call.call1(py, (done, wanted)))
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

// Counts the words of sentences, and learns pieces as `SentencePiece` does.

impl From<SentenceError> for PyErr {
    fn from(error: SentenceError) -> Self {
        match error {
            SentenceError::Train(error) => error.into(),
            other => PyValueError::new_err(other.to_string()),
        }
    }
}

/// Sentences as counted words.
#[pyclass(name = "SentenceCounts", module = "bytemill._core", frozen)]
pub(super) struct SentenceCounts {
    reader: Mutex<SentenceReader>,
    /// The options of training.
    trainer: Spec,
}

impl SentenceCounts {
    fn lock(&self) -> MutexGuard<'_, SentenceReader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of an option.
fn text_of(spec: &Spec, name: &str) -> PyResult<String> {
    Ok(String::from_utf8(spec.bytes(name))?)
}

/// The number of an option; one that is negative counts as 0.
fn size_of(spec: &Spec, name: &str) -> usize {
    usize::try_from(spec.integer(name)).unwrap_or(0)
}

#[pymethods]
impl SentenceCounts {
    #[new]
    #[pyo3(signature = (trainer, normalizer, *, protected, seed, is_measured))]
    fn new(
        trainer: &Bound<'_, PyDict>,
        normalizer: &Bound<'_, PyDict>,
        protected: Vec<String>,
        seed: u64,
        is_measured: bool,
    ) -> PyResult<Self> {
        guarded(|| {
            let trainer = spec_of(&TRAINER, trainer)?;
            let normalizer = spec_of(&NORMALIZER, normalizer)?;
            let flags = Flags {
                add_dummy_prefix: normalizer.flag("add_dummy_prefix"),
                remove_extra_whitespaces: normalizer.flag("remove_extra_whitespaces"),
                escape_whitespaces: true,
                treat_whitespace_as_suffix: trainer.flag("treat_whitespace_as_suffix"),
            };
            let charsmap = normalizer.bytes("precompiled_charsmap");
            let normalizer = Normalizer::new(&charsmap, flags, &[])
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            let size = size_of(&trainer, "input_sentence_size");
            let sampling = (size > 0).then(|| {
                if trainer.flag("shuffle_input_sentence") {
                    Sampling::Random { size, seed }
                } else {
                    Sampling::First(size)
                }
            });
            let reading = Reading {
                has_counts: trainer.bytes("input_format") == b"tsv",
                max_sentence_length: if is_measured {
                    usize::MAX
                } else {
                    size_of(&trainer, "max_sentence_length")
                },
                words: WordRules {
                    split_by_whitespace: trainer.flag("split_by_whitespace"),
                    treat_whitespace_as_suffix: trainer.flag("treat_whitespace_as_suffix"),
                    allow_whitespace_only_pieces: trainer.flag("allow_whitespace_only_pieces"),
                },
                protected,
                delimiter: text_of(&trainer, "pretokenization_delimiter")?,
                sampling,
            };
            Ok(Self {
                reader: Mutex::new(SentenceReader::new(reading, normalizer)?),
                trainer,
            })
        })
    }

    #[pyo3(signature = (batches, *, lines, num_threads))]
    fn add(
        &self,
        batches: &Bound<'_, PyIterator>,
        lines: bool,
        num_threads: usize,
    ) -> PyResult<()> {
        guarded(|| {
            let py = batches.py();
            let mut batches = batches.into_iter().map(|batch| texts(&batch?, num_threads));
            let mut batch = batches.next().transpose()?;
            while let Some(texts) = batch {
                let read = || {
                    let texts = memory::collect(texts.iter().map(Text::as_bytes));
                    self.lock().read(&texts, lines, num_threads)
                };
                if num_threads <= 1 {
                    run(py, usize::MAX, read)?;
                    batch = batches.next().transpose()?;
                } else {
                    batch = run_alongside(py, read, || batches.next().transpose())?;
                }
            }
            Ok(())
        })
    }

    #[getter]
    fn is_complete(&self, py: Python<'_>) -> bool {
        py.detach(|| self.lock().is_complete())
    }

    #[getter]
    fn accepted(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().accepted)
    }

    #[getter]
    fn too_long(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().too_long)
    }

    #[pyo3(signature = (most, *, num_threads, progress))]
    fn learn(
        &self,
        py: Python<'_>,
        most: usize,
        num_threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(usize, Option<Vec<String>>)> {
        guarded(|| {
            let trainer = &self.trainer;
            let rules = PieceRules {
                max_length: size_of(trainer, "max_sentencepiece_length"),
                split_by_whitespace: trainer.flag("split_by_whitespace"),
                treat_whitespace_as_suffix: trainer.flag("treat_whitespace_as_suffix"),
                allow_whitespace_only_pieces: trainer.flag("allow_whitespace_only_pieces"),
                split_by_unicode_script: trainer.flag("split_by_unicode_script"),
                split_by_number: trainer.flag("split_by_number"),
                split_digits: trainer.flag("split_digits"),
            };
            let coverage = if trainer.flag("auto_character_coverage") {
                Coverage::Balanced
            } else {
                Coverage::Share {
                    share: trainer.float("character_coverage"),
                    required: text_of(trainer, "required_chars")?,
                }
            };
            let mut report = Report::new(progress);
            let learned = run(py, usize::MAX, || {
                let mut reader = self.lock();
                let words = reader.finish(num_threads)?;
                let learner = Learner::new(words, &rules, &coverage, num_threads)?;
                let required = learner.required();
                let wanted = most.saturating_sub(required);
                let pieces = (required <= most).then(|| {
                    let mut report = |done| report.call(done, wanted);
                    learner.learn(most, num_threads, &mut report)
                });
                Ok::<_, SentenceError>((required, pieces.transpose()?))
            });
            report.raised()?;
            learned
        })
    }
}
