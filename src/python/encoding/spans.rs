//! Encodes texts that lie one after the other in one buffer, without a Python object for each.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::CoreBpe;
use super::encode_batch::{self, Arrays};
use crate::encode::batch::Batch;
use crate::python::buffer::Bytes;
use crate::util::memory;
use crate::util::text::RawText;

/// Encodes the texts `data[offsets[i]..offsets[i + 1]]` to one array of the integer type `dtype`.
pub(super) fn arrays<'py>(
    core: &CoreBpe,
    data: &Bound<'py, PyAny>,
    offsets: &Bound<'py, PyAny>,
    batch: Batch,
    dtype: &str,
) -> PyResult<Arrays<'py>> {
    let py = data.py();
    let data = Bytes::of(data)?;
    let spans = spans(&data, offsets)?;
    encode_batch::arrays_of(core, py, &spans, batch, dtype)
}

/// Returns the texts between each offset and the next.
fn spans<'d>(data: &'d [u8], offsets: &Bound<'_, PyAny>) -> PyResult<Vec<RawText<'d>>> {
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
