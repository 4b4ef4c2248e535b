//! Python strings as UTF-8, surrogates mended.

use std::borrow::Cow;
use std::ops::Range;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString};

use super::characters::Characters;
use super::run::{run, threads_for};
use crate::checkpoint::Checkpoint;
use crate::error::EncodeError;
use crate::split::Splitter;
use crate::util::parallel;
use crate::util::text::Text;

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
        characters.text(checkpoint)
    });
    text.map(Cow::Owned)
}

/// Stretches of a long `str` that has no UTF-8 yet, which several threads can encode: each makes that of its own.
pub(super) fn stretches<'a>(
    argument: &'a Bound<'_, PyAny>,
    splitter: &Splitter,
    num_threads: usize,
) -> PyResult<Option<Vec<Characters<'a>>>> {
    let serves = |characters: &Characters<'_>| {
        num_threads > 1 && splitter.is_native() && characters.is_long()
    };
    let characters = Characters::of(string(argument)?).filter(serves);
    Ok(characters.map(|characters| characters.stretches(splitter)))
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

/// A text of a batch: short ones become UTF-8 when they are encoded.
pub(super) enum BatchText<'a> {
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

    fn transcode<'r>(
        &self,
        room: &'r mut String,
        checkpoint: &dyn Checkpoint,
    ) -> Result<Option<&'r str>, EncodeError> {
        match self {
            Self::Shared(text) => text.transcode(room, checkpoint),
            Self::Short(characters) => characters.transcode(room, checkpoint),
        }
    }
}

/// The strings of a list, in order, and whether they are all. Where one is no `str`, those before it, and the error.
pub(super) fn strings<'py>(
    argument: &Bound<'py, PyList>,
) -> (Vec<Bound<'py, PyString>>, PyResult<()>) {
    let mut strings = Vec::with_capacity(argument.len());
    let complete = argument.iter().try_for_each(|item| {
        strings.push(string(&item)?.clone());
        Ok(())
    });
    (strings, complete)
}

/// The texts of strings, for a batch.
///
/// # Errors
/// What ends it before there are texts, such as Ctrl-C.
pub(super) fn batch_texts<'a>(
    py: Python<'_>,
    strings: &'a [Bound<'_, PyString>],
    num_threads: usize,
) -> PyResult<Vec<BatchText<'a>>> {
    let short = |characters: Characters<'a>| {
        let is_short = !characters.is_long();
        is_short.then_some(BatchText::Short(characters))
    };
    taken_over(py, strings, num_threads, short)
}

/// The texts of strings, all of them as UTF-8.
///
/// # Errors
/// As [`batch_texts`].
pub(super) fn shared(
    py: Python<'_>,
    strings: &[Bound<'_, PyString>],
    num_threads: usize,
) -> PyResult<Vec<SharedText>> {
    taken_over(py, strings, num_threads, |_| None)
}

/// The texts of strings. Characters for which there is no `other` are converted.
fn taken_over<'a, T: From<SharedText>>(
    py: Python<'_>,
    strings: &'a [Bound<'_, PyString>],
    num_threads: usize,
    other: impl Fn(Characters<'a>) -> Option<T>,
) -> PyResult<Vec<T>> {
    let mut texts = Vec::with_capacity(strings.len());
    let mut without_utf8 = Vec::new();
    for string in strings {
        texts.push(match Characters::of(string) {
            None => SharedText::OfObject(string.clone().try_into()?).into(),
            Some(characters) => other(characters).unwrap_or_else(|| {
                without_utf8.push((texts.len(), characters));
                SharedText::Converted(String::new()).into()
            }),
        });
    }
    let characters = without_utf8.iter().map(|(_, characters)| characters);
    let size = characters.map(Characters::len).sum();
    let converted = run(py, size, |checkpoint| {
        let threads = threads_for(size / OF_ENCODING, num_threads);
        parallel::map(&without_utf8, threads, checkpoint, |(_, characters)| {
            let mut text = characters.text(checkpoint)?;
            // There may be many.
            text.shrink_to_fit();
            Ok::<_, EncodeError>(text)
        })
    })?;
    for ((number, _), text) in without_utf8.iter().zip(converted) {
        texts[*number] = SharedText::Converted(text).into();
    }
    Ok(texts)
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
