//! The class `Normalizer`, and the maps of characters that it takes.

use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString};

use super::abi::new_string;
use super::error::guarded;
use super::objects::new_bytes;
use super::runtime::detached;
use super::strings::{text as text_of, wrong_type};
use crate::huggingface::read_normalizer;
use crate::normalize::chain::Chain;
use crate::normalize::rules::{Rules, charsmap};
use crate::normalize::{Flags, MARK, Normalizer};

/// Normalizes texts as `SentencePiece` does.
#[pyclass(name = "Normalizer", module = "bytemill._core", frozen)]
pub(super) struct CoreNormalizer(Normalizer);

/// A user-defined symbol.
#[derive(FromPyObject)]
enum Symbol {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

#[pymethods]
impl CoreNormalizer {
    #[new]
    #[pyo3(signature = (
        charsmap, *, add_dummy_prefix=true, remove_extra_whitespaces=true, escape_whitespaces=true,
        treat_whitespace_as_suffix=false, user_defined_symbols=Vec::new(),
    ))]
    #[expect(
        clippy::fn_params_excessive_bools,
        clippy::needless_pass_by_value,
        reason = "the fields of the file of a model"
    )]
    fn new(
        charsmap: &[u8],
        add_dummy_prefix: bool,
        remove_extra_whitespaces: bool,
        escape_whitespaces: bool,
        treat_whitespace_as_suffix: bool,
        user_defined_symbols: Vec<Symbol>,
    ) -> PyResult<Self> {
        let flags = Flags {
            add_dummy_prefix,
            remove_extra_whitespaces,
            escape_whitespaces,
            treat_whitespace_as_suffix,
        };
        guarded(|| {
            let symbols = user_defined_symbols.iter().map(|symbol| match symbol {
                Symbol::Text(text) => text.as_bytes(),
                Symbol::Bytes(bytes) => &**bytes,
            });
            let symbols: Vec<&[u8]> = symbols.collect();
            Ok(Self(Normalizer::new(charsmap, flags, &symbols)?))
        })
    }

    fn normalize<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| Ok(self.normalized(text, false)?.0))
    }

    fn normalize_with_offsets<'py>(
        &self,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<usize>)> {
        guarded(|| self.normalized(text, true))
    }
}

impl CoreNormalizer {
    fn normalized<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        with_offsets: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<usize>)> {
        let py = text.py();
        let run = |text: &[u8]| {
            detached(py, text.len(), || {
                let (mut out, mut offsets) = (Vec::new(), Vec::new());
                let wanted = with_offsets.then_some(&mut offsets);
                self.0.normalize(text, MARK, &mut out, wanted);
                (out, offsets)
            })
        };
        if let Ok(bytes) = text.cast::<PyBytes>() {
            let (out, offsets) = run(bytes.as_bytes());
            return Ok((new_bytes(py, &out)?.into_any(), offsets));
        }
        if !text.is_instance_of::<PyString>() {
            return Err(wrong_type("str or bytes", text));
        }
        let text = text_of(text)?;
        let (out, offsets) = run(text.as_bytes());
        // Only a map of another author has values that are not UTF-8.
        let out = String::from_utf8(out)?;
        let offsets = if with_offsets {
            of_characters(&text, &out, &offsets)
        } else {
            offsets
        };
        Ok((new_string(py, &out)?.into_any(), offsets))
    }
}

/// Returns the offsets in characters of the characters of the output, from the ascending ones of bytes.
fn of_characters(text: &str, out: &str, offsets: &[usize]) -> Vec<usize> {
    let (mut characters, mut bytes) = (0, 0);
    let mut in_characters = |end: usize| {
        let passed = &text.as_bytes()[bytes..end];
        characters += passed.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        bytes = end;
        characters
    };
    let starts = out.char_indices().map(|(at, _)| at).chain([out.len()]);
    starts.map(|at| in_characters(offsets[at])).collect()
}

/// Returns the map of the rules with a name.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub(super) fn charsmap_with_name<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
    charsmap(name).map(|map| PyBytes::new(py, map))
}

/// Returns the map of keys and values.
#[pyfunction]
#[pyo3(signature = (rules, /))]
pub(super) fn compile_charsmap(
    py: Python<'_>,
    rules: Vec<(String, String)>,
) -> PyResult<Bound<'_, PyBytes>> {
    guarded(|| {
        let map = py.detach(|| Rules::from_pairs(rules)?.to_charsmap())?;
        new_bytes(py, &map)
    })
}

/// Returns the map of rules in lines.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(super) fn compile_charsmap_tsv<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    guarded(|| {
        let map = py.detach(|| Rules::from_tsv(text)?.to_charsmap())?;
        new_bytes(py, &map)
    })
}

/// Returns the rules of a map.
#[pyfunction]
#[pyo3(signature = (charsmap, /))]
pub(super) fn charsmap_rules(py: Python<'_>, charsmap: &[u8]) -> PyResult<Vec<(String, String)>> {
    guarded(|| {
        let rules = py.detach(|| Rules::from_charsmap(charsmap))?;
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        Ok(rules.iter().map(owned).collect())
    })
}

// The class `NormalizerChain`.

/// Normalizes texts as `tokenizers` does.
#[pyclass(name = "NormalizerChain", module = "bytemill._core", frozen)]
pub(super) struct CoreChain(Chain);

#[pymethods]
impl CoreChain {
    /// Takes the JSON of the normalizer of a file.
    #[new]
    fn new(contents: &[u8]) -> PyResult<Self> {
        guarded(|| Ok(Self(Chain::new(read_normalizer(contents)?)?)))
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
