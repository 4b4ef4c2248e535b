//! Files of Hugging Face's `tokenizers`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::encoding::CoreBpe;
use super::error::guarded;
use crate::encode::special::SpecialTokens;
use crate::encode::tokenizer_json::{FileEncoder, special_tokens};
use crate::huggingface::{Template, TokenizerFile};
use crate::token::TokenId;

/// Special tokens by text, with their ids.
type Tokens = Vec<(String, TokenId)>;

/// The core, the special tokens, those before and after each text, and the pattern if the core merges by rank.
type Read<'py> = (CoreBpe, Bound<'py, PyDict>, Tokens, Tokens, Option<String>);

/// Returns the core of a file with its special tokens, these with their ids, and those that the library puts around a text.
#[pyfunction]
#[pyo3(signature = (contents, /))]
pub(super) fn read_tokenizer_json<'py>(contents: &Bound<'py, PyBytes>) -> PyResult<Read<'py>> {
    guarded(|| {
        let (py, bytes) = (contents.py(), contents.as_bytes());
        let (read, special, template) = py.detach(|| {
            let file = TokenizerFile::read(bytes)?;
            let special = special_tokens(&file);
            let read = FileEncoder::new(&file, SpecialTokens::new(special.clone())?)?;
            PyResult::Ok((read, special, file.template))
        })?;
        let FileEncoder { encoder, pattern } = read;
        let Template { prefix, suffix } = template;
        let tokens = PyDict::new(py);
        for (text, id) in special {
            tokens.set_item(text, id)?;
        }
        Ok((CoreBpe::new(encoder), tokens, prefix, suffix, pattern))
    })
}
