//! Vectors to `NumPy` arrays, which take over the memory.
#![expect(
    unsafe_code,
    reason = "an array is known to be immutable only if its owner never exposed the memory in another way"
)]

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods, get_array_module};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

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
    load_numpy(py)?;
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
    load_numpy(py)?;
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

/// Imports `NumPy`, before anything of it is used: the `numpy` crate imports it as well, and panics where that fails. It runs
/// Python code for that, in which a signal handler may raise, but only for the name of this module, which it keeps.
///
/// # Errors
/// As [`array`].
pub(in crate::python) fn load_numpy(py: Python<'_>) -> PyResult<()> {
    static LOADED: PyOnceLock<()> = PyOnceLock::new();
    LOADED
        .get_or_try_init(py, || get_array_module(py).map(drop))
        .copied()
}
