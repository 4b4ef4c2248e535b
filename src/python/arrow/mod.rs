//! Columns of Apache Arrow: text in, lists of ids out, without a copy of the text or a Python object for a value.
//!
//! ```text
//! input      a Python object's capsules → chunks of memory → spans
//! encode     as a batch of texts; nulls are empty ones
//! output     ids, offsets and validity → capsules, as often as somebody asks
//! ```
//!
//! All chunks are read before the first is encoded, and all become one array: errors are raised where the column is
//! handed over, the threads share one batch, and what comes out can be read more than once. Who has more than fits into
//! memory hands over a part at a time.
//!
//! The interface itself, three structs of C, is written down here (`interface`) and not taken from the `arrow` crates:
//! these need 14 more crates and 48 s of a processor to compile, and still leave the capsules, and streams of columns
//! that are no tables, to their user. It is also why there is `unsafe` code here: memory of others comes as pointers, and the
//! interface's promises are all that is known about it. What can be checked is checked.

mod input;
mod interface;
mod output;
mod values;

use pyo3::prelude::*;

use super::core_bpe::CoreBpe;
use super::run::{run, threads_for};
use crate::encode::batch::Batch;
use input::Column;
pub(super) use output::EncodedColumn;
use output::Lists;

/// Encodes each text of a column.
pub(super) fn encode(
    core: &CoreBpe,
    column: &Bound<'_, PyAny>,
    batch: Batch,
) -> PyResult<EncodedColumn> {
    let py = column.py();
    let source = input::Source::of(column)?;
    let lists = run(py, usize::MAX, |checkpoint| -> PyResult<Lists> {
        let column = Column::read(source, checkpoint)?;
        let (texts, validity) = column.texts(checkpoint)?;
        let size = texts.iter().map(|text| text.0.len()).sum();
        let batch = Batch {
            threads: threads_for(size, batch.threads),
            ..batch
        };
        let ragged = core.encoder.encode_batch(&texts, &batch, checkpoint)?;
        Ok(Lists::new(&ragged.offsets, ragged.ids, validity))
    })?;
    Ok(EncodedColumn::new(lists))
}
