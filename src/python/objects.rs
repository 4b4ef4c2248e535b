//! Objects of the interpreter that may be large. `PyO3`'s own functions panic where there is no memory for them.
#![expect(
    unsafe_code,
    reason = "a list is created with all its items empty, and filled"
)]

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::abi;

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
        let index = length(filled)?;
        // SAFETY: `list` is new, and has `count` empty items, of which `filled` are not empty any more.
        unsafe { abi::set_item(&list, index, item?.into_any()) };
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
