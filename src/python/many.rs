//! Many texts → lists or arrays of ids, or their numbers.

use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::core_bpe::CoreBpe;
use super::run::{run, threads_for};
use super::text::{text, texts};
use crate::checkpoint::Checkpoint;
use crate::encode::ragged::{Batch, Integer, Shares};
use crate::encode::special::Policy;
use crate::error::EncodeError;
use crate::token::TokenId;

/// Python is asked for signals after making lists of so many ids: some milliseconds.
const IDS_PER_CHECK: usize = 1 << 20;

/// A list of ids for each text.
pub(super) fn lists<'py>(
    core: &CoreBpe,
    texts: &Bound<'py, PyList>,
    batch: Batch,
) -> PyResult<Bound<'py, PyList>> {
    let py = texts.py();
    let (ids, offsets) = encode(core, texts, batch, |shares, checkpoint| {
        let offsets = shares.offsets();
        Ok((shares.into_ids(checkpoint)?, offsets))
    })?;
    let mut unchecked = 0;
    let lists = offsets.windows(2).map(|text| {
        let ids = &ids[text[0]..text[1]];
        unchecked += ids.len();
        if unchecked > IDS_PER_CHECK {
            unchecked = 0;
            py.check_signals()?;
        }
        core.interned.list(py, ids)
    });
    PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
}

/// The ids of all texts in an array of the `NumPy` type named, and where the ids of each text start and end.
pub(super) fn arrays<'py>(
    core: &CoreBpe,
    texts: &Bound<'py, PyList>,
    batch: Batch,
    dtype: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<isize>>)> {
    let shares = encode(core, texts, batch, |shares, _| Ok(shares))?;
    in_arrays(texts.py(), shares, dtype)
}

/// The ids of a batch and their offsets as arrays.
pub(super) fn in_arrays<'py>(
    py: Python<'py>,
    shares: Shares,
    dtype: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<isize>>)> {
    let offsets = shares.offsets().into_iter().map(usize::cast_signed);
    let offsets = offsets.collect::<Vec<_>>().into_pyarray(py);
    let ids = match dtype {
        "uint8" => gathered::<u8>(py, shares),
        "uint16" => gathered::<u16>(py, shares),
        "int16" => gathered::<i16>(py, shares),
        "uint32" => whole(py, shares),
        "int32" => gathered::<i32>(py, shares),
        "uint64" => gathered::<u64>(py, shares),
        "int64" => gathered::<i64>(py, shares),
        _ => Err(PyValueError::new_err(format!(
            "no array of {dtype}: expected the name of an integer type that holds every id"
        ))),
    }?;
    Ok((ids, offsets))
}

/// The ids of one text in an array.
pub(super) fn array<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    num_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, text) = (text.py(), self::text(text)?);
    let batch = Batch::new(Policy::ORDINARY, threads_for(text.len(), num_threads));
    let shares = run(py, text.len(), |checkpoint| {
        core.encoder.encode_batch(&[text], &batch, checkpoint)
    })?;
    whole(py, shares)
}

/// How many ids each text becomes.
pub(super) fn counts<'py>(
    core: &CoreBpe,
    texts: &Bound<'py, PyList>,
    num_threads: usize,
) -> PyResult<Bound<'py, PyArray1<isize>>> {
    let (py, (texts, complete)) = (texts.py(), self::texts(texts));
    let size = texts.iter().map(|text| text.len()).sum();
    let threads = threads_for(size, num_threads);
    let shares = run(py, size, |checkpoint| {
        core.encoder.count_batch(&texts, threads, checkpoint)
    })?;
    complete?;
    let offsets = shares.offsets();
    let counts = offsets.windows(2).map(|text| text[1] - text[0]);
    Ok(counts
        .map(usize::cast_signed)
        .collect::<Vec<_>>()
        .into_pyarray(py))
}

/// Encodes the texts and goes on with `then` while other Python threads run.
fn encode<R: Send>(
    core: &CoreBpe,
    texts: &Bound<'_, PyList>,
    batch: Batch,
    then: impl FnOnce(Shares, &dyn Checkpoint) -> Result<R, EncodeError> + Send,
) -> PyResult<R> {
    let (py, (texts, complete)) = (texts.py(), self::texts(texts));
    let size = texts.iter().map(|text| text.len()).sum();
    let batch = Batch {
        threads: threads_for(size, batch.threads),
        ..batch
    };
    let result = run(py, size, |checkpoint| {
        then(
            core.encoder.encode_batch(&texts, &batch, checkpoint)?,
            checkpoint,
        )
    })?;
    // Had a text before the one that is no text failed, its error would have come first.
    complete?;
    Ok(result)
}

/// The ids as they are; as they are made, if they are in one list.
fn whole(py: Python<'_>, shares: Shares) -> PyResult<Bound<'_, PyAny>> {
    match shares.into_single() {
        Ok(mut ids) => {
            // They may live long; giving back what they do not need copies nothing.
            ids.shrink_to_fit();
            Ok(ids.into_pyarray(py).into_any())
        }
        Err(shares) => gathered::<TokenId>(py, shares),
    }
}

fn gathered<T: Integer + Element>(py: Python<'_>, shares: Shares) -> PyResult<Bound<'_, PyAny>> {
    // From NumPy, which asks for large pages; they are touched by the threads that fill them.
    let array = PyArray1::<T>::zeros(py, shares.count(), false);
    let mut writer = array.try_readwrite()?;
    let place = writer.as_slice_mut()?;
    let size = size_of_val(place);
    run(py, size, |checkpoint| shares.gather(place, checkpoint))?;
    drop(writer);
    Ok(array.into_any())
}
