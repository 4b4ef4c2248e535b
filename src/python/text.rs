//! Python strings as UTF-8, surrogates mended.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString};

use super::characters::Characters;
use super::run::{run, threads_for};
use crate::encode::batch;
use crate::error::EncodeError;

/// To convert a text takes such a part of the time that encoding it takes.
const OF_ENCODING: usize = 8;

/// The UTF-8 of a `str`, borrowed from the object where that has it. Where it holds surrogates, pairs become the
/// character they stand for and lone ones U+FFFD, as a round trip through UTF-16 makes them.
pub(super) fn text<'a>(argument: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    let string = string(argument)?;
    let Some(characters) = Characters::of(string) else {
        return Ok(Cow::Borrowed(string.to_str()?));
    };
    let text = run(string.py(), characters.len(), |checkpoint| {
        characters.utf8(checkpoint)
    });
    text.map(Cow::Owned)
}

/// As [`text`], of a text that other threads may read too.
pub(super) enum SharedText {
    OfObject(PyBackedStr),
    Converted(String),
}

impl AsRef<str> for SharedText {
    fn as_ref(&self) -> &str {
        match self {
            Self::OfObject(text) => text,
            Self::Converted(text) => text,
        }
    }
}

/// Many texts, in order, and whether they are all. Where one is no `str`, the texts before it, and the error.
///
/// # Errors
/// What ends it before there are texts, such as Ctrl-C.
pub(super) fn texts(
    argument: &Bound<'_, PyList>,
    num_threads: usize,
) -> PyResult<(Vec<SharedText>, PyResult<()>)> {
    let mut strings = Vec::with_capacity(argument.len());
    let complete = argument.iter().try_for_each(|item| {
        strings.push(string(&item)?.clone());
        Ok(())
    });
    Ok((shared(argument.py(), &strings, num_threads)?, complete))
}

/// The texts of strings.
pub(super) fn shared(
    py: Python<'_>,
    strings: &[Bound<'_, PyString>],
    num_threads: usize,
) -> PyResult<Vec<SharedText>> {
    let mut shared = Vec::with_capacity(strings.len());
    let mut without_utf8 = Vec::new();
    for string in strings {
        shared.push(if let Some(characters) = Characters::of(string) {
            without_utf8.push((shared.len(), characters));
            SharedText::Converted(String::new())
        } else {
            SharedText::OfObject(string.clone().try_into()?)
        });
    }
    let characters = without_utf8.iter().map(|(_, characters)| characters);
    let size = characters.map(Characters::len).sum();
    let converted = run(py, size, |checkpoint| {
        let threads = threads_for(size / OF_ENCODING, num_threads);
        batch::map(&without_utf8, threads, checkpoint, |(_, characters)| {
            let mut text = characters.utf8(checkpoint)?;
            // There may be many.
            text.shrink_to_fit();
            Ok::<_, EncodeError>(text)
        })
    })?;
    for ((number, _), text) in without_utf8.iter().zip(converted) {
        shared[*number] = SharedText::Converted(text);
    }
    Ok(shared)
}

fn string<'a, 'py>(argument: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    let string = argument.cast::<PyString>();
    string.map_err(|_| wrong_type("text as str", argument))
}

/// What is raised for an argument of another type than expected.
pub(super) fn wrong_type(expected: &str, argument: &Bound<'_, PyAny>) -> PyErr {
    let kind = argument.get_type().qualname();
    let kind = kind.map_or_else(|_| "something else".to_owned(), |kind| kind.to_string());
    PyTypeError::new_err(format!("expected {expected}, got {kind}"))
}
