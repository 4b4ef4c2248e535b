//! Files of Hugging Face's `tokenizers`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::encoding::CoreBpe;
use super::error::guarded;
use crate::encode::special::SpecialTokens;
use crate::encode::tokenizer_json::{FileEncoder, special_tokens};
use crate::huggingface::{AddedIds, FileError, Template, TokenizerFile};
use crate::token::TokenId;

/// Special tokens by text, with their ids.
type Tokens = Vec<(String, TokenId)>;

/// The core, the special tokens, those before and after each text, and the pattern if the core merges by rank.
type Read<'py> = (CoreBpe, Bound<'py, PyDict>, Tokens, Tokens, Option<String>);

/// Returns the core of a file with its special tokens, these with their ids, and those that the library puts around a text.
/// With `is_live`, the file is what a tokenizer in use would be saved as: an error if ids change by that. With `keeps_ids`,
/// added tokens have the ids that the file says.
#[pyfunction]
#[pyo3(signature = (contents, /, *, is_live, keeps_ids=false))]
pub(super) fn read_tokenizer_json<'py>(
    contents: &Bound<'py, PyBytes>,
    is_live: bool,
    keeps_ids: bool,
) -> PyResult<Read<'py>> {
    guarded(|| {
        let (py, bytes) = (contents.py(), contents.as_bytes());
        let (read, special, template) = py.detach(|| {
            let added_ids = if keeps_ids {
                AddedIds::Listed
            } else {
                AddedIds::Numbered
            };
            let file = TokenizerFile::with_ids(bytes, added_ids)?;
            let renumbered = file.added.iter().find(|token| token.id != token.listed_id);
            if let Some(token) = renumbered.filter(|_| is_live) {
                let reason = format!(
                    "{:?} has the id {} in the tokenizer, and {} once that is saved and loaded again, as the library \
                     numbers added tokens anew: save it, load it, and use what is loaded",
                    token.content, token.listed_id, token.id
                );
                return Err(FileError::new("added_tokens", reason).into());
            }
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
