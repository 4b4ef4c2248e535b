//! How much of a text fits into so many ids: counts, truncated texts, parts. Lengths are characters, for Python to cut.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};

use super::core_bpe::CoreBpe;
use super::run::run;
use super::text::text;
use crate::encode::offsets::CharCounter;
use crate::encode::truncate::Keep;

/// How many ids a text has, if no more than the limit.
pub(super) fn count(
    core: &CoreBpe,
    text: &Bound<'_, PyAny>,
    limit: usize,
) -> PyResult<Option<usize>> {
    if exceeds(core, text, limit) {
        return Ok(None);
    }
    let (py, text) = (text.py(), self::text(text)?);
    run(py, text.len(), |checkpoint| {
        core.encoder.count_till_limit(&text, limit, checkpoint)
    })
}

/// How many characters of a text to keep, none if it fits as it is, and how many ids these have.
pub(super) fn truncate(
    core: &CoreBpe,
    text: &Bound<'_, PyAny>,
    limit: usize,
    keep_end: bool,
) -> PyResult<(Option<usize>, usize)> {
    let py = text.py();
    let kept = if keep_end { Keep::End } else { Keep::Start };
    let cut = exceeds(core, text, limit);
    let window = if cut {
        Cow::Owned(window(core, text, limit, kept)?)
    } else {
        Cow::Borrowed(text)
    };
    let text = self::text(&window)?;
    let part = run(py, text.len(), |checkpoint| {
        core.encoder.truncate(&text, limit, kept, checkpoint)
    })?;
    let part_of_text = match kept {
        Keep::Start => &text[..part.cut],
        Keep::End => &text[part.cut..],
    };
    let characters = || part_of_text.chars().count();
    let whole = !cut && part_of_text.len() == text.len();
    Ok(((!whole).then(characters), part.count))
}

/// Where the parts of a text start and end.
pub(super) fn parts(
    core: &CoreBpe,
    text: &Bound<'_, PyAny>,
    limit: usize,
    overlap: usize,
) -> PyResult<Vec<(usize, usize)>> {
    let (py, text) = (text.py(), self::text(text)?);
    run(py, text.len(), |checkpoint| {
        let parts = core.encoder.parts(&text, limit, overlap, checkpoint)?;
        let mut starts = CharCounter::new(text.as_bytes());
        let mut ends = CharCounter::new(text.as_bytes());
        let characters = parts
            .into_iter()
            .map(|part| (starts.before(part.start), ends.before(part.end)));
        Ok::<_, crate::error::EncodeError>(characters.collect())
    })
}

/// Whether a text has more ids than the limit whatever it holds: a character is at least a byte.
fn exceeds(core: &CoreBpe, text: &Bound<'_, PyAny>, limit: usize) -> bool {
    let length = text
        .cast::<PyString>()
        .map_or(0, |text| text.len().unwrap_or(0));
    core.encoder.exceeds(length, limit)
}

/// The beginning or the end of a text that exceeds the limit, so long that it exceeds it as well. The rest need not be
/// looked at, nor be turned into UTF-8.
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
