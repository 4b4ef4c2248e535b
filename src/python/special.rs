//! Special tokens from Python dictionaries and sets.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyDict, PyFrozenSet, PySet};

use super::text::text;
use crate::encode::Encoder;
use crate::encode::special::{Allowed, Policy, SpecialTokens};
use crate::token::TokenId;

/// The special tokens of a dictionary from text to id, in its order.
pub(super) fn special_tokens(tokens: &Bound<'_, PyDict>) -> PyResult<SpecialTokens> {
    let tokens = tokens
        .iter()
        .map(|(text, id)| Ok((text.extract()?, id.extract()?)))
        .collect::<PyResult<Vec<(String, TokenId)>>>()?;
    Ok(SpecialTokens::new(tokens)?)
}

/// Some special tokens as an argument: a set of texts, or `None` for all of them.
#[derive(Clone, Copy)]
pub(super) enum Tokens<'a, 'py> {
    All,
    Some(Borrowed<'a, 'py, PyAny>),
    Nothing,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Tokens<'a, 'py> {
    type Error = PyErr;

    fn extract(tokens: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if tokens.is_none() {
            Ok(Self::All)
        } else if tokens.is_instance_of::<PyFrozenSet>() || tokens.is_instance_of::<PySet>() {
            Ok(match tokens.len()? {
                0 => Self::Nothing,
                _ => Self::Some(tokens),
            })
        } else {
            let kind = tokens.get_type();
            Err(PyTypeError::new_err(format!(
                "expected special tokens as a set or frozenset of str, got {}",
                kind.qualname()?
            )))
        }
    }
}

impl Tokens<'_, '_> {
    /// Those that are special tokens of `encoder`.
    pub(super) fn among(self, encoder: &Encoder) -> PyResult<Allowed> {
        let tokens = match self {
            Self::All => return Ok(Allowed::All),
            Self::Nothing => return Ok(Allowed::Nothing),
            Self::Some(tokens) => tokens.try_iter()?.collect::<PyResult<Vec<_>>>()?,
        };
        let tokens = tokens.iter().map(text).collect::<PyResult<Vec<_>>>()?;
        Ok(encoder
            .special_tokens()
            .allow(tokens.iter().map(|token| &**token)))
    }
}

/// What becomes of special tokens. `disallowed` being all of them means all that are not allowed.
pub(super) fn policy(
    encoder: &Encoder,
    allowed: Tokens<'_, '_>,
    disallowed: Tokens<'_, '_>,
) -> PyResult<Policy> {
    let allowed = allowed.among(encoder)?;
    let disallowed = match disallowed {
        Tokens::All => encoder.special_tokens().disallow_except(&allowed),
        _ => disallowed.among(encoder)?.into(),
    };
    Ok(Policy {
        allowed,
        disallowed,
    })
}

/// The `disallowed` strings, if some of them are no special tokens of `encoder`, which its search would not find.
pub(super) fn strings(
    encoder: &Encoder,
    disallowed: Tokens<'_, '_>,
) -> PyResult<Option<SpecialTokens>> {
    let Tokens::Some(strings) = disallowed else {
        return Ok(None);
    };
    let strings = strings.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let strings = strings
        .iter()
        .map(|string| Ok((text(string)?.into_owned(), 0)))
        .collect::<PyResult<Vec<(String, TokenId)>>>()?;
    let special_tokens = encoder.special_tokens();
    let known = |(string, _): &(String, TokenId)| special_tokens.id(string).is_some();
    if strings.iter().all(known) {
        return Ok(None);
    }
    Ok(Some(SpecialTokens::new(strings)?))
}
