//! Special tokens from Python dictionaries and sets.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PySet};

use super::text::text;
use crate::encode::Encoder;
use crate::encode::special::{Allowed, SpecialTokens};
use crate::token::TokenId;

/// The special tokens of a dictionary from text to id, in its order.
pub(super) fn special_tokens(tokens: &Bound<'_, PyDict>) -> PyResult<SpecialTokens> {
    let tokens = tokens
        .iter()
        .map(|(text, id)| Ok((text.extract()?, id.extract()?)))
        .collect::<PyResult<Vec<(String, TokenId)>>>()?;
    Ok(SpecialTokens::new(tokens)?)
}

/// The special tokens of `encoder` that are in a set; all of them for `None`.
pub(super) fn allowed(encoder: &Encoder, tokens: Option<&Bound<'_, PyAny>>) -> PyResult<Allowed> {
    let Some(tokens) = tokens else {
        return Ok(Allowed::All);
    };
    if !tokens.is_instance_of::<PySet>() && !tokens.is_instance_of::<PyFrozenSet>() {
        let kind = tokens.get_type();
        return Err(PyTypeError::new_err(format!(
            "expected special tokens as a set or frozenset of str, got {}",
            kind.qualname()?
        )));
    }
    let tokens = tokens
        .try_iter()?
        .map(|token| text(&token?))
        .collect::<PyResult<Vec<_>>>()?;
    Ok(encoder
        .special_tokens()
        .allow(tokens.iter().map(|token| &**token)))
}
