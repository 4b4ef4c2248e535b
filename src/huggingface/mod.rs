//! Files of Hugging Face's `tokenizers`: what a `tokenizer.json` says, as values.
//!
//! ```text
//! file.rs            the whole file
//!   model.rs           tokens and merges, read without an object for each
//!   added.rs           added tokens, with the ids that the library gives them
//!   steps.rs           normalizers, and how text is cut
//!   decoder.rs         what ids become
//!   template.rs        the special tokens around a text
//! json.rs            values with their paths
//! write.rs           tokens and merges, written
//! ```
//!
//! What is not known is refused, with its path in the file; nothing is left out in silence.

mod file;
mod json;
mod model;
mod steps;

pub use file::TokenizerFile;
pub use file::model_entries;
pub use json::FileError;
pub use model::{Model, Text};
pub use steps::{Added, DecoderStep, Metaspace, PreTokenizer, Scheme, Template};
