//! UTF-8 to Python strings.
#![expect(
    unsafe_code,
    reason = "the interpreter's own way took from a quarter to three quarters of decoding text that is not ASCII"
)]

use std::mem::MaybeUninit;
use std::slice;

use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::unicode::utf8::{self, Character, Width};

/// Texts of fewer bytes are left to the interpreter, which is as fast.
const MIN_BYTES: usize = 64;

/// Creates a Python string.
pub(in crate::python) fn new_string<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<Bound<'py, PyString>> {
    if text.len() < MIN_BYTES {
        return PyString::from_bytes(py, text.as_bytes());
    }
    let width = Width::of(text);
    // SAFETY: the element types have the widths that `width` names.
    unsafe {
        match width {
            Width::Ascii => PyString::from_bytes(py, text.as_bytes()),
            Width::One => new_wide::<u8>(py, text, width),
            Width::Two => new_wide::<u16>(py, text, width),
            Width::Four => new_wide::<u32>(py, text, width),
        }
    }
}

/// Creates a string that is not ASCII.
///
/// # Safety
/// `width` must be that of `text`, and the size of `C`.
unsafe fn new_wide<'py, C: Character>(
    py: Python<'py>,
    text: &str,
    width: Width,
) -> PyResult<Bound<'py, PyString>> {
    let count = text.chars().count();
    let length = ffi::Py_ssize_t::try_from(count).map_err(|_| PyMemoryError::new_err(()))?;
    // SAFETY: attached, as `py` shows; `PyUnicode_New` returns a new reference to a string, or null with an
    // exception set. The string has room for `count` characters of the width that the interpreter chooses for
    // the largest, which is that of `C`, as the caller ensures; and nothing else refers to it yet.
    let (string, buffer) = unsafe {
        let string = ffi::PyUnicode_New(length, width.largest());
        let string = Bound::from_owned_ptr_or_err(py, string)?.cast_into_unchecked::<PyString>();
        let buffer: *mut MaybeUninit<C> = ffi::PyUnicode_DATA(string.as_ptr()).cast();
        (string, slice::from_raw_parts_mut(buffer, count))
    };
    let stored = utf8::widen(text, buffer);
    assert_eq!(stored, count, "every character of the string is written");
    Ok(string)
}
