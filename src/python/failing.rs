//! Functions for tests: memory that ends where they say.

use pyo3::prelude::*;

use crate::util::memory::{failing, reserve};

/// Has the n-th request for at least `min_bytes` refused, and if `lasting` all that would take more memory after it.
#[pyfunction]
#[pyo3(signature = (nth, min_bytes, /, *, lasting))]
pub(super) fn fail_allocation(nth: usize, min_bytes: usize, lasting: bool) {
    failing::fail(nth, min_bytes, lasting);
}

/// Ends that; returns the number of refused requests, whether the reserve was needed, and the size of the largest request
/// that could not be refused.
#[pyfunction]
pub(super) fn stop_failing() -> (usize, bool, usize) {
    (failing::stop(), reserve::is_short(), failing::largest())
}

/// Bytes that are allocated, the reserve among them.
#[pyfunction]
pub(super) fn allocated_bytes() -> PyResult<usize> {
    reserve::fill()?;
    Ok(failing::in_use())
}

/// Prints where memory is requested that cannot be refused, of at least `min_bytes`.
#[pyfunction]
pub(super) fn trace_allocations(min_bytes: usize) {
    failing::trace(min_bytes);
}
