//! Counts the words of sentences, and learns pieces as `SentencePiece` does.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use super::counting::{Text, texts};
use super::error::guarded;
use super::runtime::{run, run_alongside};
use super::training::Report;
use crate::checkpoint::Checkpoint;
use crate::normalize::{Flags, Normalizer};
use crate::train::sentencepiece::{
    Coverage, Learner, PieceRules, Reading, Sampling, SentenceError, SentenceReader, WordRules,
};
use crate::util::memory;

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
    words: WordRules,
}

impl SentenceCounts {
    fn lock(&self) -> MutexGuard<'_, SentenceReader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl SentenceCounts {
    #[new]
    #[pyo3(signature = (
        *, charsmap, add_dummy_prefix, remove_extra_whitespaces, treat_whitespace_as_suffix, split_by_whitespace,
        allow_whitespace_only_pieces, has_counts, max_sentence_length, protected, delimiter, sample_size, seed
    ))]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "those of the Python function, which names them"
    )]
    fn new(
        charsmap: &[u8],
        add_dummy_prefix: bool,
        remove_extra_whitespaces: bool,
        treat_whitespace_as_suffix: bool,
        split_by_whitespace: bool,
        allow_whitespace_only_pieces: bool,
        has_counts: bool,
        max_sentence_length: usize,
        protected: Vec<String>,
        delimiter: String,
        sample_size: Option<usize>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        guarded(|| {
            let flags = Flags {
                add_dummy_prefix,
                remove_extra_whitespaces,
                escape_whitespaces: true,
                treat_whitespace_as_suffix,
            };
            let normalizer = Normalizer::new(charsmap, flags, &[])
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            let words = WordRules {
                split_by_whitespace,
                treat_whitespace_as_suffix,
                allow_whitespace_only_pieces,
            };
            let sampling = sample_size.map(|size| match seed {
                Some(seed) => Sampling::Random { size, seed },
                None => Sampling::First(size),
            });
            let reading = Reading {
                has_counts,
                max_sentence_length,
                words,
                protected,
                delimiter,
                sampling,
            };
            let reader = SentenceReader::new(reading, normalizer)?;
            Ok(Self {
                reader: Mutex::new(reader),
                words,
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
                let read = |checkpoint: &dyn Checkpoint| {
                    let texts = memory::collect(texts.iter().map(Text::as_bytes));
                    self.lock().read(&texts, lines, num_threads, checkpoint)
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

    #[pyo3(signature = (
        most, *, coverage, required, max_length, split_by_unicode_script, split_by_number, split_digits, num_threads,
        progress
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "those of the Python function, which names them"
    )]
    fn learn(
        &self,
        py: Python<'_>,
        most: usize,
        coverage: Option<f32>,
        required: String,
        max_length: usize,
        split_by_unicode_script: bool,
        split_by_number: bool,
        split_digits: bool,
        num_threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(usize, Option<Vec<String>>)> {
        guarded(|| {
            let rules = PieceRules {
                max_length,
                split_by_whitespace: self.words.split_by_whitespace,
                treat_whitespace_as_suffix: self.words.treat_whitespace_as_suffix,
                allow_whitespace_only_pieces: self.words.allow_whitespace_only_pieces,
                split_by_unicode_script,
                split_by_number,
                split_digits,
            };
            let coverage = match coverage {
                Some(share) => Coverage::Share { share, required },
                None => Coverage::Balanced,
            };
            let mut report = Report::new(progress);
            let learned = run(py, usize::MAX, |checkpoint| {
                let mut reader = self.lock();
                let words = reader.finish(num_threads, checkpoint)?;
                let learner = Learner::new(words, &rules, &coverage, num_threads, checkpoint)?;
                let required = learner.required();
                let wanted = most.saturating_sub(required);
                let pieces = (required <= most).then(|| {
                    let mut report = |done| report.call(done, wanted);
                    learner.learn(most, num_threads, checkpoint, &mut report)
                });
                Ok::<_, SentenceError>((required, pieces.transpose()?))
            });
            report.raised()?;
            learned
        })
    }
}
