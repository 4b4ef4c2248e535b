//! Numbers → `NumPy` arrays, which own them from then on.
#![expect(
    unsafe_code,
    reason = "an array can only be proved immutable if its owner is known to have made no other"
)]

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::token::TokenId;

/// The owner of the ids of read-only arrays. There never was a writable array of them, and they export no buffer, so
/// `NumPy` refuses to make one: decoding may borrow them. Copying a million ids instead took 15 % of decoding them.
#[pyclass(name = "ImmutableIds", module = "bytemill._core", frozen)]
pub(super) struct ImmutableIds(Vec<TokenId>);

/// A read-only array of shape (ids,), which nothing can make writable.
///
/// # Errors
/// As [`array`].
pub(super) fn immutable_ids(
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

/// An array of shape (values,).
///
/// # Errors
/// What importing `NumPy` raises, where that comes first here: `KeyboardInterrupt`, too.
pub(super) fn array<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    import_numpy(py)?;
    Ok(values.into_pyarray(py))
}

fn import_numpy(py: Python<'_>) -> PyResult<()> {
    static IMPORTED: PyOnceLock<()> = PyOnceLock::new();
    IMPORTED
        .get_or_try_init(py, || py.import("numpy").map(drop))
        .copied()
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
