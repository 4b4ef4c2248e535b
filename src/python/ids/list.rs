//! Ids from a list of Python integers, whose reference counts are not touched.
//!
//! Taking a reference to each integer, the safe way, writes to the memory of each: for a million integers,
//! that was a sixth of the time of decoding them.
#![expect(
    unsafe_code,
    reason = "integers are borrowed from the list without counting references"
)]

use std::ffi::c_ulong;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyList;

use super::id_of;
use crate::python::abi;
use crate::token::TokenId;
use crate::util::memory;

/// Reads the ids in a list; the error is that of the first item that is no id.
pub(super) fn ids_from_list(list: &Bound<'_, PyList>) -> PyResult<Vec<TokenId>> {
    with_critical_section(list, || {
        let mut ids = memory::vec_with_capacity(list.len());
        // Extracting anything but an integer may run Python code, which may change the list.
        while ids.len() < list.len() {
            let id = match exact_integer(list, ids.len()) {
                Some(id) => id,
                None => id_of(&list.get_item(ids.len())?)?,
            };
            ids.push(id);
        }
        Ok(ids)
    })
}

/// Reads the item at `index` if it is exactly an `int` that fits an id.
///
/// # Panics
/// If `index` is not below the length of the list.
#[inline]
fn exact_integer(list: &Bound<'_, PyList>, index: usize) -> Option<TokenId> {
    assert!(index < list.len(), "the index is below the length");
    let index = ffi::Py_ssize_t::try_from(index).ok()?;
    // SAFETY: attached, as `list` shows. `index` is within the list, as was just asserted. The item stays in
    // the list: no Python code runs here, and the caller holds the list's lock where there is no GIL.
    // `PyLong_AsUnsignedLong` is called with an `int`.
    let number = unsafe {
        let item = abi::item(list, index);
        if ffi::PyLong_CheckExact(item) == 0 {
            return None;
        }
        // The interpreter makes one call less than for `PyLong_AsLong`.
        ffi::PyLong_AsUnsignedLong(item)
    };
    if number == c_ulong::MAX {
        // Perhaps negative or too large for C: the caller extracts it again, which raises that error.
        drop(PyErr::take(list.py()));
        return None;
    }
    TokenId::try_from(number).ok()
}
