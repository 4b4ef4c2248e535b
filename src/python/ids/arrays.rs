//! Ids between Rust and Python without a copy of objects: vectors become `NumPy` arrays, which take over the memory, and
//! ids are read from a list of Python integers whose reference counts are not touched.
//!
//! Taking a reference to each integer, the safe way, writes to the memory of each: for a million integers,
//! that was a sixth of the time of decoding them.
#![expect(
    unsafe_code,
    reason = "an array is known to be immutable only if its owner never exposed the memory in another way"
)]

use std::ffi::c_ulong;

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyList;

use crate::python::ids::id_of;
use crate::token::TokenId;
use crate::util::memory;

/// The owner of the ids of read-only arrays. No writable array of them ever existed, and the owner exports no
/// buffer, so that `NumPy` refuses to make one: decoding may borrow the ids. Copying a million ids took 12 to
/// 15 % of decoding them.
#[pyclass(name = "ImmutableIds", module = "bytemill._core", frozen)]
pub(in crate::python) struct ImmutableIds(Vec<TokenId>);

/// Creates a read-only array of shape (ids,), which nothing can make writable.
///
/// # Errors
/// As [`array`].
pub(in crate::python) fn immutable_ids(
    py: Python<'_>,
    ids: Vec<TokenId>,
) -> PyResult<Bound<'_, PyArray1<TokenId>>> {
    import_numpy(py)?;
    let owner = Bound::new(py, ImmutableIds(ids))?;
    let ids = ArrayView1::from(&owner.get().0);
    // SAFETY: `owner` never changes or moves its ids, and the array keeps it alive.
    let array = unsafe { PyArray1::borrow_from_array(&ids, owner.clone().into_any()) };
    array.try_readwrite()?.make_nonwriteable();
    Ok(array)
}

/// Creates a writable array of shape (values,).
///
/// # Errors
/// Those of importing `NumPy`, which may happen here first: `KeyboardInterrupt`, for example.
pub(in crate::python) fn array<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    import_numpy(py)?;
    Ok(values.into_pyarray(py))
}

/// As [`array`], of offsets and counts, which Python code expects as `int64`.
pub(in crate::python) fn offsets(
    py: Python<'_>,
    values: impl IntoIterator<Item = usize>,
) -> PyResult<Bound<'_, PyArray1<isize>>> {
    array(
        py,
        memory::collect(values.into_iter().map(usize::cast_signed)),
    )
}

fn import_numpy(py: Python<'_>) -> PyResult<()> {
    static IMPORTED: PyOnceLock<()> = PyOnceLock::new();
    IMPORTED
        .get_or_try_init(py, || py.import("numpy").map(drop))
        .copied()
}

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
        let item = ffi::PyList_GET_ITEM(list.as_ptr(), index);
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
