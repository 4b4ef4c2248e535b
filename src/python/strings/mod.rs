//! Python strings to UTF-8.

mod characters;
mod text;

pub(super) use characters::Characters;
pub(super) use text::{
    SharedText, batch_texts, chunks, expect_strings, text, to_shared_texts, wrong_type,
};
