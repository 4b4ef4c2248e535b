//! Text → ids and where each of them is in the text.

use numpy::PyArray1;
use pyo3::prelude::*;

use super::arrays;
use super::core_bpe::CoreBpe;
use super::run::run;
use super::text::text;
use crate::encode::special::Policy;
use crate::error::EncodeError;
use crate::token::TokenId;

type Offsets<'py> = Bound<'py, PyArray1<isize>>;

/// The ids, where each starts and where it ends.
pub(super) type Arrays<'py> = (Bound<'py, PyArray1<TokenId>>, Offsets<'py>, Offsets<'py>);

/// The ids and places of a text, in bytes or in characters.
pub(super) fn arrays<'py>(
    core: &CoreBpe,
    text: &Bound<'py, PyAny>,
    policy: &Policy,
    characters: bool,
) -> PyResult<Arrays<'py>> {
    let (py, text) = (text.py(), self::text(text)?);
    let places = run(py, text.len(), |checkpoint| -> Result<_, EncodeError> {
        let special_tokens = core.encoder.special_tokens();
        special_tokens.refuse(&text, &policy.disallowed)?;
        let mut places = core
            .encoder
            .encode_with_offsets(&text, &policy.allowed, checkpoint)?;
        if characters {
            places.to_characters(&text);
        }
        Ok(places)
    })?;
    Ok((
        arrays::array(py, places.ids)?,
        arrays::offsets(py, places.starts)?,
        arrays::offsets(py, places.ends)?,
    ))
}
