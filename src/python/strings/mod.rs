//! Python strings to UTF-8 and back.

mod read;
mod text;
mod write;

pub(super) use text::{
    SharedText, batch_texts, chunks, expect_strings, text, to_shared_texts, wrong_type,
};
pub(super) use write::new_string;
