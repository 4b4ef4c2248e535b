//! Objects of the interpreter that may be large. `PyO3`'s own functions panic where there is no memory for them.
#![expect(unsafe_code, reason = "a list is filled as the interpreter does it")]

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Creates a `bytes`.
///
/// # Errors
/// `MemoryError`.
pub(super) fn new_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let length = length(bytes.len())?;
    // SAFETY: attached, as `py` shows. The interpreter copies `length` bytes, which are borrowed, and returns a new
    // reference to a `bytes`, or null with an exception set.
    unsafe {
        let object = ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), length);
        Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked())
    }
}

/// Creates a list.
///
/// # Errors
/// `MemoryError`; that of the first item that fails.
pub(super) fn new_list<'py, T>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = PyResult<Bound<'py, T>>>,
) -> PyResult<Bound<'py, PyList>> {
    let count = items.len();
    // SAFETY: attached, as `py` shows; the result is a new reference to a list, or null with an exception set.
    let list: Bound<'py, PyList> = unsafe {
        let list = ffi::PyList_New(length(count)?);
        Bound::from_owned_ptr_or_err(py, list)?.cast_into_unchecked()
    };
    let mut filled = 0;
    for item in items.take(count) {
        // SAFETY: `list` has `count` empty items, of which `filled` are not empty any more; the reference to the item is
        // transferred to the list.
        unsafe { ffi::PyList_SET_ITEM(list.as_ptr(), length(filled)?, item?.into_ptr()) };
        filled += 1;
    }
    assert_eq!(filled, count, "an iterator has as many items as it says");
    Ok(list)
}

fn length(length: usize) -> PyResult<ffi::Py_ssize_t> {
    length
        .try_into()
        .map_err(|_| PyOverflowError::new_err("more items than an object can hold"))
}
