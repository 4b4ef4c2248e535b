//! The class `NormalizerChain`, for tests.

use fancy_regex::Regex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::error::guarded;
use super::runtime::detached;
use crate::normalize::chain::{Chain, Find, Step};

/// Normalizes texts as `tokenizers` does.
#[pyclass(name = "NormalizerChain", module = "bytemill._core", frozen)]
pub(super) struct CoreChain(Chain);

/// A step: its name, as in a `tokenizer.json`, and its values.
#[derive(FromPyObject)]
enum Given {
    Plain(String),
    Strip(String, bool, bool),
    Replace(String, String, String),
    Prepend(String, String),
}

impl Given {
    fn into_step(self) -> PyResult<Step> {
        let name = match &self {
            Self::Plain(name)
            | Self::Strip(name, ..)
            | Self::Replace(name, ..)
            | Self::Prepend(name, _) => name.clone(),
        };
        let unknown =
            || PyValueError::new_err(format!("there is no step {name:?} with these values"));
        let replace = |find, content| Step::Replace { find, content };
        Ok(match self {
            Self::Plain(name) => match name.as_str() {
                "NFC" => Step::Nfc,
                "NFD" => Step::Nfd,
                "NFKC" => Step::Nfkc,
                "NFKD" => Step::Nfkd,
                "Lowercase" => Step::Lowercase,
                "StripAccents" => Step::StripAccents,
                _ => return Err(unknown()),
            },
            Self::Strip(name, left, right) if name == "Strip" => Step::Strip { left, right },
            Self::Prepend(name, text) if name == "Prepend" => Step::Prepend(text),
            Self::Replace(name, text, content) if name == "Replace" => {
                replace(Find::Text(text), content)
            }
            Self::Replace(name, pattern, content) if name == "Regex" => {
                let regex = Regex::new(&pattern);
                let regex = regex.map_err(|error| PyValueError::new_err(error.to_string()))?;
                replace(Find::Regex(Box::new(regex)), content)
            }
            _ => return Err(unknown()),
        })
    }
}

#[pymethods]
impl CoreChain {
    #[new]
    fn new(steps: Vec<Given>) -> PyResult<Self> {
        guarded(|| {
            let steps = steps.into_iter().map(Given::into_step);
            Ok(Self(Chain::new(steps.collect::<PyResult<_>>()?)?))
        })
    }

    fn keeps(&self, py: Python<'_>, text: &str) -> PyResult<bool> {
        guarded(|| Ok(detached(py, text.len(), || self.0.keeps(text))))
    }

    fn normalize(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        guarded(|| {
            detached(py, text.len(), || {
                let mut out = String::new();
                self.0.normalize(text, &mut out, None)?;
                Ok(out)
            })
        })
    }

    fn normalize_with_spans(
        &self,
        py: Python<'_>,
        text: &str,
    ) -> PyResult<(String, Vec<(usize, usize)>)> {
        guarded(|| {
            detached(py, text.len(), || {
                let (mut out, mut spans) = (String::new(), Vec::new());
                self.0.normalize(text, &mut out, Some(&mut spans))?;
                let spans = spans.into_iter().map(|span| (span.start, span.end));
                Ok((out, spans.collect()))
            })
        })
    }
}
