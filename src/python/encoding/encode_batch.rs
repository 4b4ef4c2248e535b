//! Encodes many texts to lists or to arrays, or counts their ids.

use numpy::{Element, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::CoreBpe;
use crate::encode::batch::{Batch, Integer, Ragged};
use crate::encode::special::Policy;
use crate::python::ids::arrays;
use crate::python::objects::new_list;
use crate::python::runtime::{run, threads_for};
use crate::python::strings::{batch_texts, chunks, expect_strings, text};
use crate::token::TokenId;
use crate::util::text::Text;

/// Ids put into lists between checks for signals: some milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// Ids, and the offsets where those of each text start and end.
pub(super) type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<isize>>);

/// Encodes each text to a list.
pub(super) fn lists<'py>(
    core: &CoreBpe,
    texts: &Bound<'py, PyList>,
    batch: Batch,
) -> PyResult<Bound<'py, PyList>> {
    let (py, (strings, complete)) = (texts.py(), expect_strings(texts));
    let texts = batch_texts(py, &strings, batch.threads)?;
    let Ragged { ids, offsets } = encode::<TokenId>(core, py, &texts, batch)?;
    // Reports the earliest failure: errors of preceding texts win over this `TypeError`.
    complete?;
    let mut unchecked = 0;
    let lists = offsets.windows(2).map(|text| {
        let ids = &ids[text[0]..text[1]];
        unchecked += ids.len();
        if unchecked > CHECK_INTERVAL {
            unchecked = 0;
            py.check_signals()?;
        }
        core.interned.list(py, ids)
    });
    new_list(py, lists)
}

/// Encodes all texts to one array of the integer type `dtype`.
pub(super) fn arrays<'py>(
    core: &CoreBpe,
    texts: &Bound<'py, PyList>,
    batch: Batch,
    dtype: &str,
) -> PyResult<Arrays<'py>> {
    let (py, (strings, complete)) = (texts.py(), expect_strings(texts));
    let texts = batch_texts(py, &strings, batch.threads)?;
    let arrays = arrays_of(core, py, &texts, batch, dtype)?;
    complete?;
    Ok(arrays)
}

/// As [`arrays`], for texts from any source.
pub(super) fn arrays_of<'py>(
    core: &CoreBpe,
    py: Python<'py>,
    texts: &[impl Text + Sync],
    batch: Batch,
    dtype: &str,
) -> PyResult<Arrays<'py>> {
    match dtype {
        "uint8" => arrays_as::<u8>(core, py, texts, batch),
        "uint16" => arrays_as::<u16>(core, py, texts, batch),
        "int16" => arrays_as::<i16>(core, py, texts, batch),
        "uint32" => arrays_as::<u32>(core, py, texts, batch),
        "int32" => arrays_as::<i32>(core, py, texts, batch),
        "uint64" => arrays_as::<u64>(core, py, texts, batch),
        "int64" => arrays_as::<i64>(core, py, texts, batch),
        _ => Err(PyValueError::new_err(format!(
            "no array of {dtype}: expected the name of an integer type that holds every id"
        ))),
    }
}

fn arrays_as<'py, T: Integer + Element>(
    core: &CoreBpe,
    py: Python<'py>,
    texts: &[impl Text + Sync],
    batch: Batch,
) -> PyResult<Arrays<'py>> {
    let Ragged { ids, offsets } = encode::<T>(core, py, texts, batch)?;
    let ids = arrays::array(py, ids)?.into_any();
    Ok((ids, arrays::offsets(py, offsets)?))
}

/// Encodes one text to an array.
pub(super) fn array<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    num_threads: usize,
) -> PyResult<Bound<'py, PyArray1<TokenId>>> {
    let py = text.py();
    let batch = Batch::new(Policy::ORDINARY, num_threads);
    let divider = core.encoder.divider();
    let chunks = divider.map(|splitter| chunks(text, splitter, num_threads));
    let Ragged { ids, .. } = match chunks.transpose()?.flatten() {
        Some(chunks) => encode(core, py, &chunks, batch)?,
        None => encode(core, py, &[self::text(text)?], batch)?,
    };
    arrays::array(py, ids)
}

/// Counts the ids of each text.
pub(super) fn counts<'py>(
    core: &CoreBpe,
    texts: &Bound<'py, PyList>,
    policy: &Policy,
    num_threads: usize,
) -> PyResult<Bound<'py, PyArray1<isize>>> {
    let (py, (strings, complete)) = (texts.py(), expect_strings(texts));
    let texts = batch_texts(py, &strings, num_threads)?;
    let size = texts.iter().map(Text::len).sum();
    let threads = threads_for(size, num_threads);
    let offsets = run(py, size, || {
        core.encoder.count_batch(&texts, policy, threads)
    })?;
    complete?;
    arrays::offsets(py, offsets.windows(2).map(|text| text[1] - text[0]))
}

/// Encodes the texts with the GIL released.
fn encode<T: Integer>(
    core: &CoreBpe,
    py: Python<'_>,
    texts: &[impl Text + Sync],
    batch: Batch,
) -> PyResult<Ragged<T>> {
    let size = texts.iter().map(Text::len).sum();
    let batch = Batch {
        threads: threads_for(size, batch.threads),
        ..batch
    };
    run(py, size, || core.encoder.encode_batch(texts, &batch))
}
