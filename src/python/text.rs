//! Python strings as UTF-8, surrogates mended.

use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

/// The UTF-8 of a `str`, borrowed from the object. Where it holds surrogates, pairs become the character they stand
/// for and lone ones U+FFFD, as a round trip through UTF-16 makes them.
pub(super) fn text(argument: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let Ok(string) = argument.cast::<PyString>() else {
        let kind = argument.get_type();
        return Err(PyTypeError::new_err(format!(
            "expected text as str, got {}",
            kind.qualname()?
        )));
    };
    PyBackedStr::try_from(string.clone()).or_else(|error| {
        if !error.is_instance_of::<PyUnicodeEncodeError>(string.py()) {
            return Err(error);
        }
        let utf16 = string.call_method1("encode", ("utf-16", "surrogatepass"))?;
        let mended = utf16.call_method1("decode", ("utf-16", "replace"))?;
        PyBackedStr::try_from(mended.cast_into::<PyString>()?)
    })
}

/// Many texts, in order.
pub(super) fn texts(argument: &Bound<'_, PyAny>) -> PyResult<Vec<PyBackedStr>> {
    argument.try_iter()?.map(|item| text(&item?)).collect()
}
