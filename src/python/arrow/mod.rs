//! Columns of Apache Arrow: text in, lists of ids out, without copying text and without a Python object for
//! each value.
//!
//! ```text
//! input      capsules of a Python object -> chunks of memory -> texts
//! encode     as a batch of texts; nulls are empty texts
//! output     ids, offsets and validity -> capsules, as often as requested
//! ```
//!
//! All chunks are read before the first is encoded, and become one array: errors are raised by the call that
//! takes the column, the threads share one batch, and the result can be read more than once. Callers whose
//! column does not fit into memory pass a part at a time.
//!
//! The three C structs of the interface are declared here (`interface`), not taken from the `arrow` or
//! `pyo3-arrow` crates: these add 14 crates and 48 s of CPU time to a build, and still leave the capsules,
//! and streams of columns that are no tables, to their user. Hence the `unsafe` code: foreign memory comes as
//! pointers, and all that is known about it is what the interface promises. What can be checked is checked.
//! Among the promises is that the memory never changes: a producer that maps a file must see to it that no
//! process writes it.

mod input;
mod interface;
mod output;
mod values;

use pyo3::prelude::*;

use super::encoding::CoreBpe;
use super::runtime::{run, size_of, threads_for};
use crate::encode::batch::Batch;
use crate::util::text::RawText;
use input::Column;
pub(super) use output::EncodedColumn;
use output::Lists;

/// Runs `work` on the texts of a column with the GIL released. Nulls are empty texts.
pub(super) fn with_texts<R: Send>(
    column: &Bound<'_, PyAny>,
    work: impl FnOnce(&[RawText<'_>]) -> PyResult<R> + Send,
) -> PyResult<R> {
    let source = input::Source::of(column)?;
    run(column.py(), usize::MAX, || {
        read_texts(source, |texts| work(texts))
    })
}

/// As [`with_texts`], for a few texts: the GIL is kept.
pub(super) fn with_few_texts<R>(
    column: &Bound<'_, PyAny>,
    work: impl FnOnce(&[RawText<'_>]) -> PyResult<R>,
) -> PyResult<R> {
    read_texts(input::Source::of(column)?, work)
}

fn read_texts<R>(
    source: input::Source,
    work: impl FnOnce(&[RawText<'_>]) -> PyResult<R>,
) -> PyResult<R> {
    let column = Column::read(source)?;
    let (texts, _) = column.texts()?;
    work(&texts)
}

/// Encodes each text of a column.
pub(super) fn encode(
    core: &CoreBpe,
    column: &Bound<'_, PyAny>,
    batch: Batch,
) -> PyResult<EncodedColumn> {
    let py = column.py();
    let source = input::Source::of(column)?;
    let lists = run(py, usize::MAX, || -> PyResult<Lists> {
        let column = Column::read(source)?;
        let (texts, validity) = column.texts()?;
        let size = size_of(&texts);
        let batch = Batch {
            threads: threads_for(size, batch.threads),
            ..batch
        };
        let ragged = core.encoder.encode_batch(&texts, &batch)?;
        Ok(Lists::new(&ragged.offsets, ragged.ids, validity))
    })?;
    Ok(EncodedColumn::new(lists))
}
