//! Files of Hugging Face's `tokenizers`: what a `tokenizer.json` says, as values.
//!
//! ```text
//! file.rs            the whole file; tokens and merges, written
//!   model.rs           tokens and merges, read without an object for each
//!   steps.rs           normalizers, how text is cut, added tokens, the special tokens around a text, decoders
//! json.rs            values with their paths
//! ```
//!
//! What is not known is refused, with its path in the file; nothing is left out in silence.

mod file;
mod json;
mod model;
mod steps;

pub use file::TokenizerFile;
pub use file::{model_entries, read_normalizer};
pub use json::FileError;
pub use model::{Kind, Merging, Model, Scores, Text};
pub use steps::{Added, AddedIds, DecoderStep, Metaspace, PreTokenizer, Scheme, Template};
