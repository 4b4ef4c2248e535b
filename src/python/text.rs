//! Python strings as UTF-8, surrogates mended.

use std::borrow::Cow;

use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString};

/// The UTF-8 of a `str`, borrowed from the object. Where it holds surrogates, pairs become the character they stand
/// for and lone ones U+FFFD, as a round trip through UTF-16 makes them.
pub(super) fn text<'a>(argument: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    let string = string(argument)?;
    match string.to_str() {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error) => Ok(Cow::Owned(mended(string, error)?.to_str()?.to_owned())),
    }
}

/// Many texts, in order, that other threads may read too. Where one is no `str`, the texts before it, and the error.
pub(super) fn texts(argument: &Bound<'_, PyList>) -> (Vec<PyBackedStr>, PyResult<()>) {
    let mut texts = Vec::with_capacity(argument.len());
    for item in argument {
        match shared_text(&item) {
            Ok(text) => texts.push(text),
            Err(error) => return (texts, Err(error)),
        }
    }
    (texts, Ok(()))
}

/// One of these texts.
pub(super) fn shared_text(argument: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let string = string(argument)?;
    PyBackedStr::try_from(string.clone())
        .or_else(|error| PyBackedStr::try_from(mended(string, error)?))
}

fn string<'a, 'py>(argument: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    argument.cast::<PyString>().map_err(|_| {
        let kind = argument.get_type().qualname();
        let kind = kind.map_or_else(|_| "something else".to_owned(), |kind| kind.to_string());
        PyTypeError::new_err(format!("expected text as str, got {kind}"))
    })
}

/// The string without its surrogates, if those are the reason for `error`.
#[cold]
fn mended<'py>(string: &Bound<'py, PyString>, error: PyErr) -> PyResult<Bound<'py, PyString>> {
    if !error.is_instance_of::<PyUnicodeEncodeError>(string.py()) {
        return Err(error);
    }
    let utf16 = string.call_method1("encode", ("utf-16", "surrogatepass"))?;
    let mended = utf16.call_method1("decode", ("utf-16", "replace"))?;
    Ok(mended.cast_into::<PyString>()?)
}
