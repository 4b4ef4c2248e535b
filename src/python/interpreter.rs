//! One interpreter of a process uses the module: exception classes and interned objects are kept for the whole
//! process, and those of an interpreter that has ended are broken.
#![expect(
    unsafe_code,
    reason = "PyO3 has no safe way to ask which interpreter runs, and whether one does"
)]

use std::sync::OnceLock;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Claims the module for the interpreter that imports it.
///
/// # Errors
/// `ImportError` if another has it.
pub(super) fn claim() -> PyResult<()> {
    static OWNER: OnceLock<i64> = OnceLock::new();
    // SAFETY: modules are initialised by a thread that is attached to an interpreter.
    let here = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    let owner = *OWNER.get_or_init(|| here);
    if owner == here {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "bytemill works in one interpreter of a process, and interpreter {owner} has imported it: expected that \
         one, got interpreter {here}; use threads or processes instead of subinterpreters"
    )))
}

/// Returns whether the interpreter has ended.
pub(super) fn has_ended() -> bool {
    // SAFETY: it may be called at any time, with the GIL or without.
    unsafe { ffi::Py_IsInitialized() == 0 }
}
