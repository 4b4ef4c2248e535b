//! Many texts to ids: lists, arrays, columns, counts; also texts that lie one after the other in one buffer, without a
//! Python object for each.

use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::CoreBpe;
use super::special::Tokens;
use crate::encode::batch::{Batch, Integer, Ragged};
use crate::encode::special::Policy;
use crate::python::arrow::{self, EncodedColumn};
use crate::python::buffer::Bytes;
use crate::python::error::guarded;
use crate::python::ids::arrays;
use crate::python::objects::new_list;
use crate::python::runtime::{run, size_of, threads_for};
use crate::python::strings::{batch_texts, expect_strings};
use crate::token::TokenId;
use crate::util::memory;
use crate::util::text::{RawText, Text};

/// Ids put into lists between checks for signals: some milliseconds.
const CHECK_INTERVAL: usize = 1 << 20;

/// Ids, and the offsets where those of each text start and end.
type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<isize>>);

#[pymethods]
impl CoreBpe {
    #[pyo3(signature = (texts, num_threads, /))]
    fn encode_ordinary_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| self.lists(texts, Batch::new(Policy::ORDINARY, num_threads)))
    }

    #[pyo3(signature = (texts, allowed_special, disallowed_special, num_threads, /))]
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            self.lists(texts, Batch::new(policy, num_threads))
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "those of the Python method, which names them"
    )]
    #[pyo3(signature = (texts, allowed_special, disallowed_special, prepend, append, dtype, num_threads, /))]
    fn encode_batch_to_numpy<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        prepend: Vec<TokenId>,
        append: Vec<TokenId>,
        dtype: &str,
        num_threads: usize,
    ) -> PyResult<Arrays<'py>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let batch = Batch::new(policy, num_threads).between(prepend, append);
            let (py, (strings, complete)) = (texts.py(), expect_strings(texts));
            let texts = batch_texts(py, &strings, batch.threads)?;
            let arrays = self.arrays(py, &texts, batch, dtype)?;
            complete?;
            Ok(arrays)
        })
    }

    /// Encodes the texts `data[offsets[i]..offsets[i + 1]]` to one array of the integer type `dtype`.
    #[expect(
        clippy::too_many_arguments,
        reason = "those of the Python method, which names them"
    )]
    #[pyo3(signature = (data, offsets, allowed_special, disallowed_special, prepend, append, dtype, num_threads, /))]
    fn encode_spans_to_numpy<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        prepend: Vec<TokenId>,
        append: Vec<TokenId>,
        dtype: &str,
        num_threads: usize,
    ) -> PyResult<Arrays<'py>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let batch = Batch::new(policy, num_threads).between(prepend, append);
            let (py, data) = (data.py(), Bytes::of(data)?);
            self.arrays(py, &spans(&data, offsets)?, batch, dtype)
        })
    }

    #[pyo3(signature = (column, allowed_special, disallowed_special, num_threads, /))]
    fn encode_arrow(
        &self,
        column: &Bound<'_, PyAny>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        num_threads: usize,
    ) -> PyResult<EncodedColumn> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            arrow::encode(self, column, Batch::new(policy, num_threads))
        })
    }

    #[pyo3(signature = (texts, allowed_special, disallowed_special, num_threads, /))]
    fn count_batch<'py>(
        &self,
        texts: &Bound<'py, PyList>,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<isize>>> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let (py, (strings, complete)) = (texts.py(), expect_strings(texts));
            let texts = batch_texts(py, &strings, num_threads)?;
            let size = size_of(&texts);
            let threads = threads_for(size, num_threads);
            let offsets = run(py, size, || {
                self.encoder.count_batch(&texts, &policy, threads)
            })?;
            complete?;
            arrays::offsets(py, offsets.windows(2).map(|text| text[1] - text[0]))
        })
    }
}

impl CoreBpe {
    /// Encodes each text to a list.
    fn lists<'py>(&self, texts: &Bound<'py, PyList>, batch: Batch) -> PyResult<Bound<'py, PyList>> {
        let (py, (strings, complete)) = (texts.py(), expect_strings(texts));
        let texts = batch_texts(py, &strings, batch.threads)?;
        let Ragged { ids, offsets } = self.ragged::<TokenId>(py, &texts, batch)?;
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
            self.interned.list(py, ids)
        });
        new_list(py, lists)
    }

    /// Encodes all texts to one array of the integer type `dtype`.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        texts: &[impl Text + Sync],
        batch: Batch,
        dtype: &str,
    ) -> PyResult<Arrays<'py>> {
        match dtype {
            "uint8" => self.arrays_of::<u8>(py, texts, batch),
            "int8" => self.arrays_of::<i8>(py, texts, batch),
            "uint16" => self.arrays_of::<u16>(py, texts, batch),
            "int16" => self.arrays_of::<i16>(py, texts, batch),
            "uint32" => self.arrays_of::<u32>(py, texts, batch),
            "int32" => self.arrays_of::<i32>(py, texts, batch),
            "uint64" => self.arrays_of::<u64>(py, texts, batch),
            "int64" => self.arrays_of::<i64>(py, texts, batch),
            _ => Err(PyValueError::new_err(format!(
                "no array of {dtype}: expected the name of an integer type that holds every id"
            ))),
        }
    }

    fn arrays_of<'py, T: Integer + Element>(
        &self,
        py: Python<'py>,
        texts: &[impl Text + Sync],
        batch: Batch,
    ) -> PyResult<Arrays<'py>> {
        let Ragged { ids, offsets } = self.ragged::<T>(py, texts, batch)?;
        let ids = arrays::array(py, ids)?.into_any();
        Ok((ids, arrays::offsets(py, offsets)?))
    }

    /// Encodes the texts with the GIL released.
    pub(super) fn ragged<T: Integer>(
        &self,
        py: Python<'_>,
        texts: &[impl Text + Sync],
        batch: Batch,
    ) -> PyResult<Ragged<T>> {
        let around = batch.prepend.len() + batch.append.len();
        let size = size_of(texts) + texts.len() * around;
        let batch = Batch {
            threads: threads_for(size, batch.threads),
            ..batch
        };
        run(py, size, || self.encoder.encode_batch(texts, &batch))
    }
}

/// Returns the texts between each offset and the next.
fn spans<'d>(data: &'d [u8], offsets: &Bound<'_, PyAny>) -> PyResult<Vec<RawText<'d>>> {
    arrays::load_numpy(offsets.py())?;
    let Ok(offsets) = offsets.extract::<PyReadonlyArray1<'_, i64>>() else {
        return Err(PyTypeError::new_err(format!(
            "expected offsets as a one-dimensional NumPy array of int64, got {}",
            description(offsets)?
        )));
    };
    let offsets = offsets.as_array();
    if offsets.is_empty() {
        return Err(PyValueError::new_err(
            "expected offsets of shape (texts + 1,), so at least one, got none",
        ));
    }
    let mut spans = memory::try_vec_with_capacity(offsets.len() - 1)?;
    let mut start = None;
    for (index, &offset) in offsets.iter().enumerate() {
        let end = usize::try_from(offset).ok();
        let end = end.filter(|&end| start.is_none_or(|start| start <= end) && end <= data.len());
        let Some(end) = end else {
            let least = start.unwrap_or(0);
            let most = data.len();
            return Err(PyValueError::new_err(format!(
                "offsets[{index}] is {offset}: expected {least} to {most}, for offsets must not decrease and the data \
                 has {most} bytes"
            )));
        };
        if let Some(start) = start {
            spans.push(RawText(&data[start..end]));
        }
        start = Some(end);
    }
    Ok(spans)
}

/// Describes an argument that is no array of offsets: its type; of an array also dtype and shape.
fn description(offsets: &Bound<'_, PyAny>) -> PyResult<String> {
    let name = offsets.get_type().qualname()?;
    let attribute = |name: &str| offsets.getattr(name).and_then(|value| value.str());
    Ok(match (attribute("dtype"), attribute("shape")) {
        (Ok(dtype), Ok(shape)) => format!("{name} of {dtype} and shape {shape}"),
        _ => name.to_string(),
    })
}
