//! UTF-8 → Python's strings.
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

/// Of fewer bytes the interpreter makes a string as fast.
const FEW: usize = 64;

/// The text as a string.
pub(super) fn string<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    if text.len() < FEW {
        return PyString::from_bytes(py, text.as_bytes());
    }
    let width = Width::of(text);
    // SAFETY: the characters are as wide as the width says.
    unsafe {
        match width {
            Width::Ascii => PyString::from_bytes(py, text.as_bytes()),
            Width::One => wide::<u8>(py, text, width),
            Width::Two => wide::<u16>(py, text, width),
            Width::Four => wide::<u32>(py, text, width),
        }
    }
}

/// The text as a string that is not ASCII.
///
/// # Safety
/// The width must be that of the text, and the characters be as wide.
unsafe fn wide<'py, C: Character>(
    py: Python<'py>,
    text: &str,
    width: Width,
) -> PyResult<Bound<'py, PyString>> {
    let count = text.chars().count();
    let length = ffi::Py_ssize_t::try_from(count).map_err(|_| PyMemoryError::new_err(()))?;
    // SAFETY: attached, as `py` shows; the result is a new reference to a string, or null with an exception set. It has
    // room for so many characters, of the width that the interpreter chooses for the largest, and nobody else knows of
    // it yet.
    let (string, room) = unsafe {
        let string = ffi::PyUnicode_New(length, width.largest());
        let string = Bound::from_owned_ptr_or_err(py, string)?.cast_into_unchecked::<PyString>();
        let room: *mut MaybeUninit<C> = ffi::PyUnicode_DATA(string.as_ptr()).cast();
        (string, slice::from_raw_parts_mut(room, count))
    };
    let stored = utf8::widen(text, room);
    for rest in &mut room[stored..] {
        // There are none: a text has as many characters as it has.
        rest.write(C::truncated(0));
    }
    Ok(string)
}
