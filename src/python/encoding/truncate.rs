//! Truncates texts to a number of ids. Lengths are in characters, for Python to slice by.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

use super::CoreBpe;
use crate::encode::offsets::CharCounter;
use crate::encode::special::{Disallowed, Policy};
use crate::encode::truncate::Keep;
use crate::error::EncodeError;
use crate::python::runtime::run;
use crate::python::strings::text;

/// Counts the ids of a text; `None` if there are more than `limit`.
pub(super) fn count(
    core: &CoreBpe,
    text: &Bound<'_, PyAny>,
    policy: &Policy,
    limit: usize,
) -> PyResult<Option<usize>> {
    if exceeds(core, text, policy, limit) {
        return Ok(None);
    }
    let (py, text) = (text.py(), self::text(text)?);
    run(py, text.len(), || {
        refuse(core, &text, policy)?;
        core.encoder.count_till_limit(&text, &policy.allowed, limit)
    })
}

/// Returns how many characters of a text to keep, `None` if all, and how many ids these have.
pub(super) fn truncate(
    core: &CoreBpe,
    text: &Bound<'_, PyAny>,
    policy: &Policy,
    limit: usize,
    keep_end: bool,
) -> PyResult<(Option<usize>, usize)> {
    let py = text.py();
    let kept = if keep_end { Keep::End } else { Keep::Start };
    let cut = exceeds(core, text, policy, limit);
    let window = if cut {
        Cow::Owned(window(core, text, limit, kept)?)
    } else {
        Cow::Borrowed(text)
    };
    let text = self::text(&window)?;
    let part = run(py, text.len(), || {
        refuse(core, &text, policy)?;
        core.encoder.truncate(&text, &policy.allowed, limit, kept)
    })?;
    let part_of_text = match kept {
        Keep::Start => &text[..part.cut],
        Keep::End => &text[part.cut..],
    };
    let characters = || part_of_text.chars().count();
    let whole = !cut && part_of_text.len() == text.len();
    Ok(((!whole).then(characters), part.count))
}

/// Returns the spans of parts of at most `limit` ids.
pub(super) fn parts(
    core: &CoreBpe,
    text: &Bound<'_, PyAny>,
    policy: &Policy,
    limit: usize,
    overlap: usize,
) -> PyResult<Vec<(usize, usize)>> {
    let (py, text) = (text.py(), self::text(text)?);
    run(py, text.len(), || {
        refuse(core, &text, policy)?;
        let parts = core.encoder.parts(&text, &policy.allowed, limit, overlap)?;
        let mut starts = CharCounter::new(text.as_bytes());
        let mut ends = CharCounter::new(text.as_bytes());
        let characters = parts
            .into_iter()
            .map(|part| (starts.before(part.start), ends.before(part.end)));
        Ok::<_, EncodeError>(characters.collect())
    })
}

/// Returns an error if a text has a disallowed string.
fn refuse(core: &CoreBpe, text: &str, policy: &Policy) -> Result<(), EncodeError> {
    core.encoder
        .special_tokens()
        .refuse(text, &policy.disallowed)
}

/// Returns true if a text has more ids than `limit` whatever it contains: a character is at least a byte. A text in which
/// a disallowed string is to be found is read to its end.
fn exceeds(core: &CoreBpe, text: &Bound<'_, PyAny>, policy: &Policy, limit: usize) -> bool {
    if !matches!(policy.disallowed, Disallowed::Nothing) {
        return false;
    }
    let length = text
        .cast::<PyString>()
        .map_or(0, |text| text.len().unwrap_or(0));
    core.encoder.exceeds(length, &policy.allowed, limit)
}

/// Slices a text that exceeds the limit at its start or end, so long that the slice exceeds it as well. The
/// rest is neither transcoded nor encoded.
fn window<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    limit: usize,
    kept: Keep,
) -> PyResult<Bound<'py, PyAny>> {
    let length = text.len()?.cast_signed();
    let longest = core.encoder.vocabulary().longest();
    let size = (limit * longest + 1).cast_signed();
    let range = match kept {
        Keep::Start => 0..size,
        Keep::End => length - size..length,
    };
    text.get_item(PySlice::new(text.py(), range.start, range.end, 1))
}
