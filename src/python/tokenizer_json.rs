//! Files of Hugging Face's `tokenizers`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::error::guarded;
use crate::encode::tokenizer_json::special_tokens;
use crate::huggingface::{Template, TokenizerFile};

/// Special tokens, the texts of those before and after each text, and whether merging by rank may give the same ids.
type Read<'py> = (Bound<'py, PyDict>, Vec<String>, Vec<String>, bool);

/// Returns the special tokens of a file with their ids, and those that the library puts around a text.
#[pyfunction]
#[pyo3(signature = (contents, /))]
pub(super) fn read_tokenizer_json<'py>(contents: &Bound<'py, PyBytes>) -> PyResult<Read<'py>> {
    guarded(|| {
        let (py, bytes) = (contents.py(), contents.as_bytes());
        let (special, template, may_have_ranks) = py.detach(|| {
            let file = TokenizerFile::read(bytes)?;
            let may_have_ranks = file.may_have_ranks();
            PyResult::Ok((special_tokens(&file), file.template, may_have_ranks))
        })?;
        let Template { prefix, suffix } = template;
        let tokens = PyDict::new(py);
        for (text, id) in special {
            tokens.set_item(text, id)?;
        }
        Ok((tokens, prefix, suffix, may_have_ranks))
    })
}
