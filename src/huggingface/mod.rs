//! Files of Hugging Face's `tokenizers`: what a `tokenizer.json` says, as values.
//!
//! ```text
//! file.rs            the whole file; tokens and merges, written
//!   model.rs           tokens and merges, read without an object for each
//!   normalizer.rs      how text is normalized
//!   pre_tokenizer.rs   how text is cut
//!   added_tokens.rs    tokens that are found before text is cut
//!   template.rs        the special tokens around a text
//!   decoder.rs         the way back to text
//!     pattern.rs         what steps look for
//! json.rs            values with their paths
//! ```
//!
//! What is not known is refused, with its path in the file; nothing is left out in silence.

mod added_tokens;
mod decoder;
mod file;
mod json;
mod model;
mod normalizer;
mod pattern;
mod pre_tokenizer;
mod template;

pub use added_tokens::{Added, AddedIds};
pub use decoder::DecoderStep;
pub use file::TokenizerFile;
pub use file::{model_entries, read_normalizer};
pub use json::FileError;
pub use model::{Kind, Merging, Model, Scores, Text};
pub use pre_tokenizer::{Metaspace, PreTokenizer, Scheme};
pub use template::Template;
