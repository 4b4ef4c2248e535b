//! Encodes a text with the offsets of its ids, or the numbers of their pieces.

use numpy::PyArray1;
use pyo3::prelude::*;

use super::CoreBpe;
use crate::encode::special::Policy;
use crate::error::EncodeError;
use crate::python::ids::arrays;
use crate::python::runtime::run;
use crate::python::strings::text;
use crate::token::TokenId;

type Offsets<'py> = Bound<'py, PyArray1<isize>>;

/// Ids, and the offsets where each starts and ends.
pub(super) type Arrays<'py> = (Bound<'py, PyArray1<TokenId>>, Offsets<'py>, Offsets<'py>);

/// Encodes a text; offsets are in characters or in bytes.
pub(super) fn arrays<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    policy: &Policy,
    characters: bool,
) -> PyResult<Arrays<'py>> {
    let (py, text) = (text.py(), self::text(text)?);
    let encoded = run(py, text.len(), || -> Result<_, EncodeError> {
        let special_tokens = core.encoder.special_tokens();
        special_tokens.refuse(&text, &policy.disallowed)?;
        let mut encoded = core.encoder.encode_with_offsets(&text, &policy.allowed)?;
        if characters {
            encoded.to_characters(&text);
        }
        Ok(encoded)
    })?;
    Ok((
        arrays::array(py, encoded.ids)?,
        arrays::offsets(py, encoded.starts)?,
        arrays::offsets(py, encoded.ends)?,
    ))
}

/// The number of the piece that each id of a text is part of.
pub(super) fn piece_numbers<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    policy: &Policy,
) -> PyResult<Offsets<'py>> {
    let (py, text) = (text.py(), self::text(text)?);
    let numbers = run(py, text.len(), || -> Result<_, EncodeError> {
        core.encoder.piece_numbers(&text, &policy.allowed)
    })?;
    arrays::offsets(py, numbers)
}
