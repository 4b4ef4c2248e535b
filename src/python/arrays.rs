//! Numbers → `NumPy` arrays, which own them from then on.

use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// An array of shape (values,).
///
/// # Errors
/// What importing `NumPy` raises, where that comes first here: `KeyboardInterrupt`, too.
pub(super) fn array<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    static IMPORTED: PyOnceLock<()> = PyOnceLock::new();
    IMPORTED.get_or_try_init(py, || py.import("numpy").map(drop))?;
    Ok(values.into_pyarray(py))
}

/// As [`array`], of places and numbers of things, which `Python` code expects as `int64`.
pub(super) fn offsets(
    py: Python<'_>,
    values: impl IntoIterator<Item = usize>,
) -> PyResult<Bound<'_, PyArray1<isize>>> {
    array(
        py,
        values
            .into_iter()
            .map(usize::cast_signed)
            .collect::<Vec<_>>(),
    )
}
