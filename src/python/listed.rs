//! Ids from a list of Python integers, read where they are.
//!
//! Counting a reference to each integer, as it is safe to do, writes to the memory of each: of a million integers, that was a
//! sixth of the time of decoding them.
#![expect(
    unsafe_code,
    reason = "integers are borrowed from the list without counting references"
)]

use std::ffi::c_ulong;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyList;

use crate::token::TokenId;

/// The ids in a list; the error is that of the first item that is none.
pub(super) fn ids(list: &Bound<'_, PyList>) -> PyResult<Vec<TokenId>> {
    with_critical_section(list, || {
        let mut ids = Vec::with_capacity(list.len());
        // Anything but an integer may run code that changes the list.
        while ids.len() < list.len() {
            let id = match small_integer(list, ids.len()) {
                Some(id) => id,
                None => list.get_item(ids.len())?.extract()?,
            };
            ids.push(id);
        }
        Ok(ids)
    })
}

/// The item at `index`, which there must be, if it is a plain integer that an id may be.
#[inline]
fn small_integer(list: &Bound<'_, PyList>, index: usize) -> Option<TokenId> {
    let index = ffi::Py_ssize_t::try_from(index).ok()?;
    // SAFETY: attached, as `list` shows; there is such an item, and it stays where it is, for no Python code runs and the
    // list is locked, if it can be; `PyLong_AsUnsignedLong` gets an integer.
    let number = unsafe {
        let item = ffi::PyList_GET_ITEM(list.as_ptr(), index);
        if ffi::PyLong_CheckExact(item) == 0 {
            return None;
        }
        // One call less for the interpreter than `PyLong_AsLong`.
        ffi::PyLong_AsUnsignedLong(item)
    };
    if number == c_ulong::MAX {
        // Perhaps it is negative or larger than a C integer; who extracts it again gets that error.
        drop(PyErr::take(list.py()));
        return None;
    }
    TokenId::try_from(number).ok()
}
