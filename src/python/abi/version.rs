//! As the interpreter itself reads and fills its strings and lists.
#![expect(
    unsafe_code,
    reason = "the interpreter's own conversions took as long as half of encoding, and from a quarter to three quarters of \
              decoding text that is not ASCII"
)]

use std::mem::MaybeUninit;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyList, PyString};

use crate::python::strings::Characters;
use crate::unicode::utf8::{self, Character, Width};

/// Texts of fewer bytes are left to the interpreter, which is as fast.
const MIN_BYTES: usize = 64;

/// Returns the characters of `string`; `None` if the object has its UTF-8 already: ASCII is UTF-8, and the
/// interpreter caches the result of a conversion.
pub(in crate::python) fn characters<'a>(string: &'a Bound<'_, PyString>) -> Option<Characters<'a>> {
    // SAFETY: strings never change, and this one lives as long as the borrow. The function's
    // documentation warns that the width is read from a bit field, whose layout is up to the C compiler:
    // tests cover all widths.
    let characters = match unsafe { string.data() }.ok()? {
        PyStringData::Ucs1(characters) => {
            // ASCII follows a shorter header; the characters of a subclass are in another allocation.
            let offset = characters
                .as_ptr()
                .addr()
                .wrapping_sub(string.as_ptr().addr());
            if offset != size_of::<ffi::PyCompactUnicodeObject>() {
                return None;
            }
            Characters::Ucs1(characters)
        }
        PyStringData::Ucs2(characters) => Characters::Ucs2(characters),
        PyStringData::Ucs4(characters) => Characters::Ucs4(characters),
    };
    (!has_cached_utf8(string)).then_some(characters)
}

/// True if the interpreter has cached the UTF-8 of a string that is not ASCII.
fn has_cached_utf8(string: &Bound<'_, PyString>) -> bool {
    let object = string.as_ptr().cast::<ffi::PyCompactUnicodeObject>();
    // SAFETY: every string that is not ASCII starts with this structure. Its field is set at most once: by a
    // thread that holds the GIL, or atomically where there is none.
    let utf8 = unsafe { AtomicPtr::from_ptr(&raw mut (*object).utf8) };
    !utf8.load(Ordering::Acquire).is_null()
}

/// Returns `None`: a string has its UTF-8 where [`characters`] has none.
#[expect(clippy::unnecessary_wraps, reason = "the other form may fail")]
pub(in crate::python) fn transcoded(_: &Bound<'_, PyString>) -> PyResult<Option<String>> {
    Ok(None)
}

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

/// Stores an item into a new list.
///
/// # Safety
/// `list` has an empty item at `index`, and nothing else refers to the list yet.
#[inline]
pub(in crate::python) unsafe fn set_item(
    list: &Bound<'_, PyList>,
    index: ffi::Py_ssize_t,
    item: Bound<'_, PyAny>,
) {
    // SAFETY: attached, as `list` shows; the caller ensures the rest, and the reference to `item` is transferred.
    unsafe { ffi::PyList_SET_ITEM(list.as_ptr(), index, item.into_ptr()) };
}

/// Returns the item at `index`, a reference to which is borrowed from the list.
///
/// # Safety
/// `index` is below the length of `list`.
#[inline]
pub(in crate::python) unsafe fn item(
    list: &Bound<'_, PyList>,
    index: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: attached, as `list` shows; the caller ensures the rest.
    unsafe { ffi::PyList_GET_ITEM(list.as_ptr(), index) }
}
