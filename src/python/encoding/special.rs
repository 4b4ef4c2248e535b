//! Special tokens and disallowed strings from Python dictionaries and sets.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyDict, PyFrozenSet, PySet};

use super::CoreBpe;
use crate::encode::cuts::Dividing;
use crate::encode::special::{Allowed, Disallowed, Policy, SpecialTokens};
use crate::python::error::guarded;
use crate::python::strings::text;
use crate::token::TokenId;
use crate::util::memory::{self, reserve};

/// Reads special tokens from a dictionary from text to id, in its order.
pub(super) fn special_tokens(tokens: &Bound<'_, PyDict>) -> PyResult<SpecialTokens> {
    Ok(SpecialTokens::new(ids_by_text(tokens)?)?)
}

/// Reads a dictionary from text to id, in its order.
pub(super) fn ids_by_text(tokens: &Bound<'_, PyDict>) -> PyResult<Vec<(String, TokenId)>> {
    memory::try_collect(tokens.iter().map(|(text, id)| {
        reserve::pass();
        Ok((text.extract()?, id.extract()?))
    }))
}

/// Strings as an argument: a set, or `None` for all special tokens.
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
    /// The strings of a set.
    fn strings(set: Borrowed<'_, '_, PyAny>) -> PyResult<Vec<String>> {
        memory::try_collect(set.try_iter()?.map(|string| {
            reserve::pass();
            Ok(text(&string?)?.into_owned())
        }))
    }
}

#[pymethods]
impl CoreBpe {
    /// Returns the strings at which long documents are cut, and others that stay whole.
    #[pyo3(signature = (allowed_special, disallowed_special, /))]
    fn dividing(
        &self,
        allowed_special: Tokens<'_, '_>,
        disallowed_special: Tokens<'_, '_>,
    ) -> PyResult<(Vec<String>, Vec<String>)> {
        guarded(|| {
            let policy = self.policy(allowed_special, disallowed_special)?;
            let Dividing { starts, whole } = self.encoder.dividing(&policy);
            let owned =
                |strings: Vec<&str>| memory::collect(strings.into_iter().map(str::to_owned));
            Ok((owned(starts), owned(whole)))
        })
    }
}

impl CoreBpe {
    /// Compiles how special tokens are treated, once for all texts of a call. `disallowed` being all of them means all
    /// that are not allowed.
    pub(super) fn policy(
        &self,
        allowed: Tokens<'_, '_>,
        disallowed: Tokens<'_, '_>,
    ) -> PyResult<Policy> {
        let special_tokens = self.encoder.special_tokens();
        let allowed = match allowed {
            Tokens::All => Allowed::All,
            Tokens::Some(set) => {
                special_tokens.allow(Tokens::strings(set)?.iter().map(String::as_str))
            }
            Tokens::Nothing => Allowed::Nothing,
        };
        let disallowed = match disallowed {
            Tokens::All => special_tokens.disallow_except(&allowed),
            Tokens::Some(set) => special_tokens.disallow(Tokens::strings(set)?)?,
            Tokens::Nothing => Disallowed::Nothing,
        };
        Ok(Policy {
            allowed,
            disallowed,
        })
    }
}
