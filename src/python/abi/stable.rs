//! Through functions of the stable ABI, which copy the characters of strings.
#![expect(
    unsafe_code,
    reason = "PyO3 has no safe way to copy characters, surrogates among them, nor to borrow an item and store one"
)]

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString};

use crate::python::runtime::run;
use crate::python::strings::Characters;
use crate::util::memory;

/// Returns `None`: the stable ABI does not lend the characters of a string.
pub(in crate::python) fn characters<'a>(_: &'a Bound<'_, PyString>) -> Option<Characters<'a>> {
    None
}

/// Returns the text of a string that is not ASCII, with surrogates repaired: the interpreter's own UTF-8 would stay in
/// the object, and does not exist where there are surrogates.
///
/// # Errors
/// Those of [`run`]; `MemoryError`.
pub(in crate::python) fn transcoded(string: &Bound<'_, PyString>) -> PyResult<Option<String>> {
    if is_ascii(string)? {
        return Ok(None);
    }
    let py = string.py();
    // SAFETY: attached, as `string` shows, which is a string.
    let length = unsafe { ffi::PyUnicode_GetLength(string.as_ptr()) };
    let count = usize::try_from(length).map_err(|_| PyErr::fetch(py))?;
    let mut characters: Vec<u32> = memory::vec_with_capacity(count);
    // SAFETY: as above. The interpreter writes `length` characters without a zero after them, for which there is room,
    // or returns null with an exception set.
    unsafe {
        let copied = ffi::PyUnicode_AsUCS4(string.as_ptr(), characters.as_mut_ptr(), length, 0);
        if copied.is_null() {
            return Err(PyErr::fetch(py));
        }
        characters.set_len(count);
    }
    run(py, count, || Characters::Ucs4(&characters).to_utf8()).map(Some)
}

/// As `str.isascii`, whatever a subclass makes of that.
fn is_ascii(string: &Bound<'_, PyString>) -> PyResult<bool> {
    static METHOD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = string.py();
    let method = METHOD.get_or_try_init(py, || {
        let method = py.get_type::<PyString>().getattr("isascii")?;
        Ok::<_, PyErr>(method.unbind())
    })?;
    method.bind(py).call1((string,))?.is_truthy()
}

/// Creates a Python string.
pub(in crate::python) fn new_string<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, text.as_bytes())
}

/// Stores an item into a new list.
///
/// # Safety
/// `list` has an empty item at `index`, and nothing else refers to the list yet.
///
/// # Panics
/// If `index` is not below the length of the list.
pub(in crate::python) unsafe fn set_item(
    list: &Bound<'_, PyList>,
    index: ffi::Py_ssize_t,
    item: Bound<'_, PyAny>,
) {
    // SAFETY: attached, as `list` shows; the reference to `item` is transferred, and the item before was empty.
    let failed = unsafe { ffi::PyList_SetItem(list.as_ptr(), index, item.into_ptr()) };
    assert_eq!(failed, 0, "the index is below the length");
}

/// Returns the item at `index`, a reference to which is borrowed from the list.
///
/// # Safety
/// `index` is below the length of `list`.
pub(in crate::python) unsafe fn item(
    list: &Bound<'_, PyList>,
    index: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: attached, as `list` shows; the caller ensures the rest.
    unsafe { ffi::PyList_GetItem(list.as_ptr(), index) }
}
