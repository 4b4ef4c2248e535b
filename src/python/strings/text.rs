//! Python strings as UTF-8, with surrogates repaired.

use std::borrow::Cow;
use std::ops::Range;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyFloat, PyList, PyString};

use super::characters::Characters;
use crate::error::EncodeError;
use crate::python::abi;
use crate::python::runtime::{run, threads_for};
use crate::split::Splitter;
use crate::util::memory::{self, Growable};
use crate::util::parallel;
use crate::util::text::Text;

/// Time that encoding a text takes, as a multiple of the time that transcoding it takes.
const ENCODING_COST: usize = 8;

/// Returns the UTF-8 of a `str`, borrowed from the object if it has that. Pairs of surrogates become the
/// character they stand for and lone ones U+FFFD, as a round trip through UTF-16 makes them.
pub(in crate::python) fn text<'a>(argument: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    let string = expect_string(argument)?;
    let Some(characters) = abi::characters(string) else {
        return Ok(match abi::transcoded(string)? {
            Some(text) => Cow::Owned(text),
            None => Cow::Borrowed(string.to_str()?),
        });
    };
    let text = run(string.py(), characters.len(), || characters.to_utf8());
    text.map(Cow::Owned)
}

/// Divides a long `str` that has no UTF-8 yet into chunks that threads transcode and encode; `None` for other
/// strings.
pub(in crate::python) fn chunks<'a>(
    argument: &'a Bound<'_, PyAny>,
    splitter: &Splitter,
    num_threads: usize,
) -> PyResult<Option<Vec<Characters<'a>>>> {
    let is_divisible = |characters: &Characters<'_>| {
        num_threads > 1 && splitter.is_native() && characters.is_long()
    };
    let characters = abi::characters(expect_string(argument)?).filter(is_divisible);
    Ok(characters.map(|characters| characters.chunks(splitter)))
}

/// The UTF-8 of a `str`, readable by any thread.
pub(in crate::python) enum SharedText {
    Borrowed(PyBackedStr),
    Transcoded(String),
}

impl AsRef<str> for SharedText {
    fn as_ref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Transcoded(text) => text,
        }
    }
}

/// A text of a batch. Short ones are transcoded by the thread that encodes them.
pub(in crate::python) enum BatchText<'a> {
    Shared(SharedText),
    Short(Characters<'a>),
}

impl From<SharedText> for BatchText<'_> {
    fn from(text: SharedText) -> Self {
        Self::Shared(text)
    }
}

impl Text for BatchText<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(text) => text.bytes(),
            Self::Short(characters) => characters.bytes(),
        }
    }

    fn utf8(&self, range: Range<usize>) -> Option<&str> {
        match self {
            Self::Shared(text) => text.utf8(range),
            Self::Short(characters) => Text::utf8(characters, range),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Shared(text) => Text::len(text),
            Self::Short(characters) => characters.len(),
        }
    }

    fn transcode<'r>(&self, buffer: &'r mut String) -> Result<Option<&'r str>, EncodeError> {
        match self {
            Self::Shared(text) => text.transcode(buffer),
            Self::Short(characters) => characters.transcode(buffer),
        }
    }
}

/// Returns the items of a list up to the first that is no `str`, and the error for that one.
pub(in crate::python) fn expect_strings<'py>(
    argument: &Bound<'py, PyList>,
) -> (Vec<Bound<'py, PyString>>, PyResult<()>) {
    let mut strings = memory::vec_with_capacity(argument.len());
    let complete = argument.iter().try_for_each(|item| {
        strings.push(expect_string(&item)?.clone());
        Ok(())
    });
    (strings, complete)
}

/// Returns the texts of strings, for a batch.
///
/// # Errors
/// Those of [`run`] where a long string is transcoded: `KeyboardInterrupt`, for example.
pub(in crate::python) fn batch_texts<'a>(
    py: Python<'_>,
    strings: &'a [Bound<'_, PyString>],
    num_threads: usize,
) -> PyResult<Vec<BatchText<'a>>> {
    let short = |characters: Characters<'a>| {
        let is_short = !characters.is_long();
        is_short.then_some(BatchText::Short(characters))
    };
    to_utf8_all(py, strings, num_threads, short)
}

/// Returns the UTF-8 of all strings.
///
/// # Errors
/// As [`batch_texts`].
pub(in crate::python) fn to_shared_texts(
    py: Python<'_>,
    strings: &[Bound<'_, PyString>],
    num_threads: usize,
) -> PyResult<Vec<SharedText>> {
    to_utf8_all(py, strings, num_threads, |_| None)
}

/// Returns the texts of strings. Characters that `deferred` does not take are transcoded, on several threads.
fn to_utf8_all<'a, T: From<SharedText>>(
    py: Python<'_>,
    strings: &'a [Bound<'_, PyString>],
    num_threads: usize,
    deferred: impl Fn(Characters<'a>) -> Option<T>,
) -> PyResult<Vec<T>> {
    let mut texts = memory::vec_with_capacity(strings.len());
    let mut without_utf8 = Vec::new();
    for string in strings {
        texts.push(match abi::characters(string) {
            None => match abi::transcoded(string)? {
                Some(text) => SharedText::Transcoded(text),
                None => SharedText::Borrowed(string.clone().try_into()?),
            }
            .into(),
            Some(characters) => deferred(characters).unwrap_or_else(|| {
                without_utf8.with_room(1).push((texts.len(), characters));
                SharedText::Transcoded(String::new()).into()
            }),
        });
    }
    let characters = without_utf8.iter().map(|(_, characters)| characters);
    let size = characters.map(Characters::len).sum();
    let transcoded = run(py, size, || {
        let threads = threads_for(size / ENCODING_COST, num_threads);
        parallel::map(&without_utf8, threads, |(_, characters)| {
            let mut text = characters.to_utf8()?;
            // Capacity is for the longest UTF-8, and there may be many texts.
            text.shrink_to_fit();
            Ok::<_, EncodeError>(text)
        })
    })?;
    for ((index, _), text) in without_utf8.iter().zip(transcoded) {
        texts[*index] = SharedText::Transcoded(text).into();
    }
    Ok(texts)
}

fn expect_string<'a, 'py>(argument: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    let string = argument.cast::<PyString>();
    string.map_err(|_| {
        // Data frames have `None` or NaN where a text is missing; a scalar of Arrow has `as_py`.
        let is_missing = argument.is_none() || argument.is_instance_of::<PyFloat>();
        let is_arrow = argument.hasattr(intern!(argument.py(), "as_py"));
        let remedy = if is_missing {
            "; leave out missing texts, or replace them by ''"
        } else if argument.is_instance_of::<PyBytes>() {
            "; encode_bytes takes bytes"
        } else if is_arrow.unwrap_or(false) {
            "; encode_arrow takes Arrow arrays, other methods array.to_pylist()"
        } else {
            ""
        };
        wrong_type_remedied("text as str", argument, remedy)
    })
}

/// Builds the `TypeError` for an argument of another type than expected.
pub(in crate::python) fn wrong_type(expected: &str, argument: &Bound<'_, PyAny>) -> PyErr {
    wrong_type_remedied(expected, argument, "")
}

/// As [`wrong_type`], with what else the message says.
fn wrong_type_remedied(expected: &str, argument: &Bound<'_, PyAny>, remedy: &str) -> PyErr {
    let name = argument.get_type().qualname();
    let name = name.map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected {expected}, got {name}{remedy}"))
}
